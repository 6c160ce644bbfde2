//! Problem files and run directories.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless_core::{Block, Matrix, Sense};
use regretless_learn::Outcome;
use regretless_project::{ProjectError, Run, RunTrouble, Spec};

use crate::arrays::table;
use crate::error;
use crate::learner::Learner;

fn failed(error: ProjectError) -> PyErr {
    let hint = match &error {
        ProjectError::Spec(error) => error.hint.clone(),
        ProjectError::Run { trouble: RunTrouble::NoModel, .. } => Some("finish the training first".into()),
        ProjectError::Run { trouble: RunTrouble::Format { .. }, .. } => {
            Some("use the version that made it, or train again".into())
        }
        _ => None,
    };
    error::raise("ProjectError", error::with_hint(&error, hint))
}

type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Rows<'py> = (String, Bound<'py, PyArray2<f64>>, Vector<'py>);

fn rows<'py>(
    py: Python<'py>,
    matrix: &Matrix,
    blocks: &[Block],
    of: impl Fn(&Block) -> Vector<'py>,
) -> PyResult<Vec<Rows<'py>>> {
    let n = matrix.cols();
    let one = |block: &Block| {
        let own = matrix.as_slice()[block.rows.start * n..block.rows.end * n].to_vec();
        Ok((block.name.clone(), table(py, block.rows.len(), n, own)?, of(block)))
    };
    blocks.iter().map(one).collect()
}

/// What `Problem` is made from.
fn state<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Bound<'py, PyDict>> {
    let problem = spec.problem();
    let predicts = |symbol: &str| spec.predicted().iter().any(|p| p.parameter.symbol() == symbol);
    let out = PyDict::new(py);
    out.set_item("n", problem.n())?;
    out.set_item("sense", if problem.sense() == Sense::Max { "max" } else { "min" })?;
    out.set_item("variables", problem.variables())?;
    let theta = (problem.states_theta() && !predicts("theta")).then(|| problem.theta().to_pyarray(py));
    out.set_item("theta", theta)?;
    let quadratic = problem.Q().map(|q| table(py, q.rows(), q.cols(), q.as_slice().to_vec())).transpose()?;
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

/// The state of a problem file's problem, its name, and the symbols of what it predicts.
type Stated<'py> = (Bound<'py, PyDict>, Option<String>, Vec<&'static str>);

fn stated<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Stated<'py>> {
    let symbols = spec.predicted().iter().map(|part| part.parameter.symbol()).collect();
    Ok((state(py, spec)?, spec.name().map(str::to_owned), symbols))
}

/// Reads a problem file.
#[pyfunction]
pub(crate) fn read_problem(py: Python<'_>, path: PathBuf) -> PyResult<Stated<'_>> {
    let spec = Spec::read(path).map_err(|e| failed(e.into()))?;
    stated(py, &spec)
}

/// A run's problem, its model, and as JSON the model's card, the run's result (null if it is gone) and its epochs.
type Opened<'py> = (Stated<'py>, Learner, String, String, String);

/// Opens a run directory.
#[pyfunction]
pub(crate) fn read_run(py: Python<'_>, path: PathBuf) -> PyResult<Opened<'_>> {
    let read = || -> Result<_, ProjectError> {
        let run = Run::open(&path)?;
        let there = |name: &str| run.dir().join(name).is_file();
        // A model decides without these two.
        let outcome: Option<Outcome> = there("result.json").then(|| run.json("result.json")).transpose()?;
        let epochs = if there("metrics.jsonl") { run.epochs()? } else { Vec::new() };
        Ok((run.decider()?, outcome, epochs))
    };
    let ((spec, decider), outcome, epochs) = read().map_err(failed)?;
    let json = |text: Result<String, serde_json::Error>| text.map_err(|e| error::raise("ProjectError", e));
    let card = json(serde_json::to_string(decider.card()))?;
    let result = json(serde_json::to_string(&outcome))?;
    let epochs = json(serde_json::to_string(&epochs))?;
    let learner = Learner::of(decider, outcome.map(|outcome| outcome.sentence).unwrap_or_default());
    Ok((stated(py, &spec)?, learner, card, result, epochs))
}
