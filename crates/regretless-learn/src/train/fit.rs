//! The training loop.

use std::sync::OnceLock;
use std::time::Instant;

use regretless_core::{Batch, Method, Regret};

use crate::data::transform::{self, Transform};
use crate::error::LearnError;
use crate::evaluate::measures::Measures;
use crate::forecast::Source;
use crate::model::Model;
use crate::predictor::Predictor;
use crate::random::{order, stream};
use crate::regression;
use crate::select::recipe::{Recipe, stop_now};
use crate::settings::{Keep, Part, Schedule};
use crate::task::Task;
use crate::train::boosting::Boosting;
use crate::train::epoch::{Ended, Epoch, Fitted};
use crate::train::lesson::{Lesson, truths};
use crate::train::objective::{Objective, objective};
use crate::train::observer::Observer;
use crate::train::optimizer::{self, Optimizer};
use crate::train::progress::last_improvement;

/// Outputs this many deviations away from the training mean are no prediction any more.
pub(crate) const RUNAWAY: f32 = 1e6;

/// Scenarios that a decision at risk is trained through: each of its rows is a problem with a variable for each of them and more. It is
/// judged, and decides, by all.
const THROUGH_RISK: usize = 64;

/// Validation rows, evenly spaced, that are decided for after an epoch of a forecast's loss. What is kept is judged by all.
const DECIDED: usize = 1000;

/// A training run in progress.
pub struct Fit<'a> {
    pub(crate) task: &'a Task,
    pub(crate) recipe: &'a Recipe,
    pub(crate) model: Model,
    pub(crate) optimizer: Optimizer,
    pub(crate) objective: Option<Objective>,
    /// Where the predictor grows tree by tree: what it grows on.
    boosting: Option<Boosting>,
    pub(crate) regret: Regret,
    pub(crate) best: Best,
    /// Where the recipe is a regression: its solution.
    pub(crate) solved: Option<Model>,
    pub(crate) history: Vec<Epoch>,
    pub(crate) rate: f64,
    /// Epochs since the last better regret or cut of the rate, for the plateau schedule.
    pub(crate) flat: usize,
    pub(crate) seconds: f64,
    /// What the training is known by, once somebody asked: hashing takes longer than a round on many rows.
    identity: OnceLock<String>,
}

/// The best predictor so far, by regret or by loss.
#[derive(Clone, Debug)]
pub(crate) struct Best {
    pub(crate) epoch: usize,
    pub(crate) value: f64,
    pub(crate) predictor: Box<dyn Predictor>,
    pub(crate) transforms: Vec<Transform>,
    pub(crate) source: Option<Box<dyn Source>>,
}

impl<'a> Fit<'a> {
    /// Prepares a run that starts from `start`, or from an untrained predictor. A run with scenarios trains through
    /// the residuals of `start`.
    pub fn new(task: &'a Task, recipe: &'a Recipe, start: Option<&Model>) -> Result<Self, LearnError> {
        let mut model = match start {
            Some(model) => model.clone(),
            None => task.untrained(recipe)?,
        };
        let own = recipe.method.is_some() && !task.has_own_predictor();
        if start.is_none() && own && task.settings().predictor.stands_on_a_line() {
            let line = regression::base(task, &model)?;
            model.members[0].stand_on(&line);
        }
        if !recipe.trains_through_errors() {
            model.source = None;
        }
        let there = model.source.as_ref();
        let scenarios = there.map(|_| model.scenarios(task.problem(), task.placement()));
        let scenarios = scenarios.transpose()?.flatten();
        let own = |there: bool| if there { units(&model) } else { task.units() };
        let units = [own(recipe.is_measured_there()), own(!model.transforms.is_empty())];
        let at_risk = scenarios.as_ref().filter(|own| own.risk().is_some());
        let through = at_risk.map(|own| own.thinned(THROUGH_RISK)).transpose()?;
        let objective = recipe
            .method
            .map(|method| {
                objective(task, recipe, method, units, through.clone().or_else(|| scenarios.clone()))
            })
            .transpose()?;
        let regret = task.regret(scenarios)?;
        let training = &recipe.training;
        let best = Best {
            epoch: 0,
            value: f64::INFINITY,
            predictor: model.members[0].clone(),
            transforms: model.transforms.clone(),
            source: model.source.clone(),
        };
        let boosting = model.members[0].boosting().map(|trees| Boosting::new(task, trees));
        let solved = if regression::applies(task, recipe) {
            Some(regression::solve(task, recipe, &task.untrained(recipe)?)?)
        } else {
            None
        };
        Ok(Self {
            task,
            recipe,
            model,
            optimizer: Optimizer::new(training.optimizer, training.momentum, training.weight_decay),
            objective,
            boosting,
            regret,
            best,
            solved,
            history: Vec::new(),
            rate: training.learning_rate,
            flat: 0,
            seconds: 0.0,
            identity: OnceLock::new(),
        })
    }

    /// What the training is known by: it goes on only with the same.
    pub(crate) fn identity(&self) -> &str {
        self.identity.get_or_init(|| self.task.identity(self.recipe))
    }

    /// What it learns from.
    pub fn task(&self) -> &'a Task {
        self.task
    }

    /// The predictor as it is now.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Forgets what a checkpoint does not hold: a training that is not written down then has the numbers of one that is, to the
    /// last bit. For an observer's `checkpoint`.
    pub fn settle(&mut self) {
        if let Some(objective) = &mut self.objective {
            objective.main.checkpoint();
        }
        self.regret.checkpoint();
    }

    /// Trains to the end.
    pub fn run(mut self, observer: &mut dyn Observer) -> Result<Fitted, LearnError> {
        let epochs = match (&self.objective, &self.solved) {
            (None, _) => 0,
            (Some(_), Some(_)) => 1,
            (Some(_), None) => self.recipe.training.epochs,
        };
        observer.stage(&self.recipe.name, epochs);
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
            self.go_back();
        }
        let best = if last { self.history.last().map_or(0, |e| e.epoch) } else { self.best.epoch };
        Ok(Fitted { model: self.model, best, history: self.history, ended, seconds: self.seconds })
    }

    fn ended(&self) -> Option<Ended> {
        let last = self.history.last()?;
        let member = &self.model.members[0];
        if self.objective.is_none() || member.descent().is_none() && member.boosting().is_none() {
            return Some(Ended::Nothing);
        }
        if self.solved.is_some() {
            return (last.epoch > 0).then_some(Ended::Solved);
        }
        if self.runaway() {
            return Some(Ended::Diverged);
        }
        if last.epoch >= self.recipe.training.epochs {
            return Some(Ended::LastEpoch);
        }
        let regrets: Vec<f64> = self.history.iter().skip(1).map(|e| e.valid.judged()).collect();
        // Warming up is not the method's fault.
        let improved = last_improvement(&self.history).max(self.recipe.training.warmup.epochs());
        let waited = last.epoch.saturating_sub(improved);
        stop_now(self.recipe.training.stop, &regrets, waited).then_some(Ended::NoProgress)
    }

    fn runaway(&self) -> bool {
        let away = |v: &f32| !v.is_finite() || v.abs() > RUNAWAY;
        let descent = self.model.members[0].descent();
        descent.is_some_and(|d| d.weights().iter().any(|w| w.values().iter().any(away)))
            || self
                .history
                .last()
                .is_some_and(|e| e.ran_away || !e.valid.regret.is_finite() || e.valid.instances == 0)
    }

    /// One pass over the training part, then the validation part; `None` if it was interrupted. Epoch 0 only validates.
    fn epoch(&mut self, observer: &dyn Observer) -> Result<Option<Epoch>, LearnError> {
        let number = self.history.last().map_or(0, |e| e.epoch + 1);
        let mut epoch = Epoch { stage: self.recipe.name.clone(), epoch: number, ..Epoch::default() };
        if let Some(rate) = number.checked_sub(1).and_then(|i| self.recipe.rates.get(i)) {
            self.rate = *rate;
        }
        let solution = self.solved.clone().filter(|_| number > 0);
        let is_solution = solution.is_some();
        if let Some(solution) = solution {
            self.model = solution;
            epoch.loss = self.loss(Part::Train)?.unwrap_or_default();
        } else if number > 0 {
            // Epochs of training are counted from 0 in schedules.
            match self.pass(number - 1, &mut epoch, observer)? {
                Pass::Whole => {}
                Pass::RanAway => epoch.ran_away = true,
                Pass::Interrupted => return Ok(None),
            }
        }
        let started = Instant::now();
        self.correct(number);
        if epoch.ran_away {
            // Nothing to learn from here; `ended` sees it.
            epoch.valid = Measures::nothing(self.task.valid().len());
        } else {
            epoch.valid = self.validate()?;
            epoch.valid_loss = self.loss(Part::Valid)?;
        }
        epoch.seconds.validation = started.elapsed().as_secs_f64();
        epoch.rate = self.rate;
        // A solution is kept whatever the constant predictor's regret on a few rows.
        let value = self.value(&epoch);
        epoch.best = is_solution || epoch.valid.instances > 0 && self.better(&epoch, value);
        if epoch.best {
            let Model { members, transforms, source, .. } = &self.model;
            let (predictor, transforms, source) = (members[0].clone(), transforms.clone(), source.clone());
            self.best = Best { epoch: number, value, predictor, transforms, source };
            self.flat = 0;
        } else if number > self.recipe.training.warmup.epochs() {
            self.flat += 1;
        }
        if let Some((factor, _, back)) = self.plateau(number).filter(|(_, patience, _)| self.flat > *patience)
        {
            self.rate *= factor;
            self.flat = 0;
            epoch.back = back;
            if back {
                self.go_back();
            }
        }
        Ok(Some(epoch))
    }

    /// Factor, patience and whether to go back, if the rate falls on plateaus.
    fn plateau(&self, number: usize) -> Option<(f64, usize, bool)> {
        let schedule = match self.recipe.training.schedule {
            _ if !self.recipe.rates.is_empty() => Schedule::Constant,
            Schedule::Auto => {
                let width = self.task.placement().width();
                let curved = self.objective.as_ref().is_none_or(|o| o.curvature(number, width).is_some());
                let falls = self.boosting.is_some() && self.recipe.is_tuned() && !curved;
                if falls { Schedule::FALLING } else { Schedule::Constant }
            }
            schedule => schedule,
        };
        let Schedule::Plateau { factor, patience, back } = schedule else { return None };
        Some((factor, patience, back))
    }

    /// Goes on from the best epoch so far.
    fn go_back(&mut self) {
        self.model.members[0] = self.best.predictor.clone();
        self.model.transforms.clone_from(&self.best.transforms);
        self.model.source.clone_from(&self.best.source);
        // Outputs that are brought up to date tree by tree have to see that there are fewer.
        [Part::Train, Part::Valid].into_iter().for_each(|part| drop(self.outputs(part)));
    }

    /// What the epoch to keep is chosen by: its regret, at risk that of its scores. Scenarios are the errors of a forecast, so of that its own loss.
    fn value(&self, epoch: &Epoch) -> f64 {
        match epoch.valid_loss {
            Some(loss) if self.recipe.wants_errors() => loss,
            _ => epoch.valid.judged(),
        }
    }

    /// An epoch that decides fewer rows is no better, however little the rest of them cost.
    fn better(&self, epoch: &Epoch, value: f64) -> bool {
        let undecided = self.history.iter().rev().find(|e| e.best).map_or(usize::MAX, |e| e.valid.undecided);
        epoch.valid.undecided < undecided || epoch.valid.undecided == undecided && value < self.best.value
    }

    /// Makes means of what is predicted on another scale, by the errors that the predictor makes there on training rows, as wide as those
    /// on validation rows: where it learned from a row its error is too small. Of a decision loss after the epochs of L2 before it: the
    /// way back then stays, and what is learned is all else.
    fn correct(&mut self, number: usize) {
        let means = match self.recipe.method {
            Some(Method::L2) => true,
            Some(_) if self.recipe.of_forecast() => false,
            _ => number <= self.recipe.training.warmup.epochs(),
        };
        if self.recipe.scales.is_empty() || !means {
            return;
        }
        let [own, other] = [Part::Train, Part::Valid].map(|part| {
            let outputs = self.outputs(part);
            self.errors(part, &outputs)
        });
        let weights = self.task.weights(self.task.train());
        for (transform, (mut own, other)) in self.model.transforms.iter_mut().zip(own.into_iter().zip(other))
        {
            if number > 0 {
                let stretch = stretch(&own, &weights, &other);
                own.iter_mut().for_each(|e| *e *= stretch);
            }
            *transform = Transform::smeared(transform.scale, &own, &weights);
        }
    }

    /// True − predicted on the scale of each target, target by target.
    fn errors(&self, part: Part, outputs: &[f32]) -> Vec<Vec<f64>> {
        let (truths, width) = (self.task.targets(self.task.part(part)), self.model.width());
        let error = |k: usize, i: usize| {
            let scale = self.model.transforms[k].scale;
            scale.forward(truths[i]) - self.model.targets.back(k, outputs[i])
        };
        (0..self.model.transforms.len())
            .map(|k| (k..truths.len()).step_by(width).map(|i| error(k, i)).collect())
            .collect()
    }

    /// One pass over the training part, by descent or by a round of boosting.
    fn pass(
        &mut self,
        number: usize,
        epoch: &mut Epoch,
        observer: &dyn Observer,
    ) -> Result<Pass, LearnError> {
        let Some(objective) = &mut self.objective else { return Ok(Pass::Whole) };
        let mut lesson = Lesson::new(self.task, self.recipe, objective, number)?;
        let (model, optimizer) = (&mut self.model, &mut self.optimizer);
        let passed = match &mut self.boosting {
            Some(boosting) => boosting.round(&mut lesson, model, optimizer, self.rate, observer)?,
            None => descend(&mut lesson, model, optimizer, self.rate, observer)?,
        };
        lesson.close(epoch, &passed);
        Ok(passed)
    }

    /// Outputs of the rows of a part.
    fn outputs(&mut self, part: Part) -> Vec<f32> {
        let member = &self.model.members[0];
        let known =
            self.boosting.as_mut().zip(member.boosting()).and_then(|(b, trees)| b.outputs(part, trees));
        let rows = self.task.part(part);
        known.unwrap_or_else(|| member.predict(&self.task.inputs(rows), rows.len()))
    }

    /// Mean loss of the predictor as it is now on some rows, if the loss is one of the forecast.
    fn loss(&mut self, part: Part) -> Result<Option<f64>, LearnError> {
        if !self.recipe.of_forecast() {
            return Ok(None);
        }
        let outputs = self.outputs(part);
        let rows = self.task.part(part);
        let Some(objective) = &mut self.objective else { return Ok(None) };
        let Model { targets, transforms, .. } = &self.model;
        let (ways, scales): (&[Transform], &[Transform]) =
            if self.recipe.is_measured_there() { (&[], transforms) } else { (transforms, &[]) };
        let predictions: Vec<f64> = transform::read(targets, ways, &outputs).map(|(p, _)| p).collect();
        if rows.is_empty() || predictions.iter().any(|p| !p.is_finite()) {
            return Ok(None);
        }
        let truths = truths(self.task, scales, rows);
        let ids: Vec<u64> = rows.iter().map(|&r| r as u64).collect();
        let known = self.task.known(rows);
        let batch = Batch { predictions: &predictions, truths: &truths, known: &known, ids: &ids };
        let losses = objective.main.evaluate(&batch)?;
        Ok(Some(losses.values.iter().sum::<f64>() / rows.len() as f64))
    }

    /// Measures of the predictor as it is now on the validation part. A loss of the forecast decides for no row of its own: then not all
    /// rows are decided for every time, or deciding would take most of the training.
    fn validate(&mut self) -> Result<Measures, LearnError> {
        let outputs = self.outputs(Part::Valid);
        let (all, width) = (self.task.valid(), self.model.width());
        if outputs.iter().any(|o| !o.is_finite()) {
            return Ok(Measures::nothing(all.len()));
        }
        let predictions = self.model.restore(&outputs);
        let count = if self.recipe.of_forecast() { all.len().min(DECIDED) } else { all.len() };
        let places: Vec<usize> = (0..count).map(|i| i * all.len() / count).collect();
        let rows: Vec<usize> = places.iter().map(|&i| all[i]).collect();
        let own = |&i: &usize| predictions[i * width..(i + 1) * width].iter().copied();
        let points: Vec<f64> = places.iter().flat_map(own).collect();
        let truths = self.task.targets(&rows);
        let ids: Vec<u64> = rows.iter().map(|&r| r as u64).collect();
        let known = self.task.known(&rows);
        let seen = self.model.source.as_ref().map(|s| s.seen(&points, &self.task.inputs(&rows), rows.len()));
        let seen = seen.as_ref().unwrap_or(&points);
        let batch = Batch { predictions: seen, truths: &truths, known: &known, ids: &ids };
        let decisions = self.regret.evaluate(&batch)?;
        Ok(Measures::of(&decisions, &predictions, &self.task.targets(all)))
    }
}

/// How much wider errors are on rows that were not learned from: the ratio of deviations less its standard error, as if errors were
/// normal. At least 1, and 1 where there are too few rows to tell.
fn stretch(own: &[f64], weights: &[f64], other: &[f64]) -> f64 {
    let deviation = |errors: &[f64], weights: &dyn Fn(usize) -> f64| {
        let all: f64 = (0..errors.len()).map(weights).sum();
        let mean = errors.iter().enumerate().map(|(i, e)| weights(i) * e).sum::<f64>() / all;
        let square =
            errors.iter().enumerate().map(|(i, e)| weights(i) * (e - mean).powi(2)).sum::<f64>() / all;
        square.sqrt()
    };
    if other.len() < regression::FEWEST {
        return 1.0;
    }
    let ratio = deviation(other, &|_| 1.0) / deviation(own, &|i| weights[i]);
    let sure = ratio * (1.0 - 1.0 / (2.0 * other.len() as f64).sqrt());
    if sure.is_finite() { sure.max(1.0) } else { 1.0 }
}

/// How a pass over the training part ended.
pub(crate) enum Pass {
    Whole,
    /// Outputs are no predictions any more.
    RanAway,
    Interrupted,
}

fn not_descended() -> LearnError {
    LearnError::Settings {
        what: "this predictor is not trained by descent".into(),
        hint: "choose another method, or another predictor".into(),
    }
}

/// The units of a forecast on another scale: deviations there.
fn units(model: &Model) -> Vec<f64> {
    model.targets.deviation.iter().map(|d| if *d > 0.0 { *d } else { 1.0 }).collect()
}

/// One pass over the training part in batches, a step of the optimiser after each.
fn descend(
    lesson: &mut Lesson<'_>,
    model: &mut Model,
    optimizer: &mut Optimizer,
    rate: f64,
    observer: &dyn Observer,
) -> Result<Pass, LearnError> {
    let (task, training, number) = (lesson.task, &lesson.recipe.training, lesson.number as u64);
    let train = task.train();
    let order = order(train.len(), training.seed, number);
    for (b, chunk) in order.chunks(training.batch.max(1)).enumerate() {
        if observer.interrupted() {
            return Ok(Pass::Interrupted);
        }
        let rows: Vec<usize> = chunk.iter().map(|&i| train[i]).collect();
        let mut noise = stream(training.seed, number, b as u64);
        let Model { members, targets, transforms, source, .. } = &mut *model;
        let Some(predictor) = members[0].descent_mut() else { return Err(not_descended()) };
        let inputs = task.inputs(&rows);
        let (outputs, pullback) = predictor.train(&inputs, rows.len(), &mut noise);
        if outputs.iter().any(|o| !o.is_finite() || o.abs() > RUNAWAY) {
            return Ok(Pass::RanAway);
        }
        let beside = source.as_ref().map_or_else(Vec::new, |s| s.beside(&inputs, rows.len()));
        let [points, wide] = lesson.gradient(targets, transforms, &rows, &outputs, &beside)?;
        let mut gradient = pullback(&points);
        let mut spread = source.as_mut().and_then(|s| s.spread_mut());
        if let Some((_, pullback)) = spread.as_mut().and_then(|s| s.train(&inputs, rows.len())) {
            gradient.extend(pullback(&wide));
        }
        lesson.note(optimizer::clip(training.clip, &mut gradient));
        let mut weights = predictor.weights_mut();
        weights.extend(spread.and_then(|s| s.weights_mut()));
        step_all(optimizer, &mut weights, &gradient, rate);
    }
    Ok(Pass::Whole)
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
