//! What counts as violated, and what an answer has to keep.

/// What an answer has to keep to be called optimal; see [`Accuracy`](crate::engine::Accuracy) for what each is relative to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Violation of hard rows and bounds.
    pub primal: f64,
    /// Stationarity.
    pub dual: f64,
    /// Duality gap and complementarity.
    pub gap: f64,
}

impl Tolerances {
    /// The same tolerance for all three.
    pub fn all(tolerance: f64) -> Self {
        Self { primal: tolerance, dual: tolerance, gap: tolerance }
    }
}

impl Default for Tolerances {
    /// 1e-7 each.
    fn default() -> Self {
        Self::all(1e-7)
    }
}

/// A violation below this share of 1 + |b| is measured against that alone: the size of the row's terms is not needed.
pub(crate) const ROUNDING: f64 = 1e-12;

/// What rounding in a computed positive semidefinite Q can do to its smallest eigenvalue, as a share of its largest entry.
pub(crate) const INDEFINITE: f64 = 1e-9;

/// A Q further from symmetric than this share of its largest entry is not one that was rounded: somebody meant something else.
pub(crate) const ASYMMETRIC: f64 = 1e-3;

/// A violation `v ≥ 0` of a row with limit `limit`, over 1 + |limit| + |a|ᵀ|x|. The last term is asked for only where the
/// violation is more than rounding.
pub(crate) fn relative(v: f64, limit: f64, size: impl FnOnce() -> f64) -> f64 {
    let scale = 1.0 + limit.abs();
    if v <= ROUNDING * scale { v / scale } else { v / (scale + size()) }
}
