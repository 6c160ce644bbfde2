//! The paper's theorems, each for the structure it is proved for.
//!
//! All bounds are for unit rows (so β is divided by the row's norm) and take the O-constant as 1. E bounds the gradient
//! of the whole objective: ‖θ‖ + ‖Cᵀα‖ + 2‖Q‖·radius.

use thiserror::Error;

use super::{MultiplierError, norm, smallest_norms};
use crate::engine::tolerance::SINGULAR_ROWS;
use crate::linalg::dense;
use crate::problem::{CoefficientsRef, Row, RowValues, View};

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
    /// More variables than dense singular values are for.
    #[error(
        "there are {n} variables, and this bound needs singular values of dense {n} × {n} matrices, which are for up to {MOST}; \
         the rule `dual` takes any number"
    )]
    TooLarge {
        /// Variables.
        n: usize,
    },
}

/// The most variables of a bound by dense singular values: some hundred matrices take minutes beyond.
const MOST: usize = 1000;

/// Number of n-row subsets sampled for Theorem 6, over all instances.
const SAMPLES: usize = 200;

/// Picks the theorem by structure; the worst of the instances decides where their rows differ.
pub(super) fn choose(views: &[View<'_>]) -> Result<(RowValues, String), MultiplierError> {
    let (beta, explanation) = bound(views).map_err(MultiplierError::NotCovered)?;
    let beta = if beta > 0.0 { beta } else { 1.0 };
    let shape = views[0].shape;
    let mut values: Vec<f64> = smallest_norms(views).iter().map(|norm| beta / norm).collect();
    values[..shape.soft].fill(1.0);
    Ok((
        RowValues::from_stacked(shape, &values),
        format!("theory rule: {explanation}; divided by each row's norm"),
    ))
}

fn bound(views: &[View<'_>]) -> Result<(f64, String), Refusal> {
    let first = &views[0];
    let n = first.shape.n;
    let free = |v: &View<'_>| v.lower.iter().all(|l| l.is_infinite());
    for view in views {
        if !free(view) && view.lower.iter().any(|l| l.is_infinite()) {
            return Err(Refusal::MixedBounds);
        }
        let [_, at_most, equal] = view.rows();
        nonnegative("A", at_most, view.lower)?;
        nonnegative("B", equal, view.lower)?;
    }
    let mut e = 0.0_f64;
    for view in views {
        e = e.max(gradient_bound(view)?);
    }
    let power = (n as f64).powf(1.5);
    let bounded = !views.iter().any(free);
    let boxed = views.iter().any(|v| v.upper.iter().any(|u| u.is_finite()));
    match (bounded, !first.b.is_empty(), first.c.len(), boxed) {
        (false, _, 0, false) => Ok((e, format!("Theorem 2 (Ax ≤ b alone): β = E = {e:.4}"))),
        (false, ..) => Err(Refusal::FreeWithEqualities),
        (true, false, 0, _) => {
            Ok((e, format!("Theorem 2 (bounds alone, whose rows are orthogonal): β = E = {e:.4}")))
        }
        (true, true, 0, false) => {
            let rows = views.iter().flat_map(|v| v.rows()[1].0.iter());
            Ok(by_angle(e, power, rows, ["Theorem 3", "Corollary 4", "Ax ≤ b and x ≥ 0"]))
        }
        (true, false, 1, _) => {
            let rows = views.iter().flat_map(|v| v.rows()[2].0.iter());
            Ok(by_angle(
                e,
                power,
                rows,
                ["Theorem 5", "Theorem 5 with Corollary 4", "one equality and a box"],
            ))
        }
        _ => {
            few(n)?;
            let lambda = lambda_max(views).ok_or(Refusal::Singular)?;
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
}

/// n^1.5·E/sin p, and n^1.5·E for 0/1 rows. sin p is the smallest non-zero entry of the unit rows: the sine of the
/// smallest angle between an axis and a hyperplane that meets it. `names`: the theorem, its 0/1 form, the structure.
fn by_angle<'a>(
    e: f64,
    power: f64,
    rows: impl Iterator<Item = Row<'a>> + Clone,
    names: [&str; 3],
) -> (f64, String) {
    let [general, binary, what] = names;
    if rows.clone().flat_map(|row| row.values()).all(|a| *a == 0.0 || *a == 1.0) {
        let beta = power * e;
        return (beta, format!("{binary} ({what}, 0/1 rows): β = n^1.5·E = {beta:.4e}, E = {e:.4}"));
    }
    let mut sine = 1.0_f64;
    for row in rows {
        let norm = norm(row.values());
        sine = row.values().iter().filter(|a| **a > 0.0).fold(sine, |s, a| s.min(a / norm));
    }
    let beta = power * e / sine;
    (beta, format!("{general} ({what}): β = n^1.5·E/sin p = {beta:.4e}, sin p = {sine:.4e}, E = {e:.4}"))
}

/// A ≥ 0 and b ≥ 0 after moving the lower bounds to 0.
fn nonnegative(
    what: &'static str,
    (rows, rhs): (CoefficientsRef<'_>, &[f64]),
    lower: &[f64],
) -> Result<(), Refusal> {
    for (i, (row, rhs)) in rows.iter().zip(rhs).enumerate() {
        if let Some(&value) = row.values().iter().find(|a| **a < 0.0) {
            return Err(Refusal::NegativeCoefficient { what, row: i, value });
        }
        let shift: f64 = row.iter().filter(|(j, _)| lower[*j].is_finite()).map(|(j, a)| a * lower[j]).sum();
        if rhs - shift < 0.0 {
            return Err(Refusal::NegativeLimit { what, row: i, value: rhs - shift });
        }
    }
    Ok(())
}

/// E = ‖θ‖ + ‖Cᵀα‖ + 2‖Q‖·radius, the larger side of two-sided rows counted.
fn gradient_bound(view: &View<'_>) -> Result<f64, Refusal> {
    let n = view.shape.n;
    let pull = |prices: &[f64]| {
        let mut out = vec![0.0; n];
        let [(soft, _), ..] = view.rows();
        soft.iter().zip(prices).for_each(|(row, price)| row.add_to(*price, &mut out));
        norm(&out)
    };
    let mut e = norm(view.theta) + pull(view.alpha).max(pull(view.under));
    if let Some(q) = view.quadratic() {
        few(n)?;
        let spectral = dense::singular_values(&q.dense(), n, n).first().copied().unwrap_or(0.0);
        if spectral > 0.0 {
            e += 2.0 * spectral * radius(view)?;
        }
    }
    Ok(e)
}

/// Refuses what dense singular values are not for.
fn few(n: usize) -> Result<(), Refusal> {
    if n > MOST { Err(Refusal::TooLarge { n }) } else { Ok(()) }
}

/// A bound on ‖x‖ over the feasible set, from what each row allows each variable alone.
fn radius(view: &View<'_>) -> Result<f64, Refusal> {
    let mut reaches: Vec<f64> = view.upper.iter().zip(view.lower).map(|(u, l)| u - l).collect();
    let [_, at_most, equal] = view.rows();
    for (row, rhs) in [at_most, equal].into_iter().flat_map(|(rows, rhs)| rows.iter().zip(rhs)) {
        let base: f64 = row.iter().map(|(j, a)| a * view.lower[j]).sum();
        for (j, a) in row.iter().filter(|(_, a)| *a > 0.0) {
            reaches[j] = reaches[j].min((rhs - base) / a);
        }
    }
    let mut sum = 0.0;
    for (lower, reach) in view.lower.iter().zip(reaches) {
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
fn lambda_max(views: &[View<'_>]) -> Option<f64> {
    let n = views[0].shape.n;
    // A fixed linear congruential sequence: the estimate is the same on every machine.
    let mut seed = 0x5eed_u64;
    let mut largest = None;
    for view in views {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let [_, at_most, equal] = view.rows();
        for row in [at_most, equal].into_iter().flat_map(|(rows, _)| rows.iter()) {
            let norm = norm(row.values());
            if norm > 0.0 {
                rows.push(row.to_vec(n).iter().map(|a| a / norm).collect());
            }
        }
        rows.extend((0..n).map(|j| (0..n).map(|k| if j == k { -1.0 } else { 0.0 }).collect()));
        let mut pick: Vec<usize> = (0..rows.len()).collect();
        for _ in 0..SAMPLES.div_ceil(views.len()) {
            for i in 0..n {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let j = i + (seed >> 33) as usize % (rows.len() - i);
                pick.swap(i, j);
            }
            let set: Vec<f64> = pick[..n].iter().flat_map(|&i| rows[i].iter().copied()).collect();
            let smallest = dense::singular_values(&set, n, n).last().copied().unwrap_or(0.0);
            if smallest > SINGULAR_ROWS {
                let lambda = 1.0 / (smallest * smallest);
                largest = Some(largest.map_or(lambda, |l: f64| l.max(lambda)));
            }
        }
    }
    largest
}
