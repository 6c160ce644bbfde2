//! Cross-fitting: what predictors get wrong on training rows that they have not seen.
//!
//! The training part is cut into folds. For each of them a predictor is trained on the others, in every step as the one that
//! decides, and its errors on the fold are kept. So all training rows have a residual of a forecast that did not know them,
//! and the validation part chooses among decisions that did not see it either. What was chosen is then given the errors on that part
//! too, where it is later than the training part.

use std::time::Instant;

use rand::seq::SliceRandom;

use crate::error::LearnError;
use crate::forecast::errors::Errors;
use crate::forecast::from_errors;
use crate::model::Model;
use crate::random::stream;
use crate::select::recipe::Recipe;
use crate::select::trainer::{Candidate, Trainer};
use crate::settings::ScenarioSource;
use crate::task::Task;
use crate::train::epoch::Ended;

/// Folds: every predictor learns from four fifths of the rows.
const FOLDS: usize = 5;

/// True if all validation rows are after all training rows.
fn follows(task: &Task) -> bool {
    let time = |row: &usize| task.data().time_of(*row);
    let last = task.train().iter().map(time).fold(f64::NEG_INFINITY, f64::max);
    task.valid().iter().map(time).all(|first| last <= first)
}

/// The training rows in folds: blocks where validation follows training in time, or without times in the table, so that no row is
/// told by its neighbours, and drawn by the seed otherwise. Rows of one time are in one block.
fn folds(task: &Task, seed: u64) -> Vec<Vec<usize>> {
    let mut rows = task.train().to_vec();
    let time = |row: &usize| task.data().time_of(*row);
    if follows(task) {
        rows.sort_by(|a, b| time(a).total_cmp(&time(b)).then(a.cmp(b)));
        let blocks = cut(&rows, |a, b| time(a) == time(b));
        // Rows that are nearly all of one time have no blocks.
        if blocks.len() > 1 {
            return blocks;
        }
    }
    rows.shuffle(&mut stream(seed, u64::MAX, 2));
    cut(&rows, |_, _| false)
}

/// Rows in parts of about the same size, none between two rows that belong together.
fn cut(rows: &[usize], together: impl Fn(&usize, &usize) -> bool) -> Vec<Vec<usize>> {
    let count = FOLDS.min(rows.len());
    let at = |i: usize| {
        let at = i * rows.len() / count;
        let apart = |at: &usize| *at == 0 || *at == rows.len() || !together(&rows[at - 1], &rows[*at]);
        (at..=rows.len()).find(apart).unwrap_or(rows.len())
    };
    let fold = |i: usize| {
        let mut fold = rows[at(i)..at(i + 1)].to_vec();
        fold.sort_unstable();
        fold
    };
    (0..count).map(fold).filter(|fold| !fold.is_empty()).collect()
}

impl Errors {
    /// The errors of a finished model on validation rows, as the last fold, where these are after all others: it did not learn from them,
    /// and they are nearest to what it will decide for. False if there are none.
    fn add_later(&mut self, task: &Task, model: &Model) -> bool {
        let rows = task.valid();
        if rows.is_empty() || !follows(task) {
            return false;
        }
        let fold = 1 + self.folds.iter().copied().max().unwrap_or(0);
        let predictions = model.predict(&task.features(rows), rows.len());
        self.residuals.extend(task.targets(rows).iter().zip(predictions).map(|(t, p)| t - p));
        self.weights.extend(task.weights(rows));
        self.folds.extend(rows.iter().map(|_| fold));
        self.rows.extend(rows);
        true
    }
}

impl Trainer<'_> {
    /// Gives the scenarios of what was chosen the errors on validation rows too, where these follow the training rows: how wrong the model
    /// became since. Validation has been looked at before, and does not know them.
    pub(crate) fn with_later_errors(&mut self, candidate: &mut Candidate) -> Result<(), LearnError> {
        let Some(recipe) = candidate.lineage.last() else { return Ok(()) };
        let (fitted, seed) = (&mut candidate.fitted, recipe.training.seed);
        let source = fitted.model.source.as_ref().map(|own| own.source());
        // A spread that was fitted to errors of several predictors gained and lost a fifth by those of another (docs/forecasts.md).
        if source != Some(ScenarioSource::Residuals) || recipe.trains_through_errors() {
            return Ok(());
        }
        let started = Instant::now();
        let Some(mut errors) = self.cross_fitted(&candidate.lineage)? else { return Ok(()) };
        if errors.add_later(self.task(), &fitted.model) {
            let source = ScenarioSource::Residuals;
            fitted.model.source = Some(from_errors(self.task(), source, &fitted.model, &errors, seed));
            fitted.seconds += started.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// The errors of training rows, each of a predictor that was trained without
    /// the row by `lineage`: a recipe, or several of which each starts where the one before ended. `None` if it was interrupted.
    pub(crate) fn cross_fitted(&mut self, lineage: &[Recipe]) -> Result<Option<Errors>, LearnError> {
        let Some(last) = lineage.last() else { return Ok(None) };
        let (task, seed) = (self.task(), last.training.seed);
        let folds = folds(task, seed);
        if folds.len() < 2 {
            return Err(LearnError::Data {
                what: "one training row leaves nothing to learn from when it is left out".into(),
                hint: "scenarios need at least two training rows".into(),
            });
        }
        let mut models: Vec<Option<Model>> = vec![None; folds.len()];
        let mut known = String::new();
        for recipe in lineage {
            known = format!("{known}{recipe:?}\n");
            if let Some(cached) = self.fold_models.get(&known) {
                models.clone_from(cached);
                continue;
            }
            for (i, (fold, model)) in folds.iter().zip(&mut models).enumerate() {
                let name = format!("{}, fold {}/{}", recipe.name, i + 1, folds.len());
                let own = Recipe { name, ..recipe.clone() };
                let fitted = self.fit(&task.without(fold), &own, model.as_ref())?;
                if fitted.ended == Ended::Interrupted {
                    return Ok(None);
                }
                *model = Some(fitted.model);
            }
            self.fold_models.insert(known.clone(), models.clone());
        }
        let mut residuals = Vec::new();
        for (fold, model) in folds.iter().zip(models.iter().flatten()) {
            let predictions = model.predict(&task.features(fold), fold.len());
            residuals.extend(task.targets(fold).iter().zip(predictions).map(|(t, p)| t - p));
        }
        let number = |(f, fold): (usize, &Vec<usize>)| std::iter::repeat_n(f, fold.len());
        let numbers = folds.iter().enumerate().flat_map(number).collect();
        let rows = folds.concat();
        Ok(Some(Errors { weights: task.weights(&rows), rows, folds: numbers, residuals }))
    }
}
