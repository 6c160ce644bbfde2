//! From an optimal vertex of a linear program to the next: a simplex method that begins with the active set of a state.
//!
//! Where prices move a little, the old vertex is still one, and few rows have to change places. Where limits move, rows that
//! are violated take their kinks first, at prices for which the vertex would be optimal (a dual simplex method). A degenerate
//! vertex, where many more rows meet than there are variables, costs the path dear: to it each of them is a row with a slope of
//! its own. Here a vertex is n rows on their kinks and nothing else. General rows have their activities as variables, s = Ax:
//!
//! ```text
//! [A, −I](x, s) = 0      B: the columns off their kinks      Bᵀπ = c_B      r = c − [A, −I]ᵀπ      λ = ±r on a kink
//! ```
//!
//! A row whose λ leaves its caps is let go, and the first kink that is reached takes its place (ties: the largest pivot). Rows of
//! any caps are rows here, soft ones too. After steps of length zero rows are taken by their place in the order of the columns
//! until one is longer (Bland 1977), so that the method cannot cycle. Costs are of sparse columns and of a factored basis.

mod limits;
mod prices;

use std::sync::Arc;

use crate::engine::rows::{Piece, Softened};
use crate::engine::state::State;
use crate::engine::stop::Stop;
use crate::engine::tolerance::WRONG_PIECE;
use crate::linalg::at_vertex::AtVertex;
use crate::linalg::basis::{Basis, Columns};
use crate::solve::exact::{Caps, ExactWorker};

/// Rows with more than this share of their entries are better off on the path.
const SPARSE: f64 = 0.25;
/// Pivots below this share of the largest are rounding.
const PIVOT: f64 = 1e-9;
/// Exchanges after which somebody else is asked, and one more for so many rows: about what a start from nothing takes.
const PATIENCE: usize = 400;
const ROWS: usize = 32;
/// Steps of length zero after which rows are taken in their order.
const STANDING: usize = 50;
/// How often the vertex is looked at with a fresh factor before it is given up.
const LOOKS: usize = 4;

/// A row with one column: the row, and +1 or −1.
type Kink = (usize, f64);

/// The memory of one worker, for the rows that it holds.
pub(crate) struct Vertices {
    columns: Arc<Columns>,
    /// Kinks of each column; a general row is that of its own activity.
    kinks: Vec<[Option<Kink>; 2]>,
    basis: Basis,
    at: Vertex,
    work: Scratch,
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
struct Scratch {
    rows: Vec<f64>,
    places: Vec<f64>,
    /// Places and entries of B⁻¹ times a column.
    alpha: Vec<(usize, f64)>,
    along: Vec<f64>,
    touched: Vec<usize>,
    /// Columns and entries of a row of the tableau.
    row: Vec<(usize, f64)>,
    /// Columns whose gain has changed since they were looked at.
    suspects: Vec<usize>,
    is_suspect: Vec<bool>,
    hits: Vec<Hit>,
}

/// A kink that a step may reach: the step, the place of its column, the entry there, and the kink.
type Hit = (f64, usize, f64, Kink);

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
        Some(Self {
            columns: Arc::new(columns),
            kinks,
            basis: Basis::default(),
            at: Vertex::default(),
            work: Scratch::default(),
        })
    }

    /// Goes on from the state's vertex to the optimal one; false, with the state as it was, if it is no vertex or if
    /// nobody knows where it ends.
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
        let pull = exact.ws.kernel.largest(theta).max(f64::MIN_POSITIVE);
        let (mut left, mut standing, mut looks) = (PATIENCE + (s.n + s.m_general) / ROWS, 0, 0);
        let kept = self.choose_sides(s, caps);
        self.price(caps, theta);
        if !kept {
            if !self.restore(s, caps, &mut exact.ws.work, &mut left) || !self.choose_sides(s, caps) {
                return false;
            }
            self.price(caps, theta);
        }
        loop {
            if Stop::requested() {
                return false;
            }
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
        let Scratch { rows, places, along, .. } = &mut self.work;
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

    /// The sides of the rows in the basis; false if a row without a cap is on the wrong one. Such a row keeps its side.
    fn choose_sides(&mut self, s: &Softened, caps: &[Caps]) -> bool {
        let size = self.at.value.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let mut kept = true;
        for &v in &self.basis.head {
            for (i, sign) in self.kinks[v].iter().flatten().copied() {
                let (z, slack) = (sign * self.at.value[v] - s.d[i], WRONG_PIECE * size.max(s.d[i].abs()));
                let Caps { over, under } = caps[i];
                kept &= !(z > slack && over.is_infinite() || z < -slack && under.is_infinite());
                self.at.piece[i] = match self.at.piece[i] {
                    _ if over + under <= 0.0 => Piece::Below,
                    // Without any cap it has no side, with one it has the other.
                    _ if over.is_infinite() && under.is_infinite() => Piece::On,
                    _ if over.is_infinite() => Piece::Below,
                    _ if under.is_infinite() => Piece::Above,
                    _ if z > slack => Piece::Above,
                    _ if z < -slack => Piece::Below,
                    Piece::On => Piece::Below,
                    side => side,
                };
            }
        }
        kept
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
        let Scratch { rows, places, .. } = &mut self.work;
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
        let Scratch { suspects, is_suspect, .. } = &mut self.work;
        suspects.clear();
        suspects.extend(0..self.at.on.len());
        is_suspect.clear();
        is_suspect.resize(suspects.len(), true);
    }

    /// Takes what rounding left out of the values.
    fn refine(&mut self) {
        let Self { columns, basis, at, work, .. } = self;
        work.rows.fill(0.0);
        for (v, x) in at.value.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.column(v).for_each(|(i, a)| work.rows[i] -= a * x);
        }
        basis.solve(&mut work.rows, &mut work.places);
        basis.head.iter().zip(&work.places).for_each(|(v, y)| at.value[*v] += *y);
    }

    /// The same, and gains anew; false if the vertex has left its rows.
    fn settle(&mut self, s: &Softened, caps: &[Caps], theta: &[f64]) -> bool {
        self.refine();
        let right = self.choose_sides(s, caps);
        self.price(caps, theta);
        right
    }

    /// A column whose gain has changed may have a multiplier outside its caps.
    fn suspect(&mut self, v: usize) {
        if !std::mem::replace(&mut self.work.is_suspect[v], true) {
            self.work.suspects.push(v);
        }
    }

    /// A row of the tableau, B⁻¹[A, −I]: its entries off the basis, and 1 for the column in that place.
    fn read_row(&mut self, place: usize) {
        let Self { columns, basis, at, work, .. } = self;
        work.places.fill(0.0);
        work.places[place] = 1.0;
        basis.solve_transposed(&mut work.places, &mut work.rows);
        work.row.clear();
        work.row.push((basis.head[place], 1.0));
        for (i, rho) in work.rows.iter().enumerate().filter(|(_, rho)| **rho != 0.0) {
            if at.on[columns.n + i].is_some() {
                work.row.push((columns.n + i, -rho));
            }
            for (j, a) in columns.row(i) {
                if work.along[j] == 0.0 {
                    work.touched.push(j);
                }
                work.along[j] += a * rho;
            }
        }
        for j in work.touched.drain(..) {
            let along = std::mem::take(&mut work.along[j]);
            if along != 0.0 && at.on[j].is_some() {
                work.row.push((j, along));
            }
        }
    }

    /// B⁻¹ times column `q`; its entry in a place, if it is no rounding.
    fn column_in(&mut self, q: usize, place: usize) -> Option<f64> {
        let Scratch { rows, places, alpha, .. } = &mut self.work;
        rows.fill(0.0);
        self.columns.column(q).for_each(|(i, a)| rows[i] = a);
        self.basis.solve(rows, places);
        alpha.clear();
        alpha.extend(places.iter().copied().enumerate().filter(|(_, a)| *a != 0.0));
        Some(places[place]).filter(|a| a.abs() > PIVOT)
    }

    /// r −= ratio · (the row of the tableau read last), with the column that is in the basis.
    fn move_gains(&mut self, ratio: f64) {
        for &(v, along) in &self.work.row {
            self.at.gain[v] -= ratio * along;
        }
    }

    /// The rows that hold the vertex, one for each column off the basis.
    pub(crate) fn held(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.at.on.iter().enumerate().filter_map(|(v, on)| Some((v, (*on)?.0)))
    }

    /// H⁻¹ for these rows alone, at their weights.
    pub(crate) fn factor(&self, weight: impl Fn(usize) -> f64, units: Vec<f64>) -> AtVertex {
        let kinks = self.held().map(|(v, i)| (v, weight(i)));
        AtVertex::new(Arc::clone(&self.columns), self.basis.clone(), kinks, units)
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
