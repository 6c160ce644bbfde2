//! Smoothed gradients: those of an interior-point method that has not quite arrived.
//!
//! The derivative of a piecewise affine optimum knows the pieces it stands on and nothing beyond: a row that is about to
//! bind pulls as little as one that is far away. An interior-point method at a duality gap sees both. With the multiplier
//! of a row between its caps, −γ⁻ ≤ λ ≤ γ⁺, it keeps λ + γ⁻ > 0 and the slack below the limit s⁻ > 0 at (λ + γ⁻)s⁻ = μ,
//! and likewise (γ⁺ − λ)s⁺ = μ above it; from z = s⁺ − s⁻ follow the row's weight and the pull of its caps:
//!
//! ```text
//! dλ = w(dz + dγ⁺/w⁺ − dγ⁻/w⁻),   1/w = 1/w⁻ + 1/w⁺,   w± = (distance to the cap)/s±
//! ```
//!
//! The point stays the surrogate's optimum. Only its λ and z are carried to the curve: a pair (λ, s) in the units of its row
//! to the pair with λs = μ and the same difference.

use crate::engine::workspace::Curvature;
use crate::linalg::hessian::Factor;
use crate::linalg::simd::Kernel;
use crate::problem::RowId;
use crate::surrogate::solution::Solution;

/// The rows of a solution as an interior-point method sees them.
#[derive(Clone, Debug)]
pub(crate) struct Interior {
    pub(crate) rows: Vec<Weight>,
    pub(crate) factor: Factor,
}

/// How stiff a row is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight {
    /// w = ∂λ/∂z.
    pub(crate) slope: f64,
    /// w/w⁺ = ∂λ/∂γ⁺; the rest of 1 is −∂λ/∂γ⁻.
    pub(crate) over: f64,
}

impl Interior {
    /// At a duality gap of `gap` times the size of the objective; `None` if there is nothing to measure it by, or no
    /// curvature in some direction.
    pub(crate) fn of(solution: &Solution, gap: f64) -> Option<Box<Self>> {
        let (kernel, rows, state) = (Kernel::new(), &*solution.rows, &*solution.state);
        let mut z = state.z.clone();
        if solution.pseudo.is_some() {
            // The point of minimum norm is not where the path ended.
            rows.excess(kernel, &state.x, &mut z);
        }
        let far = kernel.largest(&state.x);
        let priced = |i: &usize| rows.laws[*i].slope > 0.0;
        let lambda = |i: usize| rows.laws[i].multiplier(state.piece[i], z[i]);
        // θᵀx = xᵀ2Qx + Σλ(C'x) at an optimum, term by term; each priced row has its share of the gap.
        let size: f64 = (0..rows.m()).filter(priced).map(|i| (lambda(i) * (z[i] + rows.d[i])).abs()).sum();
        let mu = gap * size / (0..rows.m()).filter(priced).count().max(1) as f64;
        if !(mu.is_finite() && mu > 0.0) {
            return None;
        }
        let weight = |i: usize| {
            if !priced(&i) {
                return Weight { slope: 0.0, over: 0.0 };
            }
            let (law, lambda) = (&rows.laws[i], lambda(i));
            // λ in units of its range, z in units of what the row can come to.
            let range = law.slope / (2.0 * solution.sharpness[i]);
            let extent = rows.d[i].abs().max(rows.reach[i] * far).max(0.25 / solution.sharpness[i]);
            let unit = range / extent;
            let (under, over) = ((-z[i]).max(0.0), z[i].max(0.0));
            let stiff = |to_cap: f64, slack: f64| stiffness(to_cap, slack, unit, mu);
            let (below, above) = match rows.ids[i] {
                RowId::Soft(_) => (stiff(lambda - law.below, under), stiff(law.above - lambda, over)),
                // The penalty of a hard row is no cap of its multiplier.
                _ if law.below == 0.0 => (stiff(lambda.max(0.0), under), f64::INFINITY),
                // An equality is stiff whatever its multiplier is.
                _ => (stiff(range + lambda.abs(), 0.0), stiff(range + lambda.abs(), 0.0)),
            };
            let slope = 1.0 / (1.0 / below + 1.0 / above);
            Weight { slope, over: slope / above }
        };
        let weights: Vec<Weight> = (0..rows.m()).map(weight).collect();
        let mut factor = Factor::default();
        let slope = |i: usize| weights[i].slope;
        let regular = Curvature::default().factor(kernel, rows, slope, std::iter::empty(), &mut factor);
        regular.then(|| Box::new(Self { rows: weights, factor }))
    }
}

/// w = λ'/s' for the pair with λ's' = μ and the same difference as (λ, s), both in units of the row.
fn stiffness(lambda: f64, s: f64, unit: f64, mu: f64) -> f64 {
    let root = unit.sqrt();
    let difference = lambda / root - s * root;
    // The larger of the two; the smaller one is μ over it.
    let larger = 0.5 * (difference.abs() + (difference * difference + 4.0 * mu).sqrt());
    let ratio = larger * larger / mu;
    if difference > 0.0 { unit * ratio } else { unit / ratio }
}
