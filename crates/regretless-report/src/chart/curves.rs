//! Regret by epoch: one panel a method, all panels on the same axes, the other methods in grey behind.

use super::frame::{Entry, Multiples, legend};
use super::{Canvas, Figure, dropped_note, listed, regret_label};
use crate::axis::{Axis, Scale, usable};
use crate::data::Curve;
use crate::svg::{Anchor, Svg};
use crate::thin;

/// Points drawn in all, over all lines.
const BUDGET: usize = 9_000;

/// The runs of one method.
struct Method<'a> {
    name: &'a str,
    valid: Vec<Vec<(f64, f64)>>,
    train: Vec<Vec<(f64, f64)>>,
}

pub(crate) fn draw(canvas: Canvas, curves: &[Curve], unit: &str) -> Option<Figure> {
    let mut dropped = 0;
    let mut methods: Vec<Method> = Vec::new();
    for curve in canvas.palette.sorted(curves, |c| &c.method) {
        let (valid, train) =
            (points(curve, &curve.valid, &mut dropped), points(curve, &curve.train, &mut dropped));
        if methods.last().is_none_or(|m| m.name != curve.method) {
            methods.push(Method { name: &curve.method, valid: Vec::new(), train: Vec::new() });
        }
        if let Some(method) = methods.last_mut() {
            method.valid.extend(Some(valid).filter(|v| !v.is_empty()));
            method.train.extend(Some(train).filter(|t| !t.is_empty()));
        }
    }
    methods.retain(|m| !(m.valid.is_empty() && m.train.is_empty()));
    if methods.is_empty() {
        return None;
    }
    let all = || methods.iter().flat_map(|m| m.valid.iter().chain(&m.train)).flatten();
    let (x, y) = (Axis::auto(all().map(|p| p.0)), Axis::auto(all().map(|p| p.1)));
    let x = if x.scale == Scale::Linear { x } else { Axis::linear(x.low.max(0.0), x.high) };

    let mut svg = Svg::new(canvas.width, 0.0);
    let head = key(&mut svg, &methods) + 20.0;
    svg.text("tm", (0.0, head), Anchor::Start, canvas.width, &regret_label(unit));
    let panels = Multiples::new(methods.len(), canvas.width, head + 28.0, (x, y));

    let means: Vec<_> =
        methods.iter().map(|m| mean(if m.valid.is_empty() { &m.train } else { &m.valid })).collect();
    let lines: usize = methods.iter().map(|m| m.valid.len() + means.len() + 2).sum();
    let cap = (BUDGET / lines).clamp(8, 120);
    for (k, method) in methods.iter().enumerate() {
        let panel = panels.panel(&mut svg, k, method.name);
        let mut line = |class: &str, points: &[(f64, f64)]| {
            let kept: Vec<_> =
                thin::even(points.len(), cap).into_iter().map(|i| panel.at(points[i])).collect();
            svg.polyline(class, &kept);
        };
        for (other, mean) in means.iter().enumerate() {
            if other != k {
                line("gh", mean);
            }
        }
        let class = canvas.palette.class(method.name);
        let colour = class.split(' ').next().unwrap_or_default();
        if method.valid.len() > 1 {
            method.valid.iter().for_each(|v| line(&format!("sd {colour}"), v));
        }
        if !method.train.is_empty() {
            line(&format!("tr {colour}"), &mean(&method.train));
        }
        if !method.valid.is_empty() {
            line(&format!("ln {colour}"), &means[k]);
        }
    }
    panels.end(&mut svg, "epoch");
    let log = if y.scale == Scale::Linear { "" } else { " The regret axis is logarithmic." };
    let names: Vec<&str> = methods.iter().map(|m| m.name).collect();
    Some(Figure {
        name: "regret-by-epoch".into(),
        heading: "Regret by epoch".into(),
        caption: format!(
            "All panels share their axes. The mean is taken over the seeds that reached the epoch.{log}"
        ),
        description: format!(
            "Training and validation regret by epoch, one panel each for {}.",
            listed(&names)
        ),
        notes: dropped_note(dropped).into_iter().collect(),
        svg,
    })
}

/// The legend: only what is drawn.
fn key(svg: &mut Svg, methods: &[Method]) -> f64 {
    let stroke =
        |class: &'static str| move |svg: &mut Svg, x: f64, y: f64| svg.line(class, (x, y), (x + 20.0, y));
    let (valid, train, seed, ghost) = (stroke("ln mk"), stroke("tr mk"), stroke("sd mk"), stroke("gh"));
    let mut entries: Vec<Entry> = Vec::new();
    if methods.iter().any(|m| !m.valid.is_empty()) {
        entries.push((&valid, "validation, mean"));
    }
    if methods.iter().any(|m| !m.train.is_empty()) {
        entries.push((&train, "training, mean"));
    }
    if methods.iter().any(|m| m.valid.len() > 1) {
        entries.push((&seed, "each seed"));
    }
    if methods.len() > 1 {
        entries.push((&ghost, "other methods"));
    }
    legend(svg, 0.0, &entries)
}

fn points(curve: &Curve, values: &[f64], dropped: &mut usize) -> Vec<(f64, f64)> {
    let all = curve.epochs.iter().copied().zip(values.iter().copied());
    let kept: Vec<_> = all.filter(|p| usable(p.0) && usable(p.1)).collect();
    *dropped += curve.epochs.len().min(values.len()) - kept.len();
    kept
}

/// The mean over runs, epoch by epoch.
fn mean(runs: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = runs.iter().flatten().copied().collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.chunk_by(|a, b| a.0 == b.0)
        .map(|same| (same[0].0, same.iter().map(|p| p.1 / same.len() as f64).sum()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_taken_epoch_by_epoch() {
        let runs = [vec![(0.0, 2.0), (1.0, 4.0)], vec![(0.0, 4.0), (1.0, 0.0), (2.0, 7.0)]];
        assert_eq!(mean(&runs), [(0.0, 3.0), (1.0, 2.0), (2.0, 7.0)]);
    }
}
