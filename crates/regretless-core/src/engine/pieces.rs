//! Newton's method from saved pieces, for sparse problems that have moved a little.
//!
//! With the pieces frozen the optimum is one solve away; the rows then take the pieces of their new z, and the pieces are frozen
//! again. After a small move few rows change theirs, and the method ends where none does: the optimum. It is a primal-dual
//! active-set method, fast near an optimum. It begins with the pieces and not with those of z: a demand that moved throws an
//! equality out of its band, and with it out of H.

use crate::engine::rows::{Piece, Softened};
use crate::engine::state::State;
use crate::engine::stop::Stop;
use crate::engine::workspace::Workspace;

/// Changes of pieces that are tried before the steps are damped.
const ROUNDS: usize = 30;

/// Follows the pieces of the state to an optimum at θ. Leaves x, pieces and their factor; false if pieces still change.
pub(crate) fn settle(
    s: &Softened,
    state: &mut State,
    ws: &mut Workspace,
    theta: &[f64],
    fresh: bool,
) -> bool {
    if state.segments.len() != s.hinges.len() {
        // Other limits and prices: where the multipliers are.
        let z = &state.z;
        let at = s.hinges.iter().map(|h| {
            let i = h.row;
            h.with_multiplier(state.lambda[i], state.piece[i], z[i]).0
        });
        state.segments = at.collect();
        for (hinges, at) in s.hinges.iter().zip(&state.segments) {
            state.piece[hinges.row] = at.piece();
        }
    }
    for (law, piece) in s.laws.iter().zip(&mut state.piece) {
        if law.slope == 0.0 && s.hinges.is_empty() {
            *piece = Piece::Below;
        }
    }
    // Springs of a path belong to its factor.
    if fresh || !std::mem::take(&mut state.springs).is_empty() {
        ws.give_up_factor(state);
    }
    let (mut last, mut pieces, mut segments) = (usize::MAX, state.piece.clone(), state.segments.clone());
    for _ in 0..ROUNDS {
        if Stop::requested() {
            return false;
        }
        if state.factor.is_none() && ws.factorise(s, state, 0.0).is_none() {
            return false;
        }
        ws.step_on_pieces(s, state, theta);
        if state.x.iter().any(|x| !x.is_finite()) {
            return false;
        }
        ws.balance.measure(ws.kernel, s, &state.x, theta);
        s.place(&ws.balance.z, &mut segments, &mut pieces);
        let moved = pieces.iter().zip(&state.piece).filter(|(a, b)| a != b).count()
            + segments.iter().zip(&state.segments).filter(|(a, b)| a != b).count();
        if moved == 0 {
            return true;
        }
        ws.give_up_factor(state);
        state.piece.copy_from_slice(&pieces);
        state.segments.clone_from(&segments);
        if moved > last.saturating_mul(2) {
            return false;
        }
        last = moved;
    }
    false
}
