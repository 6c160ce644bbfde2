//! One instance of a problem: the stated parameters with some of them overridden.

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

    /// True if rows or Q differ from the problem's, so that a factor of the problem's rows cannot be reused.
    pub(crate) fn changes_curvature(&self) -> bool {
        self.Q.is_some()
            || self.C.is_some()
            || self.alpha.is_some()
            || self.under.is_some()
            || self.A.is_some()
            || self.B.is_some()
    }

    /// True if hard rows or bounds differ from the problem's, and with them what is feasible.
    pub(crate) fn changes_feasible(&self) -> bool {
        Parameter::ALL.into_iter().any(|p| p.role() == Role::Hard && self.get(p).is_some())
    }

    /// True if anything but θ is overridden.
    pub(crate) fn changes_rows(&self) -> bool {
        self.changes_curvature() || self.changes_feasible() || self.d.is_some()
    }
}

/// Every parameter of one instance, resolved and checked.
#[derive(Clone, Copy, Debug)]
#[allow(non_snake_case, missing_docs)]
pub struct View<'a> {
    pub shape: Shape,
    pub theta: &'a [f64],
    pub Q: Option<&'a [f64]>,
    pub C: &'a [f64],
    pub d: &'a [f64],
    pub alpha: &'a [f64],
    pub under: &'a [f64],
    pub A: &'a [f64],
    pub b: &'a [f64],
    pub B: &'a [f64],
    pub c: &'a [f64],
    pub lower: &'a [f64],
    pub upper: &'a [f64],
    pub(crate) sign: f64,
}

impl Problem {
    /// Resolves an instance against the problem; bad overrides are an `Err`.
    pub fn view<'a>(&'a self, instance: &Instance<'a>) -> Result<View<'a>, ProblemError> {
        let s = self.shape();
        let (soft, at_most, equal) = (self.soft(), self.at_most(), self.equal());
        let pick = |what: &str, given: Option<&'a [f64]>, own: &'a [f64]| match given {
            None => Ok(own),
            Some(v) if own.is_empty() && !v.is_empty() => {
                Err(ProblemError::NothingToOverride { what: what.into() })
            }
            Some(v) => check_vector(what, own.len(), v).map(|()| v),
        };
        let prices = |what: &str, given: Option<&'a [f64]>, own: &'a [f64]| {
            let v = pick(what, given, own)?;
            check_prices(what, own.len(), v).map(|()| v)
        };
        let (lower, upper) = (instance.lower.unwrap_or(self.lower()), instance.upper.unwrap_or(self.upper()));
        if instance.lower.is_some() || instance.upper.is_some() {
            check_bounds(lower, upper, self.variables())?;
        }
        let quadratic = match instance.Q {
            None => self.Q().map(Matrix::as_slice),
            Some(q) => {
                check_vector("Q", s.n * s.n, q)?;
                convex::check_psd(q, s.n)?;
                Some(q)
            }
        };
        Ok(View {
            shape: s,
            theta: pick("theta", instance.theta, self.theta())?,
            Q: quadratic,
            C: pick("C", instance.C, soft.C.as_slice())?,
            d: pick("d", instance.d, &soft.d)?,
            alpha: prices("alpha", instance.alpha, &soft.alpha)?,
            under: prices("under", instance.under, &soft.under)?,
            A: pick("A", instance.A, at_most.rows.as_slice())?,
            b: pick("b", instance.b, &at_most.rhs)?,
            B: pick("B", instance.B, equal.rows.as_slice())?,
            c: pick("c", instance.c, &equal.rhs)?,
            lower,
            upper,
            sign: self.sign(),
        })
    }
}

impl View<'_> {
    /// The objective at `x` in the problem's own sense; soft terms included, hard rows not looked at.
    pub fn objective(&self, x: &[f64]) -> f64 {
        let n = self.shape.n;
        let linear: f64 = self.theta.iter().zip(x).map(|(t, x)| t * x).sum();
        let quadratic =
            self.Q.map_or(0.0, |q| (0..n).map(|i| x[i] * dot(&q[i * n..(i + 1) * n], x)).sum::<f64>());
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
        self.Q.map(|q| {
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

fn dot(a: &[f64], b: &[f64]) -> f64 {
    Kernel::new().dot(a, b)
}
