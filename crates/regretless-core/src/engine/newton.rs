//! The second link: a semismooth Newton method with exact line search.
//!
//! The softened objective is concave, piecewise quadratic and once differentiable, so a Newton direction with a small
//! ridge is an ascent direction everywhere and the best step along it is the root of a decreasing piecewise-linear
//! function: nothing to tune, and no way to cycle.

use crate::engine::path::Outcome;
use crate::engine::residual::Balance;
use crate::engine::rows::{Piece, Softened};
use crate::engine::state::State;
use crate::engine::tolerance::{CLIMBED, NO_STEP, RIDGE, RIDGE_GROWTH, UPHILL};
use crate::engine::workspace::Workspace;
use crate::linalg::hessian::Hessian;
use crate::linalg::simd::Kernel;

const ITERATIONS: usize = 300;

/// Climbs from `state.x` to the optimum at θ. Leaves x, pieces and a factor without ridge (where H is regular).
pub(crate) fn climb(s: &Softened, state: &mut State, ws: &mut Workspace, theta: &[f64]) -> Outcome {
    state.springs.clear();
    let mut residual = ws.balance.measure(ws.kernel, s, &state.x, theta);
    let mut ridge = RIDGE;
    for _ in 0..ITERATIONS {
        for i in 0..s.m() {
            state.piece[i] = s.laws[i].piece(ws.balance.z[i]);
        }
        if residual <= CLIMBED {
            break;
        }
        ws.work.newton += 1;
        let Some(factor) = ws.factorise(s, state, ridge * s.spring()) else {
            ridge *= RIDGE_GROWTH;
            if ridge > 1.0 {
                return Outcome::Stalled;
            }
            continue;
        };
        ws.dx[..s.n].copy_from_slice(&ws.balance.residual);
        factor.solve(ws.kernel, &mut ws.dx);
        let direction = &ws.dx[..s.n];
        let Some(step) = best_step(s, ws.kernel, &ws.balance, theta, &state.x, direction) else {
            return Outcome::Unbounded(direction.to_vec());
        };
        if !step.is_finite() {
            return Outcome::Stalled;
        }
        ws.kernel.axpy(step, &ws.dx, &mut state.x);
        let next = ws.balance.measure(ws.kernel, s, &state.x, theta);
        if next.is_infinite() || (next >= residual && step * norm(&ws.dx) <= NO_STEP * norm(&state.x)) {
            break;
        }
        residual = next;
    }
    for i in 0..s.m() {
        state.piece[i] = s.laws[i].piece(ws.balance.z[i]);
    }
    ws.factorise(s, state, 0.0);
    Outcome::Arrived
}

fn norm(v: &[f64]) -> f64 {
    v.iter().fold(0.0_f64, |m, x| m.max(x.abs()))
}

/// The step that maximises the objective along `dx`; `None` if it rises for ever.
///
/// The slope along the ray falls piecewise linearly from gᵀdx; it breaks where a row crosses lo or hi.
fn best_step(s: &Softened, k: Kernel, at: &Balance, theta: &[f64], x: &[f64], dx: &[f64]) -> Option<f64> {
    let (z, mut dz) = (&at.z, vec![0.0; s.m()]);
    s.apply(k, dx, &mut dz);
    let mut breaks: Vec<(f64, usize)> = Vec::new();
    for (i, law) in s.laws.iter().enumerate() {
        for end in [law.lo, law.hi] {
            let at = (end - z[i]) / dz[i];
            if dz[i] != 0.0 && at.is_finite() && at > 0.0 {
                breaks.push((at, i));
            }
        }
    }
    breaks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut flat = vec![0.0; s.n];
    let quadratic = s.two_q.as_ref().map_or(0.0, |q| {
        k.matvec(q, dx, &mut flat);
        k.dot(&flat, dx)
    });
    let pull = s.two_q.as_ref().map_or(0.0, |q| {
        k.matvec(q, x, &mut flat);
        k.dot(&flat, dx)
    });
    let linear = k.dot(theta, dx) - pull;
    let slope_at = |t: f64| {
        let rows: f64 =
            s.laws.iter().zip(z.iter().zip(&dz)).map(|(l, (z, dz))| l.clipped(z + t * dz) * dz).sum();
        linear - t * quadratic - rows
    };
    // Bisection over the sorted breakpoints, then the root within one linear stretch.
    let (mut low, mut high) = (0, breaks.len());
    while low < high {
        let mid = usize::midpoint(low, high);
        if slope_at(breaks[mid].0) > 0.0 {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    let t0 = if low == 0 { 0.0 } else { breaks[low - 1].0 };
    let g0 = slope_at(t0);
    let inner = breaks.get(low).map_or(t0 + 1.0 + t0.abs(), |b| f64::midpoint(t0, b.0));
    let curvature = quadratic
        + (0..s.m())
            .filter(|&i| s.laws[i].piece(z[i] + inner * dz[i]) == Piece::On)
            .map(|i| s.laws[i].slope * dz[i] * dz[i])
            .sum::<f64>();
    if curvature > 0.0 {
        let step = t0 + (g0 / curvature).max(0.0);
        return Some(breaks.get(low).map_or(step, |b| step.min(b.0)));
    }
    match breaks.get(low) {
        Some(b) => Some(b.0),
        None if g0 > UPHILL * linear.abs() => None,
        None => Some(t0),
    }
}
