//! From an optimal vertex of a linear program to the next: a simplex method that begins with the active set of a state.
//!
//! Where prices move a little, the old vertex is still one, and few rows have to change places. A degenerate vertex, where many
//! more rows meet than there are variables, costs the path dear: to it each of them is a row with a slope of its own. Here a
//! vertex is n rows on their kinks and nothing else. General rows have their activities as variables, s = Ax:
//!
//! ```text
//! [A, −I](x, s) = 0      B: the columns off their kinks      Bᵀπ = c_B      r = c − [A, −I]ᵀπ      λ = ±r on a kink
//! ```
//!
//! A row whose λ leaves its caps is let go, and the first kink that is reached takes its place (ties: the largest pivot). Rows of
//! any caps are rows here, soft ones too. After steps of length zero rows are taken by their place in the order of the columns
//! until one is longer (Bland 1977), so that the method cannot cycle. Costs are of sparse columns and of a factored basis.

use crate::engine::rows::{Piece, Softened};
use crate::engine::state::State;
use crate::engine::tolerance::{AT_KINK, TIE, WRONG_PIECE};
use crate::linalg::basis::{Basis, Columns};
use crate::solve::exact::{Caps, ExactWorker};

/// Rows with more than this share of their entries are better off on the path.
const SPARSE: f64 = 0.25;
/// Pivots below this share of the largest are rounding.
const PIVOT: f64 = 1e-9;
/// Exchanges, in units of rows, after which somebody else is asked.
const PATIENCE: usize = 5;
/// Steps of length zero after which rows are taken in their order.
const STANDING: usize = 50;
/// How often the vertex is looked at with a fresh factor before it is given up.
const LOOKS: usize = 4;

/// A row with one column: the row, and +1 or −1.
type Kink = (usize, f64);

/// The memory of one worker, for the rows that it holds.
pub(crate) struct Vertices {
    columns: Columns,
    /// Kinks of each column; a general row is that of its own activity.
    kinks: Vec<[Option<Kink>; 2]>,
    basis: Basis,
    at: Vertex,
    work: Work,
}

/// A vertex and its multipliers.
#[derive(Default)]
struct Vertex {
    /// The value of each column.
    value: Vec<f64>,
    /// On which kink it is, if it is off the basis.
    on: Vec<Option<Kink>>,
    /// The side of each row.
    piece: Vec<Piece>,
    /// What is gained along each column off the basis, its own kink apart.
    gain: Vec<f64>,
}

#[derive(Default)]
struct Work {
    rows: Vec<f64>,
    places: Vec<f64>,
    /// Places and entries of B⁻¹ times a column.
    alpha: Vec<(usize, f64)>,
    along: Vec<f64>,
    touched: Vec<usize>,
    hits: Vec<Hit>,
}

/// A kink that a step may reach: the step, the place of its column, the entry there, and the kink.
type Hit = (f64, usize, f64, Kink);

/// Where a step ends.
enum End {
    /// At another kink of the column itself.
    Own(Kink),
    /// At a kink of the column in this place of the basis, where the column that comes has this entry.
    Place(usize, Kink),
}

impl Vertices {
    /// For the rows of a linear program whose rows are sparse, and have one kink each.
    pub(crate) fn of(s: &Softened) -> Option<Self> {
        let stored = s.general.as_slice().iter().filter(|a| **a != 0.0).count();
        let full = s.analysis.is_none() && stored as f64 > SPARSE * (s.n * s.m_general) as f64;
        if full || s.two_q.is_some() || !s.hinges.is_empty() || s.m_general == 0 {
            return None;
        }
        let columns = Columns::new(s.n, (0..s.m_general).map(|i| s.general.row(i).iter()));
        let mut kinks = vec![[None; 2]; s.n + s.m_general];
        for (i, u) in (s.m_general..).zip(&s.unit) {
            let slot = usize::from(kinks[u.var][0].is_some());
            kinks[u.var][slot] = Some((i, u.sign));
        }
        for i in 0..s.m_general {
            kinks[s.n + i][0] = Some((i, 1.0));
        }
        Some(Self { columns, kinks, basis: Basis::default(), at: Vertex::default(), work: Work::default() })
    }

    /// Goes on from the state's vertex to the optimal one; false, with the state as it was, if it is no vertex, if limits have
    /// moved beyond it, or if nobody knows where it ends.
    pub(crate) fn follow(&mut self, exact: &mut ExactWorker, state: &mut State) -> bool {
        let Some((wanted, must)) = self.read(exact, state) else { return false };
        let (s, caps, theta) = (&exact.s, &exact.caps[..], &exact.theta[..]);
        exact.ws.work.factorisations += 1;
        if !self.basis.factor(&self.columns, &wanted, must) {
            return false;
        }
        for place in 0..s.m_general {
            let v = self.basis.head[place];
            self.at.on[v] = None;
        }
        self.stand(s);
        if !self.choose_sides(s, caps) {
            return false;
        }
        self.price(caps, theta);
        let pull = exact.ws.kernel.largest(theta).max(f64::MIN_POSITIVE);
        let (mut left, mut standing, mut looks) = (PATIENCE * (s.n + s.m_general), 0, 0);
        loop {
            let Some((q, up)) = self.entering(caps, WRONG_PIECE * pull, standing > STANDING) else {
                if !self.basis.has_changed() {
                    break;
                }
                // Rounding has added up along the way: the vertex and its multipliers once more.
                looks += 1;
                if looks > LOOKS || !self.settle(s, caps, theta) {
                    return false;
                }
                if self.entering(caps, WRONG_PIECE * pull, false).is_none() {
                    break;
                }
                continue;
            };
            left -= 1;
            exact.ws.work.breakpoints += 1;
            exact.ws.work.pivots += 1;
            let Some(step) = self.exchange(s, caps, q, up, standing > STANDING) else { return false };
            standing = if step > 0.0 { 0 } else { standing + 1 };
            if left == 0 {
                return false;
            }
            if self.basis.is_spent() {
                exact.ws.work.factorisations += 1;
                let head = self.basis.head.clone();
                if !self.basis.factor(&self.columns, &head, head.len()) || !self.settle(s, caps, theta) {
                    return false;
                }
            }
        }
        self.write(exact, state);
        true
    }

    /// Columns in the order in which they should be in the basis: first those that have to, because they are off their kinks.
    fn read(&mut self, exact: &ExactWorker, state: &State) -> Option<(Vec<usize>, usize)> {
        let (s, m) = (&exact.s, self.columns.m);
        let count = s.n + m;
        let idle = |i: usize| exact.caps[i].over + exact.caps[i].under <= 0.0;
        self.at.piece.clone_from(&state.piece);
        self.at.on.clear();
        self.at.on.resize(count, None);
        let (mut wanted, mut loose, mut others) = (Vec::with_capacity(count), Vec::new(), Vec::new());
        for (v, kinks) in self.kinks.iter().enumerate() {
            let on = kinks.iter().flatten().find(|(i, _)| state.piece[*i] == Piece::On && !idle(*i)).copied();
            self.at.on[v] = on;
            let Some((i, _)) = on else {
                wanted.push(v);
                continue;
            };
            let (caps, lambda) = (exact.caps[i], state.lambda[i]);
            // A multiplier at its cap does not need its row; one of 0 is that of a row which follows from the others.
            let room = (caps.over - lambda).min(lambda + caps.under);
            if lambda == 0.0 || room <= 0.0 { loose.push(v) } else { others.push((room, v)) }
        }
        let must = wanted.len();
        if must > m {
            return None;
        }
        wanted.extend(loose);
        if wanted.len() < m {
            others.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        wanted.extend(others.into_iter().map(|(_, v)| v));
        let Work { rows, places, along, .. } = &mut self.work;
        [rows, places].into_iter().for_each(|w| w.resize(m, 0.0));
        along.resize(s.n, 0.0);
        Some((wanted, must))
    }

    /// The values of all columns, from those on their kinks.
    fn stand(&mut self, s: &Softened) {
        let Self { columns, basis, at, work, .. } = self;
        at.value.resize(columns.n + columns.m, 0.0);
        work.rows.fill(0.0);
        for (v, on) in at.on.iter().enumerate() {
            let Some((i, sign)) = *on else { continue };
            at.value[v] = sign * s.d[i];
            if at.value[v] != 0.0 {
                columns.column(v).for_each(|(i, a)| work.rows[i] -= a * at.value[v]);
            }
        }
        basis.solve(&mut work.rows, &mut work.places);
        basis.head.iter().zip(&work.places).for_each(|(v, y)| at.value[*v] = *y);
    }

    /// The sides of the rows in the basis; false if a row without a cap is on the wrong one.
    fn choose_sides(&mut self, s: &Softened, caps: &[Caps]) -> bool {
        let size = self.at.value.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        for &v in &self.basis.head {
            for (i, sign) in self.kinks[v].iter().flatten().copied() {
                let (z, slack) = (sign * self.at.value[v] - s.d[i], WRONG_PIECE * size.max(s.d[i].abs()));
                let Caps { over, under } = caps[i];
                if (z > slack && over.is_infinite()) || (z < -slack && under.is_infinite()) {
                    return false;
                }
                self.at.piece[i] = match self.at.piece[i] {
                    _ if over + under <= 0.0 => Piece::Below,
                    _ if z > slack => Piece::Above,
                    _ if z < -slack => Piece::Below,
                    // At its kink: a row without any cap stays there, another is on the side that it can go to.
                    _ if over.is_infinite() && under.is_infinite() => Piece::On,
                    _ if over.is_infinite() => Piece::Below,
                    _ if under.is_infinite() => Piece::Above,
                    Piece::On => Piece::Below,
                    side => side,
                };
            }
        }
        true
    }

    /// The multiplier of a row off its kink.
    fn resting(&self, caps: &[Caps], i: usize) -> f64 {
        let lambda = match self.at.piece[i] {
            Piece::Above => caps[i].over,
            Piece::Below => -caps[i].under,
            Piece::On => 0.0,
        };
        if lambda.is_finite() { lambda } else { 0.0 }
    }

    /// What a column earns by itself, the kink it is on apart.
    fn earned(&self, caps: &[Caps], theta: &[f64], v: usize) -> f64 {
        let own = self.at.on[v].map(|(i, _)| i);
        let others = self.kinks[v].iter().flatten().filter(|(i, _)| Some(*i) != own);
        let taken: f64 = others.map(|(i, sign)| sign * self.resting(caps, *i)).sum();
        theta.get(v).copied().unwrap_or(0.0) - taken
    }

    /// r = c − [A, −I]ᵀπ of all columns off the basis.
    fn price(&mut self, caps: &[Caps], theta: &[f64]) {
        for place in 0..self.columns.m {
            self.work.places[place] = self.earned(caps, theta, self.basis.head[place]);
        }
        let Work { rows, places, .. } = &mut self.work;
        self.basis.solve_transposed(places, rows);
        let mut gain = std::mem::take(&mut self.at.gain);
        gain.clear();
        gain.extend((0..self.at.on.len()).map(|v| {
            if self.at.on[v].is_none() {
                return 0.0;
            }
            let along: f64 = self.columns.column(v).map(|(i, a)| a * self.work.rows[i]).sum();
            self.earned(caps, theta, v) - along
        }));
        self.at.gain = gain;
    }

    /// Takes what rounding left out of the values, and gains anew; false if the vertex has left its rows.
    fn settle(&mut self, s: &Softened, caps: &[Caps], theta: &[f64]) -> bool {
        let Self { columns, basis, at, work, .. } = self;
        work.rows.fill(0.0);
        for (v, x) in at.value.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.column(v).for_each(|(i, a)| work.rows[i] -= a * x);
        }
        basis.solve(&mut work.rows, &mut work.places);
        basis.head.iter().zip(&work.places).for_each(|(v, y)| at.value[*v] += *y);
        let right = self.choose_sides(s, caps);
        self.price(caps, theta);
        right
    }

    /// The column whose multiplier is the farthest outside its caps, or the first of them; true if beyond the upper one.
    fn entering(&self, caps: &[Caps], slack: f64, first: bool) -> Option<(usize, bool)> {
        let (mut best, mut most) = (None, slack);
        for (v, on) in self.at.on.iter().enumerate() {
            let Some((i, sign)) = *on else { continue };
            let lambda = sign * self.at.gain[v];
            let (over, under) = (lambda - caps[i].over, -caps[i].under - lambda);
            if over.max(under) > most {
                (best, most) = (Some((v, over > under)), over.max(under));
                if first {
                    break;
                }
            }
        }
        best
    }

    /// Lets column `q` go from its kink to the first that is met; the length of the step, or `None` if there is no end to it.
    fn exchange(&mut self, s: &Softened, caps: &[Caps], q: usize, up: bool, first: bool) -> Option<f64> {
        let own = self.at.on[q]?;
        let (row, sign) = own;
        let along = if up { sign } else { -sign };
        let Work { rows, places, alpha, .. } = &mut self.work;
        rows.fill(0.0);
        self.columns.column(q).for_each(|(i, a)| rows[i] = a);
        self.basis.solve(rows, places);
        alpha.clear();
        alpha.extend(places.iter().copied().enumerate().filter(|(_, a)| *a != 0.0));
        let mut hits = std::mem::take(&mut self.work.hits);
        let longest = self.longest(s, q, along, first, &mut hits);
        self.work.hits = hits;
        let (step, end) = longest?;
        let side = if up { Piece::Above } else { Piece::Below };
        if step > 0.0 {
            for (place, a) in &self.work.alpha {
                self.at.value[self.basis.head[*place]] -= step * along * a;
            }
        }
        self.at.value[q] += step * along;
        let reached = match end {
            End::Own(kink) | End::Place(_, _, kink) => kink,
        };
        let was = self.resting(caps, reached.0);
        (self.at.piece[row], self.at.piece[reached.0]) = (side, Piece::On);
        let delta = self.at.gain[q] - sign * self.resting(caps, row);
        let (at, taken) = (sign_of(reached) * s.d[reached.0], sign_of(reached) * was);
        match end {
            End::Own(kink) => {
                (self.at.value[q], self.at.on[q]) = (at, Some(kink));
                self.at.gain[q] = delta + taken;
            }
            End::Place(place, pivot, kink) => {
                let p = self.basis.head[place];
                self.move_gains(place, delta / pivot);
                self.basis.replace(place, q, &self.work.alpha);
                (self.at.on[q], self.at.gain[q]) = (None, 0.0);
                (self.at.on[p], self.at.value[p]) = (Some(kink), at);
                self.at.gain[p] += taken;
            }
        }
        Some(step)
    }

    /// r −= ratio · (row of the tableau) for the columns off the basis and the one that leaves it.
    fn move_gains(&mut self, place: usize, ratio: f64) {
        let Self { columns, basis, at, work, .. } = self;
        work.places.fill(0.0);
        work.places[place] = 1.0;
        basis.solve_transposed(&mut work.places, &mut work.rows);
        for (i, rho) in work.rows.iter().enumerate().filter(|(_, rho)| **rho != 0.0) {
            at.gain[columns.n + i] += ratio * rho;
            for (j, a) in columns.row(i) {
                if work.along[j] == 0.0 {
                    work.touched.push(j);
                }
                work.along[j] += a * rho;
            }
        }
        for j in work.touched.drain(..) {
            at.gain[j] -= ratio * std::mem::take(&mut work.along[j]);
        }
        // Those in the basis have none; the one that leaves had none.
        for (k, &v) in basis.head.iter().enumerate() {
            at.gain[v] = if k == place { -ratio } else { 0.0 };
        }
    }

    /// The step of column `q` along ±1 to the first kink.
    fn longest(
        &self,
        s: &Softened,
        q: usize,
        along: f64,
        first: bool,
        hits: &mut Vec<Hit>,
    ) -> Option<(f64, End)> {
        let reach = |v: usize, speed: f64, (i, sign): Kink| {
            let (dz, z) = (sign * speed, sign * self.at.value[v] - s.d[i]);
            match self.at.piece[i] {
                Piece::On => Some(0.0),
                Piece::Below if dz > 0.0 => Some((-z).max(0.0) / dz),
                Piece::Above if dz < 0.0 => Some(z.max(0.0) / -dz),
                _ => None,
            }
        };
        let own = self.at.on[q].map(|(i, _)| i);
        let others = self.kinks[q].iter().flatten().copied().filter(|(i, _)| Some(*i) != own);
        let mut best: Option<(f64, End)> = None;
        for kink in others {
            best = reach(q, along, kink).map(|step| (step, End::Own(kink))).or(best);
        }
        let alpha = &self.work.alpha;
        let least = PIVOT * alpha.iter().fold(1.0_f64, |m, (_, a)| m.max(a.abs()));
        hits.clear();
        let mut nearest = f64::INFINITY;
        for &(place, a) in alpha.iter().filter(|(_, a)| a.abs() > least) {
            let v = self.basis.head[place];
            for kink in self.kinks[v].iter().flatten() {
                if let Some(step) = reach(v, -a * along, *kink) {
                    nearest = nearest.min(step);
                    hits.push((step, place, a, *kink));
                }
            }
        }
        if best.as_ref().is_some_and(|(step, _)| *step <= nearest) || nearest.is_infinite() {
            return best;
        }
        let near = nearest + TIE * (1.0 + nearest) + AT_KINK * self.at.value[q].abs();
        let better = |hit: &&Hit, other: &&Hit| match first {
            true => self.basis.head[hit.1] < self.basis.head[other.1],
            false => hit.2.abs() > other.2.abs(),
        };
        let reached = hits.iter().filter(|(step, ..)| *step <= near);
        let (_, place, pivot, kink) = reached.reduce(|a, b| if better(&b, &a) { b } else { a })?;
        Some((nearest, End::Place(*place, *pivot, *kink)))
    }

    /// The vertex as a state without a factor.
    fn write(&mut self, exact: &mut ExactWorker, state: &mut State) {
        exact.ws.give_up_factor(state);
        state.springs.clear();
        state.segments.clear();
        state.x.copy_from_slice(&self.at.value[..self.columns.n]);
        for i in 0..state.lambda.len() {
            state.lambda[i] = self.resting(&exact.caps, i);
        }
        for (v, on) in self.at.on.iter().enumerate() {
            if let Some((i, sign)) = *on {
                let Caps { over, under } = exact.caps[i];
                state.lambda[i] = (sign * self.at.gain[v]).clamp(-under, over);
            }
        }
        state.piece.copy_from_slice(&self.at.piece);
        state.theta.copy_from_slice(&exact.theta);
        exact.s.excess(exact.ws.kernel, &state.x, &mut state.z);
    }
}

fn sign_of((_, sign): Kink) -> f64 {
    sign
}
