//! Equalities that follow from the others, found once a problem.
//!
//! The flow rows of a network sum to zero, so one of them says nothing new. Left in, every vertex is degenerate: the engine
//! ties at each step. A row is left aside if it is a combination of earlier ones, its limit included.

use crate::engine::tolerance::{CONSISTENT, IMPLIED};
use crate::linalg::simd::Kernel;
use crate::problem::View;

/// The equalities that are combinations of earlier ones.
pub(crate) fn implied(view: &View<'_>) -> Vec<usize> {
    let (n, kernel) = (view.shape.n, Kernel::new());
    // Orthonormal rows with their limits behind.
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut implied = Vec::new();
    let [.., (equal, _)] = view.rows();
    for (k, row) in equal.iter().enumerate() {
        let row = row.to_vec(n);
        let norm = kernel.dot(&row, &row).sqrt();
        if norm == 0.0 {
            continue;
        }
        let mut rest: Vec<f64> = row.iter().chain([&view.c[k]]).map(|a| a / norm).collect();
        let mut terms = rest[n].abs();
        // Twice is enough: Gram–Schmidt with one repetition.
        for _ in 0..2 {
            for b in &basis {
                let along = kernel.dot(&b[..n], &rest[..n]);
                terms = terms.max((along * b[n]).abs());
                kernel.axpy(-along, b, &mut rest);
            }
        }
        let left = kernel.dot(&rest[..n], &rest[..n]).sqrt();
        if left > IMPLIED {
            rest.iter_mut().for_each(|r| *r /= left);
            basis.push(rest);
        } else if rest[n].abs() <= CONSISTENT * terms.max(f64::MIN_POSITIVE) {
            implied.push(k);
        }
    }
    implied
}
