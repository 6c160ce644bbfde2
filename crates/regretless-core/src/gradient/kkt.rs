//! Derivatives of an exact optimum with a positive definite Q: its KKT system with the active rows as equalities.
//!
//! ```text
//! [ 2Q   A_onᵀ ] [v]   [g]
//! [ A_on   0   ] [u] = [0]
//!
//! ∂L/∂θ = v      ∂L/∂Q = −(v xᵀ + x vᵀ)      ∂L/∂d_on = u      ∂L/∂C_k = −(λₖ v + uₖ x)      ∂L/∂α_k = −cₖᵀv off its kink
//! ```
//!
//! With 2Q = LLᵀ and W = L⁻¹A_onᵀ this is the projection of L⁻¹g off the columns of W (Amos & Kolter 2017, reduced).
//! Columns that depend on earlier ones are left out, so dependent active rows do no harm.

use std::sync::Arc;

use crate::engine::tolerance::DEPENDENT;
use crate::gradient::Gradients;
use crate::linalg::dense::{self, CholeskyScratch};
use crate::linalg::simd::Kernel;
use crate::problem::form::{analyse, doubled, stack};
use crate::problem::{ByParameter, Coefficients, Form, RowId, View};
use crate::solve::optimum::Optimum;

/// The gradient of L in every soft parameter, θ and Q, from g = ∂L/∂x at an optimum; `None` if Q is not definite.
pub(crate) fn vjp(view: &View<'_>, optimum: &Optimum, g: &[f64]) -> Option<Gradients> {
    let x = &optimum.x;
    let (v, u) = match view.form() {
        Form::Sparse => augmented(view, &optimum.active, g)?,
        Form::Dense => {
            let factor = Lower::of_hessian(view)?;
            let mut q = g.to_vec();
            factor.forward(&mut q);
            project(view, &optimum.active, &factor, q)
        }
    };
    let mut out = ByParameter { theta: v.iter().map(|v| view.sign * v).collect(), ..ByParameter::default() };
    let [(rows, limits), ..] = view.rows();
    let quadratic = view.quadratic()?.pattern;
    (out.Q, out.C) = (vec![0.0; quadratic.entries()], vec![0.0; view.C.len()]);
    quadratic.pull_symmetric(&v, x, &mut out.Q);
    let soft = view.shape.soft;
    (out.d, out.alpha, out.under) = (vec![0.0; soft], vec![0.0; soft], vec![0.0; soft]);
    let mut on = vec![false; soft];
    for (row, u) in optimum.active.iter().zip(&u) {
        if let RowId::Soft(k) = row {
            (on[*k], out.d[*k]) = (true, *u);
        }
    }
    for k in 0..soft {
        let along: f64 = rows.row(k).iter().map(|(j, c)| c * v[j]).sum();
        let z = rows.row(k).iter().map(|(j, c)| c * x[j]).sum::<f64>() - limits[k];
        // At its kink the row holds x whatever it costs.
        match z {
            _ if on[k] => {}
            z if z > 0.0 => out.alpha[k] = -along,
            _ => out.under[k] = along,
        }
        let lambda = optimum.multipliers.soft[k];
        rows.pattern.pull(k, (lambda, &v), (out.d[k], x), &mut out.C);
    }
    Some(out.into())
}

/// v and u of the KKT system as it stands, with sparse factors; bounds fix their variables, and their u is not asked for.
fn augmented(view: &View<'_>, active: &[RowId], g: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let (shape, n) = (view.shape, view.shape.n);
    let mut rows = Coefficients::compressed(n);
    for (of, limits) in view.rows() {
        stack(&mut rows, of, 0..limits.len());
    }
    let two_q = doubled(view.quadratic()?);
    let (q, c) = (two_q.pattern().compressed(), rows.pattern().compressed());
    let own = view.analysis().filter(|own| own.fits(q, c)).map(Arc::clone);
    let analysis = own.or_else(|| analyse(n, Some(&two_q), &rows).map(Arc::new))?;
    let (mut fixed, mut on) = (vec![false; n], vec![false; shape.general()]);
    for row in active {
        match row {
            RowId::Lower(j) | RowId::Upper(j) => fixed[*j] = true,
            general => on[shape.position(*general)] = true,
        }
    }
    let mut k = analysis.zeros();
    for j in 0..n {
        let entries = k.variable(j);
        entries.copy_from_slice(&two_q.row(j).values()[..entries.len()]);
    }
    for (i, on) in on.iter().enumerate() {
        if let Some((diagonal, entries)) = k.row(i).split_last_mut() {
            if *on {
                entries.copy_from_slice(rows.row(i).values());
            } else {
                *diagonal = -1.0;
            }
        }
    }
    k.fix(|j| fixed[j]);
    let factor = k.factor()?;
    let mut all = vec![0.0; factor.size()];
    for ((out, g), fixed) in all.iter_mut().zip(g).zip(&fixed) {
        *out = if *fixed { 0.0 } else { *g };
    }
    factor.solve_augmented(&mut all);
    let of = |row: &RowId| match row {
        RowId::Lower(_) | RowId::Upper(_) => 0.0,
        general => all[n + shape.position(*general)],
    };
    let u = active.iter().map(of).collect();
    all.truncate(n);
    let sound = all.iter().chain(&u).all(|v: &f64| v.is_finite());
    sound.then_some((all, u))
}

/// v and u of the KKT system, from L⁻¹g.
fn project(view: &View<'_>, basis: &[RowId], factor: &Lower, mut q: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let kernel = Kernel::new();
    let mut kept: Vec<Column> = Vec::new();
    for (at, row) in basis.iter().enumerate() {
        let mut w = view.row(*row).to_vec(factor.n);
        factor.forward(&mut w);
        let size = norm(&w);
        let mut mix = vec![0.0; kept.len()];
        // Twice is enough: Gram–Schmidt with one repetition.
        for _ in 0..2 {
            for (column, mix) in kept.iter().zip(&mut mix) {
                let along = dot(&column.unit, &w);
                *mix += along;
                kernel.axpy(-along, &column.unit, &mut w);
            }
        }
        let left = norm(&w);
        if left > DEPENDENT * size {
            w.iter_mut().for_each(|w| *w /= left);
            mix.push(left);
            kept.push(Column { at, unit: w, mix });
        }
    }
    // u = R⁻¹Wᵀq, from the last column to the first.
    let mut u = vec![0.0; basis.len()];
    let mut parts: Vec<f64> = Vec::with_capacity(kept.len());
    for _ in 0..2 {
        for (i, column) in kept.iter().enumerate() {
            let along = dot(&column.unit, &q);
            kernel.axpy(-along, &column.unit, &mut q);
            if i < parts.len() { parts[i] += along } else { parts.push(along) }
        }
    }
    for i in (0..kept.len()).rev() {
        let value = parts[i] / kept[i].mix[i];
        u[kept[i].at] = value;
        for j in 0..i {
            parts[j] -= kept[i].mix[j] * value;
        }
    }
    factor.backward(&mut q);
    (q, u)
}

/// A column of W, made orthonormal.
struct Column {
    /// Which active row it is.
    at: usize,
    unit: Vec<f64>,
    /// Its column of R.
    mix: Vec<f64>,
}

/// L of 2Q = LLᵀ, column-major.
struct Lower {
    n: usize,
    l: Vec<f64>,
}

impl Lower {
    fn of_hessian(view: &View<'_>) -> Option<Self> {
        let (n, q) = (view.shape.n, view.quadratic()?.dense());
        let mut l: Vec<f64> = (0..n * n).map(|ij| q[ij] + q[(ij % n) * n + ij / n]).collect();
        dense::cholesky(&mut l, n, &mut CholeskyScratch::new(n)).then_some(Self { n, l })
    }

    fn forward(&self, b: &mut [f64]) {
        let kernel = Kernel::new();
        // Bounds are unit rows: what is 0 down to their variable stays 0.
        for j in b.iter().take_while(|b| **b == 0.0).count()..self.n {
            let column = &self.l[j * self.n..(j + 1) * self.n];
            b[j] /= column[j];
            kernel.axpy(-b[j], &column[j + 1..], &mut b[j + 1..]);
        }
    }

    fn backward(&self, b: &mut [f64]) {
        for j in (0..self.n).rev() {
            let column = &self.l[j * self.n..(j + 1) * self.n];
            let rest = dot(&column[j + 1..], &b[j + 1..]);
            b[j] = (b[j] - rest) / column[j];
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    Kernel::new().dot(a, b)
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
