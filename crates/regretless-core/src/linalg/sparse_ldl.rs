//! The factor of the augmented matrix, for problems whose rows are sparse.
//!
//! ```text
//! K = [ 2Q + D   C'ᵀ  ]        H⁻¹b is the first part of K⁻¹(b, 0), E = W⁻¹
//!     [ C'       −E   ]
//! ```
//!
//! K is quasidefinite up to a shift ±δ by block, so that LDLᵀ exists for every order of its rows: the one that fills least is
//! found once a problem (approximate minimum degree) and serves every set of pieces. A row off its slope stays in the pattern,
//! decoupled: its entries are 0 and its diagonal is −1. K is scaled to entries of size 1 by powers of two first, so that δ
//! means the same everywhere, and refinement against K without δ takes the shift's effect away.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor::LdltRegularization;
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};

use crate::linalg::simd::Kernel;

/// The shift of K's diagonal, whose entries are of size 1.
pub(crate) const SHIFT: f64 = 1e-8;
/// Where K is regular and badly conditioned, refinement does not take such a shift away: one that leaves K regular by itself.
pub(crate) const SMALL_SHIFT: f64 = 1e-12;
/// What stays of the shift in one minimal residual: where K is singular, rounding would be blown up without bound.
const KEPT: f64 = 1e-3;
/// Where so much of b is left, K does not see it.
const UNSEEN: f64 = 1e-6;
/// Steps that tell what K does not see from what it sees, each by a factor of 10⁸ times the size of what is seen.
const SIFTS: usize = 6;
/// A pivot below this share of the shift, or of the wrong sign, is rounding: the shift takes its place.
const LOST: f64 = 1e-5;
/// Sweeps that bring the entries of K to size 1.
const SWEEPS: usize = 3;
/// Directions of one minimal residual, and how often they are started anew.
const DIRECTIONS: usize = 12;
const RESTARTS: usize = 4;
/// A refinement that leaves more than this share of the residual is the last.
const SLOW: f64 = 0.5;
/// A residual below this share of the right-hand side is rounding.
const ROUNDING: f64 = 1e-15;

/// The stored entries of compressed rows: where each row starts, and the columns.
#[derive(Clone, Copy)]
pub(crate) struct Compressed<'a> {
    pub(crate) starts: &'a [usize],
    pub(crate) columns: &'a [usize],
}

impl<'a> Compressed<'a> {
    fn row(&self, i: usize) -> &'a [usize] {
        &self.columns[self.starts[i]..self.starts[i + 1]]
    }
}

/// The symbolic analysis of K: its pattern, the order and the fill. Made once, shared by all.
pub(crate) struct Analysis {
    /// Variables and rows.
    pub(crate) n: usize,
    pub(crate) m: usize,
    /// Upper triangle of K by columns; the diagonal is the last entry of each.
    starts: Vec<usize>,
    rows: Vec<usize>,
    symbolic: SymbolicCholesky<usize>,
    /// Multiplications and additions of one factorisation.
    pub(crate) flops: f64,
}

impl std::fmt::Debug for Analysis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { n, m, flops, .. } = self;
        write!(f, "Analysis {{ n: {n}, m: {m}, fill: {}, flops: {flops} }}", self.fill())
    }
}

impl Analysis {
    /// Of n variables, with a symmetric 2Q or none, and the general rows. `None` if memory or indices do not suffice.
    pub(crate) fn new(n: usize, quadratic: Option<Compressed<'_>>, general: Compressed<'_>) -> Option<Self> {
        let m = general.starts.len() - 1;
        let (mut starts, mut rows) = (Vec::with_capacity(n + m + 1), Vec::new());
        starts.push(0);
        for j in 0..n {
            rows.extend(quadratic.iter().flat_map(|q| q.row(j)).take_while(|i| **i < j));
            rows.push(j);
            starts.push(rows.len());
        }
        for i in 0..m {
            rows.extend_from_slice(general.row(i));
            rows.push(n + i);
            starts.push(rows.len());
        }
        let symbolic = {
            let k = SymbolicSparseColMatRef::new_checked(n + m, n + m, &starts, None, &rows);
            factorize_symbolic_cholesky(
                k,
                Side::Upper,
                SymmetricOrdering::Amd,
                CholeskySymbolicParams::default(),
            )
            .ok()?
        };
        let flops = flops(&symbolic);
        Some(Self { n, m, starts, rows, symbolic, flops })
    }

    /// True if it is the analysis of these rows and this 2Q.
    pub(crate) fn fits(&self, quadratic: Option<Compressed<'_>>, general: Option<Compressed<'_>>) -> bool {
        let Self { n, m, starts, rows, .. } = self;
        let column = |j: usize| &rows[starts[j]..starts[j + 1] - 1];
        let left = |j: usize| {
            let row = quadratic.map_or(&[][..], |q| q.row(j));
            &row[..row.partition_point(|i| *i < j)]
        };
        general.is_some_and(|g| {
            g.starts.len() == m + 1
                && quadratic.is_none_or(|q| q.starts.len() == n + 1)
                && (0..*m).all(|i| column(n + i) == g.row(i))
                && (0..*n).all(|j| column(j) == left(j))
        })
    }

    /// Entries of L.
    pub(crate) fn fill(&self) -> usize {
        self.symbolic.len_val()
    }

    /// Memory of one factor, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        (self.fill() + self.rows.len() + self.n + self.m) * size_of::<f64>()
    }

    /// An empty K to fill in.
    pub(crate) fn zeros(self: &Arc<Self>) -> Augmented {
        Augmented { analysis: Arc::clone(self), values: vec![0.0; self.rows.len()] }
    }
}

/// Multiplications and additions of a factorisation with this structure: Σ over the columns of L of their squared length.
fn flops(symbolic: &SymbolicCholesky<usize>) -> f64 {
    let square = |length: usize| (length as f64) * (length as f64);
    match symbolic.raw() {
        SymbolicCholeskyRaw::Simplicial(s) => s.col_ptr().windows(2).map(|c| square(c[1] - c[0])).sum(),
        SymbolicCholeskyRaw::Supernodal(s) => (0..s.n_supernodes())
            .map(|i| {
                let below = s.supernode(i).pattern().len();
                let width = s.supernode_end()[i] - s.supernode_begin()[i];
                (1..=width).map(|k| square(below + k)).sum::<f64>()
            })
            .sum(),
    }
}

/// K by its entries.
#[derive(Clone, Debug)]
pub(crate) struct Augmented {
    analysis: Arc<Analysis>,
    values: Vec<f64>,
}

impl Augmented {
    /// The entries of row `j` of 2Q left of the diagonal, then the diagonal of 2Q + D.
    pub(crate) fn variable(&mut self, j: usize) -> &mut [f64] {
        &mut self.values[self.analysis.starts[j]..self.analysis.starts[j + 1]]
    }

    /// The entries of general row `i`, then its −E.
    pub(crate) fn row(&mut self, i: usize) -> &mut [f64] {
        self.variable(self.analysis.n + i)
    }

    /// Takes the variables that are `fixed` out: their rows and columns are those of the identity.
    pub(crate) fn fix(&mut self, fixed: impl Fn(usize) -> bool) {
        let Analysis { n, starts, rows, .. } = &*self.analysis;
        for (j, ends) in starts.windows(2).enumerate() {
            for at in ends[0]..ends[1] - 1 {
                if fixed(rows[at]) || (j < *n && fixed(j)) {
                    self.values[at] = 0.0;
                }
            }
            if j < *n && fixed(j) {
                self.values[ends[1] - 1] = 1.0;
            }
        }
    }

    /// Factors K; `None` if it holds no numbers.
    pub(crate) fn factor(self) -> Option<SparseLdl> {
        self.shifted(SHIFT)
    }

    /// Factors K with that shift.
    pub(crate) fn shifted(self, shift: f64) -> Option<SparseLdl> {
        let Self { analysis, mut values } = self;
        if values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let scale = scales(&analysis, &values);
        for (j, ends) in analysis.starts.windows(2).enumerate() {
            for at in ends[0]..ends[1] {
                values[at] *= scale[analysis.rows[at]] * scale[j];
            }
        }
        let mut shifted = values.clone();
        for j in 0..analysis.n + analysis.m {
            let diagonal = analysis.starts[j + 1] - 1;
            shifted[diagonal] += if j < analysis.n { shift } else { -shift };
        }
        let size = analysis.n + analysis.m;
        let k = SymbolicSparseColMatRef::new_checked(size, size, &analysis.starts, None, &analysis.rows);
        let need = analysis.symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Spec::default());
        let mut l = vec![0.0; analysis.fill()];
        let signs: Vec<i8> = (0..size).map(|j| if j < analysis.n { 1 } else { -1 }).collect();
        let regular = LdltRegularization {
            dynamic_regularization_signs: Some(&signs),
            dynamic_regularization_delta: shift,
            dynamic_regularization_epsilon: LOST * shift,
        };
        let factored = analysis.symbolic.factorize_numeric_ldlt(
            &mut l,
            SparseColMatRef::new(k, &shifted[..]),
            Side::Upper,
            regular,
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(need)),
            Spec::default(),
        );
        factored.ok()?;
        Some(SparseLdl { analysis, values, scale, l, shift })
    }
}

/// Powers of two that bring the largest entry of every row of K near 1.
fn scales(analysis: &Analysis, values: &[f64]) -> Vec<f64> {
    let mut scale = vec![1.0_f64; analysis.n + analysis.m];
    let mut largest = vec![0.0_f64; scale.len()];
    for _ in 0..SWEEPS {
        largest.fill(0.0);
        for (j, ends) in analysis.starts.windows(2).enumerate() {
            for at in ends[0]..ends[1] {
                let i = analysis.rows[at];
                let size = (values[at] * scale[i] * scale[j]).abs();
                largest[i] = largest[i].max(size);
                largest[j] = largest[j].max(size);
            }
        }
        for (scale, largest) in scale.iter_mut().zip(&largest) {
            if *largest > 0.0 {
                *scale *= (-0.5 * largest.log2()).round().exp2();
            }
        }
    }
    scale
}

/// K = LDLᵀ.
#[derive(Clone, Debug)]
pub(crate) struct SparseLdl {
    analysis: Arc<Analysis>,
    /// The entries of K, scaled and without the shift.
    values: Vec<f64>,
    scale: Vec<f64>,
    l: Vec<f64>,
    shift: f64,
}

impl SparseLdl {
    /// Memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.analysis.bytes()
    }

    /// Variables and rows.
    pub(crate) fn size(&self) -> usize {
        self.scale.len()
    }

    /// b = H⁻¹b for the n variables. Where H is singular, that of a pseudo-inverse: of b and of the solution nothing counts that
    /// K does not see.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        let mut all = vec![0.0; self.scale.len()];
        let n = self.analysis.n;
        all[..n].copy_from_slice(&b[..n]);
        if self.solve_augmented(&mut all) > UNSEEN {
            all.fill(0.0);
            all[..n].copy_from_slice(&b[..n]);
            all.iter_mut().zip(&self.scale).for_each(|(b, s)| *b *= s);
            self.drop_unseen(&mut all);
            all.iter_mut().zip(&self.scale).for_each(|(b, s)| *b /= s);
            self.solve_augmented(&mut all);
            all.iter_mut().zip(&self.scale).for_each(|(x, s)| *x /= s);
            self.drop_unseen(&mut all);
            all.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
        }
        b[..n].copy_from_slice(&all[..n]);
    }

    /// Directions of the variables that H does not see; none if it sees all. At most `count` of them, from vectors that lie
    /// across each other.
    pub(crate) fn unseen(&self, count: usize) -> Vec<Vec<f64>> {
        let n = self.analysis.n;
        let probe = |p: usize| {
            let mut v = vec![0.0; self.scale.len()];
            // Fractions of multiples of an irrational number: the same on every machine.
            v[..n].iter_mut().enumerate().for_each(|(j, v)| {
                *v = (0.5 + (j + 1) as f64 * (p + 1) as f64 * 0.618_033_988_749_895 + p as f64 * 0.3).fract()
                    - 0.5;
            });
            v
        };
        let mut first = probe(0);
        first.iter_mut().zip(&self.scale).for_each(|(v, s)| *v /= s);
        if self.solve_augmented(&mut first) <= UNSEEN {
            return Vec::new();
        }
        let each = (0..count).map(|p| {
            let (mut v, whole) = (probe(p), probe(p));
            self.drop_unseen(&mut v);
            let scaled = whole.iter().zip(&v).zip(&self.scale);
            scaled.take(n).map(|((whole, seen), s)| (whole - seen) * s).collect()
        });
        each.collect()
    }

    /// Takes out of v what K does not see: with M the shifted K, (1 − KM⁻¹)ᵏv is that, as k grows.
    fn drop_unseen(&self, v: &mut [f64]) {
        let mut unseen = v.to_vec();
        for _ in 0..SIFTS {
            let mut step = unseen.clone();
            self.divide(&mut step);
            self.subtract_product(&step, &mut unseen);
        }
        v.iter_mut().zip(&unseen).for_each(|(v, u)| *v -= u);
    }

    /// b = K⁻¹b for variables and rows. GMRES on K with the shifted factor as its preconditioner: plain refinement crawls along
    /// directions in which the shift is as large as K.
    /// Returns what is left of the equations, as a share of b.
    pub(crate) fn solve_augmented(&self, b: &mut [f64]) -> f64 {
        self.solve_to(b, ROUNDING)
    }

    /// The same until no more than a share of b is left.
    pub(crate) fn solve_to(&self, b: &mut [f64], share: f64) -> f64 {
        b.iter_mut().zip(&self.scale).for_each(|(b, s)| *b *= s);
        let whole = norm(b);
        let goal = share * whole;
        let mut x = vec![0.0; b.len()];
        let mut left = norm(b);
        for _ in 0..RESTARTS {
            let mut r = b.to_vec();
            self.subtract_product(&x, &mut r);
            let step = self.minimal_residual(r, goal);
            let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + s).collect();
            let mut r = b.to_vec();
            self.subtract_product(&next, &mut r);
            let size = norm(&r);
            // Not less, or no number.
            if size.partial_cmp(&left) != Some(std::cmp::Ordering::Less) {
                break;
            }
            x = next;
            let slow = size > SLOW * left;
            left = size;
            if size <= goal || slow {
                break;
            }
        }
        for ((b, x), s) in b.iter_mut().zip(&x).zip(&self.scale) {
            *b = x * s;
        }
        if whole > 0.0 { left / whole } else { 0.0 }
    }

    /// The step that makes ‖r − K·step‖ least over a few directions (flexible GMRES; Saad 1993), with a trace of the shift in K.
    fn minimal_residual(&self, r: Vec<f64>, goal: f64) -> Vec<f64> {
        let beta = norm(&r);
        let mut step = vec![0.0; r.len()];
        if beta == 0.0 || !beta.is_finite() {
            return step;
        }
        let mut basis = vec![r];
        basis[0].iter_mut().for_each(|v| *v /= beta);
        let mut directions: Vec<Vec<f64>> = Vec::new();
        // Columns of the triangular matrix, the rotations that made it so, and the rotated right-hand side.
        let (mut columns, mut rotations): (Vec<Vec<f64>>, Vec<(f64, f64)>) = (Vec::new(), Vec::new());
        let (mut rhs, kept) = (vec![beta], KEPT * self.shift);
        for k in 0..DIRECTIONS {
            let mut z = basis[k].clone();
            self.divide(&mut z);
            let mut w = vec![0.0; z.len()];
            self.subtract_product(&z, &mut w);
            let n = self.analysis.n;
            for (j, (w, z)) in w.iter_mut().zip(&z).enumerate() {
                *w = if j < n { kept * z - *w } else { -kept * z - *w };
            }
            let before = norm(&w);
            let mut column = Vec::with_capacity(k + 2);
            for v in &basis {
                let along = dot(v, &w);
                w.iter_mut().zip(v).for_each(|(w, v)| *w -= along * v);
                column.push(along);
            }
            let rest = norm(&w);
            for (i, (c, s)) in rotations.iter().enumerate() {
                let (a, b) = (column[i], column[i + 1]);
                (column[i], column[i + 1]) = (c * a + s * b, c * b - s * a);
            }
            let length = column[k].hypot(rest);
            if length == 0.0 || !length.is_finite() {
                break;
            }
            let (c, s) = (column[k] / length, rest / length);
            column[k] = length;
            rotations.push((c, s));
            columns.push(column);
            directions.push(z);
            let last = rhs[k];
            rhs[k] = c * last;
            rhs.push(-s * last);
            if rest <= ROUNDING * before || rhs[k + 1].abs() <= goal.max(ROUNDING * beta) {
                break;
            }
            w.iter_mut().for_each(|w| *w /= rest);
            basis.push(w);
        }
        let count = columns.len();
        let mut y = rhs[..count].to_vec();
        for k in (0..count).rev() {
            y[k] /= columns[k][k];
            for i in 0..k {
                y[i] -= columns[k][i] * y[k];
            }
        }
        for (y, z) in y.iter().zip(&directions) {
            step.iter_mut().zip(z).for_each(|(s, z)| *s += y * z);
        }
        step
    }

    fn divide(&self, b: &mut [f64]) {
        let symbolic = &self.analysis.symbolic;
        let mut memory = MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        let size = b.len();
        LdltRef::new(symbolic, &self.l[..]).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(b, size, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }

    /// r −= Kx
    fn subtract_product(&self, x: &[f64], r: &mut [f64]) {
        let Analysis { starts, rows, .. } = &*self.analysis;
        for (j, ends) in starts.windows(2).enumerate() {
            let (last, mut sum) = (ends[1] - 1, 0.0);
            for at in ends[0]..last {
                let i = rows[at];
                sum += self.values[at] * x[i];
                r[i] -= self.values[at] * x[j];
            }
            r[j] -= sum + self.values[last] * x[j];
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    Kernel::new().dot(a, b)
}

fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

/// Whether a symmetric matrix, given by all of its stored entries, is positive definite once `ridge` is added to its diagonal,
/// which is stored; `None` if memory or indices do not suffice to say.
pub(crate) fn is_positive(pattern: Compressed<'_>, values: &[f64], ridge: f64) -> Option<bool> {
    let n = pattern.starts.len() - 1;
    let analysis = Analysis::new(n, Some(pattern), Compressed { starts: &[0], columns: &[] })?;
    let mut upper = Vec::with_capacity(analysis.rows.len());
    for j in 0..n {
        let row = pattern.row(j).iter().zip(&values[pattern.starts[j]..]);
        upper.extend(row.take_while(|(i, _)| **i <= j).map(|(i, v)| v + if *i == j { ridge } else { 0.0 }));
    }
    let k = SymbolicSparseColMatRef::new_checked(n, n, &analysis.starts, None, &analysis.rows);
    let need = analysis.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default());
    let mut l = vec![0.0; analysis.fill()];
    let factored = analysis.symbolic.factorize_numeric_llt(
        &mut l,
        SparseColMatRef::new(k, &upper[..]),
        Side::Upper,
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(need)),
        Spec::default(),
    );
    Some(factored.is_ok())
}
