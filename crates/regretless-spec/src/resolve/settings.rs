//! The `[surrogate]` section, checked.

use regretless_core::{Rule, Segments, SurrogateOptions};

use super::Context;
use crate::error::{Result, Trouble};
use crate::file::{MultipliersSetting, RuleName, ScaledRule, SegmentsName, SurrogateSection};
use crate::key::Key;
use crate::spec::SurrogateSettings;

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
    let rule = match written.multipliers {
        MultipliersSetting::Constant(value) => {
            positive(&key, value, "a penalty is a positive number")?;
            Rule::Constant(value)
        }
        MultipliersSetting::Rule(rule) => by_name(rule, None, None),
        MultipliersSetting::Scaled(ScaledRule { rule, factor, sqrt_n }) => {
            if let Some(factor) = factor {
                positive(&key.key("factor"), factor, "a factor is a positive number")?;
            }
            if factor.is_some() && rule == RuleName::Theory {
                let trouble =
                    Trouble::OneOf("the rule `theory` takes no factor: its bounds are proved as they are");
                return Err(ctx.fail(&key.key("factor"), trouble));
            }
            if sqrt_n.is_some() && rule != RuleName::Empirical {
                let trouble = Trouble::OneOf("`sqrt_n` belongs to the rule `empirical` only");
                return Err(ctx.fail(&key.key("sqrt_n"), trouble));
            }
            by_name(rule, factor, sqrt_n)
        }
    };
    let segments = match written.segments {
        SegmentsName::Smooth => Segments::Smooth,
        SegmentsName::Vertex => Segments::Vertex,
    };
    Ok(SurrogateSettings { options: SurrogateOptions { k, segments, ..SurrogateOptions::default() }, rule })
}

fn by_name(rule: RuleName, factor: Option<f64>, sqrt_n: Option<bool>) -> Rule {
    match rule {
        RuleName::Dual => factor.map_or_else(Rule::default, |factor| Rule::Dual { factor }),
        RuleName::Theory => Rule::Theory,
        // The paper starts from "a constant factor (e.g. 5-10)".
        RuleName::Empirical => {
            Rule::Empirical { factor: factor.unwrap_or(5.0), sqrt_n: sqrt_n.unwrap_or(false) }
        }
    }
}
