//! Work without the interpreter's lock: in parallel, in pieces, so that Ctrl-C is heard in between.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use regretless_core::Problem;
use regretless_core::engine::Stop;
use regretless_core::solve::Par;

use crate::error;

/// Instances between two looks at Ctrl-C.
const PIECE: usize = 256;

/// Variables from which on one solve may take a while.
const LARGE: usize = 500;

/// Time between two looks at Ctrl-C during long work.
const LOOK: Duration = Duration::from_millis(50);

/// Cores there are. Asked for once: the answer is read from files.
pub(crate) static CORES: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, NonZero::get));

static POOLS: Mutex<BTreeMap<usize, Par>> = Mutex::new(BTreeMap::new());

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

/// Runs `work` without the interpreter's lock on so many threads, all cores if none are named. A panic becomes an exception.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    patient(py, threads, false, work)
}

/// [`detached`] for solves, which hear Ctrl-C if they may be [`long`].
pub(crate) fn patient<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    long: bool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    exclusive(py, threads, &Mutex::new(()), long, |()| work())
}

/// [`detached`], with something that one call at a time may have. The calling thread waits for it: a worker that waits would
/// keep the call that has it from ending, if it is one of that call's workers. What may be [`long`] listens to Ctrl-C meanwhile and ends in
/// the middle of a solve; to all else waking a thread for that would be long itself.
pub(crate) fn exclusive<S: Send, T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    state: &Mutex<S>,
    long: bool,
    work: impl FnOnce(&mut S) -> T + Send,
) -> PyResult<T> {
    if long {
        let (stop, heard) = (Stop::default(), Mutex::new(None));
        let hear = |error| {
            stop.request();
            heard.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        };
        let done = watched(py, threads, hear, || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            stop.run(|| work(&mut state))
        })?;
        return heard.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(done), Err);
    }
    same_process()?;
    let par = if threads == Some(1) { Par::alone() } else { shared(threads)? };
    let done = py.detach(|| {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let state: &mut S = &mut state;
        par.run(|| catch_unwind(AssertUnwindSafe(|| work(state))))
    });
    done.map_err(|payload| error::panicked(&*payload))
}

/// [`detached`] for long work: meanwhile the calling thread looks for Ctrl-C, which no other thread can hear, and tells `heard`.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    heard: impl Fn(PyErr) + Sync,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    same_process()?;
    let par = shared(threads)?;
    let done = py.detach(|| {
        let (send, receive) = mpsc::channel();
        thread::scope(|scope| {
            let job = move || {
                let _ = send.send(par.run(|| catch_unwind(AssertUnwindSafe(work))));
            };
            thread::Builder::new().spawn_scoped(scope, job).map_err(|e| e.to_string())?;
            loop {
                match receive.recv_timeout(LOOK) {
                    Ok(done) => break Ok(done),
                    Err(RecvTimeoutError::Disconnected) => {
                        break Err("the work ended without a result".into());
                    }
                    #[allow(clippy::redundant_closure_for_method_calls)]
                    // The method alone has one lifetime too few.
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            heard(error);
                        }
                    }
                }
            }
        })
    });
    done.map_err(|e: String| error::raise("InternalError", e))?.map_err(|payload| error::panicked(&*payload))
}

/// True if one solve of a problem may take longer than somebody who presses Ctrl-C would wait.
pub(crate) fn long(problem: &Problem) -> bool {
    problem.n() >= LARGE
}

/// Runs `work` on pieces of `rows` instances, one after the other, and joins what comes out.
pub(crate) fn in_pieces<S: Send, T: Send>(
    py: Python<'_>,
    rows: usize,
    threads: Option<usize>,
    state: &Mutex<S>,
    long: bool,
    mut work: impl FnMut(&mut S, Range<usize>) -> Vec<T> + Send,
) -> PyResult<Vec<T>> {
    let mut out = Vec::with_capacity(rows);
    for start in (0..rows).step_by(PIECE) {
        let piece = start..(start + PIECE).min(rows);
        out.extend(exclusive(py, threads, state, long, |state| work(state, piece))?);
        py.check_signals()?;
    }
    Ok(out)
}

/// A pool for all callers.
fn shared(threads: Option<usize>) -> PyResult<Par> {
    if threads == Some(0) {
        return Err(error::problem("threads is 0: give at least one"));
    }
    // More threads than cores only wait for one another; 0 is all of them.
    let threads = threads.map_or(0, |threads| threads.min(*CORES));
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(par) = pools.get(&threads) {
        return Ok(par.clone());
    }
    let par = Par::new(threads).map_err(|e| error::raise("InternalError", e))?;
    pools.insert(threads, par.clone());
    Ok(par)
}
