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
