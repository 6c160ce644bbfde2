//! Residuals: what the predictor gets wrong, the same for every instance.

use regretless_core::Law;

use super::errors::Errors;
use super::{Source, WEIGHTS, rows_of, spaced, weighted};
use crate::settings::ScenarioSource;

/// The prediction plus each residual.
#[derive(Clone, Debug)]
pub(super) struct Residuals {
    /// S × width.
    pub(super) residuals: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl Residuals {
    /// All of them, or as many as are wanted, evenly spaced. Those of one row stay together.
    pub(super) fn of(errors: &Errors, width: usize, most: usize) -> Self {
        let kept = || spaced(errors.rows.len(), most);
        Self {
            residuals: rows_of(&errors.residuals, width, kept()),
            weights: kept().map(|i| errors.weights[i]).collect(),
        }
    }

    pub(super) fn read(width: usize, numbers: &dyn Fn(&str) -> Option<Vec<f64>>) -> Option<Self> {
        let (residuals, weights) = weighted("residuals", width, numbers)?;
        Some(Self { residuals, weights })
    }
}

impl Source for Residuals {
    fn source(&self) -> ScenarioSource {
        ScenarioSource::Residuals
    }

    fn law(&self) -> Law {
        Law::Shift { residuals: self.residuals.clone(), weights: self.weights.clone() }
    }

    fn seen(&self, points: &[f64], _: &[f32], _: usize) -> Vec<f64> {
        points.to_vec()
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mut numbers = vec![("residuals", self.residuals.clone())];
        if self.weights.windows(2).any(|pair| pair[0] != pair[1]) {
            numbers.push((WEIGHTS, self.weights.clone()));
        }
        numbers
    }
}
