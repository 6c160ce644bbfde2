//! What a training sample costs through scenarios: its solve and its gradient, warm, beside those of the point.

use std::time::Instant;

use rand::{Rng, RngExt};
use regretless_core::{
    Batch, DecisionLoss, Instance, LossOptions, Matrix, Method, Multipliers, Parameter, Placement, Problem,
    Rule, Scenarios, Soft, build_loss,
};

use crate::problems::rng;

const HOURS: usize = 24;
const REGIONS: usize = 8;
const SHARPNESS: f64 = 25.0;
/// Samples, and epochs over them: those after the first two count.
const SAMPLES: usize = 100;
const EPOCHS: usize = 12;

fn noise(r: &mut impl Rng, size: f64) -> f64 {
    size * ((0..12).map(|_| r.random::<f64>()).sum::<f64>() - 6.0)
}

/// A day's generation with a limit of its changes from hour to hour; loads are predicted.
fn generation() -> Problem {
    let step = |i: usize, j: usize| f64::from(u8::from(j == i + 1)) - f64::from(u8::from(j == i));
    let ramps =
        Matrix::from_fn(
            2 * (HOURS - 1),
            HOURS,
            |i, j| if i % 2 == 0 { step(i / 2, j) } else { -step(i / 2, j) },
        );
    let each = Matrix::from_fn(HOURS, HOURS, |i, j| f64::from(u8::from(i == j)));
    Problem::minimize(HOURS)
        .linear([0.0; HOURS])
        .soft("load", Soft::both(each, vec![0.0; HOURS], vec![1.0; HOURS], vec![20.0; HOURS]))
        .at_most("ramps", ramps, [0.06; 2 * (HOURS - 1)])
        .upper([10.0; HOURS])
        .build()
        .unwrap()
}

/// Shares of regions whose rows of load are predicted.
fn shares() -> Problem {
    let rows = Matrix::from_fn(HOURS, REGIONS, |_, _| 0.0);
    Problem::minimize(REGIONS)
        .linear([0.0; REGIONS])
        .soft("hours", Soft::both(rows, vec![1.0; HOURS], vec![1.0; HOURS], vec![10.0; HOURS]))
        .equal("shares", Matrix::from_fn(1, REGIONS, |_, _| 1.0), [1.0])
        .upper([1.0; REGIONS])
        .build()
        .unwrap()
}

/// Milliseconds a sample in the fastest epoch after the first two.
fn measure(loss: &mut dyn DecisionLoss, epochs: &[Vec<f64>], truths: &[f64]) -> f64 {
    let ids: Vec<u64> = (0..SAMPLES as u64).collect();
    let each = epochs.iter().map(|predictions| {
        let begun = Instant::now();
        let found = loss.evaluate(&Batch::new(predictions, truths, &ids)).unwrap();
        assert!(found.troubles.is_empty());
        begun.elapsed().as_secs_f64() * 1e3 / SAMPLES as f64
    });
    each.skip(2).fold(f64::INFINITY, f64::min)
}

pub(crate) fn run() {
    println!("## Scenarios of a training sample: `surrogate-smooth`, warm, K = {SHARPNESS}\n");
    println!("| task | point, ms | scenarios, ms | ratio |\n|---|---|---|---|");
    let tasks = [
        ("24 rows, n = 24, 2,500 residuals of limits", generation(), Parameter::Limit, 2500, 0.1),
        ("24 rows, n = 8, C predicted, 64 scenarios", shares(), Parameter::SoftRows, 64, 0.2),
    ];
    for (name, problem, parameter, count, size) in tasks {
        let mut r = rng(1);
        let placement = Placement::whole(&problem, &[parameter]);
        let width = placement.width();
        let centre = |at: usize| 1.0 + 0.3 * ((at % width) as f64 / 4.0).sin();
        let first: Vec<f64> = (0..SAMPLES * width).map(|at| centre(at) + noise(&mut r, 0.05)).collect();
        let truths: Vec<f64> = first.iter().map(|p| p + noise(&mut r, size)).collect();
        let mut epochs = vec![first];
        for epoch in 1..EPOCHS {
            let next = epochs[epoch - 1].iter().map(|p| p + noise(&mut r, 0.001)).collect();
            epochs.push(next);
        }
        let residuals: Vec<f64> = (0..count * width).map(|_| noise(&mut r, size)).collect();
        let scenarios = Scenarios::new(&problem, &placement, residuals).unwrap();
        let typical = placement.parameters(&problem, &truths[..width], &[]);
        let instances: [Instance<'_>; 1] = [typical.instance()];
        let multipliers = Multipliers::choose(&problem, &Rule::default(), &instances).unwrap();
        let options = LossOptions { k: SHARPNESS, multipliers: Some(&multipliers), ..LossOptions::default() };
        let through = LossOptions { scenarios: Some(scenarios), ..options.clone() };
        let of = |options: &LossOptions<'_>| {
            let mut loss = build_loss(Method::SurrogateSmooth, &problem, &placement, options).unwrap();
            measure(&mut *loss, &epochs, &truths)
        };
        let (point, many) = (of(&options), of(&through));
        println!("| {name} | {point:.3} | {many:.3} | **{:.1}×** |", many / point);
    }
    println!();
}
