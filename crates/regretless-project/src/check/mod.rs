//! Is a problem stated as it is meant? What can be found out before anything is trained, step by step.

mod engine;
mod gradient;
mod placement;
mod statement;
mod table;

use std::path::Path;

use regretless_core::Sense;
use regretless_learn::Dataset;
use serde::Serialize;

use crate::error::ProjectError;
use crate::instances::Instances;
use crate::{Columns, Frame, Overrides, Spec, TableReader};
pub use engine::{CertificateReport, MultiplierReport, Penalty};
pub use gradient::GradientReport;

/// Everything that was found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The problem's name.
    pub problem: Option<String>,
    /// `max` or `min`.
    pub sense: &'static str,
    /// `LP` or `QP`.
    pub class: &'static str,
    /// Instances that were looked at.
    pub instances: usize,
    /// True if nothing failed.
    pub passed: bool,
    /// Every check, in order.
    pub checks: Vec<Finding>,
    /// The penalties of hard rows, if there are any.
    pub multipliers: Option<MultiplierReport>,
    /// What they were tried on.
    pub certificate: Option<CertificateReport>,
    /// Gradients against differences.
    pub gradients: Vec<GradientReport>,
}

/// One check.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// What was checked.
    pub check: &'static str,
    /// What came out.
    pub verdict: Verdict,
    /// In words.
    pub detail: String,
}

/// What came out of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// To be looked at.
    Warning,
    /// Wrong.
    Failed,
    /// Could not be checked.
    Skipped,
}

impl Finding {
    pub(crate) fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, detail: detail.into() }
    }

    pub(crate) fn failed(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Failed, detail: detail.into() }
    }

    pub(crate) fn skipped(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Skipped, detail: detail.into() }
    }

    pub(crate) fn judged(check: &'static str, passed: bool, detail: impl Into<String>) -> Self {
        if passed { Self::ok(check, detail) } else { Self::failed(check, detail) }
    }
}

/// Where the rows to check by are.
#[derive(Clone, Copy, Debug)]
pub enum Table<'a> {
    /// Where `[data]` of the problem file says, if anywhere.
    Named,
    /// In a file.
    File(&'a Path),
    /// In memory.
    Frame(&'a Frame),
}

impl Table<'_> {
    fn instances(self, spec: &Spec) -> Result<Option<Instances>, ProjectError> {
        match self {
            Self::Named if !spec.placed().is_empty() => Instances::history(spec),
            Self::Named => Instances::new(spec, None).map(Some),
            Self::File(path) if spec.data().is_some() && !spec.placed().is_empty() => {
                Instances::of_history(spec, path).map(Some)
            }
            Self::File(path) => Instances::new(spec, Some(path)).map(Some),
            Self::Frame(frame) => Instances::of_frame(spec, frame).map(Some),
        }
    }

    /// The data as `train` would read them, with the columns they are from and all that the table has.
    fn read(self, spec: &Spec) -> Result<(Dataset, Columns, Vec<String>), ProjectError> {
        if let Self::Frame(frame) = self {
            let (data, columns) = spec.read_frame(frame)?;
            return Ok((data, columns, frame.header().to_vec()));
        }
        let path = if let Self::File(path) = self { Some(path.to_owned()) } else { None };
        let spec = spec.clone().with_overrides(Overrides { data: path, ..Overrides::default() })?;
        let (data, columns) = spec.read_columns()?;
        let table = spec.history().and_then(|file| TableReader::open(file, spec.limits()).ok());
        Ok((data, columns, table.map_or_else(Vec::new, |table| table.header().to_vec())))
    }
}

/// Checks a problem on the rows of a table; without any, what depends on predicted values is left out.
pub fn check(spec: &Spec, table: Table<'_>) -> Result<Report, ProjectError> {
    let instances = table.instances(spec)?;
    let instances = instances.as_ref();
    let problem = spec.problem();
    let mut report = Report {
        problem: spec.name().map(str::to_owned),
        sense: if problem.sense() == Sense::Max { "max" } else { "min" },
        class: if problem.is_linear() { "LP" } else { "QP" },
        instances: instances.map_or(0, Instances::len),
        passed: false,
        checks: vec![statement::sizes(spec)],
        multipliers: None,
        certificate: None,
        gradients: Vec::new(),
    };
    report.checks.extend(statement::predicted(spec));
    report.checks.extend(statement::broken(spec));
    let named = instances.and_then(Instances::default_table);
    report.checks.extend(named.map(|named| Finding::ok("data", named)));
    report.checks.extend(table::run(spec, table));
    report.checks.push(statement::convexity(spec, instances)?);
    if let Some(instances) = instances {
        engine::run(spec, instances, &mut report)?;
    } else {
        let keys: Vec<_> = spec.placed().selections.iter().map(|part| format!("`{}`", part.key)).collect();
        let why = format!("{} predicted, and there are no data", keys.join(", "));
        for check in ["optimum", "multipliers", "certificate", "surrogate", "gradients"] {
            report.checks.push(Finding::skipped(check, why.clone()));
        }
    }
    report.passed = report.checks.iter().all(|finding| finding.verdict != Verdict::Failed);
    Ok(report)
}

/// At most `most` of `0..len`, evenly spread, the first among them.
fn spread(len: usize, most: usize) -> Vec<usize> {
    let taken = len.min(most);
    (0..taken).map(|i| i * len / taken).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread() {
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(10, 3), [0, 3, 6]);
        assert!(spread(0, 3).is_empty());
    }
}
