//! The `[training]` section as it is written.

use schemars::JsonSchema;
use serde::Deserialize;

use super::form::forms;
use super::settings::RampSetting;
use regretless_learn::{Infeasible, Keep, OptimizerKind, Regression, ScenarioSource, Warmup};

/// How the predictor is trained.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainingSection {
    /// The method, with the suffixes `+l2` (mixed with L2) or `+stopped` (a forecast stopped on decisions), then `+scenarios` or a source of them, such as `+scaled`. Default `auto`.
    pub method: Option<String>,
    /// The most epochs. Default 200.
    pub epochs: Option<usize>,
    /// Instances a step. Default 32.
    pub batch: Option<usize>,
    /// The optimiser. Default `adam`.
    #[serde(default)]
    pub optimizer: OptimizerKind,
    /// Its learning rate. Default 0.003 for `adam`, 0.01 for the others.
    pub learning_rate: Option<f64>,
    /// Momentum, for `sgd` only. Default 0.9.
    pub momentum: Option<f64>,
    /// Decay of the weights. Default 0.
    pub weight_decay: Option<f64>,
    /// How the learning rate changes. Default `auto` for trees, `constant` for the others.
    pub schedule: Option<ScheduleSetting>,
    /// How gradients are clipped. Default { norm = 1.0 }.
    pub clip: Option<ClipSetting>,
    /// An instance's gradient may be this many times the batch's median; `inf` for any length. Default 10.
    pub bound: Option<f64>,
    /// When training stops early. Default { patience = 30 }.
    pub stop: Option<StopSetting>,
    /// Which epoch's predictor is kept. Default `best`.
    #[serde(default)]
    pub keep: Keep,
    /// How a linear predictor is fitted to `l1`, `l2` or `weighted-l1`: to the optimum, or step by step. Default `exact`.
    #[serde(default)]
    pub regression: Regression,
    /// What of L2 comes before the method. Default 0.
    pub warmup: Option<WarmupSetting>,
    /// Weight of L2 in methods with `+l2`. Default 0.5.
    pub mix: Option<MixSetting>,
    /// The two sides of `weighted-l1`. Default 1 and 1.
    #[serde(default)]
    pub weights: WeightsSection,
    /// Ridge of `df`. Default 0.1.
    pub ridge: Option<f64>,
    /// What happens to instances without an optimum. Default `fail`.
    #[serde(default)]
    pub infeasible: Infeasible,
    /// Seed of everything random. Default 0.
    #[serde(default)]
    pub seed: u64,
    /// Scenarios of methods with `+scenarios`.
    #[serde(default)]
    pub scenarios: ScenariosSection,
    /// How much the worst of the scenarios count for decisions. Default: as much as the others, which is their mean.
    pub risk: Option<RiskSection>,
}

/// How the learning rate changes.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum ScheduleSetting {
    /// Not at all.
    Word(ScheduleWord),
    /// When validation no longer improves.
    Plateau(PlateauSetting),
}

/// A schedule without settings.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ScheduleWord {
    /// The learning rate stays.
    Constant,
    /// It stays, but of trees with a loss without curvature: there it is halved where it gets nowhere, and training goes on from the best.
    Auto,
}

/// The learning rate falls when validation no longer improves.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PlateauSetting {
    /// The kind.
    pub kind: PlateauName,
    /// What the learning rate is multiplied with. Default 0.1.
    pub factor: Option<f64>,
    /// Epochs without improvement. Default 10.
    pub patience: Option<usize>,
    /// Go on from the best epoch so far, and not from the last. Default false.
    #[serde(default)]
    pub back: bool,
}

/// The kind of a schedule with settings.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum PlateauName {
    /// By validation.
    Plateau,
}

forms!(
    ScheduleSetting, "\"constant\", \"auto\" or { kind = \"plateau\", factor = 0.1, patience = 10 }",
    word ScheduleWord => ScheduleSetting::Word,
    table PlateauSetting => ScheduleSetting::Plateau
);

/// What of L2 comes before the method.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum WarmupSetting {
    /// So many epochs.
    Epochs(f64),
    /// All of it.
    Word(AutoWord),
}

/// The word `auto`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum AutoWord {
    /// The method starts where an `l2` ends.
    Auto,
}

forms!(
    WarmupSetting, "a number of epochs or \"auto\"",
    number => WarmupSetting::Epochs,
    word AutoWord => WarmupSetting::Word
);

impl From<Warmup> for WarmupSetting {
    fn from(warmup: Warmup) -> Self {
        match warmup {
            Warmup::Epochs(epochs) => Self::Epochs(epochs as f64),
            Warmup::Auto => Self::Word(AutoWord::Auto),
        }
    }
}

/// How gradients are clipped.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum ClipSetting {
    /// Not at all.
    Word(NoneWord),
    /// By norm or by value.
    Table(ClipTable),
}

/// The word `none`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum NoneWord {
    /// Not at all.
    None,
}

/// Exactly one of the two.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ClipTable {
    /// Gradients are scaled down to this norm.
    pub norm: Option<f64>,
    /// Every entry is cut to this size.
    pub value: Option<f64>,
}

forms!(
    ClipSetting, "\"none\", { norm = 1.0 } or { value = 0.1 }",
    word NoneWord => ClipSetting::Word,
    table ClipTable => ClipSetting::Table
);

/// When training stops early.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq)]
#[schemars(untagged)]
pub enum StopSetting {
    /// A rule by name.
    Word(StopWord),
    /// By patience.
    Table(StopTable),
}

/// A stopping rule without settings.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum StopWord {
    /// From epoch 8, when the last four epochs are no better than the four before.
    Paper,
    /// Not before the last epoch.
    Never,
}

/// Stops after so many epochs without improvement.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct StopTable {
    /// Epochs without improvement on validation.
    pub patience: usize,
}

forms!(
    StopSetting, "{ patience = 30 }, \"paper\" or \"never\"",
    word StopWord => StopSetting::Word,
    table StopTable => StopSetting::Table
);

/// The weight of L2: one number, or a way from one to another.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum MixSetting {
    /// The same in every epoch.
    Fixed(f64),
    /// From one weight to another.
    Annealed(RampSetting),
}

forms!(
    MixSetting, "a number or { from = 1.0, to = 0.0, epochs = 20 }",
    number => MixSetting::Fixed,
    table RampSetting => MixSetting::Annealed
);

/// The weights of `weighted-l1`.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WeightsSection {
    /// Of a unit predicted above the truth. Default 1.
    pub over: Option<f64>,
    /// Of a unit predicted below the truth. Default 1.
    pub under: Option<f64>,
}

/// How much the worst scenarios count for a decision.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RiskSection {
    /// The level τ of CVaR, the mean of the worst share 1 − τ: 0.9 for the worst tenth.
    pub cvar: f64,
    /// The weight of CVaR, from above 0 to 1; the rest is that of the mean. Default 1.
    pub weight: Option<f64>,
}

/// The scenarios of methods with `+scenarios`.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ScenariosSection {
    /// Where they come from. Default `residuals`, of training rows and cross-fitted; `scaled` by a predicted spread.
    #[serde(default)]
    pub source: ScenarioSource,
    /// The most residuals or past outcomes, evenly spaced over the training rows: by default 10000 residuals and 4000
    /// outcomes.
    /// Members of an `ensemble`: by default 10.
    pub count: Option<usize>,
}
