//! Problems with what is predicted of them and how it is learned; problem files and run directories.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless_core::problem::Block;
use regretless_core::{Coefficients, Sense};
use regretless_learn::{Task, Warmup};
use regretless_project::check::{Table, check};
use regretless_project::page::{Finished, runs};
use regretless_project::{Kind, Overrides, ProjectError, Run, Spec};

use crate::arrays::{parameter, table};
use crate::data::{Columns, Data, frame};
use crate::error;
use crate::learner::Learner;
use crate::loss::{GivenTerm, given_terms, told_terms};
use crate::problem::Problem;
use crate::run::detached;

type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Rows<'py> = (String, Bound<'py, PyArray2<f64>>, Vector<'py>);

fn rows<'py>(
    py: Python<'py>,
    matrix: &Coefficients,
    blocks: &[Block],
    of: impl Fn(&Block) -> Vector<'py>,
) -> PyResult<Vec<Rows<'py>>> {
    let n = matrix.cols();
    let one = |block: &Block| {
        let own = block.rows.clone().flat_map(|i| matrix.row(i).to_vec(n)).collect();
        Ok((block.name.clone(), table(py, block.rows.len(), n, own)?, of(block)))
    };
    blocks.iter().map(one).collect()
}

/// What `Problem` is made from.
fn state<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Bound<'py, PyDict>> {
    let problem = spec.problem();
    let predicts = |symbol: &str| spec.placed().terms.iter().any(|t| t.parameter.symbol() == symbol);
    let out = PyDict::new(py);
    out.set_item("n", problem.n())?;
    out.set_item("sense", if problem.sense() == Sense::Max { "max" } else { "min" })?;
    out.set_item("variables", problem.variables())?;
    let theta = (problem.states_theta() && !predicts("theta")).then(|| problem.theta().to_pyarray(py));
    out.set_item("theta", theta)?;
    let quadratic =
        problem.Q().map(|q| table(py, q.rows(), q.cols(), q.view().dense().into_owned())).transpose()?;
    out.set_item("Q", quadratic)?;
    let soft = problem.soft();
    let part = |values: &[f64], block: &Block| values[block.rows.clone()].to_pyarray(py);
    let blocks: Vec<_> = rows(py, &soft.C, &soft.blocks, |block| part(&soft.d, block))?
        .into_iter()
        .zip(&soft.blocks)
        .map(|((name, matrix, limits), block)| {
            (name, matrix, limits, part(&soft.alpha, block), part(&soft.under, block))
        })
        .collect();
    out.set_item("soft", blocks)?;
    for (kind, hard) in [("at_most", problem.at_most()), ("equal", problem.equal())] {
        out.set_item(kind, rows(py, &hard.rows, &hard.blocks, |block| part(&hard.rhs, block))?)?;
    }
    out.set_item("lower", problem.lower().to_pyarray(py))?;
    out.set_item("upper", problem.upper().to_pyarray(py))?;
    Ok(out)
}

/// A predicted part: symbol, the entries of the parameter from and to, its columns by name or pattern.
type Part = (&'static str, usize, usize, Vec<String>);

/// What is predicted and known that is no parameter as a whole: columns, those of a key together, and terms.
type Told = (Vec<Vec<String>>, Vec<Vec<String>>, Vec<GivenTerm>);

/// The state of a problem file's problem, its name, what it predicts in the order of the targets, and how, where that is not
/// parameters as a whole. The last are the parameters that hold placeholders.
type Stated<'py> = (Bound<'py, PyDict>, Option<String>, Vec<Part>, Option<Told>, BTreeSet<&'static str>);

fn stated<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Stated<'py>> {
    let told = spec.quantities().map_err(|e| error::spec(&e))?;
    let told = told.map(|q| (q.predicted, q.known, told_terms(q.placement.terms())));
    let placed = spec.placed().terms.iter().map(|term| term.parameter.symbol()).collect();
    Ok((state(py, spec)?, spec.name().map(str::to_owned), parts(spec), told, placed))
}

/// What is predicted as a whole, and entry by entry where it is not.
fn parts(spec: &Spec) -> Vec<Part> {
    let problem = spec.problem();
    let mut all = Vec::new();
    for (at, part) in spec.placed().selections.iter().enumerate().filter(|(_, p)| p.kind == Kind::Predicted) {
        let range = |parameter: regretless_core::Parameter, rows: std::ops::Range<usize>| {
            let entries = parameter.pattern(problem).map_or(rows.clone(), |p| p.range(rows.clone()));
            (parameter.symbol(), entries.start, entries.end, part.columns.clone())
        };
        match &part.home {
            Some((parameter, rows)) => all.push(range(*parameter, rows.clone())),
            None => all.extend(
                spec.placed()
                    .parameters(at)
                    .into_iter()
                    .map(|parameter| (parameter.symbol(), 0, 0, part.columns.clone())),
            ),
        }
    }
    all
}

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
            features: None,
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
        Ok((run.decider()?, run.outcome()?, epochs))
    };
    let ((spec, decider), outcome, epochs) = read().map_err(error::project)?;
    Ok((stated(py, &spec)?, Learner::new(decider, outcome, epochs)))
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
