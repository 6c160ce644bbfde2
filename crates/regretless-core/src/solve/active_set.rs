//! The optimum of a guessed active set, from the KKT equations themselves.
//!
//! The path keeps H = 2Q + C'ᵀWC', which squares the conditioning of the active rows. Where that is too much, the equations
//! of the active set are solved as they stand, with the multipliers as unknowns; F are the variables that no active bound
//! fixes, W the other active rows:
//!
//! ```text
//! [ 2Q_FF + δ   A_WFᵀ ] [dx]   [ θ − 2Qx − C'ᵀλ ]_F
//! [ A_WF         −δ   ] [dλ] = [ d − Ax         ]_W
//! ```
//!
//! δ only keeps the matrix regular (dependent rows, many optima); refinement against the equations without δ takes its
//! effect away. Rows that turn out violated, or whose multiplier leaves its caps, change their piece and the equations are
//! solved again: a primal-dual active-set method, which is a semismooth Newton method on the KKT conditions
//! (Hintermüller, Ito & Kunisch 2002). It is fast near an optimum and promises nothing far from one.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use crate::engine::rows::Piece;
use crate::engine::state::State;
use crate::engine::tolerance::{REFINEMENT, REGULAR, WRONG_PIECE};
use crate::solve::exact::ExactWorker;

/// Refinements of one solution of the equations.
const REFINEMENTS: usize = 40;

/// Solves the equations of the state's active set. False if they have no finite solution.
pub(crate) fn solve(exact: &mut ExactWorker, state: &mut State) -> bool {
    exact.ws.work.newton += 1;
    let (n, m_dense) = (exact.s.n, exact.s.m_dense);
    let mut fixed = vec![None; n];
    for (i, u) in (m_dense..).zip(&exact.s.unit) {
        if state.piece[i] == Piece::On {
            fixed[u.var] = Some(i);
            state.x[u.var] = u.sign * exact.s.d[i];
        } else {
            state.lambda[i] = exact.resting(state, i);
        }
    }
    for i in 0..m_dense {
        if state.piece[i] != Piece::On {
            state.lambda[i] = exact.resting(state, i);
        }
    }
    let free: Vec<usize> = (0..n).filter(|&j| fixed[j].is_none()).collect();
    let rows: Vec<usize> = (0..m_dense).filter(|&i| state.piece[i] == Piece::On).collect();
    let matrix = kkt(exact, &free, &rows);
    let factor = matrix.lblt(Side::Lower);
    let mut step = Mat::zeros(free.len() + rows.len(), 1);
    let (mut last, mut kept) = (f64::INFINITY, (state.x.clone(), state.lambda.clone()));
    for _ in 0..REFINEMENTS {
        balance(exact, state, &fixed);
        let mut size = 0.0_f64;
        for (at, &j) in free.iter().enumerate() {
            step[(at, 0)] = exact.ws.balance.residual[j];
        }
        for (at, &i) in (free.len()..).zip(&rows) {
            step[(at, 0)] = exact.kink(state, i) - exact.ws.balance.z[i];
        }
        for at in 0..step.nrows() {
            let r = step[(at, 0)].abs();
            size = if r.is_nan() { f64::NAN } else { size.max(r) };
        }
        let better = size < last;
        if better {
            kept.0.copy_from_slice(&state.x);
            kept.1.copy_from_slice(&state.lambda);
        }
        if !better || size == 0.0 || size > REFINEMENT * last {
            break;
        }
        last = size;
        factor.solve_in_place(&mut step);
        for (at, &j) in free.iter().enumerate() {
            state.x[j] += step[(at, 0)];
        }
        for (at, &i) in (free.len()..).zip(&rows) {
            state.lambda[i] += step[(at, 0)];
        }
    }
    (state.x, state.lambda) = kept;
    exact.ws.give_up_factor(state);
    state.springs.clear();
    balance(exact, state, &fixed);
    state.x.iter().chain(&state.lambda).all(|v| v.is_finite())
}

/// Brings the balance to the state, with the state's multipliers; what is left of it at a fixed variable is the multiplier of
/// its bound.
fn balance(exact: &mut ExactWorker, state: &mut State, fixed: &[Option<usize>]) {
    let (s, k, at) = (&exact.s, exact.ws.kernel, &mut exact.ws.balance);
    for i in fixed.iter().flatten() {
        state.lambda[*i] = 0.0;
    }
    s.excess(k, &state.x, &mut at.z);
    at.lambda.copy_from_slice(&state.lambda);
    at.weigh(k, s, &state.x, &exact.theta);
    for (r, i) in at.residual.iter().zip(fixed) {
        if let Some(i) = *i {
            state.lambda[i] = s.unit[i - s.m_dense].sign * r;
        }
    }
}

fn kkt(exact: &ExactWorker, free: &[usize], rows: &[usize]) -> Mat<f64> {
    let (s, f) = (&exact.s, free.len());
    let size = f + rows.len();
    let delta = REGULAR * s.curvature.max(1.0);
    let mut matrix = Mat::zeros(size, size);
    for (a, &j) in free.iter().enumerate() {
        if let Some(two_q) = &s.two_q {
            for (b, &k) in free[..=a].iter().enumerate() {
                matrix[(a, b)] = two_q[j * s.n + k];
            }
        }
        matrix[(a, a)] += delta;
    }
    for (a, &i) in (f..).zip(rows) {
        let row = s.row(i);
        for (b, &j) in free.iter().enumerate() {
            matrix[(a, b)] = row[j];
        }
        matrix[(a, a)] = -delta.min(REGULAR);
    }
    matrix
}

/// Moves the rows that are on the wrong piece at the state's x and λ; the number of rows moved.
pub(crate) fn correct(exact: &ExactWorker, state: &mut State) -> usize {
    let (s, z) = (&exact.s, &exact.ws.balance.z);
    let far = exact.ws.kernel.largest(&state.x);
    let pull = state.lambda.iter().chain(&exact.theta).fold(0.0_f64, |m, l| m.max(l.abs()));
    let mut moved = 0;
    for i in 0..s.m() {
        let caps = exact.caps[i];
        if caps.over + caps.under <= 0.0 {
            continue;
        }
        let (out, slack) = (WRONG_PIECE * pull, WRONG_PIECE * (far * s.reach[i]).max(s.d[i].abs()));
        if let Some((at, hinges)) = s.hinges_of(i) {
            let next = hinges.exact_next(state.segments[at], (state.lambda[i], out), (z[i], slack));
            moved += usize::from(next != state.segments[at]);
            (state.segments[at], state.piece[i]) = (next, next.piece());
            continue;
        }
        let piece = match state.piece[i] {
            Piece::On if state.lambda[i] > caps.over + out => Piece::Above,
            Piece::On if state.lambda[i] < -caps.under - out => Piece::Below,
            Piece::Below if z[i] > slack => Piece::On,
            Piece::Above if z[i] < -slack => Piece::On,
            piece => piece,
        };
        moved += usize::from(piece != state.piece[i]);
        state.piece[i] = piece;
    }
    moved
}
