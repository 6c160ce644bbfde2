//! Decisions for new rows: rows a second and core, in memory and through the command.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use regretless_core::Regret;
use regretless_learn::{Decider, Model, Silent};
use regretless_project::{DataReader, Run, Spec, Want, train_new};

use crate::data::{Rows, Size, write};
use crate::median;

const SIZE: Size = Size { n: 40, hard: 40, soft: 20 };
const ROWS: Rows = Rows { train: 1000, valid: 250, new: 20_000 };
/// Rows at a time, as the command takes them.
const CHUNK: usize = 4096;
const ANCHORS: [usize; 5] = [1, 16, 64, 256, 512];
const METHODS: [&str; 2] = ["l2", "spo+"];
const REPEATS: usize = 5;

fn settings(method: &str) -> String {
    format!(
        "[predictor]\nlayers = [128, 128]\n\n\
         [training]\nmethod = \"{method}\"\nepochs = 60\nstop = \"never\"\n"
    )
}

/// Rows a second over repetitions, the median.
fn rate(mut once: impl FnMut()) -> f64 {
    let seconds = (0..REPEATS).map(|_| {
        let start = Instant::now();
        once();
        start.elapsed().as_secs_f64()
    });
    ROWS.new as f64 / median(&seconds.collect::<Vec<_>>())
}

fn features(spec: &Spec, file: &Path) -> Vec<f64> {
    let mut reader = DataReader::open(spec, file, Want { features: true, targets: false }).unwrap();
    let mut all = Vec::new();
    while let Some(chunk) = reader.next().unwrap() {
        all.extend(chunk.features);
    }
    all
}

/// Rows a second from predictions on, for several numbers of anchors.
fn anchors(method: &str, spec: &Spec, targets: &[String], model: &Model, predictions: &[f64]) {
    for count in ANCHORS {
        let mut regret = Regret::new(spec.problem(), &spec.placement(targets, &[]).unwrap(), None).unwrap();
        let start = Instant::now();
        let kept = regret.set_anchors(&model.anchors, &[], count).unwrap();
        let ready = start.elapsed().as_secs_f64() * 1e3;
        let mut breakpoints = 0;
        let solve = rate(|| {
            breakpoints = 0;
            for chunk in predictions.chunks(CHUNK * SIZE.n) {
                let decided = regret.decide(chunk, &[]).unwrap();
                breakpoints += decided.iter().flatten().map(|o| o.work.breakpoints).sum::<usize>();
            }
        });
        println!(
            "| {method} | {count} | {kept} | {ready:.0} | {:.1} | {:.1} | **{solve:.0}** |",
            breakpoints as f64 / ROWS.new as f64,
            1e6 / solve
        );
    }
}

/// Rows a second of every step and of all of them.
fn whole(method: &str, run: &Run, decider: &Decider, model: &Model, features: &[f64], new: &Path) -> String {
    let spec = run.spec().unwrap();
    let each = || features.chunks(CHUNK * 2 * SIZE.n).map(|chunk| (chunk, chunk.len() / (2 * SIZE.n)));
    let network = rate(|| {
        each().for_each(|(chunk, rows)| drop(black_box(model.predict(chunk, rows))));
    });
    let all = rate(|| {
        each().for_each(|(chunk, rows)| drop(black_box(decider.decide(chunk, &[], rows).unwrap())));
    });
    let read = rate(|| {
        black_box(self::features(&spec, new));
    });
    let out = run.dir().with_file_name("out.csv");
    let command = rate(|| {
        let mut command = Command::new(binary());
        command.arg("decide").arg(run.dir()).arg("--features").arg(new).arg("--out").arg(&out);
        assert!(command.args(["--threads", "1"]).status().unwrap().success());
    });
    format!(
        "| {method} | {:.1} | {:.1} | {:.1} | **{all:.0}** | {:.1} | {:.1} | **{command:.0}** |",
        1e6 / network,
        1e6 / all - 1e6 / network,
        1e6 / all,
        1e6 / read,
        1e6 / command,
    )
}

/// The command, built if it is not.
fn binary() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("regretless")
}

fn build() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--release", "--quiet", "-p", "regretless-cli"]).status();
    assert!(built.unwrap().success());
}

pub(crate) fn run() {
    build();
    println!("## Deciding: LP (40,40,20), network 80-128-128-40, 20,000 new rows in random order\n");
    println!("From predictions on, by the number of anchors:\n");
    println!("| trained with | anchors | kept | ms to get ready | breakpoints a row | µs a row | rows/s |");
    println!("|---|---|---|---|---|---|---|");
    let mut steps = Vec::new();
    for method in METHODS {
        let dir = tempfile::tempdir().unwrap();
        let spec = write(dir.path(), SIZE, ROWS, &settings(method));
        let (run, _) = train_new(&spec, &dir.path().join("run"), &mut Silent).unwrap();
        let (model, _) = run.model().unwrap();
        let (_, decider) = run.decider().unwrap();
        let new = dir.path().join("new.csv");
        let features = features(&spec, &new);
        anchors(method, &spec, &decider.card().targets, &model, &model.predict(&features, ROWS.new));
        steps.push(whole(method, &run, &decider, &model, &features, &new));
    }
    println!("\nFrom features to decisions, µs a row of each step:\n");
    println!(
        "| trained with | network | solve | in memory | rows/s | reading CSV | `regretless decide`, CSV to CSV | rows/s |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    steps.iter().for_each(|line| println!("{line}"));
    println!();
}
