//! How much the worst outcomes count, and what a decision promises of them.

use crate::predict::scenarios::ScenarioError;

/// How much the worst outcomes count: CVaR, alone or together with the mean.
///
/// ```
/// use regretless_core::Risk;
/// // The mean of the worst tenth, and half of it with half of the mean of all.
/// let (worst, both) = (Risk::cvar(0.9)?, Risk::mixed(0.9, 0.5)?);
/// // A threshold of 10 and a cost of 12, which is 2 beyond it.
/// assert!((worst.score(10.0, 12.0) - 30.0).abs() < 1e-12);
/// assert!((both.score(10.0, 12.0) - 21.0).abs() < 1e-12);
/// assert!(Risk::cvar(90.0).is_err());
/// # Ok::<(), regretless_core::ScenarioError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Risk {
    level: f64,
    weight: f64,
}

/// What a decision promises under a risk, in the problem's own sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The mean objective over the scenarios.
    pub mean: f64,
    /// The objective that is missed with a probability of at most 1 − τ.
    pub threshold: f64,
    /// (1 − ω)·mean + ω·CVaR.
    pub value: f64,
}

impl Risk {
    /// The highest level: beyond, what is dear is so dear that nothing else is told from rounding.
    pub const HIGHEST: f64 = 0.999_999;

    /// CVaR at a level τ: the mean of the worst share 1 − τ.
    pub fn cvar(level: f64) -> Result<Self, ScenarioError> {
        Self::mixed(level, 1.0)
    }

    /// CVaR at a level τ with weight ω, and the mean with weight 1 − ω.
    pub fn mixed(level: f64, weight: f64) -> Result<Self, ScenarioError> {
        if !(level > 0.0 && level <= Self::HIGHEST) {
            let expected = "above 0 and up to 0.999999, such as 0.9 for the mean of the worst tenth";
            return Err(ScenarioError::Risk { what: "the level of CVaR", value: level, expected });
        }
        if !(weight > 0.0 && weight <= 1.0) {
            let expected = "above 0 and up to 1, the rest is that of the mean";
            return Err(ScenarioError::Risk { what: "the weight of CVaR", value: weight, expected });
        }
        Ok(Self { level, weight })
    }

    /// τ
    pub fn level(self) -> f64 {
        self.level
    }

    /// ω
    pub fn weight(self) -> f64 {
        self.weight
    }

    /// What a threshold t and a cost c come to: (1 − ω)c + ω(t + (c − t)⁺/(1 − τ)). Its mean is least, whatever the decision, for a
    /// threshold at the quantile τ of the costs, and is then what the risk minimises.
    pub fn score(self, threshold: f64, cost: f64) -> f64 {
        let beyond = (cost - threshold).max(0.0) / (1.0 - self.level);
        (1.0 - self.weight) * cost + self.weight * (threshold + beyond)
    }

    /// ∂score/∂t and ∂score/∂c; at the threshold those from below.
    pub(crate) fn slopes(self, threshold: f64, cost: f64) -> (f64, f64) {
        let beyond = self.weight * f64::from(u8::from(cost > threshold)) / (1.0 - self.level);
        (self.weight - beyond, 1.0 - self.weight + beyond)
    }

    /// The most that a unit beyond every threshold costs: 1 − ω + ω/(1 − τ).
    pub(super) fn steepest(self) -> f64 {
        1.0 - self.weight + self.weight / (1.0 - self.level)
    }

    /// Mean, threshold and value of costs with shares that are 1 together.
    pub(super) fn of(self, costs: &mut [(f64, f64)]) -> Outlook {
        costs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut below = 0.0;
        // What rounding leaves out of a sum of shares.
        let reached = costs.iter().find(|(_, share)| {
            below += share;
            below >= self.level - 1e-12
        });
        let threshold = reached.or(costs.last()).map_or(f64::NAN, |(cost, _)| *cost);
        let mean = costs.iter().map(|(cost, share)| share * cost).sum();
        let value = costs.iter().map(|(cost, share)| share * self.score(threshold, *cost)).sum();
        Outlook { mean, threshold, value }
    }
}
