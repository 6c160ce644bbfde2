//! Regret against the surrogate's sharpness K.

use super::frame::{Panel, label_room, method_legend};
use super::{Canvas, Figure, dropped_note, log_note, regret_label};
use crate::axis::{Axis, usable};
use crate::data::Sharpness;
use crate::number::number;
use crate::svg::{Anchor, Svg};

/// The line of one method.
struct Series<'a> {
    name: &'a str,
    points: Vec<Point>,
}

struct Point {
    k: f64,
    regret: f64,
    /// Standard deviation over seeds, 0 where there is none.
    std: f64,
}

impl Point {
    fn ends(&self) -> [f64; 2] {
        [self.regret - self.std, self.regret + self.std]
    }
}

pub(crate) fn draw(canvas: Canvas, sharpness: &[Sharpness], unit: &str) -> Option<Figure> {
    let mut dropped = 0;
    let mut drawn: Vec<Series> = Vec::new();
    for s in canvas.palette.sorted(sharpness, |s| &s.method) {
        let mut points = Vec::new();
        for (i, (&k, &regret)) in s.k.iter().zip(&s.regret).enumerate() {
            if usable(k) && usable(regret) {
                let std = s.std.get(i).copied().filter(|d| usable(*d) && *d > 0.0).unwrap_or(0.0);
                points.push(Point { k, regret, std });
            } else {
                dropped += 1;
            }
        }
        points.sort_by(|a, b| a.k.total_cmp(&b.k));
        if !points.is_empty() {
            drawn.push(Series { name: &s.method, points });
        }
    }
    if drawn.is_empty() {
        return None;
    }
    let all = || drawn.iter().flat_map(|s| &s.points);
    let x = Axis::log(&all().map(|p| p.k).collect::<Vec<_>>());
    let y = Axis::auto(all().flat_map(|p| [p.regret].into_iter().chain(p.ends())));

    let mut svg = Svg::new(canvas.width, 0.0);
    let names: Vec<&str> = drawn.iter().map(|s| s.name).collect();
    let head = method_legend(&mut svg, canvas.palette, &names) + 18.0;
    svg.text("tm", (0.0, head), Anchor::Start, canvas.width, &format!("test {}", regret_label(unit)));
    let height = if canvas.narrow() { 220.0 } else { 260.0 };
    let left = label_room(&y, height);
    let panel = Panel { left, top: head + 16.0, width: canvas.width - left - 12.0, height, x, y };
    panel.x_grid(&mut svg, true);
    panel.y_grid(&mut svg, true);
    panel.baseline(&mut svg);
    // Methods share their values of K: side by side, so that no bar hides another.
    let apart = if all().any(|p| p.std > 0.0) { (20.0 / drawn.len() as f64).min(6.0) } else { 0.0 };
    for (i, series) in drawn.iter().enumerate() {
        let shift = (i as f64 - (drawn.len() - 1) as f64 / 2.0) * apart;
        let class = canvas.palette.class(series.name);
        line(&mut svg, &Panel { left: left + shift, ..panel }, series, &class);
    }
    svg.height = panel.top + height + 44.0;
    let place = (left + panel.width / 2.0, svg.height - 8.0);
    svg.text("tm", place, Anchor::Middle, canvas.width, "sharpness K");

    let log = log_note(("K", &x), ("regret", &y));
    let bars = if all().any(|p| p.std > 0.0) {
        " Bars: one standard deviation over seeds to either side; methods are drawn a little apart."
    } else {
        ""
    };
    let best: Vec<String> = drawn.iter().filter_map(lowest).collect();
    Some(Figure {
        name: "sharpness".into(),
        heading: "Sharpness K against regret".into(),
        caption: format!(
            "A small K smooths the decision, a large one is close to the problem itself.{bars}{log}"
        ),
        description: format!("Test regret against K. Lowest: {}.", best.join(", ")),
        notes: dropped_note(dropped).into_iter().collect(),
        svg,
    })
}

/// Error bars, the line over them, a dot for each K.
fn line(svg: &mut Svg, panel: &Panel, series: &Series, class: &str) {
    for p in series.points.iter().filter(|p| p.std > 0.0) {
        let (x, [low, high]) = (panel.x(p.k), p.ends().map(|v| panel.y(v)));
        svg.line(&format!("wk {class}"), (x, low), (x, high));
        for end in [low, high] {
            svg.line(&format!("wk {class}"), (x - 3.0, end), (x + 3.0, end));
        }
    }
    let places: Vec<_> = series.points.iter().map(|p| panel.at((p.k, p.regret))).collect();
    svg.polyline(&format!("ln {class}"), &places);
    for (p, &place) in series.points.iter().zip(&places) {
        let title = format!("{}: {} at K = {}", series.name, number(p.regret), number(p.k));
        svg.circle(&format!("fl {class}"), place, 4.0, &title);
    }
}

fn lowest(series: &Series) -> Option<String> {
    let best = series.points.iter().min_by(|a, b| a.regret.total_cmp(&b.regret))?;
    Some(format!("{} {} at K = {}", series.name, number(best.regret), number(best.k)))
}
