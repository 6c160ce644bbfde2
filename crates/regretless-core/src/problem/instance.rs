//! One instance of a problem: the stated parameters with some of them overridden.

use std::ops::Deref;
use std::sync::Arc;

use super::builder::{check_bounds, check_prices, check_vector};
use super::by_parameter::ByParameter;
use super::convex;
use super::parameter::{Parameter, Role};
use super::tolerance::{Tolerances, relative};
use super::{Coefficients, CoefficientsRef, Form, Problem, ProblemError, Row, RowId, Shape};
use crate::linalg::dense;
use crate::linalg::matrix::Matrix;
use crate::linalg::simd::Kernel;
use crate::linalg::sparse_ldl::Analysis;
use crate::problem::RowValues;

/// Overrides for one solve. Matrices are slices in pattern order, which for a dense one is row-major; what is `None` keeps
/// the problem's value.
///
/// ```
/// use regretless_core::Instance;
/// let theta = [1.0, 2.0];
/// let d = [3.0];
/// let instance = Instance { d: Some(&d), ..Instance::theta(&theta) };
/// assert!(instance.C.is_none());
/// ```
pub type Instance<'a> = ByParameter<Option<&'a [f64]>>;

impl<'a> Instance<'a> {
    /// An instance that overrides the linear term only: the commonest.
    pub fn theta(theta: &'a [f64]) -> Self {
        Self { theta: Some(theta), ..Self::default() }
    }
}

/// Every parameter of one instance, resolved and checked: what solves work on. An instance that is looked at more than once is
/// parsed once, and its view passed on.
///
/// ```
/// use regretless_core::{Instance, Problem};
/// let problem = Problem::maximize(2).linear([3.0, 2.0]).upper([1.0, 4.0]).build()?;
/// let view = problem.view(&Instance::theta(&[1.0, 5.0]))?;
/// assert_eq!((view.theta[1], view.upper[1]), (5.0, 4.0));
/// assert_eq!(view.objective(&[1.0, 2.0]), 11.0);
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    problem: &'a Problem,
    /// Sizes.
    pub shape: Shape,
    /// The values; Q is empty for an LP. The fields of this one are those of the view.
    pub parameters: ByParameter<&'a [f64]>,
    /// What the instance gave, a bit for each kind; the rest is the problem's.
    given: u16,
    pub(crate) sign: f64,
}

impl<'a> Deref for View<'a> {
    type Target = ByParameter<&'a [f64]>;

    fn deref(&self) -> &Self::Target {
        &self.parameters
    }
}

impl Problem {
    /// Resolves an instance against the problem; bad overrides are an `Err`.
    pub fn view<'a>(&'a self, instance: &Instance<'a>) -> Result<View<'a>, ProblemError> {
        let view = self.view_checked_before(instance);
        for parameter in Parameter::ALL {
            let Some(values) = *instance.get(parameter) else { continue };
            let (what, own) = (parameter.symbol(), parameter.of(self));
            match parameter {
                Parameter::Lower | Parameter::Upper => {
                    check_bounds(view.lower, view.upper, self.variables())?;
                }
                Parameter::Quadratic => {
                    check_vector(what, parameter.entries(self), values)?;
                    view.quadratic().map_or(Ok(()), |q| convex::check(q, q))?;
                }
                _ if own.is_empty() && !values.is_empty() => {
                    return Err(ProblemError::NothingToOverride { what: what.into() });
                }
                Parameter::Over | Parameter::Under => check_prices(what, own.len(), values)?,
                _ => check_vector(what, own.len(), values)?,
            }
        }
        Ok(view)
    }

    /// [`Problem::view`] of an instance that it was made of before.
    pub(crate) fn view_checked_before<'a>(&'a self, instance: &Instance<'a>) -> View<'a> {
        View {
            problem: self,
            shape: self.shape(),
            parameters: ByParameter::from_fn(|p| instance.get(p).unwrap_or_else(|| p.of(self))),
            given: bits(|p| instance.get(p).is_some()),
            sign: self.sign(),
        }
    }
}

impl<'a> View<'a> {
    /// Q; `None` for an LP.
    pub fn quadratic(&self) -> Option<CoefficientsRef<'a>> {
        let pattern = self.problem.quadratic_pattern();
        (!self.Q.is_empty()).then_some(CoefficientsRef { pattern, values: self.Q })
    }

    /// With what the problem is solved.
    pub(crate) fn form(&self) -> Form {
        self.problem.form()
    }

    /// The analysis of the problem's own rows and Q.
    pub(crate) fn analysis(&self) -> Option<&'a Arc<Analysis>> {
        self.problem.analysis()
    }

    /// Coefficients and limits of the soft rows, of those of `Ax ≤ b` and of `Bx = c`: the order of the stacked rows.
    pub fn rows(&self) -> [(CoefficientsRef<'a>, &'a [f64]); 3] {
        let of = |rows: &'a Coefficients, values| CoefficientsRef { pattern: rows.pattern(), values };
        let problem = self.problem;
        [
            (of(&problem.soft().C, self.C), self.d),
            (of(&problem.at_most().rows, self.A), self.b),
            (of(&problem.equal().rows, self.B), self.c),
        ]
    }

    /// True if the instance gave values for one of these.
    pub(crate) fn gives(&self, some: &[Parameter]) -> bool {
        some.iter().any(|p| self.given & bit(*p) != 0)
    }

    /// True if hard rows or bounds differ from the problem's, and with them what is feasible.
    pub(crate) fn changes_feasible(&self) -> bool {
        self.given & bits(|p| p.role() == Role::Hard) != 0
    }

    /// True if anything but θ differs from the problem's, so that a factor of its rows cannot be used again.
    pub(crate) fn changes_rows(&self) -> bool {
        self.given & !bit(Parameter::Linear) != 0
    }

    /// The same instance with another, already checked, linear term.
    pub(crate) fn with_theta<'b>(&self, theta: &'b [f64]) -> View<'b>
    where
        'a: 'b,
    {
        View { parameters: ByParameter { theta, ..self.parameters }, ..*self }
    }

    /// The objective at `x` in the problem's own sense; soft terms included, hard rows not looked at.
    pub fn objective(&self, x: &[f64]) -> f64 {
        let kernel = Kernel::new();
        let times_x = |rows: CoefficientsRef<'_>| {
            let mut out = vec![0.0; rows.pattern.rows()];
            rows.apply(kernel, x, &mut out);
            out
        };
        let linear = kernel.dot(self.theta, x);
        let quadratic = self.quadratic().map_or(0.0, |q| kernel.dot(&times_x(q), x));
        let [(soft, limits), ..] = self.rows();
        let prices = self.alpha.iter().zip(self.under);
        let soft: f64 = times_x(soft)
            .iter()
            .zip(limits)
            .zip(prices)
            .map(|((cx, d), (over, under))| over * (cx - d).max(0.0) + under * (d - cx).max(0.0))
            .sum();
        linear - self.sign * (quadratic + soft)
    }

    /// The largest violation of a hard row or bound at `x`, in the row's own units; 0 if all hold. See [`View::violated`].
    pub fn violation(&self, x: &[f64]) -> f64 {
        self.violated(x).map_or(0.0, |(_, violation)| violation)
    }

    /// The hard row or bound that `x` violates most, and by how much in the row's own units. A row that holds within 1e-7·(1 +
    /// |bᵢ| + |aᵢ|ᵀ|x|), the tolerance that an optimum keeps, is not violated: 0.06 at 4·10¹⁴ is rounding.
    pub fn violated(&self, x: &[f64]) -> Option<(RowId, f64)> {
        let tolerance = Tolerances::default().primal;
        let mut worst: Option<(RowId, f64)> = None;
        let mut look = |id: RowId, out: f64, limit: f64| {
            let size = || self.row(id).size(x);
            if out > worst.map_or(0.0, |(_, most)| most) && relative(out, limit, size) > tolerance {
                worst = Some((id, out));
            }
        };
        let [_, (at_most, b), (equal, c)] = self.rows();
        for (i, (row, b)) in at_most.iter().zip(b).enumerate() {
            look(RowId::AtMost(i), row.dot(x) - b, *b);
        }
        for (i, (row, c)) in equal.iter().zip(c).enumerate() {
            look(RowId::Equal(i), (row.dot(x) - c).abs(), *c);
        }
        for (j, x) in x.iter().enumerate() {
            look(RowId::Lower(j), self.lower[j] - x, self.lower[j]);
            look(RowId::Upper(j), x - self.upper[j], self.upper[j]);
        }
        worst
    }

    /// What the violations of hard rows and bounds at `x` cost at the given prices a unit; soft prices are not looked at.
    pub fn penalty(&self, x: &[f64], prices: &RowValues) -> f64 {
        let n = self.shape.n;
        let [_, (rows, b), (equal, c)] = self.rows();
        // An absent bound is infinitely far away.
        let over = |z: f64, price: f64| if z > 0.0 { price * z } else { 0.0 };
        let at_most = rows.iter().zip(b).zip(&prices.at_most);
        let equal = equal.iter().zip(c).zip(&prices.equal);
        at_most.map(|((row, b), price)| over(row.dot(x) - b, *price)).sum::<f64>()
            + equal.map(|((row, c), price)| price * (row.dot(x) - c).abs()).sum::<f64>()
            + (0..n).map(|j| over(self.lower[j] - x[j], prices.lower[j])).sum::<f64>()
            + (0..n).map(|j| over(x[j] - self.upper[j], prices.upper[j])).sum::<f64>()
    }

    /// The coefficients of a row or bound: `row · x ≤` its limit.
    ///
    /// ```
    /// use regretless_core::{Instance, Matrix, Problem, RowId};
    /// let land = Matrix::from_rows(&[[1.0, 2.0]]);
    /// let problem = Problem::maximize(2).linear([1.0, 1.0]).at_most("land", land, [4.0]).build()?;
    /// let view = problem.view(&Instance::default())?;
    /// assert_eq!(view.row(RowId::AtMost(0)).dot(&[1.0, 1.0]), 3.0);
    /// assert_eq!(view.row(RowId::Lower(1)).dot(&[1.0, 1.0]), -1.0);
    /// assert_eq!(view.limit(RowId::AtMost(0)), 4.0);
    /// # Ok::<(), regretless_core::ProblemError>(())
    /// ```
    pub fn row(&self, row: RowId) -> Row<'a> {
        let [(soft, _), (at_most, _), (equal, _)] = self.rows();
        match row {
            RowId::Soft(i) => soft.row(i),
            RowId::AtMost(i) => at_most.row(i),
            RowId::Equal(i) => equal.row(i),
            RowId::Lower(j) => Row::unit(j, &[-1.0]),
            RowId::Upper(j) => Row::unit(j, &[1.0]),
        }
    }

    /// What the row's `row · x` is held to.
    pub fn limit(&self, row: RowId) -> f64 {
        match row {
            RowId::Soft(i) => self.d[i],
            RowId::AtMost(i) => self.b[i],
            RowId::Equal(i) => self.c[i],
            RowId::Lower(j) => -self.lower[j],
            RowId::Upper(j) => self.upper[j],
        }
    }

    /// The smallest eigenvalue of Q, 0 up to rounding if Q is singular; `None` for an LP.
    pub fn smallest_eigenvalue(&self) -> Option<f64> {
        let n = self.shape.n;
        self.quadratic().map(|q| {
            let q = q.dense();
            let symmetric = Matrix::from_fn(n, n, |i, j| f64::midpoint(q[i * n + j], q[j * n + i]));
            dense::smallest_eigenvalue(&symmetric)
        })
    }

    /// The gain's linear term: θ for `max`, −θ for `min`.
    pub(crate) fn gain(&self, out: &mut [f64]) {
        for (o, t) in out.iter_mut().zip(self.theta) {
            *o = self.sign * t;
        }
    }
}

fn bit(parameter: Parameter) -> u16 {
    1 << parameter as u16
}

/// The kinds that are so.
fn bits(mut so: impl FnMut(Parameter) -> bool) -> u16 {
    Parameter::ALL.into_iter().filter(|p| so(*p)).map(bit).sum()
}
