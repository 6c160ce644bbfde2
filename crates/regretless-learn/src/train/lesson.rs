//! What a pass over the training part hears from the losses.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use regretless_core::{Batch, RowId};

use crate::data::scaler::Scaler;
use crate::data::transform::{self, Scale, Transform};
use crate::error::LearnError;
use crate::forecast::side_by_side;
use crate::regression;
use crate::select::recipe::Recipe;
use crate::task::Task;
use crate::train::epoch::Epoch;
use crate::train::fit::Pass;
use crate::train::objective::Objective;

/// The losses of one epoch, and what they came to.
pub(crate) struct Lesson<'a> {
    pub(crate) task: &'a Task,
    pub(crate) recipe: &'a Recipe,
    objective: &'a mut Objective,
    /// Of the epoch, counted from 0.
    pub(crate) number: usize,
    rows: usize,
    value: f64,
    known: f64,
    troubles: usize,
    zeros: usize,
    breakpoints: usize,
    losing: Duration,
    solving: Duration,
    deriving: Duration,
    uncapped: BTreeSet<RowId>,
    /// Norms of gradients as the predictor saw them.
    norms: Vec<f64>,
    started: Instant,
}

impl<'a> Lesson<'a> {
    /// Gets the losses ready for an epoch.
    pub(crate) fn new(
        task: &'a Task,
        recipe: &'a Recipe,
        objective: &'a mut Objective,
        number: usize,
    ) -> Result<Self, LearnError> {
        objective.start(number)?;
        Ok(Self {
            task,
            recipe,
            objective,
            number,
            rows: 0,
            value: 0.0,
            known: 0.0,
            troubles: 0,
            zeros: 0,
            breakpoints: 0,
            losing: Duration::ZERO,
            solving: Duration::ZERO,
            deriving: Duration::ZERO,
            uncapped: BTreeSet::new(),
            norms: Vec::new(),
            started: Instant::now(),
        })
    }

    /// The second derivative of a row's loss in each of its outputs, where it is the same everywhere.
    pub(crate) fn curvature(&self) -> Option<f64> {
        self.objective.curvature(self.number, self.task.placement().width())
    }

    /// The gradient of the mean loss of some rows in their outputs, and in those behind what stands `beside` their predictions in
    /// forecasts: their spreads, if there are as many numbers.
    pub(crate) fn gradient(
        &mut self,
        targets: &Scaler,
        transforms: &[Transform],
        rows: &[usize],
        outputs: &[f32],
        beside: &[(f64, f64)],
    ) -> Result<[Vec<f32>; 2], LearnError> {
        let ids: Vec<u64> = rows.iter().map(|&r| r as u64).collect();
        let known = self.task.known(rows);
        let read = |there: bool| -> (Vec<f64>, (Vec<f64>, Vec<f64>)) {
            let ways = if there { &[] } else { transforms };
            let scales = if there { transforms } else { &[] };
            (truths(self.task, scales, rows), transform::read(targets, ways, outputs).unzip())
        };
        let (true_main, (mut main, mut slopes)) = read(self.recipe.is_measured_there());
        let width = targets.mean.len();
        if !beside.is_empty() {
            let (own, by): (Vec<f64>, Vec<f64>) = beside.iter().copied().unzip();
            main = side_by_side(&main, &own, rows.len());
            slopes = side_by_side(&slopes, &by, rows.len());
        }
        let batch = Batch { predictions: &main, truths: &true_main, known: &known, ids: &ids };
        // Squared errors beside a decision loss are those of the forecast, on the scale where it is made.
        let apart = !transforms.is_empty() || !beside.is_empty();
        let aside = self.objective.weight(self.number) > 0.0 && apart;
        let aside = aside.then(|| read(true));
        let aside = aside.as_ref().map(|(truths, (predictions, slopes))| {
            let batch = Batch { predictions, truths, known: &known, ids: &ids };
            (batch, slopes.as_slice())
        });
        let since = Instant::now();
        let weights = self.task.weights(rows);
        let step = self.objective.step(&batch, &slopes, aside, &weights, self.number)?;
        self.losing += since.elapsed();
        self.rows += rows.len();
        self.value += step.value;
        self.known += step.known;
        self.troubles += step.troubles.len();
        self.zeros += step.zeros;
        self.breakpoints += step.work.breakpoints;
        self.solving += step.work.solve;
        self.deriving += step.work.gradient;
        self.uncapped.extend(step.uncapped);
        let entries = slopes.len() / rows.len().max(1);
        let part = |from: usize| {
            step.gradient.chunks_exact(entries).flat_map(|row| &row[from..from + width]).copied().collect()
        };
        Ok([part(0), if entries < 2 * width { Vec::new() } else { part(width) }])
    }

    /// Where the loss is that of a quantile: its level, and what outputs are short of the truth, in units of the outputs.
    pub(crate) fn short(
        &self,
        targets: &Scaler,
        transforms: &[Transform],
        rows: &[usize],
        outputs: &[f32],
    ) -> Option<(f64, Vec<f64>)> {
        let plain = self.recipe.of_forecast() && self.objective.weight(self.number) == 0.0;
        let level = regression::level(self.recipe).filter(|_| plain)?;
        let there = self.recipe.is_measured_there();
        let truths = truths(self.task, if there { transforms } else { &[] }, rows);
        let read = transform::read(targets, if there { &[] } else { transforms }, outputs).zip(truths);
        let short = read.map(|((p, slope), truth)| if slope == 0.0 { 0.0 } else { (truth - p) / slope });
        Some((level, short.collect()))
    }

    /// Notes the norm of a gradient as the predictor saw it.
    pub(crate) fn note(&mut self, norm: f64) {
        self.norms.push(norm);
    }

    /// Writes down what the rows came to.
    pub(crate) fn close(self, epoch: &mut Epoch, passed: &Pass) {
        epoch.k = self.objective.k(self.number);
        epoch.mix = self.objective.weight(self.number);
        if !matches!(passed, Pass::Whole) {
            return;
        }
        let rows = self.rows.max(1) as f64;
        // 0/0: what no instance has is unknown.
        epoch.loss = self.value / self.known;
        epoch.troubles = self.troubles;
        epoch.gradient = self.norms.iter().sum::<f64>() / self.norms.len().max(1) as f64;
        epoch.zero_gradients = self.zeros as f64 / rows;
        epoch.breakpoints = self.breakpoints as f64 / rows;
        epoch.seconds.network = self.started.elapsed().saturating_sub(self.losing).as_secs_f64();
        epoch.seconds.solve = self.solving.as_secs_f64();
        epoch.seconds.gradient = self.deriving.as_secs_f64();
        epoch.raised = self.objective.main.end_epoch(&self.uncapped).len();
    }
}

/// What some rows' outputs are compared with, on the scales of these transforms.
pub(crate) fn truths(task: &Task, transforms: &[Transform], rows: &[usize]) -> Vec<f64> {
    let mut truths = task.targets(rows);
    let width = transforms.len().max(1);
    let scale = |i: usize| transforms.get(i % width).map_or(Scale::None, |t| t.scale);
    truths.iter_mut().enumerate().for_each(|(i, t)| *t = scale(i).forward(*t));
    truths
}
