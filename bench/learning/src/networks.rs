//! Steps of the networks alone: forward and backward through one batch, and prediction.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use rand::RngExt;
use regretless_learn::{Activation, Descend, Mlp, MlpShape, Predictor, stream};

use crate::median;

/// Rounds over all networks; the median over rounds is printed.
const ROUNDS: usize = 15;
/// Seconds that a network is measured for in a round.
const SECONDS: f64 = 0.02;

fn shape(inputs: usize, hidden: &[usize], outputs: usize) -> MlpShape {
    MlpShape { inputs, hidden: hidden.to_vec(), outputs, ..MlpShape::default() }
}

fn networks() -> Vec<(usize, MlpShape)> {
    let wide = shape(80, &[128], 40);
    vec![
        (32, shape(5, &[], 5)),
        (32, shape(5, &[16], 10)),
        (32, shape(8, &[32, 32], 1)),
        (256, shape(8, &[32, 32], 1)),
        (32, wide.clone()),
        (32, MlpShape { batch_norm: true, ..wide.clone() }),
        (32, MlpShape { dropout: 0.2, ..wide.clone() }),
        (32, MlpShape { activation: Activation::LeakyRelu, ..wide.clone() }),
        (32, MlpShape { activation: Activation::Tanh, ..wide.clone() }),
        (32, MlpShape { activation: Activation::Sigmoid, ..wide.clone() }),
        (32, MlpShape { activation: Activation::Gelu, ..wide.clone() }),
        (125, shape(160, &[128, 128], 80)),
        (256, MlpShape { batch_norm: true, ..shape(160, &[128, 128], 80) }),
        (256, shape(160, &[500, 500], 80)),
        (1000, shape(50, &[500], 20)),
        (1, shape(80, &[128], 40)),
    ]
}

/// Mean µs of one call.
fn measure(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut calls = 0;
    while calls < 3 || start.elapsed().as_secs_f64() < SECONDS {
        work();
        calls += 1;
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

fn name(shape: &MlpShape) -> String {
    let sizes = [shape.inputs].into_iter().chain(shape.hidden.iter().copied()).chain([shape.outputs]);
    let mut name = sizes.map(|n| n.to_string()).collect::<Vec<_>>().join("-");
    if shape.activation != Activation::Relu {
        let _ = write!(name, ", {:?}", shape.activation);
    }
    if shape.batch_norm {
        name += ", batch norm";
    }
    if shape.dropout > 0.0 {
        name += ", drop-out";
    }
    name
}

pub(crate) fn run() {
    let mut times = vec![(Vec::new(), Vec::new()); networks().len()];
    for _ in 0..ROUNDS {
        for ((rows, shape), (steps, predictions)) in networks().iter().zip(&mut times) {
            let mut rng = stream(1, 2, 3);
            let mut numbers = |n: usize| (0..n).map(|_| rng.random_range(-1.0..=1.0)).collect::<Vec<f32>>();
            let (inputs, seed) = (numbers(rows * shape.inputs), numbers(rows * shape.outputs));
            let mut network = Mlp::new(shape, 1);
            let mut noise = stream(4, 5, 6);
            predictions.push(measure(|| drop(black_box(network.predict(&inputs, *rows)))));
            steps.push(measure(|| {
                let (outputs, pullback) = network.train(&inputs, *rows, &mut noise);
                black_box(outputs);
                black_box(pullback(&seed));
            }));
        }
    }
    println!("\n## One step of a network\n\n| batch | network | train µs | predict µs |\n|---|---|---|---|");
    for ((rows, shape), (steps, predictions)) in networks().iter().zip(&times) {
        println!("| {rows} | {} | {:.1} | {:.1} |", name(shape), median(steps), median(predictions));
    }
}
