//! From the reference solver's answer to a basic solution of our own.

use crate::engine::pivot::gains_along;
use crate::engine::reference::{self, Reference, ReferenceStatus};
use crate::engine::rows::Piece;
use crate::engine::state::State;
use crate::engine::stop::Stop;
use crate::engine::tolerance::{INTERIOR, NO_LIMIT};
use crate::problem::View;
use crate::solve::exact::{ExactWorker, Verdict};

/// What the reference solver's answer leads to.
pub(crate) enum Crossed {
    /// An optimum by its own account; the state holds its x, multipliers and pieces.
    Solved(Reference),
    /// Proved here, not only said there.
    Proved(Verdict),
    /// It had no answer, or one that proves nothing.
    Failed,
}

/// Asks Clarabel and reads its answer into the state.
pub(crate) fn ask(view: &View<'_>, exact: &mut ExactWorker, state: &mut State) -> Crossed {
    if Stop::requested() {
        return Crossed::Failed;
    }
    let reference = reference::solve_tightly(view);
    match reference.status {
        ReferenceStatus::Solved => {
            let rows = &reference.rows;
            let own = |i: usize| rows[view.shape.position(exact.s.ids[i])] * exact.norms[i];
            let mut lambda: Vec<f64> = (0..exact.s.m()).map(own).collect();
            for hinges in &exact.s.hinges {
                let sum = hinges.each().map(|h| rows[h.soft]).sum::<f64>();
                lambda[hinges.row] = sum * exact.norms[hinges.row];
            }
            state.x.copy_from_slice(&reference.x);
            exact.columns.divide(&mut state.x);
            read(exact, state, &lambda);
            Crossed::Solved(reference)
        }
        ReferenceStatus::Infeasible => {
            // The multipliers have to be a proof.
            let largest = reference.rows.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
            let multiplier = |i: usize| {
                let y = reference.rows[view.shape.position(exact.s.ids[i])];
                if exact.hard(i) && y.abs() > INTERIOR * largest { y * exact.norms[i] } else { 0.0 }
            };
            let y: Vec<f64> = (0..exact.s.m()).map(multiplier).collect();
            if exact.proves_infeasible(&y) {
                let rows = (0..y.len()).filter(|&i| y[i] != 0.0).collect();
                return Crossed::Proved(Verdict::Infeasible(rows));
            }
            Crossed::Failed
        }
        ReferenceStatus::Unbounded => {
            let mut ray = reference.x;
            exact.columns.divide(&mut ray);
            let length = exact.ws.kernel.dot(&ray, &ray).sqrt();
            ray.iter_mut().for_each(|x| *x /= length);
            // The ray has to be one.
            if gains_along(&exact.s, exact.ws.kernel, &exact.theta, &ray) {
                Crossed::Proved(Verdict::Unbounded(ray))
            } else {
                Crossed::Failed
            }
        }
        ReferenceStatus::Failed => Crossed::Failed,
    }
}

/// Multipliers and pieces at the state's x: of a row's distance to its kink and its multiplier's distance to its caps, in the
/// engine's units, an interior point leaves one near 0 and the other not.
pub(crate) fn read(exact: &mut ExactWorker, state: &mut State, multipliers: &[f64]) {
    let mut z = vec![0.0; exact.s.m()];
    exact.s.excess(exact.ws.kernel, &state.x, &mut z);
    let far = state.x.iter().fold(NO_LIMIT, |m, v| m.max(v.abs()));
    // Of θ, or of Q.
    let mut curve = vec![0.0; exact.s.n];
    if let Some(two_q) = &exact.s.two_q {
        two_q.view().apply(exact.ws.kernel, &state.x, &mut curve);
    }
    let pull = exact.theta.iter().chain(&curve).fold(NO_LIMIT, |m, v| m.max(v.abs()));
    for i in 0..exact.s.m() {
        let caps = exact.caps[i];
        let lambda = multipliers[i].clamp(-caps.under, caps.over);
        let room = (caps.over - lambda).min(lambda + caps.under);
        state.lambda[i] = lambda;
        state.piece[i] = match z[i] {
            _ if caps.over + caps.under <= 0.0 => Piece::Below,
            z if z.abs() * pull <= room * far => Piece::On,
            z if z < 0.0 => Piece::Below,
            _ => Piece::Above,
        };
        // A hard side has no piece beyond its kink.
        let beyond = (state.piece[i] == Piece::Above && caps.over.is_infinite())
            || (state.piece[i] == Piece::Below && caps.under.is_infinite());
        if beyond {
            state.piece[i] = Piece::On;
        }
    }
    state.segments.clear();
    for hinges in &exact.s.hinges {
        let (i, z) = (hinges.row, z[hinges.row]);
        let lambda = multipliers[i];
        state.lambda[i] = lambda;
        let at = hinges.exact_with(lambda, Piece::On);
        let (_, kink) = hinges.exact_at(at, lambda, z);
        let room = hinges.room(at, lambda);
        let on = (z - kink).abs() * pull <= room * far;
        state.segments.push(if on { at } else { hinges.between(z) });
    }
    exact.set_pieces(state);
    exact.ws.give_up_factor(state);
    state.springs.clear();
}
