//! Springs: what holds a variable at the start of a path when no bound and no active row does.
//!
//! A spring adds stiffness to one diagonal entry of H and pulls towards where the path started. At the end its force is
//! read as a change of θ, the spring is taken away, and the path goes on; where only the spring held a direction, x slides
//! along it to the next row. What no row ever sees keeps its spring: the optimum is then one of many.

use crate::engine::path::{Outcome, Path};
use crate::engine::pivot::{Hold, gains_along};
use crate::engine::rows::{Piece, Softened};
use crate::engine::state::State;
use crate::engine::tolerance::{NO_GAIN, SPRING_PULL, SPRING_SINGULAR};
use crate::engine::workspace::Workspace;
use crate::linalg::hessian::{Hessian, Row};

impl Workspace {
    /// Factors H at the pieces of the state; false if it cannot. Where H is singular, springs hold the variables that no bound
    /// holds.
    pub(crate) fn hold(&mut self, s: &Softened, state: &mut State) -> bool {
        state.springs.clear();
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
}

impl Path<'_> {
    /// Takes the springs away: their forces become a change of θ, and the path goes on without them.
    pub(crate) fn release(&mut self, centres: &[f64], row: &mut Row) -> Outcome {
        let (stiffness, k) = (self.s.spring(), self.kernel);
        let far = k.largest(self.x);
        let scale = self.theta.iter().fold(SPRING_PULL * stiffness * far, |m, t| m.max(t.abs()));
        let springs = std::mem::take(self.springs);
        self.steps.dtheta.fill(0.0);
        for (&j, centre) in springs.iter().zip(centres) {
            self.steps.dtheta[j] = stiffness * (self.x[j] - centre);
        }
        let scale = self.steps.dtheta.iter().fold(scale, |m, t| m.max(t.abs()));
        self.shifted = false;
        self.set_all_breakpoints();
        let mut left = springs.len();
        for variable in springs {
            left -= 1;
            let spring = Hold::Spring { variable, stiffness };
            let rest = self.meet(spring, row);
            let needed = self.s.two_q.is_none() && self.on + left + self.springs.len() < self.s.n;
            if rest > SPRING_SINGULAR && !needed {
                self.factor.remove(k, stiffness, rest, row);
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
                }
                Err(ray) if gains_along(self.s, k, self.theta, &ray) => return Outcome::Unbounded(ray),
                // Nothing sees v at all: the spring stays and picks one of many optima.
                Err(_) => self.springs.push(variable),
            }
        }
        self.follow(row)
    }
}
