//! The second link: a semismooth Newton method with exact line search.
//!
//! The softened objective is concave, piecewise quadratic and once differentiable, so a Newton direction with a small
//! ridge is an ascent direction everywhere and the best step along it is the root of a decreasing piecewise-linear
//! function: nothing to tune, and no way to cycle. The whole step is looked at first: where it leaves less than half of the
//! smallest residual so far, as it does once most rows are on their last pieces, nothing has to be searched.

use crate::engine::hinges::Segment;
use crate::engine::path::Outcome;
use crate::engine::residual::Balance;
use crate::engine::rows::{Piece, Softened};
use crate::engine::state::State;
use crate::engine::stop::Stop;
use crate::engine::tolerance::{CLIMBED, NO_STEP, RIDGE, RIDGE_GROWTH, UPHILL};
use crate::engine::workspace::Workspace;
use crate::linalg::simd::Kernel;

const ITERATIONS: usize = 300;
/// A whole step that leaves no more than this share of the smallest residual so far is taken as it is.
const HALVED: f64 = 0.5;
/// Steps of the line search among many breakpoints.
const LINE_STEPS: usize = 200;

/// Climbs from `state.x` to the optimum at θ. Leaves x, pieces and a factor without ridge (where H is regular).
pub(crate) fn climb(s: &Softened, state: &mut State, ws: &mut Workspace, theta: &[f64]) -> Outcome {
    state.springs.clear();
    let mut residual = ws.balance.measure(ws.kernel, s, &state.x, theta);
    let (mut ridge, mut least) = (RIDGE, residual);
    for _ in 0..ITERATIONS {
        if Stop::requested() {
            return Outcome::Stalled;
        }
        s.place(&ws.balance.z, &mut state.segments, &mut state.piece);
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
        ws.kernel.axpy(1.0, &ws.dx, &mut state.x);
        let whole = ws.balance.measure(ws.kernel, s, &state.x, theta);
        if whole <= HALVED * least {
            (residual, least) = (whole, whole);
            continue;
        }
        ws.kernel.axpy(-1.0, &ws.dx, &mut state.x);
        ws.balance.measure(ws.kernel, s, &state.x, theta);
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
        least = least.min(residual);
    }
    s.place(&ws.balance.z, &mut state.segments, &mut state.piece);
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
    // Of many breakpoints the first and the last: the root may be between them.
    for hinges in &s.hinges {
        let i = hinges.row;
        let far = [Segment::flat(0), Segment::flat(hinges.kinks().len())].map(|at| hinges.ends(at));
        for end in [far[0].1, far[1].0] {
            let at = (end - z[i]) / dz[i];
            if dz[i] != 0.0 && at.is_finite() && at > 0.0 {
                breaks.push((at, i));
            }
        }
    }
    breaks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut flat = vec![0.0; s.n];
    let quadratic = s.two_q.as_ref().map_or(0.0, |q| {
        q.view().apply(k, dx, &mut flat);
        k.dot(&flat, dx)
    });
    let pull = s.two_q.as_ref().map_or(0.0, |q| {
        q.view().apply(k, x, &mut flat);
        k.dot(&flat, dx)
    });
    let linear = k.dot(theta, dx) - pull;
    let slope_at = |t: f64| {
        let rows: f64 =
            s.laws.iter().zip(z.iter().zip(&dz)).map(|(l, (z, dz))| l.clipped(z + t * dz) * dz).sum();
        let many: f64 = s.hinges.iter().map(|h| h.clipped(z[h.row] + t * dz[h.row]) * dz[h.row]).sum();
        linear - t * quadratic - rows - many
    };
    let curvature_at = |t: f64| {
        let rows = (0..s.m())
            .filter(|&i| s.laws[i].piece(z[i] + t * dz[i]) == Piece::On)
            .map(|i| s.laws[i].slope * dz[i] * dz[i])
            .sum::<f64>();
        let many = s.hinges.iter().map(|h| {
            let (z, dz) = (z[h.row] + t * dz[h.row], dz[h.row]);
            h.slope(h.locate(z)) * dz * dz
        });
        quadratic + rows + many.sum::<f64>()
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
    if let (false, Some(b)) = (s.hinges.is_empty(), breaks.get(low)) {
        return Some(root(slope_at, curvature_at, t0, b.0));
    }
    let curvature = curvature_at(inner);
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

/// The root of a falling piecewise linear slope between `low` and `high`: Newton steps on its lines, halving every third time.
fn root(slope: impl Fn(f64) -> f64, curvature: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let (mut low, mut high, mut t) = (low, high, low);
    let mut g = slope(t);
    let small = NO_STEP * g.abs();
    for round in 0..LINE_STEPS {
        if g.abs() <= small || high - low <= f64::EPSILON * high {
            break;
        }
        let newton = t + g / curvature(t);
        let inside = newton > low && newton < high && round % 3 != 2;
        t = if inside { newton } else { f64::midpoint(low, high) };
        g = slope(t);
        if g > 0.0 { low = t } else { high = t }
    }
    t
}
