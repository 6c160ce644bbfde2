//! The decision problem.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use regretless_core::{Matrix, Parameter, Placement, Problem, ProblemError, Soft};

use super::load::REGIONS;
use super::windows::WINDOW;
use crate::random::normal;

/// The prices of the paper's table: of a unit too much (α₁) and of one too little (α₂).
pub const RATIOS: [(f64, f64); 5] = [(50.0, 0.5), (5.0, 0.5), (1.0, 1.0), (0.5, 5.0), (0.5, 50.0)];

/// The wanted load d of each of 24 hours, `max(0, 0.5 + 0.1 N(0, 1))` in units of 10⁴ MW.
pub fn limits(seed: u64) -> Vec<f64> {
    let draws = normal(&mut ChaCha8Rng::seed_from_u64(seed), WINDOW);
    draws.into_iter().map(|z| (0.5 + 0.1 * z).max(0.0)).collect()
}

/// The problem `min over·max(Cx − d, 0) + under·max(d − Cx, 0)`, `1ᵀx = 1`, `x ≥ 0`: a unit of supply shared among eight regions,
/// so that the load it serves is near the wanted one in every hour. C is predicted: hours × regions, hour by hour.
///
/// ```
/// use regretless_paper::provisioning::{limits, problem};
/// let (problem, placement) = problem(&limits(0), 50.0, 0.5)?;
/// assert_eq!((problem.n(), placement.width()), (8, 24 * 8));
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
pub fn problem(limits: &[f64], over: f64, under: f64) -> Result<(Problem, Placement), ProblemError> {
    let (hours, n) = (limits.len(), REGIONS.len());
    let rows = Soft::both(Matrix::zeros(hours, n), limits, vec![over; hours], vec![under; hours]);
    let problem = Problem::minimize(n)
        .variables(REGIONS.map(str::to_lowercase))
        .linear(vec![0.0; n])
        .soft("hours", rows)
        .equal("shares", Matrix::from_fn(1, n, |_, _| 1.0), vec![1.0])
        .build()?;
    let placement = Placement::whole(&problem, &[Parameter::SoftRows]);
    Ok((problem, placement))
}
