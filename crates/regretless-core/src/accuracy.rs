//! How right an answer is: measured on the user's rows, in the user's units, at the point that is handed out.
//!
//! For max θᵀx − xᵀQx − Σᵢ φᵢ(zᵢ) with zᵢ = aᵢᵀx − dᵢ and φᵢ(z) = max(γ⁺z, −γ⁻z) (a hard side has γ = ∞), any multipliers
//! λᵢ ∈ [−γ⁻, γ⁺] bound the optimum from above. With the residual r = θ − 2Qx − Σ λᵢaᵢ,
//!
//! ```text
//! gap = Σᵢ (φᵢ(zᵢ) − λᵢzᵢ) − xᵀr        (each term of the sum is ≥ 0: complementarity)
//! ```

use crate::kernel::Kernel;
use crate::problem::{RowId, View};
use crate::softened::Softened;

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

/// What an answer has to keep to be called optimal; see [`Accuracy`] for what each is relative to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Violation of hard rows and bounds.
    pub primal: f64,
    /// Stationarity.
    pub dual: f64,
    /// Duality gap and complementarity.
    pub gap: f64,
}

impl Tolerances {
    /// The same tolerance for all three.
    pub fn all(tolerance: f64) -> Self {
        Self { primal: tolerance, dual: tolerance, gap: tolerance }
    }
}

impl Default for Tolerances {
    /// 1e-7 each.
    fn default() -> Self {
        Self::all(1e-7)
    }
}

/// A violation below this share of 1 + |b| is measured against that alone: the size of the row's terms is not needed.
const ROUNDING: f64 = 1e-12;

/// A violation `v ≥ 0` of a row with limit `limit`, over 1 + |limit| + |a|ᵀ|x|. The last term is asked for only where the
/// violation is more than rounding.
pub(crate) fn relative(v: f64, limit: f64, size: impl FnOnce() -> f64) -> f64 {
    let scale = 1.0 + limit.abs();
    if v <= ROUNDING * scale { v / scale } else { v / (scale + size()) }
}

/// |a|ᵀ|x|
pub(crate) fn size(a: &[f64], x: &[f64]) -> f64 {
    a.iter().zip(x).map(|(a, x)| (a * x).abs()).sum()
}

/// Measures the answer `x` with the multipliers `lambda` (stacked: soft, at most, equal, lower, upper). `penalties`, stacked
/// alike, cap the hard rows of a softened problem. Returns the figures and the objective (of the problem's own sense).
pub(crate) fn measure(
    view: &View<'_>,
    x: &[f64],
    lambda: &[f64],
    penalties: Option<&[f64]>,
) -> (Accuracy, f64) {
    let (kernel, shape, n) = (Kernel::new(), view.shape, view.shape.n);
    let mut pull = vec![0.0; n];
    let mut products = vec![0.0; shape.dense()];
    let mut at = 0;
    for rows in [view.C, view.A, view.B] {
        let m = rows.len() / n;
        kernel.matvec(rows, x, &mut products[at..at + m]);
        kernel.matvec_t(rows, &lambda[at..at + m], &mut pull);
        at += m;
    }
    let (lower, upper) = lambda[at..].split_at(n);
    for ((p, l), u) in pull.iter_mut().zip(lower).zip(upper) {
        *p += u - l;
    }

    let mut terms = Terms::default();
    let hard = |i: usize| penalties.map_or(f64::INFINITY, |p| p[i]);
    for i in 0..shape.dense() {
        let id = shape.row(i);
        let (row, limit, over, under) = match id {
            RowId::Soft(k) => (&view.C[k * n..(k + 1) * n], view.d[k], view.alpha[k], view.under[k]),
            RowId::AtMost(k) => (&view.A[k * n..(k + 1) * n], view.b[k], hard(i), 0.0),
            RowId::Equal(k) => (&view.B[k * n..(k + 1) * n], view.c[k], hard(i), hard(i)),
            RowId::Lower(_) | RowId::Upper(_) => continue,
        };
        let soft = matches!(id, RowId::Soft(_));
        terms.add(products[i] - limit, lambda[i], (over, under), soft, limit, || size(row, x));
    }
    for j in 0..n {
        let (l, u) = (shape.dense() + j, shape.dense() + n + j);
        for (i, z, limit) in
            [(l, view.lower[j] - x[j], view.lower[j]), (u, x[j] - view.upper[j], view.upper[j])]
        {
            if limit.is_finite() {
                terms.add(z, lambda[i], (hard(i), 0.0), false, limit, || x[j].abs());
            }
        }
    }

    let (mut quadratic, mut linear) = (0.0, 0.0);
    let mut curve = vec![0.0; n];
    if let Some(q) = view.Q {
        // 2Qx = (Q + Qᵀ)x
        kernel.matvec(q, x, &mut curve);
        kernel.matvec_t(q, x, &mut curve);
        quadratic = 0.5 * kernel.dot(&curve, x);
    }
    let (mut worst, mut along, mut largest) = (0.0_f64, 0.0, 0.0_f64);
    let mut scale = 0.0_f64;
    for j in 0..n {
        let gain = view.sign * view.theta[j];
        linear += gain * x[j];
        let r = gain - curve[j] - pull[j];
        along += r * x[j];
        // `max` forgets NaN.
        worst = if r.is_nan() { f64::NAN } else { worst.max(r.abs()) };
        scale = scale.max(gain.abs());
        largest = largest.max(pull[j].abs());
    }
    let gain = linear - quadratic - terms.cost;
    let gap = (terms.signed - along).abs().max(terms.absolute);
    let accuracy = Accuracy {
        primal: terms.violation,
        dual: worst / (1.0 + scale + largest),
        gap: gap / (1.0 + gain.abs()),
    };
    (accuracy, view.sign * (gain + terms.penalty))
}

/// Measures a point as an answer to the *softened* problem behind a surrogate: hard rows at their penalties, no smoothing. The
/// multipliers of the surrogate are inside the caps, so that `gap` bounds how far the point is from the exact optimum;
/// `primal` is how far hard rows are violated.
pub(crate) fn of_surrogate(s: &Softened, x: &[f64], theta: &[f64], objective: f64) -> Accuracy {
    let kernel = Kernel::new();
    let (mut z, mut residual) = (vec![0.0; s.m()], vec![0.0; s.n]);
    s.excess(kernel, x, &mut z);
    let lambda: Vec<f64> = s.laws.iter().zip(&z).map(|(law, z)| law.clipped(*z)).collect();
    let mut terms = Terms::default();
    let mut row = vec![0.0; s.n];
    for (i, law) in s.laws.iter().enumerate() {
        let soft = matches!(s.ids[i], RowId::Soft(_));
        let mut size = || {
            s.write_row(i, &mut row);
            size(&row, x)
        };
        terms.add(z[i], lambda[i], (law.above, -law.below), soft, s.d[i], &mut size);
        // Hard rows have a price here, and are violated all the same.
        let out = if law.above > 0.0 { z[i] } else { 0.0 }.max(if law.below < 0.0 { -z[i] } else { 0.0 });
        if !soft && out > 0.0 {
            terms.violation = terms.violation.max(relative(out, s.d[i], size));
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
        primal: terms.violation,
        dual: worst / (1.0 + scale + largest),
        gap: (terms.signed - along).abs().max(terms.absolute) / (1.0 + objective.abs()),
    }
}

/// Sums over the rows.
#[derive(Default)]
struct Terms {
    /// The largest relative violation of a hard side.
    violation: f64,
    /// Σ φ(z): what soft rows and penalties cost.
    cost: f64,
    /// The part of it that penalties cost: no part of the problem's own objective.
    penalty: f64,
    /// Σ (φ − λz) and Σ |φ − λz|.
    signed: f64,
    absolute: f64,
}

impl Terms {
    /// Adds a row with excess z and multiplier λ; an uncapped side is a hard one.
    fn add(
        &mut self,
        z: f64,
        lambda: f64,
        caps: (f64, f64),
        soft: bool,
        limit: f64,
        size: impl FnOnce() -> f64,
    ) {
        let (cap, out) = if z > 0.0 { (caps.0, z) } else { (caps.1, -z) };
        let mut cost = 0.0;
        if cap.is_finite() {
            cost = cap * out;
        } else {
            self.violation = self.violation.max(relative(out, limit, size));
        }
        self.cost += cost;
        if !soft {
            self.penalty += cost;
        }
        let term = cost - lambda * z;
        self.signed += term;
        self.absolute += term.abs();
    }
}
