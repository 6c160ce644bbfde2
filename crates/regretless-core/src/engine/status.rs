//! How solves end, and who answered.

use crate::problem::RowId;

/// Which solver answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The path engine, or for a linear program with sparse rows the simplex method from the saved vertex.
    Path,
    /// The semismooth Newton method.
    Newton,
    /// The interior point for sparse rows.
    Interior,
    /// Clarabel.
    Reference,
}

/// How a surrogate solve ended.
///
/// | status | `x` | gradients |
/// |---|---|---|
/// | `Optimal` | the surrogate's optimum (vertex mode: the closed-form point) | its derivatives |
/// | `Uncapped` | the optimum with hard rows uncapped, because a multiplier was too small here | its derivatives |
/// | `Unbounded` | the last point of the path | at that point's pieces |
/// | `Infeasible` | a point that violates hard rows: the original problem has no feasible one | at that point's pieces |
/// | `NumericalTrouble` | the best point found, finite | at that point's pieces |
#[derive(Clone, Debug, PartialEq)]
pub enum SurrogateStatus {
    /// Solved.
    Optimal,
    /// The penalties of these hard rows were too small for this instance (or, if none is named, the softened problem was
    /// unbounded): it was solved without caps on the hard rows. Raise the multipliers.
    Uncapped {
        /// Hard rows that stood at their cap.
        rows: Vec<RowId>,
    },
    /// The objective has no bound.
    Unbounded,
    /// The original problem has no feasible point.
    Infeasible {
        /// Rows that cannot hold together.
        rows: Vec<RowId>,
    },
    /// No link of the chain reached the required accuracy.
    NumericalTrouble,
}

impl SurrogateStatus {
    /// The status in one word, as tables have it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Uncapped { .. } => "uncapped",
            Self::Unbounded => "unbounded",
            Self::Infeasible { .. } => "infeasible",
            Self::NumericalTrouble => "numerical-trouble",
        }
    }

    /// The rows that it names.
    pub fn rows(&self) -> &[RowId] {
        match self {
            Self::Uncapped { rows } | Self::Infeasible { rows } => rows,
            Self::Optimal | Self::Unbounded | Self::NumericalTrouble => &[],
        }
    }
}
