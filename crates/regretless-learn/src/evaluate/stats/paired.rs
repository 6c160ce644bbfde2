//! Student's t for pairs.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::summary::moments;

/// Outcome of a two-sided test whether two methods differ on the same instances.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairedTest {
    /// The test statistic: t of [`paired_t`](super::paired_t), min(W⁺, W⁻) of [`wilcoxon()`](super::wilcoxon()).
    pub statistic: f64,
    /// Probability of a statistic at least as extreme if the methods did not differ.
    pub p_value: f64,
    /// Mean of aᵢ − bᵢ.
    pub mean_difference: f64,
    /// How many pairs.
    pub n: usize,
}

/// Paired t-test, two-sided: with dᵢ = aᵢ − bᵢ, t = d̄ / (s_d / √n), and p = P(|T| ≥ |t|) for Student's T
/// with n − 1 degrees of freedom.
///
/// Differences that are all 0 give t = 0 and p = 1; differences that are all the same but not 0 give t = ±∞
/// and p = 0. None if there are fewer than two pairs, the lengths differ or a difference is not finite.
pub fn paired_t(a: &[f64], b: &[f64]) -> Option<PairedTest> {
    let differences = differences(a, b)?;
    let n = differences.len();
    // Asked of the differences, not of their variance: rounding leaves a variance of 1e-34 and a t of 1e16.
    if n > 1 && differences.iter().all(|d| *d == differences[0]) {
        let d = differences[0];
        let (statistic, p_value) = if d == 0.0 { (0.0, 1.0) } else { (f64::INFINITY.copysign(d), 0.0) };
        return Some(PairedTest { statistic, p_value, mean_difference: d, n });
    }
    let (mean_difference, variance) = moments(&differences);
    let statistic = mean_difference / (variance? / n as f64).sqrt();
    let student = StudentsT::new(0.0, 1.0, (n - 1) as f64).ok()?;
    let p_value = (2.0 * student.sf(statistic.abs())).min(1.0);
    Some(PairedTest { statistic, p_value, mean_difference, n })
}

/// aᵢ − bᵢ; none if there are no pairs, the lengths differ or a difference is not finite.
pub(super) fn differences(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    if a.is_empty() || a.len() != b.len() {
        return None;
    }
    a.iter().zip(b).map(|(a, b)| Some(a - b).filter(|d| d.is_finite())).collect()
}
