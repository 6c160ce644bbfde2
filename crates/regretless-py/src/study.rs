//! Comparisons over many processes: a folder with a plan and results.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use regretless_learn::{Interrupt, MethodName, Threads, default_methods};
use regretless_project::{ProjectError, Study as Planned};

use crate::compare::Comparison;
use crate::data::Data;
use crate::error;
use crate::project::Project;
use crate::run::{detached, watched};

/// A trial: hash, method, seed, and whether it is done.
type Trial = (String, String, u64, bool);

/// A comparison that was planned.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Study {
    inner: Planned,
}

#[pymethods]
impl Study {
    /// Writes the trials into a folder; `in_memory` data go there, too.
    #[staticmethod]
    fn plan(
        py: Python<'_>,
        dir: PathBuf,
        project: &Bound<'_, Project>,
        data: &Bound<'_, Data>,
        in_memory: bool,
        methods: Option<Vec<String>>,
        seeds: Vec<u64>,
    ) -> PyResult<Self> {
        let (project, data) = (project.get(), data.get());
        let parsed = |name: &String| name.trim().parse().map_err(|e| error::method(&e));
        let named: Option<Vec<MethodName>> =
            methods.map(|names| names.iter().map(parsed).collect()).transpose()?;
        let planned = detached(py, None, || {
            let task = project.task(data)?;
            let methods = named.unwrap_or_else(|| default_methods(&task));
            Planned::plan(&dir, &project.spec, &task, in_memory, &methods, &seeds)
        })?;
        Ok(Self { inner: planned.map_err(error::project)? })
    }

    /// Opens a folder; what changed since it was planned is refused.
    #[staticmethod]
    fn open(py: Python<'_>, dir: PathBuf, threads: Option<usize>) -> PyResult<Self> {
        let opened = detached(py, threads, || Planned::open(&dir))?;
        Ok(Self { inner: opened.map_err(error::project)? })
    }

    /// The trials, in the order of the plan.
    fn trials(&self) -> Vec<Trial> {
        let folder = self.inner.folder();
        let one = |i: usize| {
            let trial = self.inner.trial(i);
            (folder.hash(i).to_owned(), trial.method.to_string(), trial.seed, folder.is_done(i))
        };
        (0..folder.len()).map(one).collect()
    }

    /// Does a trial on one thread, if it is not done, and writes its result down; its regret, or nothing if it was done before.
    #[pyo3(name = "do")]
    fn work(&self, py: Python<'_>, trial: &str) -> PyResult<Option<f64>> {
        let i = self.inner.folder().find(trial).map_err(|e| error::project(ProjectError::from(e)))?;
        let interrupt = Interrupt::default();
        let (trouble, came) = (Mutex::new(None), Mutex::new(Ok(None)));
        let stop = |error: PyErr| {
            trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            interrupt.request();
        };
        let done = watched(py, Some(1), stop, || {
            self.inner.run(&[i], &Threads(1), &interrupt, &|_, done| {
                let done = done.map(|record| Some(record.measures.regret));
                *came.lock().unwrap_or_else(PoisonError::into_inner) = done;
            })
        })?;
        if let Some(error) = trouble.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        done.map_err(error::project)?;
        came.into_inner().unwrap_or_else(PoisonError::into_inner).map_err(error::training)
    }

    /// The table of what is done; nothing if no seed is whole.
    fn table(&self, py: Python<'_>) -> PyResult<Option<Comparison>> {
        let found = detached(py, None, || self.inner.table())?.map_err(error::project)?;
        if found.rows.is_empty() {
            return Ok(None);
        }
        Comparison::made(self.inner.spec(), self.inner.task(), found).map(Some)
    }
}
