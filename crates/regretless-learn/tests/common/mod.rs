//! Small projects on disk, and training on them.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use regretless_learn::{Chosen, Epoch, LearnError, Model, Silent, Task, Trainer, Weights, stream, train};
use regretless_project::{Overrides, ProjectError, Run, Spec};
use serde_json::Value;
use tempfile::TempDir;

/// A problem file and its tables in a folder that is gone when the test is.
pub(crate) struct Project(TempDir);

impl Project {
    pub(crate) fn new(problem: &str, table: &str) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.write("problem.toml", problem);
        project.write("history.csv", table);
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn spec(&self) -> Spec {
        Spec::read(self.path("problem.toml")).unwrap_or_else(|e| panic!("{e}"))
    }

    pub(crate) fn task(&self) -> Task {
        self.try_task().unwrap_or_else(|e| panic!("{e}"))
    }

    pub(crate) fn try_task(&self) -> Result<Task, ProjectError> {
        self.spec().task()
    }

    /// The problem file with another method.
    pub(crate) fn with_method(&self, method: &str) -> Spec {
        self.with(Overrides { method: Some(method.into()), ..Overrides::default() })
    }

    pub(crate) fn with(&self, overrides: Overrides) -> Spec {
        self.spec().with_overrides(overrides).unwrap_or_else(|e| panic!("{e}"))
    }
}

/// Trains without a run directory.
pub(crate) fn fit(task: &Task, method: &str) -> Result<Chosen, LearnError> {
    let mut silent = Silent;
    let mut trainer = Trainer::new(task, None, &mut silent)?;
    train(&mut trainer, method.parse().unwrap(), task.settings().training.seed)
}

/// The epochs of the model that was kept.
pub(crate) fn history(task: &Task, method: &str) -> Vec<Epoch> {
    fit(task, method).unwrap_or_else(|e| panic!("{method}: {e}")).candidate.fitted.history
}

pub(crate) const PRODUCTS: [&str; 4] = ["a", "b", "c", "d"];

/// An LP with two hard rows and a soft one, whose gains are predicted.
pub(crate) const LP: &str = r#"
[problem]
variables = ["a", "b", "c", "d"]

[objective]
linear = { predict = "v_*" }

[[soft]]
name = "space"
rows = [[1.0, 0.5, 1.5, 1.0]]
limit = 4.0
over = 0.7

[[hard]]
name = "hours"
rows = [[1.0, 2.0, 1.0, 0.5], [0.5, 1.0, 2.0, 1.5]]
at_most = [5.0, 6.0]

[bounds]
upper = 3.0

[data]
file = "history.csv"
features = ["p", "q", "r"]
"#;

/// [`LP`] with a linear predictor, 150 rows and the given settings of training.
pub(crate) fn lp(training: &str) -> Project {
    lp_with("[predictor]\nkind = \"linear\"\n", training)
}

/// [`LP`] with sections of its own.
pub(crate) fn lp_with(sections: &str, training: &str) -> Project {
    Project::new(&format!("{LP}{sections}\n[training]\n{training}\n"), &lp_table(150, 1))
}

/// Rows for [`LP`]: gains that a linear predictor gets half right.
pub(crate) fn lp_table(rows: usize, seed: u64) -> String {
    let mut rng = stream(seed, 0, 0);
    let mut table = String::from("p,q,r,v_a,v_b,v_c,v_d\n");
    for _ in 0..rows {
        let x: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.0..=1.0));
        let v = lp_gains(x).map(|v| v + rng.random_range(-0.1..=0.1));
        writeln!(table, "{},{},{},{},{},{},{}", x[0], x[1], x[2], v[0], v[1], v[2], v[3]).unwrap();
    }
    table
}

fn lp_gains([p, q, r]: [f64; 3]) -> [f64; 4] {
    [
        1.5 + 1.2 * p - 0.4 * q + 0.8 * p * q,
        1.8 - 0.7 * p + 0.9 * r - 0.6 * q * r,
        1.6 + 1.1 * q + 0.5 * p * p,
        1.2 - 0.8 * r + 0.6 * q - 0.9 * p * r,
    ]
}

/// Eight jobs of which three are done, at costs (3 + bᵀξ/2)⁸·noise for four features ξ and b of zeros and ones; with sections of its
/// own.
pub(crate) fn skewed(rows: usize, sections: &str) -> Project {
    let mut rng = stream(5, 0, 0);
    let names: Vec<String> = (0..8).map(|k| format!("c_{k}")).collect();
    let mut table = format!("p,q,r,s,{}\n", names.join(","));
    for _ in 0..rows {
        let x: [f64; 4] = std::array::from_fn(|_| normal(&mut rng));
        let mut cells: Vec<String> = x.iter().map(ToString::to_string).collect();
        for k in 0..8 {
            let chosen = |j: &usize| (k + 1) * (j + 3) % 5 < 3;
            let sum: f64 = (0..4).filter(chosen).map(|j| x[j]).sum();
            cells.push(((3.0 + sum / 2.0).powi(8) * rng.random_range(0.5..1.5) + 1.0).to_string());
        }
        writeln!(table, "{}", cells.join(",")).unwrap();
    }
    let list = |of: &dyn Fn(usize) -> String| (0..8).map(of).collect::<Vec<_>>().join(", ");
    let problem = format!(
        "[problem]\nsense = \"min\"\nvariables = [{}]\n[objective]\nlinear = {{ predict = \"c_*\" }}\n[[hard]]\nname = \"three\"\n\
         rows = [[{}]]\nequals = 3.0\n[bounds]\nupper = 1.0\n[data]\nfile = \"history.csv\"\nfeatures = [\"p\", \"q\", \"r\", \
         \"s\"]\n{sections}",
        list(&|k| format!("\"{k}\"")),
        list(&|_| "1.0".into())
    );
    Project::new(&problem, &table)
}

/// A standard normal number.
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (rng.random_range(f64::EPSILON..1.0), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Epochs as text, number by number and without the clock.
pub(crate) fn bare(epochs: &[Epoch]) -> Vec<String> {
    let timeless = |e: &Epoch| Epoch { seconds: regretless_learn::Seconds::default(), ..e.clone() };
    epochs.iter().map(|e| serde_json::to_string(&timeless(e)).unwrap()).collect()
}

/// A JSON value without anything called `seconds`.
pub(crate) fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.remove("seconds");
            for entry in map.values_mut() {
                *entry = timeless(entry.take());
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|entry| *entry = timeless(entry.take())),
        _ => {}
    }
    value
}

/// Everything of a finished run that must not depend on the clock: epochs, results, model.
pub(crate) fn essence(dir: &Path) -> (Vec<String>, String, Vec<u8>) {
    let run = Run::open(dir).unwrap_or_else(|e| panic!("{e}"));
    let lines = fs::read_to_string(dir.join("metrics.jsonl")).unwrap();
    let epochs = run.epochs().unwrap();
    assert_eq!(lines.lines().count(), epochs.len(), "every line can be read");
    let result: Value = run.json("result.json").unwrap();
    let model = fs::read(dir.join("model.safetensors")).unwrap();
    (bare(&epochs), serde_json::to_string_pretty(&timeless(result)).unwrap(), model)
}

/// Copies a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// One good, demand = 10 + 3f + noise; a unit too many costs 1, a unit too few 3.
pub(crate) const NEWSVENDOR: &str = r#"
[problem]
sense = "min"
variables = ["order"]

[[soft]]
name = "demand"
rows = [[1.0]]
limit = { predict = ["demand"] }
over = 1.0
under = 3.0

[[hard]]
name = "shelf"
rows = [[1.0]]
at_most = 40.0

[data]
file = "history.csv"

[predictor]
kind = "linear"
"#;

/// [`NEWSVENDOR`] with normal noise of deviation 2.
pub(crate) fn newsvendor(training: &str, rows: usize) -> Project {
    let mut rng = stream(77, 0, 0);
    let mut table = String::from("f,demand\n");
    for _ in 0..rows {
        let f = rng.random_range(-1.0..=1.0);
        writeln!(table, "{f},{}", 10.0 + 3.0 * f + 2.0 * normal(&mut rng)).unwrap();
    }
    Project::new(&format!("{NEWSVENDOR}\n[training]\nlearning_rate = 0.05\n{training}\n"), &table)
}

/// The weights of a model's only predictor.
pub(crate) fn weights(model: &Model) -> Vec<&Weights> {
    model.members[0].descent().unwrap().weights()
}

/// The residuals of a model whose scenarios are its prediction plus these.
pub(crate) fn residuals(model: &Model) -> Vec<f64> {
    match model.law() {
        Some(regretless_core::Law::Shift { residuals, .. }) => residuals,
        other => panic!("{other:?}"),
    }
}
