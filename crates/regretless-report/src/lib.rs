//! The report of a comparison: a table and charts in one self-contained HTML page, and each chart as an SVG of its own.
//!
//! This crate draws what it is given and knows nothing of training: fill in a [`Report`] and write it.
//!
//! ```
//! use regretless_report::{Comparison, Report, Row};
//!
//! let report = Report {
//!     title: "Feed-in of a solar park".into(),
//!     summary: "surrogate-smooth is chosen: 21 % less regret than the best two-stage method.".into(),
//!     table: Comparison {
//!         unit: "EUR a day".into(),
//!         rows: vec![
//!             Row { method: "constant".into(), regret: 410.0, seeds: 5, ..Row::default() },
//!             Row { method: "l2".into(), regret: 182.0, seeds: 5, seconds: 3.1, ..Row::default() },
//!             Row { method: "surrogate-smooth".into(), regret: 143.8, seeds: 5, best: true, ..Row::default() },
//!         ],
//!     },
//!     ..Report::default()
//! };
//! let page = report.html();
//! assert!(page.contains("143.8") && !page.contains("http://"));
//! # let dir = tempfile::tempdir()?;
//! # let dir = dir.path();
//! let paths = report.write(dir)?;
//! assert!(paths.html.ends_with("report.html"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`StudyReport`] is the other kind of page: several tables, each a [`Grid`] of preformatted cells, with charts of
//! our figures beside published ones.
//!
//! The page loads nothing and runs no script. It follows the light or dark preference of its reader, and every chart is
//! drawn twice, for a desk and for a phone. All text of the caller is escaped. The numbers behind the page are embedded
//! in `<script type="application/json" id="regretless-data">` and read back as a [`Report`], long series thinned.

mod axis;
mod chart;
mod data;
mod embed;
mod escape;
mod lossy;
mod number;
mod page;
mod palette;
mod shell;
mod study;
mod svg;
mod table;
mod thin;
mod write;

use std::path::Path;

pub use data::{
    Activity, Calibrated, Candidate, Charts, Comparison, Curve, Distribution, Report, Row, RowActivity,
    Scatter, Sharpness, Sheet,
};
pub use study::{
    AxisScale, Cell, ChartAxis, Dot, DotChart, DotGroup, Emphasis, Grid, LineChart, Series, StudyChart,
    StudyReport, StudySection,
};
pub use write::{Paths, ReportError};

impl Report {
    /// The page, complete in itself.
    pub fn html(&self) -> String {
        page::render(self)
    }

    /// Each chart as a file of its own: (name without ending, SVG). They bring their colours, light and dark.
    pub fn svgs(&self) -> Vec<(String, String)> {
        chart::files(chart::figures(self, chart::WIDE))
    }

    /// Writes `report.html` and `charts/*.svg` into a folder, which is made where it is missing.
    ///
    /// Every file is written under a temporary name and renamed, after all of them have been written. Charts an earlier
    /// report left there and this one does not have are deleted; other files are left alone.
    pub fn write(&self, dir: impl AsRef<Path>) -> Result<Paths, ReportError> {
        let dir = dir.as_ref();
        let paths = write::page(dir, "report.html", self.html(), self.svgs())?;
        let old = chart::NAMES.iter().map(|name| dir.join("charts").join(format!("{name}.svg")));
        write::remove(old.filter(|path| !paths.charts.contains(path)))?;
        Ok(paths)
    }
}
