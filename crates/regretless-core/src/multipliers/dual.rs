//! Penalties from the multipliers of exact optima.

use super::{MultiplierError, largest_theta, positive, smallest_norms};
use crate::engine::tolerance::{BINDING, SMALLEST_PENALTY};
use crate::problem::duplicates::Merged;
use crate::problem::{Instance, Problem, RowValues, View};
use crate::solve::exact_solver::{Exact, ExactSolver};
use crate::solve::optimum::Status;
use crate::solve::oracle::Oracle;

/// βᵢ = factor · max(largest multiplier of row i, median over the hard rows that ever bind), for unit rows.
pub(super) fn choose(
    problem: &Problem,
    factor: f64,
    instances: &[Instance<'_>],
    views: &[View<'_>],
) -> Result<(RowValues, String), MultiplierError> {
    positive(factor)?;
    let shape = problem.shape();
    let norms = smallest_norms(views);
    let mut largest = vec![0.0_f64; shape.rows()];
    // A row that is stated twice has one multiplier.
    let merged = Merged::of(&problem.or_zero_theta(), instances);
    let mut optima = 0;
    for exact in Oracle::new(&merged.problem).solve_exactly(instances) {
        if let Exact { status: Status::Optimal, multipliers: Some(multipliers), .. } = exact? {
            optima += 1;
            for (l, v) in largest.iter_mut().zip(merged.spread(&multipliers.stacked())) {
                *l = l.max(v.abs());
            }
        }
    }
    if optima == 0 {
        return Err(MultiplierError::NoOptimum(instances.len()));
    }
    let noise = BINDING * (shape.soft..shape.rows()).fold(0.0_f64, |m, i| m.max(largest[i] * norms[i]));
    // The floor: a row that never bound among these instances may bind for the next one.
    let hard = (shape.soft..shape.rows()).filter(|&i| merged.stands(i));
    let mut binding: Vec<f64> = hard.map(|i| largest[i] * norms[i]).filter(|v| *v > noise).collect();
    binding.sort_unstable_by(f64::total_cmp);
    let median = binding.get(binding.len() / 2).copied();
    let floor = median.unwrap_or_else(|| largest_theta(views));
    let floor = if floor > SMALLEST_PENALTY { floor } else { 1.0 };
    let mut values: Vec<f64> =
        largest.iter().zip(&norms).map(|(l, norm)| factor * l.max(floor / norm)).collect();
    values[..shape.soft].fill(1.0);
    let hard = &values[shape.soft..];
    let range = hard.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), v| (a.min(*v), b.max(*v)));
    let explanation = format!(
        "dual rule: {factor} × the largest multiplier each hard row has at the exact optima of {optima} instance{}, \
         never below {factor} × {floor:.4} on a unit row ({}); values from {:.4} to {:.4}",
        if optima == 1 { "" } else { "s" },
        if median.is_some() { "the median of the rows that bind" } else { "max |θ|, as no hard row binds" },
        range.0,
        range.1,
    );
    Ok((RowValues::from_stacked(shape, &values), explanation))
}
