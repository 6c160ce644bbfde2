//! Draws that the generators share.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

/// Standard normal numbers by the inverse distribution function: one uniform number each, on every platform the same.
pub fn normal(rng: &mut impl Rng, count: usize) -> Vec<f64> {
    let standard = Normal::standard();
    // The open interval: neither end has a finite quantile.
    (0..count)
        .map(|_| {
            standard.inverse_cdf((rng.random::<f64>() + f64::EPSILON / 2.0).min(1.0 - f64::EPSILON / 2.0))
        })
        .collect()
}

/// Uniform numbers on [0, 1).
pub fn uniform(rng: &mut impl Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.random()).collect()
}

/// Zeroes `zeros` rows, drawn without replacement, in every column of a row-major matrix.
pub fn thin(rng: &mut impl Rng, matrix: &mut [f64], rows: usize, cols: usize, zeros: usize) {
    for j in 0..cols {
        for i in choose(rng, rows, zeros) {
            matrix[i * cols + j] = 0.0;
        }
    }
}

/// The generator of a seed for one purpose: those of other numbers share nothing with it.
pub fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}

/// `count` of the numbers below `of`, without replacement, in the order they are drawn.
pub fn choose(rng: &mut impl Rng, of: usize, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..of).collect();
    for i in 0..count {
        let k = rng.random_range(i..of);
        order.swap(i, k);
    }
    order.truncate(count);
    order
}
