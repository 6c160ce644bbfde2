//! The scale that a predictor works on, from the training part alone.

use regretless_core::Placement;

use crate::data::dataset::Dataset;
use crate::data::encoder::Encoder;
use crate::data::scaler::Scaler;
use crate::predictor::build;
use crate::settings::{PredictorKind, PredictorSettings};

/// Statistics of the training part.
pub(super) struct Standard {
    pub(super) features: Encoder,
    /// Of the targets, and as the predictor's outputs are read.
    pub(super) statistics: Scaler,
    pub(super) targets: Scaler,
    /// Encoded features of all rows.
    pub(super) inputs: Vec<f32>,
    /// True if some rows count more than others.
    pub(super) weighted: bool,
}

impl Standard {
    pub(super) fn of(
        settings: &PredictorSettings,
        placement: &Placement,
        data: &Dataset,
        train: &[usize],
    ) -> Self {
        let width = placement.width();
        let mut statistics = Scaler::fit(&data.targets, width, train.iter().copied());
        let mut weights = train.iter().filter_map(|&row| data.weights.get(row));
        let first = weights.next();
        let weighted = weights.any(|weight| Some(weight) != first);
        if weighted {
            let all: f64 = train.iter().map(|&row| data.weights[row]).sum();
            let mean = |k: usize| -> f64 {
                train.iter().map(|&row| data.weights[row] * data.targets[row * width + k]).sum::<f64>() / all
            };
            statistics.mean = (0..width).map(mean).collect();
        }
        let trees = settings.kind == PredictorKind::Trees;
        let standardise = settings.standardise && settings.kind != PredictorKind::Given;
        let features = Encoder::fit(&data.kinds_of_features(), &data.features, train, standardise, trees);
        let mut targets = if standardise { statistics.clone() } else { Scaler::identity(width) };
        // An embedding's outputs are the entries of Q themselves.
        if settings.quadratic.is_some() {
            for k in build::quadratic_entries(placement) {
                (targets.mean[k], targets.deviation[k]) = (0.0, 1.0);
            }
        }
        let inputs = features.inputs(&data.features);
        Self { features, statistics, targets, inputs, weighted }
    }
}
