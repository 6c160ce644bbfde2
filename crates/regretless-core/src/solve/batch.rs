//! Many instances at once: workers from a pool over rayon, results in order.

use std::sync::Arc;

use rayon::prelude::*;

use crate::engine::pool::{Guard, Pool};
use crate::engine::state::State;
use crate::problem::Instance;
use crate::solve::store::Store;

/// Maps `work` over `items` in parallel, each thread with one worker; one item alone stays on the calling thread.
pub(crate) fn map<I: Send, W: Send, R: Send>(
    pool: &Pool<W>,
    new: impl Fn() -> W + Sync,
    items: Vec<I>,
    work: impl Fn(&mut W, I) -> R + Sync,
) -> Vec<R> {
    if items.len() <= 1 {
        let mut worker = pool.take(&new);
        return items.into_iter().map(|item| work(&mut worker, item)).collect();
    }
    let each = |worker: &mut Guard<'_, W>, item: I| work(worker, item);
    items.into_par_iter().map_init(|| pool.take(&new), each).collect()
}

/// Maps `work` over instances, each from where its id was solved last, and keeps the states it leaves.
pub(crate) fn map_warm<W: Send, R: Send, E: Send>(
    pool: &Pool<W>,
    new: impl Fn() -> W + Sync,
    instances: &[Instance<'_>],
    ids: &[u64],
    store: &mut Store,
    work: impl Fn(&mut W, &Instance<'_>, Option<Arc<State>>) -> Result<(R, Arc<State>), E> + Sync,
) -> Vec<Result<R, E>> {
    assert_eq!(instances.len(), ids.len(), "one id for each instance");
    let items = instances.iter().zip(store.starts(ids)).collect();
    let solved = map(pool, new, items, |worker, (instance, start)| work(worker, instance, start));
    store.keep(ids.iter().zip(&solved).filter_map(|(id, s)| Some((*id, &s.as_ref().ok()?.1))));
    solved.into_iter().map(|s| s.map(|(result, _)| result)).collect()
}
