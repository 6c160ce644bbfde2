//! The memory of one worker: allocated once, used for every solve.

use std::sync::Arc;

use crate::engine::clock::Nanos;
use crate::engine::path::Steps;
use crate::engine::residual::Balance;
use crate::engine::rows::Softened;
use crate::engine::state::{OwnedFactor, Owner, State};
use crate::linalg::dense_ldl::{Assembly, DenseLdl, DenseRow};
use crate::linalg::hessian::{Factor, Hessian, Terms};
use crate::linalg::simd::{Kernel, padded};
use crate::linalg::sparse_ldl::{Analysis, Augmented};
use crate::problem::Coefficients;

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

/// Buffers of one worker. Each belongs to one step; only the balance outlives it.
pub(crate) struct Workspace {
    pub(crate) kernel: Kernel,
    pub(crate) work: Work,
    /// Where the last measured point stands.
    pub(crate) balance: Balance,
    /// Of the path.
    pub(crate) steps: Steps,
    /// The row that meets the factor.
    pub(crate) row: DenseRow,
    /// A step of x in Newton's method and refinement, padded.
    pub(crate) dx: Vec<f64>,
    pub(crate) curvature: Curvature,
    owner: Owner,
    /// The memory of a factor that was given up.
    spare: DenseLdl,
}

impl Workspace {
    /// Memory for n variables and m rows; factors belong to `owner`.
    pub(crate) fn new(owner: Owner, n: usize, m: usize) -> Self {
        Self {
            kernel: Kernel::new(),
            work: Work::default(),
            balance: Balance::new(n, m),
            steps: Steps::new(n, m),
            row: DenseLdl::row(n),
            dx: vec![0.0; padded(n)],
            curvature: Curvature::default(),
            owner,
            spare: DenseLdl::default(),
        }
    }

    /// Makes room for another number of rows.
    pub(crate) fn resize(&mut self, n: usize, m: usize) {
        if self.balance.z.len() != m {
            *self = Self::new(self.owner, n, m);
        }
    }

    /// A state to work on: the start if it has the right sizes, otherwise an empty one. True if it was the start.
    pub(crate) fn adopt(&mut self, start: Option<Arc<State>>, n: usize, m: usize) -> (State, bool) {
        let Some(shared) = start.filter(|s| s.x.len() == n && s.piece.len() == m) else {
            return (State::new(n, m), false);
        };
        let mut state = Arc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone());
        if state.factor.as_ref().is_some_and(|f| f.owner != self.owner) {
            self.give_up_factor(&mut state);
        }
        (state, true)
    }

    /// The count of breakpoints at which a solve that begins now gives up; `patience` is in units of n + m.
    pub(crate) fn limit(&self, s: &Softened, patience: usize) -> usize {
        self.work.breakpoints + 100 + patience * (s.n + s.m())
    }

    /// Takes the factor from a state that it does not fit, and keeps its memory.
    pub(crate) fn give_up_factor(&mut self, state: &mut State) {
        if let Some(OwnedFactor { factor: Factor::Dense(given), .. }) = state.factor.take() {
            self.spare = given;
        }
    }

    /// Factors H = 2Q + C'ᵀdiag(w)C' + ridge·I at the state's pieces; `None` if H is singular.
    pub(crate) fn factorise<'a>(
        &mut self,
        s: &Softened,
        state: &'a mut State,
        ridge: f64,
    ) -> Option<&'a Factor> {
        self.work.factorisations += 1;
        self.give_up_factor(state);
        let State { piece, segments, springs, factor, .. } = state;
        let weight = |i: usize| s.weight(i, piece[i], segments);
        let spring = s.spring();
        let held = springs.iter().map(|&j| (j, spring)).chain((0..s.n).map(|j| (j, ridge)));
        let made = self.curvature.factor(self.kernel, s, weight, held, &mut self.spare)?;
        Some(&factor.insert(OwnedFactor { owner: self.owner, factor: made }).factor)
    }
}

/// Memory to put H together in.
#[derive(Default)]
pub(crate) struct Curvature {
    weights: Vec<f64>,
    diagonal: Vec<f64>,
    memory: Assembly,
}

impl Curvature {
    /// Factors H with the weight of each row from `weight` (0: the row is left out) and `extra` on top of some entries of
    /// the diagonal; `None` if H is singular. A dense factor is made in the memory of `spare`.
    pub(crate) fn factor(
        &mut self,
        k: Kernel,
        s: &Softened,
        weight: impl Fn(usize) -> f64,
        extra: impl Iterator<Item = (usize, f64)>,
        spare: &mut DenseLdl,
    ) -> Option<Factor> {
        self.diagonal.clear();
        self.diagonal.resize(s.n, 0.0);
        for (i, u) in (s.m_general..).zip(&s.unit) {
            self.diagonal[u.var] += weight(i);
        }
        for (j, more) in extra {
            self.diagonal[j] += more;
        }
        self.weights.clear();
        self.weights.extend((0..s.m_general).map(weight));
        if let Some(analysis) = &s.analysis {
            return self.augmented(s, analysis).factor().map(|f| Factor::Sparse(f.into()));
        }
        let two_q = s.two_q.as_ref().map(Coefficients::as_slice);
        let (rows, weights, diagonal) = (s.general.as_slice(), &self.weights[..], &self.diagonal[..]);
        let mut made = std::mem::take(spare);
        if made.factorise(k, Terms { two_q, rows, weights, diagonal }, &mut self.memory) {
            return Some(Factor::Dense(made));
        }
        *spare = made;
        None
    }

    /// [2Q + D, C'ᵀ; C', −W⁻¹] of the weights and the diagonal.
    fn augmented(&self, s: &Softened, analysis: &Arc<Analysis>) -> Augmented {
        let mut k = analysis.zeros();
        curve(&mut k, s, |j| self.diagonal[j]);
        for (i, weight) in self.weights.iter().enumerate() {
            match k.row(i).split_last_mut() {
                Some((diagonal, entries)) if *weight > 0.0 => {
                    entries.copy_from_slice(s.general.row(i).values());
                    *diagonal = -1.0 / weight;
                }
                Some((diagonal, _)) => *diagonal = -1.0,
                None => {}
            }
        }
        k
    }
}

/// The first block of an augmented matrix: 2Q with `extra` on the diagonal.
pub(crate) fn curve(k: &mut Augmented, s: &Softened, extra: impl Fn(usize) -> f64) {
    for j in 0..s.n {
        let entries = k.variable(j);
        if let Some(two_q) = &s.two_q {
            // The lower triangle's row up to its diagonal.
            entries.copy_from_slice(&two_q.row(j).values()[..entries.len()]);
        }
        if let Some(diagonal) = entries.last_mut() {
            *diagonal += extra(j);
        }
    }
}
