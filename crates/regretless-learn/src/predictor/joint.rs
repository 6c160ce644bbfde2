//! Several predictors that share the outputs between them.

use rand_chacha::ChaCha8Rng;

use super::{Descend, Predictor, Pullback, Weights};

/// Predictors side by side, each with the outputs that are its own: a network for θ and an embedding for Q, say.
#[derive(Clone, Debug)]
pub struct Joint {
    members: Vec<Member>,
    outputs: usize,
}

#[derive(Clone, Debug)]
struct Member {
    predictor: Box<dyn Descend>,
    /// Which of the joint outputs are its own, in its order.
    at: Vec<usize>,
}

impl Joint {
    /// Puts predictors together; every output belongs to exactly one of them.
    ///
    /// # Panics
    /// If a predictor has not as many outputs as places.
    pub fn new(members: Vec<(Box<dyn Descend>, Vec<usize>)>) -> Self {
        let members: Vec<_> = members.into_iter().map(|(predictor, at)| Member { predictor, at }).collect();
        assert!(members.iter().all(|m| m.predictor.outputs() == m.at.len()), "a place for each output");
        let outputs = members.iter().map(|m| m.at.len()).sum();
        Self { members, outputs }
    }
}

impl Predictor for Joint {
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn predict(&self, inputs: &[f32], rows: usize) -> Vec<f32> {
        let mut out = vec![0.0; rows * self.outputs];
        for member in &self.members {
            scatter(&member.predictor.predict(inputs, rows), &member.at, self.outputs, &mut out);
        }
        out
    }

    fn descent(&self) -> Option<&dyn Descend> {
        Some(self)
    }

    fn descent_mut(&mut self) -> Option<&mut dyn Descend> {
        Some(self)
    }
}

impl Descend for Joint {
    fn weights(&self) -> Vec<&Weights> {
        self.members.iter().flat_map(|m| m.predictor.weights()).collect()
    }

    fn weights_mut(&mut self) -> Vec<&mut Weights> {
        self.members.iter_mut().flat_map(|m| m.predictor.weights_mut()).collect()
    }

    fn buffers(&self) -> Vec<&Weights> {
        self.members.iter().flat_map(|m| m.predictor.buffers()).collect()
    }

    fn buffers_mut(&mut self) -> Vec<&mut Weights> {
        self.members.iter_mut().flat_map(|m| m.predictor.buffers_mut()).collect()
    }

    fn train(&mut self, inputs: &[f32], rows: usize, noise: &mut ChaCha8Rng) -> (Vec<f32>, Pullback<'_>) {
        let outputs = self.outputs;
        let mut out = vec![0.0; rows * outputs];
        let mut back = Vec::new();
        for member in &mut self.members {
            let (own, pullback) = member.predictor.train(inputs, rows, noise);
            scatter(&own, &member.at, outputs, &mut out);
            back.push((pullback, &member.at));
        }
        let pullback = move |seed: &[f32]| {
            let each = back.into_iter().flat_map(|(pullback, at)| {
                let own: Vec<f32> =
                    seed.chunks_exact(outputs).flat_map(|row| at.iter().map(|&k| row[k])).collect();
                pullback(&own)
            });
            each.collect()
        };
        (out, Box::new(pullback))
    }
}

fn scatter(own: &[f32], at: &[usize], width: usize, out: &mut [f32]) {
    for (row, own) in out.chunks_exact_mut(width).zip(own.chunks_exact(at.len())) {
        for (&k, v) in at.iter().zip(own) {
            row[k] = *v;
        }
    }
}
