//! The factor H = LDLᵀ that forward and backward pass share.
//!
//! L is unit lower triangular and kept in blocks of eight columns, each from the block's own diagonal down, padded to
//! whole lanes with zeros (zeros on and above the diagonal too): half the memory of a square, loops without remainders,
//! triangular solves without divisions. Vectors that meet the factor have [`padded`] length.
//! Rank-one changes follow Gill, Golub, Murray and Saunders (1974), methods C1 and C2.

use crate::linalg::hessian::{Factor, Hessian, Terms};
use crate::linalg::ldl::Ldl;
use crate::linalg::simd::{Kernel, LANES, padded};

/// H = LDLᵀ of an n × n matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct DenseLdl {
    n: usize,
    /// Strictly lower part of L, in blocks of columns.
    l: Vec<f64>,
    /// D⁻¹, padded with ones.
    r: Vec<f64>,
}

/// Memory to put H together in.
#[derive(Default)]
pub(crate) struct Assembly {
    /// √w times the rows, padded.
    rows: Vec<f64>,
    /// The diagonal of H.
    diagonal: Vec<f64>,
    scratch: Vec<[f64; LANES]>,
}

/// A row a that meets the factor, all padded.
#[derive(Clone, Debug, Default)]
pub(crate) struct DenseRow {
    n: usize,
    a: Vec<f64>,
    /// L⁻¹a
    p: Vec<f64>,
    /// Partial sums t_j and t_{j+1} of a rank-one change, and its β.
    before: Vec<f64>,
    after: Vec<f64>,
    beta: Vec<f64>,
}

impl DenseLdl {
    /// Memory of a factor of an n × n matrix, in bytes.
    pub(crate) fn bytes(n: usize) -> usize {
        (Self::entries_of_l(n) + padded(n)) * size_of::<f64>()
    }

    /// Factors H; false if it is singular up to rounding, and the factor then means nothing.
    pub(crate) fn factorise(&mut self, k: Kernel, h: Terms<'_>, memory: &mut Assembly) -> bool {
        let n = h.diagonal.len();
        self.resize(n);
        let Assembly { rows, diagonal, scratch } = memory;
        diagonal.clear();
        diagonal.extend_from_slice(h.diagonal);
        for (j, column) in self.columns_mut() {
            let first = j / LANES * LANES;
            column.fill(0.0);
            if j >= n {
                column[j - first] = 1.0;
                continue;
            }
            if let Some(two_q) = h.two_q {
                column[..n - first].copy_from_slice(&two_q[j * n + first..(j + 1) * n]);
            }
            column[j - first] += diagonal[j];
            diagonal[j] = column[j - first];
        }
        let mut filled = 0;
        rows.resize(h.weights.len() * padded(n), 0.0);
        for (row, w) in h.rows.chunks_exact(n).zip(h.weights).filter(|(_, w)| **w > 0.0) {
            let out = &mut rows[filled..filled + padded(n)];
            k.scale(w.sqrt(), row, out, diagonal);
            out[n..].fill(0.0);
            filled += padded(n);
        }
        let largest = k.largest(diagonal);
        self.refactor(k, &rows[..filled], scratch) && self.smallest_pivot() > SINGULAR * largest
    }

    /// H⁻¹b for a vector that is not padded.
    pub(crate) fn solve_unpadded(&self, k: Kernel, b: &mut [f64]) {
        let mut v = vec![0.0; padded(self.n)];
        v[..self.n].copy_from_slice(b);
        self.solve(k, &mut v);
        b.copy_from_slice(&v[..self.n]);
    }
}

impl Hessian for DenseLdl {
    type Row = DenseRow;

    fn of(factor: Factor) -> Option<Self> {
        if let Factor::Dense(factor) = factor { Some(factor) } else { None }
    }

    fn is_spent(&self) -> bool {
        false
    }

    fn row(n: usize) -> DenseRow {
        let zeros = || vec![0.0; padded(n)];
        DenseRow { n, a: zeros(), p: zeros(), before: zeros(), after: zeros(), beta: zeros() }
    }

    fn solve(&self, k: Kernel, b: &mut [f64]) {
        k.forward(&self.l, b);
        self.finish(k, b);
    }

    fn meet(&self, k: Kernel, row: &mut DenseRow, _: usize, write: impl FnOnce(&mut [f64])) {
        write(&mut row.a[..row.n]);
        row.p.copy_from_slice(&row.a);
        k.forward(&self.l, &mut row.p);
    }

    fn along(&self, k: Kernel, row: &DenseRow) -> f64 {
        k.weighted_norm2(&row.p, &self.r)
    }

    fn direction(&self, k: Kernel, row: &DenseRow, out: &mut [f64]) {
        out.copy_from_slice(&row.p);
        self.finish(k, out);
    }

    fn entries(row: &DenseRow) -> &[f64] {
        &row.a
    }

    fn add(&mut self, k: Kernel, w: f64, row: &mut DenseRow) {
        let mut t = 1.0;
        for (i, (p, r)) in row.p.iter().zip(&self.r).enumerate() {
            let step = w * p * r;
            row.before[i] = t;
            t += step * p;
            row.beta[i] = step;
            row.after[i] = t;
        }
        self.change(k, row);
    }

    /// The partial sums run backwards from `rest`, so that D stays positive however small `rest` is.
    fn remove(&mut self, k: Kernel, w: f64, rest: f64, row: &mut DenseRow) {
        let mut t = rest;
        for (i, (p, r)) in row.p.iter().zip(&self.r).enumerate().rev() {
            let step = w * p * r;
            row.after[i] = t;
            t += step * p;
            row.beta[i] = -step;
            row.before[i] = t;
        }
        self.change(k, row);
    }
}

impl DenseLdl {
    /// Gives the factor the memory for n × n, if it lacks it.
    fn resize(&mut self, n: usize) {
        if self.n == n && !self.l.is_empty() {
            return;
        }
        *self = Self { n, l: vec![0.0; Self::entries_of_l(n)], r: vec![1.0; padded(n)] };
    }

    /// Numbers kept of L: for block b, eight columns from row 8b down.
    fn entries_of_l(n: usize) -> usize {
        let blocks = padded(n) / LANES;
        LANES * LANES * blocks * (blocks + 1) / 2
    }

    /// Factors H₀ + Σ aᵣaᵣᵀ, with H₀ in [`Self::columns_mut`] and the rows aᵣ padded; false if it is not positive definite.
    fn refactor(&mut self, k: Kernel, rows: &[f64], scratch: &mut Vec<[f64; LANES]>) -> bool {
        let sound = k.run(Ldl { rows, l: &mut self.l, d: &mut self.r, scratch });
        self.r.iter_mut().for_each(|r| *r = 1.0 / *r);
        sound && self.r.iter().all(|r| r.is_finite() && *r > 0.0)
    }

    /// The columns of H before [`Self::refactor`], by index: each from the first row of its block to the last.
    fn columns_mut(&mut self) -> impl Iterator<Item = (usize, &mut [f64])> {
        let size = padded(self.n);
        let mut rest = self.l.as_mut_slice();
        (0..size).map(move |j| {
            let height = size - j / LANES * LANES;
            let (column, after) = std::mem::take(&mut rest).split_at_mut(height);
            rest = after;
            (j, column)
        })
    }

    /// The smallest entry of D.
    fn smallest_pivot(&self) -> f64 {
        1.0 / self.r[..self.n].iter().fold(0.0_f64, |m, r| m.max(*r))
    }

    /// Given p = L⁻¹a: H⁻¹a, in place.
    fn finish(&self, k: Kernel, p: &mut [f64]) {
        for (p, r) in p.iter_mut().zip(&self.r) {
            *p *= r;
        }
        k.backward(&self.l, p);
    }

    /// Dⱼ ← Dⱼ·t_{j+1}/t_j, βⱼ ← βⱼ/t_{j+1}, then the columns; overwrites a.
    fn change(&mut self, k: Kernel, row: &mut DenseRow) {
        k.divide(&row.before, &row.after, &mut row.beta, &mut self.r);
        k.rank_one(&mut self.l, &row.p, &row.beta, &mut row.a);
    }
}

/// A pivot below this share of the largest diagonal entry is rounding, not curvature.
const SINGULAR: f64 = 1e-13;

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: usize, s: usize) -> Vec<f64> {
        (0..n).map(|j| (((s * 37 + j * 11 + s * j) % 19) as f64) / 9.0 - 1.0).collect()
    }

    /// y = (H₀ + Σ w a aᵀ)x with a diagonal H₀.
    fn product(diagonal: &[f64], rows: &[(f64, Vec<f64>)], x: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = diagonal.iter().zip(x).map(|(d, x)| d * x).collect();
        for (w, row) in rows {
            let along: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
            y.iter_mut().zip(row).for_each(|(y, a)| *y += w * along * a);
        }
        y
    }

    /// H⁻¹(Hx) = x while H = diagonal + Σ w a aᵀ is built up row by row and taken down again; aᵀH⁻¹a and H⁻¹a are those of
    /// a solve.
    #[test]
    fn rank_one_changes_follow_the_matrix() {
        let (n, k, w) = (13, Kernel::new(), 2.5);
        let diagonal: Vec<f64> = (0..n).map(|j| 1.0 + j as f64).collect();
        let mut f = DenseLdl::default();
        let h = Terms { two_q: None, rows: &[], weights: &[], diagonal: &diagonal };
        assert!(f.factorise(k, h, &mut Assembly::default()));
        let (mut rows, mut met) = (Vec::new(), DenseLdl::row(n));
        let x: Vec<f64> = (0..n).map(|j| (j as f64).sin()).collect();
        for step in 0..40 {
            let s = if step < 20 { step } else { 39 - step };
            let a = row(n, s);
            f.meet(k, &mut met, step, |out| out.copy_from_slice(&a));
            let (mut v, mut direction) = (a.clone(), vec![0.0; padded(n)]);
            f.solve_unpadded(k, &mut v);
            f.direction(k, &met, &mut direction);
            assert!(v.iter().zip(&direction).all(|(v, d)| (v - d).abs() < 1e-12));
            assert!((k.dot(&a, &v) - f.along(k, &met)).abs() < 1e-11);
            assert_eq!(DenseLdl::entries(&met)[..n], a);
            if step < 20 {
                f.add(k, w, &mut met);
                rows.push((w, a));
            } else {
                let rest = 1.0 - w * f.along(k, &met);
                f.remove(k, w, rest, &mut met);
                rows.pop();
            }
            let mut y = product(&diagonal, &rows, &x);
            f.solve_unpadded(k, &mut y);
            assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-11), "{step}");
        }
    }

    /// H⁻¹(Hx) = x for H = diagonal + rows of every size around the blocks and tiles, with Q and without; a matrix that is
    /// not definite is refused.
    #[test]
    fn matrices_of_every_size_are_factored() {
        let k = Kernel::new();
        for n in (1..=50).chain([64, 97, 130]) {
            let weighted: Vec<(f64, Vec<f64>)> = (0..=n / 2).map(|s| ((s % 3) as f64, row(n, s))).collect();
            let rows: Vec<f64> = weighted.iter().flat_map(|(_, row)| row.clone()).collect();
            let weights: Vec<f64> = weighted.iter().map(|(w, _)| *w).collect();
            let (mut f, mut memory) = (DenseLdl::default(), Assembly::default());
            let x: Vec<f64> = (0..n).map(|j| (j as f64).cos()).collect();
            let last = row(n, n);
            let two_q: Vec<f64> = (0..n * n).map(|ij| last[ij / n] * last[ij % n]).collect();
            for two_q in [None, Some(&two_q[..])] {
                let mut all = weighted.clone();
                all.extend(two_q.map(|_| (1.0, last.clone())));
                let h = Terms { two_q, rows: &rows, weights: &weights, diagonal: &vec![0.7; n] };
                assert!(f.factorise(k, h, &mut memory), "n = {n}");
                let mut y = product(h.diagonal, &all, &x);
                f.solve_unpadded(k, &mut y);
                assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-10), "n = {n}");
                assert!(!f.factorise(k, Terms { diagonal: &vec![-1e3; n], ..h }, &mut memory));
            }
        }
    }
}
