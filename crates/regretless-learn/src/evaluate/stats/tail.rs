//! The mean of the worst cases.

use super::StatsError;
use super::error::check;
use super::summary::sorted;

/// Conditional value at risk: the mean of the worst, i.e. largest, share 1 − `alpha` of the values
/// (`alpha` = 0.9: the worst 10 %), `alpha` in [0, 1).
///
/// With m = (1 − α) n, k = ⌊m⌋ and x₍₁₎ ≥ x₍₂₎ ≥ …
///
/// CVaR = ( x₍₁₎ + … + x₍ₖ₎ + (m − k) x₍ₖ₊₁₎ ) / m.
///
/// The observation on the boundary counts with the fraction of it that lies in the tail; this is exactly
/// min over t of t + Σ max(xᵢ − t, 0) / m (Rockafellar and Uryasev, 2000), so CVaR moves continuously with α
/// and never jumps with n. It is the mean at α = 0 and the maximum once m ≤ 1.
pub fn cvar(values: &[f64], alpha: f64) -> Result<f64, StatsError> {
    check(values)?;
    if !(0.0..1.0).contains(&alpha) {
        return Err(StatsError::Level { name: "alpha", value: alpha, range: "[0, 1)" });
    }
    let mass = (1.0 - alpha) * values.len() as f64;
    let whole = (mass.floor() as usize).min(values.len());
    let sorted = sorted(values);
    let mut worst = sorted.iter().rev();
    let tail: f64 = worst.by_ref().take(whole).sum();
    let boundary = worst.next().map_or(0.0, |x| (mass - whole as f64) * x);
    Ok((tail + boundary) / mass)
}
