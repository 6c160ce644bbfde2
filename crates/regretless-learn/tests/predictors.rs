//! Predictors against a network written a second time in double precision, and against finite differences.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use rand::RngExt;
use regretless_learn::{
    Activation, Constant, Descend, Embedding, Initial, Joint, Mlp, MlpShape, Predictor, QuadraticForm,
    Shared, Weights, stream,
};

const ACTIVATIONS: [Activation; 5] =
    [Activation::Relu, Activation::LeakyRelu, Activation::Tanh, Activation::Sigmoid, Activation::Gelu];

fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut rng = stream(seed, 1, 1);
    (0..len).map(|_| rng.random_range(-1.0..=1.0)).collect()
}

/// Gives all weights values: new networks end in zeros.
fn shake(predictor: &mut dyn Descend, seed: u64) {
    let mut rng = stream(seed, 2, 2);
    for part in predictor.weights_mut() {
        part.values_mut().iter_mut().for_each(|v| *v = rng.random_range(-0.8..=0.8));
    }
}

fn shape(activation: Activation, batch_norm: bool) -> MlpShape {
    MlpShape {
        inputs: 3,
        hidden: vec![5, 4],
        outputs: 2,
        activation,
        batch_norm,
        dropout: 0.0,
        initial: Initial::Mean,
        line: false,
    }
}

/// The network once more: plain loops, double precision.
struct Reference {
    shape: MlpShape,
    /// Names, shapes and values in order.
    layers: Vec<(String, [usize; 2], Vec<f64>)>,
    buffers: Weights,
}

impl Reference {
    fn of(network: &Mlp, shape: &MlpShape) -> Self {
        let layer = |(name, shape, values): (&str, [usize; 2], &[f32])| {
            (name.to_owned(), shape, values.iter().map(|v| f64::from(*v)).collect())
        };
        let layers = network.weights()[0].iter().map(layer).collect();
        Self { shape: shape.clone(), layers, buffers: network.buffers()[0].clone() }
    }

    fn get(&self, name: &str) -> (&[usize; 2], &[f64]) {
        let (_, shape, values) = self.layers.iter().find(|(own, ..)| own == name).unwrap();
        (shape, values)
    }

    fn dense(&self, layer: &str, x: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let ([fan_in, units], weight) = self.get(&format!("{layer}.weight"));
        let (_, bias) = self.get(&format!("{layer}.bias"));
        let unit = |row: &[f64], u: usize| -> f64 {
            bias[u] + (0..*fan_in).map(|i| row[i] * weight[i * units + u]).sum::<f64>()
        };
        x.iter().map(|row| (0..*units).map(|u| unit(row, u)).collect()).collect()
    }

    fn forward(&self, inputs: &[f32], rows: usize, training: bool) -> Vec<f64> {
        let mut x: Vec<Vec<f64>> = inputs
            .chunks_exact(self.shape.inputs)
            .map(|row| row.iter().map(|v| f64::from(*v)).collect())
            .collect();
        assert_eq!(x.len(), rows);
        for (l, units) in self.shape.hidden.iter().enumerate() {
            x = self.dense(&format!("layer{l}"), &x);
            for u in 0..*units {
                if self.shape.batch_norm {
                    let (_, gain) = self.get(&format!("layer{l}.norm.weight"));
                    let (_, shift) = self.get(&format!("layer{l}.norm.bias"));
                    let n = rows as f64;
                    let (mean, variance) = if training {
                        let mean = x.iter().map(|row| row[u]).sum::<f64>() / n;
                        (mean, x.iter().map(|row| (row[u] - mean).powi(2)).sum::<f64>() / n)
                    } else {
                        let running = |what: &str| {
                            f64::from(self.buffers.get(&format!("layer{l}.norm.{what}")).unwrap()[u])
                        };
                        (running("mean"), running("variance"))
                    };
                    for row in &mut x {
                        row[u] = (row[u] - mean) / (variance + 1e-5).sqrt() * gain[u] + shift[u];
                    }
                }
                for row in &mut x {
                    row[u] = activate(self.shape.activation, row[u]);
                }
            }
        }
        let mut outputs = self.dense("output", &x);
        if self.shape.line {
            let ([fan_in, units], weight) = self.get("line.weight");
            for (row, out) in inputs.chunks_exact(*fan_in).zip(&mut outputs) {
                for (u, out) in out.iter_mut().enumerate() {
                    *out += (0..*fan_in).map(|i| f64::from(row[i]) * weight[i * units + u]).sum::<f64>();
                }
            }
        }
        outputs.concat()
    }
}

fn activate(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::LeakyRelu => x.max(0.01 * x),
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Activation::Gelu => 0.5 * x * (1.0 + statrs::function::erf::erf(x / std::f64::consts::SQRT_2)),
    }
}

fn close(found: &[f32], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let size = wanted.iter().fold(1e-3_f64, |m, w| m.max(w.abs()));
    for (i, (f, w)) in found.iter().zip(wanted).enumerate() {
        assert!((f64::from(*f) - w).abs() < tolerance * size, "{what}: entry {i} is {f}, not {w}");
    }
}

#[test]
fn networks_agree_with_double_precision() {
    for activation in ACTIVATIONS {
        for (batch_norm, line) in [(false, false), (true, false), (true, true)] {
            let shape = MlpShape { line, ..shape(activation, batch_norm) };
            let what = format!("{activation:?}, batch norm {batch_norm}, line {line}");
            let mut network = Mlp::new(&shape, 1);
            shake(&mut network, 2);
            let inputs = numbers(7 * 3, 3);
            // Statistics that are not the initial ones.
            network.train(&numbers(7 * 3, 4), 7, &mut stream(0, 0, 0)).1(&[0.0; 14]);
            let reference = Reference::of(&network, &shape);
            close(&network.predict(&inputs, 7), &reference.forward(&inputs, 7, false), 1e-5, &what);
            let (outputs, _) = network.train(&inputs, 7, &mut stream(0, 0, 0));
            close(&outputs, &reference.forward(&inputs, 7, true), 1e-5, &what);
        }
    }
}

#[test]
fn gradients_agree_with_differences_in_double_precision() {
    let hidden = [vec![], vec![5], vec![5, 4]];
    for (activation, hidden) in ACTIVATIONS.into_iter().flat_map(|a| hidden.iter().map(move |h| (a, h))) {
        for (batch_norm, line) in [(false, false), (true, false), (false, true)] {
            let shape = MlpShape { hidden: hidden.clone(), line, ..shape(activation, batch_norm) };
            let what = format!("{activation:?}, {hidden:?}, batch norm {batch_norm}, line {line}");
            let mut network = Mlp::new(&shape, 1);
            shake(&mut network, 5);
            let (inputs, seed) = (numbers(6 * 3, 6), numbers(6 * 2, 7));
            let mut reference = Reference::of(&network, &shape);
            let gradient = network.train(&inputs, 6, &mut stream(0, 0, 0)).1(&seed);
            let value = |r: &Reference| -> f64 {
                r.forward(&inputs, 6, true).iter().zip(&seed).map(|(o, s)| o * f64::from(*s)).sum()
            };
            let mut differences = Vec::new();
            for part in 0..reference.layers.len() {
                for k in 0..reference.layers[part].2.len() {
                    let kept = reference.layers[part].2[k];
                    let step = 1e-6;
                    reference.layers[part].2[k] = kept + step;
                    let above = value(&reference);
                    reference.layers[part].2[k] = kept - step;
                    let below = value(&reference);
                    reference.layers[part].2[k] = kept;
                    differences.push((above - below) / (2.0 * step));
                }
            }
            close(&gradient, &differences, 2e-4, &what);
        }
    }
}

/// Slopes along random directions, in training mode with the same noise: for predictors without a second writing.
fn slopes_agree(predictor: &dyn Descend, inputs: &[f32], rows: usize, what: &str) {
    let seed = numbers(rows * predictor.outputs(), 11);
    let gradient = predictor.boxed_descent().train(inputs, rows, &mut stream(9, 0, 0)).1(&seed);
    assert_eq!(gradient.len(), predictor.weights().iter().map(|w| w.len()).sum::<usize>(), "{what}");
    let value = |direction: &[f32], step: f32| -> f64 {
        let mut moved = predictor.boxed_descent();
        let mut along = direction.iter();
        for part in moved.weights_mut() {
            part.values_mut().iter_mut().zip(&mut along).for_each(|(w, d)| *w += step * d);
        }
        let outputs = moved.train(inputs, rows, &mut stream(9, 0, 0)).0;
        outputs.iter().zip(&seed).map(|(o, s)| f64::from(*o) * f64::from(*s)).sum()
    };
    let length = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
    assert!(length > 1e-3, "{what}: a gradient to compare with");
    for trial in 0..6 {
        let direction = numbers(gradient.len(), 100 + trial);
        let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
        let step = 4e-3_f32;
        let difference = (value(&direction, step) - value(&direction, -step)) / (2.0 * f64::from(step));
        assert!((slope - difference).abs() < 4e-3 * length, "{what}: {slope} is not {difference}");
    }
}

fn mean_matrix() -> [f64; 9] {
    [1.0, 0.3, 0.1, 0.3, 1.0, -0.2, 0.1, -0.2, 1.0]
}

#[test]
fn composed_predictors_have_the_right_slopes() {
    let inner = || {
        let mut network = Mlp::new(&MlpShape { inputs: 2, outputs: 1, ..shape(Activation::Tanh, false) }, 1);
        shake(&mut network, 12);
        network
    };
    let shared = Shared::new(
        Box::new(inner()),
        4,
        vec![vec![0, 3], vec![1, 3], vec![2, 3]],
        vec![vec![2], vec![0], vec![1]],
    );
    slopes_agree(&shared, &numbers(5 * 4, 13), 5, "shared");
    for form in [QuadraticForm::Gram, QuadraticForm::Cosine] {
        let embedding = Embedding::new(&mean_matrix(), 3, 2, form, 0.05, 1);
        slopes_agree(&embedding, &numbers(5 * 2, 14), 5, &format!("{form:?}"));
        // Outputs interleaved: the network has 1, 5 and 9.
        let own: Vec<usize> = (0..12).filter(|k| ![1, 5, 9].contains(k)).collect();
        let mut network = Mlp::new(&MlpShape { inputs: 2, outputs: 3, ..shape(Activation::Gelu, false) }, 1);
        shake(&mut network, 15);
        let joint = Joint::new(vec![(Box::new(embedding), own), (Box::new(network), vec![1, 5, 9])]);
        slopes_agree(&joint, &numbers(5 * 2, 16), 5, &format!("joint {form:?}"));
    }
    let mut dropping = Mlp::new(&MlpShape { dropout: 0.4, ..shape(Activation::Sigmoid, false) }, 1);
    shake(&mut dropping, 17);
    slopes_agree(&dropping, &numbers(8 * 3, 18), 8, "dropout");
}

#[test]
fn joint_outputs_are_those_of_the_members() {
    let embedding = Embedding::new(&mean_matrix(), 3, 3, QuadraticForm::Gram, 0.05, 1);
    let mut network = Mlp::new(&MlpShape { outputs: 2, ..shape(Activation::Relu, false) }, 1);
    shake(&mut network, 21);
    let at: Vec<usize> = [0, 2, 3, 4, 5, 6, 7, 8, 10].to_vec();
    let joint =
        Joint::new(vec![(Box::new(embedding.clone()), at.clone()), (Box::new(network.clone()), vec![9, 1])]);
    let inputs = numbers(4 * 3, 22);
    let (all, q, rest) =
        (joint.predict(&inputs, 4), embedding.predict(&inputs, 4), network.predict(&inputs, 4));
    for row in 0..4 {
        for (i, &k) in at.iter().enumerate() {
            assert_eq!(all[row * 11 + k], q[row * 9 + i]);
        }
        assert_eq!([all[row * 11 + 9], all[row * 11 + 1]], [rest[row * 2], rest[row * 2 + 1]]);
    }
}

/// Eigenvalues are not needed: xᵀQx ≥ ridge·‖x‖² for random x.
#[test]
fn embeddings_are_positive_definite_wherever_they_are() {
    for (form, floor) in [(QuadraticForm::Gram, 0.05), (QuadraticForm::Cosine, 0.05)] {
        let mut embedding = Embedding::new(&mean_matrix(), 3, 2, form, 0.05, 1);
        shake(&mut embedding, 23);
        let q = embedding.predict(&[], 1);
        for trial in 0..50 {
            let x = numbers(3, 200 + trial);
            let square: f32 = x.iter().map(|v| v * v).sum();
            let form_value: f32 = (0..9).map(|k| q[k] * x[k / 3] * x[k % 3]).sum();
            assert!(form_value >= floor * square - 1e-5, "{form:?}");
            assert_eq!([q[1], q[2], q[5]], [q[3], q[6], q[7]], "symmetric");
        }
        if form == QuadraticForm::Cosine {
            (0..3).for_each(|i| assert!((q[4 * i] - 1.0).abs() < 1e-6, "cosines with themselves"));
        }
    }
}

#[test]
fn untrained_networks_are_the_constant_predictor_exactly() {
    let inputs: Vec<f32> = numbers(9 * 3, 31).iter().map(|v| 1e3 * v).collect();
    for activation in ACTIVATIONS {
        for batch_norm in [false, true] {
            for hidden in [vec![], vec![8], vec![8, 8, 8]] {
                let shape = MlpShape { hidden, dropout: 0.3, ..shape(activation, batch_norm) };
                let mut network = Mlp::new(&shape, 3);
                let constant = Constant { outputs: 2 }.predict(&inputs, 9);
                assert_eq!(network.predict(&inputs, 9), constant);
                assert_eq!(network.train(&inputs, 9, &mut stream(0, 0, 0)).0, constant);
            }
        }
    }
    assert!(Constant { outputs: 2 }.weights().is_empty());
}

#[test]
fn seeds_decide_the_hidden_layers() {
    let shape = shape(Activation::Relu, false);
    let weights = |seed: u64| Mlp::new(&shape, seed).weights()[0].values().to_vec();
    assert_eq!(weights(4), weights(4));
    assert_ne!(weights(4), weights(5));
}

#[test]
fn batch_norm_gathers_running_statistics() {
    // One linear unit with weight 1: its statistics are those of the inputs.
    let shape = MlpShape { inputs: 1, hidden: vec![1], outputs: 1, batch_norm: true, ..MlpShape::default() };
    let mut network = Mlp::new(&shape, 1);
    for part in network.weights_mut() {
        part.values_mut()[0] = 1.0;
    }
    let batch = [1.0_f32, 2.0, 3.0, 6.0];
    // Mean 3, unbiased variance 14/3; a tenth of the way from (0, 1).
    network.train(&batch, 4, &mut stream(0, 0, 0)).1(&[0.0; 4]);
    close(network.buffers()[0].values(), &[0.3, 0.9 + 0.1 * 14.0 / 3.0], 1e-6, "after one batch");
    for _ in 0..300 {
        network.train(&batch, 4, &mut stream(0, 0, 0)).1(&[0.0; 4]);
    }
    close(network.buffers()[0].values(), &[3.0, 14.0 / 3.0], 1e-4, "after many");
    // One row has no variance: the running statistics serve it and stay as they are.
    let before = network.buffers()[0].values().to_vec();
    shake(&mut network, 41);
    let alone = network.train(&[2.5], 1, &mut stream(0, 0, 0)).0;
    assert!(alone[0].is_finite());
    assert_eq!(network.buffers()[0].values(), before);
    close(&alone, &[f64::from(network.predict(&[2.5], 1)[0])], 1e-6, "one row");
}

#[test]
fn dropout_keeps_the_mean_and_is_off_in_prediction() {
    let shape = MlpShape {
        inputs: 3,
        hidden: vec![16],
        outputs: 1,
        activation: Activation::Tanh,
        dropout: 0.25,
        ..MlpShape::default()
    };
    let mut network = Mlp::new(&shape, 1);
    shake(&mut network, 51);
    let input = [0.3_f32, -0.7, 0.9];
    let (rows, inputs) = (4000, input.repeat(4000));
    let predicted = network.predict(&input, 1)[0];
    let together = network.predict(&inputs, rows);
    assert!(together.iter().all(|o| *o == together[0]), "prediction has no noise");
    assert!((together[0] - predicted).abs() < 1e-5);
    let (outputs, _) = network.train(&inputs, rows, &mut stream(1, 0, 0));
    let mean = outputs.iter().map(|o| f64::from(*o)).sum::<f64>() / rows as f64;
    let spread = outputs.iter().map(|o| (f64::from(*o) - mean).powi(2)).sum::<f64>() / rows as f64;
    assert!(spread > 1e-3, "training has noise");
    let error = (spread / rows as f64).sqrt();
    assert!((mean - f64::from(predicted)).abs() < 4.0 * error, "{mean} is not {predicted} ± {error}");
    let again = network.train(&inputs, rows, &mut stream(1, 0, 0)).0;
    assert!(outputs == again, "the same noise, the same outputs");
    assert!(outputs != network.train(&inputs, rows, &mut stream(2, 0, 0)).0, "other noise");
}

#[test]
fn a_shared_network_is_equivariant() {
    let mut inner = Mlp::new(&MlpShape { inputs: 3, outputs: 2, ..shape(Activation::Relu, true) }, 1);
    shake(&mut inner, 61);
    // Four variables with two features of their own and a common one (column 8); outputs part by part.
    let own = |order: [usize; 4]| {
        let inputs = order.iter().map(|&v| vec![2 * v, 2 * v + 1, 8]).collect();
        let outputs = (0..4).map(|v| vec![v, 4 + v]).collect();
        Shared::new(Box::new(inner.clone()), 9, inputs, outputs)
    };
    let (plain, permuted) = (own([0, 1, 2, 3]), own([2, 0, 3, 1]));
    let inputs = numbers(5 * 9, 62);
    let (a, b) = (plain.predict(&inputs, 5), permuted.predict(&inputs, 5));
    for row in 0..5 {
        for part in 0..2 {
            for (v, from) in [2, 0, 3, 1].into_iter().enumerate() {
                assert_eq!(b[row * 8 + part * 4 + v], a[row * 8 + part * 4 + from]);
            }
        }
        // And it is the inner network, variable by variable.
        for v in 0..4 {
            let row_of = |c: usize| inputs[row * 9 + c];
            let alone = inner.predict(&[row_of(2 * v), row_of(2 * v + 1), row_of(8)], 1);
            close(
                &[a[row * 8 + v], a[row * 8 + 4 + v]],
                &alone.iter().map(|v| f64::from(*v)).collect::<Vec<_>>(),
                1e-5,
                "inner",
            );
        }
    }
}
