//! How a predictor is made, trained and judged: plain structs with every default filled in, whoever fills them.

mod method;
mod predictor;
mod split;
mod surrogate;
mod training;
mod words;

pub use method::{Base, MethodError, MethodName};
pub use predictor::{
    Activation, Ensembles, Initial, Monotone, PredictorBase, PredictorKind, PredictorSettings, QuadraticForm,
    QuadraticSettings, TargetTransform, TreeSettings,
};
pub use split::{Part, Split, SplitKind, Timed};
pub use surrogate::SurrogateSettings;
pub use training::{
    Clip, ErrorWeights, Infeasible, Keep, Mix, OptimizerKind, Ramp, Regression, RiskSettings, ScenarioSource,
    Scenarios, Schedule, Sharpness, Stop, TrainingSettings, Warmup,
};
pub use words::visible;

/// Everything that decides how a predictor is trained, problem and data apart.
///
/// ```
/// use regretless_learn::{PredictorKind, PredictorSettings, Settings};
/// let predictor = PredictorSettings { kind: PredictorKind::Linear, ..PredictorSettings::default() };
/// let settings = Settings { predictor, ..Settings::default() };
/// assert_eq!(settings.training.epochs, 200);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How the problem is softened and smoothed.
    pub surrogate: SurrogateSettings,
    /// How rows are split that do not say which part they belong to.
    pub split: Split,
    /// The predictor.
    pub predictor: PredictorSettings,
    /// How it is trained.
    pub training: TrainingSettings,
}
