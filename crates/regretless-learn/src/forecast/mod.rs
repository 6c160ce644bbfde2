//! Forecasts of trained models: where the scenarios of an instance come from.
//!
//! ```text
//! residuals    q(ξ) + r_s               errors on rows that the predictor did not learn from, of the row's series where there are series
//! scaled       q(ξ) + σ(ξ)·ε_s          the same, in units of a predicted spread
//! neighbours   past outcomes            equally likely where the features are near
//! forest       past outcomes            by how often they share a leaf
//! ```
//!
//! A [`Source`] says a row of numbers of every instance; its [`Law`] makes a forecast of them.

pub(crate) mod errors;
mod folds;
mod forest;
mod neighbours;
mod pool;
mod residuals;
mod scaled;
mod series;
pub(crate) mod spread;

use std::fmt::Debug;

use regretless_core::{Law, Parameter};

use crate::error::LearnError;
use crate::model::Model;
use crate::settings::ScenarioSource;
use crate::task::Task;
use errors::Errors;
use forest::Forest;
use neighbours::Neighbours;
use pool::Sample;
use residuals::Residuals;
use scaled::Scaled;
use series::Named;
use spread::Spread;

/// Past outcomes that are stored unless somebody says otherwise: what an instance costs grows with them.
const OUTCOMES: usize = 4_000;

/// Residuals that are kept unless somebody says otherwise: more tell no quantile better, and an instance takes their time and memory.
const RESIDUALS: usize = 10_000;

/// Scenarios unless somebody says otherwise, where each is a row of its own.
const COPIES: usize = 64;

/// Scenarios unless somebody says otherwise, where the worst of them count: rows that one threshold joins.
const AT_RISK: usize = 500;

/// Scenarios that are kept, of a source that usually keeps so many.
fn most(task: &Task, usual: usize) -> usize {
    let settings = &task.settings().training;
    // Predicted coefficients of soft rows make each scenario a row of its own.
    let own = if task.placement().predicts(Parameter::SoftRows) { COPIES } else { usual };
    settings.scenarios.count.unwrap_or(if settings.risk.is_some() { own.min(AT_RISK) } else { own })
}

/// Where the scenarios of an instance come from.
pub trait Source: SourceCopied + Debug + Send + Sync {
    /// Which it is.
    fn source(&self) -> ScenarioSource;

    /// How what it says of an instance stands for a forecast.
    fn law(&self) -> Law;

    /// What it says of `rows` rows: `points` are their predictions, `inputs` their features as the predictor takes them.
    fn seen(&self, points: &[f64], inputs: &[f32], rows: usize) -> Vec<f64> {
        let beside: Vec<f64> = self.beside(inputs, rows).into_iter().map(|(number, _)| number).collect();
        side_by_side(points, &beside, rows)
    }

    /// What stands beside the predictions of each of `rows` rows, each number with its derivative by the output behind it, 0 where
    /// nothing is learned: spreads, and the series that the row is of.
    fn beside(&self, _inputs: &[f32], _rows: usize) -> Vec<(f64, f64)> {
        Vec::new()
    }

    /// What a file keeps of it, by name.
    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)>;

    /// The spread that it scales by.
    fn spread(&self) -> Option<&Spread> {
        None
    }

    /// [`Source::spread`], to train it.
    fn spread_mut(&mut self) -> Option<&mut Spread> {
        None
    }

    /// True if instances of a series have scenarios of their own.
    fn is_by_series(&self) -> bool {
        matches!(self.law(), Law::Groups(_))
    }

    /// Past outcomes of the training data that it holds.
    fn outcomes(&self) -> usize {
        0
    }
}

/// Every source that can be cloned can be copied behind a pointer.
pub trait SourceCopied {
    /// A copy.
    fn boxed(&self) -> Box<dyn Source>;
}

impl<T: Source + Clone + 'static> SourceCopied for T {
    fn boxed(&self) -> Box<dyn Source> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Source> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// The scenarios of a model from its errors on rows it did not learn from.
pub(crate) fn from_errors(
    task: &Task,
    source: ScenarioSource,
    model: &Model,
    errors: &Errors,
    seed: u64,
) -> Box<dyn Source> {
    let most = most(task, RESIDUALS);
    let inputs = model.encode(&task.features(&errors.rows));
    let sample = Sample {
        errors,
        atoms: &errors.residuals,
        spreads: &[],
        times: errors.rows.iter().map(|row| task.data().time_of(*row)).collect(),
        series: Named::of(task, model, errors, &inputs),
        width: model.width(),
    };
    if source == ScenarioSource::Scaled {
        let (spread, unseen) = Spread::fit(&inputs, &model.features, errors, model.grows(), seed);
        return Box::new(Scaled::of(sample, spread, &unseen, most));
    }
    Box::new(Residuals::of(&sample, most))
}

/// Past outcomes of the training rows, with weights by features.
pub(crate) fn from_outcomes(
    task: &Task,
    source: ScenarioSource,
    model: &Model,
    seed: u64,
) -> Result<Box<dyn Source>, LearnError> {
    if model.features.width() == 0 {
        return Err(LearnError::Data {
            what: "there are no features to tell past outcomes apart by".into(),
            hint: "name features, or take `constant+scenarios`: all outcomes are then as likely".into(),
        });
    }
    let rows = spaced(task.train().len(), most(task, OUTCOMES)).map(|i| task.train()[i]).collect::<Vec<_>>();
    let inputs = model.encode(&task.features(&rows));
    let levels = model.features.levels();
    let (outcomes, weights) = (task.targets(&rows), task.weights(&rows));
    Ok(match source {
        ScenarioSource::Forest => {
            Box::new(Forest::grow(&inputs, &levels, outcomes, weights, &model.targets.deviation, seed))
        }
        _ => Box::new(Neighbours::of(inputs, &levels, outcomes, weights, &model.targets.deviation)),
    })
}

/// The source that a file kept; `None` if it does not fit a predictor of `features` inputs and `width` quantities.
pub(crate) fn read(
    source: ScenarioSource,
    features: usize,
    width: usize,
    numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
) -> Option<Box<dyn Source>> {
    match source {
        ScenarioSource::Residuals => Some(Box::new(Residuals::read(features, width, numbers)?)),
        ScenarioSource::Scaled => Some(Box::new(Scaled::read(features, width, numbers)?)),
        ScenarioSource::Neighbours => Some(Box::new(Neighbours::read(features, width, numbers)?)),
        ScenarioSource::Forest => Some(Box::new(Forest::read(features, width, numbers)?)),
        ScenarioSource::Ensemble => None,
    }
}

/// The numbers of each row in one table followed by those in another.
pub(crate) fn side_by_side(points: &[f64], beside: &[f64], rows: usize) -> Vec<f64> {
    let (own, other) = (points.len() / rows.max(1), beside.len() / rows.max(1));
    let row = |r: usize| points[r * own..][..own].iter().chain(&beside[r * other..][..other]).copied();
    (0..rows).flat_map(row).collect()
}

/// At most `most` of the numbers below `n`, evenly spaced.
fn spaced(n: usize, most: usize) -> impl Iterator<Item = usize> {
    let count = n.min(most);
    (0..count).map(move |i| i * n / count)
}

/// Some rows of a table.
fn rows_of(table: &[f64], width: usize, rows: impl Iterator<Item = usize>) -> Vec<f64> {
    rows.flat_map(|i| table[i * width..(i + 1) * width].iter().copied()).collect()
}

/// Scenarios and weights that belong together, as files have them.
fn weighted(
    points: &str,
    width: usize,
    numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let points = numbers(points)?;
    let count = points.len() / width.max(1);
    let weights = numbers(WEIGHTS).unwrap_or_else(|| vec![1.0; count]);
    (count > 0 && points.len() == count * width && weights.len() == count).then_some((points, weights))
}

/// The name of weights in files.
const WEIGHTS: &str = "weights";
