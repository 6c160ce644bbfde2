//! What decisions cost.

use regretless_core::Decision;
use serde::{Deserialize, Serialize};

use crate::stats::{Summary, cvar, quantile};

/// Violations up to this are rounding.
const ROUNDING: f64 = 1e-9;

/// Measures of a set of instances.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Instances with a decision and an optimum to compare it with.
    pub instances: usize,
    /// Instances for which no decision could be found, or none to compare with.
    pub undecided: usize,
    /// Mean regret: optimal minus achieved objective, in the objective's units.
    pub regret: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Mean regret over the mean absolute optimal value.
    pub relative: f64,
    /// Regret at 10, 50, 90 and 99 %.
    pub quantiles: [f64; 4],
    /// Mean regret of the worst tenth.
    pub cvar90: f64,
    /// Largest violation of a hard row by a decision, under the true parameters.
    pub violation: f64,
    /// Share of decisions that violate a hard row by more than 1e-6.
    pub violated: f64,
    /// Mean squared error of the predictions.
    pub mse: f64,
    /// Mean absolute error of the predictions.
    pub mae: f64,
}

impl Measures {
    /// Measures of decisions, with the predictions behind them and the truths.
    pub fn of(decisions: &[Decision], predictions: &[f64], truths: &[f64]) -> Self {
        let decided: Vec<&Decision> = decisions.iter().filter(|d| d.trouble.is_none()).collect();
        let regrets: Vec<f64> = decided.iter().map(|d| d.regret).collect();
        let errors = || predictions.iter().zip(truths).map(|(p, t)| p - t).filter(|e| e.is_finite());
        let entries = errors().count().max(1) as f64;
        let count = regrets.len();
        let size = decided.iter().map(|d| d.optimal.abs()).sum::<f64>() / count.max(1) as f64;
        let Ok(summary) = Summary::of(&regrets) else {
            return Self { undecided: decisions.len(), ..Self::default() };
        };
        let violations = decided.iter().map(|d| d.violation);
        Self {
            instances: count,
            undecided: decisions.len() - count,
            regret: summary.mean,
            standard_error: summary.std.map_or(0.0, |std| std / (count as f64).sqrt()),
            relative: if size > 0.0 { summary.mean / size } else { 0.0 },
            quantiles: [0.1, 0.5, 0.9, 0.99].map(|q| quantile(&regrets, q).unwrap_or(0.0)),
            cvar90: cvar(&regrets, 0.9).unwrap_or(0.0),
            // Below this a violation is what rounding leaves of a row that holds.
            violation: violations.clone().filter(|v| *v > ROUNDING).fold(0.0, f64::max),
            violated: violations.filter(|v| *v > 1e-6).count() as f64 / count.max(1) as f64,
            mse: errors().map(|e| e * e).sum::<f64>() / entries,
            mae: errors().map(f64::abs).sum::<f64>() / entries,
        }
    }
}
