//! The predictor that every other one has to beat.

use rand_chacha::ChaCha8Rng;

use super::{Descend, Predictor, Pullback, Weights};

/// The training mean, whatever the features are: outputs of 0 in standardised units.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Outputs of one row.
    pub outputs: usize,
}

impl Predictor for Constant {
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn predict(&self, _: &[f32], rows: usize) -> Vec<f32> {
        vec![0.0; rows * self.outputs]
    }

    fn descent(&self) -> Option<&dyn Descend> {
        Some(self)
    }

    fn descent_mut(&mut self) -> Option<&mut dyn Descend> {
        Some(self)
    }
}

impl Descend for Constant {
    fn weights(&self) -> Vec<&Weights> {
        Vec::new()
    }

    fn weights_mut(&mut self) -> Vec<&mut Weights> {
        Vec::new()
    }

    fn train(&mut self, inputs: &[f32], rows: usize, _: &mut ChaCha8Rng) -> (Vec<f32>, Pullback<'_>) {
        (self.predict(inputs, rows), Box::new(|_| Vec::new()))
    }
}
