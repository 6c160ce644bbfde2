//! The path engine: follows the optimum of the softened problem from a solved one to the one asked for.
//!
//! The optimum is piecewise affine in (θ, d'). Between breakpoints it moves along
//!
//! ```text
//! dx = H⁻¹(dθ + C'ᵀ diag(w) dd'),   H = 2Q + C'ᵀ diag(w) C'
//! ```
//!
//! to the first row that reaches an end of its piece; there H changes by one rank-one term and the path goes on. Where
//! dropping a row would make H singular, the optimum moves along the null direction at no cost until another row reaches
//! its breakpoint, and the two change places: a simplex pivot. Cost per breakpoint: O(n² + mn).
//!
//! Any x with any pieces is the optimum of *some* (θ₀, d'₀), known in closed form, so every solve is such a path: cold
//! starts, warm starts after θ moved, warm starts after C, Q, d or α moved (keep pieces and multipliers, shift d').

use crate::engine::clock::Clock;
use crate::engine::rows::{Piece, Softened};
use crate::engine::workspace::{State, Workspace};
use crate::linalg::simd::RowMotion;

/// How a path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// At the parameters asked for.
    Arrived,
    /// The objective grows without limit along `ws.dx`.
    Unbounded,
    /// Too many breakpoints or a breakdown of the factor: somebody else has to solve this.
    Stalled,
}

/// Below this share of its weight a row's own curvature is all there is along its direction: H would be singular.
const SINGULAR_DOWNDATE: f64 = 1e-10;

/// A path over one state.
pub(crate) struct Path<'a> {
    pub(crate) s: &'a Softened,
    pub(crate) state: &'a mut State,
    pub(crate) ws: &'a mut Workspace,
    pub(crate) theta: &'a [f64],
    /// Number of rows on their quadratic piece.
    pub(crate) on: usize,
    /// Whether d' moves along the path.
    pub(crate) shifted: bool,
    /// Count of breakpoints at which the path gives up.
    pub(crate) limit: usize,
}

impl<'a> Path<'a> {
    /// A path to θ from `state.x`, `state.piece` and a factor that fits them.
    pub(crate) fn new(
        s: &'a Softened,
        state: &'a mut State,
        ws: &'a mut Workspace,
        theta: &'a [f64],
    ) -> Self {
        let on = state.on();
        let limit = ws.work.breakpoints + 100 + 20 * (s.n + s.m());
        Self { s, state, ws, theta, on, shifted: false, limit }
    }

    /// True if the state's factor is there.
    pub(crate) fn is_factored(&self) -> bool {
        self.state.factored
    }

    /// Walks to θ and to the true d' from wherever x is optimal with the assumed z in `ws.z`; `ws.shift` holds the
    /// actual z = C'x − d'.
    pub(crate) fn run(&mut self) -> Outcome {
        let (s, k) = (self.s, self.ws.kernel);
        let ws = &mut *self.ws;
        let far = k.largest(&self.state.x);
        self.shifted = false;
        let rows = s.laws.iter().zip(&s.d).zip(&s.reach).zip(&self.state.piece);
        let moving = ws.z.iter().zip(&mut ws.lambda).zip(&mut ws.shift);
        for ((((law, d), reach), piece), ((z, lambda), shift)) in rows.zip(moving) {
            *lambda = law.multiplier(*piece, *z);
            *shift -= z;
            if shift.abs() <= 4e-16 * d.abs().max(far * reach) {
                *shift = 0.0;
            }
            self.shifted |= *shift != 0.0;
        }
        s.force(k, &self.state.x, &ws.lambda, &mut ws.dtheta[..s.n]);
        for (d, t) in ws.dtheta.iter_mut().zip(self.theta) {
            *d = t - *d;
        }
        self.walk()
    }

    /// Walks to θ from a state that is optimal for `state.theta` with `state.z`.
    pub(crate) fn resume(&mut self) -> Outcome {
        let ws = &mut *self.ws;
        ws.z.copy_from_slice(&self.state.z);
        for ((d, new), old) in ws.dtheta.iter_mut().zip(self.theta).zip(&self.state.theta) {
            *d = new - old;
        }
        self.walk()
    }

    fn walk(&mut self) -> Outcome {
        if self.state.springs.is_empty() {
            return self.follow();
        }
        let centres: Vec<f64> = self.state.springs.iter().map(|&j| self.state.x[j]).collect();
        match self.follow() {
            Outcome::Arrived => self.release(&centres),
            other => other,
        }
    }

    /// Follows the path over t ∈ [0, 1].
    pub(crate) fn follow(&mut self) -> Outcome {
        let (s, k) = (self.s, self.ws.kernel);
        let m = s.m();
        for i in 0..m {
            self.set_breakpoints(i);
        }
        self.ws.rhs.copy_from_slice(&self.ws.dtheta);
        if self.shifted {
            for i in 0..m {
                if self.state.piece[i] == Piece::On {
                    self.shift_rhs(i, -1.0);
                }
            }
        }
        let far = k.largest(&self.state.x);
        let mut t = 0.0;
        while self.ws.work.breakpoints <= self.limit {
            let ws = &mut *self.ws;
            let clock = Clock::start();
            ws.dx.copy_from_slice(&ws.rhs);
            self.state.factor.solve(k, &mut ws.dx);
            clock.stop(&mut ws.work.nanos.factor);
            let clock = Clock::start();
            s.apply(k, &ws.dx[..s.n], &mut ws.dz);
            if self.shifted {
                k.axpy(1.0, &ws.shift, &mut ws.dz);
            }
            clock.stop(&mut ws.work.nanos.rows);
            let clock = Clock::start();
            let tolerance = 1e-14 * k.largest(&ws.dx) + 2e-16 * far;
            let left = 1.0 - t;
            let rows = RowMotion { z: &ws.z, dz: &ws.dz, up: &ws.up, down: &ws.down, reach: &s.reach };
            let hit = k.first_crossing(rows, tolerance, &mut ws.steps);
            clock.stop(&mut ws.work.nanos.ratio);
            let step = hit.map_or(left, |(step, _)| step.min(left));
            if !step.is_finite() {
                return Outcome::Stalled;
            }
            k.axpy(step, &ws.dx, &mut self.state.x);
            k.axpy(step, &ws.dz, &mut ws.z);
            t += step;
            let Some((reach, i)) = hit else { return Outcome::Arrived };
            if reach >= left {
                return Outcome::Arrived;
            }
            ws.work.breakpoints += 1;
            match self.cross(i) {
                Outcome::Arrived => {}
                other => return other,
            }
        }
        Outcome::Stalled
    }

    /// Row `i` stands at the end of its piece: moves it to the next one.
    fn cross(&mut self, i: usize) -> Outcome {
        let law = self.s.laws[i];
        let rising = self.ws.dz[i] > 0.0;
        match (self.state.piece[i], rising) {
            (Piece::Below, _) => {
                self.ws.z[i] = law.lo;
                self.enter(i);
                Outcome::Arrived
            }
            (Piece::Above, _) => {
                self.ws.z[i] = law.hi;
                self.enter(i);
                Outcome::Arrived
            }
            (Piece::On, true) => {
                self.ws.z[i] = law.hi;
                self.leave(i, Piece::Above)
            }
            (Piece::On, false) => {
                self.ws.z[i] = law.lo;
                self.leave(i, Piece::Below)
            }
        }
    }

    /// Row `i` joins the quadratic piece: H += w a aᵀ.
    pub(crate) fn enter(&mut self, i: usize) {
        let ws = &mut *self.ws;
        let clock = Clock::start();
        self.s.write_row(i, &mut ws.a[..self.s.n]);
        ws.p.copy_from_slice(&ws.a);
        self.state.factor.forward(ws.kernel, &mut ws.p);
        let slope = self.s.laws[i].slope;
        self.state.factor.update(ws.kernel, slope, &ws.p, &mut ws.a, &mut ws.rank_one);
        clock.stop(&mut ws.work.nanos.factor);
        self.move_to(i, Piece::On);
        self.on += 1;
        if self.shifted {
            self.shift_rhs(i, -1.0);
        }
    }

    /// Row `i` leaves the quadratic piece: H −= w a aᵀ, by a pivot if that would make H singular.
    fn leave(&mut self, i: usize, to: Piece) -> Outcome {
        let slope = self.s.laws[i].slope;
        self.s.write_row(i, &mut self.ws.a[..self.s.n]);
        let rest = self.rest_without(slope);
        let needed = self.s.two_q.is_none() && self.on + self.state.springs.len() <= self.s.n;
        if needed || rest < SINGULAR_DOWNDATE {
            let sign = if to == Piece::Above { 1.0 } else { -1.0 };
            match self.slide(Some(i), sign) {
                Some(j) => {
                    self.ws.work.pivots += 1;
                    self.enter(j);
                }
                None if self.gains_along_ray() => return Outcome::Unbounded,
                // Nothing pulls along the ray, so the multiplier passes its cap by rounding only: the row stays.
                None => {
                    let ends = if to == Piece::Above { &mut self.ws.up } else { &mut self.ws.down };
                    ends[i] = sign * f64::INFINITY;
                    return Outcome::Arrived;
                }
            }
            self.s.write_row(i, &mut self.ws.a[..self.s.n]);
            if self.drop_row(slope) == Outcome::Stalled {
                return Outcome::Stalled;
            }
        } else {
            let ws = &mut *self.ws;
            let clock = Clock::start();
            self.state.factor.downdate(ws.kernel, slope, rest, &ws.p, &mut ws.a, &mut ws.rank_one);
            clock.stop(&mut ws.work.nanos.factor);
        }
        self.move_to(i, to);
        self.on -= 1;
        if self.shifted {
            self.shift_rhs(i, 1.0);
        }
        Outcome::Arrived
    }

    /// For the row in `ws.a`: p = L⁻¹a in `ws.p`; returns 1 − w aᵀH⁻¹a.
    pub(crate) fn rest_without(&mut self, slope: f64) -> f64 {
        let ws = &mut *self.ws;
        let clock = Clock::start();
        ws.p.copy_from_slice(&ws.a);
        self.state.factor.forward(ws.kernel, &mut ws.p);
        clock.stop(&mut ws.work.nanos.factor);
        1.0 - slope * self.state.factor.norm2(ws.kernel, &ws.p)
    }

    /// Takes the row in `ws.a` with weight `slope` out of H, which must stay regular.
    pub(crate) fn drop_row(&mut self, slope: f64) -> Outcome {
        let rest = self.rest_without(slope);
        if rest.is_nan() || rest <= 0.0 {
            return Outcome::Stalled;
        }
        let ws = &mut *self.ws;
        self.state.factor.downdate(ws.kernel, slope, rest, &ws.p, &mut ws.a, &mut ws.rank_one);
        Outcome::Arrived
    }

    /// With a in `ws.a` and p = L⁻¹a in `ws.p`, a the only row that holds the null direction v = H⁻¹a: slides x along ±v
    /// to the first breakpoint of a row off the quadratic piece. Returns that row; `None` leaves the ray in `ws.dx`.
    pub(crate) fn slide(&mut self, leaving: Option<usize>, sign: f64) -> Option<usize> {
        let (s, k, ws) = (self.s, self.ws.kernel, &mut *self.ws);
        let clock = Clock::start();
        ws.dx.copy_from_slice(&ws.p);
        self.state.factor.finish(k, &mut ws.dx);
        clock.stop(&mut ws.work.nanos.factor);
        let length = sign / k.dot(&ws.dx, &ws.dx).sqrt();
        ws.dx.iter_mut().for_each(|v| *v *= length);
        let clock = Clock::start();
        // Rows on the quadratic piece do not move along a null direction.
        s.apply_off(k, &self.state.piece, &ws.dx[..s.n], &mut ws.dz);
        clock.stop(&mut ws.work.nanos.rows);
        let rows = RowMotion { z: &ws.z, dz: &ws.dz, up: &ws.up, down: &ws.down, reach: &s.reach };
        let (reach, first) = k.first_crossing(rows, SLIDE_TOLERANCE, &mut ws.steps)?;
        // Among rows that are reached together, the one most nearly along v keeps H best conditioned.
        let mut best = first;
        let near = reach + 1e-12 * (1.0 + reach.abs());
        for i in 0..s.m() {
            if ws.steps[i] <= near && ws.dz[i].abs() > ws.dz[best].abs() * 1.000_001 {
                best = i;
            }
        }
        let step = ws.steps[best];
        k.axpy(step, &ws.dx, &mut self.state.x);
        k.axpy(step, &ws.dz, &mut ws.z);
        // Only the leaving row does, outwards from its breakpoint.
        if let Some(i) = leaving {
            ws.z[i] += step * k.dot(&ws.a, &ws.dx);
        }
        ws.z[best] = if self.state.piece[best] == Piece::Below { s.laws[best].lo } else { s.laws[best].hi };
        Some(best)
    }

    fn move_to(&mut self, i: usize, piece: Piece) {
        self.state.piece[i] = piece;
        self.set_breakpoints(i);
    }

    pub(crate) fn set_breakpoints(&mut self, i: usize) {
        let law = &self.s.laws[i];
        (self.ws.down[i], self.ws.up[i]) = match self.state.piece[i] {
            Piece::Below => (f64::NEG_INFINITY, law.lo),
            Piece::On => (law.lo, law.hi),
            Piece::Above => (law.hi, f64::INFINITY),
        };
    }

    /// The direction's right-hand side gains or loses the pull of row i's moving limit.
    fn shift_rhs(&mut self, i: usize, sign: f64) {
        let pull = sign * self.s.laws[i].slope * self.ws.shift[i];
        if pull != 0.0 {
            self.s.add_row(self.ws.kernel, i, pull, &mut self.ws.rhs[..self.s.n]);
        }
    }
}

/// A row moving slower than this along a unit direction is parallel to it.
pub(crate) const SLIDE_TOLERANCE: f64 = 1e-10;
