//! The dense linear algebra that is not on the hot path, all of it through faer.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::{MatMut, MatRef, Par, Side};

use super::matrix::Matrix;

/// Scratch for Cholesky factors of n × n matrices.
pub(crate) struct CholeskyScratch(MemBuffer);

impl CholeskyScratch {
    pub(crate) fn new(n: usize) -> Self {
        let need = cholesky_in_place_scratch::<f64>(n, Par::Seq, faer::Spec::default());
        Self(MemBuffer::new(need))
    }
}

/// Cholesky factor in place (lower triangle, column-major); false if the matrix is not positive definite.
pub(crate) fn cholesky(h: &mut [f64], n: usize, scratch: &mut CholeskyScratch) -> bool {
    cholesky_in_place(
        MatMut::from_column_major_slice_mut(h, n, n),
        faer::linalg::cholesky::llt::factor::LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut scratch.0),
        faer::Spec::default(),
    )
    .is_ok()
}

/// Eigenvalues (ascending) and eigenvectors (one a row) of a symmetric row-major matrix; `None` if faer gives up.
pub(crate) fn eigen(a: &[f64], n: usize) -> Option<(Vec<f64>, Matrix)> {
    let eigen = MatRef::from_row_major_slice(a, n, n).self_adjoint_eigen(Side::Lower).ok()?;
    let values = (0..n).map(|i| eigen.S()[i]).collect();
    let vectors = Matrix::from_fn(n, n, |i, j| eigen.U()[(j, i)]);
    Some((values, vectors))
}

/// The smallest eigenvalue of a symmetric matrix; −∞ if it cannot be computed.
pub(crate) fn smallest_eigenvalue(a: &Matrix) -> f64 {
    let m = MatRef::from_row_major_slice(a.as_slice(), a.rows(), a.cols());
    let values = m.self_adjoint_eigenvalues(Side::Lower);
    values.map_or(f64::NEG_INFINITY, |v| v.into_iter().fold(f64::INFINITY, f64::min))
}

/// Singular values of a row-major matrix, descending; empty if they cannot be computed.
pub(crate) fn singular_values(a: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    MatRef::from_row_major_slice(a, rows, cols).singular_values().unwrap_or_default()
}
