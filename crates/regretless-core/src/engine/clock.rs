//! Where the time of a solve goes, measured only with the feature `timings`.

#[cfg(feature = "timings")]
use std::time::Instant;

/// Nanoseconds by kind of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nanos {
    /// Solves with the factor and changes of it.
    pub factor: u64,
    /// Products with the rows.
    pub rows: u64,
    /// Ratio tests.
    pub ratio: u64,
    /// The whole solve.
    pub total: u64,
}

/// A running clock; nothing at all without the feature.
#[derive(Clone, Copy)]
pub(crate) struct Clock(#[cfg(feature = "timings")] Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(
            #[cfg(feature = "timings")]
            Instant::now(),
        )
    }

    /// Adds the time since the start to `nanos`.
    #[cfg_attr(not(feature = "timings"), allow(unused_variables, clippy::unused_self))]
    pub(crate) fn stop(self, nanos: &mut u64) {
        #[cfg(feature = "timings")]
        {
            *nanos += self.0.elapsed().as_nanos() as u64;
        }
    }
}
