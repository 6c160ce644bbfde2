//! One instance of a problem: the stated parameters with some of them overridden.

use std::ops::Deref;

use super::builder::{check_bounds, check_prices, check_vector};
use super::by_parameter::ByParameter;
use super::convex;
use super::parameter::{Parameter, Role};
use super::tolerance::{Tolerances, relative, size};
use super::{Problem, ProblemError, RowId, Shape};
use crate::linalg::dense;
use crate::linalg::matrix::Matrix;
use crate::linalg::simd::Kernel;
use crate::problem::RowValues;

/// Overrides for one solve. Matrices are row-major slices; what is `None` keeps the problem's value.
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
        let n = self.n();
        for parameter in Parameter::ALL {
            let Some(values) = *instance.get(parameter) else { continue };
            let (what, own) = (parameter.symbol(), parameter.of(self));
            match parameter {
                Parameter::Lower | Parameter::Upper => {
                    check_bounds(view.lower, view.upper, self.variables())?;
                }
                Parameter::Quadratic => {
                    check_vector(what, n * n, values)?;
                    convex::check_psd(values, n)?;
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
            shape: self.shape(),
            parameters: ByParameter::from_fn(|p| instance.get(p).unwrap_or_else(|| p.of(self))),
            given: bits(|p| instance.get(p).is_some()),
            sign: self.sign(),
        }
    }
}

impl<'a> View<'a> {
    /// Q; `None` for an LP.
    pub fn quadratic(&self) -> Option<&'a [f64]> {
        (!self.Q.is_empty()).then_some(self.Q)
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
        let n = self.shape.n;
        let linear: f64 = self.theta.iter().zip(x).map(|(t, x)| t * x).sum();
        let quadratic = self
            .quadratic()
            .map_or(0.0, |q| (0..n).map(|i| x[i] * dot(&q[i * n..(i + 1) * n], x)).sum::<f64>());
        let soft: f64 = (0..self.shape.soft)
            .map(|k| {
                let z = dot(&self.C[k * n..(k + 1) * n], x) - self.d[k];
                self.alpha[k] * z.max(0.0) + self.under[k] * (-z).max(0.0)
            })
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
        let n = self.shape.n;
        let tolerance = Tolerances::default().primal;
        let mut worst: Option<(RowId, f64)> = None;
        let mut look = |id: RowId, out: f64, limit: f64, row: &[f64], x: &[f64]| {
            if out > worst.map_or(0.0, |(_, most)| most) && relative(out, limit, || size(row, x)) > tolerance
            {
                worst = Some((id, out));
            }
        };
        for (i, (row, b)) in self.A.chunks_exact(n).zip(self.b).enumerate() {
            look(RowId::AtMost(i), dot(row, x) - b, *b, row, x);
        }
        for (i, (row, c)) in self.B.chunks_exact(n).zip(self.c).enumerate() {
            look(RowId::Equal(i), (dot(row, x) - c).abs(), *c, row, x);
        }
        for (j, x) in x.iter().enumerate() {
            look(RowId::Lower(j), self.lower[j] - x, self.lower[j], &[1.0], &[*x]);
            look(RowId::Upper(j), x - self.upper[j], self.upper[j], &[1.0], &[*x]);
        }
        worst
    }

    /// What the violations of hard rows and bounds at `x` cost at the given prices a unit; soft prices are not looked at.
    pub fn penalty(&self, x: &[f64], prices: &RowValues) -> f64 {
        let n = self.shape.n;
        let row = |matrix: &[f64], i: usize| dot(&matrix[i * n..(i + 1) * n], x);
        // An absent bound is infinitely far away.
        let over = |z: f64, price: f64| if z > 0.0 { price * z } else { 0.0 };
        let at_most = self.b.iter().zip(&prices.at_most).enumerate();
        let equal = self.c.iter().zip(&prices.equal).enumerate();
        at_most.map(|(i, (b, price))| over(row(self.A, i) - b, *price)).sum::<f64>()
            + equal.map(|(i, (c, price))| price * (row(self.B, i) - c).abs()).sum::<f64>()
            + (0..n).map(|j| over(self.lower[j] - x[j], prices.lower[j])).sum::<f64>()
            + (0..n).map(|j| over(x[j] - self.upper[j], prices.upper[j])).sum::<f64>()
    }

    /// A row or bound as a vector of n coefficients: `row · x ≤` its limit.
    pub fn row(&self, row: RowId) -> Vec<f64> {
        let n = self.shape.n;
        let unit = |j: usize, sign: f64| {
            let mut out = vec![0.0; n];
            out[j] = sign;
            out
        };
        match row {
            RowId::Soft(i) => self.C[i * n..(i + 1) * n].to_vec(),
            RowId::AtMost(i) => self.A[i * n..(i + 1) * n].to_vec(),
            RowId::Equal(i) => self.B[i * n..(i + 1) * n].to_vec(),
            RowId::Lower(j) => unit(j, -1.0),
            RowId::Upper(j) => unit(j, 1.0),
        }
    }

    /// The smallest eigenvalue of Q, 0 up to rounding if Q is singular; `None` for an LP.
    pub fn smallest_eigenvalue(&self) -> Option<f64> {
        let n = self.shape.n;
        self.quadratic().map(|q| {
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

fn dot(a: &[f64], b: &[f64]) -> f64 {
    Kernel::new().dot(a, b)
}
