//! What every solve ends with: stationarity measured, and mended by refinement.

use crate::engine::rows::{Piece, Softened};
use crate::engine::state::State;
use crate::engine::tolerance::{REFINED, SUM_ROUNDING, WORN};
use crate::engine::workspace::Workspace;
use crate::linalg::simd::Kernel;

/// Where a point stands: the excess and multiplier of every row, and what is left of stationarity.
pub(crate) struct Balance {
    /// C'x − d'
    pub(crate) z: Vec<f64>,
    /// λ(z)
    pub(crate) lambda: Vec<f64>,
    /// θ − 2Qx − C'ᵀλ
    pub(crate) residual: Vec<f64>,
}

impl Balance {
    pub(crate) fn new(n: usize, m: usize) -> Self {
        Self { z: vec![0.0; m], lambda: vec![0.0; m], residual: vec![0.0; n] }
    }

    /// The multipliers at z with the state's pieces, extended beyond their ends.
    fn freeze(&mut self, s: &Softened, state: &State) {
        for i in 0..s.m() {
            self.lambda[i] = s.laws[i].multiplier(state.piece[i], self.z[i]);
        }
        for (hinges, at) in s.hinges.iter().zip(&state.segments) {
            self.lambda[hinges.row] = hinges.multiplier(*at, self.z[hinges.row]);
        }
    }

    /// The residual at x with z and λ as they are.
    pub(crate) fn weigh(&mut self, k: Kernel, s: &Softened, x: &[f64], theta: &[f64]) {
        s.force(k, x, &self.lambda, &mut self.residual);
        self.residual.iter_mut().zip(theta).for_each(|(r, t)| *r = t - *r);
    }

    /// Measures x on the pieces that z says: ‖θ − 2Qx − C'ᵀλ(z)‖∞ over the size of its terms, less what rounding of x and z
    /// alone does to it: no more, so that a steep law excuses nothing else.
    pub(crate) fn measure(&mut self, k: Kernel, s: &Softened, x: &[f64], theta: &[f64]) -> f64 {
        s.excess(k, x, &mut self.z);
        let far = k.largest(x);
        let mut scale = s.floor.max(f64::MIN_POSITIVE);
        let mut noise = SUM_ROUNDING * s.curvature * far;
        let rows = s.laws.iter().zip(&s.d).zip(&s.reach).zip(&self.z).zip(&mut self.lambda);
        for ((((law, d), reach), z), lambda) in rows {
            let piece = law.piece(*z);
            *lambda = law.multiplier(piece, *z);
            scale = scale.max(lambda.abs() * reach);
            if piece == Piece::On {
                noise = noise.max(SUM_ROUNDING * law.slope * d.abs() * reach);
            }
        }
        for hinges in &s.hinges {
            let (i, z) = (hinges.row, self.z[hinges.row]);
            let at = hinges.locate(z);
            self.lambda[i] = hinges.multiplier(at, z);
            scale = scale.max(self.lambda[i].abs() * s.reach[i]);
            noise = noise.max(SUM_ROUNDING * hinges.slope(at) * s.d[i].abs() * s.reach[i]);
        }
        s.force(k, x, &self.lambda, &mut self.residual);
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
}

impl Workspace {
    /// One step from x to the optimum on the state's pieces, with its factor; the balance has the z of x.
    pub(crate) fn step_on_pieces(&mut self, s: &Softened, state: &mut State, theta: &[f64]) {
        let k = self.kernel;
        self.balance.freeze(s, state);
        self.balance.weigh(k, s, &state.x, theta);
        self.dx[..s.n].copy_from_slice(&self.balance.residual);
        if let Some(owned) = &state.factor {
            owned.factor.solve(k, &mut self.dx);
            k.axpy(1.0, &self.dx, &mut state.x);
        }
    }

    /// Refines x with the state's factor until the residual is at rounding level; returns what is reached, and leaves the
    /// balance there.
    pub(crate) fn settle(&mut self, s: &Softened, state: &mut State, theta: &[f64]) -> f64 {
        let k = self.kernel;
        let mut residual = self.balance.measure(k, s, &state.x, theta);
        for round in 0..3 {
            if residual <= REFINED {
                break;
            }
            // A sparse factor is dear, and as good as its rows let it be.
            if round == 1 && (s.analysis.is_none() || residual > WORN) {
                self.factorise(s, state, 0.0);
            }
            let Some(owned) = &state.factor else { break };
            // Refine on the pieces as the path left them: a row at its breakpoint has one multiplier there.
            self.balance.freeze(s, state);
            self.balance.weigh(k, s, &state.x, theta);
            self.dx[..s.n].copy_from_slice(&self.balance.residual);
            owned.factor.solve(k, &mut self.dx);
            k.axpy(1.0, &state.x, &mut self.dx);
            state.x.swap_with_slice(&mut self.dx[..s.n]);
            let refined = self.balance.measure(k, s, &state.x, theta);
            if refined.is_nan() || refined >= residual {
                state.x.swap_with_slice(&mut self.dx[..s.n]);
                self.balance.measure(k, s, &state.x, theta);
                continue;
            }
            residual = refined;
        }
        residual
    }
}
