//! The vertex mode, the paper's Algorithm 1: segments at the exact optimum, extended to the whole space.

use std::sync::Arc;

use crate::engine::fallback::Solved;
use crate::engine::pinv::Pseudo;
use crate::engine::residual::Balance;
use crate::engine::rows::Softened;
use crate::engine::state::State;
use crate::engine::status::SurrogateStatus;
use crate::engine::workspace::Workspace;
use crate::problem::View;
use crate::solve::optimum::Status;
use crate::solve::oracle::Oracle;

/// The paper's point: pieces at the exact optimum, extended to the whole space.
pub(crate) fn vertex(
    oracle: &Oracle,
    rows: &Arc<Softened>,
    ws: &mut Workspace,
    theta: &[f64],
    view: &View<'_>,
    start: Option<Arc<State>>,
) -> Solved {
    let (optimum, exact_state) = oracle.solve_from(view, start);
    ws.work = optimum.work;
    let mut state = State::new(rows.n, rows.m());
    state.x.copy_from_slice(&optimum.x);
    state.theta.copy_from_slice(theta);
    let mut solved = Solved::new(SurrogateStatus::Optimal, optimum.link);
    solved.status = match optimum.status {
        Status::Optimal => SurrogateStatus::Optimal,
        Status::Infeasible { rows } => SurrogateStatus::Infeasible { rows },
        Status::Unbounded { .. } => SurrogateStatus::Unbounded,
        Status::NumericalTrouble => SurrogateStatus::NumericalTrouble,
    };
    let (k, at) = (ws.kernel, &mut ws.balance);
    rows.excess(k, &state.x, &mut at.z);
    rows.place(&at.z, &mut state.segments, &mut state.piece);
    if ws.factorise(rows, &mut state, 0.0).is_none() {
        solved.pseudo = Some(Arc::new(Pseudo::new(rows, &state)));
    }
    // x̄ = x* + H⁻¹(θ − 2Qx* − C'ᵀλ_frozen(z*)), with one refinement.
    let weigh = |at: &mut Balance, state: &State| {
        rows.excess(k, &state.x, &mut at.z);
        for i in 0..rows.m() {
            at.lambda[i] = rows.laws[i].multiplier(state.piece[i], at.z[i]);
        }
        for (hinges, segment) in rows.hinges.iter().zip(&state.segments) {
            at.lambda[hinges.row] = hinges.multiplier(*segment, at.z[hinges.row]);
        }
        at.weigh(k, rows, &state.x, theta);
    };
    for _ in 0..2 {
        weigh(&mut ws.balance, &state);
        ws.dx[..rows.n].copy_from_slice(&ws.balance.residual);
        match (&solved.pseudo, &state.factor) {
            (None, Some(owned)) => owned.factor.solve(k, &mut ws.dx),
            (pseudo, _) => pseudo.iter().for_each(|p| p.solve(&mut ws.dx[..rows.n])),
        }
        k.axpy(1.0, &ws.dx, &mut state.x);
    }
    weigh(&mut ws.balance, &state);
    state.lambda.copy_from_slice(&ws.balance.lambda);
    state.z.copy_from_slice(&ws.balance.z);
    let (mut worst, mut scale) = (0.0_f64, f64::MIN_POSITIVE);
    for (r, t) in ws.balance.residual.iter().zip(theta) {
        worst = worst.max(r.abs());
        // The force is θ less the residual.
        scale = scale.max(t.abs()).max((t - r).abs());
    }
    solved.residual = worst / scale;
    if state.x.iter().any(|x| !x.is_finite()) {
        state.x.copy_from_slice(&optimum.x);
        rows.excess(k, &state.x, &mut state.z);
        solved.status = SurrogateStatus::NumericalTrouble;
    }
    solved.state = Some(Arc::new(state));
    solved.start = Some(exact_state);
    solved
}
