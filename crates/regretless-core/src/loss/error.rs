//! What can be wrong with a loss or a batch, and what can go wrong with one sample.

use thiserror::Error;

use super::Method;
use crate::engine::status::SurrogateStatus;
use crate::predict::scenarios::ScenarioError;
use crate::problem::ProblemError;
use crate::solve::codec::SavedError;
use crate::solve::optimum::Status;

/// Bad input to a loss as a whole. One sample that cannot be solved is not an error: see [`LossTrouble`].
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LossError {
    /// A batch of the wrong size.
    #[error("{what} has {found} entries, expected {expected}")]
    Length {
        /// The part of the batch.
        what: &'static str,
        /// Entries expected.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// The method cannot do this.
    #[error("`{method}` cannot be used here: {reason}{}", instead(alternatives))]
    Unsupported {
        /// The method.
        method: Method,
        /// Why not.
        reason: String,
        /// Methods that can.
        alternatives: Vec<Method>,
    },
    /// No such method.
    #[error("there is no method `{0}`; known: {known}", known = names(&Method::ALL))]
    UnknownMethod(String),
    /// A problem, placement, multiplier or setting out of its range.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// Scenarios that do not fit.
    #[error(transparent)]
    Scenarios(#[from] ScenarioError),
    /// Truths of something else.
    #[error("the truths that were lent are of another problem or another placement of predictions")]
    Truths,
    /// Saved state that cannot be read.
    #[error(transparent)]
    Saved(#[from] SavedError),
}

fn names(methods: &[Method]) -> String {
    methods.iter().map(Method::id).collect::<Vec<_>>().join(", ")
}

fn instead(alternatives: &[Method]) -> String {
    if alternatives.is_empty() {
        String::new()
    } else {
        format!("; decision losses that can: {}", names(alternatives))
    }
}

/// Whose instance it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The predicted parameters.
    Prediction,
    /// The parameters that came true.
    Truth,
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Prediction => "prediction",
            Self::Truth => "truth",
        })
    }
}

/// Why a sample has no loss.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// The problem refuses the parameters: a negative price, a Q that is not PSD, crossed bounds, NaN.
    #[error("the problem refuses the {0}: {1}")]
    Refused(Side, ProblemError),
    /// The solve ended without an optimum.
    #[error("the problem at the {0} has no optimum: {1}")]
    NoOptimum(Side, String),
    /// A decision from elsewhere that is none.
    #[error("there is no decision")]
    NoDecision,
    /// Numbers too large for a finite loss.
    #[error("the loss or its gradient is not finite")]
    NotFinite,
}

/// A sample without a loss: its value is infinite, its gradient 0.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("sample {sample} of the batch: {cause}")]
pub struct LossTrouble {
    /// Position in the batch.
    pub sample: usize,
    /// What happened.
    pub cause: Cause,
}

impl Cause {
    /// `None` for an optimum.
    pub(crate) fn of_status(side: Side, status: &Status) -> Option<Self> {
        let words = match status {
            Status::Optimal => return None,
            Status::Infeasible { rows } => format!("infeasible, {} rows cannot hold together", rows.len()),
            Status::Unbounded { .. } => "unbounded".into(),
            Status::NumericalTrouble => "numerical trouble".into(),
        };
        Some(Self::NoOptimum(side, words))
    }

    /// `None` for an optimum.
    pub(crate) fn of_surrogate(side: Side, status: &SurrogateStatus) -> Option<Self> {
        let words = match status {
            SurrogateStatus::Optimal | SurrogateStatus::Uncapped { .. } => return None,
            SurrogateStatus::Infeasible { rows } => {
                format!("infeasible, {} rows cannot hold together", rows.len())
            }
            SurrogateStatus::Unbounded => "unbounded".into(),
            SurrogateStatus::NumericalTrouble => "numerical trouble".into(),
        };
        Some(Self::NoOptimum(side, words))
    }
}
