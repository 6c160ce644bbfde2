//! The `[surrogate]` section as it is written.

use schemars::JsonSchema;
use serde::Deserialize;

use super::form::forms;

/// How the problem is softened and smoothed for training.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurrogateSection {
    /// K: the hinge is rounded over a width of 1/(2K) in the units of each row. A list: the best on
    /// validation. Default `auto`: to fit the data.
    pub k: Option<SharpnessSetting>,
    /// Which pieces of the rounded hinges are used. Default `smooth`.
    #[serde(default)]
    pub segments: SegmentsName,
    /// Gradients as of an interior-point method whose duality gap is this share of the objective; 0: the
    /// derivatives as they are. Default 0.
    #[serde(default)]
    pub smoothing: f64,
    /// How the penalties of hard rows are found. Default `dual`.
    #[serde(default)]
    pub multipliers: MultipliersSetting,
}

/// Which pieces of the rounded hinges are used.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SegmentsName {
    /// The pieces met at the surrogate's own optimum.
    #[default]
    Smooth,
    /// The pieces met at the original problem's optimum, extended to the whole space.
    Vertex,
}

/// A rule that finds the penalties of hard rows.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum RuleName {
    /// From the exact multipliers of the instances at hand.
    #[default]
    Dual,
    /// From proved bounds, where the problem's structure allows.
    Theory,
    /// A rule of thumb.
    Empirical,
}

/// Penalties of hard rows: a rule, a rule with its factor, or one number for all rows.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum MultipliersSetting {
    /// The same penalty for every hard row.
    Constant(f64),
    /// A rule with its default factor.
    Rule(RuleName),
    /// A rule with a factor.
    Scaled(ScaledRule),
}

/// A rule with a factor.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ScaledRule {
    /// The rule.
    pub rule: RuleName,
    /// `dual`: the safety factor, default 4. `empirical`: the constant, default 5. `theory` has none.
    pub factor: Option<f64>,
    /// `empirical` only: multiply with √n too. Default false.
    pub sqrt_n: Option<bool>,
}

impl Default for MultipliersSetting {
    fn default() -> Self {
        Self::Rule(RuleName::default())
    }
}

forms!(
    MultipliersSetting, "\"dual\", \"theory\", \"empirical\", a number or { rule = \"dual\", factor = 4.0 }",
    number => MultipliersSetting::Constant,
    word RuleName => MultipliersSetting::Rule,
    table ScaledRule => MultipliersSetting::Scaled
);

/// K: one number, several to choose from on validation, or a way from one to another.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum SharpnessSetting {
    /// To fit the data.
    Word(AutoWord),
    /// One value.
    Fixed(f64),
    /// Values to choose from on validation.
    Grid(Vec<f64>),
    /// From one value to another, by the same factor an epoch.
    Annealed(RampSetting),
}

/// The word `auto`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum AutoWord {
    /// To fit the data.
    Auto,
}

/// A value that changes over epochs and then stays.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RampSetting {
    /// The value in the first epoch.
    pub from: f64,
    /// The value at the end of the way.
    pub to: f64,
    /// Epochs the way takes.
    pub epochs: usize,
}

forms!(
    SharpnessSetting, "\"auto\", a number, a list of numbers or { from = 1.0, to = 25.0, epochs = 30 }",
    number => SharpnessSetting::Fixed,
    word AutoWord => SharpnessSetting::Word,
    list => SharpnessSetting::Grid,
    table RampSetting => SharpnessSetting::Annealed
);
