//! The surrogate, its optima and their derivatives.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArray2, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless_core::engine::{Accuracy, Piece};
use regretless_core::solve::Pace;
use regretless_core::{self as core, Multipliers, Parameter, Segments, Solution, Store, SurrogateOptions};

use crate::arrays::{Given, Ids, Overrides, flat, parameter, table};
use crate::error;
use crate::multipliers::{ByKind, row_values};
use crate::problem::Problem;
use crate::run::{detached, in_pieces, long};

/// A surrogate with its memory of samples.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Surrogate {
    inner: core::Surrogate,
    store: Mutex<Store>,
    paces: Arc<Paces>,
}

#[pymethods]
impl Surrogate {
    #[new]
    fn new(
        problem: &Bound<'_, Problem>,
        multipliers: ByKind<'_>,
        k: ByKind<'_>,
        segments: &str,
        smoothing: f64,
        store_bytes: usize,
    ) -> PyResult<Self> {
        let segments = match segments {
            "smooth" => Segments::Smooth,
            "vertex" => Segments::Vertex,
            other => return Err(error::problem(format!("segments is {other:?}: \"smooth\" or \"vertex\""))),
        };
        // Every row has its own K, so that the common one is not looked at.
        let options = SurrogateOptions { k: 1.0, k_rows: Some(row_values(&k)), segments, smoothing };
        let multipliers = Multipliers::given(row_values(&multipliers));
        let inner =
            core::Surrogate::new(&problem.get().inner, &multipliers, &options).map_err(error::problem)?;
        Ok(Self { inner, store: Mutex::new(Store::with_budget(store_bytes)), paces: Arc::default() })
    }

    /// Optima of a batch; samples with ids start where they were solved last.
    fn solve<'py>(
        &self,
        py: Python<'py>,
        given: Given<'py>,
        rows: usize,
        ids: Option<Ids<'py>>,
        threads: Option<usize>,
    ) -> PyResult<Solutions> {
        let overrides = Overrides::of(&given, rows)?;
        let ids = ids.map(|ids| ids.of(rows)).transpose()?;
        let long = long(self.inner.problem());
        let solved = match &ids {
            None => in_pieces(py, rows, threads, &Mutex::new(()), long, |(), piece| {
                self.inner.solve_batch(&overrides.instances(piece))
            }),
            Some(ids) => self.paces.solve.run(threads, rows, |threads| {
                in_pieces(py, rows, threads, &self.store, long, |store, piece| {
                    self.inner.solve_batch_warm(&overrides.instances(piece.clone()), &ids[piece], store)
                })
            }),
        }?;
        let inner = core::surrogate::Solutions::new(self.inner.problem(), solved);
        Ok(Solutions { inner, paces: Arc::clone(&self.paces) })
    }

    /// How far the true objective of each solution is from the exact one, relative; NaN where either has no optimum.
    fn exact_gaps<'py>(
        &self,
        py: Python<'py>,
        solutions: &Bound<'py, Solutions>,
        given: Given<'py>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let solved = solutions.get().inner.each();
        let overrides = Overrides::of(&given, solved.len())?;
        let known: Vec<(usize, &Solution)> =
            solved.iter().enumerate().filter_map(|(i, s)| Some((i, s.as_ref().ok()?))).collect();
        let gaps =
            in_pieces(py, known.len(), threads, &Mutex::new(()), long(self.inner.problem()), |(), piece| {
                let (rows, solutions): (Vec<usize>, Vec<&Solution>) = known[piece].iter().copied().unzip();
                let instances: Vec<_> =
                    rows.into_iter().flat_map(|i| overrides.instances(i..i + 1)).collect();
                let failed = vec![None; solutions.len()];
                self.inner.exact_gaps(&instances, &solutions).unwrap_or(failed)
            })?;
        let mut all = vec![f64::NAN; solved.len()];
        for ((i, _), gap) in known.iter().zip(gaps) {
            all[*i] = gap.unwrap_or(f64::NAN);
        }
        Ok(all.to_pyarray(py))
    }

    /// Samples remembered.
    #[getter]
    fn remembered(&self) -> usize {
        self.store.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Forgets all samples.
    fn forget(&self) {
        self.store.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The optima of a batch with the factors that derivatives need.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Solutions {
    inner: core::surrogate::Solutions,
    paces: Arc<Paces>,
}

/// Of warm solves and of their derivatives.
#[derive(Debug, Default)]
struct Paces {
    solve: Pace,
    vjp: Pace,
}

#[pymethods]
impl Solutions {
    /// The points; without an optimum NaN, or with `best_effort` where the solve came to.
    fn x<'py>(&self, py: Python<'py>, best_effort: bool) -> PyResult<Bound<'py, PyArray2<f64>>> {
        table(py, self.inner.each().len(), self.inner.problem().n(), self.inner.x(best_effort))
    }

    fn objective<'py>(&self, py: Python<'py>, best_effort: bool) -> Bound<'py, PyArray1<f64>> {
        self.inner.objectives(best_effort).to_pyarray(py)
    }

    /// Instances without an optimum.
    fn troubled(&self) -> Vec<usize> {
        self.inner.troubled()
    }

    fn residual<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.residuals().to_pyarray(py)
    }

    /// How right each point is for the problem without smoothing: primal, dual, gap.
    fn accuracy<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<f64>>; 3] {
        let figures = self.inner.accuracies();
        let of = |figure: fn(&Accuracy) -> f64| figures.iter().map(figure).collect::<Vec<_>>().to_pyarray(py);
        [of(|a| a.primal), of(|a| a.dual), of(|a| a.gap)]
    }

    /// Status of each instance, and what it names: rows, or why the instance was refused.
    fn status(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        self.inner.statuses().into_iter().unzip()
    }

    /// The piece of every row, stacked soft, at_most, equal, lower, upper: −1 below, 0 on, 1 above, 2 where there is none.
    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let number = |piece: &Option<Piece>| match piece {
            Some(Piece::Below) => -1_i8,
            Some(Piece::On) => 0,
            Some(Piece::Above) => 1,
            None => 2,
        };
        let pieces = self.inner.pieces();
        let rows = pieces.chunks_exact(self.inner.problem().shape().rows());
        let out: Vec<Vec<i8>> = rows.map(|row| row.iter().map(number).collect()).collect();
        PyArray2::from_vec2(py, &out).map_err(|e| error::raise("InternalError", e))
    }

    /// Derivatives of ⟨upstream, x⟩ in the named parameters, one row an instance; `K` for the sharpness of all rows. Where x is
    /// NaN they are too, unless nobody asks: 0 for an upstream of zeros.
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        upstream: PyReadonlyArray2<'py, f64>,
        symbols: Vec<String>,
        best_effort: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (rows, n) = (self.inner.each().len(), self.inner.problem().n());
        let shape = (upstream.as_array().nrows(), upstream.as_array().ncols());
        if shape != (rows, n) {
            return Err(error::problem(format!(
                "grad_x is {} × {}, expected {rows} × {n}",
                shape.0, shape.1
            )));
        }
        let upstream = flat("grad_x", &upstream)?;
        let kinds = symbols.iter().filter(|s| *s != "K").map(|s| parameter(s));
        let kinds: Vec<Parameter> = kinds.collect::<PyResult<_>>()?;
        let sharpness = kinds.len() < symbols.len();
        let gradients = self.paces.vjp.run(threads, rows, |threads| {
            detached(py, threads, || self.inner.vjp(upstream, &kinds, sharpness, best_effort))
        })?;
        let out = PyDict::new(py);
        for symbol in symbols {
            let (width, values) = match symbol.as_str() {
                "K" => (1, gradients.k()),
                other => {
                    let parameter = parameter(other)?;
                    (gradients.width(parameter), gradients.table(parameter))
                }
            };
            out.set_item(symbol, table(py, rows, width, values)?)?;
        }
        Ok(out)
    }
}
