//! From a point to a distribution: what a predictor gets wrong on rows that it did not learn from.

pub(crate) mod folds;
