//! What decisions are worth on rows whose truth is known: regret, measures, paired tests, what a report shows.

pub(crate) mod account;
pub(crate) mod calibration;
pub(crate) mod exhibit;
pub(crate) mod judge;
pub(crate) mod measures;
pub mod stats;
