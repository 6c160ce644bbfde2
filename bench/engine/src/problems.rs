//! The problems of the paper, at the sizes the tables ask for.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regretless_core::{Matrix, Problem, Soft};

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn uniform(rng: &mut impl Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.random()).collect()
}

/// U(0, 1) entries, half the rows of every column zeroed.
fn half_sparse(rng: &mut impl Rng, rows: usize, cols: usize) -> Matrix {
    let mut m = Matrix::from_fn(rows, cols, |_, _| rng.random());
    for j in 0..cols {
        let mut order: Vec<usize> = (0..rows).collect();
        for i in 0..rows.div_ceil(2) {
            let k = rng.random_range(i..rows);
            order.swap(i, k);
            m[(order[i], j)] = 0.0;
        }
    }
    m
}

fn share_of_row_sums(m: &Matrix, share: f64) -> Vec<f64> {
    (0..m.rows()).map(|i| share * m.row(i).iter().sum::<f64>()).collect()
}

/// The synthetic LP: `Ax ≤ b`, x ≥ 0, soft rows `Cx ≤ d` at prices U(0, 0.2).
pub(crate) fn synthetic(n: usize, hard: usize, soft: usize) -> Problem {
    let mut r = rng(2021 * 31);
    let a = half_sparse(&mut r, hard, n);
    let c = half_sparse(&mut r, soft, n);
    let alpha = uniform(&mut r, soft).iter().map(|u| 0.2 * u).collect::<Vec<_>>();
    let (b, d) = (share_of_row_sums(&a, 0.5), share_of_row_sums(&c, 0.25));
    Problem::maximize(n)
        .soft("soft", Soft::over(c, d, alpha))
        .at_most("hard", a, b)
        .build()
        .expect("the recipe is valid")
}

/// Provisioning: 24 two-sided hours over 8 regions, shares that sum to 1.
pub(crate) fn provisioning(seed: u64) -> Problem {
    let mut r = rng(seed);
    let c =
        Matrix::from_fn(24, 8, |h, j| 0.3 + 0.2 * ((h + 3 * j) as f64 / 4.0).sin() + 0.2 * r.random::<f64>());
    let d: Vec<f64> = (0..24).map(|_| 0.5 + 0.1 * (r.random::<f64>() - 0.5)).collect();
    Problem::minimize(8)
        .linear([0.0; 8])
        .soft("hours", Soft::both(c, d, vec![5.0; 24], vec![0.5; 24]))
        .equal("shares", Matrix::from_fn(1, 8, |_, _| 1.0), [1.0])
        .build()
        .expect("the recipe is valid")
}

/// Portfolio: a similarity matrix of 9 returns, 0.4 n soft groups, weights that sum to 1.
pub(crate) fn portfolio(n: usize) -> Problem {
    let mut r = rng(n as u64);
    let returns = Matrix::from_fn(n, 9, |_, _| r.random::<f64>() + r.random::<f64>() - 1.0);
    let norm = |i: usize| returns.row(i).iter().map(|v| v * v).sum::<f64>().sqrt();
    let q = Matrix::from_fn(n, n, |i, j| {
        let dot: f64 = returns.row(i).iter().zip(returns.row(j)).map(|(a, b)| a * b).sum();
        0.9 * dot / (norm(i) * norm(j)) + if i == j { 0.1 } else { 0.0 }
    });
    let groups = 2 * n / 5;
    let c = Matrix::from_fn(groups, n, |_, _| f64::from(u8::from(r.random_bool(0.1))));
    let d = uniform(&mut r, groups).iter().map(|u| 0.2 * u).collect::<Vec<_>>();
    let alpha = uniform(&mut r, groups).iter().map(|u| 15.0 / n as f64 * u).collect::<Vec<_>>();
    Problem::maximize(n)
        .quadratic(q)
        .soft("groups", Soft::over(c, d, alpha))
        .equal("budget", Matrix::from_fn(1, n, |_, _| 1.0), [1.0])
        .build()
        .expect("the recipe is valid")
}
