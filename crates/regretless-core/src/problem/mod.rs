//! The problem, stated once and validated once.
//!
//! ```text
//! max_x   θᵀx − xᵀQx − αᵀmax(Cx − d, 0) − α₂ᵀmax(d − Cx, 0)
//! s.t.    Ax ≤ b,  Bx = c,  l ≤ x ≤ u
//! ```
//!
//! `min` problems state the same terms as costs: `min θᵀx + xᵀQx + αᵀmax(Cx − d, 0) + …`.

mod builder;
mod by_parameter;
mod coefficients;
pub(crate) mod convex;
pub(crate) mod duplicates;
mod error;
pub(crate) mod form;
mod instance;
mod names;
pub(crate) mod parameter;
mod pattern;
mod row_values;
pub(crate) mod tolerance;

use std::ops::Range;
use std::sync::Arc;

pub use builder::{ProblemBuilder, Soft};
pub use by_parameter::ByParameter;
pub use coefficients::{Coefficients, CoefficientsRef};
pub use error::ProblemError;
pub use form::{FactorCost, Form};
pub use instance::{Instance, View};
pub use names::Named;
pub use parameter::{Parameter, Parameters, Role};
pub use pattern::{Pattern, Row};
pub use row_values::RowValues;
pub use tolerance::Tolerances;

use crate::linalg::sparse_ldl::Analysis;

/// Whether the objective is a gain or a cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sense {
    /// The objective is a gain.
    #[default]
    Max,
    /// The objective is a cost.
    Min,
}

/// A named range of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The name that messages use.
    pub name: String,
    /// The rows of the block within the stacked rows of its kind.
    pub rows: Range<usize>,
}

/// All soft blocks, stacked: `alphaᵀmax(Cx − d, 0) + underᵀmax(d − Cx, 0)`.
#[derive(Clone, Debug)]
#[allow(non_snake_case)]
pub struct SoftRows {
    /// Coefficients, one row a soft constraint.
    pub C: Coefficients,
    /// Limits.
    pub d: Vec<f64>,
    /// Price of a unit above the limit.
    pub alpha: Vec<f64>,
    /// Price of a unit below the limit; 0 for one-sided rows.
    pub under: Vec<f64>,
    /// The named blocks, in order.
    pub blocks: Vec<Block>,
}

/// All hard blocks of one kind, stacked: `rows · x ≤ rhs` or `rows · x = rhs`.
#[derive(Clone, Debug)]
pub struct HardRows {
    /// Coefficients, one row a constraint.
    pub rows: Coefficients,
    /// Right-hand sides.
    pub rhs: Vec<f64>,
    /// The named blocks, in order.
    pub blocks: Vec<Block>,
}

/// A validated problem. Cloning is cheap; the data cannot change.
///
/// ```
/// use regretless_core::{Matrix, Problem, Soft};
/// // Two crops, a hard limit on land, a soft one on water: every unit above 10 costs 0.5.
/// let problem = Problem::maximize(2)
///     .linear([3.0, 2.0])
///     .at_most("land", Matrix::from_rows(&[[1.0, 1.0]]), [8.0])
///     .soft("water", Soft::over(Matrix::from_rows(&[[2.0, 1.0]]), [10.0], [0.5]))
///     .build()?;
/// assert_eq!(problem.n(), 2);
/// assert!(problem.is_linear());
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Problem(Arc<Data>);

#[derive(Clone, Debug)]
#[allow(non_snake_case)]
struct Data {
    sense: Sense,
    variables: Vec<String>,
    theta: Vec<f64>,
    /// False if nobody gave a θ: it is then 0 where it does not matter and an error where it does.
    states_theta: bool,
    Q: Option<Coefficients>,
    /// See [`Problem::quadratic_pattern`].
    curved: Pattern,
    soft: SoftRows,
    at_most: HardRows,
    equal: HardRows,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// The form that was asked for.
    wanted: Option<Form>,
    /// Of the sparse form.
    analysis: Option<Arc<Analysis>>,
}

impl Data {
    fn chosen(mut self) -> Problem {
        self.analysis = form::choose(&self);
        Problem(Arc::new(self))
    }
}

impl Problem {
    /// Starts a problem with `n` variables whose objective is a gain. Default: x ≥ 0, nothing else; θ is for
    /// the problem to state or for its instances.
    pub fn maximize(n: usize) -> ProblemBuilder {
        ProblemBuilder::new(n, Sense::Max)
    }

    /// Starts a problem with `n` variables whose objective is a cost.
    pub fn minimize(n: usize) -> ProblemBuilder {
        ProblemBuilder::new(n, Sense::Min)
    }

    /// Number of decision variables.
    pub fn n(&self) -> usize {
        self.0.theta.len()
    }

    /// Whether the objective is a gain or a cost.
    pub fn sense(&self) -> Sense {
        self.0.sense
    }

    /// +1 for `max`, −1 for `min`: what turns the stated θ into the gain the engine maximises.
    pub(crate) fn sign(&self) -> f64 {
        match self.0.sense {
            Sense::Max => 1.0,
            Sense::Min => -1.0,
        }
    }

    /// Names of the variables, `x0`, `x1`, … unless given.
    pub fn variables(&self) -> &[String] {
        &self.0.variables
    }

    /// True if the problem has a θ of its own, zeros included; otherwise instances bring theirs.
    pub fn states_theta(&self) -> bool {
        self.0.states_theta
    }

    /// The same problem, whose θ is 0 where nobody gives one: for what is solved about its rows.
    pub(crate) fn or_zero_theta(&self) -> Self {
        if self.0.states_theta {
            return self.clone();
        }
        Self(Arc::new(Data { states_theta: true, ..(*self.0).clone() }))
    }

    /// The linear term as stated; zeros if there is none.
    pub fn theta(&self) -> &[f64] {
        &self.0.theta
    }

    /// The quadratic term, symmetric; `None` for an LP.
    #[allow(non_snake_case)]
    pub fn Q(&self) -> Option<&Coefficients> {
        self.0.Q.as_ref()
    }

    /// The pattern of Q: that of the stated one, or for an LP, whose instances may bring one, every entry.
    pub(crate) fn quadratic_pattern(&self) -> &Pattern {
        &self.0.curved
    }

    /// True if the problem has no quadratic term.
    pub fn is_linear(&self) -> bool {
        self.0.Q.is_none()
    }

    /// The soft rows.
    pub fn soft(&self) -> &SoftRows {
        &self.0.soft
    }

    /// The hard rows `Ax ≤ b`.
    pub fn at_most(&self) -> &HardRows {
        &self.0.at_most
    }

    /// The hard rows `Bx = c`.
    pub fn equal(&self) -> &HardRows {
        &self.0.equal
    }

    /// Lower bounds, −∞ where there is none.
    pub fn lower(&self) -> &[f64] {
        &self.0.lower
    }

    /// Upper bounds, +∞ where there is none.
    pub fn upper(&self) -> &[f64] {
        &self.0.upper
    }

    /// The same problem with another, already checked, quadratic term.
    #[allow(non_snake_case)]
    pub(crate) fn with_quadratic(&self, Q: Coefficients) -> Self {
        Data { curved: Q.pattern().clone(), Q: Some(Q), ..(*self.0).clone() }.chosen()
    }

    /// The same problem with other, already checked, soft rows.
    pub(crate) fn with_soft(&self, soft: SoftRows) -> Self {
        Data { soft, ..(*self.0).clone() }.chosen()
    }

    /// The same problem with some of its hard rows only.
    pub(crate) fn with_hard(&self, at_most: &[bool], equal: &[bool]) -> Self {
        let some = |all: &HardRows, kept: &[bool]| {
            let indices = || (0..kept.len()).filter(|&i| kept[i]);
            let mut rows = Coefficients::empty(self.n());
            rows.append(&all.rows, indices());
            HardRows { rows, rhs: indices().map(|i| all.rhs[i]).collect(), blocks: Vec::new() }
        };
        let (at_most, equal) = (some(&self.0.at_most, at_most), some(&self.0.equal, equal));
        Data { at_most, equal, ..(*self.0).clone() }.chosen()
    }

    /// The number of rows of every kind.
    pub fn shape(&self) -> Shape {
        Shape {
            n: self.n(),
            soft: self.0.soft.d.len(),
            at_most: self.0.at_most.rhs.len(),
            equal: self.0.equal.rhs.len(),
        }
    }
}

/// Sizes of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Decision variables.
    pub n: usize,
    /// Soft rows.
    pub soft: usize,
    /// Rows of `Ax ≤ b`.
    pub at_most: usize,
    /// Rows of `Bx = c`.
    pub equal: usize,
}

impl Shape {
    /// The row kinds in the order of the stacked rows: soft, at most, equal, lower, upper.
    pub fn rows(&self) -> usize {
        self.soft + self.at_most + self.equal + 2 * self.n
    }

    /// The general rows: all but the bounds.
    pub fn general(&self) -> usize {
        self.soft + self.at_most + self.equal
    }

    /// The stacked position of a row.
    pub fn position(&self, row: RowId) -> usize {
        match row {
            RowId::Soft(i) => i,
            RowId::AtMost(i) => self.soft + i,
            RowId::Equal(i) => self.soft + self.at_most + i,
            RowId::Lower(j) => self.general() + j,
            RowId::Upper(j) => self.general() + self.n + j,
        }
    }

    /// What the row at stacked position `i` is.
    pub fn row(&self, i: usize) -> RowId {
        let at_most = self.soft;
        let equal = at_most + self.at_most;
        let lower = equal + self.equal;
        let upper = lower + self.n;
        match i {
            i if i < at_most => RowId::Soft(i),
            i if i < equal => RowId::AtMost(i - at_most),
            i if i < lower => RowId::Equal(i - equal),
            i if i < upper => RowId::Lower(i - lower),
            i => RowId::Upper(i - upper),
        }
    }
}

/// A row of the problem by kind and position within its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowId {
    /// Soft row.
    Soft(usize),
    /// Row of `Ax ≤ b`.
    AtMost(usize),
    /// Row of `Bx = c`.
    Equal(usize),
    /// Lower bound of a variable.
    Lower(usize),
    /// Upper bound of a variable.
    Upper(usize),
}

impl Problem {
    /// The name of a row for messages: block name and position in it, or the bound of a variable.
    pub fn row_name(&self, row: RowId) -> String {
        let within = |blocks: &[Block], i: usize| {
            // Blocks are in order, and a model may have one a row.
            let at = blocks.partition_point(|b| b.rows.end <= i);
            blocks.get(at).filter(|b| b.rows.contains(&i)).map_or_else(
                || format!("row {i}"),
                |b| match b.rows.len() {
                    1 => b.name.clone(),
                    _ => format!("{}[{}]", b.name, i - b.rows.start),
                },
            )
        };
        match row {
            RowId::Soft(i) => within(&self.0.soft.blocks, i),
            RowId::AtMost(i) => within(&self.0.at_most.blocks, i),
            RowId::Equal(i) => within(&self.0.equal.blocks, i),
            RowId::Lower(j) => format!("lower bound of {}", self.0.variables[j]),
            RowId::Upper(j) => format!("upper bound of {}", self.0.variables[j]),
        }
    }
}
