//! Random problems of every kind the engine promises to solve.
#![allow(dead_code, non_snake_case, unreachable_pub)]
#![allow(clippy::struct_excessive_bools, clippy::too_many_lines)]

pub mod cases;
pub mod params;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regretless_core::{Coefficients, Matrix, Problem, Sense, Soft};

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn normal(rng: &mut impl Rng) -> f64 {
    // Sum of uniforms: near enough to a bell for test data.
    (0..6).map(|_| rng.random::<f64>()).sum::<f64>() - 3.0
}

pub fn vector(rng: &mut impl Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| normal(rng)).collect()
}

pub fn matrix(rng: &mut impl Rng, rows: usize, cols: usize) -> Matrix {
    Matrix::from_fn(rows, cols, |_, _| if rng.random::<f64>() < 0.3 { 0.0 } else { normal(rng) })
}

/// What a random problem should look like.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    pub n: usize,
    pub soft: usize,
    pub at_most: usize,
    pub equal: usize,
    /// 0 none, 1 positive definite, 2 singular.
    pub quadratic: u8,
    /// 0 x ≥ 0, 1 box, 2 free, 3 a mixture with zero-width boxes.
    pub bounds: u8,
    /// Rows repeated, scaled copies among them.
    pub redundant: bool,
    /// Rows scaled by 1e-4 … 1e6.
    pub scaled: bool,
    /// Limits such that many rows meet in one vertex.
    pub degenerate: bool,
    pub minimise: bool,
    pub seed: u64,
}

impl Recipe {
    pub fn from_seed(seed: u64) -> Self {
        let mut r = rng(seed);
        let n = r.random_range(1..=12);
        Self {
            n,
            soft: r.random_range(0..=n),
            at_most: r.random_range(0..=2 * n),
            equal: r.random_range(0..=n / 2),
            quadratic: r.random_range(0..3),
            bounds: r.random_range(0..4),
            redundant: r.random_bool(0.3),
            scaled: r.random_bool(0.3),
            degenerate: r.random_bool(0.3),
            minimise: r.random_bool(0.5),
            seed,
        }
    }

    /// A problem that is feasible and bounded: a feasible point is planted, and a box or Q keeps it finite.
    pub fn build(&self) -> Problem {
        let mut r = rng(self.seed ^ 0x9e37_79b9);
        let n = self.n;
        let lower: Vec<f64> = (0..n)
            .map(|_| match self.bounds {
                0 => 0.0,
                1 => -1.0 - r.random::<f64>(),
                2 => f64::NEG_INFINITY,
                _ => [0.0, -2.0, f64::NEG_INFINITY, 0.5][r.random_range(0..4)],
            })
            .collect();
        let upper: Vec<f64> = lower
            .iter()
            .map(|l| match self.bounds {
                1 => l + 3.0 * r.random::<f64>() + 0.1,
                3 if *l == 0.5 => 0.5,
                3 => [f64::INFINITY, 4.0][r.random_range(0..2)],
                _ => f64::INFINITY,
            })
            .collect();
        let planted: Vec<f64> = (0..n)
            .map(|j| {
                let (l, u) = (lower[j].max(-3.0), upper[j].min(3.0));
                if self.degenerate && r.random_bool(0.5) { l } else { l + (u - l) * r.random::<f64>() }
            })
            .collect();
        let at = |m: &Matrix, i: usize| m.row(i).iter().zip(&planted).map(|(a, x)| a * x).sum::<f64>();

        let mut a = matrix(&mut r, self.at_most, n);
        let mut slack: Vec<f64> = (0..self.at_most)
            .map(|_| if self.degenerate && r.random_bool(0.6) { 0.0 } else { r.random::<f64>() })
            .collect();
        if self.redundant && self.at_most > 1 {
            for i in 1..self.at_most {
                if r.random_bool(0.5) {
                    let from = r.random_range(0..i);
                    let scale = if r.random_bool(0.5) { 1.0 } else { 2.0 };
                    for j in 0..n {
                        a[(i, j)] = scale * a[(from, j)];
                    }
                    slack[i] = scale * slack[from];
                }
            }
        }
        let mut beq = matrix(&mut r, self.equal, n);
        if self.redundant && self.equal > 1 {
            for j in 0..n {
                beq[(1, j)] = -3.0 * beq[(0, j)];
            }
        }
        let mut c = matrix(&mut r, self.soft, n);
        let mut alpha: Vec<f64> = (0..self.soft).map(|_| r.random::<f64>()).collect();
        let mut under: Vec<f64> =
            (0..self.soft).map(|i| if i % 2 == 0 { 0.0 } else { r.random::<f64>() }).collect();
        if self.scaled {
            for m in [&mut a, &mut beq, &mut c] {
                for i in 0..m.rows() {
                    let scale = 10f64.powf(r.random_range(-4.0..6.0));
                    for j in 0..n {
                        m[(i, j)] *= scale;
                    }
                }
            }
            for i in 0..self.at_most {
                slack[i] *= a.row(i).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            }
            for i in 0..self.soft {
                let size = c.row(i).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                if size == 0.0 {
                    continue;
                }
                alpha[i] /= size;
                under[i] /= size;
            }
        }
        let b: Vec<f64> = (0..self.at_most).map(|i| at(&a, i) + slack[i]).collect();
        let ceq: Vec<f64> = (0..self.equal).map(|i| at(&beq, i)).collect();
        let d: Vec<f64> = (0..self.soft)
            .map(|i| {
                let size = c.row(i).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                at(&c, i) + size * normal(&mut r) * if self.degenerate { 0.0 } else { 0.5 }
            })
            .collect();
        let mut theta = vector(&mut r, n);

        let start = if self.minimise { Problem::minimize(n) } else { Problem::maximize(n) };
        let mut builder = start
            .soft("soft", Soft::both(c, d, alpha, under))
            .at_most("limit", a.clone(), b)
            .equal("balance", beq.clone(), ceq)
            .lower(lower.clone())
            .upper(upper.clone());
        let q = match self.quadratic {
            0 => None,
            kind => {
                let rank = if kind == 1 { n + 2 } else { n.div_ceil(2) };
                let f = matrix(&mut r, rank, n);
                Some(Matrix::from_fn(n, n, |i, j| {
                    let ridge = if kind == 1 && i == j { 0.1 } else { 0.0 };
                    ridge + (0..rank).map(|k| f[(k, i)] * f[(k, j)]).sum::<f64>() / n as f64
                }))
            }
        };
        if self.quadratic != 1 {
            // Bounded: θ is a non-negative combination of row normals (a dual feasible point is planted).
            let mut gain = vec![0.0; n];
            for i in 0..self.at_most {
                let y = r.random::<f64>() / a.row(i).iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-300);
                for j in 0..n {
                    gain[j] += y * a[(i, j)];
                }
            }
            for i in 0..self.equal {
                let y = normal(&mut r) / beq.row(i).iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-300);
                for j in 0..n {
                    gain[j] += y * beq[(i, j)];
                }
            }
            for j in 0..n {
                if lower[j].is_finite() {
                    gain[j] -= r.random::<f64>();
                }
                if upper[j].is_finite() {
                    gain[j] += r.random::<f64>();
                }
            }
            theta = if self.minimise { gain.iter().map(|g| -g).collect() } else { gain };
        }
        if let Some(q) = q {
            builder = builder.quadratic(q);
        }
        builder.linear(theta).build().expect("a recipe is valid")
    }
}

/// The same problem by its coefficients alone, stated from the last to the first; some zeros are stored.
pub fn sparse(problem: &Problem) -> Problem {
    let n = problem.n();
    let coefficients = |dense: &Coefficients| {
        let rows = dense.view().iter().enumerate();
        let entries = rows.flat_map(|(i, row)| row.iter().map(move |(j, a)| (i, j, a)));
        let mut stored: Vec<_> = entries.filter(|&(i, j, a)| a != 0.0 || (i + j) % 3 == 0).collect();
        stored.reverse();
        Coefficients::sparse(dense.rows(), n, stored).expect("each coefficient once")
    };
    let (soft, at_most, equal) = (problem.soft(), problem.at_most(), problem.equal());
    let start = if problem.sense() == Sense::Max { Problem::maximize(n) } else { Problem::minimize(n) };
    let rows = Soft::both(coefficients(&soft.C), soft.d.clone(), soft.alpha.clone(), soft.under.clone());
    let mut builder = start
        .linear(problem.theta())
        .soft("soft", rows)
        .at_most("limit", coefficients(&at_most.rows), at_most.rhs.clone())
        .equal("balance", coefficients(&equal.rows), equal.rhs.clone())
        .lower(problem.lower())
        .upper(problem.upper());
    if let Some(q) = problem.Q() {
        builder = builder.quadratic(coefficients(q));
    }
    builder.build().expect("as good as the dense one")
}

/// |a − b| ≤ tol·(1 + |b|), with both values in the message.
#[macro_export]
macro_rules! close {
    ($a:expr, $b:expr, $tol:expr) => { close!($a, $b, $tol, "") };
    ($a:expr, $b:expr, $tol:expr, $($why:tt)*) => {{
        let (a, b): (f64, f64) = ($a, $b);
        assert!((a - b).abs() <= $tol * (1.0 + b.abs()), "{a} vs {b} {}", format!($($why)*));
    }};
}
