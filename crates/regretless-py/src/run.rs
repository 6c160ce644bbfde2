//! Work without the interpreter's lock: in parallel, in pieces, so that Ctrl-C is heard in between.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error;

/// Instances between two looks at Ctrl-C.
const PIECE: usize = 256;

static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// The process that made the first pool.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Threads do not survive a fork: a child would wait for them for ever.
fn same_process() -> PyResult<()> {
    let own = std::process::id();
    match OWNER.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Err(owner) if owner != own => {
            let message = "this process was forked from one that had solved already, and threads do not survive that: \
                           start it with the method `spawn` (multiprocessing_context=\"spawn\" for a DataLoader)";
            Err(error::raise("RegretlessError", message))
        }
        _ => Ok(()),
    }
}

/// Runs `work` without the lock on so many threads, all cores if none are named. A panic becomes an exception.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    same_process()?;
    let pool = threads.map(pool).transpose()?;
    let guarded = || catch_unwind(AssertUnwindSafe(work));
    let done = py.detach(|| match pool {
        Some(pool) => pool.install(guarded),
        None => guarded(),
    });
    done.map_err(|payload| error::panicked(&*payload))
}

/// Runs `work` on pieces of `rows` instances, one after the other, and joins what comes out.
pub(crate) fn in_pieces<T: Send>(
    py: Python<'_>,
    rows: usize,
    threads: Option<usize>,
    mut work: impl FnMut(Range<usize>) -> Vec<T> + Send,
) -> PyResult<Vec<T>> {
    let mut out = Vec::with_capacity(rows);
    for start in (0..rows).step_by(PIECE) {
        let piece = start..(start + PIECE).min(rows);
        out.extend(detached(py, threads, || work(piece))?);
        py.check_signals()?;
    }
    Ok(out)
}

fn pool(threads: usize) -> PyResult<Arc<ThreadPool>> {
    if threads == 0 {
        return Err(error::problem("threads is 0: give at least one"));
    }
    // More threads than cores only wait for one another.
    let threads = threads.min(std::thread::available_parallelism().map_or(threads, NonZero::get));
    let mut pools = POOLS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(pool) = pools.get(&threads) {
        return Ok(Arc::clone(pool));
    }
    let made = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = Arc::new(made.map_err(|e| error::raise("InternalError", e))?);
    pools.insert(threads, Arc::clone(&pool));
    Ok(pool)
}
