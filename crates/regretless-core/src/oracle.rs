//! The exact solver: one instance, or thousands, cold or warm.

use std::sync::Arc;

use crate::batch;
use crate::exact::{Caps, ExactWorker, Verdict};
use crate::linalg;
use crate::optimum::{Link, Optimum, RowValues, Status};
use crate::path::Path;
use crate::pool::{Guard, Pool};
use crate::problem::{Instance, Problem, ProblemError, RowId, View};
use crate::reference::{self, ReferenceStatus};
use crate::softened::Piece;
use crate::store::Store;
use crate::workspace::{Owner, State, Work};

/// Stationarity beyond this is handed to the reference solver.
const ACCURATE: f64 = 1e-9;

/// Solves a problem exactly, for the stated parameters or any overrides.
///
/// ```
/// use regretless_core::{Instance, Matrix, Oracle, Problem};
/// let problem = Problem::maximize(2)
///     .linear([3.0, 2.0])
///     .at_most("land", Matrix::from_rows(&[[1.0, 1.0]]), [8.0])
///     .upper([5.0, f64::INFINITY])
///     .build()?;
/// let optimum = Oracle::new(&problem).solve(&Instance::default())?;
/// assert!((optimum.x[0] - 5.0).abs() < 1e-9 && (optimum.x[1] - 3.0).abs() < 1e-9);
/// assert!((optimum.objective - 21.0).abs() < 1e-9);
/// assert!((optimum.multipliers.at_most[0] - 2.0).abs() < 1e-9);
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Debug)]
pub struct Oracle {
    problem: Problem,
    /// Caps on hard rows, stacked: the softened problem instead of the original one.
    penalties: Option<Vec<f64>>,
    owner: Owner,
    /// Where solves without a start of their own begin.
    home: Option<Arc<State>>,
    pool: Pool<Worker>,
}

pub(crate) struct Worker {
    exact: ExactWorker,
    /// True while the worker holds the problem's own rows.
    own_rows: bool,
}

impl Oracle {
    /// An oracle for the problem as stated.
    pub fn new(problem: &Problem) -> Self {
        Self { problem: problem.clone(), penalties: None, owner: Owner::new(), home: None, pool: Pool::new() }
    }

    /// An oracle for the softened problem: a unit of violation of a hard row costs its penalty, no more.
    pub(crate) fn softened(problem: &Problem, penalties: &RowValues) -> Self {
        Self { penalties: Some(penalties.stacked()), ..Self::new(problem) }
    }

    /// Lets solves that have no start of their own begin at the optimum of `instance`, as
    /// [`Surrogate::set_home`](crate::Surrogate::set_home) does. False if it has no optimum.
    pub fn set_home(&mut self, instance: &Instance<'_>) -> Result<bool, ProblemError> {
        self.home = None;
        let (optimum, state) = self.solve_with(&mut self.worker(), instance, None)?;
        if optimum.is_optimal() {
            self.home = Some(state);
        }
        Ok(self.home.is_some())
    }

    /// Solves one instance from nothing.
    pub fn solve(&self, instance: &Instance<'_>) -> Result<Optimum, ProblemError> {
        self.solve_with(&mut self.worker(), instance, None).map(|(optimum, _)| optimum)
    }

    /// Solves many instances in parallel, from nothing.
    pub fn solve_batch(&self, instances: &[Instance<'_>]) -> Vec<Result<Optimum, ProblemError>> {
        let items = instances.iter().collect();
        batch::map(
            &self.pool,
            || self.new_worker(),
            items,
            |worker, instance| self.solve_with(worker, instance, None).map(|(optimum, _)| optimum),
        )
    }

    /// Solves many instances in parallel, each from where its id was solved last.
    ///
    /// # Panics
    /// If there are not as many ids as instances.
    pub fn solve_batch_warm(
        &self,
        instances: &[Instance<'_>],
        ids: &[u64],
        store: &mut Store,
    ) -> Vec<Result<Optimum, ProblemError>> {
        batch::map_warm(
            &self.pool,
            || self.new_worker(),
            instances,
            ids,
            store,
            |worker, instance, start| self.solve_with(worker, instance, start),
        )
    }

    /// Solves many instances in parallel, each from a given state.
    pub(crate) fn solve_batch_from(
        &self,
        instances: &[Instance<'_>],
        starts: Vec<Option<Arc<State>>>,
    ) -> Vec<Result<(Optimum, Arc<State>), ProblemError>> {
        batch::map(
            &self.pool,
            || self.new_worker(),
            instances.iter().zip(starts).collect(),
            |worker, (instance, start)| self.solve_with(worker, instance, start),
        )
    }

    pub(crate) fn worker(&self) -> Guard<'_, Worker> {
        self.pool.take(|| self.new_worker())
    }

    fn new_worker(&self) -> Worker {
        let view = self.problem.view(&Instance::default()).expect("a validated problem has a valid view");
        let mut exact = ExactWorker::new(&view);
        exact.load(&view, self.penalties.as_deref());
        Worker { exact, own_rows: true }
    }

    /// Solves with a given worker and start; returns the state for the next start.
    pub(crate) fn solve_with(
        &self,
        worker: &mut Worker,
        instance: &Instance<'_>,
        start: Option<Arc<State>>,
    ) -> Result<(Optimum, Arc<State>), ProblemError> {
        if instance.theta.is_none() && !self.problem.states_theta() {
            return Err(ProblemError::NoTheta);
        }
        let view = self.problem.view(instance)?;
        let fresh = instance.changes_rows();
        if fresh || !worker.own_rows {
            worker.exact.load(&view, self.penalties.as_deref());
            worker.own_rows = !fresh;
        }
        let exact = &mut worker.exact;
        view.gain(&mut exact.theta);
        exact.ws.work = Work::default();
        let (n, m) = (exact.s.n, exact.s.m());
        let (mut state, warm) = self.owner.adopt(start.or_else(|| self.home.clone()), n, m);
        if fresh {
            state.factored = false;
        }
        let mut verdict = exact.solve(&mut state, warm);
        if warm && !accurate(exact, &verdict) {
            verdict = exact.solve(&mut state, false);
        }
        let mut link = Link::Path;
        if !accurate(exact, &verdict) {
            link = Link::Reference;
            verdict = self.by_reference(&view, exact, &mut state);
        }
        let optimum = self.optimum(&view, exact, &mut state, verdict, link);
        if fresh {
            state.factored = false;
        }
        Ok((optimum, Arc::new(state)))
    }

    /// Clarabel's answer, crossed over to a basic solution by starting the engine at it.
    fn by_reference(&self, view: &View<'_>, exact: &mut ExactWorker, state: &mut State) -> Verdict {
        if self.penalties.is_some() {
            return Verdict::Stalled;
        }
        let reference = reference::solve(view);
        match reference.status {
            ReferenceStatus::Solved => {
                state.x.copy_from_slice(&reference.x);
                exact.s.excess(exact.ws.kernel, &state.x, &mut exact.ws.z);
                let size = state.x.iter().chain(&exact.s.d).fold(1e-9_f64, |m, v| m.max(v.abs()));
                for i in 0..exact.s.m() {
                    let caps = exact.caps[i];
                    let (z, lambda) =
                        (exact.ws.z[i], reference.rows[view.shape.position(exact.s.ids[i])] * exact.norms[i]);
                    state.lambda[i] = lambda.clamp(-caps.under, caps.over);
                    state.piece[i] = match z {
                        _ if caps.over + caps.under <= 0.0 => Piece::Below,
                        z if z.abs() <= 1e-6 * size => Piece::On,
                        z if z < 0.0 => Piece::Below,
                        _ => Piece::Above,
                    };
                }
                state.factored = false;
                let verdict = exact.solve(state, true);
                if accurate(exact, &verdict) {
                    return verdict;
                }
                state.x.copy_from_slice(&reference.x);
                Verdict::Stalled
            }
            ReferenceStatus::Infeasible => {
                // Its word is not enough: the multipliers have to be a proof.
                let largest = reference.rows.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
                let multiplier = |i: usize| {
                    let y = reference.rows[view.shape.position(exact.s.ids[i])];
                    if exact.hard(i) && y.abs() > 1e-6 * largest { y * exact.norms[i] } else { 0.0 }
                };
                let y: Vec<f64> = (0..exact.s.m()).map(multiplier).collect();
                if exact.proves_infeasible(&y) {
                    return Verdict::Infeasible((0..y.len()).filter(|&i| y[i] != 0.0).collect());
                }
                Verdict::Stalled
            }
            ReferenceStatus::Unbounded => {
                let length = exact.ws.kernel.dot(&reference.x, &reference.x).sqrt();
                for (ray, x) in exact.ws.dx.iter_mut().zip(&reference.x) {
                    *ray = x / length;
                }
                // Nor here: the ray has to be one.
                let mut path = Path::new(&exact.s, state, &mut exact.ws, &exact.theta);
                if path.gains_along_ray() { Verdict::Unbounded } else { Verdict::Stalled }
            }
            ReferenceStatus::Failed => Verdict::Stalled,
        }
    }

    fn optimum(
        &self,
        view: &View<'_>,
        exact: &mut ExactWorker,
        state: &mut State,
        verdict: Verdict,
        link: Link,
    ) -> Optimum {
        let sign = self.problem.sign();
        let shape = view.shape;
        let mut rank_deficient = false;
        let mut basis = Vec::new();
        let mut objective = f64::NAN;
        let status = match verdict {
            Verdict::Optimal => {
                rank_deficient = !state.springs.is_empty();
                if rank_deficient {
                    minimum_norm(exact, &mut state.x);
                }
                basis = independent_rows(exact, state);
                // A variable at its bound is there exactly.
                for (i, u) in (exact.s.m_dense..).zip(&exact.s.unit) {
                    if state.piece[i] == Piece::On {
                        state.x[u.var] = u.sign * exact.s.d[i];
                    }
                }
                Status::Optimal
            }
            Verdict::Infeasible(rows) => {
                objective = -sign * f64::INFINITY;
                let rows = exact.irreducible(rows);
                Status::Infeasible { rows: rows.into_iter().map(|i| exact.s.ids[i]).collect() }
            }
            Verdict::Unbounded => {
                let ray = exact.ws.dx[..shape.n].to_vec();
                if let Some(rows) = self.infeasible_rows(view, exact) {
                    objective = -sign * f64::INFINITY;
                    Status::Infeasible { rows }
                } else {
                    objective = sign * f64::INFINITY;
                    Status::Unbounded { ray }
                }
            }
            Verdict::Stalled => Status::NumericalTrouble,
        };
        if state.x.iter().any(|x| !x.is_finite()) {
            state.x.fill(0.0);
        }
        let mut stacked = vec![0.0; shape.rows()];
        if matches!(status, Status::Optimal | Status::NumericalTrouble) {
            objective = view.objective(&state.x);
            for i in 0..exact.s.m() {
                let Caps { over, under } = exact.caps[i];
                let lambda = state.lambda[i].clamp(-under.min(f64::MAX), over.min(f64::MAX)) / exact.norms[i];
                let lambda = if lambda.is_finite() { lambda } else { 0.0 };
                let id = exact.s.ids[i];
                stacked[shape.position(id)] = lambda;
                // A zero-width box is one row: its negative side is the lower bound's.
                if let (RowId::Upper(j), true) = (id, lambda < 0.0) {
                    stacked[shape.position(id)] = 0.0;
                    stacked[shape.position(RowId::Lower(j))] = -lambda;
                }
            }
        }
        Optimum {
            status,
            x: state.x.clone(),
            objective,
            multipliers: RowValues::from_stacked(shape, &stacked),
            basis,
            rank_deficient,
            link,
            work: exact.ws.work,
        }
    }

    /// An unbounded objective means nothing if there is no feasible point: ask for one with θ = 0.
    fn infeasible_rows(&self, view: &View<'_>, exact: &mut ExactWorker) -> Option<Vec<RowId>> {
        exact.theta.fill(0.0);
        let mut state = State::new(exact.s.n, exact.s.m());
        let mut verdict = exact.solve(&mut state, false);
        if verdict == Verdict::Stalled {
            let at_rest = View { theta: &vec![0.0; view.shape.n], ..*view };
            verdict = self.by_reference(&at_rest, exact, &mut state);
        }
        view.gain(&mut exact.theta);
        match verdict {
            Verdict::Infeasible(rows) => {
                Some(exact.irreducible(rows).into_iter().map(|i| exact.s.ids[i]).collect())
            }
            _ => None,
        }
    }
}

fn accurate(exact: &ExactWorker, verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Optimal => exact.residual <= ACCURATE,
        Verdict::Stalled => false,
        Verdict::Infeasible(_) | Verdict::Unbounded => true,
    }
}

/// Takes out of x what no row and no Q sees.
fn minimum_norm(exact: &ExactWorker, x: &mut [f64]) {
    let (s, n) = (&exact.s, exact.s.n);
    let mut gram = s.two_q.clone().unwrap_or_else(|| vec![0.0; n * n]);
    let mut row = vec![0.0; n];
    for i in 0..s.m() {
        s.write_row(i, &mut row);
        for (a, out) in row.iter().zip(gram.chunks_exact_mut(n)) {
            exact.ws.kernel.axpy(*a, &row, out);
        }
    }
    let Some((values, vectors)) = linalg::eigen(&gram, n) else { return };
    let largest = values.last().copied().unwrap_or(0.0);
    for (i, value) in values.iter().enumerate() {
        if *value <= 1e-12 * largest {
            let along = exact.ws.kernel.dot(vectors.row(i), x);
            exact.ws.kernel.axpy(-along, vectors.row(i), x);
        }
    }
}

/// The rows at their kink; for an LP a largest independent set of them, bounds first.
fn independent_rows(exact: &ExactWorker, state: &State) -> Vec<RowId> {
    let s = &exact.s;
    let on: Vec<usize> = (0..s.m()).rev().filter(|&i| state.piece[i] == Piece::On).collect();
    let independent = on.len() <= s.n && state.springs.is_empty();
    if independent || s.two_q.is_some() {
        return on.into_iter().map(|i| s.ids[i]).collect();
    }
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut rows = Vec::new();
    let mut row = vec![0.0; s.n];
    for i in on {
        s.write_row(i, &mut row);
        // Twice is enough: Gram–Schmidt with one repetition.
        for _ in 0..2 {
            for b in &basis {
                let along: f64 = b.iter().zip(&row).map(|(b, r)| b * r).sum();
                row.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
            }
        }
        let left = row.iter().map(|r| r * r).sum::<f64>().sqrt();
        if left > 1e-9 {
            basis.push(row.iter().map(|r| r / left).collect());
            rows.push(s.ids[i]);
        }
    }
    rows
}
