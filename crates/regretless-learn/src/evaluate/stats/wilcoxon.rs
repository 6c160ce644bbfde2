//! Wilcoxon's signed ranks.

use statrs::distribution::{ContinuousCDF, Normal};

use super::paired::{PairedTest, differences};
use super::summary::moments;

/// Up to this many pairs without ties and zeros the null distribution is enumerated.
const EXACT: usize = 50;
/// Up to this many pairs it is enumerated with ties and zeros as well.
const EXACT_WITH_TIES: usize = 13;

/// Wilcoxon's signed-rank test, two-sided, as `scipy.stats.wilcoxon` does it by default.
///
/// Zero differences are dropped, the others ranked by |dᵢ| (ties share the mean of their ranks), W⁺ is the sum
/// of the ranks of the positive ones, W⁻ that of the negative ones, and the statistic is min(W⁺, W⁻).
///
/// - At most 50 pairs without ties and zeros, or at most 13 pairs: the null distribution, every sign with
///   probability ½ given the ranks, is enumerated, and p = 2 P(W ≤ min(W⁺, W⁻)), at most 1.
/// - Otherwise W⁺ is taken as normal with mean r (r + 1) / 4 and variance
///   r (r + 1) (2 r + 1) / 24 − Σ (t³ − t) / 48, r the number of differences left and t the sizes of the groups
///   of ties, without continuity correction.
///
/// Two identical samples give p = 1 (SciPy: NaN beyond 13 pairs). None if there are no pairs, the lengths
/// differ or a difference is not finite.
pub fn wilcoxon(a: &[f64], b: &[f64]) -> Option<PairedTest> {
    let differences = differences(a, b)?;
    let n = differences.len();
    let (mean_difference, _) = moments(&differences);
    let ranks = Ranks::of(&differences);
    let regular = ranks.doubled.len() == n && ranks.tie_term == 0.0;
    let p_value = if ranks.doubled.is_empty() {
        1.0
    } else if n <= if regular { EXACT } else { EXACT_WITH_TIES } {
        ranks.exact()
    } else {
        ranks.asymptotic()?
    };
    Some(PairedTest { statistic: ranks.smaller as f64 / 2.0, p_value, mean_difference, n })
}

/// The signed ranks, doubled: the mean rank of a tie can be a half, its double is whole.
struct Ranks {
    /// 2 × rank of every difference that is not 0.
    doubled: Vec<usize>,
    /// 2 min(W⁺, W⁻).
    smaller: usize,
    /// Σ (t³ − t) over the groups of ties.
    tie_term: f64,
}

impl Ranks {
    fn of(differences: &[f64]) -> Self {
        let mut nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
        nonzero.sort_unstable_by(|x, y| x.abs().total_cmp(&y.abs()));
        let mut doubled = Vec::with_capacity(nonzero.len());
        let (mut plus, mut minus, mut tie_term) = (0, 0, 0.0);
        for group in nonzero.chunk_by(|x, y| x.abs() == y.abs()) {
            // Ranks s + 1 … s + t have the mean s + (t + 1) / 2.
            let rank = 2 * doubled.len() + group.len() + 1;
            let positive = group.iter().filter(|d| **d > 0.0).count();
            plus += rank * positive;
            minus += rank * (group.len() - positive);
            let t = group.len() as f64;
            tie_term += t.powi(3) - t;
            doubled.resize(doubled.len() + group.len(), rank);
        }
        Self { doubled, smaller: plus.min(minus), tie_term }
    }

    /// 2 P(W ≤ min(W⁺, W⁻)), counting the sign patterns with each sum of positive ranks.
    fn exact(&self) -> f64 {
        // Sums above the statistic never matter. The counts are at most 2⁵⁰, hence exact.
        let mut patterns = vec![0.0_f64; self.smaller + 1];
        patterns[0] = 1.0;
        for &rank in &self.doubled {
            for sum in (rank..patterns.len()).rev() {
                patterns[sum] += patterns[sum - rank];
            }
        }
        let all = self.doubled.iter().fold(1.0, |all, _| 2.0 * all);
        (2.0 * patterns.iter().sum::<f64>() / all).min(1.0)
    }

    /// 2 Φ(z), z the standardised min(W⁺, W⁻), which is never above its mean.
    fn asymptotic(&self) -> Option<f64> {
        let r = self.doubled.len() as f64;
        let mean = r * (r + 1.0) / 4.0;
        let variance = (r * (r + 1.0) * (2.0 * r + 1.0) - self.tie_term / 2.0) / 24.0;
        let z = (self.smaller as f64 / 2.0 - mean) / variance.sqrt();
        Some((2.0 * Normal::new(0.0, 1.0).ok()?.cdf(z)).min(1.0))
    }
}
