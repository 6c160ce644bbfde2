//! Newton steps of the interior point.

use super::Iterate;
use crate::engine::workspace::curve;
use crate::linalg::sparse_ldl::{Augmented, SparseLdl};

/// The stiffness of a bound that is an equality.
const RIGID: f64 = 1e12;

/// What may be left of the equations of a step.
const RESIDUAL: f64 = 1e-12;

/// A step of everything.
pub(super) struct Step {
    pub(super) x: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    pub(super) above: Vec<f64>,
    pub(super) below: Vec<f64>,
}

/// What the products of pairs are to change by.
#[derive(Clone)]
pub(super) struct Targets {
    pub(super) above: Vec<f64>,
    pub(super) below: Vec<f64>,
}

impl Iterate<'_> {
    /// The augmented matrix with E of each part.
    pub(super) fn matrix(&self, e: &[f64]) -> Option<Augmented> {
        let s = self.s;
        let analysis = s.analysis.as_ref()?;
        // 1/E of a row: of its parts together.
        let mut weight = vec![0.0_f64; s.m()];
        let mut rigid = vec![false; s.m()];
        for (p, e) in self.parts.iter().zip(e) {
            if *e > 0.0 {
                weight[p.row] += 1.0 / e;
            } else {
                rigid[p.row] = true;
            }
        }
        let mut diagonal = vec![0.0; s.n];
        for (i, u) in (s.m_general..).zip(&s.unit) {
            diagonal[u.var] += if rigid[i] { RIGID } else { weight[i] };
        }
        let mut k = analysis.zeros();
        curve(&mut k, s, |j| diagonal[j]);
        for i in 0..s.m_general {
            if let Some((last, entries)) = k.row(i).split_last_mut() {
                if rigid[i] || weight[i] > 0.0 {
                    entries.copy_from_slice(s.general.row(i).values());
                    *last = if rigid[i] { 0.0 } else { -1.0 / weight[i] };
                } else {
                    *last = -1.0;
                }
            }
        }
        Some(k)
    }

    /// dx and dλ of 2Q dx + C'ᵀdλ = residual and C'dx − E dλ = `lack` of each part.
    pub(super) fn solve(&self, factor: &SparseLdl, e: &[f64], lack: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let s = self.s;
        let mut all = vec![0.0; factor.size()];
        all[..s.n].copy_from_slice(&self.residual);
        // Σ lack/E and Σ 1/E of each row.
        let (mut pull, mut weight) = (vec![0.0; s.m()], vec![0.0; s.m()]);
        for ((p, e), lack) in self.parts.iter().zip(e).zip(lack) {
            if *e > 0.0 {
                (pull[p.row], weight[p.row]) = (pull[p.row] + lack / e, weight[p.row] + 1.0 / e);
            } else {
                (pull[p.row], weight[p.row]) = (RIGID * lack, RIGID);
                if p.row < s.m_general {
                    (pull[p.row], weight[p.row]) = (*lack, 1.0);
                }
            }
        }
        for (i, u) in (s.m_general..).zip(&s.unit) {
            all[u.var] += u.sign * pull[i];
        }
        for i in 0..s.m_general {
            all[s.n + i] = if weight[i] > 0.0 { pull[i] / weight[i] } else { 0.0 };
        }
        factor.solve_to(&mut all, RESIDUAL);
        let dx = all[..s.n].to_vec();
        let mut dz = vec![0.0; s.m()];
        s.apply(self.kernel, &dx, &mut dz);
        let dlambda = self.multipliers(e, lack, (&dx, &dz, &all[s.n..]));
        (dx, dlambda)
    }

    /// dλ of each part. That of a general row is an unknown of the equations. Of bounds
    ///
    /// ```text
    /// dλ = (dz − lack)/E      or, where E is small, what is left of 2Q dx + C'ᵀdλ = residual
    /// ```
    ///
    /// The first one has no digits once E is as small as the rounding of z.
    fn multipliers(&self, e: &[f64], lack: &[f64], (dx, dz, rows): (&[f64], &[f64], &[f64])) -> Vec<f64> {
        let s = self.s;
        let (mut sums, mut left) = (vec![0.0; s.m()], vec![0.0; s.n]);
        let mut dlambda: Vec<f64> = (0..self.parts.len())
            .map(|k| {
                let row = self.parts[k].row;
                let by_row = row < s.m_general && s.hinges_of(row).is_none();
                let dlambda = if by_row { rows[row] } else { (dz[row] - lack[k]) / e[k].max(1.0 / RIGID) };
                sums[row] += dlambda;
                dlambda
            })
            .collect();
        s.force(self.kernel, dx, &sums, &mut left);
        left.iter_mut().zip(&self.residual).for_each(|(left, r)| *left = r - *left);
        // Of two bounds of a variable the nearer one takes it.
        let mut stiffest = vec![(self.width, usize::MAX); s.n];
        for (k, p) in self.parts.iter().enumerate().filter(|(_, p)| p.row >= s.m_general) {
            let best = &mut stiffest[s.unit[p.row - s.m_general].var];
            if e[k] < best.0 {
                *best = (e[k], k);
            }
        }
        for ((_, k), left) in stiffest.into_iter().zip(left) {
            if let Some(p) = self.parts.get(k) {
                dlambda[k] += s.unit[p.row - s.m_general].sign * left;
            }
        }
        dlambda
    }

    /// The Newton step to targets of each pair: `c⁺` and `c⁻` are what ps has to change by.
    pub(super) fn step(&self, factor: &SparseLdl, e: &[f64], targets: &Targets) -> Step {
        let Targets { above, below } = targets;
        let lack: Vec<f64> = (0..self.parts.len())
            .map(|k| {
                let p = &self.parts[k];
                let mut lack = -self.lack(k);
                if p.over.is_finite() {
                    lack += above[k] / (p.over - self.lambda[k]);
                }
                if p.under.is_finite() {
                    lack -= below[k] / (self.lambda[k] + p.under);
                }
                lack
            })
            .collect();
        let (x, lambda) = self.solve(factor, e, &lack);
        let (mut up, mut down) = (vec![0.0; lack.len()], vec![0.0; lack.len()]);
        for (k, p) in self.parts.iter().enumerate() {
            if p.over.is_finite() {
                up[k] = (above[k] + self.above[k] * lambda[k]) / (p.over - self.lambda[k]);
            }
            if p.under.is_finite() {
                down[k] = (below[k] - self.below[k] * lambda[k]) / (self.lambda[k] + p.under);
            }
        }
        Step { x, lambda, above: up, below: down }
    }

    /// The longest steps of x with s, and of λ.
    pub(super) fn longest(&self, step: &Step) -> (f64, f64) {
        let (mut primal, mut dual) = (1.0_f64, 1.0_f64);
        let reach = |value: f64, change: f64, longest: f64| {
            if change < 0.0 { longest.min(-value / change) } else { longest }
        };
        for (k, p) in self.parts.iter().enumerate() {
            if p.over.is_finite() {
                primal = reach(self.above[k], step.above[k], primal);
                dual = reach(p.over - self.lambda[k], -step.lambda[k], dual);
            }
            if p.under.is_finite() {
                primal = reach(self.below[k], step.below[k], primal);
                dual = reach(self.lambda[k] + p.under, step.lambda[k], dual);
            }
        }
        (primal, dual)
    }
}
