//! Many instances at once: workers from a pool over rayon, results in order.

use rayon::prelude::*;

use crate::pool::{Guard, Pool};

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
