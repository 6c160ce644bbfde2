//! The run directory: everything a run leaves behind, whole or not there.
//!
//! ```text
//! config.toml         the problem file with every default spelled out: `regretless train config.toml` repeats the run
//! metrics.jsonl       one line an epoch
//! model.safetensors   the predictor that was kept
//! result.json         what was chosen and what it achieves
//! environment.json    version, machine, threads, when
//! checkpoint          where training stands, for --resume
//! stages/             predictors that were finished on the way
//! events.out.tfevents.…   the metrics for TensorBoard
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use regretless_project::Spec;
use serde::{Deserialize, Serialize};

use crate::epoch::Epoch;
use crate::error::LearnError;
use crate::files;
use crate::model::Model;
use crate::model_file::{self, ModelCard};
use crate::tensorboard::{EventWriter, event_files};

/// Raised when the layout of run directories changes.
const FORMAT: u32 = 1;

/// A run directory.
#[derive(Debug)]
pub struct Run {
    dir: PathBuf,
    /// Held while the process lives, so that two do not write the same run.
    _lock: Option<File>,
}

/// Where and when a run was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Format of the run directory.
    pub format: u32,
    /// Version of regretless.
    pub version: String,
    /// Operating system and processor.
    pub system: String,
    /// Threads for optimisation problems.
    pub threads: usize,
    /// Start, in seconds since 1970.
    pub started: u64,
    /// The command line.
    pub command: Vec<String>,
}

impl Environment {
    /// This process.
    pub fn here() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            threads: rayon::current_num_threads(),
            started: since.map_or(0, |d| d.as_secs()),
            command: std::env::args().collect(),
        }
    }
}

const CONFIG: &str = "config.toml";
const ENVIRONMENT: &str = "environment.json";
const MODEL: &str = "model.safetensors";

impl Run {
    /// Starts a run in a new or empty directory.
    pub fn create(dir: &Path, spec: &Spec) -> Result<Self, LearnError> {
        if let Ok(mut entries) = fs::read_dir(dir)
            && entries.any(|e| e.is_ok_and(|e| e.file_name() != "lock"))
        {
            let hint = if dir.join(ENVIRONMENT).is_file() {
                "take it up again with --resume, or choose another directory with --out"
            } else {
                "choose another directory with --out"
            };
            return Err(LearnError::run(dir, "the directory is not empty", hint));
        }
        fs::create_dir_all(dir.join("stages")).map_err(LearnError::io(dir))?;
        let lock = lock(dir)?;
        spec.write(dir, CONFIG)?;
        let environment = serde_json::to_vec_pretty(&Environment::here()).unwrap_or_default();
        // Last: a directory with this file is a run.
        files::write(&dir.join(ENVIRONMENT), &environment)?;
        Ok(Self { dir: dir.to_owned(), _lock: Some(lock) })
    }

    /// Takes up a run where it was left. Its own `config.toml` says how it goes on.
    pub fn resume(dir: &Path) -> Result<Self, LearnError> {
        let run = Self::open(dir)?;
        let lock = lock(dir)?;
        Ok(Self { _lock: Some(lock), ..run })
    }

    /// Opens a run to read from it.
    pub fn open(dir: &Path) -> Result<Self, LearnError> {
        let path = dir.join(ENVIRONMENT);
        if !path.is_file() {
            let what =
                if dir.is_dir() { "this is not a run directory" } else { "there is no such directory" };
            return Err(LearnError::run(dir, what, "`regretless train` makes one"));
        }
        let text = files::read(&path)?;
        let environment: Result<serde_json::Value, _> = serde_json::from_slice(&text);
        let format = environment.ok().and_then(|e| e.get("format")?.as_u64());
        if format != Some(u64::from(FORMAT)) {
            let found = format.map_or_else(|| "an unknown format".into(), |f| format!("format {f}"));
            let what = format!("the run has {found}, this program reads format {FORMAT}");
            return Err(LearnError::run(dir, what, "use the version that made it, or train again"));
        }
        Ok(Self { dir: dir.to_owned(), _lock: None })
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The problem file of the run.
    pub fn spec(&self) -> Result<Spec, LearnError> {
        Ok(Spec::read(self.dir.join(CONFIG))?)
    }

    /// Where and when the run was made.
    pub fn environment(&self) -> Result<Environment, LearnError> {
        self.json(ENVIRONMENT)
    }

    /// The trained model.
    pub fn model(&self) -> Result<(Model, ModelCard), LearnError> {
        let path = self.dir.join(MODEL);
        if !path.is_file() {
            let hint = format!("finish the training: regretless train --resume {}", self.dir.display());
            return Err(LearnError::run(&self.dir, "the run has no model yet", hint));
        }
        let (model, card, _) = model_file::read(&path, &self.spec()?)?;
        Ok((model, card))
    }

    /// Every epoch of the run.
    pub fn epochs(&self) -> Result<Vec<Epoch>, LearnError> {
        let path = self.dir.join("metrics.jsonl");
        let text = String::from_utf8_lossy(&files::read(&path)?).into_owned();
        // A line cut off by a kill is no line.
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Reads a JSON file of the run.
    pub fn json<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<T, LearnError> {
        let path = self.dir.join(name);
        let text = files::read(&path)?;
        serde_json::from_slice(&text)
            .map_err(|e| LearnError::run(&path, format!("the file cannot be read: {e}"), "train again"))
    }

    /// Writes a JSON file of the run.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), LearnError> {
        let path = self.dir.join(name);
        let mut text = serde_json::to_vec_pretty(value)
            .map_err(|e| LearnError::run(&path, format!("the file cannot be written: {e}"), ""))?;
        text.push(b'\n');
        files::write(&path, &text)
    }

    pub(crate) fn write_model(&self, model: &Model, card: &ModelCard) -> Result<(), LearnError> {
        model_file::write(&self.dir.join(MODEL), model, card, &[])
    }

    pub(crate) fn checkpoint(&self) -> PathBuf {
        self.dir.join("checkpoint")
    }

    pub(crate) fn stage(&self, number: usize) -> PathBuf {
        self.dir.join("stages").join(format!("{number:02}.safetensors"))
    }

    /// The epochs that stages and checkpoint vouch for, in order: what a resumed run goes on from.
    pub(crate) fn recorded(&self) -> Result<Vec<Epoch>, LearnError> {
        let mut epochs = Vec::new();
        let mut number = 0;
        while self.stage(number).is_file() {
            epochs.extend(crate::study::stage_history(&self.stage(number))?);
            number += 1;
        }
        if self.checkpoint().is_file() {
            let (stage, history) = crate::checkpoint::history(&self.checkpoint())?;
            if stage == number {
                epochs.extend(history);
            } else {
                // Killed after a stage was finished and before its checkpoint was removed.
                fs::remove_file(self.checkpoint()).map_err(LearnError::io(&self.checkpoint()))?;
            }
        }
        Ok(epochs)
    }

    /// The run's events for TensorBoard, without those after the first `epochs`.
    pub(crate) fn events(&self, epochs: u64) -> Result<EventWriter, LearnError> {
        let known = event_files(&self.dir)?;
        Ok(match known.last() {
            Some(path) if epochs > 0 => EventWriter::resume(path, epochs - 1)?,
            _ => {
                known.iter().for_each(|path| drop(fs::remove_file(path)));
                EventWriter::create(&self.dir, "regretless", now())?
            }
        })
    }

    /// Makes `metrics.jsonl` hold exactly these epochs.
    pub(crate) fn write_metrics(&self, epochs: &[Epoch]) -> Result<(), LearnError> {
        let lines: String =
            epochs.iter().filter_map(|e| serde_json::to_string(e).ok()).map(|line| line + "\n").collect();
        files::write(&self.dir.join("metrics.jsonl"), lines.as_bytes())
    }

    /// Adds a line to `metrics.jsonl`.
    pub(crate) fn add_metrics(&self, epoch: &Epoch) -> Result<(), LearnError> {
        let path = self.dir.join("metrics.jsonl");
        let line = serde_json::to_string(epoch).unwrap_or_default() + "\n";
        let mut file =
            OpenOptions::new().append(true).create(true).open(&path).map_err(LearnError::io(&path))?;
        file.write_all(line.as_bytes()).map_err(LearnError::io(&path))
    }
}

fn now() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0.0, |d| d.as_secs_f64())
}

/// An epoch as TensorBoard scalars.
pub(crate) fn record(events: &mut EventWriter, step: u64, epoch: &Epoch) -> Result<(), LearnError> {
    let scalars = [
        ("train/loss", epoch.loss),
        ("train/gradient_norm", epoch.gradient),
        ("train/zero_gradients", epoch.zero_gradients),
        ("train/learning_rate", epoch.rate),
        ("valid/regret", epoch.valid.regret),
        ("valid/cvar90", epoch.valid.cvar90),
        ("valid/mse", epoch.valid.mse),
        ("seconds/network", epoch.seconds.network),
        ("seconds/solve", epoch.seconds.solve),
        ("seconds/gradient", epoch.seconds.gradient),
    ];
    let time = now();
    for (tag, value) in scalars {
        events.scalar(&format!("{tag}/{}", epoch.stage), step, value, time)?;
    }
    Ok(events.flush()?)
}

fn lock(dir: &Path) -> Result<File, LearnError> {
    let path = dir.join("lock");
    let file = File::create(&path).map_err(LearnError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(LearnError::run(dir, "another process is working on this run", "wait for it, or stop it"))
        }
        Err(TryLockError::Error(source)) => Err(LearnError::Io { path, source }),
    }
}
