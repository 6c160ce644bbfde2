//! Our solve + gradient against Clarabel's set-up + solve of the original problem, on the same instances.

use std::hint::black_box;
use std::time::Instant;

use rand::RngExt;
use regretless_core::engine::{Link, reference};
use regretless_core::{
    Instance, Multipliers, Oracle, Problem, Rule, Solution, Store, Surrogate, SurrogateOptions,
    SurrogateStatus,
};

use crate::problems::{portfolio, provisioning, rng, synthetic};

const INSTANCES: usize = 200;
const SHARPNESS: [f64; 5] = [0.2, 1.0, 5.0, 25.0, 125.0];

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

fn micros(f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64() * 1e6
}

/// What an instance predicts.
#[derive(Clone, Copy, PartialEq)]
enum Predicted {
    Theta,
    C,
}

struct Case {
    name: &'static str,
    problem: Problem,
    predicted: Predicted,
    /// First values, and values moved by at most 0.01 (θ of the portfolio: 0.0005, a hundredth of its range).
    first: Vec<Vec<f64>>,
    moved: Vec<Vec<f64>>,
    /// Mean of what the instances are drawn from.
    mean: Vec<f64>,
}

fn case(
    name: &'static str,
    problem: Problem,
    predicted: Predicted,
    centre: f64,
    spread: f64,
    step: f64,
) -> Case {
    let mut r = rng(7);
    let base = match predicted {
        Predicted::Theta => vec![centre; problem.n()],
        Predicted::C => problem.soft().C.as_slice().to_vec(),
    };
    let mut first = Vec::new();
    let mut moved = Vec::new();
    for _ in 0..INSTANCES {
        let f: Vec<f64> = base.iter().map(|b| b + spread * (2.0 * r.random::<f64>() - 1.0)).collect();
        moved.push(f.iter().map(|v| v + step * (2.0 * r.random::<f64>() - 1.0)).collect());
        first.push(f);
    }
    Case { name, problem, predicted, first, moved, mean: base }
}

fn instance(case: &Case, values: &[f64]) -> Instance<'static> {
    // The values outlive every use: they live as long as the process.
    let values: &'static [f64] = Box::leak(values.to_vec().into_boxed_slice());
    match case.predicted {
        Predicted::Theta => Instance::theta(values),
        Predicted::C => Instance { C: Some(values), ..Instance::default() },
    }
}

struct Timed {
    reference: f64,
    cold: f64,
    home: f64,
    warm: f64,
    breakpoints: (f64, f64),
    worst_residual: f64,
    others: usize,
}

fn time_surrogate(case: &Case, surrogate: &mut Surrogate, first: &[Instance], moved: &[Instance]) -> Timed {
    let (mut reference, mut cold, mut warm) = (Vec::new(), Vec::new(), Vec::new());
    let (mut points, mut worst, mut others) = ((0, 0), 0.0_f64, 0);
    let gradient = |s: &Solution, g: &mut Vec<f64>| match case.predicted {
        Predicted::Theta => s.vjp_theta(g),
        Predicted::C => *g = s.vjp(g).parameters.C,
    };
    let mut see = |s: &Solution, cold: bool| {
        worst = worst.max(s.residual);
        others += usize::from(s.link != Link::Path || s.status != SurrogateStatus::Optimal);
        *(if cold { &mut points.0 } else { &mut points.1 }) += s.work.breakpoints;
    };
    let mut store = Store::with_budget(1 << 30);
    for (id, (a, b)) in first.iter().zip(moved).enumerate() {
        let ids = [id as u64];
        // Side by side: what slows the machine down slows both.
        reference.push(time_reference(case, a));
        let mut g = vec![1.0; case.problem.n()];
        let mut solved = Vec::new();
        cold.push(micros(|| {
            solved = surrogate.solve_batch_warm(std::slice::from_ref(a), &ids, &mut store);
            gradient(solved[0].as_ref().unwrap(), &mut g);
            black_box(&g);
        }));
        see(solved[0].as_ref().unwrap(), true);
        solved.clear();
        let mut g = vec![1.0; case.problem.n()];
        warm.push(micros(|| {
            solved = surrogate.solve_batch_warm(std::slice::from_ref(b), &ids, &mut store);
            gradient(solved[0].as_ref().unwrap(), &mut g);
            black_box(&g);
        }));
        see(solved[0].as_ref().unwrap(), false);
    }
    // The same instances from the optimum of the mean one: still the first solve of each.
    assert!(surrogate.set_home(&instance(case, &case.mean)).unwrap());
    let mut home = Vec::new();
    for a in first {
        let mut g = vec![1.0; case.problem.n()];
        home.push(micros(|| {
            gradient(&surrogate.solve(a).unwrap(), &mut g);
            black_box(&g);
        }));
    }
    let per = |n: usize| n as f64 / INSTANCES as f64;
    Timed {
        reference: median(&mut reference),
        cold: median(&mut cold),
        home: median(&mut home),
        warm: median(&mut warm),
        breakpoints: (per(points.0), per(points.1)),
        worst_residual: worst,
        others,
    }
}

fn time_reference(case: &Case, instance: &Instance) -> f64 {
    let view = case.problem.view(instance).unwrap();
    micros(|| {
        black_box(reference::solve(&view));
    })
}

fn time_oracle(case: &Case, first: &[Instance], moved: &[Instance]) -> (f64, f64, f64) {
    let oracle = Oracle::new(&case.problem);
    let (mut reference, mut cold, mut warm) = (Vec::new(), Vec::new(), Vec::new());
    let mut store = Store::with_budget(1 << 30);
    for (id, (a, b)) in first.iter().zip(moved).enumerate() {
        let ids = [id as u64];
        reference.push(time_reference(case, a));
        cold.push(micros(|| {
            let solved = oracle.solve_batch_warm(std::slice::from_ref(a), &ids, &mut store);
            assert!(black_box(&solved[0]).as_ref().unwrap().is_optimal());
        }));
        warm.push(micros(|| {
            let solved = oracle.solve_batch_warm(std::slice::from_ref(b), &ids, &mut store);
            assert!(black_box(&solved[0]).as_ref().unwrap().is_optimal());
        }));
    }
    (median(&mut reference), median(&mut cold), median(&mut warm))
}

pub(crate) fn run() {
    println!("## Against Clarabel, one thread, median of {INSTANCES} instances\n");
    println!(
        "Clarabel: set-up + solve of the original problem in epigraph form, no gradient. Ours: surrogate solve + gradient.\n"
    );
    println!(
        "| problem | K | Clarabel µs | cold µs | cold ratio | from home µs | from home ratio | warm µs | warm ratio | breakpoints cold / warm | worst residual | other links |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let cases = [
        case("LP (40,40,20)", synthetic(40, 40, 20), Predicted::Theta, 0.5, 0.5, 0.01),
        case("LP (80,80,40)", synthetic(80, 80, 40), Predicted::Theta, 0.5, 0.5, 0.01),
        case("provisioning, C predicted", provisioning(1), Predicted::C, 0.0, 0.1, 0.01),
        case("portfolio n = 50", portfolio(50), Predicted::Theta, 0.0, 0.05, 0.0005),
        case("portfolio n = 250", portfolio(250), Predicted::Theta, 0.0, 0.05, 0.0005),
    ];
    let mut oracle_rows = Vec::new();
    for case in &cases {
        let first: Vec<Instance> = case.first.iter().map(|v| instance(case, v)).collect();
        let moved: Vec<Instance> = case.moved.iter().map(|v| instance(case, v)).collect();
        let multipliers = Multipliers::choose(&case.problem, &Rule::default(), &first).unwrap();
        let (mut cold_log, mut home_log, mut warm_log) = (0.0, 0.0, 0.0);
        for k in SHARPNESS {
            let options = SurrogateOptions::with_k(k);
            let mut surrogate = Surrogate::new(&case.problem, &multipliers, &options).unwrap();
            let t = time_surrogate(case, &mut surrogate, &first, &moved);
            let reference = t.reference;
            let (cold, home, warm) = (reference / t.cold, reference / t.home, reference / t.warm);
            home_log += home.ln() / 5.0;
            cold_log += cold.ln() / 5.0;
            warm_log += warm.ln() / 5.0;
            println!(
                "| {} | {k} | {reference:.0} | {:.1} | {cold:.1}× | {:.1} | {home:.1}× | {:.1} | {warm:.0}× | {:.0} / {:.1} | {:.0e} | {} |",
                case.name,
                t.cold,
                t.home,
                t.warm,
                t.breakpoints.0,
                t.breakpoints.1,
                t.worst_residual,
                t.others
            );
        }
        println!(
            "| **{}** | **geometric mean** | | | **{:.1}×** | | **{:.1}×** | | **{:.0}×** | | | |",
            case.name,
            f64::exp(cold_log),
            f64::exp(home_log),
            f64::exp(warm_log)
        );
        let (reference, cold, warm) = time_oracle(case, &first, &moved);
        oracle_rows.push(format!(
            "| {} | {reference:.0} | {cold:.1} | **{:.1}×** | {warm:.1} | **{:.0}×** |",
            case.name,
            reference / cold,
            reference / warm
        ));
    }
    println!("\n## Exact oracle\n");
    println!("| problem | Clarabel µs | cold µs | cold ratio | warm µs | warm ratio |");
    println!("|---|---|---|---|---|---|");
    oracle_rows.iter().for_each(|row| println!("{row}"));
    println!();
}
