//! Training epochs: where their time goes, and Clarabel on the predictions of the same epochs.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use regretless_core::engine::reference;
use regretless_learn::{Epoch, Fit, LearnError, Observer, Recipe};
use regretless_project::{Spec, train_new};

use crate::data::{Rows, Size, write};
use crate::median;

const SIZE: Size = Size { n: 80, hard: 80, soft: 40 };
const ROWS: Rows = Rows { train: 1000, valid: 250, new: 0 };
const SHARPNESS: [f64; 3] = [1.0, 5.0, 25.0];
/// Instances that Clarabel solves after each epoch.
const INSTANCES: usize = 50;

fn settings(k: f64) -> String {
    format!(
        "[surrogate]\nk = {k:?}\n\n[predictor]\nlayers = [128, 128]\n\n\
         [training]\nmethod = \"surrogate-smooth\"\nepochs = 12\nbatch = 125\nstop = \"never\"\n"
    )
}

/// Keeps epochs, and what Clarabel takes for the predictions each of them ends with.
#[derive(Default)]
struct Watch {
    epochs: Vec<Epoch>,
    /// Median µs an instance, for each epoch.
    reference: Vec<f64>,
    /// Seconds between the end of an epoch and of its checkpoint.
    written: Vec<f64>,
    since: Option<Instant>,
}

impl Observer for Watch {
    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        self.epochs.push(epoch.clone());
        self.since = Some(Instant::now());
        Ok(())
    }

    fn checkpoint(&mut self, fit: &mut Fit<'_>) -> Result<(), LearnError> {
        self.written.push(self.since.map_or(0.0, |since| since.elapsed().as_secs_f64()));
        let (task, model) = (fit.task(), fit.model());
        let rows: Vec<usize> =
            task.train().iter().copied().step_by(task.train().len() / INSTANCES).take(INSTANCES).collect();
        let predictions = model.predict(&task.features(&rows), rows.len());
        let mut times = Vec::new();
        for prediction in predictions.chunks_exact(model.width()) {
            let parameters = task.placement().parameters(task.problem(), prediction, &[]);
            let instance = parameters.instance();
            let view = task.problem().view(&instance).unwrap();
            let start = Instant::now();
            black_box(reference::solve(&view));
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
        self.reference.push(median(&times));
        Ok(())
    }
}

/// One line of the table: the median over some epochs.
fn line(k: f64, kind: &str, which: &str, watch: &Watch, epochs: std::ops::Range<usize>) {
    let samples = ROWS.train as f64;
    let over = |f: &dyn Fn(usize) -> f64| median(&epochs.clone().map(f).collect::<Vec<_>>());
    let of = |f: fn(&Epoch) -> f64| over(&|e| f(&watch.epochs[e]) * 1e6 / samples);
    let (network, solve) = (of(|e| e.seconds.network), of(|e| e.seconds.solve));
    let (gradient, both) = (of(|e| e.seconds.gradient), of(|e| e.seconds.solve + e.seconds.gradient));
    let reference = over(&|e| watch.reference[e]);
    println!(
        "| {k} | {kind} | {which} | {network:.1} | {solve:.1} | {gradient:.1} | **{both:.1}** | {:.2} | {:.1} | {reference:.0} | **{:.0}×** | {:.3} |",
        over(&|e| watch.epochs[e].breakpoints),
        over(&|e| watch.written[e] * 1e6 / samples),
        reference / both,
        over(&|e| watch.epochs[e].valid.regret),
    );
}

fn table(k: f64, kind: &str, watch: &Watch) {
    // Epoch 0 only validates.
    line(k, kind, "1", watch, 1..2);
    line(k, kind, "2", watch, 2..3);
    line(k, kind, "3 to 12", watch, 3..watch.epochs.len());
}

fn in_memory(spec: &Spec) -> Watch {
    let mut watch = Watch::default();
    let task = spec.task().unwrap();
    let recipes = Recipe::of(task.settings(), spec.training().method, spec.training().seed);
    Fit::new(&task, &recipes[0], None).unwrap().run(&mut watch).unwrap();
    watch
}

fn as_a_run(spec: &Spec, dir: &Path) -> Watch {
    let mut watch = Watch::default();
    train_new(spec, dir, &mut watch).unwrap();
    watch
}

pub(crate) fn run() {
    println!(
        "## A training epoch: `surrogate-smooth`, LP (80,80,40), 1,000 rows, network 160-128-128-80, batches of 125\n"
    );
    println!(
        "| K | checkpoints | epoch | network µs | solve µs | gradient µs | solve + gradient µs | breakpoints a solve | checkpoint µs | Clarabel µs | ratio | validation regret |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for k in SHARPNESS {
        let dir = tempfile::tempdir().unwrap();
        let spec = write(dir.path(), SIZE, ROWS, &settings(k));
        table(k, "none", &in_memory(&spec));
        table(k, "every epoch", &as_a_run(&spec, &dir.path().join("run")));
    }
    println!();
}
