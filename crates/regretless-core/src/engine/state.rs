//! Solved points that can be started from again.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::engine::hinges::Segment;
use crate::engine::rows::Piece;
use crate::linalg::hessian::Factor;

/// A solved point that can be started from again: x, pieces, multipliers, the factor of H at those pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) x: Vec<f64>,
    pub(crate) piece: Vec<Piece>,
    /// Where rows with many breakpoints stand, as long as limits and prices stay; a state without its factor has none, and
    /// begins where their multipliers are.
    pub(crate) segments: Vec<Segment>,
    pub(crate) lambda: Vec<f64>,
    /// The z = C'x − d' and the θ that x is optimal for with these pieces. Before a path z is what the pieces say, and d' moves
    /// to where it is.
    pub(crate) z: Vec<f64>,
    pub(crate) theta: Vec<f64>,
    /// `None` where it was given up to save memory, does not fit the pieces, or H is singular.
    pub(crate) factor: Option<OwnedFactor>,
    /// Slope of the proximal laws behind an exact state, and behind its factor.
    pub(crate) slope: f64,
    /// Variables held by a spring because nothing else holds them; see [`crate::engine::regularise`].
    pub(crate) springs: Vec<usize>,
}

/// A factor of H, which means nothing to anybody but who made it.
#[derive(Clone, Debug)]
pub(crate) struct OwnedFactor {
    pub(crate) owner: Owner,
    pub(crate) factor: Factor,
}

impl State {
    pub(crate) fn new(n: usize, m: usize) -> Self {
        Self {
            x: vec![0.0; n],
            piece: vec![Piece::Below; m],
            lambda: vec![0.0; m],
            z: vec![0.0; m],
            theta: vec![0.0; n],
            ..Self::default()
        }
    }

    /// The state without its factor.
    pub(crate) fn light(&self) -> Self {
        Self {
            x: self.x.clone(),
            piece: self.piece.clone(),
            lambda: self.lambda.clone(),
            z: self.z.clone(),
            theta: self.theta.clone(),
            springs: self.springs.clone(),
            slope: self.slope,
            segments: Vec::new(),
            factor: None,
        }
    }

    /// Memory of a state without its factor, in bytes.
    pub(crate) fn light_bytes(n: usize, m: usize) -> usize {
        size_of::<Self>() + 2 * n * size_of::<f64>() + m * (2 * size_of::<f64>() + size_of::<Piece>())
    }

    /// True if a later solve can begin with the factor.
    pub(crate) fn has_lasting_factor(&self) -> bool {
        self.factor.as_ref().is_some_and(|f| f.owner != Owner::NOBODY)
    }

    /// The factor is for this solve's gradients only: its rows are those of one instance.
    pub(crate) fn disown_factor(&mut self) {
        self.factor.iter_mut().for_each(|f| f.owner = Owner::NOBODY);
    }

    pub(crate) fn on(&self) -> usize {
        self.piece.iter().filter(|p| **p == Piece::On).count()
    }
}

/// The oracle or surrogate that left a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(u64);

impl Owner {
    /// Whose factors nobody starts from.
    pub(crate) const NOBODY: Self = Self(0);

    /// Somebody new.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        Self(COUNT.fetch_add(1, Ordering::Relaxed))
    }
}
