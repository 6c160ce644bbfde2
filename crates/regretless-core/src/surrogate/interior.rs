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

use crate::engine::rows::Law;
use crate::engine::workspace::Curvature;
use crate::linalg::dense_ldl::DenseLdl;
use crate::linalg::hessian::Factor;
use crate::linalg::simd::Kernel;
use crate::problem::RowId;
use crate::surrogate::solution::Solution;

/// The rows of a solution as an interior-point method sees them.
#[derive(Clone, Debug)]
pub(crate) struct Interior {
    pub(crate) rows: Vec<Weight>,
    /// Of each hinge of the rows that have many; such a row's own is their sum.
    pub(crate) hinges: Vec<Vec<Weight>>,
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
        let (z, far) = (&z[..], kernel.largest(&state.x));
        let priced = |i: &usize| rows.laws[*i].slope > 0.0;
        let lambda = |i: usize| rows.laws[i].multiplier(state.piece[i], z[i]);
        let many = || {
            rows.hinges.iter().zip(&state.segments).flat_map(|(hinges, at)| {
                let (i, at) = (hinges.row, *at);
                hinges.each().filter(|h| h.over + h.under > 0.0).map(move |h| {
                    let law = h.law(solution.sharpness[i]);
                    (i, law.multiplier(at.piece_of(h.rank), z[i] - h.limit))
                })
            })
        };
        // θᵀx = xᵀ2Qx + Σλ(C'x) at an optimum, term by term; each priced row has its share of the gap.
        let mut size: f64 =
            (0..rows.m()).filter(priced).map(|i| (lambda(i) * (z[i] + rows.d[i])).abs()).sum();
        size += many().map(|(i, lambda)| (lambda * (z[i] + rows.d[i])).abs()).sum::<f64>();
        let count = (0..rows.m()).filter(priced).count() + many().count();
        let mu = gap * size / count.max(1) as f64;
        if !(mu.is_finite() && mu > 0.0) {
            return None;
        }
        let weight = |i: usize, law: &Law, lambda: f64, z: f64, d: f64| {
            if law.slope <= 0.0 {
                return Weight { slope: 0.0, over: 0.0 };
            }
            // λ in units of its range, z in units of what the row can come to.
            let range = law.slope / (2.0 * solution.sharpness[i]);
            let extent = d.abs().max(rows.reach[i] * far).max(0.25 / solution.sharpness[i]);
            let unit = range / extent;
            let (under, over) = ((-z).max(0.0), z.max(0.0));
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
        let mut weights: Vec<Weight> =
            (0..rows.m()).map(|i| weight(i, &rows.laws[i], lambda(i), z[i], rows.d[i])).collect();
        let hinges = rows.hinges.iter().zip(&state.segments).map(|(hinges, at)| {
            let i = hinges.row;
            let each = hinges.each().map(|h| {
                let (law, z) = (h.law(solution.sharpness[i]), z[i] - h.limit);
                weight(i, &law, law.multiplier(at.piece_of(h.rank), z), z, rows.d[i] + h.limit)
            });
            each.collect::<Vec<_>>()
        });
        let hinges: Vec<Vec<Weight>> = hinges.collect();
        for (row, each) in rows.hinges.iter().zip(&hinges) {
            weights[row.row].slope = each.iter().map(|w| w.slope).sum();
        }
        let slope = |i: usize| weights[i].slope;
        let spare = &mut DenseLdl::default();
        let factor = Curvature::default().factor(kernel, rows, slope, std::iter::empty(), spare)?;
        Some(Box::new(Self { rows: weights, hinges, factor }))
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
