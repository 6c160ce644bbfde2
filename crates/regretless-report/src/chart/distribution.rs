//! How regret is spread over the test instances: a cloud, a box and the mean for each method.

use super::frame::{Panel, legend};
use super::{Canvas, Figure, dropped_note, listed, regret_label};
use crate::axis::{Axis, Scale, usable};
use crate::data::Distribution;
use crate::number::{count, number};
use crate::svg::{Anchor, Svg, text_width};
use crate::thin::{quantile, sample};

/// Bins of the cloud.
const BINS: usize = 72;
/// Values a cloud is made of, at most; quantiles and the mean use all.
const CAP: usize = 20_000;

/// One method's regrets, sorted.
struct Group<'a> {
    name: &'a str,
    sorted: Vec<f64>,
}

pub(crate) fn draw(canvas: Canvas, distributions: &[Distribution], unit: &str) -> Option<Figure> {
    let mut dropped = 0;
    let mut groups: Vec<Group> = Vec::new();
    for d in canvas.palette.sorted(distributions, |d| &d.method) {
        let mut sorted: Vec<f64> = d.regrets.iter().copied().filter(|&v| usable(v)).collect();
        dropped += d.regrets.len() - sorted.len();
        sorted.sort_by(f64::total_cmp);
        if !sorted.is_empty() {
            groups.push(Group { name: &d.method, sorted });
        }
    }
    if groups.is_empty() {
        return None;
    }
    // The last per cent must not squeeze the rest.
    let shown = |g: &Group| [quantile(&g.sorted, 0.005), quantile(&g.sorted, 0.99)];
    let probes = groups.iter().flat_map(|g| (1..40).map(|k| quantile(&g.sorted, f64::from(k) / 40.0)));
    let x = Axis::auto(probes.chain(groups.iter().flat_map(shown)));

    let names = groups.iter().map(|g| text_width(g.name, 12.0)).fold(0.0, f64::max) + 14.0;
    let left = if canvas.narrow() { 8.0 } else { names.min(230.0) };
    let line = if canvas.narrow() { 66.0 } else { 52.0 };
    let height = line * groups.len() as f64;
    let y = Axis { scale: Scale::Linear, low: 0.0, high: 1.0 };
    let mut svg = Svg::new(canvas.width, 0.0);
    let head = key(&mut svg) + 6.0;
    let panel = Panel { left, top: head, width: canvas.width - left - 12.0, height, x, y };
    panel.x_grid(&mut svg, true);
    for (k, group) in groups.iter().enumerate() {
        let top = head + line * k as f64;
        let middle = top + line - 17.0;
        if canvas.narrow() {
            svg.text("ti", (left, top + 14.0), Anchor::Start, panel.width, group.name);
        } else {
            svg.text("ti", (left - 12.0, middle + 4.0), Anchor::End, left - 14.0, group.name);
        }
        let class = canvas.palette.class(group.name);
        one(&mut svg, &panel, group, &class, middle);
    }
    panel.baseline(&mut svg);
    svg.height = head + height + 44.0;
    let place = (left + panel.width / 2.0, svg.height - 8.0);
    svg.text("tm", place, Anchor::Middle, canvas.width, &format!("{} of one instance", regret_label(unit)));

    let said: Vec<&str> = groups.iter().map(|g| g.name).collect();
    let medians: Vec<String> =
        groups.iter().map(|g| format!("{} {}", g.name, number(quantile(&g.sorted, 0.5)))).collect();
    let beyond = groups.iter().flat_map(|g| &g.sorted).filter(|v| !x.holds(**v)).count();
    let mut notes: Vec<String> = dropped_note(dropped).into_iter().collect();
    if beyond > 0 {
        let what = if beyond == 1 {
            "value lies outside the frame; it counts"
        } else {
            "values lie outside the frame; they count"
        };
        notes.push(format!("{} {what} in the box and the mean.", count(beyond)));
    }
    let log = if x.scale == Scale::Linear { "" } else { " The axis is logarithmic." };
    Some(Figure {
        name: "regret-distribution".into(),
        heading: "Distribution of regret".into(),
        caption: format!("One cloud a method: where it is high, many instances have that regret.{log}"),
        description: format!(
            "Distribution of test regret of {}. Medians: {}.",
            listed(&said),
            medians.join(", ")
        ),
        notes,
        svg,
    })
}

/// Cloud, whiskers, box, median and mean around a height.
fn one(svg: &mut Svg, panel: &Panel, group: &Group, class: &str, middle: f64) {
    let at = |q: f64| panel.x(quantile(&group.sorted, q));
    let cloud = density(&panel.x, &group.sorted);
    let base = middle - 8.0;
    let place = |u: f64, h: f64| (panel.left + u * panel.width, base - h * 22.0);
    let half = 0.5 / BINS as f64;
    if let (Some(first), Some(last)) = (cloud.first(), cloud.last()) {
        let mut shape = vec![place(first.0 - half, 0.0), place(first.0 - half, first.1)];
        shape.extend(cloud.iter().map(|&(u, h)| place(u, h)));
        shape.extend([place(last.0 + half, last.1), place(last.0 + half, 0.0)]);
        svg.polygon(&format!("cl {class}"), &shape);
    }
    svg.line(&format!("wk {class}"), (at(0.05), middle), (at(0.95), middle));
    let (low, high) = (at(0.25), at(0.75));
    let values = [0.05, 0.25, 0.5, 0.75, 0.95].map(|q| number(quantile(&group.sorted, q)));
    let tip = format!(
        "{}: 5 % {}, 25 % {}, median {}, 75 % {}, 95 % {}",
        group.name, values[0], values[1], values[2], values[3], values[4]
    );
    svg.rect(&format!("bx {class}"), (low, middle - 5.0), ((high - low).max(1.0), 10.0), &tip);
    svg.line("md", (at(0.5), middle - 6.0), (at(0.5), middle + 6.0));
    let mean = group.sorted.iter().map(|v| v / group.sorted.len() as f64).sum::<f64>();
    svg.circle("mn", (panel.x(mean), middle), 3.5, &format!("{}: mean {}", group.name, number(mean)));
}

/// Heights from 0 to 1 over the axis, as (place, height): a smoothed histogram in the axis' own scale.
fn density(axis: &Axis, sorted: &[f64]) -> Vec<(f64, f64)> {
    let mut bins = vec![0.0; BINS];
    for i in sample(sorted.len(), CAP) {
        if axis.holds(sorted[i]) {
            let u = axis.unit(sorted[i]).max(0.0);
            bins[((u * BINS as f64) as usize).min(BINS - 1)] += 1.0;
        }
    }
    for _ in 0..3 {
        let old = bins.clone();
        for k in 0..BINS {
            let (before, after) = (old[k.saturating_sub(1)], old[(k + 1).min(BINS - 1)]);
            bins[k] = 0.25 * before + 0.5 * old[k] + 0.25 * after;
        }
    }
    let highest = bins.iter().copied().fold(0.0, f64::max);
    let first = bins.iter().position(|&b| b > 0.0).unwrap_or(0);
    let last = bins.iter().rposition(|&b| b > 0.0).unwrap_or(0);
    if highest == 0.0 {
        return Vec::new();
    }
    (first..=last).map(|k| ((k as f64 + 0.5) / BINS as f64, bins[k] / highest)).collect()
}

fn key(svg: &mut Svg) -> f64 {
    let boxed = |svg: &mut Svg, x: f64, y: f64| svg.rect("bx mc", (x, y - 5.0), (20.0, 10.0), "");
    let whisker = |svg: &mut Svg, x: f64, y: f64| svg.line("wk mc", (x, y), (x + 20.0, y));
    let median = |svg: &mut Svg, x: f64, y: f64| svg.line("md", (x + 10.0, y - 6.0), (x + 10.0, y + 6.0));
    let mean = |svg: &mut Svg, x: f64, y: f64| svg.circle("mn", (x + 10.0, y), 3.5, "");
    legend(
        svg,
        0.0,
        &[(&boxed, "middle half"), (&whisker, "5 to 95 %"), (&median, "median"), (&mean, "mean")],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cloud_has_a_top_and_ends() {
        let sorted: Vec<f64> = (0..100_000).map(|k| f64::from(k) / 1e5).collect();
        let cloud = density(&Axis::auto(sorted.iter().copied()), &sorted);
        assert!(cloud.len() > 60 && cloud.iter().any(|c| c.1 == 1.0));
        let equal = density(&Axis::auto([2.0]), &[2.0; 9]);
        assert!(!equal.is_empty() && equal.iter().all(|c| (0.0..=1.0).contains(&c.1)));
    }
}
