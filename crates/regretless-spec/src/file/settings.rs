//! The `[surrogate]` section as it is written.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::visit::visit_numbers;

/// How the problem is softened and smoothed for training.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurrogateSection {
    /// K: the hinge is rounded over a width of 1/(2K) in the units of each row. Default 5.
    pub k: Option<f64>,
    /// Which pieces of the rounded hinges are used. Default `smooth`.
    #[serde(default)]
    pub segments: SegmentsName,
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

// By hand and not as an untagged enum: those forget what was wrong and where.
impl<'de> Deserialize<'de> for MultipliersSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Setting;
        impl<'de> Visitor<'de> for Setting {
            type Value = MultipliersSetting;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "\"dual\", \"theory\", \"empirical\", a number or { rule = \"dual\", factor = 4.0 }",
                )
            }
            visit_numbers!(MultipliersSetting::Constant);
            fn visit_str<E: Error>(self, v: &str) -> Result<Self::Value, E> {
                RuleName::deserialize(StrDeserializer::new(v)).map(MultipliersSetting::Rule)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                ScaledRule::deserialize(MapAccessDeserializer::new(map)).map(MultipliersSetting::Scaled)
            }
        }
        deserializer.deserialize_any(Setting)
    }
}
