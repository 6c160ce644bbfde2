//! The softened problem: every row a multiplier between two caps.
//!
//! All rows of a problem are stacked (soft, at most, equal, then bounds) as z = C'x − d', and the problem becomes
//!
//! ```text
//! max_x  θᵀx − xᵀQx − Σᵢ φᵢ(zᵢ)        φᵢ' = λᵢ(zᵢ) ∈ [−γ⁻ᵢ, γ⁺ᵢ]
//! ```
//!
//! with a multiplier law λᵢ that is 'below' (= −γ⁻) for z ≤ lo, rises linearly with slope w over (lo, hi], and is 'above'
//! (= γ⁺) beyond. A ± pair (equality, two-sided soft row, l = u) is one row with two caps. The surrogate of the paper and
//! the exact problem differ in their laws only, so one engine ([`crate::engine::path`]) solves both.

use crate::engine::hinges::{Groups, Hinges};
use std::sync::Arc;

use crate::linalg::simd::Kernel;
use crate::linalg::sparse_ldl::Analysis;
use crate::problem::form::{analyse, doubled, stack};
use crate::problem::{Coefficients, Form, Row, RowId, View};

/// Which piece of its multiplier law a row is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Piece {
    /// z ≤ lo: the multiplier is at its lower cap (0 for a one-sided row).
    Below,
    /// lo < z ≤ hi: the quadratic piece; the paper's M.
    On,
    /// z > hi: the multiplier is at its upper cap; the paper's U.
    Above,
}

/// A multiplier law: `anchor + slope·z` clipped to `[below, above]`, with breakpoints at `lo` and `hi`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    pub(crate) anchor: f64,
    pub(crate) slope: f64,
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    pub(crate) below: f64,
    pub(crate) above: f64,
}

impl Law {
    /// A row that costs nothing: its multiplier is 0 everywhere and it has no breakpoint.
    pub(crate) const IDLE: Law =
        Law { anchor: 0.0, slope: 0.0, lo: f64::INFINITY, hi: f64::INFINITY, below: 0.0, above: 0.0 };

    /// The paper's surrogate: λ runs from −under to over while z runs over |z| ≤ 1/4K.
    pub(crate) fn smooth(over: f64, under: f64, k: f64) -> Self {
        let slope = 2.0 * k * (over + under);
        if slope <= 0.0 {
            return Self::IDLE;
        }
        let h = 0.25 / k;
        Self { anchor: 0.5 * (over - under), slope, lo: -h, hi: h, below: -under, above: over }
    }

    /// The same law without its caps: what a hard row gets when its multiplier proved too small.
    pub(crate) fn uncapped(mut self) -> Self {
        if self.above > 0.0 {
            (self.hi, self.above) = (f64::INFINITY, f64::INFINITY);
        }
        if self.below < 0.0 {
            (self.lo, self.below) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        }
        self
    }

    /// The law of the exact problem near the multiplier `at`: kinks at z = 0, slope only for the proximal step.
    pub(crate) fn exact(over: f64, under: f64, at: f64, slope: f64) -> Self {
        if over + under <= 0.0 {
            return Self::IDLE;
        }
        let lo = (-under - at) / slope;
        let hi = (over - at) / slope;
        Self { anchor: at, slope, lo, hi, below: -under, above: over }
    }

    /// The piece of `z`.
    pub(crate) fn piece(&self, z: f64) -> Piece {
        if z <= self.lo {
            Piece::Below
        } else if z <= self.hi {
            Piece::On
        } else {
            Piece::Above
        }
    }

    /// Where z leaves a piece, downwards and upwards.
    pub(crate) fn ends(&self, piece: Piece) -> (f64, f64) {
        match piece {
            Piece::Below => (f64::NEG_INFINITY, self.lo),
            Piece::On => (self.lo, self.hi),
            Piece::Above => (self.hi, f64::INFINITY),
        }
    }

    /// λ' on a piece: the weight of the row in H.
    pub(crate) fn weight(&self, piece: Piece) -> f64 {
        if piece == Piece::On { self.slope } else { 0.0 }
    }

    /// λ on a given piece, extended beyond its ends (the frozen pieces of the vertex mode).
    pub(crate) fn multiplier(&self, piece: Piece, z: f64) -> f64 {
        match piece {
            Piece::Below => self.below,
            Piece::On => self.anchor + self.slope * z,
            Piece::Above => self.above,
        }
    }

    /// λ(z).
    pub(crate) fn clipped(&self, z: f64) -> f64 {
        self.multiplier(self.piece(z), z)
    }
}

/// A bound: `sign · x[var] ≤ d`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) var: usize,
    pub(crate) sign: f64,
}

/// The stacked rows with their laws.
#[derive(Clone, Debug)]
pub(crate) struct Softened {
    pub(crate) n: usize,
    /// 2Q, symmetric.
    pub(crate) two_q: Option<Coefficients>,
    /// Largest absolute entry of 2Q.
    pub(crate) curvature: f64,
    /// General rows: all but bounds.
    pub(crate) general: Coefficients,
    /// Number of general rows.
    pub(crate) m_general: usize,
    /// Where these are sparse: the symbolic analysis of them and 2Q.
    pub(crate) analysis: Option<Arc<Analysis>>,
    /// Bounds, after the general rows.
    pub(crate) unit: Vec<Unit>,
    /// What each row is.
    pub(crate) ids: Vec<RowId>,
    /// d'.
    pub(crate) d: Vec<f64>,
    /// Largest absolute entry of each row.
    pub(crate) reach: Vec<f64>,
    pub(crate) laws: Vec<Law>,
    /// Rows with many breakpoints, in order; their laws are idle, and what they do is added where laws are looked at.
    pub(crate) hinges: Vec<Hinges>,
    /// The smallest force that is not rounding; residuals are measured against no less.
    pub(crate) floor: f64,
}

impl Softened {
    /// Stacks the rows of a view; laws are idle until set.
    pub(crate) fn new(view: &View<'_>, groups: &Groups) -> Self {
        let n = view.shape.n;
        let mut s = Self {
            n,
            two_q: None,
            curvature: 0.0,
            general: Coefficients::empty(n),
            m_general: 0,
            analysis: None,
            unit: Vec::new(),
            ids: Vec::new(),
            d: Vec::new(),
            reach: Vec::new(),
            laws: Vec::new(),
            hinges: Vec::new(),
            floor: 0.0,
        };
        s.load(view, groups);
        s
    }

    /// Stacks the rows of another view into the same memory; each group of soft rows is one.
    pub(crate) fn load(&mut self, view: &View<'_>, groups: &Groups) {
        let (shape, rows) = (view.shape, view.shape.general() + 2 * view.shape.n);
        self.d.clear();
        self.ids.clear();
        self.d.reserve(rows);
        self.ids.reserve(rows);
        let [(_, limits), (_, at_most), (_, equal)] = view.rows();
        match groups.rows() {
            None => {
                self.hinges.clear();
                self.d.extend_from_slice(limits);
                self.ids.extend((0..shape.soft).map(RowId::Soft));
            }
            Some(rows) => self.load_groups(view, rows),
        }
        self.d.extend_from_slice(at_most);
        self.d.extend_from_slice(equal);
        self.ids.extend((shape.soft..shape.general()).map(|i| shape.row(i)));
        self.m_general = self.d.len();
        match view.form() {
            Form::Dense => self.load_dense(view, groups),
            Form::Sparse => self.load_sparse(view, groups),
        }
        self.unit.clear();
        for (j, (&l, &u)) in view.lower.iter().zip(view.upper).enumerate() {
            // A zero-width box is one two-sided row.
            if l > f64::NEG_INFINITY && l < u {
                self.unit.push(Unit { var: j, sign: -1.0 });
                self.ids.push(RowId::Lower(j));
                self.d.push(-l);
            }
            if u < f64::INFINITY {
                self.unit.push(Unit { var: j, sign: 1.0 });
                self.ids.push(RowId::Upper(j));
                self.d.push(u);
            }
        }
        self.reach.clear();
        self.reach.resize(self.d.len(), 1.0);
        if self.general.pattern().is_dense() {
            let reach = &mut self.reach[..self.m_general];
            Kernel::new().largest_of_rows(self.general.as_slice(), self.n, reach);
        } else {
            let largest = |row: Row<'_>| row.values().iter().fold(0.0, |m: f64, a| m.max(a.abs()));
            self.reach.iter_mut().zip(self.general.view().iter()).for_each(|(r, row)| *r = largest(row));
        }
        self.laws.clear();
        self.laws.resize(self.d.len(), Law::IDLE);
        self.measure_curvature();
    }

    fn load_dense(&mut self, view: &View<'_>, groups: &Groups) {
        let [(soft, _), hard @ ..] = view.rows();
        self.general.refill(|values| {
            values.reserve(self.m_general * view.shape.n);
            match groups.rows() {
                None => values.extend_from_slice(&soft.dense()),
                Some(rows) => rows
                    .iter()
                    .for_each(|members| values.extend(soft.row(members[0] as usize).to_vec(view.shape.n))),
            }
            hard.iter().for_each(|(rows, _)| values.extend_from_slice(&rows.dense()));
        });
        match (view.quadratic(), &mut self.two_q) {
            (None, two_q) => *two_q = None,
            (Some(q), two_q) => {
                let (n, q) = (view.shape.n, q.dense());
                let two_q = two_q.get_or_insert_with(|| Coefficients::empty(n));
                two_q.refill(|out| out.extend((0..n * n).map(|ij| q[ij] + q[(ij % n) * n + ij / n])));
            }
        }
    }

    /// What has the pattern of last time, or the problem's own, has its analysis.
    fn load_sparse(&mut self, view: &View<'_>, groups: &Groups) {
        let n = view.shape.n;
        let [(soft, _), hard @ ..] = view.rows();
        let mut general = Coefficients::compressed(n);
        match groups.rows() {
            None => stack(&mut general, soft, 0..view.shape.soft),
            Some(rows) => stack(&mut general, soft, rows.iter().map(|members| members[0] as usize)),
        }
        for (rows, limits) in hard {
            stack(&mut general, rows, 0..limits.len());
        }
        let two_q = view.quadratic().map(doubled);
        let alike = |a: &Option<Coefficients>, b: &Option<Coefficients>| {
            a.as_ref().map(Coefficients::pattern) == b.as_ref().map(Coefficients::pattern)
        };
        if self.analysis.is_none()
            || self.general.pattern() != general.pattern()
            || !alike(&self.two_q, &two_q)
        {
            let own = view.analysis().filter(|own| {
                own.fits(
                    two_q.as_ref().and_then(|q| q.pattern().compressed()),
                    general.pattern().compressed(),
                )
            });
            self.analysis =
                own.map(Arc::clone).or_else(|| analyse(n, two_q.as_ref(), &general).map(Arc::new));
        }
        (self.general, self.two_q) = (general, two_q);
    }

    /// The largest absolute entry of 2Q anew.
    pub(crate) fn measure_curvature(&mut self) {
        let entries = self.two_q.iter().flat_map(Coefficients::as_slice);
        self.curvature = entries.fold(0.0, |m, q| m.max(q.abs()));
    }

    /// Takes the caps off the hard rows.
    pub(crate) fn uncap(&mut self) {
        for (law, id) in self.laws.iter_mut().zip(&self.ids) {
            if !matches!(id, RowId::Soft(_)) {
                *law = law.uncapped();
            }
        }
    }

    /// Number of rows.
    pub(crate) fn m(&self) -> usize {
        self.d.len()
    }

    /// True if row `i` is two-sided by nature: an equality or a zero-width box.
    pub(crate) fn is_equality(&self, i: usize, view: &View<'_>) -> bool {
        match self.ids[i] {
            RowId::Equal(_) => true,
            RowId::Upper(j) => view.lower[j] == view.upper[j],
            _ => false,
        }
    }

    /// Column and coefficient of what row `i`, general or bound, has.
    pub(crate) fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let unit = i.checked_sub(self.m_general).map(|at| self.unit[at]);
        let row = unit.is_none().then(|| self.general.row(i));
        row.into_iter().flat_map(|row| row.iter()).chain(unit.map(|u| (u.var, u.sign)))
    }

    /// Writes row `i`, general or bound, to `out`.
    pub(crate) fn write_row(&self, i: usize, out: &mut [f64]) {
        if i < self.m_general && self.analysis.is_none() {
            out.copy_from_slice(self.general.row(i).values());
        } else {
            out.fill(0.0);
            self.entries(i).for_each(|(j, a)| out[j] = a);
        }
    }

    /// out += s · row i
    pub(crate) fn add_row(&self, k: Kernel, i: usize, s: f64, out: &mut [f64]) {
        if i < self.m_general && self.analysis.is_none() {
            k.axpy(s, self.general.row(i).values(), out);
        } else {
            self.entries(i).for_each(|(j, a)| out[j] += s * a);
        }
    }

    /// out = C'x
    pub(crate) fn apply(&self, k: Kernel, x: &[f64], out: &mut [f64]) {
        let (general, unit) = out.split_at_mut(self.m_general);
        self.general.view().apply(k, x, general);
        for (o, u) in unit.iter_mut().zip(&self.unit) {
            *o = u.sign * x[u.var];
        }
    }

    /// out = C'x for the rows off their quadratic piece, 0 for those on it.
    pub(crate) fn apply_off(&self, k: Kernel, piece: &[Piece], x: &[f64], out: &mut [f64]) {
        let (dense, unit) = out.split_at_mut(self.m_general);
        let (dense_piece, unit_piece) = piece.split_at(self.m_general);
        if self.analysis.is_none() {
            k.matvec_off(self.general.as_slice(), dense_piece, x, dense);
        } else {
            for ((o, row), piece) in dense.iter_mut().zip(self.general.view().iter()).zip(dense_piece) {
                *o = if *piece == Piece::On { 0.0 } else { row.dot(x) };
            }
        }
        for ((o, u), piece) in unit.iter_mut().zip(&self.unit).zip(unit_piece) {
            *o = if *piece == Piece::On { 0.0 } else { u.sign * x[u.var] };
        }
    }

    /// out += C'ᵀy
    pub(crate) fn apply_t(&self, k: Kernel, y: &[f64], out: &mut [f64]) {
        let (general, unit) = y.split_at(self.m_general);
        self.general.view().apply_t(k, general, out);
        for (y, u) in unit.iter().zip(&self.unit) {
            out[u.var] += y * u.sign;
        }
    }

    /// out = 2Qx + C'ᵀy, the right-hand side of stationarity θ = 2Qx + C'ᵀλ.
    pub(crate) fn force(&self, k: Kernel, x: &[f64], y: &[f64], out: &mut [f64]) {
        match &self.two_q {
            Some(two_q) => two_q.view().apply(k, x, out),
            None => out.fill(0.0),
        }
        self.apply_t(k, y, out);
    }

    /// Stiffness of the springs that hold variables which no active row holds: of the order of the rows' own slopes.
    pub(crate) fn spring(&self) -> f64 {
        let laws = self.laws.iter().map(|l| l.slope).chain(self.hinges.iter().map(Hinges::steepest));
        let steepest = laws.fold(0.0_f64, f64::max);
        if steepest > 0.0 { steepest } else { 1.0 }
    }

    /// z = C'x − d'
    pub(crate) fn excess(&self, k: Kernel, x: &[f64], z: &mut [f64]) {
        self.apply(k, x, z);
        for (z, d) in z.iter_mut().zip(&self.d) {
            *z -= d;
        }
    }
}
