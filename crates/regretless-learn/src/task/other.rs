//! The same task with other rows to learn from, or another kind of predictor. Penalties and K stay those of the whole.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::Task;
use super::standard::Standard;
use crate::settings::{PredictorBase, PredictorKind, PredictorSettings, Schedule};

/// A kind of predictor, and what it stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) kind: PredictorKind,
    pub(crate) base: PredictorBase,
}

impl Form {
    /// What settings ask for.
    pub(crate) fn of(settings: &PredictorSettings) -> Self {
        Self { kind: settings.kind, base: settings.base }
    }

    /// The same on another base.
    pub(crate) fn on(self, base: PredictorBase) -> Self {
        Self { base, ..self }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = if matches!(self.kind, PredictorKind::Trees | PredictorKind::Mlp)
            && self.base == PredictorBase::Linear
        {
            " on a line"
        } else {
            ""
        };
        write!(f, "{}{on}", self.kind)
    }
}

impl Task {
    /// The task of learning without some of the training rows.
    pub(crate) fn without(&self, rows: &[usize]) -> Self {
        let left_out: BTreeSet<usize> = rows.iter().copied().collect();
        let train = self.train().iter().copied().filter(|row| !left_out.contains(row)).collect();
        self.on(Form::of(&self.settings.predictor), train, self.valid().to_vec())
    }

    /// The task of learning from these rows with a predictor of this form, stopped by those.
    pub(crate) fn on(&self, form: Form, train: Vec<usize>, valid: Vec<usize>) -> Self {
        self.on_scale_of(&train.clone(), form, train, valid)
    }

    /// [`Task::on`] with levels and scales of other rows: what was trained on one task goes on with another of the same scale.
    pub(crate) fn on_scale_of(
        &self,
        scale: &[usize],
        form: Form,
        train: Vec<usize>,
        valid: Vec<usize>,
    ) -> Self {
        let mut settings = self.settings.clone();
        let usual = settings.training.learning_rate == settings.training.optimizer.usual_rate()
            && settings.training.schedule == Schedule::Constant;
        if settings.predictor.kind != form.kind && form.kind == PredictorKind::Trees && usual {
            settings.training = settings.training.of_trees();
        }
        (settings.predictor.kind, settings.predictor.base) = (form.kind, form.base);
        let train: Vec<usize> = train.into_iter().filter(|row| self.counts(*row)).collect();
        let scale: Vec<usize> = scale.iter().copied().filter(|row| self.counts(*row)).collect();
        Self {
            problem: self.problem.clone(),
            placement: self.placement.clone(),
            given: self.given.clone(),
            standard: Standard::of(&settings.predictor, &self.placement, &self.data, &scale),
            settings,
            data: Arc::clone(&self.data),
            parts: [train, valid, self.test().to_vec()],
            truths: self.truths.clone(),
            multipliers: self.multipliers.clone(),
            sharpness: self.sharpness.clone(),
            hash: Arc::clone(&self.hash),
            predictor: self.predictor.clone(),
            notes: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// True if a row has a weight: others are none to learn from.
    pub(crate) fn counts(&self, row: usize) -> bool {
        self.data.weights.get(row).is_none_or(|w| *w > 0.0)
    }

    /// True if it is left open which kind of predictor is trained.
    pub(crate) fn is_open(&self) -> bool {
        self.given.predictor.kind == PredictorKind::Auto
    }
}
