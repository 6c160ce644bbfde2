//! The paper's theorems, each for the structure it is proved for.
//!
//! All bounds are for unit rows (so β is divided by the row's norm) and take the O-constant as 1. E bounds the gradient
//! of the whole objective: ‖θ‖ + ‖Cᵀα‖ + 2‖Q‖·radius.

use thiserror::Error;

use super::dual::row_norms;
use super::{MultiplierError, largest_theta};
use crate::linalg;
use crate::optimum::RowValues;
use crate::problem::{HardRows, Instance, Problem};

/// Why no theorem applies.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// A negative coefficient in A or B.
    #[error("{what} has the negative coefficient {value} in row {row}; the theorems need A, B ≥ 0")]
    NegativeCoefficient {
        /// `A` or `B`.
        what: &'static str,
        /// The row.
        row: usize,
        /// The coefficient.
        value: f64,
    },
    /// A negative right-hand side.
    #[error(
        "{what} has the right-hand side {value} in row {row}, counted from the lower bounds; the theorems need b, c ≥ 0"
    )]
    NegativeLimit {
        /// `A` or `B`.
        what: &'static str,
        /// The row.
        row: usize,
        /// The right-hand side.
        value: f64,
    },
    /// Some variables have a lower bound and some have none.
    #[error("some variables are free and some are not; the theorems need x ≥ l for all of them or for none")]
    MixedBounds,
    /// Equalities over free variables.
    #[error("there are equalities or upper bounds but variables are free; the theorems need x ≥ l there")]
    FreeWithEqualities,
    /// Nothing bounds x, and Q does not either.
    #[error("Q makes the gradient depend on x, and no row bounds x, so E has no bound")]
    NoRadius,
    /// Nearly all sampled row sets are singular.
    #[error("every sampled set of n rows is singular, so λ_max of Theorem 6 could not be estimated")]
    Singular,
}

/// Number of n-row subsets sampled for Theorem 6.
const SAMPLES: usize = 200;

/// Picks the theorem by structure.
pub(super) fn choose(
    problem: &Problem,
    instances: &[Instance<'_>],
) -> Result<(RowValues, String), MultiplierError> {
    let bounded = problem.lower().iter().filter(|l| l.is_finite()).count();
    let n = problem.n();
    let (a, b) = (problem.at_most(), problem.equal());
    let boxed = problem.upper().iter().any(|u| u.is_finite());
    let covered = || -> Result<(f64, String), Refusal> {
        if bounded != 0 && bounded != n {
            return Err(Refusal::MixedBounds);
        }
        nonnegative("A", a, problem.lower())?;
        nonnegative("B", b, problem.lower())?;
        let e = gradient_bound(problem, instances)?;
        let power = (n as f64).powf(1.5);
        let has_a = !a.rhs.is_empty();
        match (bounded == n, has_a, b.rhs.len(), boxed) {
            (false, _, 0, false) => Ok((e, format!("Theorem 2 (Ax ≤ b alone): β = E = {e:.4}"))),
            (false, ..) => Err(Refusal::FreeWithEqualities),
            (true, false, 0, _) => {
                Ok((e, format!("Theorem 2 (bounds alone, whose rows are orthogonal): β = E = {e:.4}")))
            }
            (true, true, 0, false) => {
                Ok(by_angle(e, power, a, "Theorem 3", "Corollary 4", "Ax ≤ b and x ≥ 0"))
            }
            (true, false, 1, _) => {
                let what = "one equality and a box";
                Ok(by_angle(e, power, b, "Theorem 5", "Theorem 5 with Corollary 4", what))
            }
            _ => {
                let lambda = lambda_max(problem).ok_or(Refusal::Singular)?;
                let beta = (n as f64).sqrt() * lambda * e;
                Ok((
                    beta,
                    format!(
                        "Theorem 6 (general A, B ≥ 0): β = √n·λ_max·E = {beta:.4e}, λ_max = 1/σ_min² = {lambda:.4e} \
                         over {SAMPLES} sampled sets of n unit rows, E = {e:.4}"
                    ),
                ))
            }
        }
    };
    let (beta, explanation) = covered().map_err(MultiplierError::NotCovered)?;
    let shape = problem.shape();
    let beta = if beta > 0.0 { beta } else { 1.0 };
    let mut values: Vec<f64> = row_norms(problem).iter().map(|norm| beta / norm).collect();
    values[..shape.soft].fill(1.0);
    Ok((
        RowValues::from_stacked(shape, &values),
        format!("theory rule: {explanation}; divided by each row's norm"),
    ))
}

/// n^1.5·E/sin p, and n^1.5·E for 0/1 rows. sin p is the smallest non-zero entry of the unit rows: the sine of the
/// smallest angle between an axis and a hyperplane that meets it.
fn by_angle(e: f64, power: f64, rows: &HardRows, general: &str, binary: &str, what: &str) -> (f64, String) {
    if rows.rows.as_slice().iter().all(|a| *a == 0.0 || *a == 1.0) {
        let beta = power * e;
        return (beta, format!("{binary} ({what}, 0/1 rows): β = n^1.5·E = {beta:.4e}, E = {e:.4}"));
    }
    let mut sine = 1.0_f64;
    for i in 0..rows.rows.rows() {
        let row = rows.rows.row(i);
        let norm = row.iter().map(|a| a * a).sum::<f64>().sqrt();
        sine = row.iter().filter(|a| **a > 0.0).fold(sine, |s, a| s.min(a / norm));
    }
    let beta = power * e / sine;
    (beta, format!("{general} ({what}): β = n^1.5·E/sin p = {beta:.4e}, sin p = {sine:.4e}, E = {e:.4}"))
}

/// A ≥ 0 and b ≥ 0 after moving the lower bounds to 0.
fn nonnegative(what: &'static str, rows: &HardRows, lower: &[f64]) -> Result<(), Refusal> {
    for i in 0..rows.rows.rows() {
        let row = rows.rows.row(i);
        if let Some(&value) = row.iter().find(|a| **a < 0.0) {
            return Err(Refusal::NegativeCoefficient { what, row: i, value });
        }
        let shift: f64 = row.iter().zip(lower).filter(|(_, l)| l.is_finite()).map(|(a, l)| a * l).sum();
        let value = rows.rhs[i] - shift;
        if value < 0.0 {
            return Err(Refusal::NegativeLimit { what, row: i, value });
        }
    }
    Ok(())
}

/// E = ‖θ‖ + ‖Cᵀα‖ + 2‖Q‖·radius, the larger side of two-sided rows counted.
fn gradient_bound(problem: &Problem, instances: &[Instance<'_>]) -> Result<f64, Refusal> {
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let soft = problem.soft();
    let n = problem.n();
    let pull = |prices: &[f64]| {
        let mut out = vec![0.0; n];
        for (k, price) in prices.iter().enumerate() {
            out.iter_mut().zip(soft.C.row(k)).for_each(|(o, c)| *o += price * c);
        }
        norm(&out)
    };
    let mut e = largest_theta(problem, instances, norm) + pull(&soft.alpha).max(pull(&soft.under));
    if let Some(q) = problem.Q() {
        let spectral = linalg::singular_values(q.as_slice(), n, n).first().copied().unwrap_or(0.0);
        e += 2.0 * spectral * radius(problem)?;
    }
    Ok(e)
}

/// A bound on ‖x‖ over the feasible set, from what each row allows each variable alone.
fn radius(problem: &Problem) -> Result<f64, Refusal> {
    let mut sum = 0.0;
    for j in 0..problem.n() {
        let lower = problem.lower()[j];
        let mut reach = problem.upper()[j] - lower;
        for rows in [problem.at_most(), problem.equal()] {
            for i in 0..rows.rhs.len() {
                let row = rows.rows.row(i);
                if row[j] > 0.0 {
                    let base: f64 = row.iter().zip(problem.lower()).map(|(a, l)| a * l).sum();
                    reach = reach.min((rows.rhs[i] - base) / row[j]);
                }
            }
        }
        if !reach.is_finite() {
            return Err(Refusal::NoRadius);
        }
        let far = lower.abs().max((lower + reach).abs());
        sum += far * far;
    }
    Ok(sum.sqrt())
}

/// λ_max of Theorem 6: the largest eigenvalue of PᵀP, where P orthonormalises n unit rows, is 1/σ_min² of those rows;
/// the largest over sampled sets. `None` if every sampled set is singular.
fn lambda_max(problem: &Problem) -> Option<f64> {
    let n = problem.n();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for block in [problem.at_most(), problem.equal()] {
        for i in 0..block.rhs.len() {
            let row = block.rows.row(i);
            let norm = row.iter().map(|a| a * a).sum::<f64>().sqrt();
            if norm > 0.0 {
                rows.push(row.iter().map(|a| a / norm).collect());
            }
        }
    }
    rows.extend((0..n).map(|j| (0..n).map(|k| if j == k { -1.0 } else { 0.0 }).collect()));
    let mut pick: Vec<usize> = (0..rows.len()).collect();
    // A fixed linear congruential sequence: the estimate is the same on every machine.
    let mut seed = 0x5eed_u64;
    let mut largest = None;
    for _ in 0..SAMPLES {
        for i in 0..n {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let j = i + (seed >> 33) as usize % (rows.len() - i);
            pick.swap(i, j);
        }
        let set: Vec<f64> = pick[..n].iter().flat_map(|&i| rows[i].iter().copied()).collect();
        let smallest = linalg::singular_values(&set, n, n).last().copied().unwrap_or(0.0);
        if smallest > 1e-10 {
            let lambda = 1.0 / (smallest * smallest);
            largest = Some(largest.map_or(lambda, |l: f64| l.max(lambda)));
        }
    }
    largest
}
