//! The paper's rule of thumb, with its escalation.

use super::{Certificate, MultiplierError, largest_theta, positive};
use crate::problem::{Instance, Problem, RowValues, View};

/// β = factor · (√n) · max|θ| on every hard row, doubled until the certificate holds (20 times at most).
pub(super) fn choose(
    problem: &Problem,
    factor: f64,
    sqrt_n: bool,
    instances: &[Instance<'_>],
    views: &[View<'_>],
) -> Result<(RowValues, String), MultiplierError> {
    positive(factor)?;
    let theta = largest_theta(views);
    let theta = if theta > 0.0 { theta } else { 1.0 };
    let n = problem.n() as f64;
    let mut value = factor * theta * if sqrt_n { n.sqrt() } else { 1.0 };
    let mut doubled = 0;
    loop {
        let values = RowValues::constant(problem.shape(), value);
        let certificate = Certificate::of(problem, &values, instances);
        if certificate.without_optimum == certificate.instances {
            return Err(MultiplierError::NoOptimum(instances.len()));
        }
        if certificate.holds() || doubled == 20 {
            let root = if sqrt_n { " × √n" } else { "" };
            let explanation = format!(
                "empirical rule: {factor}{root} × max|θ| = {theta:.4}, doubled {doubled} times; {value:.4} on every \
                 hard row and bound"
            );
            return Ok((values, explanation));
        }
        value *= 2.0;
        doubled += 1;
    }
}
