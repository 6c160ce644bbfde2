//! How forecasts compare with what came true.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::judge::Judgement;
use crate::model::Model;
use crate::task::Task;

/// Rows that are looked at, at most; thousands of scenarios are sorted for each.
const ROWS: usize = 256;

/// The quantiles that are looked at.
const LEVELS: [f64; 13] = [0.01, 0.05, 0.1, 0.2, 0.25, 0.4, 0.5, 0.6, 0.75, 0.8, 0.9, 0.95, 0.99];

/// Those whose pinball loss is said, in pairs around the middle one.
const SAID: [usize; 5] = [1, 4, 6, 8, 11];

/// Scenarios beside the truth, over all quantities of some rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Rows that were looked at.
    pub rows: usize,
    /// Share of the truths that are within the middle half of their scenarios; 0.5 is right.
    pub half: f64,
    /// Share within the middle nine tenths; 0.9 is right.
    pub nine_tenths: f64,
    /// The level of each quantile, and the share of the truths that were not above it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<(f64, f64)>,
    /// Mean pinball loss of the quantiles at 5, 25, 50, 75 and 95 %, in the quantities' own units.
    pub pinball: f64,
    /// The mean objective that was expected of the decisions of all rows.
    pub expected: f64,
    /// The mean objective that came of them.
    pub realised: f64,
}

impl Calibration {
    /// Of a model's decisions on rows of a task; `None` for a point forecast, and where nothing was decided.
    pub(crate) fn of(task: &Task, model: &Model, judged: &Judgement) -> Option<Self> {
        if !model.has_scenarios() {
            return None;
        }
        let there: Vec<usize> =
            (0..judged.rows.len()).filter(|&i| judged.decisions[i].trouble.is_none()).collect();
        let count = there.len().min(ROWS);
        let looked: Vec<usize> = (0..count).map(|i| judged.rows[there[i * there.len() / count]]).collect();
        let width = model.width();
        let row = |row: &usize| {
            let (forecasts, truth) = (model.forecasts(&task.features(&[*row]), 1), task.targets(&[*row]));
            let forecast = &forecasts[0];
            let one = |(j, truth): (usize, &f64)| {
                let at = forecast.quantiles(j, LEVELS);
                let within =
                    |low: usize, high: usize| f64::from(u8::from(at[low] <= *truth && *truth <= at[high]));
                let loss = |said: &usize| {
                    let short = truth - at[*said];
                    short * (LEVELS[*said] - f64::from(u8::from(short < 0.0)))
                };
                let pinball = SAID.iter().map(loss).sum::<f64>() / SAID.len() as f64;
                let told = [within(SAID[1], SAID[3]), within(SAID[0], SAID[4]), pinball];
                let below = at.map(|at| f64::from(u8::from(*truth <= at)));
                told.into_iter().chain(below).collect::<Vec<f64>>()
            };
            let each = truth.iter().enumerate().map(one);
            each.fold(vec![0.0; 3 + LEVELS.len()], |mut sum, own| {
                sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                sum
            })
        };
        let rows: Vec<Vec<f64>> = looked.par_iter().map(row).collect();
        let mean = |k: usize| rows.iter().map(|row| row[k]).sum::<f64>() / (count * width) as f64;
        let over = |of: fn(&regretless_core::Decision) -> f64| {
            there.iter().map(|&i| of(&judged.decisions[i])).sum::<f64>() / there.len() as f64
        };
        (count > 0).then(|| Self {
            rows: count,
            half: mean(0),
            nine_tenths: mean(1),
            shares: LEVELS.iter().enumerate().map(|(k, level)| (*level, mean(3 + k))).collect(),
            pinball: mean(2),
            expected: over(|d| d.predicted_objective),
            realised: over(|d| d.objective),
        })
    }
}
