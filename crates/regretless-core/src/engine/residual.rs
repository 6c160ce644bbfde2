//! What every solve ends with: stationarity measured, and mended by refinement.

use crate::engine::rows::{Piece, Softened};
use crate::engine::workspace::{State, Workspace};

/// Residuals up to this times the scale are what a solve delivers.
pub(crate) const RESIDUAL: f64 = 1e-10;
/// Residuals beyond this times the scale are refused: the next link of the chain takes over.
pub(crate) const REFUSED: f64 = 1e-7;

/// What rounding does to a sum of terms of size 1.
const ROUNDING: f64 = 1e-15;

impl Workspace {
    /// ‖θ − 2Qx − C'ᵀλ(z)‖∞ over the size of its terms, at the state's x, less what rounding of x and z alone does to it: no
    /// more, so that a steep law excuses nothing else. Leaves z, λ and the residual vector behind.
    pub(crate) fn stationarity(&mut self, s: &Softened, x: &[f64], theta: &[f64]) -> f64 {
        s.excess(self.kernel, x, &mut self.z);
        let far = self.kernel.largest(x);
        let mut scale = s.floor.max(f64::MIN_POSITIVE);
        let mut noise = ROUNDING * s.curvature * far;
        let rows = s.laws.iter().zip(&s.d).zip(&s.reach).zip(&self.z).zip(&mut self.lambda);
        for ((((law, d), reach), z), lambda) in rows {
            let piece = law.piece(*z);
            *lambda = law.multiplier(piece, *z);
            scale = scale.max(lambda.abs() * reach);
            if piece == Piece::On {
                noise = noise.max(ROUNDING * law.slope * d.abs() * reach);
            }
        }
        s.force(self.kernel, x, &self.lambda, &mut self.residual);
        let mut worst = 0.0_f64;
        let mut finite = true;
        for (r, t) in self.residual.iter_mut().zip(theta) {
            scale = scale.max(t.abs());
            *r = t - *r;
            worst = worst.max(r.abs());
            finite &= r.is_finite();
        }
        if finite { (worst - noise).max(0.0) / scale } else { f64::INFINITY }
    }

    /// Refines x with the state's factor until the residual is at rounding level; returns what is reached.
    pub(crate) fn settle(&mut self, s: &Softened, state: &mut State, theta: &[f64]) -> f64 {
        let mut residual = self.stationarity(s, &state.x, theta);
        for round in 0..3 {
            if residual <= 0.05 * RESIDUAL {
                break;
            }
            if round == 1 && !self.factorise(s, state, 0.0) {
                break;
            }
            // Refine on the pieces as the path left them: a row at its breakpoint has one multiplier there.
            for i in 0..s.m() {
                self.lambda[i] = s.laws[i].multiplier(state.piece[i], self.z[i]);
            }
            s.force(self.kernel, &state.x, &self.lambda, &mut self.residual);
            for (r, t) in self.residual.iter_mut().zip(theta) {
                *r = t - *r;
            }
            self.dx[..s.n].copy_from_slice(&self.residual);
            state.factor.solve(self.kernel, &mut self.dx);
            self.p[..s.n].copy_from_slice(&state.x);
            self.kernel.axpy(1.0, &self.dx, &mut state.x);
            let refined = self.stationarity(s, &state.x, theta);
            if refined.is_nan() || refined >= residual {
                state.x.copy_from_slice(&self.p[..s.n]);
                self.stationarity(s, &state.x, theta);
                continue;
            }
            residual = refined;
        }
        residual
    }
}
