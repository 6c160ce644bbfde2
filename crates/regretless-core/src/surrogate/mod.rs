//! The surrogate: the softened problem with every hinge smoothed, its optimum, and what gradients need of it.

pub(crate) mod exact_gap;
pub(crate) mod interior;
mod kinks;
pub(crate) mod objective;
pub(crate) mod sharpness;
pub(crate) mod solution;
pub(crate) mod solutions;
mod vertex;

pub use sharpness::Sharpness;
pub use solution::Solution;
pub use solutions::Solutions;

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::clock::Clock;
use crate::engine::fallback::{self, Begin};
use crate::engine::hinges::Groups;
use crate::engine::penalty::{engine_sharpness, set_laws};
use crate::engine::pool::Pool;
use crate::engine::rows::Softened;
use crate::engine::state::{Owner, State};
use crate::engine::status::SurrogateStatus;
use crate::engine::workspace::{Work, Workspace};
use crate::multipliers::Multipliers;
use crate::problem::duplicates;
use crate::problem::duplicates::Duplicates;
use crate::problem::parameter::Parameter;
use crate::problem::{Instance, Problem, ProblemError, RowId, RowValues, View};
use crate::solve::batch::{self, Solver};
use crate::solve::optimum::Status;
use crate::solve::oracle::Oracle;
use crate::solve::store::Store;
use crate::surrogate::kinks::Kinks;
use crate::surrogate::objective::Stage;

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
    /// Sharpness K: the hinge is smoothed over |z| ≤ 1/4K, in the rows' own units.
    pub k: f64,
    /// A sharpness for each row instead of one for all.
    pub k_rows: Option<RowValues>,
    /// How the pieces are chosen.
    pub segments: Segments,
    /// With a number above 0, gradients are smoothed: those of an interior-point method whose duality gap is that share of
    /// the objective. The point stays the optimum; see [`Surrogate::smoothing`].
    pub smoothing: f64,
}

impl SurrogateOptions {
    /// The shares that gradients can be smoothed by; below them the weights of an interior-point method are rounding.
    pub const SMOOTHINGS: RangeInclusive<f64> = 1e-9..=1.0;

    /// One K for all rows, smooth pieces, gradients as they are. There is no K that fits every problem, as it is in the units
    /// of the rows: [`Sharpness::options`](crate::Sharpness::options) has one that fits instances.
    pub fn with_k(k: f64) -> Self {
        Self { k, k_rows: None, segments: Segments::Smooth, smoothing: 0.0 }
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
/// let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(5.0))?;
/// let solution = surrogate.solve(&Instance::theta(&[2.5, 2.2]))?;
/// // The gradient of x₀ with respect to every parameter, from one solve with the factor at hand.
/// let gradients = solution.vjp(&[1.0, 0.0]);
/// assert_eq!(gradients.theta.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Surrogate {
    problem: Problem,
    /// As given, and as identical rows share them.
    penalties: Vec<f64>,
    shared: Vec<f64>,
    /// K of the stacked rows.
    sharpness: Vec<f64>,
    /// K of the engine's rows.
    own_sharpness: Arc<Vec<f64>>,
    /// Soft rows of the problem that are one row of the engine.
    groups: Groups,
    segments: Segments,
    smoothing: f64,
    rows: Arc<Softened>,
    oracle: Oracle,
    owner: Owner,
    /// Where solves without a start of their own begin.
    home: Option<Arc<State>>,
    /// Whether the problem's own hard rows are known to hold together.
    feasible: AtomicBool,
    pool: Pool<Worker>,
}

pub(crate) struct Worker {
    ws: Workspace,
    /// Rows of instances that override them.
    rows: Softened,
    theta: Vec<f64>,
    /// For sparse linear programs, once one is solved warm.
    kinks: Option<Kinks>,
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
            Some(rows) => rows.checked("K", shape)?.stacked(),
            None => vec![options.k; shape.rows()],
        };
        check("K", &sharpness)?;
        let penalties = multipliers.values.checked("multiplier", shape)?.stacked();
        check("multiplier", &penalties)?;
        check_smoothing(options)?;
        let sharpness_of = |rows: &Softened| Arc::new(engine_sharpness(rows, problem.shape(), &sharpness));
        let view = problem.view(&Instance::default())?;
        let shared = Duplicates::of(&view).shared(&penalties);
        let groups = Groups::of(&view, Some(&sharpness));
        let mut rows = Softened::new(&view, &groups);
        set_laws(&mut rows, &view, &shared, &sharpness);
        let own_sharpness = sharpness_of(&rows);
        Ok(Self {
            problem: problem.clone(),
            penalties,
            shared,
            sharpness,
            own_sharpness,
            groups,
            segments: options.segments,
            smoothing: options.smoothing,
            rows: Arc::new(rows),
            oracle: Oracle::new(&problem.or_zero_theta()),
            owner: Owner::new(),
            home: None,
            feasible: AtomicBool::new(false),
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

    /// The relative duality gap of smoothed gradients; 0 if gradients are the derivatives of the optimum.
    ///
    /// Those of an LP's surrogate know the rows that bind and no other: a decision that is about to change looks as stiff as
    /// one that is not. Smoothed gradients (0.3 is a good first try) see what is near, and cost a factorisation each. A QP
    /// whose Q is regular has no need of them.
    ///
    /// ```
    /// # use regretless_core::*;
    /// # let problem = Problem::maximize(2).upper([1.0, 1.0]).build()?;
    /// # let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::theta(&[1.0, 1.0])])?;
    /// let options = SurrogateOptions { smoothing: 0.03, ..SurrogateOptions::with_k(5.0) };
    /// let solution = Surrogate::new(&problem, &multipliers, &options)?.solve(&Instance::theta(&[1.0, 0.1]))?;
    /// // The second variable would leave its bound first.
    /// assert!(solution.vjp(&[0.0, 1.0]).theta[1] > 10.0 * solution.vjp(&[1.0, 0.0]).theta[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn smoothing(&self) -> f64 {
        self.smoothing
    }

    /// K of each row of an instance.
    pub(crate) fn sharpness_of(&self, rows: &Softened) -> Arc<Vec<f64>> {
        if std::ptr::eq(rows, &raw const *self.rows) || rows.ids == self.rows.ids {
            return Arc::clone(&self.own_sharpness);
        }
        Arc::new(engine_sharpness(rows, self.problem.shape(), &self.sharpness))
    }

    /// Lets solves that have no start of their own begin at the optimum of `instance` instead of a corner of the bounds:
    /// a typical instance, such as the mean of the training data, about halves the way. False if it has no optimum.
    ///
    /// ```
    /// # use regretless_core::*;
    /// # let problem = Problem::maximize(2).upper([1.0, 1.0]).build()?;
    /// # let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::theta(&[1.0, 1.0])])?;
    /// let mut surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(5.0))?;
    /// assert!(surrogate.set_home(&Instance::theta(&[0.5, 0.5]))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_home(&mut self, instance: &Instance<'_>) -> Result<bool, ProblemError> {
        self.home = None;
        let solution = self.solve(instance)?;
        if solution.is_optimal() {
            self.home = Some(Arc::clone(solution.start()));
        }
        Ok(self.home.is_some())
    }

    /// Solves one instance from nothing.
    pub fn solve(&self, instance: &Instance<'_>) -> Result<Solution, ProblemError> {
        batch::one(self, instance)
    }

    /// Solves many instances in parallel, from nothing. Bit-equal to a loop over [`Surrogate::solve`].
    pub fn solve_batch(&self, instances: &[Instance<'_>]) -> Vec<Result<Solution, ProblemError>> {
        batch::cold(self, instances)
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
        batch::warm(self, instances, ids, store, |answer, _| answer)
    }

    /// The surrogate objective of an instance, for any x; `uncapped` as a solve that found its multipliers too small.
    pub(crate) fn stage(&self, view: &View<'_>, uncapped: bool) -> Stage {
        let mut theta = vec![0.0; view.shape.n];
        view.gain(&mut theta);
        let mut rows = Arc::clone(&self.rows);
        if view.changes_rows() {
            // From the problem's rows, whose analysis serves rows of the same pattern.
            let mut own = (*self.rows).clone();
            own.load(view, &self.groups_of(view));
            set_laws(&mut own, view, &self.penalties_of(view), &self.sharpness);
            rows = Arc::new(own);
        }
        if uncapped {
            Arc::make_mut(&mut rows).uncap();
        }
        Stage { sharpness: self.sharpness_of(&rows), rows, theta }
    }

    /// Hard rows whose penalty was too small, for a solution that had to do without caps. Where the softened problem was
    /// unbounded no row is named: it is those whose multiplier exceeds its penalty, or all that bind.
    pub(crate) fn uncapped(&self, solution: &Solution) -> Option<Vec<RowId>> {
        let SurrogateStatus::Uncapped { rows } = &solution.status else { return None };
        if !rows.is_empty() {
            return Some(rows.clone());
        }
        let shape = self.problem.shape();
        let (ids, lambda) = (&solution.rows.ids, &solution.state.lambda);
        let hard = || ids.iter().zip(lambda).filter(|(id, _)| !matches!(id, RowId::Soft(_)));
        let over: Vec<RowId> = hard()
            .filter(|(id, l)| l.abs() > self.shared[shape.position(**id)].max(f64::MIN_POSITIVE))
            .map(|(id, _)| *id)
            .collect();
        if !over.is_empty() {
            return Some(over);
        }
        Some(hard().filter(|(_, l)| **l != 0.0).map(|(id, _)| *id).collect())
    }

    fn groups_of(&self, view: &View<'_>) -> Cow<'_, Groups> {
        self.groups.in_view(view, Some(&self.sharpness))
    }

    /// Penalties of the stacked rows of an instance. Hard rows that it gives itself may be predicted, each with a gradient of
    /// its own: only those of the problem are merged.
    fn penalties_of(&self, view: &View<'_>) -> Cow<'_, [f64]> {
        let at_most = view.gives(&[Parameter::AtMostRows, Parameter::AtMost]);
        let equal = view.gives(&[Parameter::EqualRows, Parameter::Equals]);
        if !at_most && !equal {
            return Cow::Borrowed(&self.shared);
        }
        let shape = self.problem.shape();
        Cow::Owned(duplicates::unmerged(shape, &self.shared, &self.penalties, at_most, equal))
    }

    /// Solves the original problem.
    pub(crate) fn oracle(&self) -> &Oracle {
        &self.oracle
    }
}

impl Solver for Surrogate {
    type Worker = Worker;
    type Answer = Solution;

    fn pool(&self) -> &Pool<Worker> {
        &self.pool
    }

    fn new_worker(&self) -> Worker {
        Worker {
            ws: Workspace::new(self.owner, self.rows.n, self.rows.m()),
            rows: (*self.rows).clone(),
            theta: vec![0.0; self.rows.n],
            kinks: None,
        }
    }

    fn parse<'a>(&'a self, instance: &Instance<'a>) -> Result<View<'a>, ProblemError> {
        self.problem.view(instance)
    }

    fn solve_view(
        &self,
        worker: &mut Worker,
        view: &View<'_>,
        start: Option<Arc<State>>,
    ) -> (Solution, Arc<State>) {
        view.gain(&mut worker.theta);
        let fresh = view.changes_rows();
        let rows = if fresh {
            let groups = self.groups_of(view);
            // What has many breakpoints, or an analysis, goes on from the last; what has not is put together where it stays.
            let mut own = if groups.rows().is_some() || self.rows.analysis.is_some() {
                worker.rows.load(view, &groups);
                worker.rows.clone()
            } else {
                Softened::new(view, &groups)
            };
            set_laws(&mut own, view, &self.penalties_of(view), &self.sharpness);
            Arc::new(own)
        } else {
            Arc::clone(&self.rows)
        };
        worker.ws.resize(rows.n, rows.m());
        worker.ws.work = Work::default();
        let start = start.or_else(|| self.home.clone());
        let clock = Clock::start();
        let mut solved = match self.segments {
            Segments::Smooth => {
                let Worker { ws, theta, kinks, .. } = worker;
                let mut guess = |rows: &Softened, state: &mut State, from: Begin, work: &mut Work| {
                    let groups = self.groups_of(view);
                    let kinks = kinks.get_or_insert_with(|| Kinks::new(view, &groups));
                    kinks.load(view, &groups, rows);
                    kinks.guess(rows, state, from, self.owner, work)
                };
                fallback::smooth(&rows, ws, theta, fresh, start, &mut guess)
            }
            Segments::Vertex => {
                vertex::vertex(&self.oracle, &rows, &mut worker.ws, &worker.theta, view, start)
            }
        };
        clock.stop(&mut worker.ws.work.nanos.total);
        // Too small a multiplier, or no multiplier would do? Only the original problem can tell, and once it was feasible it
        // is so for all θ. Unbounded it cannot be where the uncapped one, which allows all that it does, has an optimum.
        let known = !view.changes_feasible() && self.feasible.load(Ordering::Relaxed);
        if matches!(solved.status, SurrogateStatus::Uncapped { .. }) && !known {
            match self.oracle.solve_from(view, None).0.status {
                Status::Infeasible { rows } => solved.status = SurrogateStatus::Infeasible { rows },
                Status::Unbounded { .. } => solved.status = SurrogateStatus::Unbounded,
                Status::Optimal if !view.changes_feasible() => {
                    self.feasible.store(true, Ordering::Relaxed);
                }
                Status::Optimal | Status::NumericalTrouble => {}
            }
        }
        let solution = Solution::new(self, view, rows, solved, worker.ws.work);
        let state = Arc::clone(solution.start());
        (solution, state)
    }
}

fn check_smoothing(options: &SurrogateOptions) -> Result<(), ProblemError> {
    let value = options.smoothing;
    let expected = if value != 0.0 && !SurrogateOptions::SMOOTHINGS.contains(&value) {
        "a share of the objective from 1e-9 to 1 is needed, or 0"
    } else if value > 0.0 && options.segments == Segments::Vertex {
        "the point of vertex segments has no neighbours to see: smooth segments are needed"
    } else {
        return Ok(());
    };
    Err(ProblemError::Setting { what: "smoothing".into(), value, expected })
}

fn check(what: &str, values: &[f64]) -> Result<(), ProblemError> {
    match values.iter().find(|v| !(v.is_finite() && **v > 0.0)) {
        Some(&value) => Err(ProblemError::Setting {
            what: what.into(),
            value,
            expected: "a positive finite number is needed",
        }),
        None => Ok(()),
    }
}
