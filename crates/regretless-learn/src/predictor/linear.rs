//! What trees and networks may stand on.

/// A linear predictor in standardised units: a missing cell is a feature's mean, 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Inputs × outputs.
    pub weights: Vec<f32>,
    /// One for each output.
    pub biases: Vec<f32>,
}

impl Linear {
    /// Adds the outputs of rows with `features` inputs each to `sums`.
    pub(super) fn add(&self, inputs: &[f32], features: usize, sums: &mut [f64]) {
        let outputs = self.biases.len().max(1);
        for (r, sums) in sums.chunks_exact_mut(outputs).enumerate() {
            sums.iter_mut().zip(&self.biases).for_each(|(s, b)| *s += f64::from(*b));
            let own = &inputs[r * features..(r + 1) * features];
            for (x, weights) in own.iter().zip(self.weights.chunks_exact(outputs)) {
                let x = if x.is_nan() { 0.0 } else { f64::from(*x) };
                sums.iter_mut().zip(weights).for_each(|(s, w)| *s += x * f64::from(*w));
            }
        }
    }
}
