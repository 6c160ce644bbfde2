//! A study: several tables and charts on one page, as the reproduction of a paper needs them.

mod grid;
mod page;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use self::grid::{Cell, Emphasis, Grid};
use crate::write::{self, Paths, ReportError};
use crate::{chart, lossy, shell};

/// Everything the page of a study shows; what is empty is left out.
///
/// Values that are not finite are left out of the charts, with a note under the chart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StudyReport {
    /// The headline.
    pub title: String,
    /// A paragraph: what was asked and what came out.
    pub summary: String,
    /// Facts about the study, as (name, value).
    pub facts: Vec<(String, String)>,
    /// The tables and charts, in order. The first appearance of a method in a chart decides its colour in all of them.
    pub sections: Vec<StudySection>,
    /// The settings of the runs, in named groups of (key, value).
    pub settings: Vec<(String, Vec<(String, String)>)>,
    /// Remarks, printed last.
    pub notes: Vec<String>,
}

/// A part of a study: words, a table, a chart, any of which may be missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StudySection {
    /// The heading.
    pub title: String,
    /// What to see in it; blank lines separate paragraphs.
    pub text: String,
    /// The table.
    pub grid: Option<Grid>,
    /// The chart, below the table.
    pub chart: Option<StudyChart>,
}

/// The chart of a section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StudyChart {
    /// Lines over a number: regret by epoch, regret against K, eigenvalues.
    Lines(LineChart),
    /// Our means with their intervals, the published values beside them.
    Dots(DotChart),
}

/// Lines, one a method. Where some have a standard deviation and there are many, each gets a panel of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineChart {
    /// The horizontal axis.
    pub x: ChartAxis,
    /// The vertical axis.
    pub y: ChartAxis,
    /// The lines.
    pub series: Vec<Series>,
}

/// A line. The lists are as long as one another, but `std` may be empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Series {
    /// The method, or whatever else the line stands for; it decides the colour.
    pub method: String,
    /// Where it was measured, in any order.
    #[serde(deserialize_with = "lossy::values")]
    pub x: Vec<f64>,
    /// The mean there.
    #[serde(deserialize_with = "lossy::values")]
    pub y: Vec<f64>,
    /// The standard deviation over seeds there, drawn as a band to either side.
    #[serde(deserialize_with = "lossy::values")]
    pub std: Vec<f64>,
}

/// Means with intervals: a panel a group, a row a method, each panel with an axis of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DotChart {
    /// The horizontal axis.
    pub axis: ChartAxis,
    /// What the whiskers are, such as `± one standard deviation over 10 seeds`.
    pub whiskers: String,
    /// The panels.
    pub groups: Vec<DotGroup>,
}

/// A panel of a [`DotChart`], usually one cell of a published table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DotGroup {
    /// The name above the panel.
    pub title: String,
    /// One dot a method; methods a group does not have leave their row empty.
    pub dots: Vec<Dot>,
}

/// What came out for one method in one group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dot {
    /// The method.
    pub method: String,
    /// Our mean.
    #[serde(deserialize_with = "lossy::value")]
    pub value: f64,
    /// The ends of its whiskers.
    #[serde(deserialize_with = "lossy::pair")]
    pub interval: Option<(f64, f64)>,
    /// The published value, where there is one.
    pub published: Option<f64>,
}

/// The name and the scale of an axis.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChartAxis {
    /// What is on it, with its unit.
    pub label: String,
    /// How values are spaced on it.
    pub scale: AxisScale,
}

/// How values are spaced on an axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AxisScale {
    /// Linear or logarithmic, as the spread of the values asks for.
    #[default]
    Auto,
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart; values that are not positive are left out with a note.
    Log,
}

impl StudyReport {
    /// The page, complete in itself.
    pub fn html(&self) -> String {
        page::render(self)
    }

    /// Each chart as a file of its own: (name without ending, SVG). They bring their colours, light and dark.
    pub fn svgs(&self) -> Vec<(String, String)> {
        chart::files(chart::study(self, chart::WIDE).into_iter().flatten())
    }

    /// Writes `study.html` and `charts/study-*.svg` into a folder, which is made where it is missing.
    ///
    /// Every file is written under a temporary name and renamed, after all of them have been written. Charts an earlier
    /// study left there and this one does not have are deleted; other files are left alone.
    pub fn write(&self, dir: impl AsRef<Path>) -> Result<Paths, ReportError> {
        let dir = dir.as_ref();
        let paths = write::page(dir, "study.html", self.html(), self.svgs())?;
        let entries = dir.join("charts").read_dir().into_iter().flatten().flatten();
        let old = entries.map(|entry| entry.path()).filter(|path| is_chart(path));
        write::remove(old.filter(|path| !paths.charts.contains(path)))?;
        Ok(paths)
    }
}

/// Whether a file is named as the charts of studies are: `study-`, a number, a few words.
fn is_chart(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let numbered =
        stem.strip_prefix("study-").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    numbered && path.extension().is_some_and(|ending| ending == "svg")
}

impl StudySection {
    pub(crate) fn heading(&self) -> &str {
        shell::title(&self.title, "Untitled")
    }

    /// Its anchor in the page and the file name of its chart: the number makes it unique, the words make it readable.
    pub(crate) fn anchor(&self, place: usize) -> String {
        let mut anchor = format!("study-{}", place + 1);
        let words = self.title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        for word in words.take_while(|word| word.len() <= 24).take(6) {
            anchor.push('-');
            anchor.push_str(&word.to_ascii_lowercase());
        }
        anchor
    }
}
