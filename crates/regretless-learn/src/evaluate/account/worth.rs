//! What features are worth to decisions: how much dearer these get when a feature says nothing.
//!
//! ```text
//! worth    mean over rows of: regret of the decision with the feature's column shuffled, less regret as it is
//! ```
//!
//! Breiman's permutation importance (2001), with the regret for the error. Rows are held out: those that are audited.

use regretless_core::Decision;
use serde::{Deserialize, Serialize};

use super::auditor::Audited;
use crate::error::LearnError;
use crate::evaluate::stats::Summary;
use crate::model::decider::Decider;
use crate::random;

/// Rows that are shuffled, at least, if there are as many; evenly spaced over those that were met.
const ROWS: usize = 250;

/// How often each column is shuffled.
const SHUFFLES: u64 = 3;

/// What the features of a model are worth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// Rows that were decided for with columns shuffled.
    pub rows: usize,
    /// How often each column was shuffled.
    pub shuffles: usize,
    /// The mean regret of these rows as they are.
    #[serde(with = "crate::unknown")]
    pub regret: f64,
    /// The features, those that are worth most first.
    pub features: Vec<Worth>,
}

/// What a feature is worth to decisions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// The feature.
    pub name: String,
    /// What a decision costs more, on average, with its column shuffled.
    #[serde(with = "crate::unknown")]
    pub regret: f64,
    /// The standard error of that mean over rows.
    #[serde(with = "crate::unknown")]
    pub standard_error: f64,
    /// The share of decisions for which anything else was predicted.
    pub moved: f64,
}

/// Rows that are kept for shuffling: every one at first, then every second, every fourth, ….
#[derive(Clone, Debug)]
pub(super) struct Kept {
    step: usize,
    met: usize,
    features: Vec<f64>,
    truths: Vec<f64>,
    known: Vec<f64>,
    regrets: Vec<f64>,
}

impl Kept {
    pub(super) fn new() -> Self {
        Self {
            step: 1,
            met: 0,
            features: Vec::new(),
            truths: Vec::new(),
            known: Vec::new(),
            regrets: Vec::new(),
        }
    }

    /// Keeps some of the rows that have a decision and an optimum.
    pub(super) fn add(&mut self, decider: &Decider, decisions: &[Decision], rows: &Audited<'_>) {
        let widths = Self::widths(decider);
        let [features, truths, known] = widths;
        for (i, own) in decisions.iter().enumerate().filter(|(_, own)| own.trouble.is_none()) {
            if self.met.is_multiple_of(self.step) {
                self.features.extend_from_slice(&rows.features[i * features..(i + 1) * features]);
                self.truths.extend_from_slice(&rows.truths[i * truths..(i + 1) * truths]);
                self.known.extend_from_slice(&rows.known[i * known..(i + 1) * known]);
                self.regrets.push(own.regret);
            }
            self.met += 1;
            if self.regrets.len() == 2 * ROWS {
                self.thin(widths);
            }
        }
    }

    fn widths(decider: &Decider) -> [usize; 3] {
        [decider.card().features.len(), decider.width(), decider.known()]
    }

    /// Leaves out every second row.
    fn thin(&mut self, widths: [usize; 3]) {
        let tables = [&mut self.features, &mut self.truths, &mut self.known, &mut self.regrets];
        for (table, width) in tables.into_iter().zip(widths.into_iter().chain([1])) {
            let half = table.chunks(2 * width.max(1)).flat_map(|pair| &pair[..width.min(pair.len())]);
            *table = half.copied().collect();
        }
        self.step *= 2;
    }

    /// Decides for the rows again with the columns shuffled, one after the other.
    pub(super) fn told(&self, decider: &Decider) -> Result<Importance, LearnError> {
        let [width, truths, known] = Self::widths(decider);
        let rows = self.regrets.len();
        let as_is = decider.seen(&self.features, rows);
        let entries = as_is.len() / rows.max(1);
        let mut features = Vec::with_capacity(width);
        for (j, name) in decider.card().features.iter().enumerate() {
            let mut more = vec![0.0; rows];
            let mut moved = 0;
            for shuffle in 0..SHUFFLES {
                let order = random::order(rows, shuffle, j as u64);
                let mut table = self.features.clone();
                order.iter().enumerate().for_each(|(i, from)| {
                    table[i * width + j] = self.features[from * width + j];
                });
                let seen = decider.seen(&table, rows);
                // Where the same is predicted the same is decided.
                let of = |table: &[f64], width: usize, i: usize| table[i * width..(i + 1) * width].to_vec();
                let other = |i: &usize| of(&seen, entries, *i) != of(&as_is, entries, *i);
                let changed: Vec<usize> = (0..rows).filter(other).collect();
                let some = |table: &[f64], width: usize| -> Vec<f64> {
                    changed.iter().flat_map(|&i| of(table, width, i)).collect()
                };
                let judged = decider.judged(
                    &some(&seen, entries),
                    &some(&self.truths, truths),
                    &some(&self.known, known),
                )?;
                for (&i, decision) in changed.iter().zip(&judged) {
                    // What has no decision any more is dearer than any number; it is left out of the mean.
                    let regret = if decision.trouble.is_none() { decision.regret } else { f64::NAN };
                    more[i] += (regret - self.regrets[i]) / SHUFFLES as f64;
                }
                moved += changed.len();
            }
            more.retain(|m| m.is_finite());
            let summary = Summary::of(&more).ok();
            let error = summary.as_ref().and_then(|s| s.std).map(|std| std / (more.len() as f64).sqrt());
            features.push(Worth {
                name: name.clone(),
                regret: summary.map_or(f64::NAN, |s| s.mean),
                standard_error: error.unwrap_or(f64::NAN),
                moved: moved as f64 / (SHUFFLES as usize * rows).max(1) as f64,
            });
        }
        features.sort_by(|a, b| b.regret.total_cmp(&a.regret));
        let regret = Summary::of(&self.regrets).map_or(f64::NAN, |s| s.mean);
        Ok(Importance { rows, shuffles: SHUFFLES as usize, regret, features })
    }
}
