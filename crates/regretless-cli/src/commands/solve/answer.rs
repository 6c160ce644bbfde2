//! What an exact solve found, ready to be printed.

use regretless_core::{Optimum, Problem, RowId, Sense, Status, View};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::output::Named;

/// The answers for one problem.
pub(crate) struct Report<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) problem: &'a Problem,
    pub(crate) answers: Vec<Answer>,
    /// Whether a point that is not optimal is shown.
    pub(crate) best_effort: bool,
}

impl Report<'_> {
    /// True if the answer's point is shown.
    pub(crate) fn shows(&self, answer: &Answer) -> bool {
        match answer.optimum.status {
            Status::Optimal => true,
            Status::NumericalTrouble => self.best_effort,
            Status::Infeasible { .. } | Status::Unbounded { .. } => false,
        }
    }
}

/// The answer for one instance.
pub(crate) struct Answer {
    /// The row of the table, if there is one.
    pub(crate) row: Option<usize>,
    pub(crate) optimum: Optimum,
    pub(crate) rows: Vec<RowAnswer>,
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    /// Names of the rows that cannot hold together.
    pub(crate) conflict: Vec<String>,
}

/// A row at the decision.
#[derive(Serialize)]
pub(crate) struct RowAnswer {
    pub(crate) name: String,
    /// `soft`, `at_most` or `equals`.
    pub(crate) kind: &'static str,
    pub(crate) activity: f64,
    pub(crate) limit: f64,
    pub(crate) multiplier: f64,
}

impl Answer {
    pub(crate) fn new(problem: &Problem, view: &View<'_>, optimum: Optimum, row: Option<usize>) -> Self {
        let ids = (0..view.shape.general()).map(|i| view.shape.row(i));
        let rows = ids.map(|id| {
            let kind = match id {
                RowId::AtMost(_) => "at_most",
                RowId::Equal(_) => "equals",
                RowId::Soft(_) | RowId::Lower(_) | RowId::Upper(_) => "soft",
            };
            let (activity, limit) = (view.row(id).dot(&optimum.x), view.limit(id));
            let multiplier = optimum.multipliers.get(id);
            RowAnswer { name: problem.row_name(id), kind, activity, limit, multiplier }
        });
        let rows = rows.collect();
        let conflict = match &optimum.status {
            Status::Infeasible { rows } => rows.iter().map(|&row| problem.row_name(row)).collect(),
            _ => Vec::new(),
        };
        Self { row, rows, lower: view.lower.to_vec(), upper: view.upper.to_vec(), conflict, optimum }
    }

    pub(crate) fn is_optimal(&self) -> bool {
        self.optimum.is_optimal()
    }

    /// The status in one word.
    pub(crate) fn status(&self) -> &'static str {
        self.optimum.status.word()
    }
}

pub(crate) fn sense(problem: &Problem) -> &'static str {
    match problem.sense() {
        Sense::Max => "max",
        Sense::Min => "min",
    }
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.problem.variables();
        let instances: Vec<_> =
            self.answers.iter().map(|answer| Machine { names, answer, shown: self.shows(answer) }).collect();
        let mut out = serializer.serialize_struct("Report", 3)?;
        out.serialize_field("problem", &self.name)?;
        out.serialize_field("sense", sense(self.problem))?;
        out.serialize_field("instances", &instances)?;
        out.end()
    }
}

/// An answer as JSON. Without an optimum `x` is null; other fields that the status gives no meaning are left out.
struct Machine<'a> {
    names: &'a [String],
    answer: &'a Answer,
    shown: bool,
}

impl Serialize for Machine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Bounds<'a> {
            lower: Named<'a>,
            upper: Named<'a>,
        }
        let optimum = &self.answer.optimum;
        let named = |values| Named { names: self.names, values };
        let mut out = serializer.serialize_struct("Answer", 10)?;
        out.serialize_field("row", &self.answer.row)?;
        out.serialize_field("status", self.answer.status())?;
        if let Status::Optimal | Status::NumericalTrouble = optimum.status {
            out.serialize_field("primal", &optimum.accuracy.primal)?;
            out.serialize_field("dual", &optimum.accuracy.dual)?;
            out.serialize_field("gap", &optimum.accuracy.gap)?;
        }
        out.serialize_field("x", &self.shown.then(|| named(&optimum.x)))?;
        if self.shown {
            out.serialize_field("objective", &optimum.objective)?;
            out.serialize_field("rows", &self.answer.rows)?;
            let (lower, upper) = (&optimum.multipliers.lower, &optimum.multipliers.upper);
            let bounds = Bounds { lower: named(lower), upper: named(upper) };
            out.serialize_field("bound_multipliers", &bounds)?;
            out.serialize_field("rank_deficient", &optimum.rank_deficient)?;
        }
        match &optimum.status {
            Status::Infeasible { .. } => out.serialize_field("conflict", &self.answer.conflict)?,
            Status::Unbounded { ray } => out.serialize_field("ray", &named(ray))?,
            Status::Optimal | Status::NumericalTrouble => {}
        }
        out.end()
    }
}
