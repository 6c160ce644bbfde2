//! The exact problem on the path engine.
//!
//! A hard row is a row whose multiplier has no cap, and a kink is a multiplier law of infinite slope. The engine wants
//! finite slopes, so each solve is a proximal method of multipliers: with laws `λ = clip(λ̄ + w z)` around the current
//! multipliers λ̄, follow the path, set λ̄ to the multipliers found, and repeat until z = 0 on every row at its kink. For an
//! LP the optimum of the first path is already the right vertex, and the one correction that follows lands on it exactly.
//! Infeasible rows show as multipliers that keep growing: their growth is a Farkas certificate.

use crate::engine::accuracy::Gauge;
use crate::engine::fallback::SHORT;
use crate::engine::hinges::{Groups, Hinges};
use crate::engine::newton;
use crate::engine::path::{self, Origin, Outcome};
use crate::engine::penalty::caps;
use crate::engine::rows::{Law, Piece, Softened};
use crate::engine::scaling::Columns;
use crate::engine::state::{Owner, State};
use crate::engine::stop::Stop;
use crate::engine::tolerance::{
    AT_KINK, CORRECTION, FORCE_FLOOR, LEAST_SIZE, NO_LIMIT, SLOPE_KEPT, SLOPES, STEEP, STEEPER,
};
use crate::engine::workspace::Workspace;
use crate::problem::{RowId, View};
use crate::solve::vertices::Vertices;

mod infeasible;

/// Multiplier caps of one row: λ ∈ [−under, over].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caps {
    pub(crate) over: f64,
    pub(crate) under: f64,
}

/// How an exact solve ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    Optimal,
    /// Rows (engine positions) that cannot hold together.
    Infeasible(Vec<usize>),
    /// The objective grows along this ray, in the engine's units.
    Unbounded(Vec<f64>),
    /// The engine could not finish.
    Stalled,
}

/// One worker's memory for exact solves. Columns are equilibrated and rows have unit norm.
pub(crate) struct ExactWorker {
    pub(crate) s: Softened,
    pub(crate) caps: Vec<Caps>,
    /// Units of the variables.
    pub(crate) columns: Columns,
    /// Norms the rows had, in those units.
    pub(crate) norms: Vec<f64>,
    /// The median limit of the dense rows (of the bounds, if there are none): one huge bound does not set the scale.
    typical: f64,
    pub(crate) ws: Workspace,
    /// The gain θ being solved.
    pub(crate) theta: Vec<f64>,
    /// Breakpoints a solve may take, in units of n + m.
    pub(crate) patience: usize,
    pub(crate) gauge: Gauge,
    /// For linear programs with sparse rows, once one goes on from a vertex; none if these rows are not of that kind.
    vertices: Option<Vertices>,
    /// True if the rows were found to have none that could be gone to.
    without_vertices: bool,
}

const ROUNDS: usize = 60;
/// Breakpoints, in units of n + m, after which a solve is taken to be lost among ties; those that arrive need 1 to 3 (measured
/// on netlib and Maros–Meszaros).
pub(crate) const PATIENCE: usize = 5;

/// A limit from here on says that there is none: 1e20 in many files, up to rounding. Such a row takes no part, and sets no scale.
const ENDLESS: f64 = 1e19;

impl ExactWorker {
    pub(crate) fn new(view: &View<'_>, groups: &Groups, owner: Owner) -> Self {
        let s = Softened::new(view, groups);
        let (n, m) = (s.n, s.m());
        let mut worker = Self {
            caps: Vec::new(),
            columns: Columns::default(),
            norms: Vec::new(),
            typical: 0.0,
            ws: Workspace::new(owner, n, m),
            theta: vec![0.0; n],
            patience: PATIENCE,
            gauge: Gauge::default(),
            vertices: None,
            without_vertices: false,
            s,
        };
        worker.normalise(view, None, &[]);
        worker
    }

    /// Loads the rows of another instance. `penalties` caps the hard rows (stacked order); `None` leaves them hard. The
    /// equalities in `implied` follow from the others and are left aside.
    pub(crate) fn load(
        &mut self,
        view: &View<'_>,
        groups: &Groups,
        penalties: Option<&[f64]>,
        implied: &[usize],
    ) {
        self.s.load(view, groups);
        (self.vertices, self.without_vertices) = (None, false);
        // Bounds appear or vanish: other rows, other memory.
        self.ws.resize(self.s.n, self.s.m());
        self.normalise(view, penalties, implied);
    }

    /// The gain θ of an instance, in the engine's units.
    pub(crate) fn set_gain(&mut self, view: &View<'_>) {
        view.gain(&mut self.theta);
        self.columns.multiply(&mut self.theta);
    }

    fn normalise(&mut self, view: &View<'_>, penalties: Option<&[f64]>, implied: &[usize]) {
        let shape = view.shape;
        self.columns.fit(self.ws.kernel, &self.s);
        self.columns.apply(&mut self.s);
        self.norms.clear();
        self.caps.clear();
        for i in 0..self.s.m() {
            let norm = if i < self.s.m_general {
                let row = self.s.general.row_mut(i);
                let length = row.iter().map(|a| a * a).sum::<f64>().sqrt();
                let norm = if length == 0.0 { 1.0 } else { length };
                row.iter_mut().for_each(|a| *a /= norm);
                self.s.d[i] /= norm;
                self.s.reach[i] = 1.0;
                norm
            } else {
                self.columns.get(self.s.unit[i - self.s.m_general].var)
            };
            let hard = |id: RowId| match id {
                RowId::Equal(k) if implied.contains(&k) => 0.0,
                _ => penalties.map_or(f64::INFINITY, |p| p[shape.position(id)]),
            };
            let (mut over, mut under) = caps(&self.s, i, view, hard);
            if under == 0.0 && self.s.d[i] * norm >= ENDLESS && !matches!(self.s.ids[i], RowId::Soft(_)) {
                (over, under, self.s.d[i]) = (0.0, 0.0, 0.0);
            }
            self.norms.push(norm);
            self.caps.push(Caps { over: over * norm, under: under * norm });
        }
        for hinges in &mut self.s.hinges {
            hinges.divide(self.norms[hinges.row]);
            let (below, above) = hinges.caps();
            self.caps[hinges.row] = Caps { over: above, under: -below };
        }
        let (dense, bounds) = self.s.d.split_at(self.s.m_general);
        // A limit of 1e-13 beside bounds of 20 is a zero that somebody computed: it sets no scale.
        let least = NO_LIMIT * self.ws.kernel.largest(&self.s.d);
        self.typical = median_size(dense, least).or_else(|| median_size(bounds, least)).unwrap_or(0.0);
    }

    /// Solves for the gain in `self.theta`, from `state` (pieces, multipliers of unit-norm rows, factor) if `warm`.
    pub(crate) fn solve(&mut self, state: &mut State, warm: bool) -> Verdict {
        let mut slope = self.slope();
        if warm {
            // While θ moves little, the slope the state ended with still fits, and so does its factor.
            if state.slope > SLOPE_KEPT.0 * slope && state.slope < SLOPE_KEPT.1 * slope {
                slope = state.slope;
            }
            self.s.excess(self.ws.kernel, &state.x, &mut self.ws.balance.z);
            if state.factor.is_none() || state.segments.len() != self.s.hinges.len() {
                // Other limits and prices: where the multipliers are.
                let segment = |h: &Hinges| h.exact_with(state.lambda[h.row], state.piece[h.row]);
                state.segments = self.s.hinges.iter().map(segment).collect();
                self.set_pieces(state);
            }
            self.anchor(state, slope);
        } else {
            self.cold(state, slope);
        }
        let force = self.force();
        self.s.floor = FORCE_FLOOR * if force > 0.0 { force } else { slope * self.typical.max(LEAST_SIZE) };
        let near = !warm && !self.s.hinges.is_empty() && self.approach(state, slope);
        let fits = (warm || near) && state.factor.is_some() && state.slope == slope;
        self.rounds(state, !fits, slope)
    }

    /// From the state's vertex to the optimal one, if the state is a vertex of a linear program with sparse rows.
    pub(crate) fn follow_vertices(&mut self, state: &mut State) -> bool {
        if self.vertices.is_none() && !self.without_vertices {
            self.vertices = Vertices::of(&self.s);
            self.without_vertices = self.vertices.is_none();
        }
        let Some(mut vertices) = self.vertices.take() else { return false };
        let arrived = vertices.follow(self, state);
        self.vertices = Some(vertices);
        arrived
    }

    /// The vertex that was followed to last.
    pub(crate) fn vertices(&self) -> Option<&Vertices> {
        self.vertices.as_ref()
    }

    /// A path from a corner would pass every kink of the rows that have many; Newton's method jumps over them. False if it
    /// does not arrive: the state is then a cold one again.
    fn approach(&mut self, state: &mut State, slope: f64) -> bool {
        let arrived = newton::climb(&self.s, state, &mut self.ws, &self.theta) == Outcome::Arrived;
        if arrived {
            self.ws.settle(&self.s, state, &self.theta);
            self.read(state);
            self.anchor(state, slope);
            state.slope = slope;
        } else {
            self.cold(state, slope);
        }
        arrived
    }

    /// The pieces of rows with many breakpoints follow from their segments.
    pub(crate) fn set_pieces(&self, state: &mut State) {
        for (hinges, at) in self.s.hinges.iter().zip(&state.segments) {
            state.piece[hinges.row] = at.piece();
        }
    }

    /// Slope of the proximal laws: kinks ten times narrower than the problem (steeper means more pivots, flatter more
    /// corrections: measured), and well above Q.
    fn slope(&self) -> f64 {
        let mut force = self.force();
        if force == 0.0 {
            let prices = self.caps.iter().flat_map(|c| [c.over, c.under]);
            force = prices.filter(|c| c.is_finite()).fold(0.0, f64::max);
        }
        let ratio = if force > 0.0 && self.typical > 0.0 { 10.0 * force / self.typical } else { 1.0 };
        ratio.max(30.0 * self.s.curvature).clamp(SLOPES.0, SLOPES.1)
    }

    /// max |θ|
    fn force(&self) -> f64 {
        self.ws.kernel.largest(&self.theta)
    }

    /// A point, pieces and multipliers from nothing: every bounded variable at a bound with a multiplier of its own.
    fn cold(&mut self, state: &mut State, slope: f64) {
        let scale = self.force().max(LEAST_SIZE * slope);
        let s = &mut self.s;
        state.x.fill(0.0);
        state.springs.clear();
        let mut held = vec![false; s.n];
        for (i, u) in (s.m_general..).zip(&s.unit) {
            let caps = self.caps[i];
            let sign = u.sign;
            if std::mem::replace(&mut held[u.var], true) {
                state.lambda[i] = -caps.under;
                state.piece[i] = Piece::Below;
                continue;
            }
            state.x[u.var] = sign * s.d[i];
            // Distinct multipliers, so that the variables leave their bounds one after the other.
            let wanted = (sign * self.theta[u.var]).max(0.0) + scale * (1.0 + 0.5 * spread(u.var));
            state.lambda[i] = if caps.under > 0.0 { 0.0 } else { wanted.min(0.5 * caps.over) };
            state.piece[i] = Piece::On;
        }
        let actual = &mut self.ws.balance.z;
        s.excess(self.ws.kernel, &state.x, actual);
        state.z.copy_from_slice(actual);
        for i in 0..s.m_general {
            let (caps, z) = (self.caps[i], actual[i]);
            (state.piece[i], state.lambda[i]) = match z {
                _ if caps.over + caps.under <= 0.0 => (Piece::Below, 0.0),
                _ if caps.over.is_infinite() && caps.under.is_infinite() => (Piece::On, 0.0),
                z if z > 0.0 && caps.over.is_finite() => (Piece::Above, caps.over),
                z if z <= 0.0 && caps.under.is_finite() => (Piece::Below, -caps.under),
                // A violated hard row starts as a slack one with a shifted limit.
                _ if caps.under.is_finite() => (Piece::Below, -caps.under),
                _ => (Piece::Above, caps.over),
            };
        }
        for (i, law) in s.laws.iter_mut().enumerate() {
            *law = Law::exact(self.caps[i].over, self.caps[i].under, state.lambda[i], slope);
        }
        let size = s.d.iter().fold(LEAST_SIZE, |m, d| m.max(d.abs()));
        for i in 0..s.m() {
            let z = &mut state.z[i];
            match state.piece[i] {
                Piece::On => *z = 0.0,
                Piece::Below if *z > 0.0 => {
                    *z = -0.1 * size * (1.0 + spread(i));
                }
                Piece::Above if *z < 0.0 => {
                    *z = 0.1 * size * (1.0 + spread(i));
                }
                _ => {}
            }
        }
        state.segments.clear();
        for hinges in &mut s.hinges {
            let (i, z) = (hinges.row, actual[hinges.row]);
            let at = hinges.between(z);
            (state.z[i], state.lambda[i], state.piece[i]) = (z, hinges.levels()[at.ended], at.piece());
            s.laws[i] = Law::IDLE;
            hinges.proximal(slope, state.lambda[i]);
            state.segments.push(at);
        }
    }

    /// Laws around the current multipliers; from the actual z of the balance the state's becomes what the pieces say (0 on a
    /// kink).
    fn anchor(&mut self, state: &mut State, slope: f64) {
        let many: Vec<f64> = self.s.hinges.iter().map(|h| state.lambda[h.row]).collect();
        let laws = self.s.laws.iter_mut().zip(&self.caps);
        let rows = laws.zip(self.ws.balance.z.iter().zip(&mut state.z)).zip(&mut state.lambda);
        for ((((law, caps), (actual, z)), lambda), piece) in rows.zip(&state.piece) {
            (*lambda, *z) = match piece {
                Piece::Below => (-caps.under, actual.min(0.0)),
                Piece::On => (lambda.clamp(-caps.under, caps.over), 0.0),
                Piece::Above => (caps.over, actual.max(0.0)),
            };
            *law = Law::exact(caps.over, caps.under, *lambda, slope);
        }
        for ((hinges, at), lambda) in self.s.hinges.iter_mut().zip(&state.segments).zip(many) {
            let i = hinges.row;
            (state.lambda[i], state.z[i]) = hinges.exact_at(*at, lambda, self.ws.balance.z[i]);
            self.s.laws[i] = Law::IDLE;
            hinges.proximal(slope, state.lambda[i]);
        }
    }

    /// Paths and corrections until every row on a kink is at it.
    fn rounds(&mut self, state: &mut State, refactor: bool, slope: f64) -> Verdict {
        let kinks: usize = self.s.hinges.iter().map(|h| h.kinks().len()).sum();
        let limit = match self.s.analysis {
            None => self.ws.limit(&self.s, self.patience) + 2 * kinks,
            Some(_) => self.ws.work.breakpoints + SHORT,
        };
        let (mut slope, mut refactor) = (slope, refactor);
        let mut last = f64::INFINITY;
        // The largest size met: where the optimum is 0, the current one shrinks with the error.
        let mut size = 0.0_f64;
        for round in 0..ROUNDS {
            if Stop::requested() || refactor && !self.ws.hold(&self.s, state) {
                return Verdict::Stalled;
            }
            refactor = false;
            state.slope = slope;
            match path::walk(&self.s, state, &mut self.ws, &self.theta, Origin::Pieces, limit) {
                Outcome::Arrived => {}
                Outcome::Unbounded(ray) => return Verdict::Unbounded(ray),
                Outcome::Stalled => return Verdict::Stalled,
            }
            self.ws.settle(&self.s, state, &self.theta);
            let (off, limit) = self.read(state);
            // Where all terms are 0, the distance over which the laws move the multipliers by |θ|.
            let floor = (LEAST_SIZE * self.force() / slope).max(f64::MIN_POSITIVE);
            size = size.max(self.ws.kernel.largest(&state.x)).max(limit).max(floor);
            if off <= AT_KINK * size {
                return Verdict::Optimal;
            }
            if round > 0 && off > CORRECTION * last {
                if let Some(rows) = self.farkas(state) {
                    return Verdict::Infeasible(rows);
                }
                if round % 3 == 2 && slope < SLOPES.1 {
                    slope *= STEEPER;
                    refactor = true;
                }
            }
            // With Q the corrections converge linearly, the faster the steeper; the first path is shorter when flat.
            if round == 0 && slope < STEEP * self.s.curvature {
                slope = STEEP * self.s.curvature;
                refactor = true;
            }
            last = off;
            self.anchor(state, slope);
        }
        Verdict::Stalled
    }

    /// The multipliers at the end of a path. Returns the largest |z| and the largest |d| over rows on a kink.
    fn read(&self, state: &mut State) -> (f64, f64) {
        let (mut off, mut limit) = (0.0_f64, 0.0_f64);
        let rows = self
            .s
            .laws
            .iter()
            .zip(&self.s.d)
            .zip(&self.ws.balance.z)
            .zip(&mut state.lambda)
            .zip(&state.piece);
        for ((((law, d), z), lambda), piece) in rows {
            *lambda = law.multiplier(*piece, *z);
            if *piece == Piece::On && law.slope > 0.0 {
                (off, limit) = (off.max(z.abs()), limit.max(d.abs()));
            }
        }
        for (hinges, at) in self.s.hinges.iter().zip(&state.segments) {
            let (i, z) = (hinges.row, self.ws.balance.z[hinges.row]);
            state.lambda[i] = hinges.multiplier(*at, z);
            if at.begun > at.ended {
                let kink = hinges.kinks()[at.ended];
                (off, limit) = (off.max((z - kink).abs()), limit.max((self.s.d[i] + kink).abs()));
            }
        }
        (off, limit)
    }

    /// Where row `i` is at its kink, counted from its limit.
    pub(crate) fn kink(&self, state: &State, i: usize) -> f64 {
        self.s.hinges_of(i).map_or(0.0, |(at, hinges)| hinges.kinks()[state.segments[at].ended])
    }

    /// The state's multiplier of row `i`, inside its caps and for the row as stated.
    pub(crate) fn multiplier(&self, state: &State, i: usize) -> f64 {
        let Caps { over, under } = self.caps[i];
        let lambda = state.lambda[i].clamp(-under.min(f64::MAX), over.min(f64::MAX)) / self.norms[i];
        if lambda.is_finite() { lambda } else { 0.0 }
    }

    /// The state's multipliers of the soft rows as stated; returns how many of the engine's rows they are.
    pub(crate) fn soft_multipliers(&self, state: &State, out: &mut [f64]) -> usize {
        if self.s.hinges.is_empty() {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = self.multiplier(state, i));
            return out.len();
        }
        let soft = || self.s.ids.iter().map_while(|id| if let RowId::Soft(k) = id { Some(*k) } else { None });
        soft().enumerate().for_each(|(i, k)| out[k] = self.multiplier(state, i));
        for (hinges, at) in self.s.hinges.iter().zip(&state.segments) {
            for hinge in hinges.each() {
                let lambda = hinges.share(&hinge, *at, state.lambda[hinges.row]);
                out[hinge.soft] = lambda / self.norms[hinges.row];
            }
        }
        soft().count()
    }

    /// The multiplier of row `i` off its kink; 0 where that side has no cap.
    pub(crate) fn resting(&self, state: &State, i: usize) -> f64 {
        if let Some((at, hinges)) = self.s.hinges_of(i) {
            return hinges.levels()[state.segments[at].ended];
        }
        let (caps, piece) = (self.caps[i], state.piece[i]);
        let at = if piece == Piece::Above { caps.over } else { -caps.under };
        if at.is_finite() { at } else { 0.0 }
    }

    /// True if one side of row `i` has no cap.
    pub(crate) fn hard(&self, i: usize) -> bool {
        self.caps[i].over.is_infinite() || self.caps[i].under.is_infinite()
    }
}

/// The median of |d| over the entries above `least`.
fn median_size(d: &[f64], least: f64) -> Option<f64> {
    let mut sizes: Vec<f64> = d.iter().map(|d| d.abs()).filter(|d| *d > least).collect();
    let middle = sizes.len() / 2;
    (!sizes.is_empty()).then(|| *sizes.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Numbers in [0, 1) that lie apart for neighbouring rows: they break ties at a cold start.
fn spread(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_749_895).fract()
}
