//! Gradients: one solve with the factor at hand, every parameter.
//!
//! With λ the multipliers, w the slopes on the quadratic piece and, for an upstream g = ∂L/∂x, v = H⁻¹g and y = C'v:
//!
//! ```text
//! ∂L/∂θ = v                        ∂L/∂Q = −(v xᵀ + x vᵀ)        ∂L/∂d'ₖ = wₖyₖ
//! ∂L/∂C'ₖ = −(λₖ v + wₖyₖ x)       ∂L/∂γₖ = −S'(zₖ) yₖ           ∂L/∂K = −Σ_{k∈M} 2γₖzₖyₖ
//! ```
//!
//! Smoothed gradients ([`crate::surrogate::interior`]) have other w and S' in the same formulas, and none in K.

pub(crate) mod kkt;

use rayon::prelude::*;

use crate::engine::rows::Piece;
use crate::linalg::hessian::Hessian;
use crate::linalg::simd::Kernel;
use crate::problem::parameter::Parameter;
use crate::problem::{RowId, RowValues};
use crate::surrogate::interior::Weight;
use crate::surrogate::solution::Solution;

/// A number for every parameter, in the parameters' own layout: derivatives from [`Solution::vjp`], or a direction for
/// [`Solution::jvp`]. Derivatives are those of x with respect to the parameters *as stated*, for `min` problems too.
/// Matrices are row-major, all blocks of a kind stacked; Q is read as (Q + Qᵀ)/2.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(non_snake_case)]
pub struct Gradients {
    /// Linear term, n.
    pub theta: Vec<f64>,
    /// Quadratic term, n × n; empty for an LP.
    pub Q: Vec<f64>,
    /// Coefficients of the soft rows.
    pub C: Vec<f64>,
    /// Limits of the soft rows.
    pub d: Vec<f64>,
    /// Prices above the limit.
    pub alpha: Vec<f64>,
    /// Prices below the limit.
    pub under: Vec<f64>,
    /// Coefficients of `Ax ≤ b`.
    pub A: Vec<f64>,
    /// Right-hand side of `Ax ≤ b`.
    pub b: Vec<f64>,
    /// Coefficients of `Bx = c`.
    pub B: Vec<f64>,
    /// Right-hand side of `Bx = c`.
    pub c: Vec<f64>,
    /// Lower bounds; 0 where there is none.
    pub lower: Vec<f64>,
    /// Upper bounds; 0 where there is none.
    pub upper: Vec<f64>,
    /// Sharpness of all rows together.
    pub k: f64,
    /// Sharpness of each row.
    pub k_rows: RowValues,
}

impl Gradients {
    /// The numbers of one kind of parameter.
    pub fn of(&self, parameter: Parameter) -> &[f64] {
        match parameter {
            Parameter::Linear => &self.theta,
            Parameter::Quadratic => &self.Q,
            Parameter::SoftRows => &self.C,
            Parameter::Limit => &self.d,
            Parameter::Over => &self.alpha,
            Parameter::Under => &self.under,
            Parameter::AtMostRows => &self.A,
            Parameter::AtMost => &self.b,
            Parameter::EqualRows => &self.B,
            Parameter::Equals => &self.c,
            Parameter::Lower => &self.lower,
            Parameter::Upper => &self.upper,
        }
    }
}

impl Solution {
    /// Zeros in the layout of [`Gradients`]: a direction to fill in.
    pub fn zero_tangent(&self) -> Gradients {
        let zeros = self.zeros(&Parameter::ALL);
        Gradients { k_rows: RowValues::constant(self.shape(), 0.0), ..zeros }
    }

    /// Zeros for some kinds of parameters, nothing for the others.
    fn zeros(&self, wanted: &[Parameter]) -> Gradients {
        let (s, n) = (self.shape(), self.shape().n);
        let of = |parameter, len| vec![0.0; if wanted.contains(&parameter) { len } else { 0 }];
        Gradients {
            theta: of(Parameter::Linear, n),
            Q: of(Parameter::Quadratic, if self.rows.two_q.is_some() { n * n } else { 0 }),
            C: of(Parameter::SoftRows, s.soft * n),
            d: of(Parameter::Limit, s.soft),
            alpha: of(Parameter::Over, s.soft),
            under: of(Parameter::Under, s.soft),
            A: of(Parameter::AtMostRows, s.at_most * n),
            b: of(Parameter::AtMost, s.at_most),
            B: of(Parameter::EqualRows, s.equal * n),
            c: of(Parameter::Equals, s.equal),
            lower: of(Parameter::Lower, n),
            upper: of(Parameter::Upper, n),
            ..Gradients::default()
        }
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
        let (z, y, mut out) = self.row_pulls(g, &Parameter::ALL);
        out.k_rows = RowValues::constant(self.shape(), 0.0);
        for i in 0..self.rows.m() {
            let by_k = -self.row_part(i, z[i]).lambda_by_k * y[i];
            out.k += by_k;
            *match self.rows.ids[i] {
                RowId::Soft(k) => &mut out.k_rows.soft[k],
                RowId::AtMost(k) => &mut out.k_rows.at_most[k],
                RowId::Equal(k) => &mut out.k_rows.equal[k],
                RowId::Lower(j) => &mut out.k_rows.lower[j],
                RowId::Upper(j) => &mut out.k_rows.upper[j],
            } = by_k;
        }
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
            return Gradients { theta, ..Gradients::default() };
        }
        self.row_pulls(g, wanted).2
    }

    /// z = C'x − d', y = C'v and the gradients in the wanted parameters.
    fn row_pulls(&self, g: &[f64], wanted: &[Parameter]) -> (Vec<f64>, Vec<f64>, Gradients) {
        let n = self.rows.n;
        assert_eq!(g.len(), n, "one entry for each variable");
        let (kernel, rows, x) = (Kernel::new(), &*self.rows, &self.state.x);
        let mut v = g.to_vec();
        self.solve_h(kernel, &mut v);
        let mut y = vec![0.0; rows.m()];
        rows.apply(kernel, &v, &mut y);
        let mut z = vec![0.0; rows.m()];
        rows.excess(kernel, x, &mut z);
        let mut out = self.zeros(wanted);
        for (i, row) in out.Q.chunks_exact_mut(n).enumerate() {
            for j in 0..n {
                row[j] = -(v[i] * x[j] + x[i] * v[j]);
            }
        }
        for i in 0..rows.m() {
            let part = self.row_part(i, z[i]);
            let (pull, lambda, y) = (part.slope * y[i], part.lambda, y[i]);
            let matrix_row = |out: &mut [f64], k: usize| {
                let row = out.get_mut(k * n..(k + 1) * n).unwrap_or_default();
                for (o, (v, x)) in row.iter_mut().zip(v.iter().zip(x)) {
                    *o = -(lambda * v + pull * x);
                }
            };
            // A vector that is not wanted has no entries.
            let entry = |out: &mut [f64], k: usize, value: f64| {
                if let Some(o) = out.get_mut(k) {
                    *o += value;
                }
            };
            match rows.ids[i] {
                RowId::Soft(k) => {
                    matrix_row(&mut out.C, k);
                    entry(&mut out.d, k, pull);
                    entry(&mut out.alpha, k, -part.over * y);
                    entry(&mut out.under, k, part.under * y);
                }
                RowId::AtMost(k) => {
                    matrix_row(&mut out.A, k);
                    entry(&mut out.b, k, pull);
                }
                RowId::Equal(k) => {
                    matrix_row(&mut out.B, k);
                    entry(&mut out.c, k, pull);
                }
                // −x ≤ −l: d' = −l.
                RowId::Lower(j) => entry(&mut out.lower, j, -pull),
                RowId::Upper(j) => {
                    // A zero-width box is one row: each bound moves its own share of it.
                    entry(&mut out.upper, j, pull * part.upper);
                    entry(&mut out.lower, j, pull * (1.0 - part.upper));
                }
            }
        }
        if !out.theta.is_empty() {
            let sign = self.problem.sign();
            out.theta.iter_mut().zip(&v).for_each(|(t, v)| *t = sign * v);
        }
        (z, y, out)
    }

    /// The change of x when the parameters change along `tangent`: the mirror image of [`Solution::vjp`].
    ///
    /// # Panics
    /// If a part of `tangent` has the wrong size; see [`Solution::zero_tangent`].
    pub fn jvp(&self, tangent: &Gradients) -> Vec<f64> {
        let n = self.rows.n;
        let (kernel, rows, x) = (Kernel::new(), &*self.rows, &self.state.x);
        let sign = self.problem.sign();
        let mut z = vec![0.0; rows.m()];
        rows.excess(kernel, x, &mut z);
        // H dx = dθ − 2dQ x − dC'ᵀλ − C'ᵀ(w(dC'x − dd') + ∂λ/∂γ dγ + ∂λ/∂K dK)
        let mut dx: Vec<f64> = tangent.theta.iter().map(|t| sign * t).collect();
        if !tangent.Q.is_empty() {
            for i in 0..n {
                for j in 0..n {
                    dx[i] -= (tangent.Q[i * n + j] + tangent.Q[j * n + i]) * x[j];
                }
            }
        }
        let mut push = vec![0.0; rows.m()];
        for i in 0..rows.m() {
            let part = self.row_part(i, z[i]);
            let (row, limit, price, k) = match rows.ids[i] {
                RowId::Soft(k) => (
                    Some(&tangent.C[k * n..(k + 1) * n]),
                    tangent.d[k],
                    part.over * tangent.alpha[k] - part.under * tangent.under[k],
                    tangent.k_rows.soft[k],
                ),
                RowId::AtMost(k) => {
                    (Some(&tangent.A[k * n..(k + 1) * n]), tangent.b[k], 0.0, tangent.k_rows.at_most[k])
                }
                RowId::Equal(k) => {
                    (Some(&tangent.B[k * n..(k + 1) * n]), tangent.c[k], 0.0, tangent.k_rows.equal[k])
                }
                RowId::Lower(j) => (None, -tangent.lower[j], 0.0, tangent.k_rows.lower[j]),
                RowId::Upper(j) => {
                    let moved = part.upper * tangent.upper[j] + (1.0 - part.upper) * tangent.lower[j];
                    (None, moved, 0.0, tangent.k_rows.upper[j])
                }
            };
            let mut moved = -limit;
            if let Some(row) = row {
                moved += kernel.dot(row, x);
                kernel.axpy(-part.lambda, row, &mut dx);
            }
            push[i] = -(part.slope * moved + price + part.lambda_by_k * (k + tangent.k));
        }
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

    /// What the derivatives need of row `i` at excess `z`, on its (frozen) piece.
    fn row_part(&self, i: usize, z: f64) -> RowPart {
        let (law, k) = (&self.rows.laws[i], self.sharpness[i]);
        let upper = if law.below == 0.0 {
            1.0
        } else if law.above.is_finite() && law.below.is_finite() {
            law.above / (law.above - law.below)
        } else {
            0.5
        };
        if let Some(interior) = self.interior().filter(|_| law.slope > 0.0) {
            let Weight { slope, over } = interior.rows[i];
            let lambda = law.multiplier(self.state.piece[i], z);
            return RowPart { lambda, slope, over, under: 1.0 - over, upper, lambda_by_k: 0.0 };
        }
        // A row without a price has no piece; its share of a unit price is still S'(z).
        let piece = if law.slope > 0.0 {
            self.state.piece[i]
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
        RowPart {
            lambda: law.multiplier(piece, z),
            slope: if piece == Piece::On { law.slope } else { 0.0 },
            over: share,
            under: 1.0 - share,
            upper,
            // λ = anchor + 2K(γ⁺ + γ⁻)z on the quadratic piece.
            lambda_by_k: if piece == Piece::On { law.slope / k * z } else { 0.0 },
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
