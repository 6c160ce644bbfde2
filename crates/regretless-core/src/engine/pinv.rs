//! Where H is singular: its pseudo-inverse, so that gradients are the minimum-norm ones and never NaN.

use crate::engine::rows::Softened;
use crate::engine::state::State;
use crate::engine::tolerance::{NO_EIGENVALUE, UNSEEN, UNSEEN_PART};
use crate::linalg::dense;
use crate::linalg::matrix::Matrix;

/// H⁺ through the eigenvectors of H.
#[derive(Debug)]
pub(crate) struct Pseudo {
    vectors: Matrix,
    /// 1/eigenvalue, or 0 where the eigenvalue is rounding.
    inverse: Vec<f64>,
}

impl Pseudo {
    /// The pseudo-inverse of H = 2Q + C'ᵀdiag(w)C' at the state's pieces.
    pub(crate) fn new(rows: &Softened, state: &State) -> Self {
        let n = rows.n;
        let mut h = rows.two_q.as_ref().map_or_else(|| vec![0.0; n * n], |q| q.view().dense().into_owned());
        let mut row = vec![0.0; n];
        for i in 0..rows.m() {
            let w = rows.weight(i, state.piece[i], &state.segments);
            if w > 0.0 {
                rows.write_row(i, &mut row);
                for a in 0..n {
                    for b in 0..n {
                        h[a * n + b] += w * row[a] * row[b];
                    }
                }
            }
        }
        let (values, vectors) = dense::eigen(&h, n).unwrap_or_else(|| (vec![0.0; n], Matrix::zeros(n, n)));
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let inverse =
            values.iter().map(|v| if *v > NO_EIGENVALUE * largest { 1.0 / v } else { 0.0 }).collect();
        Self { vectors, inverse }
    }

    /// v = H⁺v.
    pub(crate) fn solve(&self, v: &mut [f64]) {
        let mut out = vec![0.0; v.len()];
        for (i, inverse) in self.inverse.iter().enumerate() {
            let u = self.vectors.row(i);
            let along: f64 = u.iter().zip(v.iter()).map(|(u, v)| u * v).sum();
            out.iter_mut().zip(u).for_each(|(o, u)| *o += inverse * along * u);
        }
        v.copy_from_slice(&out);
    }

    /// Takes from x what neither H nor any row sees.
    pub(crate) fn minimum_norm(&self, rows: &Softened, state: &mut State) {
        let scale = state.x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for (i, inverse) in self.inverse.iter().enumerate() {
            let u = self.vectors.row(i);
            let unseen = (0..rows.m()).all(|r| {
                let along: f64 = rows.entries(r).map(|(j, a)| a * u[j]).sum();
                along.abs() <= UNSEEN * rows.reach[r].max(f64::MIN_POSITIVE)
            });
            if *inverse == 0.0 && unseen {
                let along: f64 = u.iter().zip(&state.x).map(|(u, x)| u * x).sum();
                if along.abs() > UNSEEN_PART * scale {
                    state.x.iter_mut().zip(u).for_each(|(x, u)| *x -= along * u);
                }
            }
        }
    }
}
