//! One K for all rows, one for rows and one for bounds, or one for each row: which decides better?
//!
//! `cargo run --release -p regretless-bench-learning -- sharpness SEEDS A/problem.toml B/problem.toml …`; a seed has the same
//! split, weights and order of rows for all three.

use std::path::Path;

use regretless_core::{Instance, Parameters, RowValues, Sharpness};
use regretless_learn::stats::paired_t;
use regretless_learn::{Silent, Task, Trainer, judge, train};
use regretless_project::Spec;

pub(crate) fn run(mut arguments: impl Iterator<Item = String>) {
    let seeds: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10);
    println!("| problem | method | one K | rows, bounds | p | each row | p |\n|---|---|---|---|---|---|---|");
    for file in arguments {
        let spec = Spec::read(Path::new(&file)).unwrap();
        let task = spec.task().unwrap();
        for method in ["surrogate-smooth", "spo+-smooth"] {
            let mut regrets: [Vec<f64>; 3] = Default::default();
            for seed in 0..seeds {
                for (way, regrets) in regrets.iter_mut().enumerate() {
                    regrets.extend(regret(&task, method, seed, way));
                }
            }
            if regrets[0].is_empty() {
                continue;
            }
            let mean = |r: &[f64]| r.iter().sum::<f64>() / r.len() as f64;
            let p = |i: usize| paired_t(&regrets[i], &regrets[0]).map_or(f64::NAN, |t| t.p_value);
            println!(
                "| {} | `{method}` | {:.4} | {:.4} | {:.3} | {:.4} | {:.3} |",
                spec.name().unwrap_or(&file),
                mean(&regrets[0]),
                mean(&regrets[1]),
                p(1),
                mean(&regrets[2]),
                p(2)
            );
        }
    }
}

/// Test regret of one training; `None` where the method does not fit the problem.
fn regret(task: &Task, method: &str, seed: u64, way: usize) -> Option<f64> {
    let task = task.reseeded(seed).unwrap();
    task.check(method.parse().unwrap()).ok()?;
    let problem = task.problem();
    let step = task.train().len().div_ceil(Sharpness::PROBES);
    let rows: Vec<usize> = task.train().iter().copied().step_by(step).collect();
    let truths = task.instances(&rows);
    let instances: Vec<Instance<'_>> = truths.iter().map(Parameters::instance).collect();
    let fitted = Sharpness::fit(problem, &instances);
    let sharpness = match way {
        0 => Sharpness { k: fitted.k, rows: RowValues::constant(problem.shape(), fitted.k) },
        1 => fitted,
        _ => Sharpness::fit_each(problem, &instances),
    };
    let task = task.with_sharpness(sharpness);
    let mut silent = Silent;
    let mut trainer = Trainer::new(&task, None, &mut silent).unwrap();
    let chosen = train(&mut trainer, method.parse().unwrap(), seed).unwrap();
    Some(judge(&task, &chosen.candidate.fitted.model, task.test()).unwrap().measures.regret)
}
