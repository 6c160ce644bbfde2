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
use crate::engine::hinges::Segment;
use crate::engine::rows::{Piece, Softened};
use crate::engine::state::{OwnedFactor, State};
use crate::engine::status::Link;
use crate::engine::stop::{Progress, Stop};
use crate::engine::tolerance::{POINT_ROUNDING, SHIFT_ROUNDING, STEP_ROUNDING};
use crate::engine::workspace::{Curvature, Work, Workspace};
use crate::linalg::bordered::Bordered;
use crate::linalg::hessian::{Factor, Hessian};
use crate::linalg::simd::{Kernel, RowMotion, padded};

/// Whoever listens hears of every so many breakpoints.
const TOLD: usize = 1000;

/// How a path ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// At the parameters asked for.
    Arrived,
    /// The objective grows without limit along this ray.
    Unbounded(Vec<f64>),
    /// Too many breakpoints or a breakdown of the factor: somebody else has to solve this.
    Stalled,
}

/// The path's own memory.
pub(crate) struct Steps {
    /// z = C'x − d' along the path, with d' as far as it has come.
    pub(super) z: Vec<f64>,
    pub(super) dz: Vec<f64>,
    /// Next breakpoint of each row above and below.
    pub(super) up: Vec<f64>,
    pub(super) down: Vec<f64>,
    pub(super) ratios: Vec<f64>,
    /// By how much each z moves because d' does.
    pub(super) shift: Vec<f64>,
    /// The change of θ. This and the vectors below are padded to whole lanes.
    pub(crate) dtheta: Vec<f64>,
    /// Right-hand side of the direction.
    pub(super) rhs: Vec<f64>,
    pub(crate) dx: Vec<f64>,
}

impl Steps {
    pub(crate) fn new(n: usize, m: usize) -> Self {
        let (vn, vm) = (|| vec![0.0; padded(n)], || vec![0.0; m]);
        Self {
            z: vm(),
            dz: vm(),
            up: vm(),
            down: vm(),
            ratios: vm(),
            shift: vm(),
            dtheta: vn(),
            rhs: vn(),
            dx: vn(),
        }
    }
}

/// A path over one state.
pub(crate) struct Path<'a, F> {
    pub(crate) s: &'a Softened,
    pub(crate) theta: &'a [f64],
    pub(crate) x: &'a mut [f64],
    pub(super) piece: &'a mut [Piece],
    pub(super) segments: &'a mut [Segment],
    pub(crate) springs: &'a mut Vec<usize>,
    pub(crate) factor: &'a mut F,
    pub(crate) steps: &'a mut Steps,
    pub(super) work: &'a mut Work,
    /// To factor H anew, where the factor cannot follow on.
    pub(super) curvature: &'a mut Curvature,
    pub(crate) kernel: Kernel,
    /// Number of rows on their quadratic piece.
    pub(crate) on: usize,
    /// Whether d' moves along the path.
    pub(crate) shifted: bool,
    /// Count of breakpoints at which the path gives up.
    limit: usize,
}

/// What a path starts from, beside the state's x and pieces.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// The state is the optimum for its own θ and z.
    Optimum,
    /// The state's x and pieces are optimal if rows had the state's z. Their actual z = C'x − d' is that of the workspace's
    /// balance: d' moves there.
    Pieces,
}

/// Walks to θ and the true d' with the state's factor; [`Outcome::Stalled`] if it has none, or once the worker has passed more
/// than `limit` breakpoints in all.
pub(crate) fn walk(
    s: &Softened,
    state: &mut State,
    ws: &mut Workspace,
    theta: &[f64],
    from: Origin,
    limit: usize,
) -> Outcome {
    // Each kind of factor has its own row to meet.
    let Some(OwnedFactor { owner, factor }) = state.factor.take() else { return Outcome::Stalled };
    let (outcome, factor) = match factor {
        Factor::Dense(mut factor) => {
            let mut row = std::mem::take(&mut ws.row);
            let outcome = start(s, state, ws, theta, from, limit, (&mut factor, &mut row));
            ws.row = row;
            (outcome, Factor::Dense(factor))
        }
        Factor::Sparse(mut factor) => {
            let mut row = Bordered::row(s.n);
            let outcome = start(s, state, ws, theta, from, limit, (&mut factor, &mut row));
            (outcome, Factor::Sparse(factor))
        }
    };
    state.factor = Some(OwnedFactor { owner, factor });
    outcome
}

fn start<F: Hessian>(
    s: &Softened,
    state: &mut State,
    ws: &mut Workspace,
    theta: &[f64],
    from: Origin,
    limit: usize,
    (factor, row): (&mut F, &mut F::Row),
) -> Outcome {
    let on = state.on();
    let State { x, piece, segments, z, theta: solved, springs, .. } = state;
    let Workspace { kernel, work, balance, steps, curvature, .. } = ws;
    let (kernel, shifted) = (*kernel, false);
    let mut path = Path {
        s,
        theta,
        x,
        piece,
        segments,
        springs,
        factor,
        steps,
        work,
        curvature,
        kernel,
        on,
        shifted,
        limit,
    };
    path.steps.z.copy_from_slice(z);
    match from {
        Origin::Optimum => {
            for ((d, new), old) in path.steps.dtheta.iter_mut().zip(theta).zip(solved) {
                *d = new - *old;
            }
        }
        Origin::Pieces => path.shift(&balance.z),
    }
    path.walk(row)
}

impl<F: Hessian> Path<'_, F> {
    /// Measures the way to go from the z that the pieces say to the actual one, and from the θ that they are optimal for.
    fn shift(&mut self, actual: &[f64]) {
        let (s, k, steps) = (self.s, self.kernel, &mut *self.steps);
        let far = k.largest(self.x);
        let rows = s.laws.iter().zip(&s.d).zip(&s.reach).zip(&*self.piece);
        // dz is not needed yet: it holds the multipliers.
        let moving = steps.z.iter().zip(&mut steps.dz).zip(&mut steps.shift).zip(actual);
        for ((((law, d), reach), piece), (((z, lambda), shift), actual)) in rows.zip(moving) {
            *lambda = law.multiplier(*piece, *z);
            *shift = actual - z;
            if shift.abs() <= SHIFT_ROUNDING * d.abs().max(far * reach) {
                *shift = 0.0;
            }
            self.shifted |= *shift != 0.0;
        }
        for (hinges, at) in s.hinges.iter().zip(&*self.segments) {
            steps.dz[hinges.row] = hinges.multiplier(*at, steps.z[hinges.row]);
        }
        s.force(k, self.x, &steps.dz, &mut steps.dtheta[..s.n]);
        for (d, t) in steps.dtheta.iter_mut().zip(self.theta) {
            *d = t - *d;
        }
    }

    fn walk(&mut self, row: &mut F::Row) -> Outcome {
        if self.springs.is_empty() {
            return self.follow(row);
        }
        let centres: Vec<f64> = self.springs.iter().map(|&j| self.x[j]).collect();
        match self.follow(row) {
            Outcome::Arrived => self.release(&centres, row),
            other => other,
        }
    }

    /// Follows the path over t ∈ [0, 1].
    pub(crate) fn follow(&mut self, row: &mut F::Row) -> Outcome {
        let (s, k) = (self.s, self.kernel);
        self.set_all_breakpoints();
        self.steps.rhs.copy_from_slice(&self.steps.dtheta);
        if self.shifted {
            for i in 0..s.m() {
                if self.piece[i] == Piece::On {
                    self.shift_rhs(i, self.stiffness(i));
                }
            }
        }
        let far = k.largest(self.x);
        let mut t = 0.0;
        while self.work.breakpoints <= self.limit {
            if self.work.breakpoints % TOLD == TOLD - 1 {
                let iterations = self.work.breakpoints;
                Stop::report(&Progress { link: Link::Path, iterations, accuracy: None });
            }
            if Stop::requested() || self.factor.is_spent() && !self.renew() {
                return Outcome::Stalled;
            }
            let steps = &mut *self.steps;
            let clock = Clock::start();
            steps.dx.copy_from_slice(&steps.rhs);
            self.factor.solve(k, &mut steps.dx);
            clock.stop(&mut self.work.nanos.factor);
            let clock = Clock::start();
            s.apply(k, &steps.dx[..s.n], &mut steps.dz);
            if self.shifted {
                k.axpy(1.0, &steps.shift, &mut steps.dz);
            }
            clock.stop(&mut self.work.nanos.rows);
            let clock = Clock::start();
            let tolerance = STEP_ROUNDING * k.largest(&steps.dx) + POINT_ROUNDING * far;
            let left = 1.0 - t;
            let rows =
                RowMotion { z: &steps.z, dz: &steps.dz, up: &steps.up, down: &steps.down, reach: &s.reach };
            let hit = k.first_crossing(rows, tolerance, &mut steps.ratios);
            clock.stop(&mut self.work.nanos.ratio);
            let step = hit.map_or(left, |(step, _)| step.min(left));
            if !step.is_finite() {
                return Outcome::Stalled;
            }
            k.axpy(step, &steps.dx, self.x);
            k.axpy(step, &steps.dz, &mut steps.z);
            t += step;
            let Some((reach, i)) = hit else { return Outcome::Arrived };
            if reach >= left {
                return Outcome::Arrived;
            }
            self.work.breakpoints += 1;
            match self.cross(i, row) {
                Outcome::Arrived => {}
                other => return other,
            }
        }
        Outcome::Stalled
    }

    /// Row `i` stands at the end of its piece: moves it to the next one.
    fn cross(&mut self, i: usize, row: &mut F::Row) -> Outcome {
        let steps = &mut *self.steps;
        let rising = steps.dz[i] > 0.0;
        steps.z[i] = if rising { steps.up[i] } else { steps.down[i] };
        match (self.piece[i], rising) {
            (Piece::On, _) if self.s.hinges_of(i).is_some() => self.step(i, rising, row),
            (Piece::On, true) => self.leave(i, Piece::Above, row),
            (Piece::On, false) => self.leave(i, Piece::Below, row),
            (Piece::Below | Piece::Above, _) => {
                self.enter(i, row);
                Outcome::Arrived
            }
        }
    }

    pub(super) fn move_to(&mut self, i: usize, piece: Piece) {
        self.piece[i] = piece;
        self.set_breakpoints(i);
    }

    pub(super) fn set_breakpoints(&mut self, i: usize) {
        (self.steps.down[i], self.steps.up[i]) = match self.s.hinges_of(i) {
            Some((at, hinges)) => hinges.ends(self.segments[at]),
            None => self.s.laws[i].ends(self.piece[i]),
        };
    }

    pub(crate) fn set_all_breakpoints(&mut self) {
        for (i, (law, piece)) in self.s.laws.iter().zip(&*self.piece).enumerate() {
            (self.steps.down[i], self.steps.up[i]) = law.ends(*piece);
        }
        for (hinges, at) in self.s.hinges.iter().zip(&*self.segments) {
            (self.steps.down[hinges.row], self.steps.up[hinges.row]) = hinges.ends(*at);
        }
    }

    /// The weight in H of row `i` on its quadratic piece.
    pub(super) fn stiffness(&self, i: usize) -> f64 {
        match self.s.hinges_of(i) {
            Some((at, hinges)) => hinges.slope(self.segments[at]),
            None => self.s.laws[i].slope,
        }
    }

    /// Row i's weight in H changes, and with it the pull of its moving limit on the direction's right-hand side.
    pub(super) fn shift_rhs(&mut self, i: usize, change: f64) {
        let pull = -change * self.steps.shift[i];
        if pull != 0.0 {
            self.s.add_row(self.kernel, i, pull, &mut self.steps.rhs[..self.s.n]);
        }
    }
}
