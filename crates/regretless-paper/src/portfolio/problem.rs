//! The decision of a day: max θᵀx − xᵀQx − αᵀ max(Cx − d, 0), 1ᵀx = 1, x ≥ 0.

use regretless_core::{Matrix, Parameter, Placement, Problem, ProblemError, Soft};

use super::panel::NEXT;
use crate::random::{stream, thin, uniform};

/// The share of cosines in the risk; the rest is the identity, which makes it definite.
const COSINES: f64 = 0.9;
/// The least product of norms that is divided by: equities that did not move are like no other.
const LEAST: f64 = 1e-6;

/// Soft ceilings on groups of equities.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraints {
    /// C, soft × n, row by row: 1 where an equity is in the group of a row.
    pub rows: Vec<f64>,
    /// d, the share of the money that a group may have.
    pub limit: Vec<f64>,
    /// α, the price of a unit above.
    pub over: Vec<f64>,
    /// The number of rows.
    pub soft: usize,
}

impl Constraints {
    /// The constraints of an experiment with `n` equities: ⌊0.4 n⌋ rows, every equity in all but ⌈0.9 soft⌉ of them, d ~ 0.2 U(0, 1)
    /// and α ~ 15/n U(0, 1).
    pub fn draw(n: usize, seed: u64) -> Self {
        let mut rng = stream(seed, 2);
        // In whole numbers: 0.4 n and 0.9 soft may be rounded across one.
        let soft = 2 * n / 5;
        let mut rows = vec![1.0; soft * n];
        thin(&mut rng, &mut rows, soft, n, (9 * soft).div_ceil(10));
        let limit = uniform(&mut rng, soft).into_iter().map(|u| 0.2 * u).collect();
        let over = uniform(&mut rng, soft).into_iter().map(|u| 15.0 / n as f64 * u).collect();
        Self { rows, limit, over, soft }
    }
}

/// Q of a date, n × n: 0.9 times the cosines between the equities' returns of the second to the tenth day to come, plus 0.1 on the
/// diagonal. `next` has [`NEXT`] returns for each equity.
///
/// The first day's return is θ and no part of it.
pub fn similarity(next: &[f64]) -> Vec<f64> {
    let vectors: Vec<&[f64]> = next.chunks_exact(NEXT).map(|returns| &returns[1..]).collect();
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let norms: Vec<f64> = vectors.iter().map(|v| dot(v, v).sqrt()).collect();
    let n = vectors.len();
    let mut risk = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let cosine = dot(vectors[i], vectors[j]) / (norms[i] * norms[j]).max(LEAST);
            let value = COSINES * cosine + if i == j { 1.0 - COSINES } else { 0.0 };
            (risk[i * n + j], risk[j * n + i]) = (value, value);
        }
    }
    risk
}

/// The problem of these equities: θ, the returns, and Q, the risk, are predicted, in this order.
pub fn problem(constraints: &Constraints, symbols: &[String]) -> Result<(Problem, Placement), ProblemError> {
    let n = symbols.len();
    let mut problem = Problem::maximize(n)
        .variables(symbols)
        .linear(vec![0.0; n])
        .quadratic(Matrix::zeros(n, n))
        .equal("invested", Matrix::from_fn(1, n, |_, _| 1.0), vec![1.0]);
    if constraints.soft > 0 {
        let rows = Matrix::from_fn(constraints.soft, n, |i, j| constraints.rows[i * n + j]);
        problem =
            problem.soft("groups", Soft::over(rows, constraints.limit.clone(), constraints.over.clone()));
    }
    let problem = problem.build()?;
    let placement = Placement::whole(&problem, &[Parameter::Linear, Parameter::Quadratic]);
    Ok((problem, placement))
}
