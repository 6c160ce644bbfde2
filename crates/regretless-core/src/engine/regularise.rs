//! Springs: what holds a variable at the start of a path when no bound and no active row does.
//!
//! A spring adds stiffness to one diagonal entry of H and pulls towards where the path started. At the end its force is
//! read as a change of θ, the spring is taken away, and the path goes on; where only the spring held a direction, x slides
//! along it to the next row. What no row ever sees keeps its spring: the optimum is then one of many.

use crate::engine::path::{Outcome, Path, SLIDE_TOLERANCE};
use crate::engine::rows::Piece;

/// As [`SINGULAR_DOWNDATE`], wider: a spring that holds almost nothing may stay until a row takes over.
const SPRING_SINGULAR: f64 = 1e-9;

impl Path<'_> {
    /// Factors H at the pieces of the state. Where H is singular, springs hold the variables that no bound holds.
    pub(crate) fn factorise(&mut self) -> bool {
        self.state.springs.clear();
        let enough = self.s.two_q.is_some() || self.on >= self.s.n;
        if enough && self.ws.factorise(self.s, self.state, 0.0) {
            return true;
        }
        let mut held = vec![false; self.s.n];
        for (u, piece) in self.s.unit.iter().zip(&self.state.piece[self.s.m_dense..]) {
            held[u.var] |= *piece == Piece::On;
        }
        self.state.springs = (0..self.s.n).filter(|&j| !held[j]).collect();
        self.ws.factorise(self.s, self.state, 0.0)
    }

    /// Takes the springs away: their forces become a change of θ, and the path goes on without them.
    pub(crate) fn release(&mut self, centres: &[f64]) -> Outcome {
        let stiffness = self.s.spring();
        let far = self.ws.kernel.largest(&self.state.x);
        let scale = self.theta.iter().fold(1e-4 * stiffness * far, |m, t| m.max(t.abs()));
        let springs = std::mem::take(&mut self.state.springs);
        self.ws.dtheta.fill(0.0);
        for (&j, centre) in springs.iter().zip(centres) {
            self.ws.dtheta[j] = stiffness * (self.state.x[j] - centre);
        }
        let scale = self.ws.dtheta.iter().fold(scale, |m, t| m.max(t.abs()));
        self.shifted = false;
        for i in 0..self.s.m() {
            self.set_breakpoints(i);
        }
        let mut left = springs.len();
        for j in springs {
            left -= 1;
            self.load_spring(j);
            let rest = self.rest_without(stiffness);
            let needed = self.s.two_q.is_none() && self.on + left + self.state.springs.len() < self.s.n;
            if rest > SPRING_SINGULAR && !needed {
                let ws = &mut *self.ws;
                self.state.factor.downdate(ws.kernel, stiffness, rest, &ws.p, &mut ws.a, &mut ws.rank_one);
                continue;
            }
            // Only the spring holds the null direction v: along it θ pulls with dθᵀv.
            let k = self.ws.kernel;
            self.ws.dx.copy_from_slice(&self.ws.p);
            self.state.factor.finish(k, &mut self.ws.dx);
            let pull = k.dot(&self.ws.dtheta, &self.ws.dx);
            let length: f64 = self.ws.dx.iter().map(|v| v.abs()).sum();
            let idle = pull.abs() <= 1e-9 * scale * length;
            let sign = if pull < 0.0 { -1.0 } else { 1.0 };
            let mut reached = self.slide(None, sign);
            if reached.is_none() && idle {
                self.load_spring(j);
                self.rest_without(stiffness);
                reached = self.slide(None, -sign);
            }
            match reached {
                Some(i) => {
                    self.enter(i);
                    self.load_spring(j);
                    if self.drop_row(stiffness) == Outcome::Stalled {
                        return Outcome::Stalled;
                    }
                }
                None if self.gains_along_ray() => return Outcome::Unbounded,
                // Nothing sees v at all: the spring stays and picks one of many optima.
                None => self.state.springs.push(j),
            }
        }
        self.follow()
    }

    /// True if θ gains along the ray in `ws.dx` more than the rows take: θᵀv > Σ max(γ⁺aᵀv, −γ⁻aᵀv).
    pub(crate) fn gains_along_ray(&mut self) -> bool {
        let (s, k, ws) = (self.s, self.ws.kernel, &mut *self.ws);
        s.apply(k, &ws.dx[..s.n], &mut ws.dz);
        // A direction that Q sees is no ray.
        if let Some(two_q) = &s.two_q {
            let curved = 1e-9 * s.curvature;
            k.matvec(two_q, &ws.dx[..s.n], &mut ws.residual);
            if ws.residual.iter().any(|q| q.abs() > curved) {
                return false;
            }
        }
        let mut gain = k.dot(self.theta, &ws.dx);
        let mut size = self.theta.iter().fold(0.0_f64, |m, t| m.max(t.abs()));
        for (law, dz) in s.laws.iter().zip(&ws.dz) {
            let cost = if *dz > 0.0 { law.above * dz } else { law.below * dz };
            if cost.is_finite() {
                gain -= cost;
                size += cost.abs();
            } else if cost > 0.0 && dz.abs() > SLIDE_TOLERANCE {
                return false;
            }
        }
        gain > 1e-9 * size
    }

    fn load_spring(&mut self, j: usize) {
        self.ws.a.fill(0.0);
        self.ws.a[j] = 1.0;
    }
}
