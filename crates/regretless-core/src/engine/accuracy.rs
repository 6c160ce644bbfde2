//! How right an answer is: measured on the user's rows, in the user's units, at the point that is handed out.
//!
//! For max θᵀx − xᵀQx − Σᵢ φᵢ(zᵢ) with zᵢ = aᵢᵀx − dᵢ and φᵢ(z) = max(γ⁺z, −γ⁻z) (a hard side has γ = ∞), any multipliers
//! λᵢ ∈ [−γ⁻, γ⁺] bound the optimum from above. With the residual r = θ − 2Qx − Σ λᵢaᵢ,
//!
//! ```text
//! gap = Σᵢ (φᵢ(zᵢ) − λᵢzᵢ) − xᵀr        (each term of the sum is ≥ 0: complementarity)
//! ```

use crate::engine::rows::Softened;
use crate::engine::terms::{Rows, Terms};
use crate::engine::tolerance::{NOTHING_EARNED, RESIDUAL_ROUNDING};
use crate::linalg::simd::Kernel;
use crate::problem::tolerance::{ROUNDING, Tolerances, relative};
use crate::problem::{RowId, RowValues, View};

/// Three figures that say how right an answer is. All are relative, as [`Tolerances`] are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// The largest violation of a hard row or bound i, over 1 + |bᵢ| + |aᵢ|ᵀ|x|.
    pub primal: f64,
    /// ‖θ − 2Qx − C'ᵀλ‖∞ over 1 + ‖θ‖∞ + ‖C'ᵀλ‖∞, with λ inside its caps.
    pub dual: f64,
    /// The duality gap or the sum of |complementarity|, whichever is larger, over 1 + |objective|.
    pub gap: f64,
}

impl Accuracy {
    /// Of no answer: every figure is infinite.
    pub const NONE: Self = Self { primal: f64::INFINITY, dual: f64::INFINITY, gap: f64::INFINITY };

    /// True if every figure is within its tolerance; NaN never is.
    pub fn within(&self, tolerances: &Tolerances) -> bool {
        self.excess(tolerances) <= 1.0
    }

    /// The largest figure as a multiple of its tolerance; infinite where one is no number.
    pub(crate) fn excess(&self, t: &Tolerances) -> f64 {
        let shares = [self.primal / t.primal, self.dual / t.dual, self.gap / t.gap];
        shares.into_iter().fold(0.0, |worst, s| if s.is_nan() { f64::INFINITY } else { s.max(worst) })
    }
}

/// Memory for measuring, kept from one answer to the next.
#[derive(Default)]
pub(crate) struct Gauge {
    /// Excess of the rows of one kind.
    z: Vec<f64>,
    /// C'ᵀλ, then the residual.
    pull: Vec<f64>,
    /// 2Qx
    curve: Vec<f64>,
    /// Caps of hard sides, and of sides without a price.
    uncapped: Vec<f64>,
    free: Vec<f64>,
}

impl Gauge {
    /// Measures the answer `x` with its multipliers. `penalties` (stacked: soft, at most, equal, lower, upper) cap the hard rows
    /// of a softened problem. Returns the figures and the objective (of the problem's own sense).
    pub(crate) fn measure(
        &mut self,
        view: &View<'_>,
        x: &[f64],
        multipliers: &RowValues,
        penalties: Option<&[f64]>,
    ) -> (Accuracy, f64) {
        let (kernel, shape, n) = (Kernel::new(), view.shape, view.shape.n);
        self.uncapped.resize(shape.rows(), f64::INFINITY);
        self.free.resize(shape.rows(), 0.0);
        let (_, hard) = penalties.unwrap_or(&self.uncapped).split_at(shape.soft);
        let (at_most, hard) = hard.split_at(shape.at_most);
        let (equal, bounds) = hard.split_at(shape.equal);
        let (free, pull) = (&self.free[..], zeros(&mut self.pull, n));
        let (mut terms, mut soft, mut primal) = (Terms::default(), None, 0.0_f64);
        let prices = [
            (&multipliers.soft, view.alpha, view.under),
            (&multipliers.at_most, at_most, free),
            (&multipliers.equal, equal, equal),
        ];
        for ((rows, limit), (lambda, over, under)) in view.rows().into_iter().zip(prices) {
            let z = zeros(&mut self.z, limit.len());
            rows.apply(kernel, x, z);
            rows.apply_t(kernel, lambda, pull);
            z.iter_mut().zip(limit).for_each(|(z, limit)| *z -= limit);
            let size = |i: usize| rows.row(i).size(x);
            primal = primal.max(add(&mut terms, kernel, Rows { z, lambda, over, under, limit }, size));
            soft.get_or_insert(terms.cost);
        }
        let (lower, upper) = bounds.split_at(n);
        for (sign, limit, lambda, over) in
            [(-1.0, view.lower, &multipliers.lower, lower), (1.0, view.upper, &multipliers.upper, upper)]
        {
            let z = zeros(&mut self.z, n);
            for ((z, limit), x) in z.iter_mut().zip(limit).zip(x) {
                *z = if limit.is_finite() { sign * (x - limit) } else { 0.0 };
            }
            kernel.axpy(sign, lambda, pull);
            let rows = Rows { z, lambda, over, under: free, limit };
            primal = primal.max(add(&mut terms, kernel, rows, |j| x[j].abs()));
        }

        let curve = zeros(&mut self.curve, n);
        if let Some(q) = view.quadratic() {
            // 2Qx = (Q + Qᵀ)x
            q.apply(kernel, x, curve);
            q.apply_t(kernel, x, curve);
        }
        let worth = view.sign * kernel.dot(view.theta, x) - 0.5 * kernel.dot(curve, x);
        let scale = 1.0 + kernel.largest(view.theta) + kernel.largest(pull);
        for ((r, theta), curve) in pull.iter_mut().zip(view.theta).zip(&*curve) {
            *r = view.sign * theta - *curve - *r;
        }
        let along = kernel.dot(pull, x);
        let objective = worth - terms.cost;
        let left = unearned(view, x, multipliers, pull, curve, 1.0 + objective.abs());
        let gap = (terms.signed - along).abs().max(terms.absolute).max(left);
        let accuracy = Accuracy {
            primal,
            // The largest entry forgets NaN, the sum does not.
            dual: if along.is_finite() { kernel.largest(pull) / scale } else { f64::INFINITY },
            gap: gap / (1.0 + objective.abs()),
        };
        // Penalties are no part of the problem's own objective.
        (accuracy, view.sign * (worth - soft.unwrap_or(0.0)))
    }
}

/// Σⱼ |rⱼ| times the way that is left to the bound it points to: what the objective could still gain within the box. Residuals are
/// small beside the largest θ, but a box may be wide.
fn unearned(
    view: &View<'_>,
    x: &[f64],
    multipliers: &RowValues,
    residual: &[f64],
    curve: &[f64],
    size: f64,
) -> f64 {
    let earns = |j: usize| {
        let r = residual[j];
        let room = if r > 0.0 { view.upper[j] - x[j] } else { x[j] - view.lower[j] };
        if room.is_finite() { r.abs() * room.max(0.0) } else { 0.0 }
    };
    let mut pulls = Vec::new();
    let mut terms = |j: usize| {
        if pulls.is_empty() {
            // Most answers leave nothing to earn, and nobody asks.
            pulls.resize(x.len(), 0.0);
            let lambda = [&multipliers.soft, &multipliers.at_most, &multipliers.equal];
            for ((rows, _), lambda) in view.rows().into_iter().zip(lambda) {
                for (row, lambda) in rows.iter().zip(lambda).filter(|(_, lambda)| **lambda != 0.0) {
                    row.iter().for_each(|(j, a)| pulls[j] += (a * lambda).abs());
                }
            }
        }
        view.theta[j].abs() + curve[j].abs() + pulls[j] + multipliers.lower[j] + multipliers.upper[j]
    };
    let matters =
        |&j: &usize| earns(j) > NOTHING_EARNED * size && residual[j].abs() > RESIDUAL_ROUNDING * terms(j);
    (0..x.len()).filter(matters).map(earns).sum()
}

/// Adds rows to the sums; returns their largest relative violation of a hard side.
fn add(sums: &mut Terms, kernel: Kernel, rows: Rows<'_>, size: impl Fn(usize) -> f64) -> f64 {
    let terms = rows.terms(kernel);
    sums.cost += terms.cost;
    sums.signed += terms.signed;
    sums.absolute += terms.absolute;
    if terms.violation <= ROUNDING {
        return terms.violation;
    }
    let out = |i: usize| if rows.is_hard_side(i) { rows.z[i].abs() } else { 0.0 };
    (0..rows.z.len()).map(|i| relative(out(i), rows.limit[i], || size(i))).fold(0.0, f64::max)
}

fn zeros(memory: &mut Vec<f64>, len: usize) -> &mut [f64] {
    memory.clear();
    memory.resize(len, 0.0);
    memory
}

/// Measures a point as an answer to the *softened* problem behind a surrogate: hard rows at their penalties, no smoothing. The
/// multipliers of the surrogate are inside the caps, so that `gap` bounds how far the point is from the exact optimum;
/// `primal` is how far hard rows are violated.
pub(crate) fn of_surrogate(s: &Softened, x: &[f64], theta: &[f64], objective: f64) -> Accuracy {
    let kernel = Kernel::new();
    let (mut z, mut residual) = (vec![0.0; s.m()], vec![0.0; s.n]);
    s.excess(kernel, x, &mut z);
    let mut lambda: Vec<f64> = s.laws.iter().zip(&z).map(|(law, z)| law.clipped(*z)).collect();
    let over: Vec<f64> = s.laws.iter().map(|law| law.above).collect();
    let under: Vec<f64> = s.laws.iter().map(|law| -law.below).collect();
    let rows = Rows { z: &z, lambda: &lambda, over: &over, under: &under, limit: &s.d };
    let mut terms = rows.terms(kernel);
    for hinges in &s.hinges {
        let z = z[hinges.row];
        for (limit, law) in hinges.laws() {
            let (z, lambda) = (z - limit, law.clipped(z - limit));
            let cost = if z > 0.0 { law.above * z } else { law.below * z };
            terms.signed += cost - lambda * z;
            terms.absolute += (cost - lambda * z).abs();
        }
        lambda[hinges.row] = hinges.clipped(z);
    }
    let mut primal = 0.0_f64;
    for (i, law) in s.laws.iter().enumerate() {
        // Hard rows have a price here, and are violated all the same.
        let out = if law.above > 0.0 { z[i] } else { 0.0 }.max(if law.below < 0.0 { -z[i] } else { 0.0 });
        if !matches!(s.ids[i], RowId::Soft(_)) && out > 0.0 {
            let size = || s.entries(i).map(|(j, a)| (a * x[j]).abs()).sum();
            primal = primal.max(relative(out, s.d[i], size));
        }
    }
    s.apply_t(kernel, &lambda, &mut residual);
    let largest = kernel.largest(&residual);
    s.force(kernel, x, &lambda, &mut residual);
    let (mut worst, mut along, mut scale) = (0.0_f64, 0.0, 0.0_f64);
    for ((force, t), x) in residual.iter().zip(theta).zip(x) {
        let r = t - force;
        along += r * x;
        worst = worst.max(r.abs());
        scale = scale.max(t.abs());
    }
    Accuracy {
        primal,
        dual: if along.is_finite() { worst / (1.0 + scale + largest) } else { f64::INFINITY },
        gap: (terms.signed - along).abs().max(terms.absolute) / (1.0 + objective.abs()),
    }
}
