//! Soft-constrained LPs and QPs: the exact optimum, the surrogate optimum, and its gradient in every parameter.
//!
//! ```text
//! max_x   θᵀx − xᵀQx − αᵀmax(Cx − d, 0)
//! s.t.    Ax ≤ b,  Bx = c,  l ≤ x ≤ u
//! ```
//!
//! The way of the data:
//!
//! 1. A [`Problem`] is stated once and validated; an [`Instance`] overrides any of its parameters for one solve.
//! 2. An [`Oracle`] solves it exactly: an [`Optimum`] with multipliers, basis and [`Status`].
//! 3. [`Multipliers`] say what a violated hard row costs, by a [`Rule`], with a [`Certificate`](multipliers::Certificate).
//! 4. A [`Surrogate`] is the problem softened with those multipliers and smoothed with a [`Sharpness`] K. It is solved for
//!    one instance or for many at once, from nothing or from a [`Store`] of earlier solutions: a [`Solution`].
//! 5. [`Solution::vjp`] and [`Solution::jvp`] differentiate it with the factor the solve left behind: [`Gradients`].
//!
//! ```
//! use regretless_core::*;
//!
//! let problem = Problem::maximize(3)
//!     .linear([1.0, 0.8, 0.6])
//!     .at_most("machine", Matrix::from_rows(&[[1.0, 2.0, 1.0]]), [4.0])
//!     .soft("storage", Soft::over(Matrix::from_rows(&[[1.0, 1.0, 1.0]]), [2.0], [0.4]))
//!     .build()?;
//! let theta = [0.9, 0.9, 0.5];
//! let optimum = Oracle::new(&problem).solve(&Instance::theta(&theta))?;
//! assert!(optimum.is_optimal());
//!
//! let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::theta(&theta)])?;
//! let options = Sharpness::fit(&problem, &[Instance::theta(&theta)]).options();
//! let surrogate = Surrogate::new(&problem, &multipliers, &options)?;
//! let solution = surrogate.solve(&Instance::theta(&theta))?;
//! let gradients = solution.vjp(&[1.0, 0.0, 0.0]); // ∂x₀/∂everything
//! assert_eq!(gradients.d.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For training, a [`Placement`] says which coefficients the predicted quantities and the known numbers of a row are, and a [`DecisionLoss`] ([`build_loss`], one
//! for every [`Method`]) takes a [`Batch`] of predictions and truths and returns values and gradients with respect to the
//! predictions: no network inside. [`Regret`] decides at predictions and judges the decisions by the truth, and
//! [`Scenarios`] decide for the average over a predicted distribution.
//!
//! ```
//! use regretless_core::*;
//!
//! let problem = Problem::maximize(2)
//!     .at_most("machine", Matrix::from_rows(&[[1.0, 2.0]]), [4.0])
//!     .upper([3.0, 3.0])
//!     .build()?;
//! let placement = Placement::theta(2);
//! let truth = [1.0, 1.5];
//! let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::theta(&truth)])?;
//! let options = LossOptions { multipliers: Some(&multipliers), ..LossOptions::default() };
//! let mut loss = build_loss(Method::SurrogateSmooth, &problem, &placement, &options)?;
//!
//! let mut prediction = [0.6, 1.9];
//! for _ in 0..50 {
//!     let losses = loss.evaluate(&Batch::new(&prediction, &truth, &[0]))?;
//!     prediction.iter_mut().zip(&losses.gradients).for_each(|(p, g)| *p -= 10.0 * g);
//! }
//! let decision = &Regret::new(&problem, &placement, None)?.evaluate(&Batch::new(&prediction, &truth, &[0]))?[0];
//! assert!(decision.regret < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! There are two tiers. What stands here is what problems, losses and decisions are written with. What lies behind it is
//! reached by module: [`problem`] (patterns, rows, shapes), [`engine`] (measured accuracy, pieces, the reference solver),
//! [`solve`] (exact solvers of one's own, threads), [`multipliers`], [`surrogate`] and [`gradient`] (batches as tables),
//! [`loss`] (what can go wrong with a sample).
//!
//! Folders follow the way of the data, and each uses only those before it: `linalg` → `problem` → `engine` (the parametric
//! active-set method, a homotopy) → `solve` (exact) → `multipliers` → `surrogate` → `gradient` → `predict` → `loss` → `decide`.
//!
//! Bad input is an `Err`; a hard problem is a status ([`Status`], [`SurrogateStatus`]), and each status says which outputs
//! mean what. Results do not depend on the number of threads. Notation follows the paper (NeurIPS 2021): C', d', γ for the
//! stacked rows, M and U for the rows on the quadratic and the linear piece.

mod decide;
pub mod engine;
pub mod gradient;
mod linalg;
pub mod loss;
pub mod multipliers;
mod predict;
pub mod problem;
pub mod solve;
pub mod surrogate;

pub use decide::regret::{Decision, Kept, Promised, Regret};
pub use engine::SurrogateStatus;
pub use gradient::Gradients;
pub use linalg::matrix::Matrix;
pub use loss::build as build_loss;
pub use loss::{Batch, DecisionLoss, LossError, LossOptions, Losses, Method, mix};
pub use multipliers::{MultiplierError, Multipliers, Rule};
pub use predict::forecast::{Forecast, Law};
pub use predict::placement::{Part, Placement, Source, Term};
pub use predict::risk::{Outlook, Risk};
pub use predict::scenarios::{ScenarioError, Scenarios};
pub use predict::truths::Truths;
pub use problem::{
    Coefficients, Instance, Parameter, Parameters, Problem, ProblemBuilder, ProblemError, RowId, RowValues,
    Sense, Soft, Tolerances, View,
};
pub use solve::{Optimum, Oracle, Status, Store};
pub use surrogate::{Segments, Sharpness, Solution, Surrogate, SurrogateOptions};

/// The README's Rust code, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
