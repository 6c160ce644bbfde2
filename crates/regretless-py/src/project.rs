//! Problems with what is predicted of them and how it is learned; problem files and run directories.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use regretless_learn::{Task, Warmup};
use regretless_project::check::{Table, check};
use regretless_project::page::{Finished, runs};
use regretless_project::{Limits, Overrides, ProjectError, Run, Spec};

use crate::arrays::parameter;
use crate::data::{Columns, Data, frame};
use crate::error;
use crate::learner::Learner;
use crate::loss::{GivenTerm, given_terms};
use crate::problem::Problem;
use crate::run::detached;
use crate::stated::{Part, Stated, parts, stated};

/// A setting as Python gives it; `None` for null.
fn of<T: serde::de::DeserializeOwned>(key: &str, value: serde_json::Value) -> PyResult<Option<T>> {
    serde_json::from_value(value).map_err(|e| error::raise("TrainingError", format!("{key}: {e}")))
}

/// A problem file, or a problem in memory with as much as one would say.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Project {
    pub(crate) spec: Spec,
}

#[pymethods]
impl Project {
    /// Reads a problem file. `settings` is a JSON object with what takes the place of its settings.
    #[staticmethod]
    fn read(path: PathBuf, settings: &str) -> PyResult<Self> {
        let wrong = |e: serde_json::Error| error::raise("TrainingError", e);
        let given: serde_json::Value = serde_json::from_str(settings).map_err(wrong)?;
        let one = |key: &str| given.get(key).cloned().unwrap_or_default();
        let k = one("K");
        let k = if k.is_number() { serde_json::Value::Array(vec![k]) } else { k };
        let overrides = Overrides {
            method: of("method", one("method"))?,
            epochs: of("epochs", one("epochs"))?,
            batch: of("batch", one("batch"))?,
            learning_rate: of("learning_rate", one("learning_rate"))?,
            warmup: match one("warmup") {
                serde_json::Value::String(word) => {
                    let wrong = |e| error::raise("TrainingError", format!("warmup: {e}"));
                    Some(word.parse::<Warmup>().map_err(wrong)?)
                }
                epochs => of("warmup", epochs)?.map(Warmup::Epochs),
            },
            mix: of("mix", one("mix"))?,
            seed: of("seed", one("seed"))?,
            k: of("K", k)?,
            layers: of("layers", one("layers"))?,
            data: of("data", one("data"))?,
            forecasts: of("forecasts", one("forecasts"))?,
            features: None,
            baseline: None,
            groups: None,
        };
        let read = || -> Result<Spec, ProjectError> { Ok(Spec::read(path)?.with_overrides(overrides)?) };
        Ok(Self { spec: read().map_err(error::project)? })
    }

    /// A problem in memory; `targets` names what is predicted, `settings` is a JSON object with the sections of problem files.
    #[staticmethod]
    fn of(
        problem: &Bound<'_, Problem>,
        predicted: Vec<String>,
        targets: Option<Vec<String>>,
        settings: &str,
    ) -> PyResult<Self> {
        let parameters = predicted.iter().map(|s| parameter(s)).collect::<PyResult<Vec<_>>>()?;
        let settings = serde_json::from_str(settings).map_err(|e| error::raise("TrainingError", e))?;
        let spec = Spec::in_memory(&problem.get().inner, &parameters, targets.as_deref(), &settings);
        Ok(Self { spec: spec.map_err(|e| error::spec(&e))? })
    }

    /// A problem in memory that places quantities and known numbers, by the names of their columns.
    #[staticmethod]
    fn of_quantities(
        problem: &Bound<'_, Problem>,
        predicted: Vec<String>,
        known: Vec<String>,
        terms: Vec<GivenTerm>,
        settings: &str,
    ) -> PyResult<Self> {
        let settings = serde_json::from_str(settings).map_err(|e| error::raise("TrainingError", e))?;
        let (problem, terms) = (&problem.get().inner, given_terms(&terms)?);
        let spec = Spec::in_memory_quantities(problem, &predicted, &known, &terms, &settings);
        Ok(Self { spec: spec.map_err(|e| error::spec(&e))? })
    }

    /// The problem of a statement in algebra, as `Stated` tells it.
    #[staticmethod]
    fn of_statement(text: String, settings: &str) -> PyResult<Self> {
        let settings = serde_json::from_str(settings).map_err(|e| error::raise("TrainingError", e))?;
        let spec = Spec::parse(text, "the problem", &Limits::default())
            .and_then(|stated| stated.with_settings(&settings))
            .map_err(|e| error::spec(&e))?;
        Ok(Self { spec })
    }

    /// What `Problem` is made from, the problem's name, and what is predicted.
    fn stated<'py>(&self, py: Python<'py>) -> PyResult<Stated<'py>> {
        stated(py, &self.spec)
    }

    /// The predicted parts in the order of the targets.
    fn parts(&self) -> Vec<Part> {
        parts(&self.spec)
    }

    /// The seed of the settings.
    #[getter]
    fn seed(&self) -> u64 {
        self.spec.training().seed
    }

    /// The rows of a frame, or of the tables that the problem file names.
    fn data(&self, columns: Option<Columns<'_>>) -> PyResult<Data> {
        let read = match columns {
            Some(columns) => self.spec.read_frame(&frame(columns)?).map(|(data, _)| data),
            None => self.spec.read_data(),
        };
        Ok(Data { inner: Arc::new(read.map_err(|e| error::spec(&e))?) })
    }

    /// What can be found out before anything is trained, as JSON.
    fn check(&self, py: Python<'_>, columns: Option<Columns<'_>>) -> PyResult<String> {
        let rows = columns.map(frame).transpose()?;
        let table = rows.as_ref().map_or(Table::Named, Table::Frame);
        let report = detached(py, None, || check(&self.spec, table))?.map_err(error::project)?;
        serde_json::to_string(&report).map_err(|e| error::raise("InternalError", e))
    }
}

impl Project {
    /// The problem with its rows, ready to be learned from.
    pub(crate) fn task(&self, data: &Data) -> Result<Task, regretless_learn::LearnError> {
        let (problem, settings) = (self.spec.problem().clone(), self.spec.settings().clone());
        let placement = self.spec.placement(&data.inner.names.targets, &data.inner.known.names);
        let placement = placement.map_err(|error| regretless_learn::LearnError::Data {
            what: error.to_string(),
            hint: error.hint.clone().unwrap_or_default().into(),
        })?;
        Task::new(problem, placement, Arc::clone(&data.inner), settings)
    }
}

/// A run's problem and its model; the model's result is the run's.
type Opened<'py> = (Stated<'py>, Learner);

/// Opens a run directory.
#[pyfunction]
pub(crate) fn read_run(py: Python<'_>, path: PathBuf) -> PyResult<Opened<'_>> {
    let read = || -> Result<_, ProjectError> {
        let run = Run::open(&path)?;
        // A model decides without its epochs.
        let epochs = if run.dir().join("metrics.jsonl").is_file() { run.epochs()? } else { Vec::new() };
        let (spec, decider) = run.decider()?;
        let rivals = run.rivals(&spec)?;
        let learner = Learner::new(&spec, decider, run.outcome()?, epochs, rivals);
        Ok((spec, learner))
    };
    let (spec, learner) = read().map_err(error::project)?;
    Ok((stated(py, &spec)?, learner))
}

/// Writes the page of finished runs into a folder; where it is.
#[pyfunction]
pub(crate) fn report(dirs: Vec<PathBuf>, out: PathBuf) -> PyResult<PathBuf> {
    let write = || -> Result<PathBuf, ProjectError> {
        let read = |dir: &PathBuf| Finished::read(&Run::open(dir)?);
        let shown = dirs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(runs(&shown).write(&out)?.html)
    };
    write().map_err(error::project)
}
