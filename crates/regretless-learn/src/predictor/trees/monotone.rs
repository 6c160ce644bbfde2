//! Outputs that may only rise, or only fall, with a feature.
//!
//! A split by such a feature is allowed if its two sides step in the right order; from then on all that grows on either side stays
//! on its side of the middle between them (as in LightGBM's basic method). So the tree is monotone, and so is a sum of such trees.

use super::histogram::{CURVATURE, GRADIENT};
use crate::settings::Monotone;

/// What the steps of a leaf, one for each output, lie between.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    least: Vec<f64>,
    most: Vec<f64>,
}

impl Bounds {
    /// Any step.
    pub(super) fn none(outputs: usize) -> Self {
        Self { least: vec![f64::NEG_INFINITY; outputs], most: vec![f64::INFINITY; outputs] }
    }

    /// A step of output `k`, kept within.
    pub(super) fn keep(&self, k: usize, step: f64) -> f64 {
        step.clamp(self.least[k], self.most[k])
    }

    /// The steps −G/(H + λ) of rows with these sums, kept within.
    pub(super) fn steps(&self, sums: &[f64], l2: f64) -> Vec<f64> {
        let below = sums[CURVATURE] + l2;
        let step = |(k, g): (usize, &f64)| self.keep(k, if below > 0.0 { -g / below } else { 0.0 });
        sums[GRADIENT..].iter().enumerate().map(step).collect()
    }

    /// What these steps s gain: −Σ(2Gs + (H + λ)s²), which is |G|²/(H + λ) where nothing is bounded.
    pub(super) fn worth(&self, sums: &[f64], l2: f64) -> f64 {
        let below = sums[CURVATURE] + l2;
        let steps = self.steps(sums, l2);
        -sums[GRADIENT..].iter().zip(steps).map(|(g, s)| 2.0 * g * s + below * s * s).sum::<f64>()
    }

    /// Those of the two sides of a split whose sides step by `left` and `right`.
    pub(super) fn halves(&self, direction: Monotone, left: &[f64], right: &[f64]) -> [Self; 2] {
        let mut halves = [self.clone(), self.clone()];
        // The side that stays below the middle.
        let below = match direction {
            Monotone::Free => return halves,
            Monotone::Increasing => 0,
            Monotone::Decreasing => 1,
        };
        for (k, (l, r)) in left.iter().zip(right).enumerate() {
            let middle = f64::midpoint(*l, *r);
            halves[below].most[k] = middle;
            halves[1 - below].least[k] = middle;
        }
        halves
    }
}

impl Monotone {
    /// True if the sides of a split may step like that.
    pub(super) fn allows(self, left: &[f64], right: &[f64]) -> bool {
        left.iter().zip(right).all(|(l, r)| match self {
            Self::Free => true,
            Self::Increasing => l <= r,
            Self::Decreasing => l >= r,
        })
    }
}
