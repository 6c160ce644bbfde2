//! The surrogate objective of one instance at any x, not only at its optimum.
//!
//! ```text
//! F_K(x) = θᵀx − xᵀQx − Σᵢ φᵢ(zᵢ)       ∂F_K/∂x = θ − 2Qx − C'ᵀλ(z)       z = C'x − d'
//! ```
//!
//! φ is the multiplier law's integral: γ⁺S(z) + γ⁻S(−z), where S smooths the hinge over |z| ≤ 1/4K.

use std::sync::Arc;

use crate::engine::rows::{Law, Piece, Softened};
use crate::linalg::simd::Kernel;
use crate::problem::RowId;
use crate::surrogate::solution::Solution;

/// A surrogate objective ready to be evaluated; θ is the gain's (negated for `min`).
pub(crate) struct Stage {
    pub(crate) rows: Arc<Softened>,
    pub(crate) sharpness: Arc<Vec<f64>>,
    pub(crate) theta: Vec<f64>,
}

impl Stage {
    /// The objective that a solution is the optimum of.
    pub(crate) fn of(solution: &Solution) -> Self {
        let (rows, sharpness) = (Arc::clone(&solution.rows), Arc::clone(&solution.sharpness));
        Self { rows, sharpness, theta: solution.state.theta.clone() }
    }

    /// F_K(x).
    pub(crate) fn value(&self, x: &[f64]) -> f64 {
        let (k, z) = (Kernel::new(), self.excess(x));
        let rows = &*self.rows;
        let mut value = k.dot(&self.theta, x);
        if let Some(two_q) = &rows.two_q {
            let mut qx = vec![0.0; rows.n];
            two_q.view().apply(k, x, &mut qx);
            value -= 0.5 * k.dot(&qx, x);
        }
        let costs = rows.laws.iter().zip(&z).zip(self.sharpness.iter());
        value -= costs.map(|((law, z), k)| law.cost(*z, *k)).sum::<f64>();
        for hinges in &rows.hinges {
            let (z, k) = (z[hinges.row], self.sharpness[hinges.row]);
            value -= hinges.laws().map(|(limit, law)| law.cost(z - limit, k)).sum::<f64>();
        }
        value
    }

    /// ∂F_K/∂x, the pieces chosen by x itself.
    pub(crate) fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let (k, mut z) = (Kernel::new(), self.excess(x));
        let many: Vec<f64> = self.rows.hinges.iter().map(|h| h.clipped(z[h.row])).collect();
        for (z, law) in z.iter_mut().zip(&self.rows.laws) {
            *z = law.clipped(*z);
        }
        for (hinges, lambda) in self.rows.hinges.iter().zip(many) {
            z[hinges.row] = lambda;
        }
        let mut out = vec![0.0; self.rows.n];
        self.rows.force(k, x, &z, &mut out);
        out.iter_mut().zip(&self.theta).for_each(|(o, t)| *o = t - *o);
        out
    }

    /// Excess and sharpness of the soft rows as stated.
    pub(crate) fn soft(&self, soft: usize, x: &[f64]) -> Vec<(f64, f64)> {
        let z = self.excess(x);
        let mut out = vec![(0.0, 1.0); soft];
        for (id, (z, k)) in self.rows.ids.iter().zip(z.iter().zip(self.sharpness.iter())) {
            if let RowId::Soft(i) = id {
                out[*i] = (*z, *k);
            }
        }
        for hinges in &self.rows.hinges {
            for hinge in hinges.each() {
                out[hinge.soft] = (z[hinges.row] - hinge.limit, self.sharpness[hinges.row]);
            }
        }
        out
    }

    /// z = C'x − d'.
    fn excess(&self, x: &[f64]) -> Vec<f64> {
        let mut z = vec![0.0; self.rows.m()];
        self.rows.excess(Kernel::new(), x, &mut z);
        z
    }
}

impl Law {
    /// φ(z), the integral of λ with φ(0) = (γ⁺ + γ⁻)·K/16K².
    pub(crate) fn cost(&self, z: f64, k: f64) -> f64 {
        let h = 0.25 / k;
        match self.piece(z) {
            _ if self.slope == 0.0 => 0.0,
            Piece::Below => self.below * z,
            Piece::On => self.anchor * z + 0.5 * self.slope * (z * z + h * h),
            Piece::Above => self.above * z,
        }
    }
}

/// S(z) of the paper: the hinge smoothed over |z| ≤ 1/4K.
pub(crate) fn smooth_hinge(z: f64, k: f64) -> f64 {
    Law::smooth(1.0, 0.0, k).cost(z, k)
}
