//! What truths, regret and multipliers ask of an exact solver, whoever it is.

use std::fmt::Debug;

use crate::problem::{Instance, ProblemError, RowValues};
use crate::solve::batch;
use crate::solve::optimum::{Optimum, Status};
use crate::solve::oracle::Oracle;

/// An exact optimum, as much of it as any solver can give; [`Status`] says what means what.
#[derive(Clone, Debug, PartialEq)]
pub struct Exact {
    /// How the solve ended.
    pub status: Status,
    /// x*
    pub x: Vec<f64>,
    /// V in the problem's own sense; infinite where there is no optimum.
    pub objective: f64,
    /// λ of every row, from a solver that has them.
    pub multipliers: Option<RowValues>,
}

impl From<Optimum> for Exact {
    fn from(Optimum { status, x, objective, multipliers, .. }: Optimum) -> Self {
        Self { status, x, objective, multipliers: Some(multipliers) }
    }
}

/// Solves instances of one problem exactly. The [`Oracle`] is one; who has another (integers, say) can lend it to
/// [`Truths`](crate::Truths).
///
/// ```
/// use regretless_core::solve::{Exact, ExactSolver};
/// use regretless_core::{Instance, Optimum, Oracle, Problem, ProblemError};
/// /// Whole units only.
/// #[derive(Debug)]
/// struct Rounded(Oracle);
/// impl ExactSolver for Rounded {
///     fn solve_exactly(&self, instances: &[Instance<'_>]) -> Vec<Result<Exact, ProblemError>> {
///         let whole = |o: Optimum| Exact { x: o.x.iter().map(|x| x.floor()).collect(), ..o.into() };
///         self.0.solve_batch(instances).into_iter().map(|o| o.map(whole)).collect()
///     }
/// }
/// let problem = Problem::maximize(1).upper([2.5]).build()?;
/// let solved = Rounded(Oracle::new(&problem)).solve_exactly(&[Instance::theta(&[1.0])]);
/// assert_eq!(solved[0].as_ref().map(|s| s.x[0]), Ok(2.0));
/// # Ok::<(), ProblemError>(())
/// ```
pub trait ExactSolver: Debug + Send + Sync {
    /// Solves instances, each on its own and from nothing. What the problem refuses is an `Err` of its own.
    fn solve_exactly(&self, instances: &[Instance<'_>]) -> Vec<Result<Exact, ProblemError>>;
}

impl ExactSolver for Oracle {
    fn solve_exactly(&self, instances: &[Instance<'_>]) -> Vec<Result<Exact, ProblemError>> {
        batch::from(self, instances, vec![None; instances.len()], |solved| solved.answer.into())
    }
}
