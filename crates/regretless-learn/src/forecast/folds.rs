//! Cross-fitting: what predictors get wrong on training rows that they have not seen.
//!
//! The training part is cut into folds. For each of them a predictor is trained on the others, in every step as the one that
//! decides, and its errors on the fold are kept. So all training rows have a residual of a forecast that did not know them,
//! and the validation part chooses among decisions that did not see it either.

use rand::seq::SliceRandom;

use crate::error::LearnError;
use crate::forecast::errors::Errors;
use crate::model::Model;
use crate::random::stream;
use crate::select::recipe::Recipe;
use crate::select::trainer::Trainer;
use crate::task::Task;
use crate::train::epoch::Ended;

/// Folds: every predictor learns from four fifths of the rows.
const FOLDS: usize = 5;

/// The training rows in folds: blocks where validation follows training in time, or without times in the table, so that no row is
/// told by its neighbours, and drawn by the seed otherwise. Rows of one time are in one block.
fn folds(task: &Task, seed: u64) -> Vec<Vec<usize>> {
    let mut rows = task.train().to_vec();
    let time = |row: &usize| task.data().time_of(*row);
    let last = rows.iter().map(time).fold(f64::NEG_INFINITY, f64::max);
    if task.valid().iter().map(time).all(|first| last <= first) {
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

impl Trainer<'_> {
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
