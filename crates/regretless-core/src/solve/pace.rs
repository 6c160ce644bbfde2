//! Whether a small batch is done sooner by the calling thread alone, found out by doing both.
//!
//! Waking threads takes 20 µs on one machine and 300 µs on another, an instance 5 µs or 5 ms. What comes out is the same for any
//! number of threads, so the calls themselves are timed: each way at the start, then the faster one, and now and then the other.

use std::num::NonZero;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Cores there are. Asked for once: the answer is read from files.
static CORES: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, NonZero::get));

/// Calls after which the slower way is tried again.
const AGAIN: usize = 64;

/// A batch that would keep one thread busy for longer is never tried alone.
const LONG: Duration = Duration::from_millis(20);

/// How long an instance took last, each way.
///
/// ```
/// use regretless_core::solve::Pace;
/// let pace = Pace::default();
/// // As many as were asked for, or one where that was sooner.
/// assert_eq!(pace.run(Some(1), 32, |threads| threads), Some(1));
/// assert!(matches!(pace.run(None, 32, |threads| threads), None | Some(1)));
/// ```
#[derive(Debug, Default)]
pub struct Pace {
    calls: AtomicUsize,
    alone: AtomicU64,
    together: AtomicU64,
}

impl Pace {
    /// Runs `work` with the number of threads to take for so many rows: those asked for, or one.
    pub fn run<T>(&self, threads: Option<usize>, rows: usize, work: impl FnOnce(Option<usize>) -> T) -> T {
        // None at all is refused by `work`.
        if matches!(threads, Some(0 | 1)) || rows == 0 {
            return work(threads);
        }
        let alone = self.is_better_alone(rows);
        let start = Instant::now();
        let out = work(if alone { Some(1) } else { threads });
        let nanos = start.elapsed().as_nanos() as u64 / rows as u64;
        // 0 is for what is not known yet.
        let kept = if alone { &self.alone } else { &self.together };
        kept.store(nanos.max(1), Relaxed);
        out
    }

    fn is_better_alone(&self, rows: usize) -> bool {
        let call = self.calls.fetch_add(1, Relaxed);
        let (alone, together) = (self.alone.load(Relaxed), self.together.load(Relaxed));
        let split = together.saturating_mul(*CORES as u64);
        let least = if alone > 0 { alone.min(split) } else { split };
        if together == 0 || least.saturating_mul(rows as u64) > LONG.as_nanos() as u64 {
            return false;
        }
        let other = call.is_power_of_two() || call.is_multiple_of(AGAIN);
        alone == 0 || (alone < together) != other
    }
}
