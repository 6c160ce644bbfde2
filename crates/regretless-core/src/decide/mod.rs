//! Decisions for predictions, and what they cost once the truth is known.

pub(crate) mod medoids;
pub(crate) mod regret;
