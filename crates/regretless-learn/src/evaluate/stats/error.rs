//! Why a list of numbers has no statistics.

use thiserror::Error;

/// Why a list of numbers has no statistics.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StatsError {
    /// There is nothing to describe.
    #[error("no values to describe")]
    Empty,
    /// One NaN or infinity would spoil every figure made from the list.
    #[error("value {index} is {value}; statistics need finite values")]
    NotFinite {
        /// Its place in the list, from 0.
        index: usize,
        /// What stands there.
        value: f64,
    },
    /// A level or probability outside its range.
    #[error("{name} is {value}, but must lie in {range}")]
    Level {
        /// Which argument.
        name: &'static str,
        /// What it was.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// A bootstrap without resamples.
    #[error("a bootstrap needs at least one resample")]
    NoResamples,
}

/// Refuses an empty list and any value that is not finite.
pub(super) fn check(values: &[f64]) -> Result<(), StatsError> {
    if values.is_empty() {
        return Err(StatsError::Empty);
    }
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(StatsError::NotFinite { index, value: values[index] }),
        None => Ok(()),
    }
}
