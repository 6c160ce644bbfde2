//! Networks against what burn 0.22 (its `flex` backend, with automatic differentiation) gave when it was what they ran on.
//!
//! `fixtures/networks.safetensors` has for each case initial weights, weights, buffers, inputs, and what came out of prediction,
//! of a training step and of its way back. `fixtures/burn-run` is a finished run with what `regretless decide --predictions`
//! wrote for the rows of its table.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use regretless_learn::{Activation, Descend, Initial, Mlp, MlpShape, Predictor, stream};
use regretless_project::Run;
use safetensors::SafeTensors;
use serde_json::Value;

const FIXTURE: &[u8] = include_bytes!("fixtures/networks.safetensors");

fn shape(case: &Value) -> MlpShape {
    let size = |v: &Value| usize::try_from(v.as_u64().unwrap()).unwrap();
    MlpShape {
        inputs: size(&case["inputs"]),
        hidden: case["hidden"].as_array().unwrap().iter().map(size).collect(),
        outputs: size(&case["outputs"]),
        activation: match case["activation"].as_str().unwrap() {
            "relu" => Activation::Relu,
            "leaky_relu" => Activation::LeakyRelu,
            "tanh" => Activation::Tanh,
            "sigmoid" => Activation::Sigmoid,
            "gelu" => Activation::Gelu,
            other => panic!("{other}"),
        },
        batch_norm: case["batch_norm"].as_bool().unwrap(),
        line: false,
        dropout: case["dropout"].as_f64().unwrap(),
        initial: if case["random"].as_bool().unwrap() { Initial::Random } else { Initial::Mean },
    }
}

fn largest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// Equal up to 10⁻⁵ of the largest entry, or of `least` if they are all smaller.
fn close(found: &[f32], wanted: &[f32], least: f32, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let size = largest(wanted).max(least);
    for (i, (f, w)) in found.iter().zip(wanted).enumerate() {
        assert!((f - w).abs() <= 1e-5 * size, "{what}: entry {i} is {f}, not {w}");
    }
}

#[test]
fn steps_are_those_of_automatic_differentiation() {
    let (_, metadata) = SafeTensors::read_metadata(FIXTURE).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&metadata.metadata().as_ref().unwrap()["cases"]).unwrap();
    let tensors = SafeTensors::deserialize(FIXTURE).unwrap();
    assert!(cases.len() > 40);
    for (i, case) in cases.iter().enumerate() {
        let get = |what: &str| -> Vec<f32> {
            let tensor = tensors.tensor(&format!("{i}.{what}")).unwrap();
            tensor.data().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
        };
        let rows = usize::try_from(case["rows"].as_u64().unwrap()).unwrap();
        let mut network = Mlp::new(&shape(case), 7);
        assert_eq!(network.weights()[0].values(), get("initial"), "{case}: initial weights");
        network.weights_mut()[0].values_mut().copy_from_slice(&get("weights"));
        network.buffers_mut()[0].values_mut().copy_from_slice(&get("buffers"));
        let inputs = get("inputs");
        close(&network.predict(&inputs, rows), &get("predicted"), 0.0, &format!("{case}: prediction"));
        let (outputs, pullback) = network.train(&inputs, rows, &mut stream(21, i as u64, 0));
        let gradient = pullback(&get("seed"));
        close(&outputs, &get("outputs"), 0.0, &format!("{case}: outputs"));
        // Layer by layer: a small gradient is not to hide behind a large one. That of a bias before batch norm is 0.
        let wanted = get("gradient");
        let least = 0.1 * largest(&wanted);
        let mut start = 0;
        for (name, [a, b], _) in network.weights()[0].iter() {
            let own = start..start + a * b;
            start = own.end;
            close(&gradient[own.clone()], &wanted[own], least, &format!("{case}: gradient of {name}"));
        }
        close(network.buffers()[0].values(), &get("buffers_after"), 0.0, &format!("{case}: buffers"));
    }
}

#[test]
fn models_from_before_predict_as_they_did() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/burn-run");
    let run = Run::open(&dir.join("run")).unwrap();
    let spec = run.spec().unwrap();
    let task = spec.task().unwrap();
    let (model, _) = run.model().unwrap();
    let table = std::fs::read_to_string(dir.join("predictions.csv")).unwrap();
    let lines: Vec<&str> = table.lines().skip(1).collect();
    let rows: Vec<usize> = (0..task.data().rows()).collect();
    assert_eq!(lines.len(), rows.len());
    let predictions = model.predict(&task.features(&rows), rows.len());
    for (line, found) in lines.iter().zip(predictions.chunks_exact(model.width())) {
        // The last columns are the predicted parameters.
        let cells: Vec<f64> = line.rsplit(',').take(model.width()).map(|c| c.parse().unwrap()).collect();
        for (found, wanted) in found.iter().zip(cells.iter().rev()) {
            assert!((found - wanted).abs() < 2e-6, "{found} is not {wanted}");
        }
    }
}
