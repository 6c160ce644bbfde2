//! Resident memory of a large batch with its warm-start store.

use rand::RngExt;
use regretless_core::{Instance, Multipliers, Rule, Store, Surrogate, SurrogateOptions};

use crate::problems::{rng, synthetic};

fn resident(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}

pub(crate) fn run() {
    let before = resident("VmRSS");
    let problem = synthetic(80, 80, 40);
    let mut r = rng(9);
    let mut thetas: Vec<Vec<f64>> = (0..5000).map(|_| (0..80).map(|_| r.random()).collect()).collect();
    let ids: Vec<u64> = (0..5000).collect();
    let multipliers =
        Multipliers::choose(&problem, &Rule::default(), &[Instance::theta(&thetas[0])]).unwrap();
    let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(5.0)).unwrap();
    let mut store = Store::with_budget(200 << 20);
    let mut times = Vec::new();
    for _ in 0..3 {
        let instances: Vec<Instance> = thetas.iter().map(|t| Instance::theta(t)).collect();
        let start = std::time::Instant::now();
        let solved = surrogate.solve_batch_warm(&instances, &ids, &mut store);
        times.push(start.elapsed().as_secs_f64());
        assert!(solved.iter().all(|s| s.as_ref().unwrap().is_optimal()));
        drop(solved);
        drop(instances);
        thetas.iter_mut().flatten().for_each(|t| *t += 0.02 * (r.random::<f64>() - 0.5));
    }
    println!("## Memory: a batch of 5,000 instances at (80,80,40) with its store\n");
    println!("| samples kept | with factor | seconds cold, warm, warm | resident before, peak (MB) |");
    println!("|---|---|---|---|");
    println!(
        "| {} | {} | {:.2}, {:.2}, {:.2} | {before:.0}, {:.0} |",
        store.len(),
        store.factors(),
        times[0],
        times[1],
        times[2],
        resident("VmHWM")
    );
    println!();
}
