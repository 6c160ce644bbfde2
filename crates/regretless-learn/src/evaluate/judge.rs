//! Decisions of a model on rows whose true parameters are known.

use regretless_core::{Batch, Decision};

use crate::data::suspicions::ENOUGH;
use crate::error::LearnError;
use crate::evaluate::measures::Measures;
use crate::evaluate::stats::Summary;
use crate::model::Model;
use crate::model::policy::Policy;
use crate::task::Task;

/// What a model's predictions and decisions on some rows came to.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The rows.
    pub rows: Vec<usize>,
    /// Predictions, rows × width.
    pub predictions: Vec<f64>,
    /// Decisions, one a row.
    pub decisions: Vec<Decision>,
    /// Their measures.
    pub measures: Measures,
}

impl Judgement {
    /// The regret of every row; NaN where there is no decision to compare.
    pub fn regrets(&self) -> Vec<f64> {
        self.decisions.iter().map(|d| if d.trouble.is_none() { d.regret } else { f64::NAN }).collect()
    }

    /// The mean gain in regret of another judgement on the same rows, over those that both decided, and its standard error;
    /// `None` over a handful of rows.
    pub fn gain(&self, other: &Self) -> Option<(f64, f64)> {
        let gains = self.regrets().into_iter().zip(other.regrets()).map(|(a, b)| a - b);
        let gains: Vec<f64> = gains.filter(|g| g.is_finite()).collect();
        let summary = Summary::of(&gains).ok().filter(|_| gains.len() >= ENOUGH)?;
        Some((summary.mean, summary.std? / (gains.len() as f64).sqrt()))
    }
}

/// Decides for rows of a task, and judges by their true parameters.
pub fn judge(task: &Task, model: &Model, rows: &[usize]) -> Result<Judgement, LearnError> {
    let mut policy =
        Policy::new(model, task.problem(), task.placement(), |_, scenarios| task.regret(scenarios))?;
    let features = task.features(rows);
    let truths = task.targets(rows);
    let ids: Vec<u64> = rows.iter().map(|&r| r as u64).collect();
    let (seen, known) = (model.seen(&features, rows.len()), task.known(rows));
    let batch = Batch { predictions: &seen, truths: &truths, known: &known, ids: &ids };
    let decisions = policy.evaluate(&batch)?;
    let predictions = model.predict(&features, rows.len());
    let measures = Measures::of(&decisions, &predictions, &truths);
    Ok(Judgement { rows: rows.to_vec(), predictions, decisions, measures })
}
