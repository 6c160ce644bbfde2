//! The memory of one worker: allocated once, used for every solve.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::engine::assemble::Curvature;
use crate::engine::clock::Nanos;
use crate::engine::rows::{Piece, Softened};
use crate::linalg::factor::{Factor, Scratch, padded};
use crate::linalg::simd::Kernel;

/// A solved point that can be started from again: x, pieces, multipliers, the factor of H at those pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) x: Vec<f64>,
    pub(crate) piece: Vec<Piece>,
    pub(crate) lambda: Vec<f64>,
    /// C'x − d' and the θ that x is optimal for: a path from here needs no product with the rows to begin.
    pub(crate) z: Vec<f64>,
    pub(crate) theta: Vec<f64>,
    pub(crate) factor: Factor,
    /// False where the factor was given up to save memory or belongs to other rows.
    pub(crate) factored: bool,
    /// Who left the state; its factor means nothing to anybody else.
    pub(crate) owner: Owner,
    /// Slope of the proximal laws behind an exact state's factor.
    pub(crate) slope: f64,
    /// Variables held by a spring because nothing else holds them; see [`crate::engine::path`].
    pub(crate) springs: Vec<usize>,
}

impl State {
    pub(crate) fn new(n: usize, m: usize) -> Self {
        Self {
            x: vec![0.0; n],
            piece: vec![Piece::Below; m],
            lambda: vec![0.0; m],
            z: vec![0.0; m],
            theta: vec![0.0; n],
            factor: Factor::new(n),
            factored: false,
            owner: Owner::default(),
            slope: 0.0,
            springs: Vec::new(),
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
            owner: self.owner,
            ..Self::default()
        }
    }

    /// Memory of a state without its factor, in bytes.
    pub(crate) fn light_bytes(n: usize, m: usize) -> usize {
        size_of::<Self>() + 2 * n * size_of::<f64>() + m * (2 * size_of::<f64>() + size_of::<Piece>())
    }

    pub(crate) fn on(&self) -> usize {
        self.piece.iter().filter(|p| **p == Piece::On).count()
    }
}

/// The oracle or surrogate that left a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner(u64);

impl Owner {
    /// Somebody new.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        Self(COUNT.fetch_add(1, Ordering::Relaxed))
    }

    /// A state to work on: the start if it has the right sizes, otherwise an empty one. True if it was the start.
    pub(crate) fn adopt(self, start: Option<Arc<State>>, n: usize, m: usize) -> (State, bool) {
        let Some(shared) = start.filter(|s| s.x.len() == n && s.piece.len() == m) else {
            return (State { owner: self, ..State::new(n, m) }, false);
        };
        let mut state = Arc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone());
        state.factored &= state.owner == self;
        state.owner = self;
        (state, true)
    }
}

/// What the engine did, for the benchmark's tables and the solution's record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Breakpoints passed on the path.
    pub breakpoints: usize,
    /// Breakpoints at which two rows changed places (simplex pivots).
    pub pivots: usize,
    /// Factorisations from scratch.
    pub factorisations: usize,
    /// Newton iterations of the fallback.
    pub newton: usize,
    /// Where the time went; zeros without the feature `timings`.
    pub nanos: Nanos,
}

/// Buffers of one worker.
pub(crate) struct Workspace {
    pub(crate) kernel: Kernel,
    pub(crate) work: Work,
    /// z = C'x − d' along the path.
    pub(crate) z: Vec<f64>,
    pub(crate) dz: Vec<f64>,
    /// Next breakpoint of each row above and below.
    pub(crate) up: Vec<f64>,
    pub(crate) down: Vec<f64>,
    pub(crate) steps: Vec<f64>,
    pub(crate) lambda: Vec<f64>,
    /// Actual minus assumed z at the start of the path.
    pub(crate) shift: Vec<f64>,
    /// θ at the start of the path, then the change of θ. This and the vectors below are padded to whole lanes.
    pub(crate) dtheta: Vec<f64>,
    /// Right-hand side of the direction.
    pub(crate) rhs: Vec<f64>,
    pub(crate) dx: Vec<f64>,
    pub(crate) p: Vec<f64>,
    pub(crate) a: Vec<f64>,
    pub(crate) rank_one: Scratch,
    pub(crate) residual: Vec<f64>,
    curvature: Curvature,
}

impl Workspace {
    pub(crate) fn new(n: usize, m: usize) -> Self {
        let (vn, vm) = (|| vec![0.0; padded(n)], || vec![0.0; m]);
        Self {
            kernel: Kernel::new(),
            work: Work::default(),
            z: vm(),
            dz: vm(),
            up: vm(),
            down: vm(),
            steps: vm(),
            lambda: vm(),
            shift: vm(),
            dtheta: vn(),
            rhs: vn(),
            dx: vn(),
            p: vn(),
            a: vn(),
            rank_one: Scratch::new(n),
            residual: vec![0.0; n],
            curvature: Curvature::default(),
        }
    }

    /// Factors H = 2Q + C'ᵀdiag(w)C' + ridge·I at the state's pieces; false if H is singular.
    pub(crate) fn factorise(&mut self, s: &Softened, state: &mut State, ridge: f64) -> bool {
        self.work.factorisations += 1;
        let State { piece, springs, factor, .. } = state;
        let weight = |i: usize| if piece[i] == Piece::On { s.laws[i].slope } else { 0.0 };
        let spring = s.spring();
        let held = springs.iter().map(|&j| (j, spring)).chain((0..s.n).map(|j| (j, ridge)));
        state.factored = self.curvature.factor(self.kernel, s, weight, held, factor);
        state.factored
    }
}
