//! Our means with their intervals and the published values beside them: a panel a group, a row a method.

use super::frame::{Entry, Panel, columns, legend};
use super::{Canvas, Figure, listed, undrawn_notes};
use crate::axis::{Axis, Scale, shows};
use crate::number::{count, number};
use crate::study::{Dot, DotChart, DotGroup};
use crate::svg::{Anchor, Svg, text_width};

/// Panels drawn at most.
const PANELS: usize = 60;
/// Height of a method's row, and what a panel takes above and below its rows.
const ROW: f64 = 22.0;
const ABOVE: f64 = 30.0;
const BELOW: f64 = 30.0;
/// Between panels side by side.
const GAP: f64 = 22.0;

pub(crate) fn draw(canvas: Canvas, chart: &DotChart) -> Option<Figure> {
    let drawable = |v: f64| shows(chart.axis.scale, v);
    let numbers = |d: &Dot| std::iter::once(d.value).chain(d.published);
    let (groups, cut): (Vec<&DotGroup>, usize) = {
        let full: Vec<_> =
            chart.groups.iter().filter(|g| g.dots.iter().flat_map(numbers).any(drawable)).collect();
        let cut = full.len().saturating_sub(PANELS);
        (full.into_iter().take(PANELS).collect(), cut)
    };
    let dots: Vec<&Dot> = groups.iter().flat_map(|g| &g.dots).collect();
    let shown: Vec<&Dot> = dots.iter().copied().filter(|d| numbers(d).any(drawable)).collect();
    let mut methods: Vec<&str> =
        canvas.palette.sorted(&shown, |d| &d.method).iter().map(|d| d.method.as_str()).collect();
    methods.dedup();
    if methods.is_empty() {
        return None;
    }

    let mut svg = Svg::new(canvas.width, 0.0);
    let top = key(&mut svg, chart, &shown) + 10.0;
    let widest = methods.iter().map(|m| text_width(m, 12.0)).fold(0.0, f64::max);
    let left = widest.min(if canvas.narrow() { 110.0 } else { 170.0 }) + 12.0;
    let across = if canvas.narrow() { 1 } else { columns(groups.len(), canvas.width) };
    let width = (canvas.width - left - 10.0 - GAP * (across - 1) as f64) / across as f64;
    let height = ROW * methods.len() as f64;
    let step = ABOVE + height + BELOW;
    let mut log = false;
    for (k, group) in groups.iter().enumerate() {
        let (row, column) = (k / across, k % across);
        let ends = group.dots.iter().flat_map(|d| numbers(d).chain(whiskers(d).into_iter().flatten()));
        let x = Axis::chosen(chart.axis.scale, ends);
        log |= x.scale != Scale::Linear;
        let y = Axis { scale: Scale::Linear, low: 0.0, high: 1.0 };
        let place = (left + (width + GAP) * column as f64, top + ABOVE + step * row as f64);
        let panel = Panel { left: place.0, top: place.1, width, height, x, y };
        svg.text("tb", (panel.left, panel.top - 10.0), Anchor::Start, width, &group.title);
        panel.x_grid(&mut svg, true);
        for (place, method) in methods.iter().enumerate() {
            let middle = panel.top + ROW * (place as f64 + 0.5);
            svg.line("gr", (panel.left, middle), (panel.left + width, middle));
            if column == 0 {
                svg.text("ti", (left - 10.0, middle + 4.0), Anchor::End, left - 12.0, method);
            }
            let class = canvas.palette.class(method);
            for dot in group.dots.iter().filter(|d| d.method == *method) {
                mark(&mut svg, &panel, middle, dot, &class, &drawable);
            }
        }
        panel.baseline(&mut svg);
    }
    svg.height = top + step * groups.len().div_ceil(across) as f64 + 20.0;
    let middle = left + (canvas.width - left) / 2.0;
    svg.text("tm", (middle, svg.height - 8.0), Anchor::Middle, canvas.width - left, &chart.axis.label);

    let undrawn: Vec<f64> = dots.iter().flat_map(|d| numbers(d)).filter(|v| !drawable(*v)).collect();
    let mut notes = undrawn_notes(&undrawn);
    notes.extend((cut > 0).then(|| format!("The first {PANELS} panels; {} more are left out.", count(cut))));
    let own = if groups.len() > 1 { "Each panel has an axis of its own." } else { "" };
    let log = if log { " Some axes are logarithmic." } else { "" };
    Some(Figure {
        name: "dots".into(),
        heading: "Dots".into(),
        caption: format!("{own}{log}").trim().to_owned(),
        description: format!("{} of {} in {} groups.", chart.axis.label, listed(&methods), groups.len()),
        notes,
        svg,
    })
}

/// The ends of the whiskers, where they can be drawn.
fn whiskers(dot: &Dot) -> Option<[f64; 2]> {
    dot.interval.map(|(low, high)| [low, high]).filter(|ends| ends.iter().all(|v| v.is_finite()))
}

/// A dot with its whiskers, the published value a little below so that neither hides the other.
fn mark(svg: &mut Svg, panel: &Panel, middle: f64, dot: &Dot, class: &str, drawable: &dyn Fn(f64) -> bool) {
    let published = dot.published.filter(|v| drawable(*v));
    let ours = if published.is_some() { middle - 3.0 } else { middle };
    let beside = published.map(|v| format!(", published {}", number(v))).unwrap_or_default();
    let title = format!("{}: {}{beside}", dot.method, number(dot.value));
    if let Some(value) = published {
        svg.circle(&format!("ho {class}"), (panel.x(value), middle + 4.0), 4.0, &title);
    }
    if !drawable(dot.value) {
        return;
    }
    if let Some(ends) = whiskers(dot) {
        let [from, to] = ends.map(|v| panel.x(v));
        svg.line(&format!("wk {class}"), (from, ours), (to, ours));
        for end in [from, to] {
            svg.line(&format!("wk {class}"), (end, ours - 3.0), (end, ours + 3.0));
        }
    }
    svg.circle(&format!("fl {class}"), (panel.x(dot.value), ours), 4.0, &title);
}

/// The legend: only what is drawn.
fn key(svg: &mut Svg, chart: &DotChart, dots: &[&Dot]) -> f64 {
    let whiskers = dots.iter().any(|d| whiskers(d).is_some());
    let ours = |svg: &mut Svg, x: f64, y: f64| {
        if whiskers {
            svg.line("wk mk", (x, y), (x + 20.0, y));
        }
        svg.circle("fl mk", (x + 10.0, y), 4.0, "");
    };
    let published = |svg: &mut Svg, x: f64, y: f64| svg.circle("ho mk", (x + 10.0, y), 4.0, "");
    let said = if whiskers && !chart.whiskers.trim().is_empty() {
        format!("ours, {}", chart.whiskers.trim())
    } else {
        "ours".to_owned()
    };
    let mut entries: Vec<Entry> = vec![(&ours, &said)];
    if dots.iter().any(|d| d.published.is_some()) {
        entries.push((&published, "published"));
    }
    legend(svg, 0.0, &entries)
}
