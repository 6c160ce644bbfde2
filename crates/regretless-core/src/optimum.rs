//! What an exact solve returns.

use crate::accuracy::Accuracy;
use crate::kernel::Kernel;
use crate::problem::{ProblemError, RowId, Shape, View};
use crate::workspace::Work;

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

/// Which solver answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The path engine.
    Path,
    /// The semismooth Newton method.
    Newton,
    /// Clarabel.
    Reference,
}

/// A number for every row, by kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowValues {
    /// Soft rows.
    pub soft: Vec<f64>,
    /// Rows of `Ax ≤ b`.
    pub at_most: Vec<f64>,
    /// Rows of `Bx = c`.
    pub equal: Vec<f64>,
    /// Lower bounds.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
}

impl RowValues {
    /// The same value everywhere.
    pub fn constant(shape: Shape, value: f64) -> Self {
        Self {
            soft: vec![value; shape.soft],
            at_most: vec![value; shape.at_most],
            equal: vec![value; shape.equal],
            lower: vec![value; shape.n],
            upper: vec![value; shape.n],
        }
    }

    /// From stacked values: soft, at most, equal, lower, upper.
    pub(crate) fn from_stacked(shape: Shape, values: &[f64]) -> Self {
        let mut at = 0;
        let mut next = |len: usize| {
            at += len;
            values[at - len..at].to_vec()
        };
        Self {
            soft: next(shape.soft),
            at_most: next(shape.at_most),
            equal: next(shape.equal),
            lower: next(shape.n),
            upper: next(shape.n),
        }
    }

    /// Stacked: soft, at most, equal, lower, upper.
    pub(crate) fn stacked(&self) -> Vec<f64> {
        [&self.soft, &self.at_most, &self.equal, &self.lower, &self.upper]
            .into_iter()
            .flatten()
            .copied()
            .collect()
    }

    /// Refuses values that are not one for each row of their kind.
    pub(crate) fn checked(&self, what: &str, shape: Shape) -> Result<&Self, ProblemError> {
        let kinds = [
            ("soft rows", shape.soft, &self.soft),
            ("rows `at most`", shape.at_most, &self.at_most),
            ("rows `equal`", shape.equal, &self.equal),
            ("lower bounds", shape.n, &self.lower),
            ("upper bounds", shape.n, &self.upper),
        ];
        for (kind, expected, values) in kinds {
            if values.len() != expected {
                let what = format!("{what} of the {kind}");
                return Err(ProblemError::Length { what, expected, found: values.len() });
            }
        }
        Ok(self)
    }

    /// The value of one row, to change; `None` if there is no such row.
    pub(crate) fn get_mut(&mut self, row: RowId) -> Option<&mut f64> {
        match row {
            RowId::Soft(i) => self.soft.get_mut(i),
            RowId::AtMost(i) => self.at_most.get_mut(i),
            RowId::Equal(i) => self.equal.get_mut(i),
            RowId::Lower(j) => self.lower.get_mut(j),
            RowId::Upper(j) => self.upper.get_mut(j),
        }
    }

    /// The value of one row.
    pub fn get(&self, row: RowId) -> f64 {
        match row {
            RowId::Soft(i) => self.soft[i],
            RowId::AtMost(i) => self.at_most[i],
            RowId::Equal(i) => self.equal[i],
            RowId::Lower(j) => self.lower[j],
            RowId::Upper(j) => self.upper[j],
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
            let mut row = view.row(id);
            let size = kernel.dot(&row, &row).sqrt();
            // Twice is enough: Gram–Schmidt with one repetition.
            for _ in 0..2 {
                for b in &basis {
                    let along = kernel.dot(b, &row);
                    kernel.axpy(-along, b, &mut row);
                }
            }
            let left = kernel.dot(&row, &row).sqrt();
            if left > 1e-9 * size {
                row.iter_mut().for_each(|r| *r /= left);
                basis.push(row);
                rows.push(id);
            }
        }
        rows
    }
}
