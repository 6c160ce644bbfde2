//! Mean regret by method with its interval: the comparison at a glance.

use super::frame::Panel;
use super::{Canvas, Figure, dropped_note, regret_label};
use crate::axis::{Axis, usable};
use crate::data::{Comparison, Row};
use crate::number::number;
use crate::svg::{Anchor, Svg, text_width};

/// Height of a method's line.
const LINE: f64 = 30.0;

pub(crate) fn draw(canvas: Canvas, table: &Comparison) -> Option<Figure> {
    let rows: Vec<&Row> = table.rows.iter().filter(|r| usable(r.regret)).collect();
    if rows.is_empty() {
        return None;
    }
    let ends = |r: &Row| {
        r.interval.filter(|i| usable(i.0) && usable(i.1)).or(spread(r)).unwrap_or((r.regret, r.regret))
    };
    let x = Axis::auto(rows.iter().flat_map(|r| [r.regret, ends(r).0, ends(r).1]).chain(floor(&rows)));

    let names = rows.iter().map(|r| text_width(&r.method, 14.0)).fold(0.0, f64::max) + 14.0;
    let left = if canvas.narrow() { 8.0 } else { names.min(230.0) };
    let value = 74.0;
    let line = if canvas.narrow() { LINE + 14.0 } else { LINE };
    let height = line * rows.len() as f64;
    let y = Axis { high: 1.0, low: 0.0, scale: crate::axis::Scale::Linear };
    let panel = Panel { left, top: 4.0, width: canvas.width - left - value, height, x, y };
    let mut svg = Svg::new(canvas.width, height + 46.0);
    panel.x_grid(&mut svg, true);
    for (k, row) in rows.iter().enumerate() {
        let class = canvas.palette.class(&row.method);
        let top = panel.top + line * k as f64;
        let middle = if canvas.narrow() { top + 28.0 } else { top + line / 2.0 };
        let weight = if row.best { "tb" } else { "ti" };
        if canvas.narrow() {
            svg.text(weight, (left, top + 14.0), Anchor::Start, panel.width, &row.method);
        } else {
            svg.text(weight, (left - 12.0, middle + 4.0), Anchor::End, left - 14.0, &row.method);
        }
        let (low, high) = ends(row);
        if high > low {
            svg.line(&format!("wk {class}"), (panel.x(low), middle), (panel.x(high), middle));
            for end in [low, high] {
                svg.line(&format!("wk {class}"), (panel.x(end), middle - 4.0), (panel.x(end), middle + 4.0));
            }
        }
        let text = number(row.regret);
        svg.circle(
            &format!("fl {class}"),
            (panel.x(row.regret), middle),
            5.5,
            &format!("{}: {text}", row.method),
        );
        svg.text(weight, (canvas.width - 2.0, middle + 4.0), Anchor::End, value - 4.0, &text);
    }
    panel.baseline(&mut svg);
    let place = (left + panel.width / 2.0, panel.top + height + 36.0);
    svg.text("tm", place, Anchor::Middle, canvas.width, &format!("mean {}", regret_label(&table.unit)));

    let whiskers = if rows.iter().any(|r| r.interval.is_some()) {
        " Whiskers: bootstrap interval of the mean, 95 %."
    } else if rows.iter().any(|r| r.std.is_some()) {
        " Whiskers: one standard deviation over seeds to either side."
    } else {
        ""
    };
    let said: Vec<String> = rows.iter().map(|r| format!("{} {}", r.method, number(r.regret))).collect();
    Some(Figure {
        name: "regret".into(),
        heading: "Mean regret by method".into(),
        caption: format!("Further left is better; 0 is the decision taken with perfect foresight.{whiskers}"),
        description: format!("Mean regret: {}.", said.join(", ")),
        notes: dropped_note(table.rows.len() - rows.len()).into_iter().collect(),
        svg,
    })
}

fn spread(row: &Row) -> Option<(f64, f64)> {
    let std = row.std.filter(|s| usable(*s))?;
    Some((row.regret - std, row.regret + std))
}

/// 0, where the regrets are not so far from it that it would flatten them.
fn floor(rows: &[&Row]) -> Option<f64> {
    let low = rows.iter().map(|r| r.regret).fold(f64::INFINITY, f64::min);
    let high = rows.iter().map(|r| r.regret).fold(f64::NEG_INFINITY, f64::max);
    (low > 0.0 && high / low < 50.0 && low < high * 0.8).then_some(0.0)
}
