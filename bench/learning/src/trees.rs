//! Boosted trees: growing and predicting alone, and growing on a decision loss.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use rand::RngExt;
use regretless_learn::{
    Binned, Ensembles, Predictor, Silent, Slopes, Trainer, TreeSettings, Trees, stream, train,
};

use crate::data::{Rows, Size, write};

const FEATURES: usize = 10;
const ROUNDS: usize = 100;
const SETTINGS: TreeSettings = TreeSettings {
    depth: 6,
    leaves: 31,
    min_rows: 20,
    rows: 1.0,
    columns: 1.0,
    l2: 0.0,
    ensembles: Ensembles::One,
};

/// Friedman's first function with noise of deviation 1 (Friedman 1991).
fn data(rows: usize) -> (Vec<f32>, Vec<f64>) {
    let mut rng = stream(1991, 0, 0);
    let inputs: Vec<f32> = (0..rows * FEATURES).map(|_| rng.random_range(0.0..1.0)).collect();
    let y = inputs.chunks_exact(FEATURES).map(|x| {
        let x: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
        let noise: f64 = (0..12).map(|_| rng.random_range(-0.5..0.5)).sum();
        10.0 * (std::f64::consts::PI * x[0] * x[1]).sin()
            + 20.0 * (x[2] - 0.5).powi(2)
            + 10.0 * x[3]
            + 5.0 * x[4]
            + noise
    });
    let y = y.collect();
    (inputs, y)
}

/// Rounds of squared errors with a rate of 0.1.
fn boosted(inputs: &[f32], y: &[f64]) -> Trees {
    let table = Binned::new(inputs, y.len(), FEATURES);
    let mut trees = Trees::new(FEATURES, 1, SETTINGS);
    let mut outputs = vec![0.0; y.len()];
    let curvature = vec![1.0; y.len()];
    for round in 0..ROUNDS {
        let gradient: Vec<f64> = outputs.iter().zip(y).map(|(o, y)| o - y).collect();
        let slopes = Slopes { gradient: &gradient, curvature: &curvature, quantile: None };
        let mut noise = stream(0, round as u64, 0);
        let rows = trees.sample(y.len(), &mut noise);
        trees.grow(&table, rows, slopes, 0.1, &mut noise);
        trees.add(round, inputs, &mut outputs);
    }
    trees
}

/// Seconds of work of all threads so far: others on the machine do not lengthen them. Those of the clock where the system does not say.
fn worked() -> f64 {
    static BEGUN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let one = |task: std::fs::DirEntry| -> Option<f64> {
        let told = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        told.split_whitespace().next()?.parse().ok()
    };
    let sum: f64 = tasks.filter_map(one).sum();
    if sum > 0.0 { 1e-9 * sum } else { BEGUN.elapsed().as_secs_f64() }
}

/// The least work of three times.
fn least<T>(of: impl Fn() -> T) -> (f64, T) {
    let once = || {
        let before = worked();
        let made = of();
        (worked() - before, made)
    };
    let (mut best, made) = once();
    for _ in 0..2 {
        best = best.min(once().0);
    }
    (best, made)
}

/// Prints the tables; with a folder, writes each table of data there too, as little-endian f64 rows of features and y.
pub(crate) fn run(folder: Option<&Path>) {
    println!("## Boosted trees: {ROUNDS} rounds, 31 leaves, depth 6, {FEATURES} features, one output\n");
    println!("| rows | grow s | predict rows a second |\n|---|---|---|");
    for rows in [1_000, 10_000, 100_000] {
        let (inputs, y) = data(rows);
        if let Some(folder) = folder {
            let row =
                |(x, y): (&[f32], &f64)| x.iter().map(|v| f64::from(*v)).chain([*y]).collect::<Vec<_>>();
            let all = inputs.chunks_exact(FEATURES).zip(&y).flat_map(row);
            let bytes: Vec<u8> = all.flat_map(f64::to_le_bytes).collect();
            std::fs::write(folder.join(format!("{rows}.f64")), bytes).unwrap();
        }
        let (grown, trees) = least(|| boosted(&inputs, &y));
        let speed = rows as f64 / least(|| black_box(trees.predict(&inputs, rows))).0;
        println!("| {rows} | {grown:.3} | {speed:.2e} |");
    }
    decisions();
}

/// 200 rounds on the decisions of 1,000 rows.
fn decisions() {
    let dir = tempfile::tempdir().unwrap();
    let rows = Rows { train: 1000, valid: 250, new: 0 };
    let training = "[predictor]\nkind = \"trees\"\n\n[training]\nmethod = \"surrogate-smooth\"\nepochs = 200\nstop = \"never\"\n";
    let spec = write(dir.path(), Size { n: 40, hard: 40, soft: 20 }, rows, training);
    let task = spec.task().unwrap();
    let before = worked();
    let mut silent = Silent;
    let mut trainer = Trainer::new(&task, None, &mut silent).unwrap();
    let chosen = train(&mut trainer, task.settings().training.method, 0).unwrap();
    let seconds = worked() - before;
    let history = &chosen.candidate.fitted.history;
    let sum = |of: fn(&regretless_learn::Epoch) -> f64| history.iter().map(of).sum::<f64>();
    println!("\n## 200 rounds of `surrogate-smooth`, LP (40,40,20), 1,000 rows, 80 features\n");
    println!("Seconds of work in all, those of the clock by part.\n");
    println!("| all s | trees s | solve s | gradient s | validation s | first regret | best regret |");
    println!("|---|---|---|---|---|---|---|");
    println!(
        "| {seconds:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.4} | {:.4} |",
        sum(|e| e.seconds.network),
        sum(|e| e.seconds.solve),
        sum(|e| e.seconds.gradient),
        sum(|e| e.seconds.validation),
        history[0].valid.regret,
        chosen.candidate.valid.measures.regret,
    );
}
