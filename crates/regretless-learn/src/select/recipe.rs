//! How one predictor is trained.

use regretless_core::Method;

use crate::data::transform::Scale;
use crate::settings::{
    Base, Ensembles, MethodName, PredictorKind, Regression, ScenarioSource, Scenarios, Settings, Sharpness,
    Stop, TrainingSettings,
};

/// Everything that decides how one predictor is trained, the data apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// What it is called in tables and files: the method's full id, with K where several are tried.
    pub name: String,
    /// The loss; `None` for the constant predictor, which has nothing to learn.
    pub method: Option<Method>,
    /// Mixed with L2.
    pub mixed: bool,
    /// Decide, and where the method can also train, for the average over scenarios.
    pub scenarios: bool,
    /// Sharpness: one value or a way from one to another.
    pub k: Sharpness,
    /// The scale on which an untrained predictor is to predict each target; empty if all are on their own.
    pub scales: Vec<Scale>,
    /// Which outputs a tree moves.
    pub ensembles: Ensembles,
    /// The learning rate of each epoch, where others learned it; empty if the schedule says it.
    pub rates: Vec<f64>,
    /// Everything else.
    pub training: TrainingSettings,
}

impl Recipe {
    /// The recipe of a method under these settings, one for every K of a grid; none for `auto`, which is
    /// no method but a choice among them.
    pub fn of(settings: &Settings, name: MethodName, seed: u64) -> Vec<Self> {
        if name.base == Base::Auto {
            return Vec::new();
        }
        let method = name.base.loss(settings.surrogate.options.segments);
        let base = method.map_or(Base::Constant, Base::Loss);
        let full = MethodName { base, ..name };
        // Forecasts that are given have no loss of their own.
        let given = settings.predictor.kind == PredictorKind::Given && base.is_forecast();
        let full = if given { full.to_string().replacen(base.word(), "given", 1) } else { full.to_string() };
        let regression = if name.stopped { Regression::Descent } else { settings.training.regression };
        let recipe = |name_of: String, k: Sharpness| Self {
            name: name_of,
            method,
            mixed: name.mixed,
            scenarios: name.scenarios,
            k,
            scales: Vec::new(),
            ensembles: settings.predictor.trees.ensembles,
            rates: Vec::new(),
            training: TrainingSettings {
                method: name,
                regression,
                seed,
                scenarios: Scenarios {
                    source: name.source.unwrap_or(settings.training.scenarios.source),
                    ..settings.training.scenarios
                },
                ..settings.training.clone()
            },
        };
        match settings.surrogate.sharpness.clone() {
            Sharpness::Grid(ks) if method.is_some_and(Method::uses_surrogate) => {
                ks.into_iter().map(|k| recipe(format!("{full} K={k}"), Sharpness::Fixed(k))).collect()
            }
            k => vec![recipe(full, k)],
        }
    }
}

impl Recipe {
    /// True if the loss is one of the forecast alone: the first of two stages.
    pub(crate) fn of_forecast(&self) -> bool {
        self.method.is_some_and(|m| !m.is_decision_focused()) && !self.mixed
    }

    /// True if it has a loss of the decision, so that a forecast may come first.
    pub(crate) fn is_tuned(&self) -> bool {
        self.method.is_some() && !self.of_forecast()
    }

    /// True if its loss is measured on the scale where the forecast is made.
    pub(crate) fn is_measured_there(&self) -> bool {
        self.of_forecast() && !self.scales.is_empty()
    }

    /// Where its scenarios come from, if it has any.
    pub(crate) fn source(&self) -> Option<ScenarioSource> {
        self.scenarios.then_some(self.training.scenarios.source)
    }

    /// True if decisions are for the average over errors of the predictor.
    pub(crate) fn wants_errors(&self) -> bool {
        self.source().is_some_and(ScenarioSource::is_of_errors)
    }

    /// True if it is also trained through them.
    pub(crate) fn trains_through_errors(&self) -> bool {
        self.wants_errors() && self.method.is_some_and(Method::takes_scenarios)
    }

    /// True if its loss can look at the worst of scenarios.
    pub(crate) fn takes_risk(&self) -> bool {
        self.method.is_some_and(Method::takes_risk)
    }
}

/// True if training should end. `regrets` are those of epochs 1, 2, …; `waited` epochs passed since the best.
pub(crate) fn stop_now(stop: Stop, regrets: &[f64], waited: usize) -> bool {
    match stop {
        Stop::Never => false,
        Stop::Patience(patience) => waited >= patience,
        // The rule of the paper's experiments, pair by pair.
        Stop::Paper => {
            let n = regrets.len();
            n >= 8 && (n - 4..n).all(|t| regrets[t].is_nan() || regrets[t] >= regrets[t - 4] + 1e-6)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_rule_compares_four_with_four() {
        let falling: Vec<f64> = (0..8).map(|i| f64::from(8 - i)).collect();
        assert!(!stop_now(Stop::Paper, &falling, 0));
        let rising: Vec<f64> = (0..8).map(f64::from).collect();
        assert!(stop_now(Stop::Paper, &rising, 7));
        assert!(!stop_now(Stop::Paper, &rising[..7], 6));
        let one_better = [1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 4.0, 3.9];
        assert!(!stop_now(Stop::Paper, &one_better, 0));
    }
}
