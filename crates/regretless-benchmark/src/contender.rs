//! What decides: a column of the scoreboard.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use regretless_learn::{
    MethodError, MethodName, PredictorKind, PredictorSettings, Settings, TargetTransform, TrainingSettings,
    Warmup,
};

use crate::BenchmarkError;

/// A way to decisions.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// What it is called in tables.
    pub name: Cow<'static, str>,
    /// Whether it looks at predictions only, so that it is among the two-stage baselines.
    pub two_stage: bool,
    /// How it decides.
    pub how: How,
}

/// How a contender decides.
#[derive(Clone, Debug, PartialEq)]
pub enum How {
    /// A training method with a predictor. All else is as it is for a user who says nothing.
    Method(Fit),
    /// The method that the contender is named after, with the settings and the predictor of the task.
    Own,
    /// The quantile of the past at the share of the costs, each series by itself: the sample average without features.
    Saa,
    /// The predictions of a method are the orders, scaled to the room there is.
    ToFit(Fit),
    /// The same with a model of its own for each quantity, on the two sides of its costs.
    Quantiles(Fit),
    /// By forecasts made elsewhere, read from a folder.
    Given(PathBuf),
}

/// A training method with a predictor.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The method.
    pub method: &'static str,
    /// The predictor.
    pub predictor: PredictorKind,
    /// The scale on which targets are predicted.
    pub transform: TargetTransform,
    /// What comes before the method.
    pub warmup: Warmup,
}

impl Contender {
    /// A method with a predictor, on the targets' own scale.
    pub(crate) const fn plain(name: &'static str, method: &'static str, predictor: PredictorKind) -> Self {
        let fit = Fit { method, predictor, transform: TargetTransform::None, warmup: Warmup::Epochs(0) };
        Self { name: Cow::Borrowed(name), two_stage: false, how: How::Method(fit) }
    }

    /// What a user gets who asks for nothing.
    pub(crate) const fn auto() -> Self {
        Self::plain("auto", "auto", PredictorKind::Auto).on(TargetTransform::Forecasts)
    }

    pub(crate) const fn on(mut self, scale: TargetTransform) -> Self {
        if let How::Method(fit) = &mut self.how {
            fit.transform = scale;
        }
        self
    }

    pub(crate) const fn after_l2(mut self) -> Self {
        if let How::Method(fit) = &mut self.how {
            fit.warmup = Warmup::Auto;
        }
        self
    }

    pub(crate) const fn two_stage(mut self) -> Self {
        self.two_stage = true;
        self
    }

    /// True for a choice among methods, which is compared with the best of them.
    pub fn is_auto(&self) -> bool {
        self.name == "auto"
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// A method's name, read.
pub(crate) fn name_of(method: &str) -> Result<MethodName, BenchmarkError> {
    method.parse().map_err(|error: MethodError| BenchmarkError::Settings {
        what: error.to_string(),
        hint: "this is a mistake in the program".into(),
    })
}

impl Fit {
    /// The settings of a problem file that names predictor, transform and warm-up and nothing else.
    pub(crate) fn settings(&self, base: &Settings, seed: u64) -> Settings {
        let kind = self.predictor;
        let default = PredictorSettings::default();
        let layers = if matches!(kind, PredictorKind::Mlp | PredictorKind::Auto) {
            default.layers.clone()
        } else {
            Vec::new()
        };
        let usual = TrainingSettings {
            learning_rate: TrainingSettings::default().learning_rate,
            ..base.training.clone()
        };
        let usual = if kind == PredictorKind::Trees { usual.of_trees() } else { usual };
        let predictor = PredictorSettings { kind, layers, target_transform: self.transform, ..default };
        let training = TrainingSettings { seed, warmup: self.warmup, ..usual };
        Settings { predictor, training, ..base.clone() }
    }
}
