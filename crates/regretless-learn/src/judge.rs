//! Decisions of a model on rows whose true parameters are known.

use regretless_core::{Decision, Scenarios};

use crate::error::LearnError;
use crate::measures::Measures;
use crate::model::Model;
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
}

/// The scenarios a model decides for, if it has any.
pub(crate) fn scenarios(
    model: &Model,
    problem: &regretless_core::Problem,
    layout: &regretless_core::Layout,
) -> Result<Option<Scenarios>, LearnError> {
    if model.members.len() > 1 {
        return Ok(Some(Scenarios::from_members(problem, layout, model.members.len())?));
    }
    if model.residuals.is_empty() {
        return Ok(None);
    }
    Ok(Some(Scenarios::new(problem, layout, model.residuals.clone())?))
}

/// What the engine decides on: the prediction, or for an ensemble each member's, one after the other.
pub(crate) fn seen(model: &Model, features: &[f64], rows: usize) -> Vec<f64> {
    if model.members.len() == 1 {
        return model.predict(features, rows);
    }
    let each = model.predict_each(features, rows);
    let width = model.width();
    let row = |r: usize| each.iter().flat_map(move |m| m[r * width..(r + 1) * width].iter().copied());
    (0..rows).flat_map(row).collect()
}

/// Decides for rows of a task, and judges by their true parameters.
pub fn judge(task: &Task, model: &Model, rows: &[usize]) -> Result<Judgement, LearnError> {
    let mut regret = task.regret(scenarios(model, task.problem(), task.layout())?)?;
    let features = task.features(rows);
    let truths = task.targets(rows);
    let ids: Vec<u64> = rows.iter().map(|&r| r as u64).collect();
    let decisions = regret.evaluate(&seen(model, &features, rows.len()), &truths, &ids)?;
    let predictions = model.predict(&features, rows.len());
    let measures = Measures::of(&decisions, &predictions, &truths);
    Ok(Judgement { rows: rows.to_vec(), predictions, decisions, measures })
}

/// Judges on the validation part. Residuals come from the same rows, so each half is decided with those of the other:
/// a scenario must not know the answer.
pub fn judge_valid(task: &Task, model: &Model, count: usize, seed: u64) -> Result<Judgement, LearnError> {
    let rows = task.valid();
    if model.residuals.is_empty() || rows.len() < 4 {
        return judge(task, model, rows);
    }
    let half = |odd: usize| rows.iter().copied().skip(odd).step_by(2).collect::<Vec<_>>();
    let halves = [half(0), half(1)];
    let mut found = Vec::new();
    for (own, other) in [(0, 1), (1, 0)] {
        let residuals = task.residuals_of(model, &halves[other], count, seed);
        found.push(judge(task, &Model { residuals, ..model.clone() }, &halves[own])?);
    }
    // Back to the order of the rows.
    let mut decisions = Vec::with_capacity(rows.len());
    let mut each: Vec<_> = found.into_iter().map(|j| j.decisions.into_iter()).collect();
    for i in 0..rows.len() {
        decisions.extend(each[i % 2].next());
    }
    let predictions = model.predict(&task.features(rows), rows.len());
    let measures = Measures::of(&decisions, &predictions, &task.targets(rows));
    Ok(Judgement { rows: rows.to_vec(), predictions, decisions, measures })
}
