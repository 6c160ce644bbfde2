//! The surrogate: the softened problem with every hinge smoothed, its optimum, and what gradients need of it.

use std::sync::Arc;

use crate::batch;
use crate::clock::Clock;
use crate::multipliers::Multipliers;
use crate::newton;
use crate::optimum::{Link, RowValues, Status};
use crate::oracle::Oracle;
use crate::path::{Outcome, Path};
use crate::pool::Pool;
use crate::problem::{Instance, Problem, ProblemError, RowId, Shape, View};
use crate::pseudo::Pseudo;
use crate::reference;
use crate::settle::REFUSED;
use crate::softened::{Law, Piece, Softened};
use crate::solution::{Solution, SurrogateStatus};
use crate::store::Store;
use crate::workspace::{State, Work, Workspace};

/// How the pieces of S are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Segments {
    /// Solve the surrogate itself: pieces and point agree, the gradient is the derivative of what was solved.
    #[default]
    Smooth,
    /// The paper's way: read the pieces at the optimum of the original problem, extend them to the whole space, take the
    /// closed-form point.
    Vertex,
}

/// Settings of a surrogate.
#[derive(Clone, Debug)]
pub struct SurrogateOptions {
    /// Sharpness K: the hinge is smoothed over |z| ≤ 1/4K.
    pub k: f64,
    /// A sharpness for each row instead of one for all.
    pub k_rows: Option<RowValues>,
    /// How the pieces are chosen.
    pub segments: Segments,
}

impl Default for SurrogateOptions {
    fn default() -> Self {
        Self { k: 5.0, k_rows: None, segments: Segments::Smooth }
    }
}

/// A problem softened and smoothed, ready to be solved for any instance.
///
/// ```
/// use regretless_core::{Instance, Matrix, Multipliers, Problem, Rule, Soft, Surrogate, SurrogateOptions};
/// let problem = Problem::maximize(2)
///     .linear([3.0, 2.0])
///     .at_most("land", Matrix::from_rows(&[[1.0, 1.0]]), [8.0])
///     .soft("water", Soft::over(Matrix::from_rows(&[[2.0, 1.0]]), [10.0], [0.6]))
///     .build()?;
/// let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()])?;
/// let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::default())?;
/// let solution = surrogate.solve(&Instance::theta(&[2.5, 2.2]))?;
/// // The gradient of x₀ with respect to every parameter, from one solve with the factor at hand.
/// let gradients = solution.vjp(&[1.0, 0.0]);
/// assert_eq!(gradients.theta.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Surrogate {
    problem: Problem,
    penalties: Vec<f64>,
    /// K of the stacked rows.
    sharpness: Vec<f64>,
    /// K of the engine's rows.
    own_sharpness: Arc<Vec<f64>>,
    segments: Segments,
    rows: Arc<Softened>,
    oracle: Oracle,
    pool: Pool<Worker>,
}

struct Worker {
    ws: Workspace,
    /// Rows of instances that override them.
    rows: Softened,
    theta: Vec<f64>,
}

impl Surrogate {
    /// Softens with the given multipliers and smooths with the given sharpness.
    pub fn new(
        problem: &Problem,
        multipliers: &Multipliers,
        options: &SurrogateOptions,
    ) -> Result<Self, ProblemError> {
        let shape = problem.shape();
        let sharpness = match &options.k_rows {
            Some(rows) => rows.stacked(),
            None => vec![options.k; shape.rows()],
        };
        check("K", shape.rows(), &sharpness)?;
        let penalties = multipliers.values.stacked();
        check("multiplier", shape.rows(), &penalties)?;
        let sharpness_of = |rows: &Softened| Arc::new(engine_sharpness(rows, problem.shape(), &sharpness));
        let view = problem.view(&Instance::default())?;
        let mut rows = Softened::new(&view);
        set_laws(&mut rows, &view, &penalties, &sharpness);
        let own_sharpness = sharpness_of(&rows);
        Ok(Self {
            problem: problem.clone(),
            penalties,
            sharpness,
            own_sharpness,
            segments: options.segments,
            rows: Arc::new(rows),
            oracle: Oracle::new(problem),
            pool: Pool::new(),
        })
    }

    /// The problem behind the surrogate.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// How the pieces are chosen.
    pub fn segments(&self) -> Segments {
        self.segments
    }

    /// K of each row of an instance.
    pub(crate) fn sharpness_of(&self, rows: &Softened) -> Arc<Vec<f64>> {
        if std::ptr::eq(rows, &raw const *self.rows) || rows.ids == self.rows.ids {
            return Arc::clone(&self.own_sharpness);
        }
        Arc::new(engine_sharpness(rows, self.problem.shape(), &self.sharpness))
    }

    /// Solves one instance from nothing.
    pub fn solve(&self, instance: &Instance<'_>) -> Result<Solution, ProblemError> {
        self.solve_with(&mut self.pool.take(|| self.new_worker()), instance, None)
    }

    /// Solves many instances in parallel, from nothing. Bit-equal to a loop over [`Surrogate::solve`].
    pub fn solve_batch(&self, instances: &[Instance<'_>]) -> Vec<Result<Solution, ProblemError>> {
        let items = instances.iter().collect();
        batch::map(
            &self.pool,
            || self.new_worker(),
            items,
            |worker, instance| self.solve_with(worker, instance, None),
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
    ) -> Vec<Result<Solution, ProblemError>> {
        assert_eq!(instances.len(), ids.len(), "one id for each instance");
        let items = instances.iter().zip(store.starts(ids)).collect();
        let solved = batch::map(
            &self.pool,
            || self.new_worker(),
            items,
            |worker, (instance, start)| self.solve_with(worker, instance, start),
        );
        let kept = ids.iter().zip(&solved).filter_map(|(id, s)| Some((*id, s.as_ref().ok()?.start())));
        let (ids, states): (Vec<_>, Vec<_>) = kept.unzip();
        store.keep(&ids, states.into_iter());
        solved
    }

    fn new_worker(&self) -> Worker {
        Worker {
            ws: Workspace::new(self.rows.n, self.rows.m()),
            rows: (*self.rows).clone(),
            theta: vec![0.0; self.rows.n],
        }
    }

    fn solve_with(
        &self,
        worker: &mut Worker,
        instance: &Instance<'_>,
        start: Option<Arc<State>>,
    ) -> Result<Solution, ProblemError> {
        let view = self.problem.view(instance)?;
        view.gain(&mut worker.theta);
        let fresh = instance.changes_rows();
        let rows = if fresh {
            worker.rows.load(&view);
            set_laws(&mut worker.rows, &view, &self.penalties, &self.sharpness);
            if worker.rows.m() != worker.ws.z.len() {
                worker.ws = Workspace::new(worker.rows.n, worker.rows.m());
            }
            Arc::new(worker.rows.clone())
        } else {
            if self.rows.m() != worker.ws.z.len() {
                worker.ws = Workspace::new(self.rows.n, self.rows.m());
            }
            Arc::clone(&self.rows)
        };
        worker.ws.work = Work::default();
        let clock = Clock::start();
        let solved = match self.segments {
            Segments::Smooth => self.smooth(&rows, worker, fresh, start),
            Segments::Vertex => self.vertex(&rows, worker, instance, start)?,
        };
        clock.stop(&mut worker.ws.work.nanos.total);
        Ok(Solution::new(self, &view, rows, solved, worker.ws.work))
    }

    /// The surrogate's own optimum.
    fn smooth(
        &self,
        rows: &Arc<Softened>,
        worker: &mut Worker,
        fresh: bool,
        start: Option<Arc<State>>,
    ) -> Solved {
        let (ws, theta) = (&mut worker.ws, &worker.theta);
        let start = start.filter(|s| s.x.len() == rows.n && s.piece.len() == rows.m());
        let warm = start.is_some();
        let mut state = match start {
            Some(shared) => Arc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone()),
            None => State::new(rows.n, rows.m()),
        };
        let mut solved =
            climb(rows, &mut state, ws, theta, if warm { Start::Warm { fresh } } else { Start::Cold });
        let saturated = saturated_rows(rows, &state);
        if !saturated.is_empty() || solved.status == SurrogateStatus::Unbounded {
            // A multiplier was too small for this instance: solve it with the hard rows uncapped.
            let mut uncapped = (**rows).clone();
            for (law, id) in uncapped.laws.iter_mut().zip(&uncapped.ids) {
                if !matches!(id, RowId::Soft(_)) {
                    *law = law.uncapped();
                }
            }
            let again = climb(&uncapped, &mut state, ws, theta, Start::Cold);
            if again.status == SurrogateStatus::Optimal {
                solved = again;
                solved.rows = Some(Arc::new(uncapped));
                solved.status = SurrogateStatus::Uncapped { rows: saturated };
            }
        }
        state.factored &= !fresh && solved.rows.is_none();
        solved.start = Some(Arc::new(state));
        solved
    }

    /// The paper's point: pieces at the exact optimum, extended to the whole space.
    fn vertex(
        &self,
        rows: &Arc<Softened>,
        worker: &mut Worker,
        instance: &Instance<'_>,
        start: Option<Arc<State>>,
    ) -> Result<Solved, ProblemError> {
        let (ws, theta) = (&mut worker.ws, &worker.theta);
        let mut oracle = self.oracle.worker();
        let (optimum, exact_state) = self.oracle.solve_with(&mut oracle, instance, start)?;
        ws.work = optimum.work;
        let mut state = State::new(rows.n, rows.m());
        state.x.copy_from_slice(&optimum.x);
        let mut solved = Solved::new(SurrogateStatus::Optimal, optimum.link);
        solved.status = match optimum.status {
            Status::Optimal => SurrogateStatus::Optimal,
            Status::Infeasible { rows } => SurrogateStatus::Infeasible { rows },
            Status::Unbounded { .. } => SurrogateStatus::Unbounded,
            Status::NumericalTrouble => SurrogateStatus::NumericalTrouble,
        };
        rows.excess(ws.kernel, &state.x, &mut ws.z);
        for i in 0..rows.m() {
            state.piece[i] = rows.laws[i].piece(ws.z[i]);
        }
        let regular = ws.factorise(rows, &mut state, 0.0);
        if !regular {
            solved.pseudo = Some(Arc::new(Pseudo::new(rows, &state)));
        }
        // x̄ = x* + H⁻¹(θ − 2Qx* − C'ᵀλ_frozen(z*)), with one refinement.
        for _ in 0..2 {
            rows.excess(ws.kernel, &state.x, &mut ws.z);
            for i in 0..rows.m() {
                ws.lambda[i] = rows.laws[i].multiplier(state.piece[i], ws.z[i]);
            }
            rows.force(ws.kernel, &state.x, &ws.lambda, &mut ws.dx[..rows.n]);
            for (d, t) in ws.dx.iter_mut().zip(theta) {
                *d = t - *d;
            }
            match &solved.pseudo {
                Some(pseudo) => pseudo.solve(&mut ws.dx[..rows.n]),
                None => state.factor.solve(ws.kernel, &mut ws.dx),
            }
            ws.kernel.axpy(1.0, &ws.dx, &mut state.x);
        }
        rows.excess(ws.kernel, &state.x, &mut ws.z);
        for i in 0..rows.m() {
            state.lambda[i] = rows.laws[i].multiplier(state.piece[i], ws.z[i]);
        }
        rows.force(ws.kernel, &state.x, &state.lambda, &mut ws.residual);
        let (mut worst, mut scale) = (0.0_f64, f64::MIN_POSITIVE);
        for (r, t) in ws.residual.iter().zip(theta) {
            worst = worst.max((t - r).abs());
            scale = scale.max(t.abs()).max(r.abs());
        }
        solved.residual = worst / scale;
        if state.x.iter().any(|x| !x.is_finite()) {
            state.x.copy_from_slice(&optimum.x);
            solved.status = SurrogateStatus::NumericalTrouble;
        }
        solved.state = Some(Arc::new(state));
        solved.start = Some(exact_state);
        Ok(solved)
    }
}

/// What a solve hands to its [`Solution`].
pub(crate) struct Solved {
    pub(crate) status: SurrogateStatus,
    pub(crate) link: Link,
    pub(crate) residual: f64,
    /// Where the next solve of this sample starts.
    pub(crate) start: Option<Arc<State>>,
    /// The state gradients use, if it is not the start.
    pub(crate) state: Option<Arc<State>>,
    /// The rows gradients use, if they are not the surrogate's.
    pub(crate) rows: Option<Arc<Softened>>,
    /// Stands in for the factor where H is singular.
    pub(crate) pseudo: Option<Arc<Pseudo>>,
}

impl Solved {
    fn new(status: SurrogateStatus, link: Link) -> Self {
        Self { status, link, residual: 0.0, start: None, state: None, rows: None, pseudo: None }
    }
}

enum Start {
    Cold,
    Warm { fresh: bool },
}

/// Path, then Newton, then Clarabel: the first that reaches the accuracy answers.
fn climb(rows: &Softened, state: &mut State, ws: &mut Workspace, theta: &[f64], start: Start) -> Solved {
    let mut outcome = path(rows, state, ws, theta, &start);
    let mut residual = f64::INFINITY;
    if outcome == Outcome::Arrived {
        residual = ws.settle(rows, state, theta);
    }
    if residual > REFUSED && matches!(start, Start::Warm { .. }) && outcome != Outcome::Unbounded {
        outcome = path(rows, state, ws, theta, &Start::Cold);
        residual = if outcome == Outcome::Arrived { ws.settle(rows, state, theta) } else { f64::INFINITY };
    }
    let mut link = Link::Path;
    if outcome != Outcome::Unbounded && residual > REFUSED {
        link = Link::Newton;
        if state.x.iter().any(|x| !x.is_finite()) {
            state.x.fill(0.0);
        }
        outcome = newton::climb(rows, state, ws, theta);
        if outcome == Outcome::Arrived {
            residual = ws.settle(rows, state, theta);
        }
    }
    if outcome != Outcome::Unbounded && residual > REFUSED {
        if let Some(x) = reference::solve_softened(rows, theta) {
            link = Link::Reference;
            state.x.copy_from_slice(&x);
            outcome = newton::climb(rows, state, ws, theta);
            residual = ws.settle(rows, state, theta);
        }
    }
    let status = match outcome {
        Outcome::Unbounded => SurrogateStatus::Unbounded,
        _ if residual <= REFUSED => SurrogateStatus::Optimal,
        _ => SurrogateStatus::NumericalTrouble,
    };
    if state.x.iter().any(|x| !x.is_finite()) {
        state.x.fill(0.0);
    }
    if status != SurrogateStatus::Optimal {
        residual = ws.stationarity(rows, &state.x, theta).min(f64::MAX);
    }
    state.lambda.copy_from_slice(&ws.lambda);
    state.z.copy_from_slice(&ws.z);
    state.theta.copy_from_slice(theta);
    let mut solved = Solved::new(status, link);
    solved.residual = residual;
    if !state.factored || !state.springs.is_empty() {
        solved.pseudo = Some(Arc::new(Pseudo::new(rows, state)));
        if solved.status == SurrogateStatus::Optimal {
            solved.pseudo.iter().for_each(|p| p.minimum_norm(rows, state));
        }
    }
    solved
}

fn path(rows: &Softened, state: &mut State, ws: &mut Workspace, theta: &[f64], start: &Start) -> Outcome {
    match start {
        Start::Cold => {
            start_point(rows, &mut state.x);
            rows.excess(ws.kernel, &state.x, &mut ws.shift);
            ws.z.copy_from_slice(&ws.shift);
            for i in 0..rows.m() {
                state.piece[i] = rows.laws[i].piece(ws.z[i]);
            }
            state.factored = false;
        }
        Start::Warm { fresh: false } if state.factored => {
            return Path::new(rows, state, ws, theta).resume();
        }
        Start::Warm { .. } => {
            // Other rows, same pieces and multipliers: the limits are shifted to where these are optimal.
            rows.excess(ws.kernel, &state.x, &mut ws.shift);
            ws.z.copy_from_slice(&ws.shift);
            for i in 0..rows.m() {
                let law = &rows.laws[i];
                let z = &mut ws.z[i];
                match state.piece[i] {
                    _ if law.slope == 0.0 => state.piece[i] = Piece::Below,
                    Piece::Below => *z = z.min(law.lo),
                    Piece::Above => *z = z.max(law.hi),
                    Piece::On => *z = ((state.lambda[i] - law.anchor) / law.slope).clamp(law.lo, law.hi),
                }
            }
            state.factored = false;
        }
    }
    let mut path = Path::new(rows, state, ws, theta);
    if !path.is_factored() && !path.factorise() {
        return Outcome::Stalled;
    }
    path.run()
}

/// The corner every cold start begins at: each variable at a bound if it has one.
fn start_point(rows: &Softened, x: &mut [f64]) {
    x.fill(0.0);
    for (u, d) in rows.unit.iter().zip(&rows.d[rows.m_dense..]).rev() {
        x[u.var] = u.sign * d;
    }
}

/// Hard rows whose multiplier stands at its cap: the penalty is too small for this instance.
fn saturated_rows(rows: &Softened, state: &State) -> Vec<RowId> {
    let at_cap = |i: usize| match state.piece[i] {
        Piece::Above => rows.laws[i].above > 0.0,
        Piece::Below => rows.laws[i].below < 0.0,
        Piece::On => false,
    };
    (0..rows.m())
        .filter(|&i| !matches!(rows.ids[i], RowId::Soft(_)) && at_cap(i))
        .map(|i| rows.ids[i])
        .collect()
}

/// Laws of the surrogate: α and under on soft rows, the penalties on hard ones.
fn set_laws(rows: &mut Softened, view: &View<'_>, penalties: &[f64], sharpness: &[f64]) {
    for i in 0..rows.m() {
        let at = view.shape.position(rows.ids[i]);
        let (over, under) = match rows.ids[i] {
            RowId::Soft(k) => (view.alpha[k], view.under[k]),
            RowId::Equal(_) => (penalties[at], penalties[at]),
            RowId::Upper(j) if rows.is_equality(i, view) => {
                (penalties[at], penalties[view.shape.position(RowId::Lower(j))])
            }
            RowId::AtMost(_) | RowId::Lower(_) | RowId::Upper(_) => (penalties[at], 0.0),
        };
        rows.laws[i] = Law::smooth(over, under, sharpness[at]);
    }
}

fn engine_sharpness(rows: &Softened, shape: Shape, stacked: &[f64]) -> Vec<f64> {
    rows.ids.iter().map(|id| stacked[shape.position(*id)]).collect()
}

fn check(what: &str, expected: usize, values: &[f64]) -> Result<(), ProblemError> {
    if values.len() != expected {
        return Err(ProblemError::Length {
            what: format!("{what} of the rows"),
            expected,
            found: values.len(),
        });
    }
    match values.iter().find(|v| !(v.is_finite() && **v > 0.0)) {
        Some(&value) => Err(ProblemError::Setting {
            what: what.into(),
            value,
            expected: "a positive finite number is needed",
        }),
        None => Ok(()),
    }
}
