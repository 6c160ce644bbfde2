//! Residuals: what the predictor gets wrong, the same for every instance, or for every instance of a series.

use regretless_core::Law;

use super::Source;
use super::pool::{Pool, Sample};
use crate::settings::ScenarioSource;

/// The prediction plus each residual.
#[derive(Clone, Debug)]
pub(super) struct Residuals {
    pool: Pool,
    width: usize,
}

impl Residuals {
    /// All of them, or as many as are wanted, evenly spaced.
    pub(super) fn of(sample: &Sample<'_>, most: usize) -> Self {
        Self { pool: Pool::fit(sample, most), width: sample.width }
    }

    pub(super) fn read(
        features: usize,
        width: usize,
        numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
    ) -> Option<Self> {
        Some(Self { pool: Pool::read("residuals", features, width, numbers)?, width })
    }
}

impl Source for Residuals {
    fn source(&self) -> ScenarioSource {
        ScenarioSource::Residuals
    }

    fn law(&self) -> Law {
        self.pool.law(self.width, |residuals, weights| Law::Shift { residuals, weights })
    }

    fn beside(&self, inputs: &[f32], rows: usize) -> Vec<(f64, f64)> {
        let groups = self.pool.groups(inputs, rows).unwrap_or_default();
        groups.into_iter().map(|group| (group as f64, 0.0)).collect()
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        self.pool.numbers("residuals", false)
    }
}
