//! The vertex mode, the paper's Algorithm 1: segments at the exact optimum, extended to the whole space.

use std::sync::Arc;

use crate::engine::fallback::Solved;
use crate::engine::pinv::Pseudo;
use crate::engine::rows::Softened;
use crate::engine::status::SurrogateStatus;
use crate::engine::workspace::{State, Workspace};
use crate::problem::{Instance, ProblemError};
use crate::solve::optimum::Status;
use crate::solve::oracle::Oracle;

/// The paper's point: pieces at the exact optimum, extended to the whole space.
pub(crate) fn vertex(
    oracle: &Oracle,
    rows: &Arc<Softened>,
    ws: &mut Workspace,
    theta: &[f64],
    instance: &Instance<'_>,
    start: Option<Arc<State>>,
) -> Result<Solved, ProblemError> {
    let (optimum, exact_state) = oracle.solve_with(&mut oracle.worker(), instance, start)?;
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
    rows.excess(ws.kernel, &state.x, &mut ws.z);
    for i in 0..rows.m() {
        state.piece[i] = rows.laws[i].piece(ws.z[i]);
    }
    let regular = ws.factorise(rows, &mut state, 0.0);
    if !regular {
        solved.pseudo = Some(Arc::new(Pseudo::new(rows, &state)));
    }
    // x̄ = x* + H⁻¹(θ − 2Qx* − C'ᵀλ_frozen(z*)), with one refinement.
    for _ in 0..2 {
        rows.excess(ws.kernel, &state.x, &mut ws.z);
        for i in 0..rows.m() {
            ws.lambda[i] = rows.laws[i].multiplier(state.piece[i], ws.z[i]);
        }
        rows.force(ws.kernel, &state.x, &ws.lambda, &mut ws.dx[..rows.n]);
        for (d, t) in ws.dx.iter_mut().zip(theta) {
            *d = t - *d;
        }
        match &solved.pseudo {
            Some(pseudo) => pseudo.solve(&mut ws.dx[..rows.n]),
            None => state.factor.solve(ws.kernel, &mut ws.dx),
        }
        ws.kernel.axpy(1.0, &ws.dx, &mut state.x);
    }
    rows.excess(ws.kernel, &state.x, &mut ws.z);
    for i in 0..rows.m() {
        state.lambda[i] = rows.laws[i].multiplier(state.piece[i], ws.z[i]);
    }
    rows.force(ws.kernel, &state.x, &state.lambda, &mut ws.residual);
    let (mut worst, mut scale) = (0.0_f64, f64::MIN_POSITIVE);
    for (r, t) in ws.residual.iter().zip(theta) {
        worst = worst.max((t - r).abs());
        scale = scale.max(t.abs()).max(r.abs());
    }
    solved.residual = worst / scale;
    if state.x.iter().any(|x| !x.is_finite()) {
        state.x.copy_from_slice(&optimum.x);
        solved.status = SurrogateStatus::NumericalTrouble;
    }
    solved.state = Some(Arc::new(state));
    solved.start = Some(exact_state);
    Ok(solved)
}
