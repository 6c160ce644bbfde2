//! H = 2Q + C'ᵀdiag(w)C' put together and factored.

use crate::engine::rows::Softened;
use crate::linalg::factor::{Factor, padded};
use crate::linalg::simd::{Kernel, LANES};

/// Memory to put H together in.
#[derive(Default)]
pub(crate) struct Curvature {
    /// √w times the dense rows, padded.
    rows: Vec<f64>,
    diagonal: Vec<f64>,
    scratch: Vec<[f64; LANES]>,
}

impl Curvature {
    /// Factors H with the weight of each row from `weight` (0: the row is left out) and `extra` on top of some entries of
    /// the diagonal; false if H is singular.
    pub(crate) fn factor(
        &mut self,
        k: Kernel,
        s: &Softened,
        weight: impl Fn(usize) -> f64,
        extra: impl Iterator<Item = (usize, f64)>,
        factor: &mut Factor,
    ) -> bool {
        let n = s.n;
        factor.resize(n);
        self.diagonal.clear();
        self.diagonal.resize(n, 0.0);
        for (i, u) in s.unit.iter().enumerate() {
            self.diagonal[u.var] += weight(s.m_dense + i);
        }
        for (j, more) in extra {
            self.diagonal[j] += more;
        }
        for (j, column) in factor.columns_mut() {
            let first = j / LANES * LANES;
            column.fill(0.0);
            if j >= n {
                column[j - first] = 1.0;
                continue;
            }
            if let Some(two_q) = &s.two_q {
                column[..n - first].copy_from_slice(&two_q[j * n + first..(j + 1) * n]);
            }
            column[j - first] += self.diagonal[j];
            self.diagonal[j] = column[j - first];
        }
        let mut filled = 0;
        self.rows.resize(s.m_dense * padded(n), 0.0);
        for (i, row) in (0..s.m_dense).map(|i| (i, s.row(i))) {
            let w = weight(i);
            if w > 0.0 {
                let out = &mut self.rows[filled..filled + padded(n)];
                k.scale(w.sqrt(), row, out, &mut self.diagonal);
                out[n..].fill(0.0);
                filled += padded(n);
            }
        }
        let largest = k.largest(&self.diagonal);
        factor.refactor(k, &self.rows[..filled], &mut self.scratch)
            && factor.smallest_pivot() > SINGULAR * largest
    }
}

/// A pivot below this share of the largest diagonal entry is rounding, not curvature.
const SINGULAR: f64 = 1e-13;
