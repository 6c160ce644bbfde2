//! The `[surrogate]` section, checked.

use regretless_core::{Rule, Segments, SurrogateOptions};

use super::Context;
use super::ranges::MOST_EPOCHS;
use crate::error::{Result, Trouble};
use crate::file::{
    AutoWord, MultipliersSetting, RampSetting, RuleName, ScaledRule, SegmentsName, SharpnessSetting,
    SurrogateSection,
};
use crate::key::Key;
use regretless_learn::{Ramp, Sharpness, SurrogateSettings};

const K: &str = "k is a positive number";
/// A grid is trained once a value.
const LONGEST_GRID: usize = 64;

pub(super) fn surrogate(ctx: &Context<'_>, written: &SurrogateSection) -> Result<SurrogateSettings> {
    let section = Key::new("surrogate");
    let sharpness = match &written.k {
        None => Sharpness::Auto,
        Some(k) => sharpness(ctx, &section.key("k"), k)?,
    };
    let positive = |key: &Key, value: f64, expected| ctx.positive(key, value, expected);
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
    let smoothing = written.smoothing;
    let key = section.key("smoothing");
    if smoothing != 0.0 && !SurrogateOptions::SMOOTHINGS.contains(&smoothing) {
        let trouble = Trouble::OneOf("smoothing is a share of the objective from 1e-9 to 1, or 0");
        return Err(ctx.fail(&key, trouble));
    }
    if smoothing > 0.0 && segments == Segments::Vertex {
        let trouble = Trouble::OneOf("gradients can be smoothed with `segments = \"smooth\"` only");
        return Err(ctx.fail(&key, trouble));
    }
    let options = SurrogateOptions { segments, smoothing, ..SurrogateOptions::with_k(sharpness.value()) };
    Ok(SurrogateSettings { options, sharpness, rule })
}

fn sharpness(ctx: &Context<'_>, key: &Key, written: &SharpnessSetting) -> Result<Sharpness> {
    match written {
        SharpnessSetting::Word(AutoWord::Auto) => Ok(Sharpness::Auto),
        SharpnessSetting::Fixed(k) => ctx.positive(key, *k, K).map(|()| Sharpness::Fixed(*k)),
        SharpnessSetting::Grid(ks) => {
            ctx.count(key, ks.len(), 1..=LONGEST_GRID, "a grid has 1 to 64 values")?;
            for (i, &k) in ks.iter().enumerate() {
                ctx.positive(&key.index(i), k, K)?;
            }
            Ok(Sharpness::Grid(ks.clone()))
        }
        SharpnessSetting::Annealed(ramp) => {
            ctx.positive(&key.key("from"), ramp.from, K)?;
            ctx.positive(&key.key("to"), ramp.to, K)?;
            Ok(Sharpness::Annealed(way(ctx, key, *ramp)?))
        }
    }
}

/// A value that changes over epochs; its ends are the caller's to check.
pub(super) fn way(ctx: &Context<'_>, key: &Key, ramp: RampSetting) -> Result<Ramp> {
    let expected = "the way takes 1 to 1,000,000 epochs";
    ctx.count(&key.key("epochs"), ramp.epochs, 1..=MOST_EPOCHS, expected)?;
    Ok(Ramp { from: ramp.from, to: ramp.to, epochs: ramp.epochs })
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
