//! The charts: one module each, drawn at a given width so that a phone gets its own drawing and not a shrunk one.

mod activity;
mod calibration;
mod curves;
mod distribution;
mod dots;
mod forest;
mod frame;
mod lines;
mod scatter;
mod search;
mod sharpness;

use std::borrow::Cow;

use crate::axis::{Axis, Scale, usable};
use crate::data::Report;
use crate::number;
use crate::palette::Palette;
use crate::study::{StudyChart, StudyReport, StudySection};
use crate::svg::Svg;

/// Width of the charts on a desk and on a phone.
pub(crate) const WIDE: f64 = 760.0;
pub(crate) const NARROW: f64 = 340.0;

/// The names of all charts there are, in the order of the page.
pub(crate) const NAMES: [&str; 8] = [
    "regret",
    "search",
    "regret-by-epoch",
    "regret-distribution",
    "predicted-realised",
    "calibration",
    "sharpness",
    "constraint-activity",
];

/// A finished chart with the words that belong to it.
pub(crate) struct Figure {
    /// File name without its ending, and anchor in the page.
    pub(crate) name: Cow<'static, str>,
    pub(crate) heading: Cow<'static, str>,
    /// How to read it: one or two sentences.
    pub(crate) caption: String,
    /// What it shows, for those who cannot see it.
    pub(crate) description: String,
    /// What was left out.
    pub(crate) notes: Vec<String>,
    pub(crate) svg: Svg,
}

/// Where a chart is drawn: its width and the colours of the methods.
#[derive(Clone, Copy)]
pub(crate) struct Canvas<'a> {
    pub(crate) width: f64,
    pub(crate) palette: &'a Palette,
}

impl Canvas<'_> {
    fn narrow(&self) -> bool {
        self.width < 500.0
    }
}

/// All charts the report has data for, in the order of the page.
pub(crate) fn figures(report: &Report, width: f64) -> Vec<Figure> {
    let palette = Palette::of(report);
    let canvas = Canvas { width, palette: &palette };
    let (charts, unit) = (&report.charts, report.table.unit.as_str());
    [
        forest::draw(canvas, &report.table),
        search::draw(canvas, &charts.search, unit),
        curves::draw(canvas, &charts.curves, unit),
        distribution::draw(canvas, &charts.distributions, unit),
        scatter::draw(canvas, &charts.scatters, unit),
        calibration::draw(canvas, &charts.calibration),
        sharpness::draw(canvas, &charts.sharpness, unit),
        activity::draw(canvas, &charts.activity),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The charts of a study, one entry a section: `None` where it has none or nothing could be drawn.
pub(crate) fn study(report: &StudyReport, width: f64) -> Vec<Option<Figure>> {
    let palette = Palette::study(report);
    let canvas = Canvas { width, palette: &palette };
    let draw = |(k, section): (usize, &StudySection)| {
        let figure = match section.chart.as_ref()? {
            StudyChart::Lines(chart) => lines::draw(canvas, chart),
            StudyChart::Dots(chart) => dots::draw(canvas, chart),
        }?;
        let heading = section.heading().to_owned().into();
        Some(Figure { name: section.anchor(k).into(), heading, ..figure })
    };
    report.sections.iter().enumerate().map(draw).collect()
}

/// Figures as files of their own: (name without ending, SVG).
pub(crate) fn files(figures: impl IntoIterator<Item = Figure>) -> Vec<(String, String)> {
    let file = |f: Figure| (f.name.into_owned(), f.svg.standalone(&f.heading, &f.description, &f.notes));
    figures.into_iter().map(file).collect()
}

/// A sentence, after a space, on the axes that are logarithmic; nothing when none is.
fn log_note((x_name, x): (&str, &Axis), (y_name, y): (&str, &Axis)) -> String {
    match (x.scale == Scale::Linear, y.scale == Scale::Linear) {
        (true, true) => String::new(),
        (true, false) => format!(" The {y_name} axis is logarithmic."),
        (false, true) => format!(" The {x_name} axis is logarithmic."),
        (false, false) => " Both axes are logarithmic.".to_owned(),
    }
}

/// `regret` with its unit.
fn regret_label(unit: &str) -> String {
    if unit.trim().is_empty() { "regret".to_owned() } else { format!("regret ({unit})") }
}

/// The note for values that could not be drawn; nothing when there are none.
fn dropped_note(dropped: usize) -> Option<String> {
    match dropped {
        0 => None,
        1 => Some("1 value that is not finite is left out.".to_owned()),
        n => Some(format!("{} values that are not finite are left out.", number::count(n))),
    }
}

/// The notes for these values, none of which could be drawn: not finite, or not positive on a logarithmic axis.
fn undrawn_notes(values: &[f64]) -> Vec<String> {
    let finite = values.iter().filter(|&&v| usable(v)).count();
    let positive = match finite {
        0 => None,
        1 => Some("1 value that is not positive is left out of the logarithmic axis.".to_owned()),
        n => Some(format!(
            "{} values that are not positive are left out of the logarithmic axis.",
            number::count(n)
        )),
    };
    dropped_note(values.len() - finite).into_iter().chain(positive).collect()
}

/// `a`, `a and b`, `a, b and 3 more`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => "no method".to_owned(),
        [a] => (*a).to_owned(),
        [a, b] => format!("{a} and {b}"),
        [a, b, c] => format!("{a}, {b} and {c}"),
        [a, b, rest @ ..] => format!("{a}, {b} and {} more", rest.len()),
    }
}
