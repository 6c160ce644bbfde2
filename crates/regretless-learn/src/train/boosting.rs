//! A round of boosting in the place of an epoch of descent.

use crate::error::LearnError;
use crate::model::Model;
use crate::predictor::trees::Running;
use crate::predictor::{Binned, Quantile, Slopes, Trees};
use crate::random::stream;
use crate::settings::Part;
use crate::task::Task;
use crate::train::fit::{Pass, RUNAWAY};
use crate::train::lesson::Lesson;
use crate::train::observer::Observer;
use crate::train::optimizer::Optimizer;

/// What a training of trees keeps beside them: features in bins, and outputs that are brought up to date.
pub(crate) struct Boosting {
    table: Binned,
    train: Running,
    valid: Running,
}

impl Boosting {
    /// Gets ready to grow trees on a task.
    pub(crate) fn new(task: &Task, trees: &Trees) -> Self {
        let (train, valid) = (task.train(), task.valid());
        let inputs = task.inputs(train);
        Self {
            table: Binned::with_levels(&inputs, train.len(), &task.encoder().levels()),
            train: Running::new(trees, inputs, train.len()),
            valid: Running::new(trees, task.inputs(valid), valid.len()),
        }
    }

    /// The outputs of the rows to train on or to choose by; `None` for the others, which are not followed.
    pub(crate) fn outputs(&mut self, part: Part, trees: &Trees) -> Option<Vec<f32>> {
        match part {
            Part::Train => Some(self.train.outputs(trees)),
            Part::Valid => Some(self.valid.outputs(trees)),
            Part::Test => None,
        }
    }

    /// Fits one tree to what the losses say of a sample of the rows.
    ///
    /// A leaf moves by −rate·G/(H + λ). Of squared errors, alone or mixed in, the curvature is known; other losses have none, and their
    /// gradients are measured by how long they have been so far. Of a quantile's loss the leaves are quantiles.
    pub(crate) fn round(
        &mut self,
        lesson: &mut Lesson<'_>,
        model: &mut Model,
        optimizer: &mut Optimizer,
        rate: f64,
        observer: &dyn Observer,
    ) -> Result<Pass, LearnError> {
        if observer.interrupted() {
            return Ok(Pass::Interrupted);
        }
        let width = model.width();
        let Model { members, targets, transforms, source, .. } = model;
        let Some(trees) = members[0].boosting_mut() else { return Ok(Pass::Whole) };
        let train = lesson.task.train();
        let mut noise = stream(lesson.recipe.training.seed, lesson.number as u64, 0);
        let drawn = trees.sample(train.len(), &mut noise);
        let all = self.train.outputs(trees);
        if all.iter().any(|o| !o.is_finite() || o.abs() > RUNAWAY) {
            return Ok(Pass::RanAway);
        }
        let rows: Vec<usize> = drawn.iter().map(|&i| train[i as usize]).collect();
        let own = |i: &u32| all[*i as usize * width..][..width].iter().copied();
        let outputs: Vec<f32> = drawn.iter().flat_map(own).collect();
        let beside = source.as_ref().map(|s| s.beside(&lesson.task.inputs(&rows), rows.len()));
        // Of scaled scenarios the trees of the spread stay as they are.
        let [mean, _] = lesson.gradient(targets, transforms, &rows, &outputs, &beside.unwrap_or_default())?;
        // Of the rows, not of their mean.
        let count = rows.len() as f64;
        let found: Vec<f64> = mean.iter().map(|g| count * f64::from(*g)).collect();
        let squares = found.iter().map(|g| g * g).sum::<f64>();
        lesson.note((squares / count).sqrt());
        let length = (squares / found.len() as f64).sqrt();
        let unit = match lesson.curvature() {
            Some(curvature) => curvature,
            None => Some(optimizer.pace(length)).filter(|pace| *pace > 0.0).unwrap_or(1.0),
        };
        let mut gradient = vec![0.0; train.len() * width];
        for (&i, own) in drawn.iter().zip(found.chunks_exact(width)) {
            let there = &mut gradient[i as usize * width..][..width];
            there.iter_mut().zip(own).for_each(|(t, g)| *t = g / unit);
        }
        let short = lesson.short(targets, transforms, train, &all);
        let quantile = short.as_ref().map(|(level, short)| Quantile { level: *level, short });
        let slopes = Slopes { gradient: &gradient, curvature: &lesson.task.weights(train), quantile };
        trees.grow(&self.table, drawn, slopes, rate, &mut noise);
        Ok(Pass::Whole)
    }
}
