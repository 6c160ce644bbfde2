//! The training loop.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use regretless_core::{Batch, LossOptions, Method, Regret, RowId, Scenarios, build_loss};
use regretless_spec::{Keep, ScenarioSource, Schedule};
use serde::{Deserialize, Serialize};

use crate::error::LearnError;
use crate::measures::Measures;
use crate::model::Model;
use crate::objective::Objective;
use crate::observer::Observer;
use crate::optimizer::{self, Optimizer};
use crate::predictor::Predictor;
use crate::random::{order, stream};
use crate::recipe::{Recipe, stop_now};
use crate::task::Task;

/// Outputs this many deviations away from the training mean are no prediction any more.
const RUNAWAY: f32 = 1e6;

/// What an epoch came to: a line of `metrics.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// The recipe's name.
    pub stage: String,
    /// 0 is the predictor as it started.
    pub epoch: usize,
    /// Mean training loss of the instances that have one; unknown if none has.
    #[serde(with = "crate::unknown")]
    pub loss: f64,
    /// Measures on the validation part.
    pub valid: Measures,
    /// True if the validation regret is the best so far.
    pub best: bool,
    /// Learning rate.
    pub rate: f64,
    /// Sharpness.
    pub k: f64,
    /// Weight of L2.
    pub mix: f64,
    /// Mean norm of the gradient over all weights, before clipping.
    pub gradient: f64,
    /// Share of instances with a zero gradient.
    pub zero_gradients: f64,
    /// Instances without a loss: their prediction has no optimum.
    pub troubles: usize,
    /// Hard rows whose multiplier was raised after the epoch.
    pub raised: usize,
    /// Breakpoints an instance.
    pub breakpoints: f64,
    /// Where the time went.
    pub seconds: Seconds,
}

/// Where an epoch's time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Predictor, forward and backward, and the optimiser.
    pub network: f64,
    /// Optimisation problems.
    pub solve: f64,
    /// Their gradients.
    pub gradient: f64,
    /// Decisions for the validation part.
    pub validation: f64,
}

/// How training ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// At the last epoch.
    LastEpoch,
    /// The validation regret got no better.
    NoProgress,
    /// Somebody asked for it.
    Interrupted,
    /// Predictions or weights ran away; the best predictor before that is kept.
    Diverged,
    /// There was nothing to train.
    Nothing,
}

/// A trained predictor and how it came about.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The predictor of the epoch that was kept.
    pub model: Model,
    /// Every epoch.
    pub history: Vec<Epoch>,
    /// How it ended.
    pub ended: Ended,
    /// The epoch whose predictor was kept.
    pub best: usize,
    /// Seconds of training.
    pub seconds: f64,
}

/// A training run in progress.
pub struct Fit<'a> {
    pub(crate) task: &'a Task,
    pub(crate) recipe: &'a Recipe,
    pub(crate) model: Model,
    pub(crate) optimizer: Optimizer,
    pub(crate) objective: Option<Objective>,
    pub(crate) regret: Regret,
    pub(crate) best: Best,
    pub(crate) history: Vec<Epoch>,
    pub(crate) rate: f64,
    /// Epochs since the last better regret or cut of the rate, for the plateau schedule.
    pub(crate) flat: usize,
    pub(crate) seconds: f64,
}

/// The best predictor so far.
#[derive(Clone, Debug)]
pub(crate) struct Best {
    pub(crate) epoch: usize,
    pub(crate) regret: f64,
    pub(crate) predictor: Box<dyn Predictor>,
}

impl<'a> Fit<'a> {
    /// Prepares a run that starts from `start`, or from an untrained predictor. A run with scenarios trains through
    /// those that `start` leaves on validation.
    pub fn new(task: &'a Task, recipe: &'a Recipe, start: Option<&Model>) -> Result<Self, LearnError> {
        let model = match start {
            Some(model) => Model { residuals: Vec::new(), ..model.clone() },
            None => task.untrained(recipe)?,
        };
        let plan = recipe.training.scenarios;
        let through = recipe.scenarios
            && plan.source == ScenarioSource::Residuals
            && recipe.method.is_some_and(Method::takes_scenarios);
        let scenarios = match start {
            Some(start) if through => {
                let residuals = task.residuals(start, plan.count, recipe.training.seed);
                Some(Scenarios::new(task.problem(), task.layout(), residuals)?)
            }
            _ => None,
        };
        let objective =
            recipe.method.map(|method| objective(task, recipe, method, scenarios.clone())).transpose()?;
        let regret = task.regret(scenarios)?;
        let training = &recipe.training;
        let best = Best { epoch: 0, regret: f64::INFINITY, predictor: model.members[0].clone() };
        Ok(Self {
            task,
            recipe,
            model,
            optimizer: Optimizer::new(training.optimizer, training.momentum, training.weight_decay),
            objective,
            regret,
            best,
            history: Vec::new(),
            rate: training.learning_rate,
            flat: 0,
            seconds: 0.0,
        })
    }

    /// What it learns from.
    pub fn task(&self) -> &'a Task {
        self.task
    }

    /// The predictor as it is now.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Trains to the end.
    pub fn run(mut self, observer: &mut dyn Observer) -> Result<Fitted, LearnError> {
        observer
            .stage(&self.recipe.name, if self.objective.is_some() { self.recipe.training.epochs } else { 0 });
        let ended = loop {
            if let Some(ended) = self.ended() {
                break ended;
            }
            if observer.interrupted() {
                break Ended::Interrupted;
            }
            let started = Instant::now();
            let Some(epoch) = self.epoch(observer)? else { break Ended::Interrupted };
            self.seconds += started.elapsed().as_secs_f64();
            observer.epoch(&epoch)?;
            self.history.push(epoch);
            observer.checkpoint(&mut self)?;
        };
        // What ran away is not kept, whatever was asked for.
        let last = self.recipe.training.keep == Keep::Last && ended != Ended::Diverged;
        if !last {
            self.model.members[0] = self.best.predictor.clone();
        }
        let best = if last { self.history.last().map_or(0, |e| e.epoch) } else { self.best.epoch };
        Ok(Fitted { model: self.model, best, history: self.history, ended, seconds: self.seconds })
    }

    fn ended(&self) -> Option<Ended> {
        let last = self.history.last()?;
        if self.objective.is_none() {
            return Some(Ended::Nothing);
        }
        if self.runaway() {
            return Some(Ended::Diverged);
        }
        if last.epoch >= self.recipe.training.epochs {
            return Some(Ended::LastEpoch);
        }
        let regrets: Vec<f64> = self.history.iter().skip(1).map(|e| e.valid.regret).collect();
        // Warming up is not the method's fault.
        let waited = last.epoch.saturating_sub(self.best.epoch.max(self.recipe.training.warmup));
        stop_now(self.recipe.training.stop, &regrets, waited).then_some(Ended::NoProgress)
    }

    fn runaway(&self) -> bool {
        let weights = self.model.members[0].weights();
        weights.iter().any(|w| w.values().iter().any(|v| !v.is_finite() || v.abs() > RUNAWAY))
            || self.history.last().is_some_and(|e| !e.valid.regret.is_finite() || e.valid.instances == 0)
    }

    /// One pass over the training part, then the validation part; `None` if it was interrupted. Epoch 0 only validates.
    fn epoch(&mut self, observer: &dyn Observer) -> Result<Option<Epoch>, LearnError> {
        let number = self.history.last().map_or(0, |e| e.epoch + 1);
        let mut epoch = Epoch { stage: self.recipe.name.clone(), epoch: number, ..Epoch::default() };
        if number > 0 {
            // Epochs of training are counted from 0 in schedules.
            if !self.pass(number - 1, &mut epoch, observer)? {
                return Ok(None);
            }
        }
        let started = Instant::now();
        epoch.valid = self.validate()?;
        epoch.seconds.validation = started.elapsed().as_secs_f64();
        epoch.rate = self.rate;
        // An epoch that decides fewer rows is no better, however little the rest of them cost.
        let undecided = self.history.iter().rev().find(|e| e.best).map_or(usize::MAX, |e| e.valid.undecided);
        let fewer = epoch.valid.undecided < undecided;
        let better = epoch.valid.undecided == undecided && epoch.valid.regret < self.best.regret;
        epoch.best = epoch.valid.instances > 0 && (fewer || better);
        if epoch.best {
            self.best =
                Best { epoch: number, regret: epoch.valid.regret, predictor: self.model.members[0].clone() };
            self.flat = 0;
        } else {
            self.flat += 1;
        }
        if let Schedule::Plateau { factor, patience } = self.recipe.training.schedule
            && self.flat > patience
        {
            self.rate *= factor;
            self.flat = 0;
        }
        Ok(Some(epoch))
    }

    fn pass(
        &mut self,
        number: usize,
        epoch: &mut Epoch,
        observer: &dyn Observer,
    ) -> Result<bool, LearnError> {
        let Some(objective) = &mut self.objective else { return Ok(true) };
        objective.start(number)?;
        epoch.k = objective.k(number);
        epoch.mix = objective.weight(number);
        let train = self.task.train();
        let order = order(train.len(), self.recipe.training.seed, number as u64);
        let mut uncapped: BTreeSet<RowId> = BTreeSet::new();
        let (mut zeros, mut breakpoints, mut steps, mut known) = (0, 0, 0, 0);
        let (mut solving, mut deriving) = (Duration::ZERO, Duration::ZERO);
        let started = Instant::now();
        let mut losing = Duration::ZERO;
        for (b, chunk) in order.chunks(self.recipe.training.batch.max(1)).enumerate() {
            if observer.interrupted() {
                return Ok(false);
            }
            let rows: Vec<usize> = chunk.iter().map(|&i| train[i]).collect();
            let inputs = self.task.inputs(&rows);
            let truths = self.task.targets(&rows);
            let ids: Vec<u64> = rows.iter().map(|&r| r as u64).collect();
            let mut noise = stream(self.recipe.training.seed, number as u64, b as u64);
            let Model { members, targets, .. } = &mut self.model;
            let predictor = &mut members[0];
            let (outputs, pullback) = predictor.train(&inputs, rows.len(), &mut noise);
            let away = outputs.iter().any(|o| !o.is_finite() || o.abs() > RUNAWAY);
            if away {
                drop(pullback);
                // Nothing to learn from here; `ended` sees it.
                predictor.weights_mut().iter_mut().for_each(|w| w.values_mut().fill(f32::NAN));
                return Ok(true);
            }
            let width = targets.mean.len();
            let predictions: Vec<f64> =
                outputs.iter().enumerate().map(|(i, o)| targets.back(i % width, *o)).collect();
            let batch = Batch { predictions: &predictions, truths: &truths, ids: &ids };
            let losing_since = Instant::now();
            let step = objective.step(&batch, &targets.deviation, number)?;
            losing += losing_since.elapsed();
            let mut gradient = pullback(&step.gradient);
            epoch.gradient += optimizer::clip(self.recipe.training.clip, &mut gradient);
            step_all(&mut self.optimizer, &mut predictor.weights_mut(), &gradient, self.rate);
            epoch.loss += step.value;
            known += step.known;
            epoch.troubles += step.troubles.len();
            zeros += step.zeros;
            breakpoints += step.work.breakpoints;
            solving += step.work.solve;
            deriving += step.work.gradient;
            uncapped.extend(step.uncapped);
            steps += 1;
        }
        // 0/0: what no instance has is unknown.
        epoch.loss /= known as f64;
        epoch.gradient /= f64::from(steps.max(1));
        epoch.zero_gradients = zeros as f64 / train.len().max(1) as f64;
        epoch.breakpoints = breakpoints as f64 / train.len().max(1) as f64;
        epoch.seconds.network = started.elapsed().saturating_sub(losing).as_secs_f64();
        epoch.seconds.solve = solving.as_secs_f64();
        epoch.seconds.gradient = deriving.as_secs_f64();
        epoch.raised = objective.main.end_epoch(&uncapped).len();
        Ok(true)
    }

    /// Measures of the predictor as it is now on the validation part.
    fn validate(&mut self) -> Result<Measures, LearnError> {
        let rows = self.task.valid();
        let outputs = self.model.members[0].predict(&self.task.inputs(rows), rows.len());
        if outputs.iter().any(|o| !o.is_finite()) {
            return Ok(Measures::nothing(rows.len()));
        }
        let predictions = self.model.restore(&outputs);
        let truths = self.task.targets(rows);
        let ids: Vec<u64> = rows.iter().map(|&r| r as u64).collect();
        let decisions = self.regret.evaluate(&predictions, &truths, &ids)?;
        Ok(Measures::of(&decisions, &predictions, &truths))
    }
}

/// The losses of a recipe.
fn objective(
    task: &Task,
    recipe: &Recipe,
    method: Method,
    scenarios: Option<Scenarios>,
) -> Result<Objective, LearnError> {
    let training = &recipe.training;
    let options = LossOptions {
        k: recipe.k.at(0),
        k_rows: task.sharpness().map(|s| s.rows.clone()),
        smoothing: task.spec().surrogate().options.smoothing,
        ridge: training.ridge,
        over: training.weights.over,
        under: training.weights.under,
        multipliers: if method.uses_surrogate() { Some(task.multipliers()?) } else { None },
        scale: Some(task.units()),
        scenarios,
        ..LossOptions::default()
    };
    let plain = LossOptions { scale: Some(task.units()), ..LossOptions::default() };
    Ok(Objective {
        main: build_loss(method, task.problem(), task.layout(), &options)?,
        l2: build_loss(Method::L2, task.problem(), task.layout(), &plain)?,
        mix: recipe.mixed.then_some(training.mix),
        bound: training.bound,
        warmup: training.warmup,
        sharpness: recipe.k.clone(),
    })
}

/// One step over weights that lie in several pieces.
fn step_all(
    optimizer: &mut Optimizer,
    weights: &mut [&mut crate::predictor::Weights],
    gradient: &[f32],
    rate: f64,
) {
    let mut flat: Vec<f32> = weights.iter().flat_map(|w| w.values().iter().copied()).collect();
    optimizer.step(&mut flat, gradient, rate);
    let mut rest = flat.as_slice();
    for part in weights {
        let (own, after) = rest.split_at(part.len());
        part.values_mut().copy_from_slice(own);
        rest = after;
    }
}
