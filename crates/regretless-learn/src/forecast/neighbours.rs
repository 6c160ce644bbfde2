//! Past outcomes of the instances whose features are nearest (Bertsimas & Kallus 2020).
//!
//! How many they are is chosen by leaving outcomes out: the number whose quantiles at 0.1, 0.5 and 0.9 have the smallest pinball
//! loss, quantities in units of their deviations.

use rayon::prelude::*;
use regretless_core::Law;

use super::{Source, WEIGHTS, spaced, weighted};
use crate::settings::ScenarioSource;

/// Outcomes that numbers of neighbours are tried on.
const PROBES: usize = 400;

/// Past outcomes, those of the nearest instances as likely each.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    /// Standardised features of the outcomes, missing ones at their mean.
    places: Vec<f32>,
    /// Inputs that are numbers of levels: another level is as far as two deviations, whichever it is.
    levels: Vec<bool>,
    outcomes: Vec<f64>,
    weights: Vec<f64>,
    features: usize,
    nearest: usize,
}

impl Neighbours {
    pub(super) fn of(
        inputs: Vec<f32>,
        levels: &[usize],
        outcomes: Vec<f64>,
        weights: Vec<f64>,
        deviation: &[f64],
    ) -> Self {
        let features = levels.len();
        let places: Vec<f32> = inputs.into_iter().map(there).collect();
        let levels = levels.iter().map(|count| *count > 0).collect();
        let mut own = Self { places, levels, outcomes, weights, features, nearest: 1 };
        own.nearest = own.best(deviation);
        own
    }

    /// The number of neighbours with the smallest pinball loss.
    fn best(&self, deviation: &[f64]) -> usize {
        let (rows, width) = (self.weights.len(), deviation.len());
        let root = (rows as f64).sqrt();
        let tried: Vec<usize> = [0.5, 1.0, 2.0, 4.0, 8.0]
            .map(|f| ((f * root).round() as usize).clamp(1, rows.max(2) - 1))
            .to_vec();
        let probe = |i: usize| -> Vec<f64> {
            let order = self.order(&self.places[i * self.features..(i + 1) * self.features]);
            let others: Vec<usize> = order.into_iter().filter(|s| *s != i).collect();
            let loss = |count: usize| {
                let one = |k: usize| {
                    let mut near: Vec<f64> =
                        others[..count].iter().map(|s| self.outcomes[s * width + k]).collect();
                    near.sort_unstable_by(f64::total_cmp);
                    let short = |level: f64| {
                        let at = ((level * count as f64).ceil() as usize).clamp(1, count) - 1;
                        let error = self.outcomes[i * width + k] - near[at];
                        error * (level - f64::from(u8::from(error < 0.0)))
                    };
                    let unit = if deviation[k] > 0.0 { 1.0 / deviation[k] } else { 0.0 };
                    unit * [0.1, 0.5, 0.9].map(short).iter().sum::<f64>()
                };
                self.weights[i] * (0..width).map(one).sum::<f64>()
            };
            tried.iter().map(|count| loss((*count).min(others.len()).max(1))).collect()
        };
        if rows < 3 {
            return 1;
        }
        let losses: Vec<Vec<f64>> =
            spaced(rows, PROBES).collect::<Vec<_>>().into_par_iter().map(probe).collect();
        let total = |t: usize| losses.iter().map(|l| l[t]).sum::<f64>();
        let best = (0..tried.len()).min_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap_or(0);
        tried[best]
    }

    /// The outcomes, the nearest first; the first of several as near.
    fn order(&self, row: &[f32]) -> Vec<usize> {
        let distance = |place: &[f32]| -> f64 {
            let one = |((a, b), level): ((&f32, &f32), &bool)| {
                let apart = a - there(*b);
                if *level { if apart == 0.0 { 0.0 } else { 4.0 } } else { f64::from(apart).powi(2) }
            };
            place.iter().zip(row).zip(&self.levels).map(one).sum()
        };
        let mut order: Vec<(f64, usize)> =
            self.places.chunks_exact(self.features).map(distance).zip(0..).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.into_iter().map(|(_, s)| s).collect()
    }

    pub(super) fn read(
        features: usize,
        width: usize,
        numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
    ) -> Option<Self> {
        let (outcomes, weights) = weighted("outcomes", width, numbers)?;
        let places: Vec<f32> = numbers("places")?.into_iter().map(|v| v as f32).collect();
        let nearest = *numbers("nearest")?.first()? as usize;
        let levels: Vec<bool> = numbers("levels")?.into_iter().map(|level| level > 0.0).collect();
        let fits = features > 0 && places.len() == weights.len() * features && nearest > 0;
        (fits && levels.len() == features).then_some(Self {
            places,
            levels,
            outcomes,
            weights,
            features,
            nearest,
        })
    }
}

/// A missing feature is at its mean.
fn there(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x }
}

impl Source for Neighbours {
    fn source(&self) -> ScenarioSource {
        ScenarioSource::Neighbours
    }

    fn law(&self) -> Law {
        Law::Outcomes { outcomes: self.outcomes.clone() }
    }

    fn seen(&self, _: &[f64], inputs: &[f32], rows: usize) -> Vec<f64> {
        let row = |r: usize| {
            let mut shares = vec![0.0; self.weights.len()];
            let near = self.order(&inputs[r * self.features..(r + 1) * self.features]);
            near.into_iter().take(self.nearest).for_each(|s| shares[s] = self.weights[s]);
            shares
        };
        (0..rows).into_par_iter().flat_map_iter(row).collect()
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        let places = self.places.iter().map(|v| f64::from(*v)).collect();
        vec![
            ("outcomes", self.outcomes.clone()),
            (WEIGHTS, self.weights.clone()),
            ("places", places),
            ("levels", self.levels.iter().map(|level| f64::from(u8::from(*level))).collect()),
            ("nearest", vec![self.nearest as f64]),
        ]
    }

    fn outcomes(&self) -> usize {
        self.weights.len()
    }
}
