//! The run directory: everything a run leaves behind, whole or not there.
//!
//! ```text
//! config.toml         the problem file with every default spelled out: `regretless train config.toml` repeats the run
//! metrics.jsonl       one line an epoch
//! model.safetensors   the predictor that was kept
//! result.json         what was chosen and what it achieves
//! environment.json    version, machine, threads, when
//! checkpoint          where training stands, for --resume
//! rivals/             those it is compared with: the constant predictor, the best that does not look at decisions
//! stages/             predictors that were finished on the way
//! events.out.tfevents.…   the metrics for TensorBoard
//! ```

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use regretless_core::Placement;
use regretless_learn::{Content, Decider, Epoch, Model, ModelCard, Outcome, Stages};
use serde::{Deserialize, Serialize};

use crate::Spec;
use crate::error::{Place, ProjectError, RunTrouble, SpecError, Trouble};

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
const RIVALS: &str = "rivals";
const RESULT: &str = "result.json";

impl Run {
    /// Starts a run in a new or empty directory.
    pub fn create(dir: &Path, spec: &Spec) -> Result<Self, ProjectError> {
        if let Ok(mut entries) = fs::read_dir(dir)
            && entries.any(|e| e.is_ok_and(|e| e.file_name() != "lock"))
        {
            let resumable = dir.join(ENVIRONMENT).is_file();
            return Err(ProjectError::run(dir, RunTrouble::NotEmpty { resumable }));
        }
        fs::create_dir_all(dir).map_err(ProjectError::io(dir))?;
        let lock = lock(dir)?;
        spec.write(dir, CONFIG)?;
        let run = Self { dir: dir.to_owned(), _lock: Some(lock) };
        // Last: a directory with this file is a run.
        run.write_json(ENVIRONMENT, &Environment::here())?;
        Ok(run)
    }

    /// Writes down a training that is over as `train` would have left it, in a new or empty directory.
    pub fn keep(
        dir: &Path,
        spec: &Spec,
        decider: &Decider,
        rivals: &[(String, Decider)],
        outcome: &Outcome,
        epochs: &[Epoch],
    ) -> Result<Self, ProjectError> {
        let run = Self::create(dir, spec)?;
        run.stages()?.write_metrics(epochs)?;
        let path = dir.join(MODEL);
        regretless_learn::write_whole(&path, &decider.to_bytes()?)?;
        let folder = run.rivals_folder()?;
        for (i, (_, rival)) in rivals.iter().enumerate() {
            regretless_learn::write_whole(&rival_at(&folder, i), &rival.to_bytes()?)?;
        }
        run.write_outcome(outcome)?;
        Ok(run)
    }

    /// Takes up a run where it was left. Its own `config.toml` says how it goes on.
    pub fn resume(dir: &Path) -> Result<Self, ProjectError> {
        let run = Self::open(dir)?;
        let lock = lock(dir)?;
        Ok(Self { _lock: Some(lock), ..run })
    }

    /// Opens a run to read from it.
    pub fn open(dir: &Path) -> Result<Self, ProjectError> {
        let path = dir.join(ENVIRONMENT);
        if !path.is_file() {
            let trouble = if dir.is_dir() { RunTrouble::NotARun } else { RunTrouble::NoDirectory };
            return Err(ProjectError::run(dir, trouble));
        }
        let text = fs::read(&path).map_err(ProjectError::io(&path))?;
        let environment: Result<serde_json::Value, _> = serde_json::from_slice(&text);
        let format = environment.ok().and_then(|e| e.get("format")?.as_u64());
        if format != Some(u64::from(FORMAT)) {
            return Err(ProjectError::run(dir, RunTrouble::Format { found: format, read: FORMAT }));
        }
        Ok(Self { dir: dir.to_owned(), _lock: None })
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The problem file of the run.
    pub fn spec(&self) -> Result<Spec, ProjectError> {
        Ok(Spec::read(self.dir.join(CONFIG))?)
    }

    /// Where and when the run was made.
    pub fn environment(&self) -> Result<Environment, ProjectError> {
        self.json(ENVIRONMENT)
    }

    /// The trained model.
    pub fn model(&self) -> Result<(Model, ModelCard), ProjectError> {
        let (_, model, card) = self.model_for(&self.spec()?)?;
        Ok((model, card))
    }

    fn model_for(&self, spec: &Spec) -> Result<(Placement, Model, ModelCard), ProjectError> {
        let path = self.dir.join(MODEL);
        if !path.is_file() {
            return Err(ProjectError::run(&self.dir, RunTrouble::NoModel));
        }
        let card = ModelCard::read(&path)?;
        let placement = spec.placement(&card.targets, &card.known).map_err(|error| {
            let trouble = Trouble::Misfit(format!("the model is of another problem: {}", error.problem));
            SpecError::new(Place::File(path.clone()), trouble).hint("train again")
        })?;
        let (model, card) = Model::read(&path, spec.problem(), &placement, spec.predictor())?;
        Ok((placement, model, card))
    }

    /// The problem file of the run, and the trained model ready to decide. The file's patterns are then the columns that the
    /// model was trained on: another table may have them in another order.
    pub fn decider(&self) -> Result<(Spec, Decider), ProjectError> {
        let mut spec = self.spec()?;
        let (placement, model, card) = self.model_for(&spec)?;
        spec.name_columns(&card.targets, &card.known);
        let decider = Decider::new(spec.problem().clone(), placement, model, card)?;
        Ok((spec, decider))
    }

    /// Those that the run's model is compared with, ready to decide; none in older runs.
    pub fn rivals(&self, spec: &Spec) -> Result<Vec<(String, Decider)>, ProjectError> {
        let dir = self.dir.join(RIVALS);
        let Ok(entries) = fs::read_dir(&dir) else { return Ok(Vec::new()) };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "safetensors"));
        paths.sort();
        let open = |path: &PathBuf| {
            let card = ModelCard::read(path)?;
            let placement = spec.placement(&card.targets, &card.known)?;
            let (model, card) = Model::read(path, spec.problem(), &placement, spec.predictor())?;
            let name = card.method.clone();
            Ok((name, Decider::new(spec.problem().clone(), placement, model, card)?))
        };
        paths.iter().map(open).collect()
    }

    /// Writes down those that the model is compared with.
    pub(crate) fn write_rivals(&self, rivals: &[(String, Model, ModelCard)]) -> Result<(), ProjectError> {
        let folder = self.rivals_folder()?;
        for (i, (_, model, card)) in rivals.iter().enumerate() {
            model.write(&rival_at(&folder, i), card)?;
        }
        Ok(())
    }

    fn rivals_folder(&self) -> Result<PathBuf, ProjectError> {
        let folder = self.dir.join(RIVALS);
        fs::create_dir_all(&folder).map_err(ProjectError::io(&folder))?;
        Ok(folder)
    }

    /// Of trees the share of each feature in what their splits gained; none of other predictors, or without a model.
    pub(crate) fn importance(&self) -> Vec<(String, f64)> {
        let card = ModelCard::read(&self.dir.join(MODEL));
        card.map_or_else(|_| Vec::new(), |card| card.features.into_iter().zip(card.importance).collect())
    }

    /// The hash of all that decides what the run decides: its problem file and its model.
    pub fn content(&self) -> Result<String, ProjectError> {
        let mut content = Content::default();
        for name in [CONFIG, MODEL] {
            let path = self.dir.join(name);
            content = content.bytes(&fs::read(&path).map_err(ProjectError::io(&path))?);
        }
        Ok(content.hash())
    }

    /// What training came to; `None` if it was not trained to its end.
    pub fn outcome(&self) -> Result<Option<Outcome>, ProjectError> {
        self.dir.join(RESULT).is_file().then(|| self.json(RESULT)).transpose()
    }

    pub(crate) fn write_outcome(&self, outcome: &Outcome) -> Result<(), ProjectError> {
        self.write_json(RESULT, outcome)
    }

    /// Where the training is written down while it goes on.
    pub fn stages(&self) -> Result<Stages, ProjectError> {
        Ok(Stages::at(&self.dir)?)
    }

    /// Every epoch of the run.
    pub fn epochs(&self) -> Result<Vec<Epoch>, ProjectError> {
        Ok(Stages::epochs(&self.dir)?)
    }

    /// Reads a JSON file of the run.
    pub fn json<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<T, ProjectError> {
        let path = self.dir.join(name);
        let text = fs::read(&path).map_err(ProjectError::io(&path))?;
        serde_json::from_slice(&text)
            .map_err(|e| ProjectError::run(&path, RunTrouble::Unreadable(e.to_string())))
    }

    /// Writes a JSON file of the run.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), ProjectError> {
        let path = self.dir.join(name);
        let mut text = serde_json::to_vec_pretty(value)
            .map_err(|e| ProjectError::run(&path, RunTrouble::Unwritable(e.to_string())))?;
        text.push(b'\n');
        Ok(regretless_learn::write_whole(&path, &text)?)
    }

    pub(crate) fn write_model(&self, model: &Model, card: &ModelCard) -> Result<(), ProjectError> {
        Ok(model.write(&self.dir.join(MODEL), card)?)
    }
}

fn rival_at(folder: &Path, i: usize) -> PathBuf {
    folder.join(format!("{i}.safetensors"))
}

fn lock(dir: &Path) -> Result<File, ProjectError> {
    let path = dir.join("lock");
    let file = File::create(&path).map_err(ProjectError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ProjectError::run(dir, RunTrouble::Busy)),
        Err(TryLockError::Error(source)) => Err(ProjectError::io(&path)(source)),
    }
}
