//! A comparison as it is kept: a page and `comparison.json`.

use std::path::{Path, PathBuf};

use regretless_learn::{Comparison, Row, Task, write_whole};
use regretless_report::Report;
use serde::Serialize;

use super::comparison;
use crate::Spec;
use crate::error::ProjectError;

/// What is left of a comparison when the data are gone.
#[derive(Clone, Debug)]
pub struct Compared {
    page: Report,
    json: String,
}

#[derive(Serialize)]
struct Machine<'a> {
    problem: Option<&'a str>,
    judged_on: &'a str,
    paired_over: &'a str,
    rows: &'a [Row],
    notes: &'a [String],
    warnings: &'a [String],
}

impl Compared {
    /// Makes the page and the file; `example` says what the problem is, if it is an embedded one.
    pub fn new(spec: &Spec, task: &Task, found: &Comparison, example: Option<&str>) -> Self {
        let machine = Machine {
            problem: spec.name(),
            judged_on: found.judged,
            paired_over: found.paired,
            rows: &found.rows,
            notes: &found.notes,
            warnings: &found.warnings,
        };
        // Numbers and texts are always JSON.
        let json = serde_json::to_string_pretty(&machine).unwrap_or_default() + "\n";
        Self { page: comparison(spec, task, found, example), json }
    }

    /// The content of `comparison.json`.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Writes the page with its charts and `comparison.json` into a folder; where the page is.
    pub fn write(&self, dir: &Path) -> Result<PathBuf, ProjectError> {
        let paths = self.page.write(dir)?;
        write_whole(&dir.join("comparison.json"), self.json.as_bytes())?;
        Ok(paths.html)
    }
}
