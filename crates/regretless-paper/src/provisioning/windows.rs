//! Days' worth of hours as instances, and which of them train.

use std::ops::Range;

use super::load::{Load, REGIONS};

/// Hours of a window.
pub const WINDOW: usize = 24;

/// MW in one unit of C.
const SCALE: f64 = 1e4;

/// The starting hours of the windows; one that starts at i is the hours i to i + 23.
///
/// The last hour that a window could start at is left out, and so is the last but one: with a stride of 1 there are
/// `hours − 25` windows, the published number (52,535 of 52,560 hours). A stride of 0 counts as 1.
///
/// ```
/// use regretless_paper::provisioning::windows;
/// assert_eq!(windows(52_560, 1).len(), 52_535);
/// assert_eq!(windows(100, 24), [0, 24, 48, 72]);
/// ```
pub fn windows(hours: usize, stride: usize) -> Vec<usize> {
    (0..hours.saturating_sub(WINDOW + 1)).step_by(stride.max(1)).collect()
}

/// Which windows train, validate and test: ranges of their indices, in the order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The training part.
    pub train: Range<usize>,
    /// The validation part.
    pub valid: Range<usize>,
    /// The test part.
    pub test: Range<usize>,
}

impl Parts {
    /// 70, 10 and 20 %, one right after the other: windows on both sides of an edge share up to 23 hours.
    pub fn published(windows: usize) -> Self {
        Self::apart(windows, 0)
    }

    /// The same with 24 windows left out between parts, so that no two parts share an hour whatever the stride.
    pub fn sound(windows: usize) -> Self {
        Self::apart(windows, WINDOW)
    }

    /// The same with `gap` windows left out before validation and before the test; with a stride of s, 24 / s are enough.
    pub fn apart(windows: usize, gap: usize) -> Self {
        // Seven and eight tenths, without the products that could overflow.
        let tenths = |k: usize| windows / 10 * k + windows % 10 * k / 10;
        let (train, valid) = (tenths(7), tenths(8));
        let after = |end: usize, limit: usize| end.saturating_add(gap).min(limit);
        Self { train: 0..train, valid: after(train, valid)..valid, test: after(valid, windows)..windows }
    }
}

/// The hours that a part's windows cover, from their starting hours.
pub fn hours_of(starts: &[usize], part: &Range<usize>) -> Range<usize> {
    match &starts[part.clone()] {
        [] => 0..0,
        [only] => *only..only + WINDOW,
        [first, .., last] => *first..last + WINDOW,
    }
}

/// The matrix C of a window: its loads in units of 10⁴ MW, hours × regions.
///
/// # Panics
///
/// If the window goes beyond the last hour.
pub fn loads(load: &Load, start: usize) -> Vec<f64> {
    let width = REGIONS.len();
    load.load[start * width..(start + WINDOW) * width].iter().map(|mw| mw / SCALE).collect()
}
