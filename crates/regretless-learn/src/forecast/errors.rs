//! What a predictor gets wrong on rows that it did not learn from.

/// Residuals of training rows, each of a predictor that was trained without the row.
#[derive(Clone, Debug)]
pub(crate) struct Errors {
    /// The rows, fold after fold.
    pub(crate) rows: Vec<usize>,
    /// How much each row counts.
    pub(crate) weights: Vec<f64>,
    /// The fold that each row was left out with.
    pub(crate) folds: Vec<usize>,
    /// True − predicted, rows × width.
    pub(crate) residuals: Vec<f64>,
}
