//! How a softened problem behaved: solved exactly, how far its optimum strays from the hard rows.

use rayon::prelude::*;

use crate::optimum::{RowValues, Status};
use crate::oracle::Oracle;
use crate::problem::{Instance, Problem, RowId, View};

/// Over the instances tried, what softening did.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Instances tried.
    pub instances: usize,
    /// Instances whose original problem has no optimum; they say nothing about multipliers.
    pub without_optimum: usize,
    /// Instances whose softened problem is unbounded.
    pub unbounded: usize,
    /// The largest violation of a hard row by a softened optimum, in the row's own units.
    pub worst_violation: f64,
    /// The row of the largest violation.
    pub worst_row: Option<RowId>,
    /// Size of the numbers that violations are measured against.
    pub scale: f64,
}

impl Certificate {
    /// True if the softened optimum was feasible for the original problem wherever that has an optimum.
    pub fn holds(&self) -> bool {
        self.unbounded == 0 && self.worst_violation <= TOLERANCE * self.scale
    }

    /// No instance tried.
    pub(super) fn untried() -> Self {
        Self {
            instances: 0,
            without_optimum: 0,
            unbounded: 0,
            worst_violation: 0.0,
            worst_row: None,
            scale: 1.0,
        }
    }

    /// Solves the softened problem exactly for every instance.
    pub fn of(problem: &Problem, values: &RowValues, instances: &[Instance<'_>]) -> Self {
        let problem = &problem.or_zero_theta();
        let original = Oracle::new(problem);
        let softened = Oracle::softened(problem, values);
        let look = |instance: &Instance<'_>| -> Option<Look> {
            let view = problem.view(instance).ok()?;
            let soft = softened.solve(instance).ok()?;
            let look = match soft.status {
                Status::Optimal => worst_violation(&view, &soft.x),
                _ => Look { unbounded: true, worst: 0.0, row: None, scale: 1.0 },
            };
            let clean = !look.unbounded && look.worst <= TOLERANCE * look.scale;
            (clean || original.solve(instance).ok()?.is_optimal()).then_some(look)
        };
        let each: Vec<Option<Look>> = instances.par_iter().map(look).collect();
        let mut out = Self {
            instances: instances.len(),
            without_optimum: each.iter().filter(|e| e.is_none()).count(),
            unbounded: 0,
            worst_violation: 0.0,
            worst_row: None,
            scale: 1.0,
        };
        for look in each.into_iter().flatten() {
            out.unbounded += usize::from(look.unbounded);
            out.scale = out.scale.max(look.scale);
            if look.worst > out.worst_violation {
                (out.worst_violation, out.worst_row) = (look.worst, look.row);
            }
        }
        out
    }
}

/// Violations up to this times the scale are rounding.
const TOLERANCE: f64 = 1e-7;

/// One instance's softened optimum.
struct Look {
    unbounded: bool,
    worst: f64,
    row: Option<RowId>,
    scale: f64,
}

/// The largest violation of a hard row, the row, and the size of the numbers involved.
fn worst_violation(view: &View<'_>, x: &[f64]) -> Look {
    let n = view.shape.n;
    let (mut worst, mut row) = (0.0, None);
    let mut scale = x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    let mut see = |violation: f64, id: RowId| {
        if violation > worst {
            (worst, row) = (violation, Some(id));
        }
    };
    let value = |m: &[f64], i: usize| m[i * n..(i + 1) * n].iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    for (i, b) in view.b.iter().enumerate() {
        scale = scale.max(b.abs());
        see(value(view.A, i) - b, RowId::AtMost(i));
    }
    for (i, c) in view.c.iter().enumerate() {
        scale = scale.max(c.abs());
        see((value(view.B, i) - c).abs(), RowId::Equal(i));
    }
    for j in 0..n {
        see(view.lower[j] - x[j], RowId::Lower(j));
        see(x[j] - view.upper[j], RowId::Upper(j));
    }
    Look { unbounded: false, worst, row, scale }
}
