//! Springs: what holds a variable at the start of a path when no bound and no active row does.
//!
//! A spring adds stiffness to one diagonal entry of H and pulls towards where the path started. At the end its force is
//! read as a change of θ, the spring is taken away, and the path goes on; where only the spring held a direction, x slides
//! along it to the next row. What no row ever sees keeps its spring: the optimum is then one of many.

use crate::engine::path::{Outcome, Path};
use crate::engine::pivot::{Hold, gains_along};
use crate::engine::rows::{Piece, Softened};
use crate::engine::state::{OwnedFactor, State};
use crate::engine::tolerance::{NO_GAIN, SPRING_PULL, SPRING_SINGULAR};
use crate::engine::workspace::Workspace;
use crate::linalg::dense_ldl::DenseLdl;
use crate::linalg::hessian::{Factor, Hessian};

impl Workspace {
    /// Factors H at the pieces of the state; false if it cannot. Where H is singular, springs hold the variables that no bound
    /// holds.
    pub(crate) fn hold(&mut self, s: &Softened, state: &mut State) -> bool {
        state.springs.clear();
        if s.analysis.is_some() {
            return self.hold_sparse(s, state);
        }
        let enough = s.two_q.is_some() || state.on() >= s.n;
        if enough && self.factorise(s, state, 0.0).is_some() {
            return true;
        }
        let mut held = vec![false; s.n];
        for (u, piece) in s.unit.iter().zip(&state.piece[s.m_general..]) {
            held[u.var] |= *piece == Piece::On;
        }
        state.springs = (0..s.n).filter(|&j| !held[j]).collect();
        self.factorise(s, state, 0.0).is_some()
    }

    /// Springs for sparse rows: few, each on a variable that moves along a direction that H does not see.
    fn hold_sparse(&mut self, s: &Softened, state: &mut State) -> bool {
        for _ in 0..ROUNDS {
            if self.factorise(s, state, 0.0).is_none() {
                return false;
            }
            let Some(OwnedFactor { factor: Factor::Sparse(factor), .. }) = &state.factor else {
                return false;
            };
            let unseen = factor.whole().map_or_else(Vec::new, |f| f.unseen(PROBES));
            if unseen.is_empty() {
                return true;
            }
            let more = across(unseen);
            if more.is_empty() || more.iter().any(|j| state.springs.contains(j)) {
                return false;
            }
            state.springs.extend(more);
        }
        false
    }
}

/// Directions that are looked for at once, and how often.
const PROBES: usize = 8;
const ROUNDS: usize = 12;
/// What is left of directions once others are taken out, up to which they depend on them.
const SPANNED: f64 = 1e-4;

/// Variables that tell some directions apart: the largest entry left, again and again.
fn across(mut directions: Vec<Vec<f64>>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut whole = 0.0_f64;
    loop {
        let (mut best, mut size) = ((0, 0), 0.0_f64);
        for (p, v) in directions.iter().enumerate() {
            for (j, v) in v.iter().enumerate() {
                if v.abs() > size {
                    (best, size) = ((p, j), v.abs());
                }
            }
        }
        whole = whole.max(size);
        if size <= SPANNED * whole {
            return found;
        }
        let (p, j) = best;
        let pivot = directions.swap_remove(p);
        for v in &mut directions {
            let share = v[j] / pivot[j];
            v.iter_mut().zip(&pivot).for_each(|(v, p)| *v -= share * p);
        }
        found.push(j);
    }
}

impl<F: Hessian> Path<'_, F> {
    /// Factors H anew at the pieces and springs as they are; false if it cannot.
    pub(super) fn renew(&mut self) -> bool {
        self.work.factorisations += 1;
        let (s, piece, segments) = (self.s, &*self.piece, &*self.segments);
        let spring = s.spring();
        let held = self.springs.iter().map(|&j| (j, spring));
        let weight = |i: usize| s.weight(i, piece[i], segments);
        let made = self.curvature.factor(self.kernel, s, weight, held, &mut DenseLdl::default());
        let Some(factor) = made.and_then(F::of) else { return false };
        *self.factor = factor;
        true
    }

    /// Takes the springs away: their forces become a change of θ, and the path goes on without them.
    pub(crate) fn release(&mut self, centres: &[f64], row: &mut F::Row) -> Outcome {
        let (stiffness, k) = (self.s.spring(), self.kernel);
        let far = k.largest(self.x);
        let scale = self.theta.iter().fold(SPRING_PULL * stiffness * far, |m, t| m.max(t.abs()));
        let springs = self.springs.clone();
        self.steps.dtheta.fill(0.0);
        for (&j, centre) in springs.iter().zip(centres) {
            self.steps.dtheta[j] = stiffness * (self.x[j] - centre);
        }
        let scale = self.steps.dtheta.iter().fold(scale, |m, t| m.max(t.abs()));
        self.shifted = false;
        self.set_all_breakpoints();
        for variable in springs {
            if self.factor.is_spent() && !self.renew() {
                return Outcome::Stalled;
            }
            let spring = Hold::Spring { variable, stiffness };
            let rest = self.meet(spring, row);
            let needed = self.s.two_q.is_none() && self.on + self.springs.len() <= self.s.n;
            if rest > SPRING_SINGULAR && !needed {
                self.factor.remove(k, stiffness, rest, row);
                self.springs.retain(|j| *j != variable);
                continue;
            }
            // Only the spring holds the null direction v: along it θ pulls with dθᵀv.
            self.factor.direction(k, row, &mut self.steps.dx);
            let pull = k.dot(&self.steps.dtheta, &self.steps.dx);
            let length: f64 = self.steps.dx.iter().map(|v| v.abs()).sum();
            let idle = pull.abs() <= NO_GAIN * scale * length;
            let sign = if pull < 0.0 { -1.0 } else { 1.0 };
            let mut reached = self.slide(spring, sign, row);
            if reached.is_err() && idle {
                reached = self.slide(spring, -sign, row);
            }
            match reached {
                Ok(i) => {
                    self.enter(i, row);
                    if !self.let_go(spring, row) {
                        return Outcome::Stalled;
                    }
                    self.springs.retain(|j| *j != variable);
                }
                Err(ray) if gains_along(self.s, k, self.theta, &ray) => return Outcome::Unbounded(ray),
                // Nothing sees v at all: the spring stays and picks one of many optima.
                Err(_) => {}
            }
        }
        self.follow(row)
    }
}
