//! A trained predictor with all it needs to be used: statistics, and residuals for scenarios.

pub(crate) mod decider;
pub(crate) mod file;

use regretless_core::RowValues;

use crate::data::encoder::Encoder;
use crate::data::scaler::Scaler;
use crate::data::transform::{self, Transform};
use crate::predictor::Predictor;

/// A predictor in the parameters' own units.
#[derive(Clone, Debug)]
pub struct Model {
    /// One predictor, or the members of an ensemble.
    pub members: Vec<Box<dyn Predictor>>,
    /// How features become inputs.
    pub features: Encoder,
    /// Statistics of the targets; the outputs of an embedding are in the target's own units (mean 0, deviation 1).
    pub targets: Scaler,
    /// The scale that each target is predicted on, its statistics included; empty if all are on their own.
    pub transforms: Vec<Transform>,
    /// Residuals for scenario decisions, scenarios × width; empty for point decisions and for ensembles.
    pub residuals: Vec<f64>,
    /// Predictions of some training rows, from whose solutions new decisions start.
    pub anchors: Vec<f64>,
    /// What is known of those rows.
    pub anchors_known: Vec<f64>,
    /// What a unit of violation of each hard row costs, if predictions can cause any.
    pub prices: Option<RowValues>,
}

impl Model {
    /// Number of predicted parameters.
    pub fn width(&self) -> usize {
        self.targets.mean.len()
    }

    /// Features as the predictor takes them: encoded, missing cells at the mean or, for trees, missing.
    pub fn encode(&self, features: &[f64]) -> Vec<f32> {
        self.features.inputs(features)
    }

    /// [`Model::encode`] with all digits.
    pub(crate) fn standardised(&self, features: &[f64]) -> Vec<f64> {
        self.features.standardised(features)
    }

    /// Outputs in the parameters' units.
    pub fn restore(&self, outputs: &[f32]) -> Vec<f64> {
        transform::read(&self.targets, &self.transforms, outputs).map(|(value, _)| value).collect()
    }

    /// Each member's predictions for rows of features, row-major.
    pub fn predict_each(&self, features: &[f64], rows: usize) -> Vec<Vec<f64>> {
        let inputs = self.encode(features);
        self.members.iter().map(|member| self.restore(&member.predict(&inputs, rows))).collect()
    }

    /// Predictions for rows of features, row-major: the mean of the members.
    pub fn predict(&self, features: &[f64], rows: usize) -> Vec<f64> {
        let mut each = self.predict_each(features, rows).into_iter();
        let mut sum = each.next().unwrap_or_default();
        for member in each {
            sum.iter_mut().zip(member).for_each(|(s, m)| *s += m);
        }
        let count = self.members.len().max(1) as f64;
        sum.iter_mut().for_each(|s| *s /= count);
        sum
    }
}
