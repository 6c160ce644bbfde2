//! Mean, spread and quantiles of a list.

use serde::{Deserialize, Serialize};

use super::StatsError;
use super::error::check;

/// A list of numbers in ten figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many values, n.
    pub count: usize,
    /// x̄ = Σ xᵢ / n.
    pub mean: f64,
    /// s = √(Σ (xᵢ − x̄)² / (n − 1)); none for a single value, whose spread is unknown, not 0.
    pub std: Option<f64>,
    /// The smallest value.
    pub min: f64,
    /// The 5 % quantile; all quantiles as in [`quantile`].
    pub q05: f64,
    /// The lower quartile.
    pub q25: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub q75: f64,
    /// The 95 % quantile.
    pub q95: f64,
    /// The largest value.
    pub max: f64,
}

impl Summary {
    /// Describes `values`; an empty list or one with NaN or infinity is refused.
    pub fn of(values: &[f64]) -> Result<Self, StatsError> {
        check(values)?;
        let sorted = sorted(values);
        let (mean, variance) = moments(values);
        Ok(Self {
            count: values.len(),
            mean,
            std: variance.map(f64::sqrt),
            min: sorted[0],
            q05: quantile_sorted(&sorted, 0.05),
            q25: quantile_sorted(&sorted, 0.25),
            median: quantile_sorted(&sorted, 0.5),
            q75: quantile_sorted(&sorted, 0.75),
            q95: quantile_sorted(&sorted, 0.95),
            max: sorted[sorted.len() - 1],
        })
    }
}

/// The q-quantile by linear interpolation, NumPy's default: with the values sorted from index 0 and
/// h = (n − 1) q, it is x₍⌊h⌋₎ + (h − ⌊h⌋) (x₍⌊h⌋₊₁₎ − x₍⌊h⌋₎).
pub fn quantile(values: &[f64], q: f64) -> Result<f64, StatsError> {
    check(values)?;
    if !(0.0..=1.0).contains(&q) {
        return Err(StatsError::Level { name: "q", value: q, range: "[0, 1]" });
    }
    Ok(quantile_sorted(&sorted(values), q))
}

/// The values in ascending order.
pub(super) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// [`quantile`] of a sorted, non-empty list.
pub(super) fn quantile_sorted(sorted: &[f64], q: f64) -> f64 {
    let last = sorted.len() - 1;
    let h = last as f64 * q;
    let below = (h.floor() as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let t = h - below as f64;
    // Weights instead of a difference: high − low could overflow. Clamped, or equal neighbours could give a
    // quantile one rounding above the maximum.
    (low * (1.0 - t) + high * t).clamp(low, high)
}

/// Mean and variance (ddof 1, none for a single value) of a non-empty list, in two passes.
pub(super) fn moments(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let rough = values.iter().sum::<f64>() / n;
    // The second sweep takes out the rounding of the first sum.
    let mean = rough + values.iter().map(|v| v - rough).sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (values.len() > 1).then(|| squares / (n - 1.0)))
}
