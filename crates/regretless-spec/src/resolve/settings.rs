//! The `[surrogate]` section, checked.

use super::Context;
use crate::error::{Result, Trouble};
use crate::file::{MultipliersSetting, SurrogateSection};
use crate::key::Key;
use crate::spec::{MultiplierRule, SurrogateSettings};

pub(super) fn surrogate(ctx: &Context<'_>, written: &SurrogateSection) -> Result<SurrogateSettings> {
    let section = Key::new("surrogate");
    let positive = |key: &Key, value: f64, expected| {
        if value > 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(ctx.fail(key, Trouble::Setting { value, expected }))
    };
    let k = written.k.unwrap_or(5.0);
    positive(&section.key("k"), k, "k is a positive number")?;
    let key = section.key("multipliers");
    let multipliers = match written.multipliers {
        MultipliersSetting::Constant(value) => {
            positive(&key, value, "a penalty is a positive number")?;
            MultiplierRule::Constant(value)
        }
        MultipliersSetting::Rule(rule) => MultiplierRule::Rule { rule, factor: None },
        MultipliersSetting::Scaled(scaled) => {
            if let Some(factor) = scaled.factor {
                positive(&key.key("factor"), factor, "a factor is a positive number")?;
            }
            MultiplierRule::Rule { rule: scaled.rule, factor: scaled.factor }
        }
    };
    Ok(SurrogateSettings { k, segments: written.segments, multipliers })
}
