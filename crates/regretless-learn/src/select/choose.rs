//! One model in the end: the best K of a grid, the best method of `auto`.

use std::collections::BTreeMap;

use regretless_core::{Decision, Method, Parameter};
use serde::{Deserialize, Serialize};

use crate::data::transform;
use crate::error::LearnError;
use crate::evaluate::judge::{Judgement, judge};
use crate::evaluate::measures::Measures;
use crate::numbers::four;
use crate::regression;
use crate::select::auto::auto;
use crate::select::recipe::Recipe;
use crate::select::trainer::{Candidate, Trainer};
use crate::settings::{Base, MethodName, Settings};
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
    /// Where the time of a search was up: the rungs that were done.
    pub cut: Option<usize>,
}

impl Chosen {
    /// True if the model has learned from these rows in the end.
    pub(crate) fn is_judged_out_of_fold(&self, rows: &[usize]) -> bool {
        let of_folds = self.tried.iter().any(|tried| tried.folds > 0);
        of_folds && rows.iter().all(|row| self.candidate.valid.rows.binary_search(row).is_ok())
    }

    /// Decisions for rows. For those that the model has learned from in the end, the decisions of predictors that had not.
    pub(crate) fn judged(&self, task: &Task, rows: &[usize]) -> Result<Judgement, LearnError> {
        let (candidate, width) = (&self.candidate, task.placement().width());
        let whole = candidate.fitted.ended != Ended::Interrupted;
        let of_folds = whole && self.tried.iter().any(|tried| tried.folds > 0);
        let known: BTreeMap<usize, usize> = if of_folds {
            candidate.valid.rows.iter().enumerate().map(|(place, row)| (*row, place)).collect()
        } else {
            BTreeMap::new()
        };
        let places: Option<Vec<usize>> = rows.iter().map(|row| known.get(row).copied()).collect();
        let Some(places) = places else { return judge(task, &candidate.fitted.model, rows) };
        let valid = &candidate.valid;
        let decisions: Vec<Decision> = places.iter().map(|&at| valid.decisions[at].clone()).collect();
        let predictions: Vec<f64> =
            places.iter().flat_map(|&at| valid.predictions[at * width..][..width].iter().copied()).collect();
        let measures = Measures::of(&decisions, &predictions, &task.targets(rows));
        Ok(Judgement { rows: rows.to_vec(), predictions, decisions, measures })
    }
}

/// A candidate in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its name.
    pub name: String,
    /// Sharpness, if the method has one.
    pub k: Option<f64>,
    /// Measures on validation; of candidates of `auto` out of fold, on rows for training and validation.
    pub valid: Measures,
    /// How its training ended.
    pub ended: Ended,
    /// Epochs trained.
    pub epochs: usize,
    /// The epoch that was kept.
    pub best: usize,
    /// Seconds of training.
    pub seconds: f64,
    /// Folds that it was judged on; 0 if it was judged on the validation part.
    #[serde(default)]
    pub folds: usize,
    /// Counted work, of candidates of `auto`.
    #[serde(default)]
    pub work: f64,
    /// Of candidates of `auto`: the mean regret on each of its folds.
    #[serde(default, with = "crate::unknown::many", skip_serializing_if = "Vec::is_empty")]
    pub by_fold: Vec<f64>,
    /// Of candidates of `auto`: how much more it costs than what was kept, on the folds of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
}

/// A mean gap with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The mean.
    pub mean: f64,
    /// The ends of the 95 % interval.
    pub interval: (f64, f64),
}

impl Tried {
    pub(super) fn of(candidate: &Candidate) -> Self {
        Self {
            name: candidate.name.clone(),
            k: candidate.k,
            valid: candidate.valid.measures.clone(),
            ended: candidate.fitted.ended.clone(),
            epochs: candidate.fitted.history.last().map_or(0, |e| e.epoch),
            best: candidate.fitted.best,
            seconds: candidate.fitted.seconds,
            folds: 0,
            work: 0.0,
            by_fold: Vec::new(),
            gap: None,
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
    let (task, transforms) = (trainer.task(), &chosen.candidate.fitted.model.transforms);
    if let Some(scales) = transform::described(transforms, task.placement(), &task.data().names.targets) {
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
    let mut candidate = candidates[best].clone();
    if !trainer.interrupted() {
        trainer.with_later_errors(&mut candidate)?;
    }
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
    Ok((Chosen { candidate, tried, sentence, cut: None }, candidates))
}

/// Refuses what cannot be trained before anything is.
pub(crate) fn check(task: &Task, name: MethodName) -> Result<(), LearnError> {
    check_risk(task, name)?;
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

/// Refuses what a risk cannot be had with.
fn check_risk(task: &Task, name: MethodName) -> Result<(), LearnError> {
    let Some(risk) = task.settings().training.risk else { return Ok(()) };
    risk.risk()?;
    let (what, hint) = if name.base == Base::Auto {
        (
            "`auto` chooses by the mean of what decisions cost, not by their risk".to_owned(),
            "choose `l2+scenarios`",
        )
    } else if name.scenarios && task.placement().predicts(Parameter::Quadratic) {
        let why = "the worst scenarios of a quadratic term are no quadratic program";
        (format!("`{name}`: Q is predicted, and {why}"), "leave out `risk`: decisions are then for the mean")
    } else if Recipe::of(task.settings(), name, 0)
        .iter()
        .any(|own| own.trains_through_errors() && !own.takes_risk())
    {
        (
            format!("`{name}` is trained through the mean over scenarios, not through their risk"),
            "choose `surrogate-smooth+scenarios` or `l2+scenarios`",
        )
    } else {
        return Ok(());
    };
    Err(LearnError::Settings { what, hint: hint.into() })
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

/// The lowest validation regret; candidates that decided less come after those that decided more.
fn best_of(candidates: &[Candidate]) -> usize {
    let measures = |i: usize| &candidates[i].valid.measures;
    (0..candidates.len()).min_by(|&i, &j| measures(i).rank(measures(j))).unwrap_or(0)
}
