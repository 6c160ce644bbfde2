//! Residuals in units of a predicted spread.
//!
//! ```text
//! p_s = q(ξ) + σ(ξ)·ε_s,     ε = r/σ of training rows
//! ```
//!
//! Both r and the σ that it is divided by come from fits without the row. With a σ that knew the row, ε of the rows that were
//! far off would be small, and the tails too light.

use regretless_core::Law;

use super::errors::Errors;
use super::spread::Spread;
use super::{Source, WEIGHTS, rows_of, spaced, weighted};
use crate::model::Model;
use crate::settings::ScenarioSource;
use crate::task::Task;

/// The prediction plus each atom times the spread.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    /// S × width.
    atoms: Vec<f64>,
    weights: Vec<f64>,
    spread: Spread,
}

impl Scaled {
    pub(super) fn fit(task: &Task, model: &Model, errors: &Errors, most: usize, seed: u64) -> Self {
        let inputs = model.encode(&task.features(&errors.rows));
        let trees = model.members.iter().any(|m| m.boosting().is_some());
        let (spread, unseen) = Spread::fit(&inputs, &model.features, errors, trees, seed);
        let atoms: Vec<f64> = errors.residuals.iter().zip(unseen).map(|(r, s)| r / s).collect();
        let kept = || spaced(errors.rows.len(), most);
        Self {
            atoms: rows_of(&atoms, model.width(), kept()),
            weights: kept().map(|i| errors.weights[i]).collect(),
            spread,
        }
    }

    pub(super) fn read(
        features: usize,
        width: usize,
        numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
    ) -> Option<Self> {
        let (atoms, weights) = weighted("atoms", width, numbers)?;
        Some(Self { atoms, weights, spread: Spread::read(features, width, numbers)? })
    }
}

/// The points of each row followed by its spreads, or another pair of tables.
pub(crate) fn side_by_side(points: &[f64], spreads: &[f64], width: usize) -> Vec<f64> {
    let rows = points.chunks_exact(width).zip(spreads.chunks_exact(width));
    rows.flat_map(|(points, spreads)| points.iter().chain(spreads).copied()).collect()
}

impl Source for Scaled {
    fn source(&self) -> ScenarioSource {
        ScenarioSource::Scaled
    }

    fn law(&self) -> Law {
        Law::Scale { atoms: self.atoms.clone(), weights: self.weights.clone() }
    }

    fn seen(&self, points: &[f64], inputs: &[f32], rows: usize) -> Vec<f64> {
        side_by_side(points, &self.spread.of(inputs, rows), self.spread.width())
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mut numbers = vec![("atoms", self.atoms.clone()), (WEIGHTS, self.weights.clone())];
        numbers.extend(self.spread.numbers());
        numbers
    }

    fn spread(&self) -> Option<&Spread> {
        Some(&self.spread)
    }

    fn spread_mut(&mut self) -> Option<&mut Spread> {
        Some(&mut self.spread)
    }
}
