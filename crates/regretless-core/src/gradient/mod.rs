//! Gradients: one solve with the factor at hand, every parameter.
//!
//! With λ the multipliers, w the slopes on the quadratic piece and, for an upstream g = ∂L/∂x, v = H⁻¹g and y = C'v:
//!
//! ```text
//! ∂L/∂θ = v                        ∂L/∂Q = −(v xᵀ + x vᵀ)        ∂L/∂d'ₖ = wₖyₖ
//! ∂L/∂C'ₖ = −(λₖ v + wₖyₖ x)       ∂L/∂γₖ = −S'(zₖ) yₖ           ∂L/∂K = −Σ_{k∈M} 2γₖzₖyₖ
//! ```
//!
//! Smoothed gradients (`surrogate::interior`) have other w and S' in the same formulas, and none in K.

pub(crate) mod batch;
pub(crate) mod kkt;

pub use batch::BatchGradients;

use std::ops::{Deref, DerefMut};

use rayon::prelude::*;

use crate::engine::hinges::Hinge;
use crate::engine::rows::{Law, Piece};
use crate::linalg::simd::Kernel;
use crate::problem::parameter::Parameter;
use crate::problem::{ByParameter, Coefficients, CoefficientsRef, RowId, RowValues};
use crate::surrogate::interior::Weight;
use crate::surrogate::solution::Solution;

/// A number for every parameter, in the parameters' own layout: derivatives from [`Solution::vjp`], or a direction for
/// [`Solution::jvp`]. Derivatives are those of x with respect to the parameters *as stated*, for `min` problems too.
/// Matrices have their values in pattern order, all blocks of a kind stacked; Q is read as (Q + Qᵀ)/2.
///
/// ```
/// use regretless_core::problem::ByParameter;
/// use regretless_core::{Gradients, Parameter};
/// let only_theta = ByParameter { theta: vec![1.0, 2.0], ..ByParameter::default() };
/// let gradients = Gradients::from(only_theta);
/// assert_eq!((gradients.theta[1], gradients.of(Parameter::Limit).len()), (2.0, 0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradients {
    /// Of each parameter; an absent bound has 0, an LP no Q. The fields of this one are those of the gradients.
    pub parameters: ByParameter<Vec<f64>>,
    /// Sharpness of all rows together.
    pub k: f64,
    /// Sharpness of each row.
    pub k_rows: RowValues,
}

impl Gradients {
    /// The numbers of one kind of parameter.
    pub fn of(&self, parameter: Parameter) -> &[f64] {
        self.parameters.get(parameter)
    }
}

impl From<ByParameter<Vec<f64>>> for Gradients {
    fn from(parameters: ByParameter<Vec<f64>>) -> Self {
        Self { parameters, ..Self::default() }
    }
}

impl Deref for Gradients {
    type Target = ByParameter<Vec<f64>>;

    fn deref(&self) -> &Self::Target {
        &self.parameters
    }
}

impl DerefMut for Gradients {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.parameters
    }
}

impl Solution {
    /// Zeros in the layout of [`Gradients`]: a direction to fill in.
    pub fn zero_tangent(&self) -> Gradients {
        let parameters = self.zeros(&Parameter::ALL);
        Gradients { parameters, k: 0.0, k_rows: RowValues::constant(self.shape(), 0.0) }
    }

    /// Zeros for some kinds of parameters, nothing for the others.
    fn zeros(&self, wanted: &[Parameter]) -> ByParameter<Vec<f64>> {
        let len = |parameter: Parameter| match parameter {
            Parameter::Quadratic if self.rows.two_q.is_none() => 0,
            other => other.entries(&self.problem),
        };
        ByParameter::from_fn(|p| vec![0.0; if wanted.contains(&p) { len(p) } else { 0 }])
    }

    /// v = H⁻¹g in place, with the H of smoothed gradients where they are wanted; H⁺g where H is singular.
    fn solve_h(&self, kernel: Kernel, v: &mut [f64]) {
        // A solve leaves a factor or a pseudo-inverse.
        match (self.interior(), &self.pseudo, &self.state.factor) {
            (Some(interior), ..) => interior.factor.solve_unpadded(kernel, v),
            (None, Some(pseudo), _) => pseudo.solve(v),
            (None, None, factor) => factor.iter().for_each(|f| f.factor.solve_unpadded(kernel, v)),
        }
    }

    /// ∂L/∂θ alone, from g = ∂L/∂x, in place: two triangular solves.
    ///
    /// # Panics
    /// If `g` does not have n entries.
    pub fn vjp_theta(&self, g: &mut [f64]) {
        assert_eq!(g.len(), self.rows.n, "one entry for each variable");
        self.solve_h(Kernel::new(), g);
        let sign = self.problem.sign();
        if sign < 0.0 {
            g.iter_mut().for_each(|g| *g = -*g);
        }
    }

    /// The gradient of L with respect to every parameter, from g = ∂L/∂x.
    ///
    /// # Panics
    /// If `g` does not have n entries.
    pub fn vjp(&self, g: &[f64]) -> Gradients {
        let (y, mut out) = self.row_pulls(g, &Parameter::ALL);
        out.k_rows = RowValues::constant(self.shape(), 0.0);
        self.each_part(&self.state.z, false, |i, id, part| {
            let by_k = -part.lambda_by_k * y[i];
            out.k += by_k;
            out.k_rows.get_mut(id).into_iter().for_each(|k| *k = by_k);
        });
        out
    }

    /// [`Solution::vjp`] in some kinds of parameters; what is not `wanted` stays empty, K with it. θ alone costs two
    /// triangular solves.
    ///
    /// # Panics
    /// If `g` does not have n entries.
    pub fn vjp_in(&self, g: &[f64], wanted: &[Parameter]) -> Gradients {
        if wanted == [Parameter::Linear] {
            let mut theta = g.to_vec();
            self.vjp_theta(&mut theta);
            return ByParameter { theta, ..ByParameter::default() }.into();
        }
        self.row_pulls(g, wanted).1
    }

    /// y = C'v and the gradients in the wanted parameters.
    fn row_pulls(&self, g: &[f64], wanted: &[Parameter]) -> (Vec<f64>, Gradients) {
        let n = self.rows.n;
        assert_eq!(g.len(), n, "one entry for each variable");
        let (kernel, rows, x) = (Kernel::new(), &*self.rows, &self.state.x);
        let mut v = g.to_vec();
        self.solve_h(kernel, &mut v);
        let mut y = vec![0.0; rows.m()];
        rows.apply(kernel, &v, &mut y);
        let z = &self.state.z;
        let mut out = Gradients::from(self.zeros(wanted));
        let by = &mut out.parameters;
        let problem = &self.problem;
        if !by.Q.is_empty() {
            problem.quadratic_pattern().pull_symmetric(&v, x, &mut by.Q);
        }
        // Limits move what is on a slope alone; coefficients and prices all hinges.
        let sloped =
            ![Parameter::SoftRows, Parameter::Over, Parameter::Under].iter().any(|p| wanted.contains(p));
        self.each_part(z, sloped, |i, id, part| {
            let (pull, lambda, y) = (part.slope * y[i], part.lambda, y[i]);
            let matrix_row = |rows: &Coefficients, out: &mut [f64], k: usize| {
                rows.pattern().pull(k, (lambda, &v), (pull, x), out);
            };
            // A vector that is not wanted has no entries.
            let entry = |out: &mut [f64], k: usize, value: f64| {
                if let Some(o) = out.get_mut(k) {
                    *o += value;
                }
            };
            match id {
                RowId::Soft(k) => {
                    matrix_row(&problem.soft().C, &mut by.C, k);
                    entry(&mut by.d, k, pull);
                    entry(&mut by.alpha, k, -part.over * y);
                    entry(&mut by.under, k, part.under * y);
                }
                RowId::AtMost(k) => {
                    matrix_row(&problem.at_most().rows, &mut by.A, k);
                    entry(&mut by.b, k, pull);
                }
                RowId::Equal(k) => {
                    matrix_row(&problem.equal().rows, &mut by.B, k);
                    entry(&mut by.c, k, pull);
                }
                // −x ≤ −l: d' = −l.
                RowId::Lower(j) => entry(&mut by.lower, j, -pull),
                RowId::Upper(j) => {
                    // A zero-width box is one row: each bound moves its own share of it.
                    entry(&mut by.upper, j, pull * part.upper);
                    entry(&mut by.lower, j, pull * (1.0 - part.upper));
                }
            }
        });
        if !by.theta.is_empty() {
            let sign = self.problem.sign();
            by.theta.iter_mut().zip(&v).for_each(|(t, v)| *t = sign * v);
        }
        (y, out)
    }

    /// The change of x when the parameters change along `tangent`: the mirror image of [`Solution::vjp`].
    ///
    /// # Panics
    /// If a part of `tangent` has the wrong size; see [`Solution::zero_tangent`].
    pub fn jvp(&self, tangent: &Gradients) -> Vec<f64> {
        let n = self.rows.n;
        let (kernel, rows, x) = (Kernel::new(), &*self.rows, &self.state.x);
        let sign = self.problem.sign();
        // H dx = dθ − 2dQ x − dC'ᵀλ − C'ᵀ(w(dC'x − dd') + ∂λ/∂γ dγ + ∂λ/∂K dK)
        let mut dx: Vec<f64> = tangent.theta.iter().map(|t| sign * t).collect();
        if !tangent.Q.is_empty() {
            let pattern = self.problem.quadratic_pattern();
            let q = CoefficientsRef { pattern, values: &tangent.Q };
            if pattern.is_dense() {
                for i in 0..n {
                    for j in 0..n {
                        dx[i] -= (tangent.Q[i * n + j] + tangent.Q[j * n + i]) * x[j];
                    }
                }
            } else {
                // The pattern has the mirror image of every entry.
                for (i, row) in q.iter().enumerate() {
                    dx[i] -= row.iter().map(|(j, a)| (a + q.row(j).get(i)) * x[j]).sum::<f64>();
                }
            }
        }
        let (soft, at_most, equal) = (self.problem.soft(), self.problem.at_most(), self.problem.equal());
        let mut push = vec![0.0; rows.m()];
        self.each_part(&self.state.z, false, |i, id, part| {
            let (row, limit, price) = match id {
                RowId::Soft(k) => {
                    let price = part.over * tangent.alpha[k] - part.under * tangent.under[k];
                    (Some(soft.C.pattern().row(&tangent.C, k)), tangent.d[k], price)
                }
                RowId::AtMost(k) => (Some(at_most.rows.pattern().row(&tangent.A, k)), tangent.b[k], 0.0),
                RowId::Equal(k) => (Some(equal.rows.pattern().row(&tangent.B, k)), tangent.c[k], 0.0),
                RowId::Lower(j) => (None, -tangent.lower[j], 0.0),
                RowId::Upper(j) => {
                    (None, part.upper * tangent.upper[j] + (1.0 - part.upper) * tangent.lower[j], 0.0)
                }
            };
            let k = tangent.k_rows.get(id);
            let mut moved = -limit;
            if let Some(row) = row {
                moved += row.dot(x);
                row.add_to(-part.lambda, &mut dx);
            }
            push[i] -= part.slope * moved + price + part.lambda_by_k * (k + tangent.k);
        });
        rows.apply_t(kernel, &push, &mut dx);
        self.solve_h(kernel, &mut dx);
        dx
    }

    /// [`Solution::vjp`] for many solutions in parallel, in order.
    ///
    /// # Panics
    /// If there are not as many upstream gradients as solutions, or one does not have n entries.
    pub fn vjp_batch(solutions: &[Solution], upstream: &[Vec<f64>]) -> Vec<Gradients> {
        assert_eq!(solutions.len(), upstream.len(), "one upstream gradient for each solution");
        solutions.par_iter().zip(upstream).map(|(solution, g)| solution.vjp(g)).collect()
    }

    /// [`Solution::jvp`] for many solutions in parallel, in order.
    ///
    /// # Panics
    /// If there are not as many tangents as solutions, or a part of one has the wrong size.
    pub fn jvp_batch(solutions: &[Solution], tangents: &[Gradients]) -> Vec<Vec<f64>> {
        assert_eq!(solutions.len(), tangents.len(), "one tangent for each solution");
        solutions.par_iter().zip(tangents).map(|(solution, tangent)| solution.jvp(tangent)).collect()
    }

    /// What the derivatives need of every row as stated: the engine's row, which row it is, and its part of that; of rows that are one,
    /// perhaps those alone that are on a slope.
    fn each_part(&self, z: &[f64], sloped: bool, mut each: impl FnMut(usize, RowId, RowPart)) {
        let (rows, state, interior) = (&*self.rows, &*self.state, self.interior());
        for (i, &z) in z.iter().enumerate() {
            if rows.hinges_of(i).is_none() {
                let weight = interior.map(|interior| interior.rows[i]);
                let part = RowPart::of(&rows.laws[i], state.piece[i], z, self.sharpness[i], weight);
                each(i, rows.ids[i], part);
            }
        }
        for (at, (hinges, segment)) in rows.hinges.iter().zip(&state.segments).enumerate() {
            let (i, k) = (hinges.row, self.sharpness[hinges.row]);
            let mut part = |hinge: Hinge, weight: Option<Weight>| {
                let (law, piece) = (hinge.law(k), segment.piece_of(hinge.rank));
                each(i, RowId::Soft(hinge.soft), RowPart::of(&law, piece, z[i] - hinge.limit, k, weight));
            };
            match interior {
                Some(interior) => {
                    let weights = interior.hinges[at].iter().copied().map(Some);
                    hinges.each().zip(weights).for_each(|(hinge, weight)| part(hinge, weight));
                }
                None if sloped => hinges.held(*segment).for_each(|hinge| part(hinge, None)),
                None => hinges.each().for_each(|hinge| part(hinge, None)),
            }
        }
    }
}

impl RowPart {
    /// Of a row with excess z on its (frozen) piece, or with the weight that smoothed gradients give it.
    fn of(law: &Law, piece: Piece, z: f64, k: f64, smoothed: Option<Weight>) -> Self {
        let upper = if law.below == 0.0 {
            1.0
        } else if law.above.is_finite() && law.below.is_finite() {
            law.above / (law.above - law.below)
        } else {
            0.5
        };
        if let Some(Weight { slope, over }) = smoothed.filter(|_| law.slope > 0.0) {
            let lambda = law.multiplier(piece, z);
            return Self { lambda, slope, over, under: 1.0 - over, upper, lambda_by_k: 0.0 };
        }
        // A row without a price has no piece; its share of a unit price is still S'(z).
        let piece = if law.slope > 0.0 {
            piece
        } else {
            let h = 0.25 / k;
            match z {
                z if z <= -h => Piece::Below,
                z if z <= h => Piece::On,
                _ => Piece::Above,
            }
        };
        let share = match piece {
            Piece::Below => 0.0,
            Piece::On => 2.0 * k * z + 0.5,
            Piece::Above => 1.0,
        };
        Self {
            lambda: law.multiplier(piece, z),
            slope: law.weight(piece),
            over: share,
            under: 1.0 - share,
            upper,
            // λ = anchor + 2K(γ⁺ + γ⁻)z on the quadratic piece.
            lambda_by_k: law.weight(piece) / k * z,
        }
    }
}

struct RowPart {
    lambda: f64,
    slope: f64,
    /// ∂λ/∂γ⁺ = S'(z).
    over: f64,
    /// −∂λ/∂γ⁻ = S'(−z).
    under: f64,
    /// Share of the upper cap in both.
    upper: f64,
    lambda_by_k: f64,
}
