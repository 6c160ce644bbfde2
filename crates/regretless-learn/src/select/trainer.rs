//! Several trainings in a row: the K of a grid, the stages of a method, the candidates of `auto`.

use std::collections::BTreeMap;
use std::time::Instant;

use regretless_core::Method;
use serde::{Deserialize, Serialize};

use crate::data::transform::Scale;
use crate::error::LearnError;
use crate::evaluate::judge::{Judgement, judge};
use crate::forecast::{self, Source};
use crate::model::Model;
use crate::model::file::{self, For, ModelCard};
use crate::regression;
use crate::select::recipe::Recipe;
use crate::settings::{
    Ensembles, MethodName, PredictorKind, Regression, ScenarioSource, TrainingSettings, Warmup,
};
use crate::task::Task;
use crate::tensorboard::EventWriter;
use crate::train::checkpoint;
use crate::train::epoch::{Ended, Epoch, Fitted};
use crate::train::fit::Fit;
use crate::train::observer::Observer;
use crate::train::recorder::{Recorder, Watched};
use crate::train::stages::Stages;

/// Trains predictors one after the other, each written down as a stage if there is a place for them.
pub struct Trainer<'a> {
    task: &'a Task,
    stages: Option<&'a Stages>,
    observer: &'a mut dyn Observer,
    stage: usize,
    history: Vec<Epoch>,
    events: Option<EventWriter>,
    /// True if the time that is up ends nothing any more.
    patient: bool,
    /// Predictors of the folds, by the recipes that led to them.
    pub(crate) fold_models: BTreeMap<String, Vec<Option<Model>>>,
}

/// A trained predictor and what it achieves on validation.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The recipe's name.
    pub name: String,
    /// Sharpness, if the method has one.
    pub k: Option<f64>,
    /// True if the predictor is the constant one.
    pub constant: bool,
    /// The kind of predictor, where the settings leave it open and `auto` chose one.
    pub predictor: Option<PredictorKind>,
    /// The recipes that led to it, each starting where the one before ended.
    pub lineage: Vec<Recipe>,
    /// The training.
    pub fitted: Fitted,
    /// Decisions on validation.
    pub valid: Judgement,
}

/// The training of a stage, as kept in its file.
#[derive(Serialize, Deserialize)]
struct StageRecord {
    recipe: String,
    history: Vec<Epoch>,
    ended: Ended,
    best: usize,
    seconds: f64,
}

impl<'a> Trainer<'a> {
    /// A trainer of a task. Stages that were finished before are read and not trained again.
    pub fn new(
        task: &'a Task,
        stages: Option<&'a Stages>,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, LearnError> {
        let mut trainer = Self {
            task,
            stages,
            observer,
            stage: 0,
            history: Vec::new(),
            events: None,
            patient: false,
            fold_models: BTreeMap::new(),
        };
        if let Some(stages) = stages {
            let epochs = stages.recorded()?;
            stages.write_metrics(&epochs)?;
            trainer.events = Some(stages.events(epochs.len() as u64)?);
        }
        Ok(trainer)
    }

    /// The task.
    pub fn task(&self) -> &'a Task {
        self.task
    }

    /// True if somebody, or the clock, asked for the end.
    pub fn interrupted(&self) -> bool {
        self.asked() || !self.patient && self.late()
    }

    /// True if somebody asked for the end.
    pub(crate) fn asked(&self) -> bool {
        self.observer.interrupted()
    }

    /// True if the time is up.
    pub(crate) fn late(&self) -> bool {
        self.observer.late()
    }

    /// From now on the clock ends nothing.
    pub(crate) fn be_patient(&mut self) {
        self.patient = true;
    }

    /// Where it stands, between two trainings.
    pub(crate) fn mark(&self) -> Mark {
        Mark { stage: self.stage, epochs: self.history.len() }
    }

    /// The rungs after which an earlier process cut the search.
    pub(crate) fn recorded_cut(&self) -> Result<Option<usize>, LearnError> {
        self.stages.map_or(Ok(None), Stages::cut)
    }

    /// Forgets what was trained since, and writes down that the search was cut after so many rungs.
    pub(crate) fn cut_at(&mut self, mark: &Mark, rungs: usize) -> Result<(), LearnError> {
        self.stage = mark.stage;
        self.history.truncate(mark.epochs);
        let Some(stages) = self.stages else { return Ok(()) };
        stages.forget_from(mark.stage)?;
        stages.write_metrics(&self.history)?;
        self.events = None;
        self.events = Some(stages.events(self.history.len() as u64)?);
        stages.write_cut(rungs)
    }

    /// Trains one predictor on a task, or reads it if it was finished before. Of forecasts that are given the scenarios are decided for.
    pub(crate) fn fit(
        &mut self,
        task: &Task,
        recipe: &Recipe,
        start: Option<&Model>,
    ) -> Result<Fitted, LearnError> {
        let mut fitted = self.fit_stage(task, recipe, start)?;
        fitted.model.spread_out();
        Ok(fitted)
    }

    fn fit_stage(
        &mut self,
        task: &Task,
        recipe: &Recipe,
        start: Option<&Model>,
    ) -> Result<Fitted, LearnError> {
        let number = self.stage;
        self.stage += 1;
        let patient = self.patient;
        let Some(stages) = self.stages else {
            let mut watched = Watched { inner: &mut *self.observer, patient };
            return Fit::new(task, recipe, start)?.run(&mut watched);
        };
        let path = stages.stage(number);
        if path.is_file() {
            let (model, _, metadata) = file::read(&path, made_for(task))?;
            let record =
                metadata.get("stage").and_then(|text| serde_json::from_str::<StageRecord>(text).ok());
            let known = record.filter(|r| r.recipe == task.identity(recipe));
            let Some(record) = known else {
                let hint = "start a new run directory";
                return Err(LearnError::run(
                    &path,
                    "the stage belongs to a run with other settings or other data",
                    hint,
                ));
            };
            self.history.extend(record.history.iter().cloned());
            let StageRecord { history, ended, best, seconds, .. } = record;
            return Ok(Fitted { model, history, ended, best, seconds });
        }
        let mut fit = Fit::new(task, recipe, start)?;
        if stages.checkpoint().is_file() {
            checkpoint::read(&stages.checkpoint(), &mut fit)?;
            self.observer.resumed(&fit.history);
        }
        let before = self.history.len();
        let (inner, events) = (Watched { inner: &mut *self.observer, patient }, &mut self.events);
        let due = Instant::now();
        let mut recorder = Recorder { stages, inner, events, number, before: before as u64, due };
        let fitted = fit.run(&mut recorder)?;
        self.history.extend(fitted.history.iter().cloned());
        if fitted.ended == Ended::Interrupted {
            // The checkpoint stays: --resume goes on from it.
            return Ok(fitted);
        }
        let record = StageRecord {
            recipe: task.identity(recipe),
            history: fitted.history.clone(),
            ended: fitted.ended.clone(),
            best: fitted.best,
            seconds: fitted.seconds,
        };
        let card = self.card(recipe, &fitted);
        let record = serde_json::to_string(&record)
            .map_err(|e| LearnError::run(&path, format!("the stage cannot be written: {e}"), ""))?;
        file::write(&path, &fitted.model, &card, &[("stage", record)])?;
        let _ = std::fs::remove_file(stages.checkpoint());
        Ok(fitted)
    }

    fn card(&self, recipe: &Recipe, fitted: &Fitted) -> ModelCard {
        ModelCard::new(&recipe.name, &fitted.model, recipe.method.is_none(), &self.task.data().names)
    }

    /// Trains one recipe with what its scenarios need, and judges it on validation.
    pub fn candidate(&mut self, recipe: &Recipe, start: Option<&Candidate>) -> Result<Candidate, LearnError> {
        let mut lineage = start.map(|s| s.lineage.clone()).unwrap_or_default();
        let from = start.map(|s| &s.fitted.model);
        if recipe.trains_through_errors() {
            return self.through_errors(recipe, start);
        }
        if start.is_none() && recipe.training.warmup == Warmup::Auto && recipe.is_tuned() {
            let first = self.two_stage(recipe, None)?;
            if self.interrupted() {
                // The checkpoint that is left is an earlier stage's: this one may not be begun.
                return Ok(first);
            }
            let mut tuned = self.candidate(recipe, Some(&first))?;
            tuned.fitted.seconds += first.fitted.seconds;
            return Ok(tuned);
        }
        if start.is_none() && recipe.ensembles == Ensembles::Auto && self.grows(recipe) {
            return self.best_ensembles(recipe);
        }
        if recipe.source() == Some(ScenarioSource::Ensemble) {
            let fitted = self.ensemble(recipe, from)?;
            lineage.push(recipe.clone());
            return self.judged(recipe, lineage, fitted);
        }
        let (own, mut fitted) = self.fit_on_best_scale(recipe, from)?;
        lineage.push(own);
        if let Some(source) = recipe.source().filter(|_| fitted.ended != Ended::Interrupted) {
            let started = Instant::now();
            fitted.model.source = self.source(source, &lineage, &fitted.model)?;
            fitted.seconds += started.elapsed().as_secs_f64();
        }
        self.judged(recipe, lineage, fitted)
    }

    /// Scenarios for a model that these recipes led to; `None` if it was interrupted.
    fn source(
        &mut self,
        source: ScenarioSource,
        lineage: &[Recipe],
        model: &Model,
    ) -> Result<Option<Box<dyn Source>>, LearnError> {
        let seed = lineage.last().map_or(0, |recipe| recipe.training.seed);
        if source.is_of_outcomes() {
            return forecast::from_outcomes(self.task, source, model, seed).map(Some);
        }
        let errors = self.cross_fitted(lineage)?;
        Ok(errors.map(|errors| forecast::from_errors(self.task, source, model, &errors, seed)))
    }

    /// A candidate that decides for the average over scenarios.
    pub fn with_scenarios(
        &mut self,
        candidate: &Candidate,
        source: ScenarioSource,
    ) -> Result<Candidate, LearnError> {
        let name = format!(
            "{}+{}",
            candidate.name,
            if source == ScenarioSource::Residuals { "scenarios" } else { source.word() }
        );
        if let [recipe] = &candidate.lineage[..] {
            // Trained again: of a forecast the epoch is then kept for its errors.
            let mut recipe = Recipe { name, scenarios: true, ..recipe.clone() };
            recipe.training.scenarios.source = source;
            return self.candidate(&recipe, None);
        }
        self.on_source(candidate, name, source)
    }

    /// The same predictor with scenarios of another source.
    pub(crate) fn on_source(
        &mut self,
        candidate: &Candidate,
        name: String,
        source: ScenarioSource,
    ) -> Result<Candidate, LearnError> {
        let started = Instant::now();
        let mut fitted = candidate.fitted.clone();
        fitted.model.source = self.source(source, &candidate.lineage, &fitted.model)?;
        let valid = judge(self.task, &fitted.model, self.task.valid())?;
        fitted.seconds = started.elapsed().as_secs_f64();
        Ok(Candidate { name, fitted, valid, ..candidate.clone() })
    }

    /// Trains through the errors of a forecast that comes first: `start`, or a two-stage one. They stay as they are, and what
    /// is learned is where to put them, and how wide they are if that is predicted.
    fn through_errors(
        &mut self,
        recipe: &Recipe,
        start: Option<&Candidate>,
    ) -> Result<Candidate, LearnError> {
        let source = recipe.training.scenarios.source;
        let there =
            |start: &Candidate| start.fitted.model.source.as_ref().is_some_and(|own| own.source() == source);
        let first = match start {
            Some(start) if there(start) => start.clone(),
            Some(start) => self.with_scenarios(start, source)?,
            None => self.two_stage(recipe, Some(source))?,
        };
        if self.interrupted() {
            // The checkpoint that is left is an earlier stage's: this one may not be begun.
            return Ok(first);
        }
        let mut fitted = self.fit(self.task, recipe, Some(&first.fitted.model))?;
        fitted.seconds += first.fitted.seconds;
        let lineage = first.lineage.into_iter().chain([recipe.clone()]).collect();
        self.judged(recipe, lineage, fitted)
    }

    /// True if a recipe grows trees for several outputs.
    fn grows(&self, recipe: &Recipe) -> bool {
        let trees = self.task.settings().predictor.kind == PredictorKind::Trees;
        trees && recipe.method.is_some() && self.task.placement().width() > 1
    }

    /// One ensemble for all outputs or one for each, whichever decides better on validation.
    fn best_ensembles(&mut self, recipe: &Recipe) -> Result<Candidate, LearnError> {
        let mut best: Option<Candidate> = None;
        let mut seconds = 0.0;
        for ensembles in [Ensembles::One, Ensembles::Each] {
            let own = Recipe { ensembles, ..recipe.clone() };
            let found = self.candidate(&own, None)?;
            seconds += found.fitted.seconds;
            let better = |best: &Candidate| found.valid.measures.rank(&best.valid.measures).is_lt();
            if best.as_ref().is_none_or(better) {
                best = Some(found);
            }
            if self.interrupted() {
                break;
            }
        }
        let mut best = best.unwrap_or_else(|| unreachable!("one was trained"));
        best.fitted.seconds = seconds;
        Ok(best)
    }

    /// The forecast that a recipe starts from.
    fn two_stage(
        &mut self,
        recipe: &Recipe,
        source: Option<ScenarioSource>,
    ) -> Result<Candidate, LearnError> {
        let base = MethodName { scenarios: source.is_some(), source, ..Method::L2.into() };
        let mut plain = Recipe::of(self.task.settings(), base, recipe.training.seed).remove(0);
        plain.name = format!("{} (l2 first)", recipe.name);
        self.candidate(&plain, None)
    }

    /// Members that differ by their seeds.
    fn ensemble(&mut self, recipe: &Recipe, start: Option<&Model>) -> Result<Fitted, LearnError> {
        let count = recipe.training.scenarios.members();
        let recipe = &if start.is_none() { self.on_given_scale(recipe)? } else { recipe.clone() };
        let mut members = Vec::new();
        let mut corrections = vec![0.0; self.task.placement().width()];
        let mut first: Option<Fitted> = None;
        let mut seconds = 0.0;
        for i in 0..count {
            let seed = recipe.training.seed.wrapping_add(7919 * i as u64);
            // Members differ by what chance does on the way; a regression has one solution.
            let regression = Regression::Descent;
            let training = TrainingSettings { regression, seed, ..recipe.training.clone() };
            let name = format!("{} {}/{count}", recipe.name, i + 1);
            let member = Recipe { name, training, scenarios: false, ..recipe.clone() };
            let fitted = self.fit(self.task, &member, start)?;
            seconds += fitted.seconds;
            corrections.iter_mut().zip(&fitted.model.transforms).for_each(|(c, t)| *c += t.correction);
            members.extend(fitted.model.members.iter().cloned());
            first.get_or_insert(fitted);
            if self.interrupted() {
                break;
            }
        }
        let Some(mut first) = first else {
            return Err(LearnError::Settings {
                what: "an ensemble needs members".into(),
                hint: "give `scenarios` a count of at least 1".into(),
            });
        };
        let trained = members.len() as f64;
        first.model.members = members;
        for (transform, sum) in first.model.transforms.iter_mut().zip(corrections) {
            transform.correction = sum / trained;
        }
        first.seconds = seconds;
        Ok(first)
    }

    /// A recipe with the scale that the settings ask for.
    fn on_given_scale(&self, recipe: &Recipe) -> Result<Recipe, LearnError> {
        let Some(scales) = regression::given(self.task)? else { return Ok(recipe.clone()) };
        let scales = if scales.iter().all(|s| *s == Scale::None) { Vec::new() } else { scales };
        Ok(Recipe { scales, ..recipe.clone() })
    }

    /// Trains a recipe on the scale that the settings ask for. Where they leave it open, skewed targets are also tried on another one,
    /// and kept there if that decides better on validation by more than the gain's standard error.
    fn fit_on_best_scale(
        &mut self,
        recipe: &Recipe,
        start: Option<&Model>,
    ) -> Result<(Recipe, Fitted), LearnError> {
        let trains = recipe.method.is_some() && !self.task.is_given();
        let open = start.is_none() && trains && !regression::applies(self.task, recipe);
        let given = if open { self.on_given_scale(recipe)? } else { recipe.clone() };
        let plain = self.fit(self.task, &given, start)?;
        let scales = if open && plain.ended != Ended::Interrupted {
            regression::scales(self.task, recipe)?
        } else {
            Vec::new()
        };
        if scales.is_empty() {
            return Ok((given, plain));
        }
        let other = Recipe { scales, ..recipe.clone() };
        let named = Recipe { name: format!("{} on another scale", recipe.name), ..other.clone() };
        let mut fitted = self.fit(self.task, &named, None)?;
        if fitted.ended == Ended::Interrupted {
            return Ok((recipe.clone(), plain));
        }
        let judged = |fitted: &Fitted| judge(self.task, &fitted.model, self.task.valid());
        let (a, b) = (judged(&plain)?, judged(&fitted)?);
        let decided = b.measures.undecided <= a.measures.undecided;
        if decided && a.gain(&b).is_some_and(|(gain, error)| gain > error) {
            fitted.seconds += plain.seconds;
            return Ok((other, fitted));
        }
        Ok((recipe.clone(), plain))
    }

    fn judged(
        &self,
        recipe: &Recipe,
        lineage: Vec<Recipe>,
        mut fitted: Fitted,
    ) -> Result<Candidate, LearnError> {
        let started = Instant::now();
        let valid = judge(self.task, &fitted.model, self.task.valid())?;
        fitted.seconds += started.elapsed().as_secs_f64();
        Ok(Candidate {
            name: recipe.name.clone(),
            k: recipe.method.filter(|m| m.uses_surrogate()).map(|_| recipe.k.value()),
            constant: recipe.method.is_none(),
            predictor: None,
            lineage,
            fitted,
            valid,
        })
    }
}

/// What the models of a task are made for.
fn made_for(task: &Task) -> For<'_> {
    For { problem: task.problem(), placement: task.placement(), predictor: &task.settings().predictor }
}

/// The epochs of a finished stage.
pub(crate) fn stage_history(path: &std::path::Path) -> Result<Vec<Epoch>, LearnError> {
    let metadata = file::metadata(path)?;
    let record = metadata.get("stage").and_then(|text| serde_json::from_str::<StageRecord>(text).ok());
    record
        .map(|r| r.history)
        .ok_or_else(|| LearnError::run(path, "the stage cannot be read", "start a new run directory"))
}

/// A place between two trainings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    stage: usize,
    epochs: usize,
}
