//! What a model file states.

use regretless_core::Sense;

/// A linear or convex quadratic program with named rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Model {
    /// The file's own name for it.
    pub(crate) name: String,
    pub(crate) maximise: bool,
    /// What the objective has beside its terms: minus the right-hand side of its row.
    pub(crate) constant: f64,
    pub(crate) columns: Vec<String>,
    pub(crate) cost: Vec<f64>,
    /// Q of xᵀQx, both triangles: half of what the file states.
    pub(crate) quadratic: Vec<(usize, usize, f64)>,
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    pub(crate) rows: Vec<Row>,
}

/// A row `lower ≤ a·x ≤ upper`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    /// Columns and coefficients.
    pub(crate) entries: Vec<(usize, f64)>,
}

impl Model {
    /// Whether the objective is a gain or a cost.
    pub(crate) fn sense(&self) -> Sense {
        if self.maximise { Sense::Max } else { Sense::Min }
    }
}
