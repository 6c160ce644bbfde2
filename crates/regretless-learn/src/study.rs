//! Several trainings in a row: the K of a grid, the stages of a method, the candidates of `auto`.

use std::time::Instant;

use regretless_spec::{Method as Word, MethodName, ScenarioSource};
use serde::{Deserialize, Serialize};

use crate::checkpoint;
use crate::epoch::{Ended, Epoch, Fitted};
use crate::error::LearnError;
use crate::fit::Fit;
use crate::judge::{Judgement, judge_valid};
use crate::model_file::{self, ModelCard};
use crate::observer::Observer;
use crate::recipe::Recipe;
use crate::run::Run;
use crate::task::Task;
use crate::tensorboard::EventWriter;

/// Trains predictors one after the other, each written down as a stage of a run if there is one.
pub struct Study<'a> {
    task: &'a Task,
    run: Option<&'a Run>,
    observer: &'a mut dyn Observer,
    stage: usize,
    history: Vec<Epoch>,
    events: Option<EventWriter>,
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

impl<'a> Study<'a> {
    /// A study of a task. With a run, stages that it has finished are read and not trained again.
    pub fn new(
        task: &'a Task,
        run: Option<&'a Run>,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, LearnError> {
        let mut study = Self { task, run, observer, stage: 0, history: Vec::new(), events: None };
        if let Some(run) = run {
            let epochs = run.recorded()?;
            run.write_metrics(&epochs)?;
            study.events = Some(run.events(epochs.len() as u64)?);
        }
        Ok(study)
    }

    /// The task.
    pub fn task(&self) -> &'a Task {
        self.task
    }

    /// True if somebody asked for the end.
    pub fn interrupted(&self) -> bool {
        self.observer.interrupted()
    }

    /// Trains one predictor, or reads it if the run has it.
    fn fit(&mut self, recipe: &Recipe, start: Option<&crate::Model>) -> Result<Fitted, LearnError> {
        let number = self.stage;
        self.stage += 1;
        let Some(run) = self.run else {
            return Fit::new(self.task, recipe, start)?.run(self.observer);
        };
        let path = run.stage(number);
        if path.is_file() {
            let (model, _, metadata) = model_file::read(&path, self.task.spec())?;
            let record =
                metadata.get("stage").and_then(|text| serde_json::from_str::<StageRecord>(text).ok());
            let known = record.filter(|r| r.recipe == self.task.identity(recipe));
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
        let mut fit = Fit::new(self.task, recipe, start)?;
        if run.checkpoint().is_file() {
            checkpoint::read(&run.checkpoint(), &mut fit)?;
            self.observer.resumed(&fit.history);
        }
        let before = self.history.len();
        let (inner, events) = (&mut *self.observer, &mut self.events);
        let mut recorder = Recorder { run, inner, events, number, before: before as u64 };
        let fitted = fit.run(&mut recorder)?;
        self.history.extend(fitted.history.iter().cloned());
        if fitted.ended == Ended::Interrupted {
            // The checkpoint stays: --resume goes on from it.
            return Ok(fitted);
        }
        let record = StageRecord {
            recipe: self.task.identity(recipe),
            history: fitted.history.clone(),
            ended: fitted.ended.clone(),
            best: fitted.best,
            seconds: fitted.seconds,
        };
        let card = self.card(recipe, &fitted);
        let record = serde_json::to_string(&record).unwrap_or_default();
        model_file::write(&path, &fitted.model, &card, &[("stage", record)])?;
        let _ = std::fs::remove_file(run.checkpoint());
        Ok(fitted)
    }

    fn card(&self, recipe: &Recipe, fitted: &Fitted) -> ModelCard {
        ModelCard::new(&recipe.name, &fitted.model, recipe.method.is_none(), &self.task.data().columns)
    }

    /// Trains one recipe with what its scenarios need, and judges it on validation.
    pub fn candidate(&mut self, recipe: &Recipe, start: Option<&Candidate>) -> Result<Candidate, LearnError> {
        let plan = recipe.training.scenarios;
        let through = recipe.scenarios && recipe.method.is_some_and(regretless_core::Method::takes_scenarios);
        let mut seconds = 0.0;
        let mut fitted = if recipe.scenarios && plan.source == ScenarioSource::Ensemble {
            let mut members = Vec::new();
            let mut first: Option<Fitted> = None;
            for i in 0..plan.count {
                let seed = recipe.training.seed.wrapping_add(7919 * i as u64);
                // Members differ by what chance does on the way; a regression has one solution.
                let regression = regretless_spec::Regression::Descent;
                let training =
                    regretless_spec::TrainingSettings { seed, regression, ..recipe.training.clone() };
                let name = format!("{} {}/{}", recipe.name, i + 1, plan.count);
                let member = Recipe { name, training, scenarios: false, ..recipe.clone() };
                let fitted = self.fit(&member, start.map(|s| &s.fitted.model))?;
                seconds += fitted.seconds;
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
            first.model.members = members;
            first.seconds = 0.0;
            first
        } else if through && start.is_none() {
            // Residuals need a predictor: a two-stage one comes first.
            let base = MethodName { base: Word::L2, ..MethodName::default() };
            let mut plain = Recipe::of(self.task.spec(), base, recipe.training.seed).remove(0);
            plain.name = format!("{} (l2 first)", recipe.name);
            let first = self.fit(&plain, None)?;
            if self.interrupted() {
                // The checkpoint that is left is the first stage's: the second may not be begun.
                first
            } else {
                seconds += first.seconds;
                self.fit(recipe, Some(&first.model))?
            }
        } else {
            self.fit(recipe, start.map(|s| &s.fitted.model))?
        };
        fitted.seconds += seconds;
        if recipe.scenarios && plan.source == ScenarioSource::Residuals {
            fitted.model.residuals = self.task.residuals(&fitted.model, plan.count, recipe.training.seed);
        }
        let started = Instant::now();
        let valid = judge_valid(self.task, &fitted.model, plan.count, recipe.training.seed)?;
        fitted.seconds += started.elapsed().as_secs_f64();
        Ok(Candidate {
            name: recipe.name.clone(),
            k: recipe.method.filter(|m| m.uses_surrogate()).map(|_| recipe.k.value()),
            constant: recipe.method.is_none(),
            fitted,
            valid,
        })
    }
}

impl Study<'_> {
    /// A candidate that decides for the average over its residuals on validation; nothing is trained.
    pub fn with_scenarios(&self, candidate: &Candidate, seed: u64) -> Result<Candidate, LearnError> {
        let count = self.task.spec().training().scenarios.count;
        let mut fitted = candidate.fitted.clone();
        fitted.model.residuals = self.task.residuals(&fitted.model, count, seed);
        let started = Instant::now();
        let valid = judge_valid(self.task, &fitted.model, count, seed)?;
        fitted.seconds = started.elapsed().as_secs_f64();
        Ok(Candidate { name: format!("{}+scenarios", candidate.name), fitted, valid, ..candidate.clone() })
    }
}

/// The epochs of a finished stage.
pub(crate) fn stage_history(path: &std::path::Path) -> Result<Vec<Epoch>, LearnError> {
    let metadata = model_file::metadata(path)?;
    let record = metadata.get("stage").and_then(|text| serde_json::from_str::<StageRecord>(text).ok());
    record
        .map(|r| r.history)
        .ok_or_else(|| LearnError::run(path, "the stage cannot be read", "start a new run directory"))
}

/// Writes down what a fit of a run does, and passes it on.
struct Recorder<'a> {
    run: &'a Run,
    inner: &'a mut dyn Observer,
    events: &'a mut Option<EventWriter>,
    /// The stage, and the epochs of earlier ones.
    number: usize,
    before: u64,
}

impl Observer for Recorder<'_> {
    fn stage(&mut self, name: &str, epochs: usize) {
        self.inner.stage(name, epochs);
    }

    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        self.run.add_metrics(epoch)?;
        if let Some(events) = self.events {
            let step = self.before + epoch.epoch as u64;
            crate::run::record(events, step, epoch)?;
        }
        self.inner.epoch(epoch)
    }

    fn checkpoint(&mut self, fit: &mut Fit<'_>) -> Result<(), LearnError> {
        checkpoint::write(&self.run.checkpoint(), fit, self.number)?;
        self.inner.checkpoint(fit)
    }

    fn interrupted(&self) -> bool {
        self.inner.interrupted()
    }
}
