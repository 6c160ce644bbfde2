//! K that fits a batch, and how far the surrogate is from the problem with it.

use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;
use regretless_core::{RowValues, Sharpness};

use crate::arrays::{Given, Overrides, kinds, of_kind};
use crate::problem::Problem;
use crate::run::{long, patient};

/// Numbers of the five kinds of rows as Python has them.
type Kinds<'py> = [Bound<'py, PyArray1<f64>>; 5];

/// K of every row that fits the instances, and the one that stands for them.
#[pyfunction]
pub(crate) fn sharpness<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    given: Given<'py>,
    rows: usize,
) -> PyResult<(f64, Kinds<'py>)> {
    let problem = &problem.get().inner;
    let overrides = Overrides::of(&given, rows)?;
    let instances = overrides.instances(0..overrides.rows());
    let found = patient(py, None, long(problem), || Sharpness::fit(problem, &instances))?;
    let of = |rows: &RowValues, kind: &str| of_kind(rows, kind).to_pyarray(py);
    Ok((found.k, kinds(problem.shape()).map(|(kind, _)| of(&found.rows, kind))))
}
