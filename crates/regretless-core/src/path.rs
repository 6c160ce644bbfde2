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

use crate::clock::Clock;
use crate::kernel::RowMotion;
use crate::softened::{Piece, Softened};
use crate::workspace::{State, Workspace};

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
    theta: &'a [f64],
    on: usize,
    shifted: bool,
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
        Self { s, state, ws, theta, on, shifted: false }
    }

    /// True if the state's factor is there.
    pub(crate) fn is_factored(&self) -> bool {
        self.state.factored
    }

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

    /// Walks to θ and to the true d' from wherever x is optimal with the assumed z in `ws.z`; `ws.shift` holds the
    /// actual z = C'x − d'.
    pub(crate) fn run(&mut self) -> Outcome {
        let (s, k) = (self.s, self.ws.kernel);
        let ws = &mut *self.ws;
        let far = k.largest(&self.state.x);
        self.shifted = false;
        for i in 0..s.m() {
            ws.lambda[i] = s.laws[i].multiplier(self.state.piece[i], ws.z[i]);
            ws.shift[i] -= ws.z[i];
            if ws.shift[i].abs() <= 4e-16 * s.d[i].abs().max(far * s.reach[i]) {
                ws.shift[i] = 0.0;
            }
            self.shifted |= ws.shift[i] != 0.0;
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
    fn follow(&mut self) -> Outcome {
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
        let limit = 100 + 20 * (s.n + m);
        let far = k.largest(&self.state.x);
        let mut t = 0.0;
        for _ in 0..limit {
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
    fn enter(&mut self, i: usize) {
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
                // Nothing pulls along the ray: rounding pushed the row out. A spring takes its place.
                None => self.attach_spring(),
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
    fn rest_without(&mut self, slope: f64) -> f64 {
        let ws = &mut *self.ws;
        let clock = Clock::start();
        ws.p.copy_from_slice(&ws.a);
        self.state.factor.forward(ws.kernel, &mut ws.p);
        clock.stop(&mut ws.work.nanos.factor);
        1.0 - slope * self.state.factor.norm2(ws.kernel, &ws.p)
    }

    /// Takes the row in `ws.a` with weight `slope` out of H, which must stay regular.
    fn drop_row(&mut self, slope: f64) -> Outcome {
        let rest = self.rest_without(slope);
        if rest.is_nan() || rest <= 0.0 {
            return Outcome::Stalled;
        }
        let ws = &mut *self.ws;
        self.state.factor.downdate(ws.kernel, slope, rest, &ws.p, &mut ws.a, &mut ws.rank_one);
        Outcome::Arrived
    }

    /// With p = L⁻¹a in `ws.p`, a the only row that holds the null direction v = H⁻¹a: slides x along ±v to the first
    /// breakpoint of a row off the quadratic piece. Returns that row; `None` leaves the ray in `ws.dx`.
    fn slide(&mut self, leaving: Option<usize>, sign: f64) -> Option<usize> {
        let (s, k, ws) = (self.s, self.ws.kernel, &mut *self.ws);
        let clock = Clock::start();
        ws.dx.copy_from_slice(&ws.p);
        self.state.factor.finish(k, &mut ws.dx);
        clock.stop(&mut ws.work.nanos.factor);
        let length = sign / k.dot(&ws.dx, &ws.dx).sqrt();
        ws.dx.iter_mut().for_each(|v| *v *= length);
        let clock = Clock::start();
        s.apply(k, &ws.dx[..s.n], &mut ws.dz);
        clock.stop(&mut ws.work.nanos.rows);
        // Rows on the quadratic piece do not move along a null direction: what is left there is rounding.
        for (i, piece) in self.state.piece.iter().enumerate() {
            if *piece == Piece::On && Some(i) != leaving {
                ws.dz[i] = 0.0;
            }
        }
        let held = leaving.map(|i| (i, std::mem::replace(&mut ws.dz[i], 0.0)));
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
        if let Some((i, dz)) = held {
            ws.dz[i] = dz;
        }
        let step = ws.steps[best];
        k.axpy(step, &ws.dx, &mut self.state.x);
        k.axpy(step, &ws.dz, &mut ws.z);
        ws.z[best] = if self.state.piece[best] == Piece::Below { s.laws[best].lo } else { s.laws[best].hi };
        Some(best)
    }

    /// Takes the springs away: their forces become a change of θ, and the path goes on without them.
    fn release(&mut self, centres: &[f64]) -> Outcome {
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
    fn gains_along_ray(&mut self) -> bool {
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

    /// Holds the direction in `ws.dx` by a spring on its largest entry.
    fn attach_spring(&mut self) {
        let largest =
            |best: usize, j: usize| if self.ws.dx[j].abs() > self.ws.dx[best].abs() { j } else { best };
        let j = (0..self.s.n).fold(0, largest);
        self.load_spring(j);
        let ws = &mut *self.ws;
        ws.p.copy_from_slice(&ws.a);
        self.state.factor.forward(ws.kernel, &mut ws.p);
        self.state.factor.update(ws.kernel, self.s.spring(), &ws.p, &mut ws.a, &mut ws.rank_one);
        self.state.springs.push(j);
    }

    fn load_spring(&mut self, j: usize) {
        self.ws.a.fill(0.0);
        self.ws.a[j] = 1.0;
    }

    fn move_to(&mut self, i: usize, piece: Piece) {
        self.state.piece[i] = piece;
        self.set_breakpoints(i);
    }

    fn set_breakpoints(&mut self, i: usize) {
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
const SLIDE_TOLERANCE: f64 = 1e-10;

/// As [`SINGULAR_DOWNDATE`], wider: a spring that holds almost nothing may stay until a row takes over.
const SPRING_SINGULAR: f64 = 1e-9;
