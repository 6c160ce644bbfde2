//! How often the truth stayed within a quantile of its forecast, against how often it should.

use super::frame::{Panel, label_room, method_legend};
use super::{Canvas, Figure, listed};
use crate::axis::Axis;
use crate::data::Calibrated;
use crate::number::percent;
use crate::svg::{Anchor, Svg};

/// The widest that the square is drawn.
const SIDE: f64 = 420.0;

/// A method's quantiles: the level of each, and the share of truths within it.
struct Line<'a> {
    name: &'a str,
    points: Vec<(f64, f64)>,
}

pub(crate) fn draw(canvas: Canvas, calibrated: &[Calibrated]) -> Option<Figure> {
    let mut dropped = 0;
    let mut drawn: Vec<Line> = Vec::new();
    for own in canvas.palette.sorted(calibrated, |own| &own.method) {
        let pairs = own.level.iter().copied().zip(own.share.iter().copied());
        let shares = |pair: &(f64, f64)| [pair.0, pair.1].iter().all(|v| (0.0..=1.0).contains(v));
        let (mut points, others): (Vec<(f64, f64)>, Vec<_>) = pairs.partition(shares);
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        dropped += others.len();
        if !points.is_empty() {
            drawn.push(Line { name: &own.method, points });
        }
    }
    if drawn.is_empty() {
        return None;
    }
    let axis = Axis::linear(0.0, 1.0);
    let mut svg = Svg::new(canvas.width, 0.0);
    let names: Vec<&str> = drawn.iter().map(|line| line.name).collect();
    let head = method_legend(&mut svg, canvas.palette, &names) + 18.0;
    svg.text("tm", (0.0, head), Anchor::Start, canvas.width, "share of truths within the quantile");
    let left = label_room(&axis, SIDE);
    let side = (canvas.width - left - 12.0).min(SIDE);
    let panel = Panel { left, top: head + 16.0, width: side, height: side, x: axis, y: axis };
    panel.x_grid(&mut svg, true);
    panel.y_grid(&mut svg, true);
    svg.line("rf", panel.at((0.0, 0.0)), panel.at((1.0, 1.0)));
    panel.baseline(&mut svg);
    for line in &drawn {
        let class = canvas.palette.class(line.name);
        let places: Vec<_> = line.points.iter().map(|point| panel.at(*point)).collect();
        svg.polyline(&format!("ln {class}"), &places);
        for ((level, share), &place) in line.points.iter().zip(&places) {
            let title = format!(
                "{}: {} of the truths within its {} quantile",
                line.name,
                percent(*share),
                percent(*level)
            );
            svg.circle(&format!("fl {class}"), place, 3.5, &title);
        }
    }
    svg.height = panel.top + side + 44.0;
    let place = (left + side / 2.0, svg.height - 8.0);
    svg.text("tm", place, Anchor::Middle, canvas.width, "quantile of the forecast");
    Some(Figure {
        name: "calibration".into(),
        heading: "Calibration of the scenarios".into(),
        caption: "On the dashed line forecasts are as sure as they may be. A line that is flatter in the middle than \
                  the dashed one: too sure, the truth is outside more often than they say. A steeper one: too cautious."
            .to_owned(),
        description: format!("Share of truths within each quantile of the scenarios of {}.", listed(&names)),
        notes: match dropped {
            0 => Vec::new(),
            n => vec![format!("{n} values that are no shares are left out.")],
        },
        svg,
    })
}
