//! Solves that nobody waits for any more, and what others are told while they wait.
//!
//! One solve of a large problem takes minutes, and whoever began it may think better of it. It looks at a flag wherever it goes round
//! once more (a step of a path, a factorisation), and ends where it is. To a listener it says how far it is.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::accuracy::Accuracy;
use crate::engine::status::Link;

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
#[derive(Clone, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    listener: Option<Arc<Listener>>,
}

type Listener = dyn Fn(&Progress) + Send + Sync;

/// How far one solve is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Who is at work.
    pub link: Link,
    /// Iterations that it has done, or breakpoints of a path.
    pub iterations: usize,
    /// How right its point is, where that is known on the way (Clarabel's figures are its own).
    pub accuracy: Option<Accuracy>,
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.is_requested()).finish()
    }
}

impl Stop {
    /// One that hears how far a solve is: of what [`Stop::run`] does, from the thread that does it, once an iteration of an interior
    /// point and every thousand breakpoints of a path.
    pub fn listening(listener: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..Self::default() }
    }

    /// Tells whoever listens.
    pub(crate) fn tell(&self, progress: &Progress) {
        if let Some(listener) = &self.listener {
            listener(progress);
        }
    }

    /// Tells whoever listens to this thread's solve.
    pub(crate) fn report(progress: &Progress) {
        OWN.with_borrow(|own| own.iter().for_each(|own| own.tell(progress)));
    }

    /// Asks for the end.
    pub fn request(&self) {
        self.flag.store(true, Ordering::Relaxed);
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
        self.flag.load(Ordering::Relaxed)
    }
}

/// Puts back what the thread listened to before, however the work ends.
struct Before(Option<Stop>);

impl Drop for Before {
    fn drop(&mut self) {
        OWN.set(self.0.take());
    }
}
