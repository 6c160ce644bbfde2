//! Dense layers: a linear map without hidden layers, a multilayer perceptron with them.

use burn::tensor::activation;
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use regretless_spec::{Activation, Initial};

use super::initial::uniform;
use super::{Predictor, Pullback, Weights};
use crate::random::stream;

fn apply(activation: Activation, x: Tensor<2>) -> Tensor<2> {
    match activation {
        Activation::Relu => activation::relu(x),
        Activation::LeakyRelu => activation::leaky_relu(x, 0.01),
        Activation::Tanh => activation::tanh(x),
        Activation::Sigmoid => activation::sigmoid(x),
        Activation::Gelu => activation::gelu(x),
    }
}

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
}

/// A multilayer perceptron; see [`MlpShape`].
#[derive(Clone, Debug)]
pub struct Mlp {
    shape: MlpShape,
    weights: Weights,
    buffers: Weights,
}

/// Share of a new batch in the running statistics, and what keeps a variance off zero; both as PyTorch has them.
const MOMENTUM: f32 = 0.1;
const EPSILON: f64 = 1e-5;

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
        Self { shape: shape.clone(), weights, buffers }
    }

    /// The weights as tensors, in their order.
    fn tensors(&self, device: &Device) -> Vec<Tensor<2>> {
        self.weights.iter().map(|(_, shape, values)| tensor(values.to_vec(), shape, device)).collect()
    }

    /// The layers in order. `norm` normalises the units of hidden layer l, `drop` silences some of them.
    fn forward(
        &self,
        x: Tensor<2>,
        tensors: &[Tensor<2>],
        mut norm: impl FnMut(usize, Tensor<2>) -> Tensor<2>,
        mut drop: impl FnMut(Tensor<2>) -> Tensor<2>,
    ) -> Tensor<2> {
        let mut rest = tensors.iter().cloned();
        // The constructor pushed every layer's tensors in this order.
        let mut next = || rest.next().expect("a tensor for each weight");
        let mut x = x;
        for l in 0..self.shape.hidden.len() {
            x = x.matmul(next()) + next();
            if self.shape.batch_norm {
                x = norm(l, x) * next() + next();
            }
            x = drop(apply(self.shape.activation, x));
        }
        x.matmul(next()) + next()
    }
}

impl Predictor for Mlp {
    fn outputs(&self) -> usize {
        self.shape.outputs
    }

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

    fn predict(&self, inputs: &[f32], rows: usize) -> Vec<f32> {
        let device = Device::flex();
        let x = tensor(inputs.to_vec(), [rows, self.shape.inputs], &device);
        let running: Vec<Tensor<2>> =
            self.buffers.iter().map(|(_, shape, values)| tensor(values.to_vec(), shape, &device)).collect();
        let norm = |l: usize, x: Tensor<2>| {
            let (mean, variance) = (running[2 * l].clone(), running[2 * l + 1].clone());
            (x - mean) / variance.add_scalar(EPSILON).sqrt()
        };
        numbers(self.forward(x, &self.tensors(&device), norm, |x| x))
    }

    fn train(&mut self, inputs: &[f32], rows: usize, noise: &mut ChaCha8Rng) -> (Vec<f32>, Pullback<'_>) {
        let device = Device::flex().autodiff();
        let tensors: Vec<_> = self.tensors(&device).into_iter().map(Tensor::require_grad).collect();
        let x = tensor(inputs.to_vec(), [rows, self.shape.inputs], &device);
        let mut statistics: Vec<Vec<f32>> = Vec::new();
        // One row has no deviation from its own mean: the running statistics serve it.
        let of_batch = rows > 1;
        let norm = |l: usize, x: Tensor<2>| {
            let mean = x.clone().mean_dim(0);
            let apart = x.clone() - mean.clone();
            let variance = (apart.clone() * apart.clone()).mean_dim(0);
            if of_batch {
                statistics.extend([numbers(mean.detach()), numbers(variance.clone().detach())]);
                return apart / variance.add_scalar(EPSILON).sqrt();
            }
            let running: Vec<_> = self.buffers.iter().skip(2 * l).take(2).collect();
            let [mean, variance] = [0, 1].map(|i| tensor(running[i].2.to_vec(), running[i].1, &device));
            (x - mean) / variance.add_scalar(EPSILON).sqrt()
        };
        let dropout = self.shape.dropout;
        let drop = |x: Tensor<2>| {
            if dropout <= 0.0 {
                return x;
            }
            let [rows, units] = x.dims();
            let kept = (1.0 / (1.0 - dropout)) as f32;
            let mask = (0..rows * units).map(|_| if noise.random_bool(dropout) { 0.0 } else { kept });
            x * tensor(mask.collect(), [rows, units], &device)
        };
        let outputs = self.forward(x, &tensors, norm, drop);
        let unbiased = rows as f32 / (rows as f32 - 1.0).max(1.0);
        let mut running = self.buffers.values_mut();
        for (i, batch) in statistics.iter().enumerate() {
            let (own, rest) = running.split_at_mut(batch.len());
            let correction = if i % 2 == 1 { unbiased } else { 1.0 };
            for (old, new) in own.iter_mut().zip(batch) {
                *old += MOMENTUM * (correction * new - *old);
            }
            running = rest;
        }
        let values = numbers(outputs.clone().detach());
        let shape = [rows, self.shape.outputs];
        let pullback = move |seed: &[f32]| {
            // L = Σ output·seed has the gradient `seed` at the outputs, whatever the decision loss is.
            let seed = tensor(seed.to_vec(), shape, &device);
            let gradients = (outputs * seed).sum().backward();
            let mut flat = Vec::new();
            for tensor in &tensors {
                match tensor.grad(&gradients) {
                    Some(gradient) => flat.extend(numbers(gradient)),
                    None => flat.extend(std::iter::repeat_n(0.0, tensor.dims().iter().product())),
                }
            }
            flat
        };
        (values, Box::new(pullback))
    }

    fn boxed(&self) -> Box<dyn Predictor> {
        Box::new(self.clone())
    }
}

fn tensor(values: Vec<f32>, shape: [usize; 2], device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn numbers(tensor: Tensor<2>) -> Vec<f32> {
    // Every tensor here was made from f32 numbers.
    tensor.into_data().try_to_vec().expect("tensors of f32")
}
