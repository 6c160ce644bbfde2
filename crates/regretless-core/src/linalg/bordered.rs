//! The sparse factor of H with a border: the rows whose weight has changed since it was made.
//!
//! ```text
//! H = H₀ + A diag(Δ) Aᵀ        H⁻¹b = y − U G⁻¹ Aᵀy,   y = H₀⁻¹b,   U = H₀⁻¹A,   G = diag(Δ)⁻¹ + AᵀU
//! ```
//!
//! G is as small as the border. It is symmetric and indefinite: on the way of an LP a row leaves that alone held its direction,
//! 1 − w aᵀH₀⁻¹a = 0, and the row that took its place is the other half of a pivot of two. Once the border is full, or G has
//! lost its digits, H is factored anew. Where H₀ is a vertex, solves with it are as cheap as a product: U is then not kept, and
//! U G⁻¹Aᵀy is H₀⁻¹ times A G⁻¹Aᵀy.

use std::sync::Arc;

use faer::linalg::solvers::{Lblt, Solve};
use faer::{Mat, MatMut, Side};

use crate::linalg::at_vertex::AtVertex;
use crate::linalg::hessian::{Factor, Hessian};
use crate::linalg::simd::{Kernel, padded};
use crate::linalg::sparse_ldl::SparseLdl;

/// Rows of a full border, beyond those that it began with. Each costs a product of n terms a solve; a factorisation costs that
/// of some hundred solves.
const FULL: usize = 64;
/// A weight below this share of what it was is none.
const GONE: f64 = 1e-12;

/// H by the factor of H₀ and what has changed since.
#[derive(Clone, Debug)]
pub(crate) struct Bordered {
    base: Arc<Base>,
    border: Vec<Column>,
    /// Of G.
    small: Option<Lblt<f64>>,
    /// Rows that the border began with.
    begun: usize,
    lost: bool,
}

/// The factor of H₀.
#[derive(Debug)]
enum Base {
    Augmented(SparseLdl),
    Vertex(Box<AtVertex>),
}

impl Base {
    fn solve(&self, b: &mut [f64]) {
        match self {
            Self::Augmented(factor) => factor.solve(b),
            Self::Vertex(factor) => factor.solve(b),
        }
    }
}

/// A row whose weight has changed.
#[derive(Clone, Debug)]
struct Column {
    name: usize,
    /// Its entries a.
    entries: Vec<(usize, f64)>,
    /// Δ, and the largest it was.
    change: f64,
    most: f64,
    /// H₀⁻¹a; nothing where H₀ is a vertex.
    u: Vec<f64>,
    /// aᵀU for itself and the columns before.
    products: Vec<f64>,
}

impl Column {
    fn dot(&self, x: &[f64]) -> f64 {
        self.entries.iter().map(|(j, a)| a * x[*j]).sum()
    }
}

/// A row a that meets the factor.
#[derive(Clone, Debug)]
pub(crate) struct BorderedRow {
    n: usize,
    name: usize,
    a: Vec<f64>,
    /// H₀⁻¹a and H⁻¹a.
    base: Vec<f64>,
    u: Vec<f64>,
}

impl From<SparseLdl> for Bordered {
    fn from(base: SparseLdl) -> Self {
        Self::of_base(Base::Augmented(base))
    }
}

impl Bordered {
    fn of_base(base: Base) -> Self {
        Self { base: Arc::new(base), border: Vec::new(), small: None, begun: 0, lost: false }
    }

    /// H of a vertex and some more rows, each with its entries and weight.
    pub(crate) fn at_vertex<R: Iterator<Item = (usize, f64)>>(
        base: AtVertex,
        n: usize,
        more: impl Iterator<Item = (usize, R, f64)>,
    ) -> Self {
        let mut own = Self::of_base(Base::Vertex(Box::new(base)));
        let mut u = vec![0.0; n];
        for (name, entries, weight) in more {
            u.fill(0.0);
            let entries: Vec<(usize, f64)> = entries.collect();
            entries.iter().for_each(|(j, a)| u[*j] = *a);
            own.base.solve(&mut u);
            own.push(name, entries, weight, &u);
        }
        own.begun = own.border.len();
        own.factor_small();
        own
    }

    /// Memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let column = |c: &Column| (c.u.len() + c.products.len() + 2 * c.entries.len()) * size_of::<f64>();
        let base = match &*self.base {
            Base::Augmented(factor) => factor.bytes(),
            Base::Vertex(factor) => factor.bytes(),
        };
        base + self.border.iter().map(column).sum::<usize>()
    }

    /// b = H⁻¹b; what is behind n entries is left alone.
    pub(crate) fn solve_in_place(&self, b: &mut [f64]) {
        self.base.solve(b);
        self.correct(b);
    }

    /// The factor of the augmented matrix, where nothing has changed since.
    pub(crate) fn whole(&self) -> Option<&SparseLdl> {
        match &*self.base {
            Base::Augmented(factor) if self.border.is_empty() => Some(factor),
            _ => None,
        }
    }

    /// y −= U G⁻¹ Aᵀy
    fn correct(&self, y: &mut [f64]) {
        let Some(small) = &self.small else { return };
        let mut t: Vec<f64> = self.border.iter().map(|c| c.dot(y)).collect();
        let size = t.len();
        small.solve_in_place(MatMut::from_column_major_slice_mut(&mut t, size, 1));
        if let Base::Vertex(base) = &*self.base {
            let mut more = vec![0.0; y.len()];
            for (c, t) in self.border.iter().zip(&t) {
                c.entries.iter().for_each(|(j, a)| more[*j] += t * a);
            }
            base.solve(&mut more);
            y.iter_mut().zip(&more).for_each(|(y, u)| *y -= u);
            return;
        }
        let kernel = Kernel::new();
        for (c, t) in self.border.iter().zip(&t) {
            kernel.axpy(-t, &c.u, &mut y[..c.u.len()]);
        }
    }

    /// One more row, with Δ and u = H₀⁻¹a.
    fn push(&mut self, name: usize, entries: Vec<(usize, f64)>, change: f64, u: &[f64]) {
        let mut products: Vec<f64> = self.border.iter().map(|c| c.dot(u)).collect();
        products.push(entries.iter().map(|(j, a)| a * u[*j]).sum());
        let u = if matches!(*self.base, Base::Vertex(_)) { Vec::new() } else { u.to_vec() };
        self.border.push(Column { name, entries, change, most: change.abs(), u, products });
    }

    fn factor_small(&mut self) {
        let size = self.border.len();
        let g = Mat::from_fn(size, size, |i, j| {
            let (i, j) = (i.max(j), i.min(j));
            self.border[i].products[j] + if i == j { 1.0 / self.border[i].change } else { 0.0 }
        });
        self.small = (size > 0).then(|| g.lblt(Side::Lower));
    }

    /// H += change·a aᵀ for the row met last.
    fn change(&mut self, change: f64, row: &BorderedRow) {
        if let Some(at) = self.border.iter().position(|c| c.name == row.name) {
            let column = &mut self.border[at];
            column.change += change;
            column.most = column.most.max(column.change.abs());
            if column.change.abs() <= GONE * column.most.max(change.abs()) {
                self.border.remove(at);
                for column in &mut self.border[at..] {
                    column.products.remove(at);
                }
            }
        } else {
            let entries: Vec<(usize, f64)> =
                row.a[..row.n].iter().copied().enumerate().filter(|(_, a)| *a != 0.0).collect();
            self.push(row.name, entries, change, &row.base[..row.n]);
        }
        self.factor_small();
    }
}

impl Hessian for Bordered {
    type Row = BorderedRow;

    fn of(factor: Factor) -> Option<Self> {
        if let Factor::Sparse(factor) = factor { Some(factor) } else { None }
    }

    fn is_spent(&self) -> bool {
        self.lost || self.border.len() >= FULL + self.begun
    }

    fn row(n: usize) -> BorderedRow {
        let zeros = || vec![0.0; padded(n)];
        BorderedRow { n, name: 0, a: zeros(), base: zeros(), u: zeros() }
    }

    fn solve(&self, _: Kernel, b: &mut [f64]) {
        self.solve_in_place(b);
    }

    fn meet(&self, _: Kernel, row: &mut BorderedRow, name: usize, write: impl FnOnce(&mut [f64])) {
        row.name = name;
        write(&mut row.a[..row.n]);
        let kept = self.border.iter().find(|c| c.name == name && !c.u.is_empty());
        if let Some(column) = kept {
            row.base[..row.n].copy_from_slice(&column.u);
        } else {
            row.base.copy_from_slice(&row.a);
            self.base.solve(&mut row.base);
        }
        row.u.copy_from_slice(&row.base);
        self.correct(&mut row.u);
    }

    fn along(&self, k: Kernel, row: &BorderedRow) -> f64 {
        k.dot(&row.a, &row.u)
    }

    fn direction(&self, _: Kernel, row: &BorderedRow, out: &mut [f64]) {
        out.copy_from_slice(&row.u);
    }

    fn entries(row: &BorderedRow) -> &[f64] {
        &row.a
    }

    fn add(&mut self, _: Kernel, w: f64, row: &mut BorderedRow) {
        self.change(w, row);
    }

    fn remove(&mut self, _: Kernel, w: f64, rest: f64, row: &mut BorderedRow) {
        self.lost |= !rest.is_finite();
        self.change(-w, row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::sparse_ldl::{Analysis, Compressed};

    /// Numbers that look random, the same everywhere.
    fn noise(k: usize) -> f64 {
        ((k as f64 + 1.0) * 0.754_877_666_246_693).fract() - 0.5
    }

    /// Sparse rows with weights over a diagonal: H = diag(v) + Σ wᵣaᵣaᵣᵀ.
    struct Terms {
        n: usize,
        starts: Vec<usize>,
        columns: Vec<usize>,
        values: Vec<f64>,
        diagonal: Vec<f64>,
    }

    impl Terms {
        fn new(n: usize, m: usize) -> Self {
            let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..m {
                for j in 0..n {
                    if (3 * i + 7 * j + i * j) % 11 == 0 || i % n == j {
                        columns.push(j);
                        values.push(0.2 + noise(i * n + j));
                    }
                }
                starts.push(columns.len());
            }
            let diagonal = (0..n).map(|j| 1.0 + noise(17 * j)).collect();
            Self { n, starts, columns, values, diagonal }
        }

        fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
            let range = self.starts[i]..self.starts[i + 1];
            self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
        }

        fn factor(&self, weights: &[f64]) -> Bordered {
            let rows = Compressed { starts: &self.starts, columns: &self.columns };
            let analysis = Arc::new(Analysis::new(self.n, None, rows).unwrap());
            let mut k = analysis.zeros();
            for (j, v) in self.diagonal.iter().enumerate() {
                k.variable(j)[0] = *v;
            }
            for (i, weight) in weights.iter().enumerate() {
                let (diagonal, entries) = k.row(i).split_last_mut().unwrap();
                *diagonal = -1.0;
                if *weight > 0.0 {
                    self.row(i).zip(entries).for_each(|((_, a), out)| *out = a);
                    *diagonal = -1.0 / weight;
                }
            }
            k.factor().unwrap().into()
        }

        /// What H⁻¹b leaves of b.
        fn left(&self, weights: &[f64], factor: &Bordered) -> f64 {
            let b: Vec<f64> = (0..self.n).map(|j| noise(5 * j)).collect();
            let mut x = b.clone();
            factor.solve_in_place(&mut x);
            let mut left: Vec<f64> = (0..self.n).map(|j| b[j] - self.diagonal[j] * x[j]).collect();
            for (i, weight) in weights.iter().enumerate() {
                let along: f64 = self.row(i).map(|(j, a)| a * x[j]).sum();
                self.row(i).for_each(|(j, a)| left[j] -= weight * a * along);
            }
            left.iter().fold(0.0, |m, r| m.max(r.abs()))
        }
    }

    /// Rows that enter, leave, enter again and change their weight, until the border is full: each solve is that of H as it is, and
    /// of a factor made anew.
    #[test]
    fn a_border_solves_as_a_new_factor_does() {
        let (n, m) = (40, 90);
        for scale in [1.0, 1e5] {
            let terms = Terms::new(n, m);
            let mut weights: Vec<f64> = (0..m).map(|i| if i % 3 == 0 { scale } else { 0.0 }).collect();
            let mut factor = terms.factor(&weights);
            let (k, mut row) = (Kernel::new(), Bordered::row(n));
            let mut changes = 0;
            while !factor.is_spent() {
                // Some rows twice: those that entered leave again.
                let i = if changes % 5 == 4 { (changes * 29) % 30 } else { (changes * 37) % m };
                let write = |a: &mut [f64]| {
                    a.fill(0.0);
                    terms.row(i).for_each(|(j, v)| a[j] = v);
                };
                factor.meet(k, &mut row, i, write);
                if weights[i] > 0.0 {
                    let rest = 1.0 - weights[i] * factor.along(k, &row);
                    assert!(rest > 0.0, "the diagonal holds every direction");
                    factor.remove(k, weights[i], rest, &mut row);
                    weights[i] = 0.0;
                } else {
                    weights[i] = scale * (1.0 + noise(changes));
                    factor.add(k, weights[i], &mut row);
                }
                changes += 1;
                let tolerance = 1e-9 * scale;
                assert!(
                    terms.left(&weights, &factor) < tolerance,
                    "{changes}: {}",
                    terms.left(&weights, &factor)
                );
                if changes % 16 == 0 {
                    let fresh = terms.factor(&weights);
                    let (mut a, mut b) = (vec![1.0; n], vec![1.0; n]);
                    factor.solve_in_place(&mut a);
                    fresh.solve_in_place(&mut b);
                    let size = b.iter().fold(0.0_f64, |m, b| m.max(b.abs()));
                    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-8 * size));
                }
                assert!(changes < 1000);
            }
            assert!(factor.border.len() == FULL);
        }
    }
}
