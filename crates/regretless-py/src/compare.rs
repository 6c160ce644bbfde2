//! Methods side by side.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use regretless_learn::{
    Interrupt, MethodName, Progress, Record, Task, Threads, compare, compare_origins, default_methods,
};
use regretless_project::page::Compared;
use regretless_project::{ProjectError, Spec};

use crate::data::Data;
use crate::error;
use crate::project::Project;
use crate::run::{CORES, watched};

/// What a comparison came to.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Comparison {
    kept: Compared,
    records: String,
}

#[pymethods]
impl Comparison {
    /// Trains and judges; with `folds` on so many rolling origins in place of seeds. `watch(trials, done, method, seed, regret)` is called after every training.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn of(
        py: Python<'_>,
        project: &Bound<'_, Project>,
        data: &Bound<'_, Data>,
        methods: Option<Vec<String>>,
        seeds: Vec<u64>,
        folds: Option<usize>,
        watch: Option<Py<PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        if threads == Some(0) {
            return Err(error::problem("threads is 0: give at least one"));
        }
        let (project, data) = (project.get(), data.get());
        let parsed = |name: &String| name.trim().parse().map_err(|e| error::method(&e));
        let named: Option<Vec<MethodName>> =
            methods.map(|names| names.iter().map(parsed).collect()).transpose()?;
        let interrupt = Interrupt::default();
        let trouble = Mutex::new(None);
        let stop = |error: PyErr| {
            trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            interrupt.request();
        };
        let watcher = Watcher { watch, state: Mutex::default(), stop: &stop };
        let executor = Threads(threads.unwrap_or(*CORES).min(*CORES));
        let done = watched(py, None, stop, || -> Result<_, ProjectError> {
            let task = project.task(data)?;
            let methods = named.unwrap_or_else(|| default_methods(&task));
            let found = match folds {
                None => compare(&task, &methods, &seeds, &executor, &watcher, &interrupt)?,
                Some(folds) => {
                    let origins = project.spec.origins(&data.inner, folds)?;
                    compare_origins(origins, &methods, &executor, &watcher, &interrupt)?
                }
            };
            Ok((task, found))
        })?;
        if let Some(error) = trouble.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        let (task, found) = done.map_err(error::project)?;
        Self::made(&project.spec, &task, found)
    }

    /// The content of `comparison.json`.
    fn json(&self) -> &str {
        self.kept.json()
    }

    /// Every training, as JSON.
    fn records(&self) -> &str {
        &self.records
    }

    /// Writes the page and `comparison.json` into a folder; where the page is.
    fn write(&self, dir: PathBuf) -> PyResult<PathBuf> {
        self.kept.write(&dir).map_err(error::project)
    }
}

impl Comparison {
    /// A table with its page.
    pub(crate) fn made(spec: &Spec, task: &Task, found: regretless_learn::Comparison) -> PyResult<Self> {
        let kept = Compared::new(spec, task, &found, None);
        let records = serde_json::to_string(&found.records).map_err(|e| error::raise("InternalError", e))?;
        Ok(Self { kept, records })
    }
}

/// Shows trainings to Python; an exception there ends the comparison.
struct Watcher<'a, F: Fn(PyErr) + Sync> {
    watch: Option<Py<PyAny>>,
    /// Trainings there are and trainings done.
    state: Mutex<(usize, usize)>,
    stop: &'a F,
}

impl<F: Fn(PyErr) + Sync> Progress for Watcher<'_, F> {
    fn start(&self, trials: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 = trials;
    }

    fn done(&self, record: &Record) {
        let (trials, done) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.1 += 1;
            *state
        };
        let Some(watch) = &self.watch else { return };
        let shown = (trials, done, &record.method, record.seed, record.measures.regret);
        if let Err(error) = Python::attach(|py| watch.call1(py, shown).map(drop)) {
            (self.stop)(error);
        }
    }
}
