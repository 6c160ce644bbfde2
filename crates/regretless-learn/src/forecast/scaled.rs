//! Residuals in units of a predicted spread.
//!
//! ```text
//! p_s = q(ξ) + σ(ξ)·ε_s,     ε = r/σ of training rows
//! ```
//!
//! Both r and the σ that it is divided by come from fits without the row. With a σ that knew the row, ε of the rows that were
//! far off would be small, and the tails too light.

use regretless_core::Law;

use super::Source;
use super::pool::{Pool, Sample};
use super::spread::Spread;
use crate::settings::ScenarioSource;

/// The prediction plus each atom times the spread.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    pool: Pool,
    spread: Spread,
}

impl Scaled {
    /// With a spread whose fits without a row's fold say `unseen` of it.
    pub(super) fn of(sample: Sample<'_>, spread: Spread, unseen: &[f64], most: usize) -> Self {
        let atoms: Vec<f64> = sample.errors.residuals.iter().zip(unseen).map(|(r, s)| r / s).collect();
        let scaled = Sample { atoms: &atoms, spreads: unseen, ..sample };
        Self { pool: Pool::fit(&scaled, most), spread }
    }

    pub(super) fn read(
        features: usize,
        width: usize,
        numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
    ) -> Option<Self> {
        let pool = Pool::read("atoms", features, width, numbers)?;
        Some(Self { pool, spread: Spread::read(features, width, numbers)? })
    }
}

impl Source for Scaled {
    fn source(&self) -> ScenarioSource {
        ScenarioSource::Scaled
    }

    fn law(&self) -> Law {
        self.pool.law(self.spread.width(), |atoms, weights| Law::Scale { atoms, weights })
    }

    fn beside(&self, inputs: &[f32], rows: usize) -> Vec<(f64, f64)> {
        let spreads = self.spread.told(inputs, rows);
        let Some(groups) = self.pool.groups(inputs, rows) else { return spreads };
        let each = spreads.chunks_exact(self.spread.width()).zip(groups);
        each.flat_map(|(own, group)| own.iter().copied().chain([(group as f64, 0.0)])).collect()
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mut numbers = self.pool.numbers("atoms", true);
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
