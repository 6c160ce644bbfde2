//! What decisions cost.

use regretless_core::Decision;
use serde::{Deserialize, Serialize};

use crate::evaluate::stats::{Summary, cvar, quantile};

/// Measures of a set of instances. Where nothing was decided, what decisions would have cost is unknown: NaN here, `null` in
/// JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Instances with a decision and an optimum to compare it with.
    pub instances: usize,
    /// Instances for which no decision could be found, or none to compare with.
    pub undecided: usize,
    /// Mean regret: optimal minus achieved objective, in the objective's units.
    #[serde(with = "crate::unknown")]
    pub regret: f64,
    /// Its standard error.
    #[serde(with = "crate::unknown")]
    pub standard_error: f64,
    /// Mean regret over the mean absolute optimal value; unknown where that is 0.
    #[serde(with = "crate::unknown")]
    pub relative: f64,
    /// Regret at 10, 50, 90 and 99 %.
    #[serde(with = "crate::unknown::four")]
    pub quantiles: [f64; 4],
    /// Mean regret of the worst tenth.
    #[serde(with = "crate::unknown")]
    pub cvar90: f64,
    /// Of decisions at risk: what they promised and what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskMeasures>,
    /// Largest violation of a hard row by a decision, under the true parameters.
    #[serde(with = "crate::unknown")]
    pub violation: f64,
    /// Share of decisions that violate a hard row, by the rule of [`View::violated`](regretless_core::View::violated).
    #[serde(with = "crate::unknown")]
    pub violated: f64,
    /// Prices that came out negative in the predictions, and counted as 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: usize,
    /// Mean squared error of the predictions.
    #[serde(with = "crate::unknown")]
    pub mse: f64,
    /// Mean absolute error of the predictions.
    #[serde(with = "crate::unknown")]
    pub mae: f64,
}

/// Means over decisions at risk, in the objective's units and sense.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RiskMeasures {
    /// (1 − ω)·mean + ω·CVaR over the scenarios of each decision.
    pub promised: f64,
    /// (1 − ω)·cost + ω(t + (cost − t)⁺/(1 − τ)), with the cost that came of it and the threshold t that was given with it: what a
    /// risk minimises the mean of, and fair to any forecast.
    pub score: f64,
    /// What scores fall short of the optima: regret at risk, never below 0.
    #[serde(default = "unknown", with = "crate::unknown")]
    pub regret: f64,
    /// Share of the decisions whose cost was beyond their threshold; 1 − τ is right.
    pub beyond: f64,
}

/// Records of earlier releases do not have it.
fn unknown() -> f64 {
    f64::NAN
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Measures {
    /// Measures of decisions, with the predictions behind them and the truths.
    pub fn of(decisions: &[Decision], predictions: &[f64], truths: &[f64]) -> Self {
        let mut tally = Tally::default();
        decisions.iter().for_each(|d| tally.decision(d));
        tally.predictions(predictions, truths);
        tally.measures()
    }

    /// Measures of rows without a single decision.
    pub(crate) fn nothing(undecided: usize) -> Self {
        let unknown = f64::NAN;
        Self {
            undecided,
            regret: unknown,
            standard_error: unknown,
            relative: unknown,
            quantiles: [unknown; 4],
            cvar90: unknown,
            mse: unknown,
            mae: unknown,
            ..Self::default()
        }
    }

    /// The better first. What decides fewer rows comes after what decides more, whatever the rest of them cost; unknown
    /// regrets come last.
    ///
    /// ```
    /// use regretless_learn::Measures;
    /// let sound = Measures { instances: 3, regret: 5.0, ..Measures::default() };
    /// let diverged = Measures { instances: 1, undecided: 2, ..Measures::default() };
    /// assert!(sound.rank(&diverged).is_lt());
    /// ```
    pub fn rank(&self, other: &Self) -> std::cmp::Ordering {
        let both = self.risk.is_some() && other.risk.is_some();
        let of = |measures: &Self| if both { measures.judged() } else { measures.regret };
        self.undecided.cmp(&other.undecided).then(of(self).total_cmp(&of(other)))
    }

    /// What tells the better of two that both decide at risk, or neither: the regret of scores, or regret.
    pub(crate) fn judged(&self) -> f64 {
        self.risk.map_or(self.regret, |risk| risk.regret)
    }
}

/// Measures in the making: of a decision only its regret is kept, so that a million of them are eight megabytes.
///
/// ```
/// use regretless_learn::Tally;
/// let mut tally = Tally::default();
/// tally.predictions(&[1.0, 2.0], &[1.0, 4.0]);
/// assert_eq!(tally.measures().mae, 1.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tally {
    regrets: Vec<f64>,
    undecided: usize,
    /// Sum of the absolute optimal values.
    size: f64,
    violation: f64,
    violated: usize,
    /// Decisions at risk, and the sums of what is measured of them.
    at_risk: usize,
    risk: [f64; 4],
    cut: usize,
    squares: f64,
    absolutes: f64,
    entries: usize,
}

impl Tally {
    /// Counts a decision.
    pub fn decision(&mut self, decision: &Decision) {
        self.cut += decision.cut;
        if decision.trouble.is_some() {
            self.undecided += 1;
            return;
        }
        self.regrets.push(decision.regret);
        self.size += decision.optimal.abs();
        self.violation = self.violation.max(decision.violation);
        self.violated += usize::from(decision.violation > 0.0);
        if let Some(kept) = &decision.at_risk {
            self.at_risk += 1;
            let short = (decision.optimal - kept.score).abs();
            let own = [kept.promised.value, kept.score, short, f64::from(u8::from(kept.beyond))];
            self.risk.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
        }
    }

    /// Counts a row that nobody could decide for.
    pub fn undecided(&mut self) {
        self.undecided += 1;
    }

    /// Counts predicted entries and what came true of them.
    pub fn predictions(&mut self, predictions: &[f64], truths: &[f64]) {
        for error in predictions.iter().zip(truths).map(|(p, t)| p - t).filter(|e| e.is_finite()) {
            self.squares += error * error;
            self.absolutes += error.abs();
            self.entries += 1;
        }
    }

    /// The measures of all that was counted.
    pub fn measures(&self) -> Measures {
        let entries = self.entries as f64;
        let (mse, mae) = (self.squares / entries, self.absolutes / entries);
        let Ok(summary) = Summary::of(&self.regrets) else {
            return Measures { mse, mae, cut: self.cut, ..Measures::nothing(self.undecided) };
        };
        let count = self.regrets.len();
        let size = self.size / count as f64;
        Measures {
            instances: count,
            undecided: self.undecided,
            regret: summary.mean,
            standard_error: summary.std.map_or(0.0, |std| std / (count as f64).sqrt()),
            // Regret relative to nothing says nothing: an optimal value of 0 up to rounding.
            relative: if size > 1e-9 * summary.mean.abs() { summary.mean / size } else { f64::NAN },
            quantiles: [0.1, 0.5, 0.9, 0.99].map(|q| quantile(&self.regrets, q).unwrap_or(0.0)),
            cvar90: cvar(&self.regrets, 0.9).unwrap_or(0.0),
            violation: self.violation,
            violated: self.violated as f64 / count as f64,
            risk: (self.at_risk > 0).then(|| {
                let [promised, score, regret, beyond] = self.risk.map(|sum| sum / self.at_risk as f64);
                RiskMeasures { promised, score, regret, beyond }
            }),
            cut: self.cut,
            mse,
            mae,
        }
    }
}
