//! Whether a quadratic term is one that can be maximised.

use super::tolerance::{ASYMMETRIC, INDEFINITE};
use super::{CoefficientsRef, ProblemError};
use crate::linalg::dense::{CholeskyScratch, cholesky, smallest_eigenvalue};
use crate::linalg::matrix::Matrix;
use crate::linalg::sparse_ldl::is_positive;

/// Up to so many variables a sparse Q is looked at as a dense one, which gives its smallest eigenvalue exactly.
const FEW: usize = 300;
/// By how much a shift is widened to find how negative the smallest eigenvalue is.
const WIDER: f64 = 10.0;

/// Refuses a Q that is not symmetric or not positive semidefinite. `symmetric` has the pattern of (Q + Qᵀ)/2.
pub(crate) fn check(q: CoefficientsRef<'_>, symmetric: CoefficientsRef<'_>) -> Result<(), ProblemError> {
    let n = q.pattern.cols();
    match symmetric.pattern.compressed() {
        Some(pattern) if n > FEW => {
            let scale = q.values.iter().fold(0.0_f64, |s, q| s.max(q.abs()));
            for (row, of) in q.iter().enumerate() {
                for (col, a) in of.iter() {
                    let mirror = q.row(col).get(row);
                    if (a - mirror).abs() > ASYMMETRIC * scale {
                        let (upper, lower) = if row < col { (a, mirror) } else { (mirror, a) };
                        let (row, col) = (row.min(col), row.max(col));
                        return Err(ProblemError::NotSymmetric { row, col, upper, lower });
                    }
                }
            }
            let middle = symmetric.iter().enumerate().flat_map(|(i, row)| {
                row.iter().map(move |(j, _)| f64::midpoint(q.row(i).get(j), q.row(j).get(i)))
            });
            let values: Vec<f64> = middle.collect();
            let too_large = || ProblemError::OutOfMemory { what: "a factor of Q" };
            let positive =
                |shift: f64| is_positive(pattern, &values, shift + f64::MIN_POSITIVE).ok_or_else(too_large);
            if positive(INDEFINITE * scale)? {
                return Ok(());
            }
            // −shift is below the smallest eigenvalue, and a tenth of it is not.
            let mut shift = WIDER * INDEFINITE * scale;
            while shift < n as f64 * scale && !positive(shift)? {
                shift *= WIDER;
            }
            Err(ProblemError::NotConvex { eigenvalue: -shift })
        }
        _ => check_psd(&q.dense(), n),
    }
}

/// Refuses a Q that is not symmetric or not positive semidefinite; one Cholesky factor in the good case.
pub(crate) fn check_psd(q: &[f64], n: usize) -> Result<(), ProblemError> {
    let scale = q.iter().fold(0.0_f64, |s, q| s.max(q.abs()));
    let mut h = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let (lower, upper) = (q[i * n + j], q[j * n + i]);
            if (upper - lower).abs() > ASYMMETRIC * scale {
                return Err(ProblemError::NotSymmetric { row: j, col: i, upper, lower });
            }
            h[j * n + i] = f64::midpoint(upper, lower);
        }
        h[i * n + i] += INDEFINITE * scale + f64::MIN_POSITIVE;
    }
    if cholesky(&mut h, n, &mut CholeskyScratch::new(n)) {
        return Ok(());
    }
    let symmetric = Matrix::from_fn(n, n, |i, j| f64::midpoint(q[i * n + j], q[j * n + i]));
    let eigenvalue = smallest_eigenvalue(&symmetric);
    if eigenvalue < -INDEFINITE * scale {
        return Err(ProblemError::NotConvex { eigenvalue });
    }
    Ok(())
}
