//! Many trainings at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use regretless_core::solve::Par;

use crate::error::LearnError;

/// Does jobs: in threads of this process, or wherever else.
pub trait Executor {
    /// Calls `work` with 0, 1, … `jobs` − 1, each once, several at a time and in any order. Where it returns `false` nothing more
    /// is begun; what was begun is finished.
    fn run(&self, jobs: usize, work: &(dyn Fn(usize) -> bool + Sync)) -> Result<(), LearnError>;
}

/// So many threads of this process, each with one job at a time.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use regretless_learn::{Executor, Threads};
/// let sum = AtomicUsize::new(0);
/// Threads(2).run(5, &|job| {
///     sum.fetch_add(job, Ordering::Relaxed);
///     true
/// })?;
/// assert_eq!(sum.into_inner(), 10);
/// # Ok::<(), regretless_learn::LearnError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads(pub usize);

impl Executor for Threads {
    fn run(&self, jobs: usize, work: &(dyn Fn(usize) -> bool + Sync)) -> Result<(), LearnError> {
        let next = AtomicUsize::new(0);
        let trouble = Mutex::new(None);
        let stop = || next.fetch_max(jobs, Ordering::Relaxed);
        let worker = || {
            // One thread a training: small solves do not wait for one another, and the numbers are those of one thread.
            let one = match Par::new(1) {
                Ok(one) => one,
                Err(error) => {
                    stop();
                    if let Ok(mut trouble) = trouble.lock() {
                        trouble.get_or_insert(error);
                    }
                    return;
                }
            };
            loop {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job >= jobs {
                    return;
                }
                if !one.run(|| work(job)) {
                    stop();
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.0.clamp(1, jobs.max(1)) {
                // Where no more threads can be had, those that there are do the work.
                if std::thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                    break;
                }
            }
            worker();
        });
        match trouble.into_inner().unwrap_or_default() {
            None => Ok(()),
            Some(error) => Err(LearnError::Settings {
                what: format!("a thread cannot be started: {error}"),
                hint: "use fewer threads, or free some memory".into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_once_and_none_after_a_stop() {
        for threads in [0, 1, 3, 50] {
            let done = Mutex::new(vec![0; 20]);
            Threads(threads)
                .run(20, &|job| {
                    done.lock().unwrap()[job] += 1;
                    true
                })
                .unwrap();
            assert_eq!(done.into_inner().unwrap(), [1; 20], "{threads}");
        }
        let begun = AtomicUsize::new(0);
        Threads(2)
            .run(1000, &|job| {
                begun.fetch_add(1, Ordering::Relaxed);
                job < 3
            })
            .unwrap();
        assert!(begun.into_inner() < 10);
        Threads(4).run(0, &|_| unreachable!()).unwrap();
    }
}
