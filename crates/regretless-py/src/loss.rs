//! Decision losses.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use numpy::{PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless_core::solve::Pace;
use regretless_core::{
    Batch, DecisionLoss, LossError, LossOptions, Losses, Method, Multipliers, Parameter, Placement, RowId,
    Source, Term, build_loss,
};

use crate::arrays::{Ids, flat, parameter, table};
use crate::error;
use crate::multipliers::{ByKind, row_values};
use crate::problem::Problem;
use crate::run::{exclusive, long};

/// The methods: id, formula, gradient, what they may predict, source.
#[pyfunction]
pub(crate) fn methods() -> Vec<(String, String, String, String, String)> {
    let row = |method: Method| {
        let info = method.info();
        let [formula, gradient, predicts, source] = [info.formula, info.gradient, info.predicts, info.source];
        (method.id().into(), formula.into(), gradient.into(), predicts.into(), source.into())
    };
    Method::ALL.into_iter().map(row).collect()
}

/// w·g₂ + (1 − w)·g·‖g₂‖/‖g‖, the gradient of a batch mixed with that of L2.
#[pyfunction]
pub(crate) fn mix<'py>(
    py: Python<'py>,
    gradient: PyReadonlyArray2<'py, f64>,
    plain: PyReadonlyArray2<'py, f64>,
    weight: f64,
) -> PyResult<Bound<'py, numpy::PyArray2<f64>>> {
    let rows = gradient.as_array().nrows();
    let mut mixed = flat("gradient", &gradient)?.to_vec();
    regretless_core::mix(&mut mixed, flat("plain", &plain)?, weight);
    let width = mixed.len() / rows.max(1);
    table(py, rows, width, mixed)
}

/// A summand of a coefficient: symbol, entry, factor, the known number that is a factor, and what it is a multiple of: nothing, or
/// whether that is known and its number.
pub(crate) type GivenTerm = (String, usize, f64, Option<usize>, Option<(bool, usize)>);

/// Parameters that are predicted as a whole, or quantities, known numbers and their terms.
#[derive(FromPyObject)]
pub(crate) enum Placing {
    Whole(Vec<String>),
    Terms((usize, usize, Vec<GivenTerm>)),
}

/// Terms as Python has them.
pub(crate) fn told_terms(terms: &[Term]) -> Vec<GivenTerm> {
    let told = |term: &Term| {
        let of = match term.source {
            Source::One => None,
            Source::Predicted(j) => Some((false, j)),
            Source::Known(l) => Some((true, l)),
        };
        (term.parameter.symbol().to_owned(), term.entry, term.factor, term.by, of)
    };
    terms.iter().map(told).collect()
}

/// Terms as Python gives them.
pub(crate) fn given_terms(terms: &[GivenTerm]) -> PyResult<Vec<Term>> {
    let term = |(symbol, entry, factor, by, of): &GivenTerm| {
        let source = match *of {
            None => Source::One,
            Some((false, j)) => Source::Predicted(j),
            Some((true, l)) => Source::Known(l),
        };
        Ok(Term { parameter: parameter(symbol)?, entry: *entry, factor: *factor, by: *by, source })
    };
    terms.iter().map(term).collect()
}

/// What becomes of a flat prediction.
pub(crate) fn placement(problem: &Problem, placing: &Placing) -> PyResult<Placement> {
    let predicted = match placing {
        Placing::Whole(predicted) => predicted,
        Placing::Terms((width, known, terms)) => {
            let terms = given_terms(terms)?;
            return Placement::new(&problem.inner, *width, *known, terms).map_err(error::problem);
        }
    };
    let parameters: Vec<Parameter> = predicted.iter().map(|s| parameter(s)).collect::<PyResult<_>>()?;
    let placement = Placement::whole(&problem.inner, &parameters);
    placement.check(&problem.inner).map_err(error::problem)?;
    Ok(placement)
}

/// The parameters of a problem at rows of quantities and known numbers, by symbol.
#[pyfunction]
pub(crate) fn placed<'py>(
    py: Python<'py>,
    problem: &Bound<'_, Problem>,
    placing: Placing,
    quantities: PyReadonlyArray2<'py, f64>,
    known: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let problem = problem.get();
    let placement = placement(problem, &placing)?;
    let rows = quantities.as_array().nrows();
    let (quantities, known) = (flat("quantities", &quantities)?, flat("known", &known)?);
    let (width, by) = (placement.width(), placement.known());
    if quantities.len() != rows * width || known.len() != rows * by {
        return Err(error::raise(
            "ProblemError",
            "as many quantities and known numbers are needed as are placed",
        ));
    }
    let each: Vec<_> = (0..rows)
        .map(|i| {
            let (own, known) = (&quantities[i * width..(i + 1) * width], &known[i * by..(i + 1) * by]);
            placement.parameters(&problem.inner, own, known)
        })
        .collect();
    let out = PyDict::new(py);
    for kind in Parameter::ALL.into_iter().filter(|kind| placement.places(*kind).next().is_some()) {
        let values: Vec<f64> = each.iter().flat_map(|p| p.get(kind).unwrap_or_default()).copied().collect();
        out.set_item(kind.symbol(), table(py, rows, kind.entries(&problem.inner), values)?)?;
    }
    Ok(out)
}

/// A decision loss with its memory of samples.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Loss {
    inner: Mutex<Box<dyn DecisionLoss>>,
    problem: regretless_core::Problem,
    width: usize,
    pace: Pace,
}

#[pymethods]
impl Loss {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        problem: &Bound<'_, Problem>,
        method: &str,
        placing: Placing,
        k: f64,
        k_rows: Option<ByKind<'_>>,
        smoothing: f64,
        ridge: f64,
        over: f64,
        under: f64,
        multipliers: Option<ByKind<'_>>,
        scale: Option<PyReadonlyArray1<'_, f64>>,
        store_bytes: usize,
    ) -> PyResult<Self> {
        let problem = problem.get();
        let method: Method = method.parse().map_err(refused)?;
        let placement = placement(problem, &placing)?;
        let multipliers = multipliers.map(|values| Multipliers::given(row_values(&values)));
        let options = LossOptions {
            k,
            k_rows: k_rows.map(|rows| row_values(&rows)),
            smoothing,
            ridge,
            over,
            under,
            multipliers: multipliers.as_ref(),
            scale: scale.map(|s| s.as_array().to_vec()),
            store_bytes,
            scenarios: None,
            truths: None,
        };
        let inner = build_loss(method, &problem.inner, &placement, &options).map_err(refused)?;
        let (problem, width) = (problem.inner.clone(), placement.width());
        Ok(Self { inner: Mutex::new(inner), problem, width, pace: Pace::default() })
    }

    /// Values and gradients of a batch.
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
        let batch = Batch { predictions, truths, known: flat("known", &known)?, ids: &ids };
        let losses: Losses = self
            .pace
            .run(threads, ids.len(), |threads| {
                exclusive(py, threads, &self.inner, long(&self.problem), |loss| loss.evaluate(&batch))
            })?
            .map_err(refused)?;
        py.check_signals()?;
        let out = PyDict::new(py);
        out.set_item("values", losses.values.to_pyarray(py))?;
        out.set_item("gradients", table(py, ids.len(), self.width, losses.gradients)?)?;
        let troubles: Vec<(usize, String)> =
            losses.troubles.iter().map(|t| (t.sample, t.cause.to_string())).collect();
        out.set_item("troubles", troubles)?;
        let rows: Vec<usize> = losses.uncapped.iter().map(|r| self.problem.shape().position(*r)).collect();
        out.set_item("uncapped", rows)?;
        out.set_item("cut", losses.cut)?;
        Ok(out)
    }

    /// Doubles the multipliers of the given rows; the names of those it doubled.
    fn end_epoch(&self, rows: Vec<usize>) -> Vec<String> {
        let shape = self.problem.shape();
        let rows: BTreeSet<RowId> =
            rows.into_iter().filter(|&i| i < shape.rows()).map(|i| shape.row(i)).collect();
        let raised = self.inner.lock().unwrap_or_else(PoisonError::into_inner).end_epoch(&rows);
        raised.into_iter().map(|row| self.problem.row_name(row)).collect()
    }

    /// Changes the sharpness.
    fn set_k(&self, k: f64) -> PyResult<()> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).set_k(k).map_err(refused)
    }
}

fn refused(error: LossError) -> PyErr {
    error::raise("LossError", error)
}
