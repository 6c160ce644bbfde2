//! How far the mean of a list can be trusted.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::StatsError;
use super::error::check;
use super::summary::{quantile_sorted, sorted};

/// Percentile bootstrap of the mean: draws `resamples` lists of n values with replacement and returns the
/// (1 − L)/2 and (1 + L)/2 quantiles of their means, L = `level` in (0, 1), e.g. 0.95.
///
/// The same seed gives the same interval on every machine. A single value gives an interval of width 0: there
/// is nothing to resample.
pub fn bootstrap_mean(
    values: &[f64],
    level: f64,
    resamples: usize,
    seed: u64,
) -> Result<(f64, f64), StatsError> {
    check(values)?;
    if !(level > 0.0 && level < 1.0) {
        return Err(StatsError::Level { name: "level", value: level, range: "(0, 1)" });
    }
    if resamples == 0 {
        return Err(StatsError::NoResamples);
    }
    let n = values.len();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let means: Vec<f64> = (0..resamples)
        .map(|_| (0..n).map(|_| values[rng.random_range(0..n)]).sum::<f64>() / n as f64)
        .collect();
    let means = sorted(&means);
    let outside = (1.0 - level) / 2.0;
    Ok((quantile_sorted(&means, outside), quantile_sorted(&means, 1.0 - outside)))
}

/// What resampling says of a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampled {
    /// Its standard error.
    pub error: f64,
    /// Two-sided: how often the mean would be as far from 0 by chance.
    pub p_value: f64,
}

/// Circular block bootstrap of the mean of values that follow one another in time (Politis & Romano 1992): each of `resamples` lists
/// is made of blocks of `length` neighbours, begun anywhere, so that what neighbours have in common stays in the blocks.
///
/// ```text
/// p = (1 + #{|m* − m| ≥ |m|})/(1 + resamples)         m* the means of the lists
/// ```
///
/// Fewer than two blocks say nothing of the error: `None`.
///
/// ```
/// use regretless_learn::stats::bootstrap_blocks;
/// // Each value ten times in a row: a hundred values that know as much as ten.
/// let once: Vec<f64> = (0..10).map(|i| f64::from((7 * i) % 10)).collect();
/// let repeated: Vec<f64> = once.iter().flat_map(|v| [*v; 10]).collect();
/// let plain = bootstrap_blocks(&repeated, 1, 2000, 0)?.unwrap();
/// let blocks = bootstrap_blocks(&repeated, 20, 2000, 0)?.unwrap();
/// assert!(blocks.error > 2.0 * plain.error);
/// # Ok::<(), regretless_learn::stats::StatsError>(())
/// ```
pub fn bootstrap_blocks(
    values: &[f64],
    length: usize,
    resamples: usize,
    seed: u64,
) -> Result<Option<Resampled>, StatsError> {
    check(values)?;
    if resamples == 0 {
        return Err(StatsError::NoResamples);
    }
    let (n, length) = (values.len(), length.max(1));
    if n < 2 * length || n < 2 {
        return Ok(None);
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut list = || {
        let mut sum = 0.0;
        for begun in (0..n).step_by(length) {
            let start = rng.random_range(0..n);
            sum += (0..length.min(n - begun)).map(|i| values[(start + i) % n]).sum::<f64>();
        }
        sum / n as f64 - mean
    };
    let off: Vec<f64> = (0..resamples).map(|_| list()).collect();
    let square = off.iter().map(|m| m * m).sum::<f64>() / resamples as f64;
    let far = off.iter().filter(|m| m.abs() >= mean.abs()).count();
    Ok(Some(Resampled { error: square.sqrt(), p_value: (1 + far) as f64 / (1 + resamples) as f64 }))
}
