//! Newton's method from saved pieces, for sparse problems and crowds of rows that have moved a little.
//!
//! With the pieces frozen the optimum is one solve away; the rows then take the pieces of their new z, and the pieces are frozen
//! again. After a small move few rows change theirs, and the method ends where none does: the optimum. It is a primal-dual
//! active-set method, fast near an optimum. It begins with the pieces and not with those of z: a demand that moved throws an
//! equality out of its band, and with it out of H.

use crate::engine::rows::{Piece, Softened};
use crate::engine::state::State;
use crate::engine::stop::Stop;
use crate::engine::tolerance::SINGULAR_DOWNDATE;
use crate::engine::workspace::Workspace;
use crate::linalg::bordered::Bordered;
use crate::linalg::hessian::{Factor, Hessian};
use crate::linalg::simd::Kernel;

/// Rows that change their pieces at once for which the factor is changed and not made anew.
const FEW: usize = 24;

/// How long pieces are followed.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// Changes of pieces that are tried.
    rounds: usize,
    /// Whether a factor may be made where the one at hand cannot follow.
    anew: bool,
}

impl Patience {
    /// Until steps had better be damped.
    pub(crate) const LONG: Self = Self { rounds: 30, anew: true };
    /// A crowd that has moved a little.
    pub(crate) const SHORT: Self = Self { rounds: 8, anew: true };
    /// What has hardly moved.
    pub(crate) const AT_HAND: Self = Self { rounds: 4, anew: false };
}

/// Follows the pieces of the state to an optimum at θ. Leaves x, pieces, their factor and the balance, and returns the residual;
/// `None` if pieces still change.
pub(crate) fn settle(
    s: &Softened,
    state: &mut State,
    ws: &mut Workspace,
    theta: &[f64],
    fresh: bool,
    patience: Patience,
) -> Option<f64> {
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
    for round in 1..=patience.rounds {
        if Stop::requested() {
            return None;
        }
        if state.factor.is_none() {
            ws.factorise(s, state, 0.0)?;
        }
        if round == 1 {
            s.excess(ws.kernel, &state.x, &mut ws.balance.z);
        }
        ws.step_on_pieces(s, state, theta);
        if state.x.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let residual = ws.balance.measure(ws.kernel, s, &state.x, theta);
        s.place(&ws.balance.z, &mut segments, &mut pieces);
        let moved = pieces.iter().zip(&state.piece).filter(|(a, b)| a != b).count()
            + segments.iter().zip(&state.segments).filter(|(a, b)| a != b).count();
        if moved == 0 {
            return Some(residual);
        }
        if round == patience.rounds {
            return None;
        }
        if moved > FEW || !reweigh(s, state, ws, &pieces) {
            if !patience.anew {
                return None;
            }
            ws.give_up_factor(state);
        }
        state.piece.copy_from_slice(&pieces);
        state.segments.clone_from(&segments);
        if moved > last.saturating_mul(2) {
            return None;
        }
        last = moved;
    }
    None
}

/// Changes the weights of rows that change their pieces in the factor; false if it cannot follow.
fn reweigh(s: &Softened, state: &mut State, ws: &mut Workspace, pieces: &[Piece]) -> bool {
    if !s.hinges.is_empty() {
        return false;
    }
    let State { piece, factor, .. } = state;
    let Workspace { kernel, row, .. } = ws;
    match factor.as_mut().map(|owned| &mut owned.factor) {
        Some(Factor::Dense(factor)) => exchange(s, *kernel, factor, row, (&piece[..], pieces)),
        Some(Factor::Sparse(factor)) => {
            exchange(s, *kernel, factor, &mut Bordered::row(s.n), (&piece[..], pieces))
        }
        None => false,
    }
}

fn exchange<F: Hessian>(
    s: &Softened,
    k: Kernel,
    factor: &mut F,
    row: &mut F::Row,
    (from, to): (&[Piece], &[Piece]),
) -> bool {
    // Rows that come first: without them H may be singular.
    for entering in [true, false] {
        for (i, law) in s.laws.iter().enumerate() {
            let (was, is) = (from[i] == Piece::On, to[i] == Piece::On);
            if was == is || is != entering || law.slope == 0.0 {
                continue;
            }
            if factor.is_spent() {
                return false;
            }
            factor.meet(k, row, i, |a| s.write_row(i, a));
            if entering {
                factor.add(k, law.slope, row);
                continue;
            }
            let rest = 1.0 - law.slope * factor.along(k, row);
            if rest.is_nan() || rest <= SINGULAR_DOWNDATE {
                return false;
            }
            factor.remove(k, law.slope, rest, row);
        }
    }
    true
}
