//! Settings within their ranges.

use std::ops::RangeInclusive;

use super::Context;
use crate::error::{Result, Trouble};
use crate::key::Key;

/// More epochs than anybody waits for.
pub(super) const MOST_EPOCHS: usize = 1_000_000;

impl Context<'_> {
    /// Refuses what is not a positive finite number.
    pub(super) fn positive(&self, key: &Key, value: f64, expected: &'static str) -> Result<()> {
        self.within(key, value, value > 0.0 && value.is_finite(), expected)
    }

    /// Refuses what is not a finite number of 0 or more.
    pub(super) fn not_negative(&self, key: &Key, value: f64, expected: &'static str) -> Result<()> {
        self.within(key, value, value >= 0.0 && value.is_finite(), expected)
    }

    /// Refuses a value for which `fine` is false.
    pub(super) fn within(&self, key: &Key, value: f64, fine: bool, expected: &'static str) -> Result<()> {
        if fine { Ok(()) } else { Err(self.fail(key, Trouble::Setting { value, expected })) }
    }

    /// Refuses a number outside a range.
    pub(super) fn count(
        &self,
        key: &Key,
        value: usize,
        range: RangeInclusive<usize>,
        expected: &'static str,
    ) -> Result<()> {
        self.within(key, value as f64, range.contains(&value), expected)
    }
}
