//! Training, and what was trained.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use regretless_core::{Decision, Layout, Parameter};
use regretless_learn::{
    Dataset, Decider, Epoch, LearnError, MethodName, Names, Observer, Part, Setting, Settings, Task, Trainer,
    train,
};
use regretless_project::{SpecError, settings_of};

use crate::arrays::{flat, parameter, table};
use crate::error;
use crate::problem::Problem;
use crate::run::{detached, watched};

/// A predictor that decides.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Learner {
    decider: Decider,
    /// What was chosen, over what, by how much.
    #[pyo3(get)]
    sentence: String,
    /// The method of the model that was kept.
    #[pyo3(get)]
    kept: String,
    /// What in the data should not be trusted unseen; nothing after `from_bytes`.
    #[pyo3(get)]
    warnings: Vec<String>,
}

fn failed(error: LearnError) -> PyErr {
    let hint = error.hint().map(|hint| hint.tell(|Setting { key, value, .. }| format!("`{key}={value}`")));
    error::raise("TrainingError", error::with_hint(&error, hint))
}

/// A setting that cannot be, by the name of its argument.
fn refused(error: &SpecError) -> PyErr {
    let key = error.place.key().unwrap_or_default();
    let name = ARGUMENTS
        .iter()
        .find(|(from, _)| *from == key)
        .map_or_else(|| key.split_once('.').map_or(key, |(_, name)| name), |(_, argument)| argument);
    error::raise("TrainingError", error::with_hint(&format!("{name}: {}", error.problem), error.hint.clone()))
}

/// Settings whose argument has another name.
const ARGUMENTS: [(&str, &str); 6] = [
    ("surrogate.k", "K"),
    ("predictor.kind", "predictor"),
    ("predictor.quadratic", "embedding"),
    ("predictor.quadratic.embedding", "embedding"),
    ("training.stop.patience", "patience"),
    ("training.scenarios.count", "scenarios"),
];

/// What is predicted, and the settings: a JSON object with the sections of problem files.
fn settled(problem: &Problem, predicted: &[String], settings: &str) -> PyResult<(Layout, Settings)> {
    let parameters: Vec<Parameter> = predicted.iter().map(|s| parameter(s)).collect::<PyResult<_>>()?;
    let layout = Layout::whole(&problem.inner, &parameters);
    let written = serde_json::from_str(settings).map_err(|e| error::raise("TrainingError", e))?;
    let settings = settings_of(&written, &problem.inner, &layout).map_err(|e| refused(&e))?;
    Ok((layout, settings))
}

impl Learner {
    /// A model that was trained elsewhere.
    pub(crate) fn of(decider: Decider, sentence: String) -> Self {
        let kept = decider.card().method.clone();
        Self { decider, sentence, kept, warnings: Vec::new() }
    }
}

#[pymethods]
impl Learner {
    /// Trains. `valid` marks the rows to choose by; `watch(stage, epochs, epoch, loss, regret)` is called every epoch.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn fit<'py>(
        py: Python<'py>,
        problem: &Bound<'py, Problem>,
        predicted: Vec<String>,
        settings: &str,
        method: &str,
        seed: u64,
        features: PyReadonlyArray2<'py, f64>,
        targets: PyReadonlyArray2<'py, f64>,
        valid: PyReadonlyArray1<'py, bool>,
        per_variable: Option<Vec<Vec<usize>>>,
        watch: Option<Py<PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let (layout, mut settings) = settled(problem.get(), &predicted, settings)?;
        settings.training.seed = seed;
        let method: MethodName = method.parse().map_err(|e| error::raise("TrainingError", e))?;
        let (rows, wide) = (features.as_array().nrows(), features.as_array().ncols());
        let names = Names { per_variable, ..Names::numbered(wide) };
        let (features, targets) = (flat("X", &features)?.to_vec(), flat("y", &targets)?.to_vec());
        let part = |v: &bool| if *v { Part::Valid } else { Part::Train };
        let parts: Vec<Part> = valid.as_array().iter().map(part).collect();
        let data = Dataset::new(features, targets, rows, names).with_parts(&parts);
        let watcher = Arc::new(Mutex::new(None));
        let mut observer = Watcher { watch, trouble: Arc::clone(&watcher), epochs: 0 };
        let heard = |error| stop(&watcher, error);
        let problem = &problem.get().inner;
        let trained = watched(py, threads, heard, || {
            let task = Task::new(problem.clone(), layout, data, settings)?;
            task.check(method)?;
            let mut trainer = Trainer::new(&task, None, &mut observer)?;
            let chosen = train(&mut trainer, method, seed)?;
            let decider = Decider::trained(&task, &chosen)?;
            let warnings = task.warnings().iter().chain(task.notes()).cloned().collect();
            Ok((decider, chosen.sentence.clone(), chosen.candidate.name, warnings))
        })?;
        // Ctrl-C, or an exception in `watch`.
        if let Some(trouble) = watcher.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(trouble);
        }
        let (decider, sentence, kept, warnings) = trained.map_err(failed)?;
        Ok(Self { decider, sentence, kept, warnings })
    }

    /// The model as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.decider.to_bytes().map_err(failed)?))
    }

    /// A model from its bytes; problem and settings are those it was trained with.
    #[staticmethod]
    fn from_bytes(
        problem: &Bound<'_, Problem>,
        predicted: Vec<String>,
        settings: &str,
        bytes: &[u8],
        sentence: String,
        kept: String,
    ) -> PyResult<Self> {
        let (layout, settings) = settled(problem.get(), &predicted, settings)?;
        let problem = problem.get().inner.clone();
        let decider = Decider::from_bytes(problem, layout, &settings.predictor, bytes).map_err(failed)?;
        Ok(Self { decider, sentence, kept, warnings: Vec::new() })
    }

    /// Predictions for rows of features.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = features.as_array().nrows();
        let features = flat("X", &features)?;
        let predicted = detached(py, None, || self.decider.predict(features, rows))?;
        table(py, rows, self.decider.width(), predicted)
    }

    /// Exact decisions for rows of features, with their statuses.
    fn decide<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray2<'py, f64>,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<String>)> {
        let (rows, n) = (features.as_array().nrows(), self.decider.problem().n());
        let features = flat("X", &features)?;
        let decided = detached(py, threads, || self.decider.decide(features, rows))?.map_err(failed)?;
        let mut x = Vec::with_capacity(rows * n);
        let mut status = Vec::with_capacity(rows);
        for decision in decided {
            match decision {
                Ok(optimum) => {
                    x.extend(&optimum.x);
                    status.push(optimum.status.word().to_owned());
                }
                Err(refusal) => {
                    x.extend(std::iter::repeat_n(f64::NAN, n));
                    status.push(format!("refused: {refusal}"));
                }
            }
        }
        Ok((table(py, rows, n, x)?, status))
    }

    /// Decisions for rows of features and what came of them.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray2<'py, f64>,
        truths: PyReadonlyArray2<'py, f64>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rows = features.as_array().nrows();
        let (features, truths) = (flat("X", &features)?, flat("y", &truths)?);
        let judged: Vec<Decision> =
            detached(py, threads, || self.decider.evaluate(features, truths, rows))?.map_err(failed)?;
        crate::judge::decisions(py, &judged, self.decider.problem().n())
    }
}

/// Shows epochs to Python, and ends the training where an exception came of it or Ctrl-C was heard.
struct Watcher {
    watch: Option<Py<PyAny>>,
    trouble: Arc<Mutex<Option<PyErr>>>,
    epochs: usize,
}

fn stop(trouble: &Mutex<Option<PyErr>>, error: PyErr) {
    trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}

impl Observer for Watcher {
    fn stage(&mut self, _: &str, epochs: usize) {
        self.epochs = epochs;
    }

    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        let Some(watch) = &self.watch else { return Ok(()) };
        let shown = (&epoch.stage, self.epochs, epoch.epoch, epoch.loss, epoch.valid.regret);
        if let Err(error) = Python::attach(|py| watch.call1(py, shown).map(drop)) {
            stop(&self.trouble, error);
        }
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
