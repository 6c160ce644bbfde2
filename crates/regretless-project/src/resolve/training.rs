//! The `[training]` section, checked.

use super::Context;
use super::ranges::MOST_EPOCHS;
use super::settings::way;
use crate::error::{Result, Trouble};
use crate::file::{
    ClipSetting, ClipTable, MixSetting, ScheduleSetting, ScheduleWord, StopSetting, StopWord,
    TrainingSection, WarmupSetting,
};
use crate::key::Key;
use regretless_core::Risk;
use regretless_learn::{
    Base, Clip, ErrorWeights, MethodError, MethodName, Mix, OptimizerKind, PredictorKind, RiskSettings,
    Scenarios, Schedule, Stop, TrainingSettings, TreeSettings, Warmup,
};

pub(super) fn training(
    ctx: &Context<'_>,
    written: &TrainingSection,
    kind: PredictorKind,
) -> Result<TrainingSettings> {
    let section = Key::new("training");
    let key = |name: &str| section.key(name);
    let default = TrainingSettings::default();
    let epochs = written.epochs.unwrap_or(default.epochs);
    ctx.count(&key("epochs"), epochs, 1..=MOST_EPOCHS, "training takes 1 to 1,000,000 epochs")?;
    let batch = written.batch.unwrap_or(default.batch);
    ctx.count(&key("batch"), batch, 1..=1 << 20, "a batch has 1 to 1,048,576 instances")?;
    let usual = match kind {
        PredictorKind::Trees => TreeSettings::RATE,
        _ => written.optimizer.usual_rate(),
    };
    let learning_rate = written.learning_rate.unwrap_or(usual);
    ctx.positive(&key("learning_rate"), learning_rate, "a learning rate is a positive number")?;
    let weight_decay = written.weight_decay.unwrap_or(default.weight_decay);
    ctx.not_negative(&key("weight_decay"), weight_decay, "a decay is 0 or more")?;
    let ridge = written.ridge.unwrap_or(default.ridge);
    ctx.not_negative(&key("ridge"), ridge, "a ridge is 0 or more")?;
    let bound = written.bound.unwrap_or(default.bound);
    ctx.within(&key("bound"), bound, bound >= 1.0, "a bound is 1 or more, or inf")?;
    let most = i64::MAX as u64;
    ctx.within(
        &key("seed"),
        written.seed as f64,
        written.seed <= most,
        "a seed is at most 9223372036854775807",
    )?;
    let weights = ErrorWeights {
        over: written.weights.over.unwrap_or(default.weights.over),
        under: written.weights.under.unwrap_or(default.weights.under),
    };
    ctx.not_negative(&key("weights").key("over"), weights.over, "a weight is 0 or more")?;
    ctx.not_negative(&key("weights").key("under"), weights.under, "a weight is 0 or more")?;
    if weights.over + weights.under == 0.0 {
        let trouble = Trouble::OneOf("one of the two weights must be positive");
        return Err(ctx.fail(&key("weights"), trouble));
    }
    let count = written.scenarios.count;
    if let Some(count) = count {
        let most = "there are 1 to 100,000 scenarios";
        ctx.count(&key("scenarios").key("count"), count, 1..=100_000, most)?;
    }
    let risk = written.risk.map(|risk| RiskSettings { cvar: risk.cvar, weight: risk.weight.unwrap_or(1.0) });
    if let Some(RiskSettings { cvar, weight }) = risk {
        let (level, share) = (cvar > 0.0 && cvar <= Risk::HIGHEST, weight > 0.0 && weight <= 1.0);
        let worst = "a level is above 0 and up to 0.999999: 0.9 for the mean of the worst tenth";
        ctx.within(&key("risk").key("cvar"), cvar, level, worst)?;
        let rest = "the weight of CVaR is above 0 and up to 1, the rest is that of the mean";
        ctx.within(&key("risk").key("weight"), weight, share, rest)?;
    }
    Ok(TrainingSettings {
        method: method(ctx, &key("method"), written.method.as_deref())?,
        epochs,
        batch,
        optimizer: written.optimizer,
        learning_rate,
        momentum: momentum(ctx, &key("momentum"), written)?,
        weight_decay,
        schedule: schedule(ctx, &key("schedule"), written.schedule, kind)?,
        clip: written.clip.map_or(Ok(default.clip), |clip| self::clip(ctx, &key("clip"), clip))?,
        bound,
        stop: written.stop.map_or(Ok(default.stop), |stop| self::stop(ctx, &key("stop"), stop))?,
        keep: written.keep,
        regression: written.regression,
        warmup: written.warmup.map_or(Ok(default.warmup), |w| self::warmup(ctx, &key("warmup"), w))?,
        mix: written.mix.map_or(Ok(default.mix), |mix| self::mix(ctx, &key("mix"), mix))?,
        weights,
        ridge,
        infeasible: written.infeasible,
        seed: written.seed,
        scenarios: Scenarios { source: written.scenarios.source, count },
        risk,
    })
}

fn method(ctx: &Context<'_>, key: &Key, written: Option<&str>) -> Result<MethodName> {
    let Some(name) = written else { return Ok(MethodName::default()) };
    name.parse().map_err(|error: MethodError| {
        let hint = format!(
            "the methods are {}; those of the decision may end in `+l2`, `l1`, `l2` and `weighted-l1` in `+stopped`, all in `+scenarios`, `+scaled`, `+neighbours` or `+forest`",
            Base::words()
        );
        ctx.fail(key, Trouble::Misfit(error.to_string())).hint(hint)
    })
}

fn warmup(ctx: &Context<'_>, key: &Key, written: WarmupSetting) -> Result<Warmup> {
    let WarmupSetting::Epochs(epochs) = written else { return Ok(Warmup::Auto) };
    let fine = (0.0..=MOST_EPOCHS as f64).contains(&epochs) && epochs.fract() == 0.0;
    ctx.within(key, epochs, fine, "a warm-up takes 0 to 1,000,000 epochs, or is \"auto\"")?;
    Ok(Warmup::Epochs(epochs as usize))
}

fn momentum(ctx: &Context<'_>, key: &Key, written: &TrainingSection) -> Result<f64> {
    match (written.optimizer, written.momentum) {
        (OptimizerKind::Sgd, given) => {
            let momentum = given.unwrap_or(0.9);
            ctx.within(key, momentum, (0.0..1.0).contains(&momentum), "a momentum is 0 or more and below 1")?;
            Ok(momentum)
        }
        (_, None) => Ok(0.0),
        (other, Some(_)) => Err(ctx
            .fail(key, Trouble::Misfit(format!("the optimiser `{other}` has no momentum")))
            .hint("leave it out, or choose optimizer = \"sgd\"")),
    }
}

fn schedule(
    ctx: &Context<'_>,
    key: &Key,
    written: Option<ScheduleSetting>,
    kind: PredictorKind,
) -> Result<Schedule> {
    let plateau = match written {
        None if kind == PredictorKind::Trees => return Ok(Schedule::Auto),
        Some(ScheduleSetting::Word(ScheduleWord::Auto)) => return Ok(Schedule::Auto),
        None | Some(ScheduleSetting::Word(ScheduleWord::Constant)) => return Ok(Schedule::Constant),
        Some(ScheduleSetting::Plateau(plateau)) => plateau,
    };
    let (factor, patience) = (plateau.factor.unwrap_or(0.1), plateau.patience.unwrap_or(10));
    let fine = factor > 0.0 && factor < 1.0;
    ctx.within(&key.key("factor"), factor, fine, "the factor is between 0 and 1")?;
    ctx.count(&key.key("patience"), patience, 1..=MOST_EPOCHS, PATIENCE)?;
    Ok(Schedule::Plateau { factor, patience, back: plateau.back })
}

const PATIENCE: &str = "patience is 1 to 1,000,000 epochs";

fn clip(ctx: &Context<'_>, key: &Key, written: ClipSetting) -> Result<Clip> {
    match written {
        ClipSetting::Word(_) => Ok(Clip::None),
        ClipSetting::Table(ClipTable { norm: Some(norm), value: None }) => {
            ctx.positive(&key.key("norm"), norm, "a norm is a positive number").map(|()| Clip::Norm(norm))
        }
        ClipSetting::Table(ClipTable { norm: None, value: Some(value) }) => ctx
            .positive(&key.key("value"), value, "the value is a positive number")
            .map(|()| Clip::Value(value)),
        ClipSetting::Table(_) => Err(ctx.fail(key, Trouble::OneOf("give exactly one of `norm` and `value`"))),
    }
}

fn stop(ctx: &Context<'_>, key: &Key, written: StopSetting) -> Result<Stop> {
    match written {
        StopSetting::Word(StopWord::Never) => Ok(Stop::Never),
        StopSetting::Word(StopWord::Paper) => Ok(Stop::Paper),
        StopSetting::Table(table) => {
            ctx.count(&key.key("patience"), table.patience, 1..=MOST_EPOCHS, PATIENCE)?;
            Ok(Stop::Patience(table.patience))
        }
    }
}

fn mix(ctx: &Context<'_>, key: &Key, written: MixSetting) -> Result<Mix> {
    let share = |key: &Key, value: f64| {
        ctx.within(key, value, (0.0..=1.0).contains(&value), "the weight of L2 is between 0 and 1")
    };
    match written {
        MixSetting::Fixed(weight) => share(key, weight).map(|()| Mix::Fixed(weight)),
        MixSetting::Annealed(ramp) => {
            share(&key.key("from"), ramp.from)?;
            share(&key.key("to"), ramp.to)?;
            Ok(Mix::Annealed(way(ctx, key, ramp)?))
        }
    }
}
