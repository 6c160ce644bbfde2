//! Whether a quadratic term is one that can be maximised.

use super::ProblemError;
use super::tolerance::{ASYMMETRIC, INDEFINITE};
use crate::linalg::dense::{CholeskyScratch, cholesky, smallest_eigenvalue};
use crate::linalg::matrix::Matrix;

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
