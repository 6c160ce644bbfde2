//! Lines over a number, with bands of one standard deviation: in one panel, or in a panel each where bands would pile up.

use super::frame::{Multiples, Panel, legend, method_legend};
use super::{Canvas, Figure, listed, log_note, undrawn_notes};
use crate::axis::{Axis, shows, usable};
use crate::number::number;
use crate::study::{AxisScale, LineChart, Series};
use crate::svg::{Anchor, Svg};
use crate::thin;

/// Bands that may lie over one another.
const BANDS: usize = 4;
/// Points drawn in all, over the lines and again over those in grey behind them.
const BUDGET: usize = 9_000;
/// Points of a line that get a dot each.
const DOTS: usize = 24;

/// A line that can be drawn: its points by x, the deviation 0 where there is none.
struct Line<'a> {
    name: &'a str,
    points: Vec<(f64, f64, f64)>,
}

impl Line<'_> {
    fn banded(&self) -> bool {
        self.points.iter().any(|p| p.2 > 0.0)
    }
}

pub(crate) fn draw(canvas: Canvas, chart: &LineChart) -> Option<Figure> {
    let mut dropped = Vec::new();
    let sorted = canvas.palette.sorted(&chart.series, |s| &s.method);
    let mut drawn: Vec<Line> = sorted.iter().map(|s| line(chart, s, &mut dropped)).collect();
    drawn.retain(|line| !line.points.is_empty());
    if drawn.is_empty() {
        return None;
    }
    let all = || drawn.iter().flat_map(|line| &line.points);
    let x = Axis::chosen(chart.x.scale, all().map(|p| p.0));
    let y = Axis::chosen(chart.y.scale, all().flat_map(|p| reach(p, chart.y.scale)));

    let mut svg = Svg::new(canvas.width, 0.0);
    let banded = drawn.iter().any(Line::banded);
    let apart = banded && drawn.len() > BANDS;
    let names: Vec<&str> = drawn.iter().map(|line| line.name).collect();
    let head = 20.0 + if apart { key(&mut svg) } else { method_legend(&mut svg, canvas.palette, &names) };
    svg.text("tm", (0.0, head), Anchor::Start, canvas.width, &chart.y.label);
    let cap = (BUDGET / drawn.len()).clamp(8, 240);
    if apart {
        let panels = Multiples::new(drawn.len(), canvas.width, head + 28.0, (x, y));
        let behind = (BUDGET / (drawn.len() * drawn.len())).clamp(6, 60);
        for (k, line) in drawn.iter().enumerate() {
            let panel = panels.panel(&mut svg, k, line.name);
            for (_, other) in drawn.iter().enumerate().filter(|(other, _)| *other != k) {
                svg.polyline("gh", &places(&panel, &thinned(other, behind)));
            }
            // The panel names the method: a dash would say nothing.
            let class = canvas.palette.class(line.name);
            trace(&mut svg, &panel, line, class.split(' ').next().unwrap_or_default(), cap);
        }
        panels.end(&mut svg, &chart.x.label);
    } else {
        let panels = Multiples::new(1, canvas.width, head + 16.0, (x, y));
        let panel = panels.panel(&mut svg, 0, "");
        drawn.iter().for_each(|line| trace(&mut svg, &panel, line, &canvas.palette.class(line.name), cap));
        panels.end(&mut svg, &chart.x.label);
    }

    let shared = if apart { "All panels share their axes. " } else { "" };
    let band = if banded { "Bands: one standard deviation over seeds to either side." } else { "" };
    let log = log_note(("horizontal", &x), ("vertical", &y));
    Some(Figure {
        name: "lines".into(),
        heading: "Lines".into(),
        caption: format!("{shared}{band}{log}").trim().to_owned(),
        description: format!("{} against {} for {}.", chart.y.label, chart.x.label, listed(&names)),
        notes: undrawn_notes(&dropped),
        svg,
    })
}

fn line<'a>(chart: &LineChart, series: &'a Series, dropped: &mut Vec<f64>) -> Line<'a> {
    let mut points = Vec::new();
    for (i, (&x, &y)) in series.x.iter().zip(&series.y).enumerate() {
        let std = series.std.get(i).copied().filter(|d| usable(*d) && *d > 0.0).unwrap_or(0.0);
        match (shows(chart.x.scale, x), shows(chart.y.scale, y)) {
            (true, true) => points.push((x, y, std)),
            (true, false) => dropped.push(y),
            (false, _) => dropped.push(x),
        }
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Line { name: &series.method, points }
}

/// The values a point needs room for.
fn reach(&(_, y, std): &(f64, f64, f64), scale: AxisScale) -> [f64; 3] {
    // On a logarithmic axis a band that goes down to 0 ends at the edge and must not stretch the axis.
    let low = if scale == AxisScale::Log && y - std < y * 0.1 { y } else { y - std };
    [y, low, y + std]
}

fn thinned(line: &Line, cap: usize) -> Vec<(f64, f64, f64)> {
    thin::even(line.points.len(), cap).into_iter().map(|i| line.points[i]).collect()
}

fn places(panel: &Panel, points: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    points.iter().map(|&(x, y, _)| panel.at((x, y))).collect()
}

/// The band, the line over it, and a dot for each point where they are few.
fn trace(svg: &mut Svg, panel: &Panel, line: &Line, class: &str, cap: usize) {
    let points = thinned(line, cap);
    if line.banded() {
        let up = points.iter().map(|&(x, y, std)| panel.at((x, y + std)));
        let down = points.iter().rev().map(|&(x, y, std)| panel.at((x, y - std)));
        svg.polygon(&format!("cl {class}"), &up.chain(down).collect::<Vec<_>>());
    }
    let places = places(panel, &points);
    svg.polyline(&format!("ln {class}"), &places);
    if points.len() <= DOTS {
        for (&(x, y, _), &place) in points.iter().zip(&places) {
            svg.circle(
                &format!("fl {class}"),
                place,
                3.5,
                &format!("{}: {} at {}", line.name, number(y), number(x)),
            );
        }
    }
}

/// The legend where each line has a panel that names it.
fn key(svg: &mut Svg) -> f64 {
    let mean = |svg: &mut Svg, x: f64, y: f64| {
        svg.rect("cl mk", (x, y - 5.0), (20.0, 10.0), "");
        svg.line("ln mk", (x, y), (x + 20.0, y));
    };
    let ghost = |svg: &mut Svg, x: f64, y: f64| svg.line("gh", (x, y), (x + 20.0, y));
    legend(svg, 0.0, &[(&mean, "mean ± one standard deviation"), (&ghost, "means of the others")])
}
