//! Dense layers: a linear map without hidden layers, a multilayer perceptron with them, a line beside it if it is to have one.

use std::mem;
use std::ops::Range;

use crate::settings::{Activation, Initial};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::activation::activate;
use super::dense::{self, column_sums};
use super::initial::uniform;
use super::layer::{Layer, layers};
use super::norm::Normed;
use super::{Descend, Linear, Predictor, Pullback, Weights};
use crate::random::stream;

/// What the weights of the line are called.
pub(crate) const LINE: &str = "line.weight";

fn gain(activation: Activation) -> f64 {
    match activation {
        Activation::Relu | Activation::LeakyRelu | Activation::Gelu => 6.0,
        Activation::Tanh | Activation::Sigmoid => 3.0,
    }
}

/// Sizes of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MlpShape {
    /// Features.
    pub inputs: usize,
    /// Units of the hidden layers; none makes the network linear.
    pub hidden: Vec<usize>,
    /// Outputs.
    pub outputs: usize,
    /// What follows each hidden layer.
    pub activation: Activation,
    /// Normalise each hidden unit over the batch.
    pub batch_norm: bool,
    /// Share of hidden units silenced in a training step.
    pub dropout: f64,
    /// What it predicts untrained.
    pub initial: Initial,
    /// Add a linear map of the inputs to what the layers give.
    pub line: bool,
}

/// A multilayer perceptron; see [`MlpShape`].
#[derive(Clone, Debug)]
pub struct Mlp {
    shape: MlpShape,
    weights: Weights,
    buffers: Weights,
    trace: Trace,
}

impl Mlp {
    /// A network with random hidden layers and a last layer of zeros, or random throughout.
    pub fn new(shape: &MlpShape, seed: u64) -> Self {
        let mut rng = stream(seed, u64::MAX, 0);
        let (mut weights, mut buffers) = (Weights::default(), Weights::default());
        let random = shape.initial == Initial::Random;
        // PyTorch's linear layers: weights and biases alike uniform on ±1/√fan_in.
        let mut layer = |fan_in: usize, units: usize, gain: f64| {
            if random {
                return (
                    uniform(&mut rng, fan_in, fan_in * units, 1.0),
                    uniform(&mut rng, fan_in, units, 1.0),
                );
            }
            (uniform(&mut rng, fan_in, fan_in * units, gain), vec![0.0; units])
        };
        let mut fan_in = shape.inputs;
        for (l, &units) in shape.hidden.iter().enumerate() {
            let (values, bias) = layer(fan_in, units, gain(shape.activation));
            weights.push(format!("layer{l}.weight"), [fan_in, units], values);
            weights.push(format!("layer{l}.bias"), [1, units], bias);
            if shape.batch_norm {
                weights.push(format!("layer{l}.norm.weight"), [1, units], vec![1.0; units]);
                weights.push(format!("layer{l}.norm.bias"), [1, units], vec![0.0; units]);
                buffers.push(format!("layer{l}.norm.mean"), [1, units], vec![0.0; units]);
                buffers.push(format!("layer{l}.norm.variance"), [1, units], vec![1.0; units]);
            }
            fan_in = units;
        }
        let (values, bias) = layer(fan_in, shape.outputs, 0.0);
        weights.push("output.weight", [fan_in, shape.outputs], values);
        weights.push("output.bias", [1, shape.outputs], bias);
        if shape.line {
            let size = [shape.inputs, shape.outputs];
            weights.push(LINE, size, vec![0.0; size[0] * size[1]]);
        }
        Self { shape: shape.clone(), weights, buffers, trace: Trace::default() }
    }

    fn layers(&self) -> (Vec<Layer>, Layer) {
        layers(self.shape.inputs, &self.shape.hidden, self.shape.outputs, self.shape.batch_norm)
    }

    /// Where the line's weights lie among the others: they are the last ones.
    fn line(&self) -> Option<Range<usize>> {
        let count = self.weights.len();
        self.shape.line.then(|| count - self.shape.inputs * self.shape.outputs..count)
    }

    /// The chain rule, from the last layer to the first: g = ∂L/∂(what a layer gives) becomes that of what it was given.
    fn backward(&mut self, seed: &[f32], rows: usize) -> Vec<f32> {
        let (hidden, last) = self.layers();
        let line = self.line();
        let sizes = [rows, self.shape.inputs, self.shape.outputs];
        let weights = self.weights.values();
        let Trace { inputs, normed, slopes, g, next } = &mut self.trace;
        let mut gradient = vec![0.0; weights.len()];
        g.clear();
        g.extend_from_slice(seed);
        if let Some(line) = line {
            dense::weight_gradient(g, &inputs[0], &mut gradient[line], sizes);
        }
        for l in (0..=hidden.len()).rev() {
            let layer = hidden.get(l).unwrap_or(&last);
            if l < hidden.len() {
                g.iter_mut().zip(&slopes[l]).for_each(|(g, slope)| *g *= slope);
            }
            if let Some(norm) = &layer.norm {
                let own = norm.weights.clone();
                normed[l].backward(g, &weights[own.clone()], &mut gradient[own]);
            }
            dense::weight_gradient(g, &inputs[l], &mut gradient[layer.weight.clone()], layer.sizes(rows));
            column_sums(g, &mut gradient[layer.bias.clone()]);
            if l > 0 {
                dense::input_gradient(g, &weights[layer.weight.clone()], next, layer.sizes(rows));
                mem::swap(g, next);
            }
        }
        gradient
    }
}

/// What a training step leaves for the way back. The next step writes over it, so that it need not ask for memory.
#[derive(Debug, Default)]
struct Trace {
    /// What each layer was given.
    inputs: Vec<Vec<f32>>,
    /// The normalisation of each hidden layer.
    normed: Vec<Normed>,
    /// Of each hidden layer ∂(what it gives)/∂(what was activated).
    slopes: Vec<Vec<f32>>,
    /// The gradient on its way back, and that of the layer before.
    g: Vec<f32>,
    next: Vec<f32>,
}

/// A copy of a network has no step behind it.
impl Clone for Trace {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Silences each unit with probability p and multiplies the others by 1/(1 − p), so that the mean stays; slopes likewise.
fn drop_out(p: f64, noise: &mut ChaCha8Rng, units: &mut [f32], slopes: &mut [f32]) {
    if p <= 0.0 {
        return;
    }
    let kept = (1.0 / (1.0 - p)) as f32;
    for (unit, slope) in units.iter_mut().zip(slopes) {
        let factor = if noise.random_bool(p) { 0.0 } else { kept };
        *unit *= factor;
        *slope *= factor;
    }
}

impl Predictor for Mlp {
    fn outputs(&self) -> usize {
        self.shape.outputs
    }

    fn predict(&self, inputs: &[f32], rows: usize) -> Vec<f32> {
        let (weights, running) = (self.weights.values(), self.buffers.values());
        let (hidden, last) = self.layers();
        let mut normed = Normed::default();
        let (mut x, mut z) = (inputs.to_vec(), Vec::new());
        for layer in &hidden {
            layer.dense(&x, rows, weights, &mut z);
            if let Some(norm) = &layer.norm {
                normed.fixed(&mut z, &weights[norm.weights.clone()], &running[norm.statistics.clone()]);
            }
            activate(self.shape.activation, &mut z, None);
            mem::swap(&mut x, &mut z);
        }
        last.dense(&x, rows, weights, &mut z);
        if let Some(line) = self.line() {
            dense::add(inputs, &weights[line], &mut z, [rows, self.shape.inputs, self.shape.outputs]);
        }
        z
    }

    fn stand_on(&mut self, line: &Linear) {
        if self.shape.line {
            self.weights.set(LINE, &line.weights);
            self.weights.set("output.bias", &line.biases);
        }
    }

    fn descent(&self) -> Option<&dyn Descend> {
        Some(self)
    }

    fn descent_mut(&mut self) -> Option<&mut dyn Descend> {
        Some(self)
    }
}

impl Descend for Mlp {
    fn weights(&self) -> Vec<&Weights> {
        vec![&self.weights]
    }

    fn weights_mut(&mut self) -> Vec<&mut Weights> {
        vec![&mut self.weights]
    }

    fn buffers(&self) -> Vec<&Weights> {
        vec![&self.buffers]
    }

    fn buffers_mut(&mut self) -> Vec<&mut Weights> {
        vec![&mut self.buffers]
    }

    fn train(&mut self, inputs: &[f32], rows: usize, noise: &mut ChaCha8Rng) -> (Vec<f32>, Pullback<'_>) {
        let (hidden, last) = self.layers();
        let line = self.line();
        let Self { shape, weights, buffers, trace } = self;
        let (weights, running) = (weights.values(), buffers.values_mut());
        trace.inputs.resize_with(hidden.len() + 1, Vec::new);
        trace.normed.resize_with(hidden.len(), Normed::default);
        trace.slopes.resize_with(hidden.len(), Vec::new);
        trace.inputs[0].clear();
        trace.inputs[0].extend_from_slice(inputs);
        for (l, layer) in hidden.iter().enumerate() {
            let (before, after) = trace.inputs.split_at_mut(l + 1);
            let z = &mut after[0];
            layer.dense(&before[l], rows, weights, z);
            if let Some(norm) = &layer.norm {
                let own = &weights[norm.weights.clone()];
                let statistics = &mut running[norm.statistics.clone()];
                // One row has no deviation from its own mean: the running statistics serve it.
                if rows > 1 {
                    trace.normed[l].of_batch(z, own, statistics);
                } else {
                    trace.normed[l].fixed(z, own, statistics);
                }
            }
            let slopes = &mut trace.slopes[l];
            slopes.resize(z.len(), 0.0);
            activate(shape.activation, z, Some(slopes));
            drop_out(shape.dropout, noise, z, slopes);
        }
        let mut outputs = Vec::new();
        last.dense(&trace.inputs[hidden.len()], rows, weights, &mut outputs);
        if let Some(line) = line {
            dense::add(inputs, &weights[line], &mut outputs, [rows, shape.inputs, shape.outputs]);
        }
        (outputs, Box::new(move |seed| self.backward(seed, rows)))
    }
}
