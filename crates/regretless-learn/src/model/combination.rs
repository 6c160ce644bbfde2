//! Models that decide together.
//!
//! ```text
//! x̄ = Σ wₖ xₖ     decisions, where soft rows or Q bend the cost: F(x̄; ξ) ≤ Σ wₖ F(xₖ; ξ) (Jensen), and x̄ keeps the hard rows
//!                 that all xₖ keep
//! p̄ = Σ wₖ pₖ     predictions, and one decision for them, where the cost is linear: an average decision would cost the average.
//!                 Where hard rows are predicted, too: their decisions do not keep the same rows
//! ```

use regretless_core::problem::Role;
use serde::{Deserialize, Serialize};

use crate::model::Model;
use crate::model::file::ModelCard;
use crate::task::Task;

/// What the mean is taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Averaged {
    /// Predictions, and one decision is taken.
    Predictions,
    /// Decisions, one of each model.
    Decisions,
}

impl Averaged {
    /// What is worth averaging on a task; `None` where the predictors are somebody else's.
    pub(crate) fn on(task: &Task) -> Option<Self> {
        if task.is_given() || task.has_own_predictor() {
            return None;
        }
        let problem = task.problem();
        let bent = !problem.is_linear() || !problem.soft().d.is_empty();
        let same_rows = !task.placement().predicts_role(Role::Hard);
        Some(if bent && same_rows { Self::Decisions } else { Self::Predictions })
    }
}

/// A model beside others, and what it counts.
#[derive(Clone, Debug)]
pub struct Partner {
    /// Its weight, up to a factor.
    pub weight: f64,
    /// The model.
    pub model: Model,
    /// What it says about itself.
    pub card: ModelCard,
}

/// The models that decide together with one.
#[derive(Clone, Debug)]
pub struct Combination {
    /// What the mean is taken of.
    pub averaged: Averaged,
    /// What the model itself counts.
    pub weight: f64,
    /// The others.
    pub partners: Vec<Partner>,
}

impl Combination {
    /// What each model counts, the first its own; together 1.
    pub(crate) fn weights(&self) -> Vec<f64> {
        let own = std::iter::once(self.weight).chain(self.partners.iter().map(|partner| partner.weight));
        let all: f64 = own.clone().sum();
        own.map(|weight| weight / all).collect()
    }
}

/// Σ wₖ vₖ, entry by entry.
pub(crate) fn mean<'a>(weights: &[f64], each: impl IntoIterator<Item = &'a [f64]>) -> Vec<f64> {
    let mut mean = Vec::new();
    for (weight, values) in weights.iter().zip(each) {
        mean.resize(values.len(), 0.0);
        mean.iter_mut().zip(values).for_each(|(mean, value)| *mean += weight * value);
    }
    mean
}
