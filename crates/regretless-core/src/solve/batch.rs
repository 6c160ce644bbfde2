//! Many instances at once: workers from a pool over rayon, results in order.

use std::sync::Arc;

use rayon::prelude::*;

use crate::engine::pool::{Guard, Pool};
use crate::engine::state::State;
use crate::engine::stop::Stop;
use crate::problem::{Instance, ProblemError, View};
use crate::solve::store::Store;

/// Solves one parsed instance after the other with the memory of a worker. Oracle and surrogate are such; batches are the same
/// for both.
pub(crate) trait Solver: Sync {
    /// Memory of one thread.
    type Worker: Send;
    /// What a solve returns.
    type Answer: Send;

    /// Workers at rest, and how a new one is made.
    fn pool(&self) -> &Pool<Self::Worker>;
    fn new_worker(&self) -> Self::Worker;

    /// Refuses what cannot be solved; what is parsed has an answer.
    fn parse<'a>(&'a self, instance: &Instance<'a>) -> Result<View<'a>, ProblemError>;

    /// Solves from a start, and leaves the next one.
    fn solve_view(
        &self,
        worker: &mut Self::Worker,
        view: &View<'_>,
        start: Option<Arc<State>>,
    ) -> (Self::Answer, Arc<State>);
}

/// An answer with the instance it is for, and where the next solve of that starts.
pub(crate) struct Solved<'a, A> {
    pub(crate) answer: A,
    pub(crate) view: View<'a>,
    pub(crate) state: Arc<State>,
}

/// Solves one instance from nothing.
pub(crate) fn one<S: Solver>(solver: &S, instance: &Instance<'_>) -> Result<S::Answer, ProblemError> {
    let view = solver.parse(instance)?;
    let mut worker = solver.pool().take(|| solver.new_worker());
    Ok(solver.solve_view(&mut worker, &view, None).0)
}

/// Solves instances in parallel, each from a given state, and takes from each what `keep` takes; one alone stays on the calling
/// thread.
pub(crate) fn from<'a, S: Solver, R: Send>(
    solver: &'a S,
    instances: &[Instance<'a>],
    starts: Vec<Option<Arc<State>>>,
    keep: impl Fn(Solved<'a, S::Answer>) -> R + Sync,
) -> Vec<Result<R, ProblemError>> {
    let take = || solver.pool().take(|| solver.new_worker());
    // Other threads listen to what this one does.
    let stop = Stop::current();
    let each = |worker: &mut Guard<'_, S::Worker>, (instance, start): (&Instance<'a>, _)| {
        let view = solver.parse(instance)?;
        let solve = || solver.solve_view(worker, &view, start);
        let (answer, state) = match &stop {
            Some(stop) => stop.run(solve),
            None => solve(),
        };
        Ok(keep(Solved { answer, view, state }))
    };
    if instances.len() <= 1 {
        let mut worker = take();
        return instances.iter().zip(starts).map(|item| each(&mut worker, item)).collect();
    }
    instances.par_iter().zip(starts).map_init(take, each).collect()
}

/// Solves instances in parallel, from nothing.
pub(crate) fn cold<S: Solver>(
    solver: &S,
    instances: &[Instance<'_>],
) -> Vec<Result<S::Answer, ProblemError>> {
    from(solver, instances, vec![None; instances.len()], |solved| solved.answer)
}

/// Solves instances in parallel, each from where its id was solved last, and keeps the states it leaves; `keep` takes the rest.
pub(crate) fn warm<'a, S: Solver, R: Send>(
    solver: &'a S,
    instances: &[Instance<'a>],
    ids: &[u64],
    store: &mut Store,
    keep: impl Fn(S::Answer, View<'a>) -> R + Sync,
) -> Vec<Result<R, ProblemError>> {
    assert_eq!(instances.len(), ids.len(), "one id for each instance");
    let each = |Solved { answer, view, state }: Solved<'a, S::Answer>| (keep(answer, view), state);
    let solved = from(solver, instances, store.starts(ids), each);
    // What was not solved to its end is no start.
    if !Stop::requested() {
        store.keep(ids.iter().zip(&solved).filter_map(|(id, s)| Some((*id, &s.as_ref().ok()?.1))));
    }
    solved.into_iter().map(|s| s.map(|(kept, _)| kept)).collect()
}
