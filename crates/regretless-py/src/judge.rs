//! Regret of decisions.

use std::sync::Mutex;

use numpy::{PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless_core::{Batch, Decision, Regret, Status};

use crate::arrays::{Ids, flat, table};
use crate::error;
use crate::loss::{Placing, placement};
use crate::multipliers::{ByKind, row_values};
use crate::problem::Problem;
use crate::run::{exclusive, in_pieces};

/// Decides exactly at predictions and judges by truths, with a memory of samples.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Judge {
    inner: Mutex<Regret>,
    n: usize,
    width: usize,
    known: usize,
}

#[pymethods]
impl Judge {
    #[new]
    fn new(
        problem: &Bound<'_, Problem>,
        placing: Placing,
        prices: Option<ByKind<'_>>,
        store_bytes: usize,
    ) -> PyResult<Self> {
        let problem = problem.get();
        let placement = placement(problem, &placing)?;
        let refused = |e| error::raise("LossError", e);
        let mut inner = Regret::new(&problem.inner, &placement, None).map_err(refused)?;
        if let Some(prices) = prices {
            inner.price_violations(&row_values(&prices)).map_err(refused)?;
        }
        inner.set_store_bytes(store_bytes);
        let (width, known) = (placement.width(), placement.known());
        Ok(Self { inner: Mutex::new(inner), n: problem.inner.n(), width, known })
    }

    /// Decisions at predictions and what came of them.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        predictions: PyReadonlyArray2<'py, f64>,
        truths: PyReadonlyArray2<'py, f64>,
        known: PyReadonlyArray2<'py, f64>,
        ids: Ids<'py>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let ids = ids.of(predictions.as_array().nrows())?;
        let (predictions, truths) = (flat("predictions", &predictions)?, flat("truths", &truths)?);
        let known = flat("known", &known)?;
        let (width, by) = (self.width, self.known);
        let mut failed = None;
        let judged: Vec<Decision> = in_pieces(py, ids.len(), threads, &self.inner, |regret, piece| {
            let part = piece.start * width..piece.end * width;
            let done = regret.evaluate(&Batch {
                predictions: &predictions[part.clone()],
                truths: &truths[part],
                known: &known[piece.start * by..piece.end * by],
                ids: &ids[piece],
            });
            done.unwrap_or_else(|e| {
                failed.get_or_insert(e);
                Vec::new()
            })
        })?;
        if let Some(error) = failed {
            return Err(error::raise("LossError", error));
        }
        decisions(py, &judged, self.n)
    }

    /// What came of decisions that were taken elsewhere.
    fn judge<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        truths: PyReadonlyArray2<'py, f64>,
        known: PyReadonlyArray2<'py, f64>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (x, truths, known) = (flat("decisions", &x)?, flat("truths", &truths)?, flat("known", &known)?);
        let judged = exclusive(py, threads, &self.inner, |regret| regret.judge_decisions(x, truths, known))?;
        decisions(py, &judged.map_err(|e| error::raise("LossError", e))?, self.n)
    }
}

/// Decisions as arrays.
pub(crate) fn decisions<'py>(
    py: Python<'py>,
    decisions: &[Decision],
    n: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let each = |of: fn(&Decision) -> f64| decisions.iter().map(of).collect::<Vec<f64>>().to_pyarray(py);
    let out = PyDict::new(py);
    let x: Vec<f64> = decisions.iter().flat_map(|d| d.x.iter().map(move |x| decided(d, *x))).collect();
    out.set_item("x", table(py, decisions.len(), n, x)?)?;
    out.set_item("regret", each(|d| if d.trouble.is_some() { f64::NAN } else { d.regret }))?;
    out.set_item("objective", each(|d| decided(d, d.objective)))?;
    out.set_item("optimal", each(|d| d.optimal))?;
    out.set_item("violation", each(|d| decided(d, d.violation)))?;
    out.set_item("predicted_objective", each(|d| decided(d, d.predicted_objective)))?;
    let troubles: Vec<Option<String>> =
        decisions.iter().map(|d| d.trouble.as_ref().map(ToString::to_string)).collect();
    out.set_item("trouble", troubles)?;
    Ok(out)
}

/// What was not decided is NaN.
fn decided(d: &Decision, value: f64) -> f64 {
    if d.status == Status::Optimal && value.is_finite() { value } else { f64::NAN }
}
