//! Where the pieces of a linear program's surrogate come from: the vertex of the program with its kinks moved.
//!
//! A row of the surrogate with multiplier λ has z = (λ − anchor)/w, whatever the others do. So its optimum is that of a linear
//! program whose limits are there:
//!
//! ```text
//! max θᵀx − Σᵢ γᵢ max(cᵢᵀx − d̃ᵢ, 0),   d̃ᵢ = dᵢ + (λᵢ − anchorᵢ)/wᵢ          at its vertex:  rows on their kinks ⊆ M
//! ```
//!
//! Multipliers move less than pieces do. With those of the last solve the simplex method goes to the vertex for the new θ and d;
//! rows on their kinks there, and rows within their bands, are on their slopes. The factored basis is H⁻¹ of the first
//! ([`AtVertex`](crate::linalg::at_vertex::AtVertex)), the others are its border: what is left is one Newton step, and a look
//! whether any row changes its piece.

use crate::engine::fallback::Begin;
use crate::engine::hinges::Groups;
use crate::engine::rows::{Law, Piece, Softened};
use crate::engine::state::{OwnedFactor, Owner, State};
use crate::engine::workspace::Work;
use crate::linalg::bordered::Bordered;
use crate::linalg::hessian::Factor;
use crate::problem::parameter::Parameter;
use crate::problem::{RowId, View};
use crate::solve::crossover;
use crate::solve::exact::{Caps, ExactWorker};

/// Rows of a border that are cheaper than a factor of all.
const BORDER: usize = 256;

/// The memory of one worker.
pub(crate) struct Kinks {
    exact: ExactWorker,
    /// True while it holds the problem's own coefficients.
    own: bool,
}

impl Kinks {
    pub(crate) fn new(view: &View<'_>, groups: &Groups) -> Self {
        Self { exact: ExactWorker::new(view, groups, Owner::NOBODY), own: false }
    }

    /// Takes up the coefficients and θ of an instance; limits and prices come with each guess.
    pub(crate) fn load(&mut self, view: &View<'_>, groups: &Groups, rows: &Softened) {
        let given = [Parameter::SoftRows, Parameter::AtMostRows, Parameter::EqualRows];
        let own = !view.gives(&given);
        let place = |s: &Softened| s.unit.iter().map(|u| (u.var, u.sign > 0.0)).collect::<Vec<_>>();
        if !(own && self.own && place(&self.exact.s) == place(rows)) {
            self.exact.load(view, groups, None, &[]);
            self.own = own;
        }
        self.exact.set_gain(view);
    }

    /// A point near the surrogate's optimum, its pieces and their factor, from those of the state; false, with the state as it
    /// was, if nobody knows.
    pub(crate) fn guess(
        &mut self,
        rows: &Softened,
        state: &mut State,
        from: Begin,
        owner: Owner,
        work: &mut Work,
    ) -> bool {
        let exact = &mut self.exact;
        let mut trial = state.light();
        exact.columns.divide(&mut trial.x);
        for (i, law) in rows.laws.iter().enumerate() {
            let norm = exact.norms[i];
            // A penalty is there to be larger than the multiplier.
            let hard = !matches!(rows.ids[i], RowId::Soft(_));
            let cap = |price: f64| match price {
                price if price <= 0.0 => 0.0,
                _ if hard => f64::INFINITY,
                price => price * norm,
            };
            exact.caps[i] = Caps { over: cap(law.above), under: cap(-law.below) };
            exact.s.d[i] = (rows.d[i] + kink(law, state.lambda[i])) / norm;
            trial.lambda[i] *= norm;
        }
        if from == Begin::Interior {
            let lambda = trial.lambda.clone();
            crossover::read(exact, &mut trial, &lambda);
        }
        exact.ws.work = Work::default();
        let arrived = exact.follow_vertices(&mut trial);
        let done = exact.ws.work;
        work.factorisations += done.factorisations;
        work.pivots += done.pivots;
        work.breakpoints += done.breakpoints;
        let Some(vertices) = exact.vertices().filter(|_| arrived) else { return false };
        exact.columns.multiply(&mut trial.x);
        state.x = trial.x;
        rows.excess(exact.ws.kernel, &state.x, &mut state.z);
        for (i, law) in rows.laws.iter().enumerate() {
            state.lambda[i] = trial.lambda[i] / exact.norms[i];
            state.piece[i] = law.piece(state.z[i]);
        }
        let mut held = vec![false; rows.m()];
        for (_, i) in vertices.held() {
            (held[i], state.piece[i]) = (true, Piece::On);
        }
        let between = |i: &usize| state.piece[*i] == Piece::On && !held[*i] && rows.laws[*i].slope > 0.0;
        let border: Vec<usize> = (0..rows.m()).filter(between).collect();
        state.factor = None;
        state.springs.clear();
        if border.len() <= BORDER {
            let weight = |i: usize| rows.laws[i].slope * exact.norms[i] * exact.norms[i];
            let factor = vertices.factor(weight, exact.columns.units().to_vec());
            let more = border.iter().map(|&i| (i, rows.entries(i), rows.laws[i].slope));
            let factor = Bordered::at_vertex(factor, rows.n, more);
            state.factor = Some(OwnedFactor { owner, factor: Factor::Sparse(factor) });
        }
        true
    }
}

/// Where a row stands with a multiplier, counted from its limit.
fn kink(law: &Law, lambda: f64) -> f64 {
    if law.slope > 0.0 { ((lambda - law.anchor) / law.slope).clamp(law.lo, law.hi) } else { 0.0 }
}
