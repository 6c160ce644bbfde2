//! What the engine asks of a factor of H = 2Q + C'ᵀdiag(w)C', whatever is behind it.
//!
//! Newton's method and gradients factor it from its terms and solve with it. The path also changes H by one row at a time: the
//! dense factor is changed with it, the sparse one is bordered by the rows that changed.

use crate::linalg::bordered::Bordered;
use crate::linalg::dense_ldl::DenseLdl;
use crate::linalg::simd::Kernel;

/// A factor of H, by the form of its problem.
#[derive(Clone, Debug)]
pub(crate) enum Factor {
    Dense(DenseLdl),
    Sparse(Bordered),
}

impl Factor {
    /// H⁻¹b, in place; what is behind n entries is padding.
    pub(crate) fn solve(&self, k: Kernel, b: &mut [f64]) {
        match self {
            Self::Dense(factor) => factor.solve(k, b),
            Self::Sparse(factor) => factor.solve_in_place(b),
        }
    }

    /// H⁻¹b for a vector that is not padded.
    pub(crate) fn solve_unpadded(&self, k: Kernel, b: &mut [f64]) {
        match self {
            Self::Dense(factor) => factor.solve_unpadded(k, b),
            Self::Sparse(factor) => factor.solve_in_place(b),
        }
    }

    /// Memory, in bytes, for n variables.
    pub(crate) fn bytes(&self, n: usize) -> usize {
        match self {
            Self::Dense(_) => DenseLdl::bytes(n),
            Self::Sparse(factor) => factor.bytes(),
        }
    }
}

/// H by its terms: 2Q + Σ wᵣaᵣaᵣᵀ + diag(v).
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// 2Q, symmetric and row-major.
    pub(crate) two_q: Option<&'a [f64]>,
    /// The rows aᵣ, row-major.
    pub(crate) rows: &'a [f64],
    /// wᵣ ≥ 0; a row of weight 0 is left out.
    pub(crate) weights: &'a [f64],
    /// v, one entry for each variable.
    pub(crate) diagonal: &'a [f64],
}

/// A factor of a positive definite H that follows changes by one row.
pub(crate) trait Hessian: Sized {
    /// A row a with what half a solve leaves of it, and the memory to change H by it.
    type Row;

    /// The factor, if it is of this kind.
    fn of(factor: Factor) -> Option<Self>;

    /// True if it cannot follow another change: H has to be factored anew.
    fn is_spent(&self) -> bool;

    /// Memory for rows of n entries.
    fn row(n: usize) -> Self::Row;

    /// H⁻¹b, in place; vectors have [`padded`](crate::linalg::simd::padded) length.
    fn solve(&self, k: Kernel, b: &mut [f64]);

    /// Takes up the row that `write` writes, and does half a solve with it. Rows are told apart by their `name`.
    fn meet(&self, k: Kernel, row: &mut Self::Row, name: usize, write: impl FnOnce(&mut [f64]));

    /// aᵀH⁻¹a of the row met last, with H as it was then.
    fn along(&self, k: Kernel, row: &Self::Row) -> f64;

    /// H⁻¹a of the row met last.
    fn direction(&self, k: Kernel, row: &Self::Row, out: &mut [f64]);

    /// The entries of a row that was met, until H is changed by it.
    fn entries(row: &Self::Row) -> &[f64];

    /// H += w a aᵀ for w > 0 and the row met last.
    fn add(&mut self, k: Kernel, w: f64, row: &mut Self::Row);

    /// H −= w a aᵀ for w > 0 and the row met last, given `rest` = 1 − w aᵀH⁻¹a > 0.
    fn remove(&mut self, k: Kernel, w: f64, rest: f64, row: &mut Self::Row);
}
