//! Penalties of hard rows.

use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless_core::{Multipliers, RowValues, Rule};

use crate::arrays::{Given, Overrides, kinds, of_kind};
use crate::error;
use crate::problem::Problem;
use crate::run::{long, patient};

/// A number for every row, by kind.
pub(crate) type ByKind<'py> = [PyReadonlyArray1<'py, f64>; 5];

/// Python's arrays as the engine's rows.
pub(crate) fn row_values(arrays: &ByKind<'_>) -> RowValues {
    let [soft, at_most, equal, lower, upper] = arrays.each_ref().map(|a| a.as_array().to_vec());
    RowValues { soft, at_most, equal, lower, upper }
}

/// Chooses penalties by a rule; `factor` and `values` belong to the rules that have them.
#[pyfunction]
#[pyo3(signature = (problem, rule, factor, sqrt_n, values, given, rows))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn multipliers<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    rule: &str,
    factor: Option<f64>,
    sqrt_n: bool,
    values: Option<ByKind<'py>>,
    given: Given<'py>,
    rows: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let rule = match (rule, values) {
        ("dual", _) => factor.map_or_else(Rule::default, |factor| Rule::Dual { factor }),
        ("empirical", _) => Rule::Empirical { factor: factor.unwrap_or(5.0), sqrt_n },
        ("theory", _) => Rule::Theory,
        ("constant", _) => Rule::Constant(factor.unwrap_or(f64::NAN)),
        ("rows", Some(values)) => Rule::PerRow(row_values(&values)),
        _ => {
            let message =
                format!("there is no rule {rule:?}: \"dual\", \"theory\", \"empirical\" or numbers");
            return Err(error::raise("MultiplierError", message));
        }
    };
    let overrides = Overrides::of(&given, rows)?;
    let inner = &problem.get().inner;
    let chosen =
        patient(py, None, long(inner), || Multipliers::choose(inner, &rule, &overrides.instances(0..rows)))?;
    let chosen = chosen.map_err(|e| error::raise("MultiplierError", e))?;
    let out = PyDict::new(py);
    for (kind, _) in kinds(inner.shape()) {
        out.set_item(kind, of_kind(&chosen.values, kind).to_pyarray(py))?;
    }
    let certificate = &chosen.certificate;
    out.set_item("explanation", &chosen.explanation)?;
    out.set_item("holds", certificate.holds())?;
    out.set_item("instances", certificate.instances)?;
    out.set_item("without_optimum", certificate.without_optimum)?;
    out.set_item("unbounded", certificate.unbounded)?;
    out.set_item("worst_violation", certificate.worst_violation)?;
    out.set_item("worst_row", certificate.worst_row.map(|row| inner.row_name(row)))?;
    Ok(out)
}
