//! The factor H = LDLᵀ that forward and backward pass share.
//!
//! L is unit lower triangular, packed by columns: half the memory of a square, and triangular solves without
//! divisions. Rank-one changes follow Gill, Golub, Murray and Saunders (1974), methods C1 and C2.

use crate::kernel::Kernel;
use crate::linalg::{self, CholeskyScratch};

/// H = LDLᵀ of an n × n matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factor {
    /// Strictly lower part of L, packed by columns.
    l: Vec<f64>,
    /// D.
    d: Vec<f64>,
}

impl Factor {
    /// A factor of an n × n matrix; its values mean nothing until [`Factor::refactor`].
    pub(crate) fn new(n: usize) -> Self {
        Self { l: vec![0.0; n * n.saturating_sub(1) / 2], d: vec![0.0; n] }
    }

    /// Gives the factor the memory for n × n, if it lacks it.
    pub(crate) fn resize(&mut self, n: usize) {
        self.l.resize(n * n.saturating_sub(1) / 2, 0.0);
        self.d.resize(n, 0.0);
    }

    pub(crate) fn n(&self) -> usize {
        self.d.len()
    }

    /// Memory of a factor in bytes.
    pub(crate) fn bytes(n: usize) -> usize {
        n * (n + 1) / 2 * size_of::<f64>()
    }

    /// Factors the lower triangle of `h` (column-major, overwritten); false if it is not positive definite.
    pub(crate) fn refactor(&mut self, h: &mut [f64], scratch: &mut CholeskyScratch) -> bool {
        let n = self.n();
        if !linalg::cholesky(h, n, scratch) {
            return false;
        }
        let mut at = 0;
        for j in 0..n {
            let col = &h[j * n + j..(j + 1) * n];
            let pivot = col[0];
            self.d[j] = pivot * pivot;
            for (l, c) in self.l[at..at + n - j - 1].iter_mut().zip(&col[1..]) {
                *l = c / pivot;
            }
            at += n - j - 1;
        }
        self.d.iter().all(|d| d.is_finite() && *d > 0.0)
    }

    /// The smallest entry of D.
    pub(crate) fn smallest_pivot(&self) -> f64 {
        self.d.iter().fold(f64::INFINITY, |m, d| m.min(*d))
    }

    /// L p = a, in place.
    pub(crate) fn forward(&self, k: Kernel, p: &mut [f64]) {
        k.forward(&self.l, p);
    }

    /// Given p = L⁻¹a: H⁻¹a, in place.
    pub(crate) fn finish(&self, k: Kernel, p: &mut [f64]) {
        for (p, d) in p.iter_mut().zip(&self.d) {
            *p /= d;
        }
        k.backward(&self.l, p);
    }

    /// H⁻¹b, in place.
    pub(crate) fn solve(&self, k: Kernel, b: &mut [f64]) {
        self.forward(k, b);
        self.finish(k, b);
    }

    /// Given p = L⁻¹a: aᵀH⁻¹a.
    pub(crate) fn norm2(&self, p: &[f64]) -> f64 {
        p.iter().zip(&self.d).map(|(p, d)| p * p / d).sum()
    }

    /// H += w a aᵀ for w > 0, given p = L⁻¹a. `a` and `beta` are overwritten.
    pub(crate) fn update(&mut self, k: Kernel, w: f64, p: &[f64], a: &mut [f64], beta: &mut [f64]) {
        let mut t = 1.0;
        for ((p, d), beta) in p.iter().zip(&mut self.d).zip(beta.iter_mut()) {
            let step = w * p / *d;
            let next = step.mul_add(*p, t);
            *beta = step / next;
            *d *= next / t;
            t = next;
        }
        k.rank_one(&mut self.l, p, beta, a);
    }

    /// H −= w a aᵀ for w > 0, given p = L⁻¹a and `rest` = 1 − w aᵀH⁻¹a > 0. `a` and `beta` are overwritten.
    ///
    /// The partial sums run backwards from `rest`, so that D stays positive however small `rest` is.
    pub(crate) fn downdate(
        &mut self,
        k: Kernel,
        w: f64,
        rest: f64,
        p: &[f64],
        a: &mut [f64],
        beta: &mut [f64],
    ) {
        let mut next = rest;
        for ((p, d), beta) in p.iter().zip(&mut self.d).zip(beta.iter_mut()).rev() {
            let step = w * p / *d;
            let t = step.mul_add(*p, next);
            *beta = -step / next;
            *d *= next / t;
            next = t;
        }
        k.rank_one(&mut self.l, p, beta, a);
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
        let mut h = vec![0.0; n * n];
        let mut dense = vec![0.0; n * n];
        for j in 0..n {
            h[j * n + j] = 1.0 + j as f64;
            dense[j * n + j] = 1.0 + j as f64;
        }
        let mut f = Factor::new(n);
        assert!(f.refactor(&mut h, &mut CholeskyScratch::new(n)));
        let (mut p, mut beta) = (vec![0.0; n], vec![0.0; n]);
        let mut change = |f: &mut Factor, dense: &mut [f64], s: usize, w: f64| {
            let mut a = row(s);
            for i in 0..n {
                for j in 0..n {
                    dense[i * n + j] += w * a[i] * a[j];
                }
            }
            p.copy_from_slice(&a);
            f.forward(k, &mut p);
            if w > 0.0 {
                f.update(k, w, &p, &mut a, &mut beta);
            } else {
                let rest = 1.0 + w * f.norm2(&p);
                f.downdate(k, -w, rest, &p, &mut a, &mut beta);
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
            f.solve(k, &mut y);
            for (x, y) in x.iter_mut().zip(&y) {
                assert!((*x - y).abs() < 1e-11, "{x} {y}");
            }
        }
    }
}
