//! The exact solver: one instance, or thousands, cold or warm.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::engine::hinges::Groups;
use crate::engine::pool::Pool;
use crate::engine::state::{Owner, State};
use crate::engine::status::Link;
use crate::engine::stop::Stop;
use crate::engine::workspace::Work;
use crate::problem::parameter::Parameter;
use crate::problem::tolerance::Tolerances;
use crate::problem::{Form, Instance, Problem, ProblemError, RowValues, View};
use crate::solve::active_set;
use crate::solve::batch::{self, Solver};
use crate::solve::crossover::{self, Crossed};
use crate::solve::exact::{ExactWorker, PATIENCE, Verdict};
use crate::solve::optimum::Optimum;
use crate::solve::redundant;
use crate::solve::store::Store;

mod answer;
mod irreducible;
mod sparse;

/// Changes of the active set that are tried near an answer before the next link is asked.
const NEWTON_STEPS: usize = 12;
/// As [`PATIENCE`], when nobody else is left to ask.
const LAST_PATIENCE: usize = 50;

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
    tolerances: Tolerances,
    /// Equalities that follow from the others.
    implied: OnceLock<Vec<usize>>,
    /// Soft rows of the problem that are one row of the engine.
    groups: OnceLock<Groups>,
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
        Self {
            problem: problem.clone(),
            penalties: None,
            tolerances: Tolerances::default(),
            implied: OnceLock::new(),
            groups: OnceLock::new(),
            owner: Owner::new(),
            home: None,
            pool: Pool::new(),
        }
    }

    /// The same oracle with other demands on what is called optimal.
    pub fn with_tolerances(self, tolerances: Tolerances) -> Self {
        Self { tolerances, ..self }
    }

    /// An oracle for the softened problem: a unit of violation of a hard row costs its penalty, no more.
    pub(crate) fn softened(problem: &Problem, penalties: &RowValues) -> Self {
        Self { penalties: Some(penalties.stacked()), ..Self::new(problem) }
    }

    /// Lets solves that have no start of their own begin at the optimum of `instance`, as
    /// [`Surrogate::set_home`](crate::Surrogate::set_home) does. False if it has no optimum.
    pub fn set_home(&mut self, instance: &Instance<'_>) -> Result<bool, ProblemError> {
        self.home = None;
        let view = self.parse(instance)?;
        let (optimum, state) = self.solve_from(&view, None);
        if optimum.is_optimal() {
            self.home = Some(state);
        }
        Ok(self.home.is_some())
    }

    /// Solves one instance from nothing.
    pub fn solve(&self, instance: &Instance<'_>) -> Result<Optimum, ProblemError> {
        batch::one(self, instance)
    }

    /// Solves many instances in parallel, from nothing.
    pub fn solve_batch(&self, instances: &[Instance<'_>]) -> Vec<Result<Optimum, ProblemError>> {
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
    ) -> Vec<Result<Optimum, ProblemError>> {
        batch::warm(self, instances, ids, store, |answer, _| answer)
    }

    /// Solves a parsed instance from a state; returns the one for the next start.
    pub(crate) fn solve_from(&self, view: &View<'_>, start: Option<Arc<State>>) -> (Optimum, Arc<State>) {
        self.solve_view(&mut self.pool.take(|| self.new_worker()), view, start)
    }

    /// The problem's equalities that say nothing new, for an instance that keeps them. With penalties every row has its price.
    fn implied(&self, view: &View<'_>) -> &[usize] {
        // Sparse equations are solved as they stand, dependent rows and all.
        let sparse = self.problem.form() == Form::Sparse;
        if sparse || self.penalties.is_some() || view.gives(&[Parameter::EqualRows, Parameter::Equals]) {
            return &[];
        }
        self.implied.get_or_init(|| redundant::implied(&self.stated()))
    }

    fn groups(&self, view: &View<'_>) -> Cow<'_, Groups> {
        self.groups.get_or_init(|| Groups::of(&self.stated(), None)).in_view(view, None)
    }

    /// The problem as it is stated.
    fn stated(&self) -> View<'_> {
        self.problem.view_checked_before(&Instance::default())
    }

    /// From link to link until an answer keeps the tolerances: the path from the start, refined by Newton steps on its active
    /// set; the same from nothing; the reference solver crossed over, and at last its own point.
    fn chain(&self, view: &View<'_>, exact: &mut ExactWorker, state: &mut State, warm: bool) -> Optimum {
        // What has not moved is where it was; the measurement is made all the same.
        if warm && state.factor.is_some() && state.theta == exact.theta {
            let optimum = self.answer(view, exact, state, Link::Path);
            if optimum.is_optimal() {
                return optimum;
            }
        }
        let mut best = Best { tolerances: self.tolerances, found: None };
        if warm && exact.follow_vertices(state) {
            let optimum = self.answer(view, exact, state, Link::Path);
            if optimum.is_optimal() {
                return optimum;
            }
            best.offer(optimum, state);
        }
        for warm in [true, false].into_iter().filter(|&w| !w || warm) {
            match exact.solve(state, warm) {
                Verdict::Stalled => continue,
                Verdict::Optimal => {}
                proof => return self.without_optimum(view, exact, state, proof, Link::Path),
            }
            let optimum = self.answer(view, exact, state, Link::Path);
            if optimum.is_optimal() {
                state.theta.copy_from_slice(&exact.theta);
                return optimum;
            }
            best.offer(optimum, state);
            if self.newton(view, exact, state, Link::Newton, &mut best) {
                return best.take(state);
            }
        }
        if self.penalties.is_none() {
            match crossover::ask(view, exact, state) {
                Crossed::Proved(proof) => {
                    return self.without_optimum(view, exact, state, proof, Link::Reference);
                }
                Crossed::Solved(reference) => {
                    let link = Link::Reference;
                    let interior = state.clone();
                    let multipliers = RowValues::from_stacked(view.shape, &reference.rows);
                    let own = self.measured(view, exact, state, link, reference.x, multipliers);
                    if !self.newton(view, exact, state, link, &mut best) && !best.offer(own, &interior) {
                        state.clone_from(&interior);
                        exact.patience = LAST_PATIENCE;
                        let arrived = exact.solve(state, true) == Verdict::Optimal
                            || exact.solve(state, false) == Verdict::Optimal;
                        exact.patience = PATIENCE;
                        if arrived {
                            self.newton(view, exact, state, link, &mut best);
                        }
                    }
                }
                Crossed::Failed => {}
            }
        }
        if best.found.is_none() {
            best.offer(self.answer(view, exact, state, Link::Path), state);
        }
        best.take(state)
    }

    /// Newton steps on the active set from the state, until an answer keeps the tolerances or no row changes its piece.
    fn newton(
        &self,
        view: &View<'_>,
        exact: &mut ExactWorker,
        state: &mut State,
        link: Link,
        best: &mut Best,
    ) -> bool {
        let (mut last, mut worse) = (usize::MAX, 0);
        for _ in 0..NEWTON_STEPS {
            if !active_set::solve(exact, state) {
                return false;
            }
            if best.offer(self.answer(view, exact, state, link), state) {
                return true;
            }
            let moved = active_set::correct(exact, state);
            worse += usize::from(moved >= last);
            if moved == 0 || worse > 1 {
                return false;
            }
            last = moved;
        }
        false
    }
}

impl Solver for Oracle {
    type Worker = Worker;
    type Answer = Optimum;

    fn pool(&self) -> &Pool<Worker> {
        &self.pool
    }

    fn new_worker(&self) -> Worker {
        let view = self.stated();
        let groups = self.groups(&view);
        let mut exact = ExactWorker::new(&view, &groups, self.owner);
        exact.load(&view, &groups, self.penalties.as_deref(), self.implied(&view));
        Worker { exact, own_rows: true }
    }

    fn parse<'a>(&'a self, instance: &Instance<'a>) -> Result<View<'a>, ProblemError> {
        if instance.theta.is_none() && !self.problem.states_theta() {
            return Err(ProblemError::NoTheta);
        }
        self.problem.view(instance)
    }

    fn solve_view(
        &self,
        worker: &mut Worker,
        view: &View<'_>,
        start: Option<Arc<State>>,
    ) -> (Optimum, Arc<State>) {
        let fresh = view.changes_rows();
        if fresh || !worker.own_rows {
            worker.exact.load(view, &self.groups(view), self.penalties.as_deref(), self.implied(view));
            worker.own_rows = !fresh;
        }
        let exact = &mut worker.exact;
        exact.set_gain(view);
        exact.ws.work = Work::default();
        let (n, m) = (exact.s.n, exact.s.m());
        let (mut state, warm) = exact.ws.adopt(start.or_else(|| self.home.clone()), n, m);
        // States keep x in the user's units: those of the engine may differ between instances.
        exact.columns.divide(&mut state.x);
        if fresh {
            exact.ws.give_up_factor(&mut state);
        }
        let optimum = match exact.s.analysis {
            // Of what is not wanted any more there may be hundreds.
            _ if Stop::requested() => self.answer(view, exact, &mut state, Link::Path),
            None => self.chain(view, exact, &mut state, warm),
            Some(_) => self.sparse_chain(view, exact, &mut state, warm),
        };
        exact.columns.multiply(&mut state.x);
        if fresh {
            exact.ws.give_up_factor(&mut state);
        }
        (optimum, Arc::new(state))
    }
}

/// The best answer so far, with the state behind it.
struct Best {
    tolerances: Tolerances,
    found: Option<(Optimum, State)>,
}

impl Best {
    /// Keeps the answer if it is the best; true if the best keeps the tolerances.
    fn offer(&mut self, optimum: Optimum, state: &State) -> bool {
        let excess = |optimum: &Optimum| optimum.accuracy.excess(&self.tolerances);
        if self.found.as_ref().is_none_or(|(best, _)| excess(&optimum) < excess(best)) {
            self.found = Some((optimum, state.clone()));
        }
        self.found.as_ref().is_some_and(|(best, _)| best.is_optimal())
    }

    /// The best answer; the state becomes its own.
    fn take(self, state: &mut State) -> Optimum {
        let (optimum, found) = self.found.expect("an answer was offered");
        *state = found;
        optimum
    }
}
