//! The surrogate, its optima and their derivatives.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArray2, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless_core::{
    self as core, Accuracy, Gradients, Multipliers, Parameter, Piece, ProblemError, Segments, Solution,
    Store, SurrogateOptions, SurrogateStatus,
};

use crate::arrays::{Given, Ids, Overrides, flat, parameter, table};
use crate::error;
use crate::multipliers::{ByKind, row_values};
use crate::pace::Pace;
use crate::problem::Problem;
use crate::run::{detached, in_pieces};

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
        let solved = match &ids {
            None => in_pieces(py, rows, threads, &Mutex::new(()), |(), piece| {
                self.inner.solve_batch(&overrides.instances(piece))
            }),
            Some(ids) => self.paces.solve.run(threads, rows, |threads| {
                in_pieces(py, rows, threads, &self.store, |store, piece| {
                    self.inner.solve_batch_warm(&overrides.instances(piece.clone()), &ids[piece], store)
                })
            }),
        }?;
        let problem = self.inner.problem().clone();
        Ok(Solutions { problem, solved: Arc::new(solved), paces: Arc::clone(&self.paces) })
    }

    /// How far the true objective of each solution is from the exact one, relative; NaN where either has no optimum.
    fn exact_gaps<'py>(
        &self,
        py: Python<'py>,
        solutions: &Bound<'py, Solutions>,
        given: Given<'py>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let solved = &solutions.get().solved;
        let overrides = Overrides::of(&given, solved.len())?;
        let known: Vec<(usize, &Solution)> =
            solved.iter().enumerate().filter_map(|(i, s)| Some((i, s.as_ref().ok()?))).collect();
        let gaps = in_pieces(py, known.len(), threads, &Mutex::new(()), |(), piece| {
            let (rows, solutions): (Vec<usize>, Vec<&Solution>) = known[piece].iter().copied().unzip();
            let instances: Vec<_> = rows.into_iter().flat_map(|i| overrides.instances(i..i + 1)).collect();
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
    problem: core::Problem,
    solved: Arc<Vec<Result<Solution, ProblemError>>>,
    paces: Arc<Paces>,
}

/// Of warm solves and of their derivatives.
#[derive(Debug, Default)]
struct Paces {
    solve: Pace,
    vjp: Pace,
}

impl Solutions {
    /// Those of a kind of number; NaN for instances that were refused.
    fn each(&self, of: impl Fn(&Solution) -> f64) -> Vec<f64> {
        self.solved.iter().map(|s| s.as_ref().map_or(f64::NAN, &of)).collect()
    }
}

#[pymethods]
impl Solutions {
    /// The points; without an optimum NaN, or with `best_effort` where the solve came to.
    fn x<'py>(&self, py: Python<'py>, best_effort: bool) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = self.problem.n();
        let mut x = Vec::with_capacity(self.solved.len() * n);
        for solution in self.solved.iter() {
            match solution {
                Ok(solution) if best_effort || solution.is_optimal() => x.extend(solution.x()),
                _ => x.extend(std::iter::repeat_n(f64::NAN, n)),
            }
        }
        table(py, self.solved.len(), n, x)
    }

    fn objective<'py>(&self, py: Python<'py>, best_effort: bool) -> Bound<'py, PyArray1<f64>> {
        let known = |s: &Solution| if best_effort || s.is_optimal() { s.objective } else { f64::NAN };
        self.each(known).to_pyarray(py)
    }

    /// Instances without an optimum.
    fn troubled(&self) -> Vec<usize> {
        let fine = |s: &Result<Solution, ProblemError>| s.as_ref().is_ok_and(Solution::is_optimal);
        (0..self.solved.len()).filter(|&i| !fine(&self.solved[i])).collect()
    }

    fn residual<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(|s| s.residual).to_pyarray(py)
    }

    /// How right each point is for the problem without smoothing: primal, dual, gap.
    fn accuracy<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<f64>>; 3] {
        let figures: Vec<Accuracy> =
            self.solved.iter().map(|s| s.as_ref().map_or(Accuracy::NONE, Solution::accuracy)).collect();
        let of = |figure: fn(&Accuracy) -> f64| figures.iter().map(figure).collect::<Vec<_>>().to_pyarray(py);
        [of(|a| a.primal), of(|a| a.dual), of(|a| a.gap)]
    }

    /// Status of each instance, and what it names: rows, or why the instance was refused.
    fn status(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let names = |rows: &[core::RowId]| rows.iter().map(|r| self.problem.row_name(*r)).collect::<Vec<_>>();
        let one = |solution: &Result<Solution, ProblemError>| match solution {
            Err(refusal) => ("refused", vec![refusal.to_string()]),
            Ok(solution) => match &solution.status {
                SurrogateStatus::Optimal => ("optimal", Vec::new()),
                SurrogateStatus::Uncapped { rows } => ("uncapped", names(rows)),
                SurrogateStatus::Unbounded => ("unbounded", Vec::new()),
                SurrogateStatus::Infeasible { rows } => ("infeasible", names(rows)),
                SurrogateStatus::NumericalTrouble => ("numerical-trouble", Vec::new()),
            },
        };
        self.solved.iter().map(one).unzip()
    }

    /// The piece of every row, stacked soft, at_most, equal, lower, upper: −1 below, 0 on, 1 above, 2 where there is none.
    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let width = self.problem.shape().rows();
        let mut out = vec![vec![2_i8; width]; self.solved.len()];
        for (row, solution) in out.iter_mut().zip(self.solved.iter()) {
            let Ok(solution) = solution else { continue };
            for (id, piece) in solution.pieces() {
                row[self.problem.shape().position(id)] = match piece {
                    Piece::Below => -1,
                    Piece::On => 0,
                    Piece::Above => 1,
                };
            }
        }
        let made = PyArray2::from_vec2(py, &out);
        made.map_err(|e| error::raise("InternalError", e))
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
        let (rows, n) = (self.solved.len(), self.problem.n());
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
        let whole = kinds.len() < symbols.len();
        let one = |s: &Solution, g: &[f64]| if whole { s.vjp(g) } else { s.vjp_in(g, &kinds) };
        let gradients: Vec<Option<Gradients>> = self.paces.vjp.run(threads, rows, |threads| {
            detached(py, threads, || {
                use rayon::prelude::*;
                let pairs = self.solved.par_iter().zip(upstream.par_chunks_exact(n));
                let known = |s: &&Solution| best_effort || s.is_optimal();
                pairs.map(|(solution, g)| solution.as_ref().ok().filter(known).map(|s| one(s, g))).collect()
            })
        })?;
        let out = PyDict::new(py);
        let unknown = |row: usize| {
            let asked = upstream[row * n..(row + 1) * n].iter().any(|g| *g != 0.0);
            if asked { f64::NAN } else { 0.0 }
        };
        for symbol in symbols {
            if symbol == "K" {
                let each = gradients.iter().enumerate();
                let k = each.map(|(row, g)| g.as_ref().map_or_else(|| unknown(row), |g| g.k)).collect();
                out.set_item("K", table(py, rows, 1, k)?)?;
                continue;
            }
            let parameter = parameter(&symbol)?;
            // An LP may have been given a Q.
            let width =
                if parameter == Parameter::Quadratic { n * n } else { parameter.of(&self.problem).len() };
            let mut values = Vec::with_capacity(rows * width);
            for (row, gradient) in gradients.iter().enumerate() {
                match gradient {
                    Some(gradient) if gradient.of(parameter).len() == width => {
                        values.extend(gradient.of(parameter));
                    }
                    Some(_) => values.extend(std::iter::repeat_n(0.0, width)),
                    None => values.extend(std::iter::repeat_n(unknown(row), width)),
                }
            }
            out.set_item(symbol, table(py, rows, width, values)?)?;
        }
        Ok(out)
    }
}
