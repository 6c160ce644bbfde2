//! How a softened problem behaved: solved exactly, how far its optimum strays from the hard rows.

use rayon::prelude::*;

use crate::problem::{Instance, Problem, RowId, RowValues};
use crate::solve::optimum::Status;
use crate::solve::oracle::Oracle;

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
}

impl Certificate {
    /// True if the softened optimum was feasible for the original problem wherever that has an optimum.
    pub fn holds(&self) -> bool {
        self.unbounded == 0 && self.worst_row.is_none()
    }

    /// No instance tried.
    pub(super) fn untried() -> Self {
        Self { instances: 0, without_optimum: 0, unbounded: 0, worst_violation: 0.0, worst_row: None }
    }

    /// Solves the softened problem exactly for every instance.
    pub fn of(problem: &Problem, values: &RowValues, instances: &[Instance<'_>]) -> Self {
        let problem = &problem.or_zero_theta();
        let original = Oracle::new(problem);
        let softened = Oracle::softened(problem, values);
        let look = |instance: &Instance<'_>| -> Option<Look> {
            let view = problem.view(instance).ok()?;
            let soft = softened.solve_from(&view, None).0;
            let look = match soft.status {
                Status::Optimal => Look { unbounded: false, violated: view.violated(&soft.x) },
                _ => Look { unbounded: true, violated: None },
            };
            let clean = !look.unbounded && look.violated.is_none();
            (clean || original.solve_from(&view, None).0.is_optimal()).then_some(look)
        };
        let each: Vec<Option<Look>> = instances.par_iter().map(look).collect();
        let mut out = Self {
            instances: instances.len(),
            without_optimum: each.iter().filter(|e| e.is_none()).count(),
            unbounded: 0,
            worst_violation: 0.0,
            worst_row: None,
        };
        for look in each.into_iter().flatten() {
            out.unbounded += usize::from(look.unbounded);
            if let Some((row, violation)) = look.violated
                && violation > out.worst_violation
            {
                (out.worst_violation, out.worst_row) = (violation, Some(row));
            }
        }
        out
    }
}

/// One instance's softened optimum.
struct Look {
    unbounded: bool,
    /// The hard row it violates most.
    violated: Option<(RowId, f64)>,
}
