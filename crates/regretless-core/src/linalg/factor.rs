//! The factor H = LDLᵀ that forward and backward pass share.
//!
//! L is unit lower triangular and kept in blocks of eight columns, each from the block's own diagonal down, padded to
//! whole lanes with zeros (zeros on and above the diagonal too): half the memory of a square, loops without remainders,
//! triangular solves without divisions. Vectors that meet the factor have [`padded`] length.
//! Rank-one changes follow Gill, Golub, Murray and Saunders (1974), methods C1 and C2.

use crate::linalg::ldl::Ldl;
use crate::linalg::simd::{Kernel, LANES};

/// n rounded up to whole lanes.
pub(crate) fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// H = LDLᵀ of an n × n matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factor {
    n: usize,
    /// Strictly lower part of L, in blocks of columns.
    l: Vec<f64>,
    /// D⁻¹, padded with ones.
    r: Vec<f64>,
}

impl Factor {
    /// A factor of an n × n matrix; its values mean nothing until [`Factor::refactor`].
    pub(crate) fn new(n: usize) -> Self {
        let mut factor = Self::default();
        factor.resize(n);
        factor
    }

    /// Gives the factor the memory for n × n, if it lacks it.
    pub(crate) fn resize(&mut self, n: usize) {
        if self.n == n && !self.l.is_empty() {
            return;
        }
        *self = Self { n, l: vec![0.0; Self::entries(n)], r: vec![1.0; padded(n)] };
    }

    /// Memory of a factor in bytes.
    pub(crate) fn bytes(n: usize) -> usize {
        (Self::entries(n) + padded(n)) * size_of::<f64>()
    }

    /// Numbers kept of L: for block b, eight columns from row 8b down.
    fn entries(n: usize) -> usize {
        let blocks = padded(n) / LANES;
        LANES * LANES * blocks * (blocks + 1) / 2
    }

    /// Factors H₀ + Σ aᵣaᵣᵀ, with H₀ in [`Factor::columns_mut`] and the rows aᵣ padded; false if it is not positive definite.
    pub(crate) fn refactor(&mut self, k: Kernel, rows: &[f64], scratch: &mut Vec<[f64; LANES]>) -> bool {
        let sound = k.run(Ldl { rows, l: &mut self.l, d: &mut self.r, scratch });
        self.r.iter_mut().for_each(|r| *r = 1.0 / *r);
        sound && self.r.iter().all(|r| r.is_finite() && *r > 0.0)
    }

    /// The columns of H before [`Factor::refactor`], by index: each from the first row of its block to the last.
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = (usize, &mut [f64])> {
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
    pub(crate) fn smallest_pivot(&self) -> f64 {
        1.0 / self.r[..self.n].iter().fold(0.0_f64, |m, r| m.max(*r))
    }

    /// L p = a, in place.
    pub(crate) fn forward(&self, k: Kernel, p: &mut [f64]) {
        k.forward(&self.l, p);
    }

    /// Given p = L⁻¹a: H⁻¹a, in place.
    pub(crate) fn finish(&self, k: Kernel, p: &mut [f64]) {
        for (p, r) in p.iter_mut().zip(&self.r) {
            *p *= r;
        }
        k.backward(&self.l, p);
    }

    /// H⁻¹b, in place.
    pub(crate) fn solve(&self, k: Kernel, b: &mut [f64]) {
        self.forward(k, b);
        self.finish(k, b);
    }

    /// H⁻¹b for a vector that is not padded.
    pub(crate) fn solve_unpadded(&self, k: Kernel, b: &mut [f64]) {
        let mut v = vec![0.0; padded(self.n)];
        v[..self.n].copy_from_slice(b);
        self.solve(k, &mut v);
        b.copy_from_slice(&v[..self.n]);
    }

    /// Given p = L⁻¹a: aᵀH⁻¹a.
    pub(crate) fn norm2(&self, k: Kernel, p: &[f64]) -> f64 {
        k.weighted_norm2(p, &self.r)
    }

    /// H += w a aᵀ for w > 0, given p = L⁻¹a. `a` and `scratch` are overwritten.
    pub(crate) fn update(&mut self, k: Kernel, w: f64, p: &[f64], a: &mut [f64], scratch: &mut Scratch) {
        let mut t = 1.0;
        for (i, (p, r)) in p.iter().zip(&self.r).enumerate() {
            let step = w * p * r;
            scratch.before[i] = t;
            t += step * p;
            scratch.beta[i] = step;
            scratch.after[i] = t;
        }
        self.change(k, p, a, scratch);
    }

    /// H −= w a aᵀ for w > 0, given p = L⁻¹a and `rest` = 1 − w aᵀH⁻¹a > 0. `a` and `scratch` are overwritten.
    ///
    /// The partial sums run backwards from `rest`, so that D stays positive however small `rest` is.
    pub(crate) fn downdate(
        &mut self,
        k: Kernel,
        w: f64,
        rest: f64,
        p: &[f64],
        a: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let mut t = rest;
        for (i, (p, r)) in p.iter().zip(&self.r).enumerate().rev() {
            let step = w * p * r;
            scratch.after[i] = t;
            t += step * p;
            scratch.beta[i] = -step;
            scratch.before[i] = t;
        }
        self.change(k, p, a, scratch);
    }

    /// Dⱼ ← Dⱼ·t_{j+1}/t_j, βⱼ ← βⱼ/t_{j+1}, then the columns.
    fn change(&mut self, k: Kernel, p: &[f64], a: &mut [f64], scratch: &mut Scratch) {
        k.divide(&scratch.before, &scratch.after, &mut scratch.beta, &mut self.r);
        k.rank_one(&mut self.l, p, &scratch.beta, a);
    }
}

/// Memory for rank-one changes.
#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    /// Partial sums t_j and t_{j+1} of the change.
    before: Vec<f64>,
    after: Vec<f64>,
    beta: Vec<f64>,
}

impl Scratch {
    pub(crate) fn new(n: usize) -> Self {
        let zeros = || vec![0.0; padded(n)];
        Self { before: zeros(), after: zeros(), beta: zeros() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H − LDLᵀ, entry by entry, for H = I + Σ ± w a aᵀ built up and taken down again.
    #[test]
    fn rank_one_changes_follow_the_matrix() {
        let n = 13;
        let k = Kernel::new();
        let row =
            |s: usize| (0..n).map(|j| (((s * 31 + j * 17) % 23) as f64) / 11.0 - 1.0).collect::<Vec<_>>();
        let mut dense = vec![0.0; n * n];
        for j in 0..n {
            dense[j * n + j] = 1.0 + j as f64;
        }
        let mut f = Factor::new(n);
        for (j, column) in f.columns_mut() {
            column[j % LANES] = 1.0 + j as f64;
        }
        assert!(f.refactor(k, &[], &mut Vec::new()));
        let (mut p, mut scratch) = (vec![0.0; padded(n)], Scratch::new(n));
        let mut change = |f: &mut Factor, dense: &mut [f64], s: usize, w: f64| {
            let mut a = row(s);
            a.resize(padded(n), 0.0);
            for i in 0..n {
                for j in 0..n {
                    dense[i * n + j] += w * a[i] * a[j];
                }
            }
            p.copy_from_slice(&a);
            f.forward(k, &mut p);
            if w > 0.0 {
                f.update(k, w, &p, &mut a, &mut scratch);
            } else {
                let rest = 1.0 + w * f.norm2(k, &p);
                f.downdate(k, -w, rest, &p, &mut a, &mut scratch);
            }
        };
        for s in 0..20 {
            change(&mut f, &mut dense, s, 2.5);
        }
        for s in (0..20).rev() {
            change(&mut f, &mut dense, s, -2.5);
            let mut x: Vec<f64> = (0..n).map(|j| (j as f64).sin()).collect();
            let b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| dense[i * n + j] * x[j]).sum()).collect();
            let mut y = b.clone();
            f.solve_unpadded(k, &mut y);
            for (x, y) in x.iter_mut().zip(&y) {
                assert!((*x - y).abs() < 1e-11, "{x} {y}");
            }
        }
    }

    /// H⁻¹(Hx) = x for H = diagonal + rows of every size around the blocks and tiles; a matrix that is not definite is refused.
    #[test]
    fn matrices_of_every_size_are_factored() {
        let k = Kernel::new();
        for n in (1..=50).chain([64, 97, 130]) {
            let rows: Vec<Vec<f64>> = (0..=n / 2)
                .map(|s| (0..n).map(|j| (((s * 37 + j * 11 + s * j) % 19) as f64) / 9.0 - 1.0).collect())
                .collect();
            let mut padded_rows = Vec::new();
            for row in &rows {
                padded_rows.extend(row);
                padded_rows.resize(padded_rows.len() + padded(n) - n, 0.0);
            }
            let mut f = Factor::new(n);
            let start = |f: &mut Factor, diagonal: f64| {
                for (j, column) in f.columns_mut() {
                    column.fill(0.0);
                    // What is above the diagonal is of no account.
                    column[..j % LANES].fill(f64::from(j as u32));
                    column[j % LANES] = if j < n { diagonal } else { 1.0 };
                }
            };
            start(&mut f, 0.7);
            assert!(f.refactor(k, &padded_rows, &mut Vec::new()), "n = {n}");
            let x: Vec<f64> = (0..n).map(|j| (j as f64).cos()).collect();
            let mut y: Vec<f64> = x.iter().map(|x| 0.7 * x).collect();
            for row in &rows {
                let along: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
                y.iter_mut().zip(row).for_each(|(y, a)| *y += along * a);
            }
            f.solve_unpadded(k, &mut y);
            for (x, y) in x.iter().zip(&y) {
                assert!((x - y).abs() < 1e-10, "n = {n}: {x} {y}");
            }
            start(&mut f, -1e3);
            assert!(!f.refactor(k, &padded_rows, &mut Vec::new()));
        }
    }
}
