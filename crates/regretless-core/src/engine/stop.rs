//! Solves that nobody waits for any more.
//!
//! One solve of a large problem takes minutes, and whoever began it may think better of it. It looks at a flag wherever it goes round
//! once more (a step of a path, a factorisation), and ends where it is.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// Of what the thread is doing now.
    static OWN: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// Ends solves from outside.
///
/// What was begun by [`Stop::run`] ends soon after [`Stop::request`], batches on other threads included. An answer that was not there by
/// then is `numerical-trouble`, and nobody should keep it.
///
/// ```
/// use regretless_core::engine::Stop;
/// use regretless_core::{Instance, Oracle, Problem};
/// let problem = Problem::maximize(1).upper([2.0]).build()?;
/// let oracle = Oracle::new(&problem);
/// let stop = Stop::default();
/// let solve = || oracle.solve(&Instance::theta(&[1.0]));
/// assert!(stop.run(solve)?.is_optimal());
/// stop.request();
/// assert!(!stop.run(solve)?.is_optimal());
/// assert!(solve()?.is_optimal());
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for the end.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Does work whose solves end when they are asked to.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let _before = Before(OWN.replace(Some(self.clone())));
        work()
    }

    /// What the solves of this thread listen to, for those that it gives to others.
    pub(crate) fn current() -> Option<Self> {
        OWN.with_borrow(Clone::clone)
    }

    /// True if this thread's solve is to end.
    pub(crate) fn requested() -> bool {
        OWN.with_borrow(|own| own.as_ref().is_some_and(Self::is_requested))
    }

    /// True if somebody asked for the end.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Puts back what the thread listened to before, however the work ends.
struct Before(Option<Stop>);

impl Drop for Before {
    fn drop(&mut self) {
        OWN.set(self.0.take());
    }
}
