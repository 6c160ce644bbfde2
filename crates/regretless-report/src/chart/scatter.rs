//! Predictions against what came true, coloured by the regret of the decision they led to: one panel a method.

use super::frame::{Panel, columns, label_room};
use super::{Canvas, Figure, dropped_note, listed, regret_label};
use crate::axis::{Axis, usable};
use crate::data::Scatter;
use crate::number;
use crate::svg::{Anchor, Svg};
use crate::thin::{quantile, sample};

/// Points drawn in all, and in one panel.
const BUDGET: usize = 14_000;
const CAP: usize = 2_500;
/// Steps of the colour scale.
const STEPS: usize = 5;

/// Points of one method: predicted, realised, regret.
struct Cloud<'a> {
    name: &'a str,
    points: Vec<[f64; 3]>,
}

pub(crate) fn draw(canvas: Canvas, scatters: &[Scatter], unit: &str) -> Option<Figure> {
    let mut dropped = 0;
    let mut clouds: Vec<Cloud> = Vec::new();
    for s in canvas.palette.sorted(scatters, |s| &s.method) {
        let all = s.predicted.iter().zip(&s.realised).zip(&s.cost).map(|((p, r), c)| [*p, *r, *c]);
        let points: Vec<[f64; 3]> = all.filter(|p| p.iter().all(|&v| usable(v))).collect();
        dropped += s.predicted.len().min(s.realised.len()).min(s.cost.len()) - points.len();
        if !points.is_empty() {
            clouds.push(Cloud { name: &s.method, points });
        }
    }
    if clouds.is_empty() {
        return None;
    }
    let axis = shared_axis(&clouds);
    let steps = Steps::of(&clouds);
    let across = columns(clouds.len(), canvas.width);
    let down = clouds.len().div_ceil(across);
    let gap = 18.0;
    // Square panels: the labels depend on the height, which is the width, which depends on the room for the labels.
    let side = |left: f64| {
        ((canvas.width - left - 10.0 - gap * (across - 1) as f64) / across as f64).clamp(40.0, 420.0)
    };
    let mut left = label_room(&axis, side(0.0));
    for _ in 0..4 {
        left = left.max(label_room(&axis, side(left)));
    }
    let width = side(left);
    let step = width + 46.0;
    let mut svg = Svg::new(canvas.width, 0.0);
    let head = steps.key(&mut svg, unit) + 22.0;
    let label = scatters.iter().map(|s| s.label.trim()).find(|l| !l.is_empty()).unwrap_or("value");
    svg.text("tm", (0.0, head), Anchor::Start, canvas.width, &format!("realised {label}"));

    let cap = (BUDGET / clouds.len()).clamp(250, CAP);
    let mut thinned = None;
    let mut beyond = 0;
    for (k, cloud) in clouds.iter().enumerate() {
        let (row, column) = (k / across, k % across);
        let (left, top) = (left + (width + gap) * column as f64, head + 28.0 + step * row as f64);
        let panel = Panel { left, top, width, height: width, x: axis, y: axis };
        svg.text("tb", (left, top - 8.0), Anchor::Start, width, cloud.name);
        panel.x_grid(&mut svg, k + across >= clouds.len());
        panel.y_grid(&mut svg, column == 0);
        svg.line("rf", (left, top + width), (left + width, top));
        panel.baseline(&mut svg);
        let inside = |p: &[f64; 3]| [p[0], p[1]].iter().all(|v| (axis.low..=axis.high).contains(v));
        beyond += cloud.points.iter().filter(|p| !inside(p)).count();
        if cloud.points.len() > cap {
            thinned = thinned.max(Some(cloud.points.len()));
        }
        let mut bins: Vec<Vec<(f64, f64)>> = vec![Vec::new(); STEPS];
        for i in sample(cloud.points.len(), cap) {
            let point = &cloud.points[i];
            if inside(point) {
                bins[steps.bin(point[2])].push(panel.at((point[0], point[1])));
            }
        }
        // Cheap ones first: what cost most lies on top.
        for (bin, points) in bins.iter().enumerate() {
            svg.dots(&format!("pt p{bin}"), points);
        }
    }
    svg.height = head + 28.0 + step * down as f64 + 4.0;
    let middle = left + ((width + gap) * across as f64 - gap) / 2.0;
    let place = (middle, svg.height - 8.0);
    svg.text("tm", place, Anchor::Middle, canvas.width, &format!("predicted {label}"));

    let mut notes: Vec<String> = dropped_note(dropped).into_iter().collect();
    if let Some(most) = thinned {
        notes.push(format!(
            "A sample of {} out of up to {} points a method is drawn.",
            number::count(cap),
            number::count(most)
        ));
    }
    if beyond > 0 {
        let what = if beyond == 1 { "point lies" } else { "points lie" };
        notes.push(format!("{} {what} outside the frame.", number::count(beyond)));
    }
    let names: Vec<&str> = clouds.iter().map(|c| c.name).collect();
    Some(Figure {
        name: "predicted-realised".into(),
        heading: "Predicted against realised".into(),
        caption: "On the dashed line a prediction came true. Points off the line that stay blue were wrong without \
                  harm: the decision was right all the same. The two blues are the cheaper three quarters of the \
                  decisions, the reds the costliest tenth."
            .to_owned(),
        description: format!("Predicted against realised {label}, coloured by regret, for {}.", listed(&names)),
        notes,
        svg,
    })
}

/// One range for both directions and all methods; a few wild points do not stretch it.
fn shared_axis(clouds: &[Cloud]) -> Axis {
    let mut values: Vec<f64> = Vec::new();
    for cloud in clouds {
        values.extend(
            sample(cloud.points.len(), 5_000)
                .into_iter()
                .flat_map(|i| [cloud.points[i][0], cloud.points[i][1]]),
        );
    }
    values.sort_by(f64::total_cmp);
    let all = clouds.iter().flat_map(|c| &c.points).flat_map(|p| [p[0], p[1]]);
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let (from, to) = (quantile(&values, 0.005), quantile(&values, 0.995));
    if high - low > 4.0 * (to - from) && to > from {
        let room = (to - from) * 0.25;
        return Axis::linear((from - room).max(low), (to + room).min(high));
    }
    Axis::linear(low, high)
}

/// The colour scale: steps at quantiles of the regret over all methods, finer where decisions were costly.
struct Steps {
    edges: Vec<f64>,
}

impl Steps {
    fn of(clouds: &[Cloud]) -> Self {
        let mut costs: Vec<f64> = Vec::new();
        for cloud in clouds {
            costs.extend(sample(cloud.points.len(), 5_000).into_iter().map(|i| cloud.points[i][2]));
        }
        costs.sort_by(f64::total_cmp);
        Self { edges: [0.0, 0.5, 0.75, 0.9, 0.97, 1.0].map(|q| quantile(&costs, q)).to_vec() }
    }

    fn bin(&self, cost: f64) -> usize {
        self.edges[1..STEPS].iter().filter(|&&edge| cost > edge).count()
    }

    /// The colour bar with its edges; gives its height.
    fn key(&self, svg: &mut Svg, unit: &str) -> f64 {
        svg.text(
            "ti",
            (0.0, 12.0),
            Anchor::Start,
            svg.width,
            &format!("{} of the decision", regret_label(unit)),
        );
        let width = (svg.width / STEPS as f64 - 2.0).min(72.0);
        for k in 0..STEPS {
            svg.rect(&format!("f{k}"), (2.0 + (width + 1.0) * k as f64, 22.0), (width, 9.0), "");
        }
        let mut free = f64::NEG_INFINITY;
        for (k, edge) in self.edges.iter().enumerate() {
            // What is nothing beside the largest is written as 0.
            let small = edge.abs() < self.edges[STEPS].abs() * 1e-4;
            let text = if small { "0".to_owned() } else { number::significant(*edge, 3) };
            let (x, anchor) = match k {
                0 => (2.0, Anchor::Start),
                STEPS => (2.0 + (width + 1.0) * STEPS as f64 - 1.0, Anchor::End),
                _ => (2.0 + (width + 1.0) * k as f64, Anchor::Middle),
            };
            let half = crate::svg::text_width(&text, 12.0) / 2.0;
            if k == 0 || k == STEPS || x - half > free {
                svg.text("tm", (x, 46.0), anchor, 999.0, &text);
                free = x + half + 6.0;
            }
        }
        50.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_quantiles_even_when_all_regrets_are_equal() {
        let cloud =
            |costs: &[f64]| Cloud { name: "a", points: costs.iter().map(|&c| [0.0, 0.0, c]).collect() };
        let steps = Steps::of(&[cloud(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])]);
        assert_eq!([0.0, 2.4, 3.0, 5.0].map(|c| steps.bin(c)), [0, 0, 1, 4]);
        assert_eq!(Steps::of(&[cloud(&[1.0; 7])]).bin(1.0), 0);
    }

    #[test]
    fn every_label_is_within_the_drawing() {
        let ranges = [(-3.4, 14.1), (-0.021, 0.034), (900.0, 123_456.0), (-9e8, 9e8), (-12.5, -2.5)];
        for ((low, high), (count, width)) in ranges.into_iter().flat_map(|r| {
            [1, 2, 3, 5]
                .into_iter()
                .flat_map(move |n| [(r, (n, super::super::WIDE)), (r, (n, super::super::NARROW))])
        }) {
            let scatters: Vec<Scatter> = (0..count)
                .map(|k| Scatter {
                    method: format!("method-{k}"),
                    predicted: vec![low, high],
                    realised: vec![high, low],
                    cost: vec![0.0, 1.0],
                    label: String::new(),
                })
                .collect();
            let palette = crate::palette::Palette::of(&crate::Report::default());
            let figure = draw(Canvas { width, palette: &palette }, &scatters, "").expect("a figure");
            let text = figure.svg.inline("wide", "i", "", "");
            let mut ends = 0;
            for label in text.split("<text class=\"tm\" x=\"").skip(1) {
                let (x, rest) = label.split_once('"').expect("a place");
                let (head, rest) = rest.split_once('>').expect("a text");
                let size = crate::svg::text_width(rest.split_once('<').expect("an end").0, 12.0);
                let x: f64 = x.parse().expect("a number");
                let from = if head.contains("\"end\"") {
                    ends += 1;
                    x - size
                } else if head.contains("middle") {
                    x - size / 2.0
                } else {
                    x
                };
                assert!(from >= 0.0 && from + size <= width, "{low} to {high}, {count} of {width}: {label}");
            }
            assert!(ends >= 2, "{text}");
        }
    }

    #[test]
    fn wild_points_do_not_stretch_the_frame() {
        let mut points: Vec<[f64; 3]> = (0..1000).map(|k| [f64::from(k), f64::from(k), 0.0]).collect();
        points[500][0] = 1e9;
        assert!(shared_axis(&[Cloud { name: "a", points }]).high < 2000.0);
    }
}
