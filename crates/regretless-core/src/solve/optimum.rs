//! What an exact solve returns.

use crate::engine::accuracy::Accuracy;
use crate::engine::status::Link;
use crate::engine::tolerance::DEPENDENT;
use crate::engine::workspace::Work;
use crate::linalg::simd::Kernel;
use crate::problem::{RowId, RowValues, View};

/// How an exact solve ended. A hard problem is a status; bad input is an error.
///
/// | status | `x` | `objective` | `multipliers` |
/// |---|---|---|---|
/// | `Optimal` | the optimum | its value | the optimal multipliers |
/// | `Infeasible` | a least-violating point | −∞ for `max`, +∞ for `min` | zeros |
/// | `Unbounded` | the point where the ray was found, not always feasible | +∞ for `max`, −∞ for `min` | zeros |
/// | `NumericalTrouble` | the best point found, finite | its value | the best found |
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// Solved, and measured to keep the [`Tolerances`](crate::Tolerances); a vertex for an LP unless the reference solver's own
    /// point was the only one that does.
    Optimal,
    /// No point satisfies all hard rows and bounds.
    Infeasible {
        /// Rows and bounds that cannot hold together; without any one of them the others can (as far as rounding tells).
        rows: Vec<RowId>,
    },
    /// The objective has no bound.
    Unbounded {
        /// A direction along which every hard row keeps holding and the objective improves for ever.
        ray: Vec<f64>,
    },
    /// No link of the chain reached the tolerances; [`Optimum::accuracy`] says how far off the best point is.
    NumericalTrouble,
}

impl Status {
    /// The status in one word, as tables and files have it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Infeasible { .. } => "infeasible",
            Self::Unbounded { .. } => "unbounded",
            Self::NumericalTrouble => "numerical-trouble",
        }
    }
}

/// An exact solution.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// How the solve ended; says what the other fields mean.
    pub status: Status,
    /// The decision.
    pub x: Vec<f64>,
    /// The objective in the problem's own sense.
    pub objective: f64,
    /// λ of every row: ±θ = 2Qx + Cᵀλ_soft + Aᵀλ_at_most + Bᵀλ_equal − λ_lower + λ_upper, with +θ for `max` and −θ for `min`.
    /// Non-negative on inequalities and bounds, between −under and alpha on soft rows, any sign on equalities.
    pub multipliers: RowValues,
    /// Rows at equality (soft rows: at their kink), bounds first; see [`Optimum::basis`].
    pub active: Vec<RowId>,
    /// How right the answer is, in the user's rows and units.
    pub accuracy: Accuracy,
    /// True if all rows and Q together have rank below n: x is then the minimum-norm optimum.
    pub rank_deficient: bool,
    /// Who answered.
    pub link: Link,
    /// What it took.
    pub work: Work,
}

impl Optimum {
    /// True for [`Status::Optimal`].
    pub fn is_optimal(&self) -> bool {
        self.status == Status::Optimal
    }

    /// A largest independent set of the active rows: n rows for an LP whose optimum is a vertex.
    pub fn basis(&self, view: &View<'_>) -> Vec<RowId> {
        let kernel = Kernel::new();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut rows = Vec::new();
        for &id in &self.active {
            let mut row = view.row(id).to_vec(view.shape.n);
            let size = kernel.dot(&row, &row).sqrt();
            // Twice is enough: Gram–Schmidt with one repetition.
            for _ in 0..2 {
                for b in &basis {
                    let along = kernel.dot(b, &row);
                    kernel.axpy(-along, b, &mut row);
                }
            }
            let left = kernel.dot(&row, &row).sqrt();
            if left > DEPENDENT * size {
                row.iter_mut().for_each(|r| *r /= left);
                basis.push(row);
                rows.push(id);
            }
        }
        rows
    }
}
