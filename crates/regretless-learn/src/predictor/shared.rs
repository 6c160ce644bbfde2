//! One network for all variables.

use rand_chacha::ChaCha8Rng;

use super::{Descend, Predictor, Pullback, Weights};

/// A network applied to every variable (an asset, a region) in turn: each has features of its own, and what comes out
/// for it are its entries of the predicted parameters.
#[derive(Clone, Debug)]
pub struct Shared {
    inner: Box<dyn Descend>,
    features: usize,
    /// Features of each variable: columns of the feature table.
    inputs: Vec<Vec<usize>>,
    /// Outputs of each variable: positions in the joint output.
    outputs: Vec<Vec<usize>>,
}

impl Shared {
    /// Shares `inner`, which takes one variable's features to one variable's outputs.
    ///
    /// # Panics
    /// If the variables do not have as many inputs and outputs as each other, or none at all.
    pub fn new(
        inner: Box<dyn Descend>,
        features: usize,
        inputs: Vec<Vec<usize>>,
        outputs: Vec<Vec<usize>>,
    ) -> Self {
        assert!(!inputs.is_empty() && inputs.len() == outputs.len(), "inputs and outputs for each variable");
        assert!(inputs.iter().all(|i| i.len() == inputs[0].len()), "as many inputs for each variable");
        assert!(outputs.iter().all(|o| o.len() == inner.outputs()), "as many outputs for each variable");
        Self { inner, features, inputs, outputs }
    }

    fn gather(&self, inputs: &[f32]) -> Vec<f32> {
        let rows = inputs.chunks_exact(self.features);
        rows.flat_map(|row| self.inputs.iter().flatten().map(|&c| row[c])).collect()
    }

    /// Where each of the network's outputs for a row goes.
    fn places(&self) -> Vec<usize> {
        self.outputs.iter().flatten().copied().collect()
    }
}

fn scatter(own: &[f32], places: &[usize]) -> Vec<f32> {
    let mut out = vec![0.0; own.len()];
    for (row, own) in out.chunks_exact_mut(places.len()).zip(own.chunks_exact(places.len())) {
        for (&k, v) in places.iter().zip(own) {
            row[k] = *v;
        }
    }
    out
}

impl Predictor for Shared {
    fn outputs(&self) -> usize {
        self.outputs.len() * self.inner.outputs()
    }

    fn predict(&self, inputs: &[f32], rows: usize) -> Vec<f32> {
        let own = self.inner.predict(&self.gather(inputs), rows * self.inputs.len());
        scatter(&own, &self.places())
    }

    fn descent(&self) -> Option<&dyn Descend> {
        Some(self)
    }

    fn descent_mut(&mut self) -> Option<&mut dyn Descend> {
        Some(self)
    }
}

impl Descend for Shared {
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
        let gathered = self.gather(inputs);
        let places = self.places();
        let (own, back) = self.inner.train(&gathered, rows * self.inputs.len(), noise);
        let out = scatter(&own, &places);
        let pullback = move |seed: &[f32]| {
            let own: Vec<f32> =
                seed.chunks_exact(places.len()).flat_map(|row| places.iter().map(|&k| row[k])).collect();
            back(&own)
        };
        (out, Box::new(pullback))
    }
}
