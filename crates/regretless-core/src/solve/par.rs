//! On which threads batches are done.

use std::io;
use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};

thread_local! {
    /// The calling thread as a pool of one; `None` for a thread that is part of a pool already.
    static OWN: Option<ThreadPool> =
        ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok();
}

/// The threads that batches are done on: owned by whoever has the setting, and given the work. What comes out is the same for any
/// number of them. Batches that nobody gives to a `Par` are done on all cores.
///
/// ```
/// use regretless_core::{Instance, Oracle, Problem};
/// use regretless_core::solve::Par;
/// let problem = Problem::maximize(1).upper([2.0]).build()?;
/// let oracle = Oracle::new(&problem);
/// let instances = [Instance::theta(&[1.0]), Instance::theta(&[-1.0])];
/// let alone = Par::alone().run(|| oracle.solve_batch(&instances));
/// let both = Par::new(2)?.run(|| oracle.solve_batch(&instances));
/// assert_eq!(alone[0].as_ref().unwrap().x, both[0].as_ref().unwrap().x);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Par(Option<Arc<ThreadPool>>);

impl Par {
    /// The calling thread alone: waking another can take as long as a small batch does. That thread then stays a pool of one for
    /// batches that are given to nobody.
    pub fn alone() -> Self {
        Self(None)
    }

    /// So many threads, or a thread for each core if that is 0.
    pub fn new(threads: usize) -> io::Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
        Ok(Self(Some(Arc::new(pool))))
    }

    /// Does `work`, and every batch in it, on these threads.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => OWN.with(|own| match own {
                Some(own) => own.install(work),
                // A thread of a larger pool cannot be one of its own as well: another one does the work.
                None => match Self::new(1) {
                    Ok(Self(Some(one))) => one.install(work),
                    _ => work(),
                },
            }),
        }
    }
}
