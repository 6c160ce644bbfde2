//! The problem and its exact optima.

use std::sync::Mutex;

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless_core::engine::Accuracy;
use regretless_core::problem::Named;
use regretless_core::{self as core, Coefficients, Matrix, Oracle, Soft, Status, Tolerances};

use crate::arrays::{Given, Overrides, flat, kinds, of_kind, parameter, table};
use crate::error;
use crate::run::{in_pieces, long};
use crate::stated::{Places, places};

/// Coefficients as Python has them: an array, or height, width, rows, columns and values of a sparse matrix.
#[derive(FromPyObject)]
enum Stated<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse(usize, usize, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>),
}

type Rows<'py> = (String, Stated<'py>, PyReadonlyArray1<'py, f64>);
type SoftRows<'py> =
    (String, Stated<'py>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

/// A problem with an oracle.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Problem {
    pub(crate) inner: core::Problem,
    oracle: Oracle,
}

/// The column of each entry, if names tell; else names that are missing, and columns that nothing is called like.
type ByName = (Option<Vec<usize>>, Vec<String>, Vec<String>);

fn coefficients(what: &str, given: &Stated<'_>) -> PyResult<Coefficients> {
    match given {
        Stated::Dense(array) => {
            let (rows, cols) = (array.as_array().nrows(), array.as_array().ncols());
            let matrix = Matrix::from_vec(rows, cols, flat(what, array)?.to_vec());
            matrix.map(Into::into).ok_or_else(|| error::problem(format!("{what} is no matrix")))
        }
        Stated::Sparse(height, width, rows, columns, values) => {
            // A place below 0 is as far outside as one can be.
            let place = |i: &i64| usize::try_from(*i).unwrap_or(usize::MAX);
            let (rows, columns, values) = (rows.as_array(), columns.as_array(), values.as_array());
            let places = rows.iter().zip(columns).zip(values);
            let entries = places.map(|((i, j), value)| (place(i), place(j), *value));
            let stored = Coefficients::sparse(*height, *width, entries);
            stored.map_err(|e| error::problem(format!("{what}: {e}")))
        }
    }
}

fn vector(array: &PyReadonlyArray1<'_, f64>) -> Vec<f64> {
    array.as_array().to_vec()
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (n, sense, variables, theta, Q, soft, at_most, equal, lower, upper))]
    #[allow(clippy::too_many_arguments, non_snake_case)]
    fn new(
        n: usize,
        sense: &str,
        variables: Option<Vec<String>>,
        theta: Option<PyReadonlyArray1<'_, f64>>,
        Q: Option<Stated<'_>>,
        soft: Vec<SoftRows<'_>>,
        at_most: Vec<Rows<'_>>,
        equal: Vec<Rows<'_>>,
        lower: Option<PyReadonlyArray1<'_, f64>>,
        upper: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let mut builder = match sense {
            "max" => core::Problem::maximize(n),
            "min" => core::Problem::minimize(n),
            other => return Err(error::problem(format!("sense is {other:?}: \"max\" or \"min\""))),
        };
        if let Some(names) = variables {
            builder = builder.variables(names);
        }
        if let Some(theta) = theta {
            builder = builder.linear(vector(&theta));
        }
        if let Some(Q) = Q {
            builder = builder.quadratic(coefficients("Q", &Q)?);
        }
        for (name, C, d, alpha, under) in soft {
            let rows = Soft::both(coefficients("C", &C)?, vector(&d), vector(&alpha), vector(&under));
            builder = builder.soft(name, rows);
        }
        for (name, A, b) in at_most {
            builder = builder.at_most(name, coefficients("A", &A)?, vector(&b));
        }
        for (name, B, c) in equal {
            builder = builder.equal(name, coefficients("B", &B)?, vector(&c));
        }
        if let Some(lower) = lower {
            builder = builder.lower(vector(&lower));
        }
        if let Some(upper) = upper {
            builder = builder.upper(vector(&upper));
        }
        let inner = builder.build().map_err(error::problem)?;
        regretless_project::room::fits(&inner).map_err(error::problem)?;
        let oracle = Oracle::new(&inner);
        Ok(Self { inner, oracle })
    }

    /// Names of the variables.
    #[getter]
    fn variables(&self) -> Vec<String> {
        self.inner.variables().to_vec()
    }

    /// What the problem states for a parameter, flat.
    fn stated<'py>(&self, py: Python<'py>, symbol: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(parameter(symbol)?.of(&self.inner).to_pyarray(py))
    }

    /// Row and column of each value of a sparse parameter.
    fn places<'py>(&self, py: Python<'py>, symbol: &str) -> PyResult<Option<Places<'py>>> {
        let sparse = parameter(symbol)?.pattern(&self.inner).filter(|pattern| !pattern.is_dense());
        Ok(sparse.map(|pattern| places(py, pattern, 0..pattern.entries(), 0)))
    }

    /// What names of columns say about a parameter's entries: the column of each, or names that are missing and columns that
    /// are none of theirs, or nothing.
    fn named(&self, symbol: &str, columns: Vec<String>) -> PyResult<ByName> {
        let parameter = parameter(symbol)?;
        Ok(match self.inner.named(parameter, 0..parameter.entries(&self.inner), &columns) {
            Named::All(order) => (Some(order), Vec::new(), Vec::new()),
            Named::Most { missing, unknown } => (None, missing, unknown),
            Named::None => (None, Vec::new(), Vec::new()),
        })
    }

    /// Exact optima of a batch. Without an optimum all is NaN but infinite objectives; with `best_effort`, what the solve came to.
    #[pyo3(signature = (given, rows, tolerance, best_effort, threads))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        given: Given<'py>,
        rows: usize,
        tolerance: Option<f64>,
        best_effort: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let overrides = Overrides::of(&given, rows)?;
        let (n, shape) = (self.inner.n(), self.inner.shape());
        let own = tolerance.map(|t| Oracle::new(&self.inner).with_tolerances(Tolerances::all(t)));
        let oracle = own.as_ref().unwrap_or(&self.oracle);
        let solved =
            in_pieces(py, overrides.rows(), threads, &Mutex::new(()), long(&self.inner), |(), piece| {
                oracle.solve_batch(&overrides.instances(piece))
            })?;
        let out = PyDict::new(py);
        let mut x = Vec::with_capacity(rows * n);
        let mut objective = Vec::with_capacity(rows);
        let mut status = Vec::with_capacity(rows);
        let mut why: Vec<Vec<String>> = Vec::with_capacity(rows);
        let mut multipliers = kinds(shape).map(|(_, len)| Vec::with_capacity(rows * len));
        let mut figures: [Vec<f64>; 3] = Default::default();
        for answer in &solved {
            let shown = answer.as_ref().ok().filter(|optimum| best_effort || optimum.is_optimal());
            x.extend(shown.map_or_else(|| vec![f64::NAN; n], |optimum| optimum.x.clone()));
            for (out, (kind, len)) in multipliers.iter_mut().zip(kinds(shape)) {
                out.extend(shown.map_or_else(
                    || vec![f64::NAN; len],
                    |optimum| of_kind(&optimum.multipliers, kind).to_vec(),
                ));
            }
            let accuracy = answer.as_ref().map_or(Accuracy::NONE, |optimum| optimum.accuracy);
            for (out, figure) in figures.iter_mut().zip([accuracy.primal, accuracy.dual, accuracy.gap]) {
                out.push(figure);
            }
            match answer {
                Ok(optimum) => {
                    // That of no point, or of one that is not shown.
                    let hidden = shown.is_none() && optimum.objective.is_finite();
                    objective.push(if hidden { f64::NAN } else { optimum.objective });
                    status.push(optimum.status.word());
                    why.push(match &optimum.status {
                        Status::Infeasible { rows } => rows.iter().map(|r| self.inner.row_name(*r)).collect(),
                        _ => Vec::new(),
                    });
                }
                Err(refusal) => {
                    objective.push(f64::NAN);
                    status.push("refused");
                    why.push(vec![refusal.to_string()]);
                }
            }
        }
        out.set_item("x", table(py, rows, n, x)?)?;
        out.set_item("objective", objective.to_pyarray(py))?;
        out.set_item("status", status)?;
        out.set_item("why", why)?;
        for (name, values) in ["primal", "dual", "gap"].into_iter().zip(&figures) {
            out.set_item(name, values.to_pyarray(py))?;
        }
        for (values, (kind, len)) in multipliers.into_iter().zip(kinds(shape)) {
            out.set_item(kind, table(py, rows, len, values)?)?;
        }
        Ok(out)
    }

    /// Objective and largest violation of a hard row at the rows of `x`.
    fn judge<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        given: Given<'py>,
    ) -> PyResult<[Bound<'py, PyArray1<f64>>; 2]> {
        let (rows, points) = (x.as_array().nrows(), flat("x", &x)?);
        let overrides = Overrides::of(&given, rows)?;
        let (mut objective, mut violation) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for (instance, x) in overrides.instances(0..rows).iter().zip(points.chunks_exact(self.inner.n())) {
            let view = self.inner.view(instance).map_err(error::problem)?;
            objective.push(view.objective(x));
            violation.push(view.violation(x));
        }
        Ok([objective.to_pyarray(py), violation.to_pyarray(py)])
    }
}
