//! One model in the end: the best K of a grid, the best method of `auto`.

use regretless_core::Method;
use serde::{Deserialize, Serialize};

use crate::data::suspicions::ENOUGH;
use crate::data::transform;
use crate::error::LearnError;
use crate::evaluate::measures::Measures;
use crate::numbers::four;
use crate::regression;
use crate::select::recipe::Recipe;
use crate::select::trainer::{Candidate, Trainer};
use crate::settings::{Base, MethodName, ScenarioSource, Settings, Warmup};
use crate::task::Task;
use crate::train::epoch::Ended;

/// The model that was kept, and what it was kept over.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The winner.
    pub candidate: Candidate,
    /// All candidates, the winner among them.
    pub tried: Vec<Tried>,
    /// What was chosen, over what, by how much.
    pub sentence: String,
}

/// A candidate in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its name.
    pub name: String,
    /// Sharpness, if the method has one.
    pub k: Option<f64>,
    /// Measures on validation.
    pub valid: Measures,
    /// How its training ended.
    pub ended: Ended,
    /// Epochs trained.
    pub epochs: usize,
    /// The epoch that was kept.
    pub best: usize,
    /// Seconds of training.
    pub seconds: f64,
}

impl Tried {
    fn of(candidate: &Candidate) -> Self {
        Self {
            name: candidate.name.clone(),
            k: candidate.k,
            valid: candidate.valid.measures.clone(),
            ended: candidate.fitted.ended.clone(),
            epochs: candidate.fitted.history.last().map_or(0, |e| e.epoch),
            best: candidate.fitted.best,
            seconds: candidate.fitted.seconds,
        }
    }
}

/// Trains with a method, or with `auto` chooses one.
pub fn train(trainer: &mut Trainer<'_>, name: MethodName, seed: u64) -> Result<Chosen, LearnError> {
    Ok(train_sound(trainer, name, seed)?.0)
}

/// [`train`], with all that was trained on the way.
pub(crate) fn train_sound(
    trainer: &mut Trainer<'_>,
    name: MethodName,
    seed: u64,
) -> Result<(Chosen, Vec<Candidate>), LearnError> {
    let (chosen, candidates) = train_all(trainer, name, seed)?;
    let fitted = &chosen.candidate.fitted;
    if fitted.ended == Ended::Diverged && fitted.best == 0 {
        return Err(LearnError::Diverged {
            method: chosen.candidate.name.clone(),
            epoch: fitted.history.last().map_or(0, |e| e.epoch),
            what: "the predictions ran away, and no epoch was better than the untrained predictor".into(),
        });
    }
    Ok((chosen, candidates))
}

/// [`train_sound`], whatever became of it.
pub(crate) fn train_all(
    trainer: &mut Trainer<'_>,
    name: MethodName,
    seed: u64,
) -> Result<(Chosen, Vec<Candidate>), LearnError> {
    check(trainer.task(), name)?;
    let (mut chosen, candidates) =
        if name.base == Base::Auto { auto(trainer, seed)? } else { one(trainer, name, seed)? };
    if let Some(scales) =
        transform::described(&chosen.candidate.fitted.model.transforms, trainer.task().placement())
    {
        chosen.sentence = format!("{}; it predicts {scales}", chosen.sentence);
    }
    Ok((chosen, candidates))
}

/// One method, with the best of its K.
fn one(
    trainer: &mut Trainer<'_>,
    name: MethodName,
    seed: u64,
) -> Result<(Chosen, Vec<Candidate>), LearnError> {
    let recipes = Recipe::of(trainer.task().settings(), name, seed);
    let mut candidates = Vec::new();
    for recipe in &recipes {
        candidates.push(trainer.candidate(recipe, None)?);
        if trainer.interrupted() {
            break;
        }
    }
    let best = best_of(&candidates);
    let tried: Vec<Tried> = candidates.iter().map(Tried::of).collect();
    let candidate = candidates[best].clone();
    let regret = candidate.valid.measures.regret;
    let sentence = if tried.len() > 1 {
        format!(
            "kept {} with a validation regret of {}, the best of {}",
            candidate.name,
            four(regret),
            tried.len()
        )
    } else {
        format!("trained {}: validation regret {}", candidate.name, four(regret))
    };
    let untouched = candidate.fitted.best == 0 && !candidate.constant && tried[best].epochs > 0;
    let sentence = if untouched {
        format!(
            "{sentence}; no epoch was better than the start, so it predicts what it started with: try another learning_rate or more patience"
        )
    } else {
        sentence
    };
    Ok((Chosen { candidate, tried, sentence }, candidates))
}

/// Refuses what cannot be trained before anything is.
pub(crate) fn check(task: &Task, name: MethodName) -> Result<(), LearnError> {
    for recipe in Recipe::of(task.settings(), name, 0) {
        if let Some(method) = recipe.method {
            method.supports(task.problem(), task.placement())?;
        }
        if task.is_given() && recipe.is_tuned() {
            return Err(LearnError::Settings {
                what: format!("`{name}` has nothing to train: the forecasts are given"),
                hint: "choose `l2`, which takes them as they are, `l2+scenarios` or `auto`".into(),
            });
        }
        if recipe.source().is_some_and(|source| !task.has_scenarios_of(source)) {
            let why = if task.prices()?.is_some() {
                "hard rows or bounds are predicted, and there is no average of a hard row"
            } else {
                "θ and Q enter the objective linearly, so that only their mean matters"
            };
            return Err(LearnError::Settings {
                what: format!("`{}`: no scenarios here: {why}", recipe.name),
                hint: "scenarios need predicted soft rows, limits or prices of soft rows, and no predicted hard rows".into(),
            });
        }
    }
    Ok(())
}

/// The method's full id: `surrogate` says which of the two.
pub(crate) fn full_name(settings: &Settings, name: MethodName) -> String {
    let base = name.base.loss(settings.surrogate.options.segments).map_or(name.base, Base::Loss);
    MethodName { base, ..name }.to_string()
}

/// The methods that fine-tune a two-stage predictor, for what a problem predicts.
pub fn decision_methods(task: &Task) -> Vec<MethodName> {
    if task.is_given() {
        return Vec::new();
    }
    let fits = |m: Method| m.supports(task.problem(), task.placement()).is_ok();
    let name = |base: Method, mixed| MethodName { mixed, ..base.into() };
    let mut names = Vec::new();
    if fits(Method::SpoPlus) {
        names.extend([name(Method::SpoPlus, false), name(Method::SpoPlusSmooth, false)]);
    }
    if fits(Method::SurrogateSmooth) {
        names.extend([name(Method::SurrogateSmooth, false), name(Method::SurrogateSmooth, true)]);
    }
    if fits(Method::Df) {
        names.push(name(Method::Df, false));
    }
    names
}

/// True if a forecast stopped on its decisions is another one than the plain forecast: a regression is stopped on nothing.
pub(crate) fn stops_apart(task: &Task) -> bool {
    regression::applies(task, &Recipe::of(task.settings(), Method::L2.into(), 0)[0])
}

/// The best two-stage predictor, fine-tuned with every decision loss that fits, and with scenarios; what is no better on
/// validation than its standard error is not kept. Never worse than two-stage on validation, by construction.
fn auto(trainer: &mut Trainer<'_>, seed: u64) -> Result<(Chosen, Vec<Candidate>), LearnError> {
    let settings = trainer.task().settings();
    let mut candidates = Vec::new();
    let mut forecasts: Vec<MethodName> = vec![Base::Constant.into(), Method::L2.into(), Method::L1.into()];
    if trainer.task().is_given() {
        forecasts.truncate(2);
    }
    let two_stage = forecasts.len();
    if stops_apart(trainer.task()) {
        forecasts.extend([Method::L2, Method::L1].map(|base| MethodName { stopped: true, ..base.into() }));
    }
    for name in forecasts {
        let recipe = Recipe::of(settings, name, seed).remove(0);
        candidates.push(trainer.candidate(&recipe, None)?);
        if trainer.interrupted() {
            break;
        }
    }
    let reference = best_of(&candidates[..candidates.len().min(two_stage)]);
    let trainable = candidates.iter().position(|c| !c.constant).filter(|_| !trainer.interrupted());
    if let Some(first) = trainable {
        // The constant predictor has nothing to tune: start from the best that learned something.
        let learned = &candidates[first..];
        let start = first + best_of(learned);
        'methods: for name in decision_methods(trainer.task()) {
            for mut recipe in Recipe::of(settings, name, seed) {
                recipe.training.warmup = Warmup::Epochs(0);
                recipe.name = format!("{} from {}", recipe.name, candidates[start].name);
                let tuned = trainer.candidate(&recipe, Some(&candidates[start]))?;
                candidates.push(tuned);
                // The checkpoint that is left is this stage's: no other may be begun.
                if trainer.interrupted() {
                    break 'methods;
                }
            }
        }
        // Folds need two rows.
        if trainer.task().has_scenarios() && trainer.task().train().len() > 1 && !trainer.interrupted() {
            distributions(trainer, &mut candidates, start)?;
        }
    }
    let best = best_of(&candidates);
    let found = candidates[reference].valid.gain(&candidates[best].valid);
    // Rounding that points one way in every row is no gain.
    let rounding = 1e-6 * candidates[reference].valid.measures.regret.abs();
    let found = found.map(|(gain, error)| (gain, error.max(rounding)));
    let kept = if found.is_some_and(|(gain, error)| gain > error) { best } else { reference };
    let sentence = match found {
        Some((gain, error)) => sentence(&candidates, reference, best, gain, error),
        None => too_few(&candidates, reference),
    };
    let tried = candidates.iter().map(Tried::of).collect();
    Ok((Chosen { candidate: candidates[kept].clone(), tried, sentence }, candidates))
}

/// The best predictor so far and the best two-stage one, with residuals as they are and scaled by a predicted spread; and the better
/// of these fine-tuned through its scenarios, mean and spread together.
fn distributions(
    trainer: &mut Trainer<'_>,
    candidates: &mut Vec<Candidate>,
    start: usize,
) -> Result<(), LearnError> {
    let bases = [best_of(candidates), start];
    let bases = if bases[0] == bases[1] { &bases[..1] } else { &bases };
    let first = candidates.len();
    for &base in bases {
        let name = candidates[base].name.clone();
        let with = trainer.with_scenarios(&candidates[base], ScenarioSource::Residuals)?;
        if trainer.interrupted() {
            candidates.push(with);
            return Ok(());
        }
        let scaled = trainer.on_source(&with, format!("{name}+scaled"), ScenarioSource::Scaled)?;
        candidates.extend([with, scaled]);
        if trainer.interrupted() {
            return Ok(());
        }
    }
    let task = trainer.task();
    let trained = MethodName { scenarios: true, ..Method::SurrogateSmooth.into() };
    if task.is_given() || check(task, trained).is_err() {
        return Ok(());
    }
    let best = first + best_of(&candidates[first..]);
    let from = candidates[best].clone();
    let Some(source) = from.fitted.model.source.as_ref().map(|own| own.source()) else { return Ok(()) };
    let seed = from.lineage.last().map_or(0, |recipe| recipe.training.seed);
    for mut recipe in Recipe::of(task.settings(), MethodName { source: Some(source), ..trained }, seed) {
        recipe.training.warmup = Warmup::Epochs(0);
        recipe.name = format!("{} from {}", recipe.name, from.name);
        let tuned = trainer.candidate(&recipe, Some(&from))?;
        candidates.push(tuned);
        if trainer.interrupted() {
            break;
        }
    }
    Ok(())
}

fn sentence(candidates: &[Candidate], reference: usize, best: usize, gain: f64, error: f64) -> String {
    let regret = |i: usize| candidates[i].valid.measures.regret;
    let (name, from) = (&candidates[best].name, &candidates[reference].name);
    if best == reference {
        return format!(
            "kept {from}, the best two-stage predictor: none of {} alternatives had a lower validation regret than {}",
            candidates.len() - 1,
            four(regret(reference))
        );
    }
    let change = if regret(reference) > 0.0 { 100.0 * gain / regret(reference) } else { 0.0 };
    let numbers = format!("validation regret {} instead of {}", four(regret(best)), four(regret(reference)));
    if gain > error {
        let times =
            if error > 0.0 { format!(", {:.1} standard errors", gain / error) } else { String::new() };
        format!("chose {name} over {from}: {numbers} (−{change:.1} %{times})")
    } else {
        format!(
            "kept {from}: {name} had {numbers} (−{change:.1} %), which is within its standard error of {}",
            four(error)
        )
    }
}

/// A handful of rows is no ground to prefer one method to another.
fn too_few(candidates: &[Candidate], reference: usize) -> String {
    let rows = candidates[reference].valid.rows.len();
    format!(
        "kept {}, the best two-stage predictor: {rows} validation row{} cannot tell methods apart, at least {ENOUGH} are needed",
        candidates[reference].name,
        if rows == 1 { "" } else { "s" }
    )
}

/// The lowest validation regret; candidates that decided less come after those that decided more.
fn best_of(candidates: &[Candidate]) -> usize {
    let measures = |i: usize| &candidates[i].valid.measures;
    (0..candidates.len()).min_by(|&i, &j| measures(i).rank(measures(j))).unwrap_or(0)
}
