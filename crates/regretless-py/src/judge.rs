//! Regret of decisions.

use std::sync::Mutex;

use numpy::{PyArray1, PyArray2, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless_core::{Batch, Decision, Kept, Law, Regret, Risk, Scenarios, Status};

use crate::arrays::{Ids, flat, table};
use crate::error;
use crate::loss::{Placing, placement};
use crate::multipliers::{ByKind, row_values};
use crate::problem::Problem;
use crate::run::{exclusive, in_pieces, long};

/// Decides exactly at predictions and judges by truths, with a memory of samples.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Judge {
    inner: Mutex<Regret>,
    n: usize,
    /// Entries of a prediction and of a truth.
    entries: usize,
    width: usize,
    known: usize,
    at_risk: bool,
    long: bool,
}

/// Decisions, what is expected of them, and why there is none.
type Decided<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
    Option<[Bound<'py, PyArray1<f64>>; 2]>,
    Vec<Option<String>>,
);

/// Scenarios that each prediction brings: how many, and their weights where all share them.
type Brought = Option<(usize, Option<Vec<f64>>)>;

#[pymethods]
impl Judge {
    #[new]
    fn new(
        problem: &Bound<'_, Problem>,
        placing: Placing,
        scenarios: Brought,
        risk: Option<(f64, f64)>,
        prices: Option<ByKind<'_>>,
        store_bytes: usize,
    ) -> PyResult<Self> {
        let problem = problem.get();
        let placement = placement(problem, &placing)?;
        let refused = |e| error::raise("LossError", e);
        let law = scenarios.map(|(count, weights)| match weights {
            Some(weights) => Law::Points { weights },
            None => Law::Samples { count },
        });
        let (width, known) = (placement.width(), placement.known());
        let entries = law.as_ref().map_or(width, |law| law.entries(width));
        let scenarios = law.map(|law| Scenarios::of(&problem.inner, &placement, law)).transpose();
        let scenarios = scenarios.and_then(|own| match (own, risk) {
            (Some(own), Some((level, weight))) => own.with_risk(Risk::mixed(level, weight)?).map(Some),
            (own, _) => Ok(own),
        });
        let scenarios = scenarios.map_err(|e| error::raise("LossError", e))?;
        let long = long(scenarios.as_ref().map_or(&problem.inner, Scenarios::problem));
        let mut inner = Regret::new(&problem.inner, &placement, scenarios).map_err(refused)?;
        if let Some(prices) = prices {
            inner.price_violations(&row_values(&prices)).map_err(refused)?;
        }
        inner.set_store_bytes(store_bytes);
        let at_risk = risk.is_some();
        Ok(Self { inner: Mutex::new(inner), n: problem.inner.n(), entries, width, known, at_risk, long })
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
        let (entries, width, by) = (self.entries, self.width, self.known);
        let mut failed = None;
        let judged: Vec<Decision> =
            in_pieces(py, ids.len(), threads, &self.inner, self.long, |regret, piece| {
                let part = piece.start * width..piece.end * width;
                let done = regret.evaluate(&Batch {
                    predictions: &predictions[piece.start * entries..piece.end * entries],
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

    /// Decisions at predictions whose truth is not known, what is expected of them, and why there is none.
    fn decide<'py>(
        &self,
        py: Python<'py>,
        predictions: PyReadonlyArray2<'py, f64>,
        known: PyReadonlyArray2<'py, f64>,
        threads: Option<usize>,
    ) -> PyResult<Decided<'py>> {
        let (predictions, known) = (flat("predictions", &predictions)?, flat("known", &known)?);
        let decided = exclusive(py, threads, &self.inner, self.long, |regret| {
            regret.decide_with_outlooks(predictions, known)
        })?;
        let decided = decided.map_err(|e| error::raise("LossError", e))?;
        let (mut x, mut expected, mut troubles) = (Vec::new(), Vec::new(), Vec::new());
        let (mut at_risk, mut threshold) = (Vec::new(), Vec::new());
        for answer in &decided {
            let found = answer.as_ref().ok().filter(|(optimum, _)| optimum.status == Status::Optimal);
            match found {
                Some((optimum, _)) => x.extend(&optimum.x),
                None => x.extend(std::iter::repeat_n(f64::NAN, self.n)),
            }
            expected.push(found.map_or(f64::NAN, |(optimum, _)| optimum.objective));
            let outlook = found.and_then(|(_, outlook)| outlook.as_ref());
            at_risk.push(outlook.map_or(f64::NAN, |outlook| outlook.value));
            threshold.push(outlook.map_or(f64::NAN, |outlook| outlook.threshold));
            troubles.push(match answer {
                Ok(_) if found.is_some() => None,
                Ok((optimum, _)) => Some(optimum.status.word().to_owned()),
                Err(error) => Some(error.to_string()),
            });
        }
        let kept = self.at_risk.then(|| [at_risk.to_pyarray(py), threshold.to_pyarray(py)]);
        Ok((table(py, decided.len(), self.n, x)?, expected.to_pyarray(py), kept, troubles))
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
        let judged = exclusive(py, threads, &self.inner, self.long, |regret| {
            regret.judge_decisions(x, truths, known)
        })?;
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
    if decisions.iter().any(|d| d.at_risk.is_some()) {
        let kept = |of: fn(&Kept) -> f64| -> Vec<f64> {
            decisions.iter().map(|d| d.at_risk.as_ref().map_or(f64::NAN, of)).collect()
        };
        let of = [
            ("objective_at_risk", kept(|k| k.promised.value)),
            ("threshold", kept(|k| k.promised.threshold)),
            ("score", kept(|k| k.score)),
        ];
        of.iter().try_for_each(|(name, values)| out.set_item(*name, values.to_pyarray(py)))?;
    }
    let troubles: Vec<Option<String>> =
        decisions.iter().map(|d| d.trouble.as_ref().map(ToString::to_string)).collect();
    out.set_item("trouble", troubles)?;
    Ok(out)
}

/// What was not decided is NaN.
fn decided(d: &Decision, value: f64) -> f64 {
    if d.status == Status::Optimal && value.is_finite() { value } else { f64::NAN }
}
