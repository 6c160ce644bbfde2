//! A training written down while it goes on: finished stages, a checkpoint, every epoch.
//!
//! ```text
//! metrics.jsonl           one line an epoch
//! checkpoint              where training stands
//! stages/                 predictors that were finished on the way
//! cut.json                after how many rungs the time of a search was up
//! events.out.tfevents.…   the metrics for TensorBoard
//! ```

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::LearnError;
use crate::files;
use crate::tensorboard::{EventWriter, event_files};
use crate::train::epoch::Epoch;

const METRICS: &str = "metrics.jsonl";
const CUT: &str = "cut.json";

/// Where a search was cut.
#[derive(Serialize, Deserialize)]
struct Cut {
    rungs: usize,
}

/// The directory in which a training is written down; what it has finished is not trained again.
#[derive(Clone, Debug)]
pub struct Stages {
    dir: PathBuf,
}

impl Stages {
    /// In a directory that is there or can be made.
    pub fn at(dir: &Path) -> Result<Self, LearnError> {
        fs::create_dir_all(dir.join("stages")).map_err(LearnError::io(dir))?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// Every epoch that was written down in a directory.
    pub fn epochs(dir: &Path) -> Result<Vec<Epoch>, LearnError> {
        let text = files::read(&dir.join(METRICS))?;
        // A line cut off by a kill is no line.
        Ok(String::from_utf8_lossy(&text)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect())
    }

    pub(crate) fn checkpoint(&self) -> PathBuf {
        self.dir.join("checkpoint")
    }

    pub(crate) fn stage(&self, number: usize) -> PathBuf {
        self.dir.join("stages").join(format!("{number:02}.safetensors"))
    }

    /// Removes a stage and all after it, and what was being trained.
    pub(crate) fn forget_from(&self, number: usize) -> Result<(), LearnError> {
        let mut paths = Vec::new();
        while self.stage(number + paths.len()).is_file() {
            paths.push(self.stage(number + paths.len()));
        }
        // The last one first: those that are there follow one another, whenever the process is killed.
        paths.push(self.checkpoint());
        for path in paths.into_iter().rev().filter(|path| path.is_file()) {
            fs::remove_file(&path).map_err(LearnError::io(&path))?;
        }
        Ok(())
    }

    /// The rungs after which a search was cut.
    pub(crate) fn cut(&self) -> Result<Option<usize>, LearnError> {
        let path = self.dir.join(CUT);
        if !path.is_file() {
            return Ok(None);
        }
        let cut: Cut = serde_json::from_slice(&files::read(&path)?).map_err(|e| {
            LearnError::run(
                &path,
                format!("it does not say where the search was cut: {e}"),
                "start a new run directory",
            )
        })?;
        Ok(Some(cut.rungs))
    }

    /// Writes down that a search was cut after so many rungs.
    pub(crate) fn write_cut(&self, rungs: usize) -> Result<(), LearnError> {
        let path = self.dir.join(CUT);
        let text = serde_json::to_string(&Cut { rungs })
            .map_err(|e| LearnError::run(&path, format!("the cut cannot be written: {e}"), ""))?;
        files::write(&path, text.as_bytes())
    }

    /// The epochs that stages and checkpoint vouch for, in order: what a resumed run goes on from.
    pub(crate) fn recorded(&self) -> Result<Vec<Epoch>, LearnError> {
        let mut epochs = Vec::new();
        let mut number = 0;
        while self.stage(number).is_file() {
            epochs.extend(crate::select::trainer::stage_history(&self.stage(number))?);
            number += 1;
        }
        if self.checkpoint().is_file() {
            let (stage, history) = crate::train::checkpoint::history(&self.checkpoint())?;
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
    pub fn write_metrics(&self, epochs: &[Epoch]) -> Result<(), LearnError> {
        let lines: String =
            epochs.iter().filter_map(|e| serde_json::to_string(e).ok()).map(|line| line + "\n").collect();
        files::write(&self.dir.join(METRICS), lines.as_bytes())
    }

    /// Adds a line to `metrics.jsonl`.
    pub(crate) fn add_metrics(&self, epoch: &Epoch) -> Result<(), LearnError> {
        let path = self.dir.join(METRICS);
        let line = serde_json::to_string(epoch)
            .map_err(|e| LearnError::run(&path, format!("the epoch cannot be written: {e}"), ""))?;
        let mut file =
            OpenOptions::new().append(true).create(true).open(&path).map_err(LearnError::io(&path))?;
        file.write_all((line + "\n").as_bytes()).map_err(LearnError::io(&path))
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
