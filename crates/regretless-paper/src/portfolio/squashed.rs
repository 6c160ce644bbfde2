//! Outputs within bounds.

use rand_chacha::ChaCha8Rng;
use regretless_learn::{Descend, Predictor, Pullback, Weights};

/// A predictor whose outputs are pressed into ±width/2: width·(σ(o) − ½).
#[derive(Clone, Debug)]
pub(super) struct Squashed {
    inner: Box<dyn Descend>,
    width: f32,
}

impl Squashed {
    pub(super) fn new(inner: Box<dyn Descend>, width: f32) -> Self {
        Self { inner, width }
    }
}

fn sigmoid(o: f32) -> f32 {
    1.0 / (1.0 + (-o).exp())
}

impl Predictor for Squashed {
    fn outputs(&self) -> usize {
        self.inner.outputs()
    }

    fn predict(&self, inputs: &[f32], rows: usize) -> Vec<f32> {
        let outputs = self.inner.predict(inputs, rows);
        outputs.iter().map(|o| self.width * (sigmoid(*o) - 0.5)).collect()
    }

    fn descent(&self) -> Option<&dyn Descend> {
        Some(self)
    }

    fn descent_mut(&mut self) -> Option<&mut dyn Descend> {
        Some(self)
    }
}

impl Descend for Squashed {
    fn weights(&self) -> Vec<&Weights> {
        self.inner.weights()
    }

    fn weights_mut(&mut self) -> Vec<&mut Weights> {
        self.inner.weights_mut()
    }

    fn buffers(&self) -> Vec<&Weights> {
        self.inner.buffers()
    }

    fn buffers_mut(&mut self) -> Vec<&mut Weights> {
        self.inner.buffers_mut()
    }

    fn train(&mut self, inputs: &[f32], rows: usize, noise: &mut ChaCha8Rng) -> (Vec<f32>, Pullback<'_>) {
        let width = self.width;
        let (own, back) = self.inner.train(inputs, rows, noise);
        let out = own.iter().map(|o| width * (sigmoid(*o) - 0.5)).collect();
        let pullback = move |seed: &[f32]| {
            let slope = |o: &f32| width * sigmoid(*o) * (1.0 - sigmoid(*o));
            back(&own.iter().zip(seed).map(|(o, s)| s * slope(o)).collect::<Vec<f32>>())
        };
        (out, Box::new(pullback))
    }
}

#[cfg(test)]
mod tests {
    use regretless_learn::{Initial, Mlp, MlpShape, stream};

    use super::*;

    /// The slope of every weight against a difference quotient.
    #[test]
    fn slopes() {
        let shape = MlpShape { inputs: 2, outputs: 1, initial: Initial::Random, ..MlpShape::default() };
        let mut squashed = Squashed::new(Box::new(Mlp::new(&shape, 3)), 0.5);
        let x = [0.3, -0.8];
        let (out, back) = squashed.train(&x, 1, &mut stream(1, 1, 1));
        assert!(out[0].abs() < 0.25);
        let slopes = back(&[1.0]);
        for (i, slope) in slopes.iter().enumerate() {
            let mut at = |step: f32| {
                squashed.weights_mut()[0].values_mut()[i] += step;
                let value = squashed.predict(&x, 1)[0];
                squashed.weights_mut()[0].values_mut()[i] -= step;
                value
            };
            let quotient = (at(0.01) - at(-0.01)) / 0.02;
            assert!((quotient - slope).abs() < 1e-4, "{quotient} {slope}");
        }
    }
}
