//! How much a unit of violation of a hard row must cost, so that softening changes nothing.
//!
//! A hard row is a row whose multiplier has no cap; softened, its multiplier is capped at its penalty β. The softened
//! problem has the original's optimum as soon as every β exceeds the row's optimal multiplier. The rules differ in how
//! they bound that multiplier; each returns a [`Certificate`] that says how well its choice held.

mod certificate;
mod dual;
mod empirical;
mod theory;

pub use certificate::Certificate;
pub use theory::Refusal;

use thiserror::Error;

use crate::problem::{Instance, Problem, ProblemError, RowId, RowValues, View};

/// A rule that chooses the penalties of hard rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// The paper's bounds, picked by the structure of the problem. Refuses structures that no theorem covers.
    Theory,
    /// The paper's rule of thumb: `factor · max|θ|`, times √n if asked, doubled until the certificate holds.
    Empirical {
        /// Constant.
        factor: f64,
        /// Whether √n is a factor too.
        sqrt_n: bool,
    },
    /// Ours: `factor` times the largest multiplier that each row has at the exact optima of the instances, with the
    /// median over hard rows as a floor.
    Dual {
        /// Safety factor.
        factor: f64,
    },
    /// One value for every hard row and bound.
    Constant(f64),
    /// A value for every hard row and bound; the soft entries are not looked at.
    PerRow(RowValues),
}

impl Default for Rule {
    fn default() -> Self {
        Rule::Dual { factor: 4.0 }
    }
}

/// Why a rule gave no multipliers.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MultiplierError {
    /// Bad input.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// No theorem covers the problem.
    #[error("the `theory` rule does not cover this problem: {0}; use `dual`, which needs no assumption")]
    NotCovered(Refusal),
    /// Nothing to learn multipliers from.
    #[error(
        "none of the {0} instances has an optimum, so there are no multipliers to learn from: check feasibility"
    )]
    NoOptimum(usize),
    /// No instances at all.
    #[error("the rule needs at least one instance")]
    NoInstances,
}

/// Penalties of hard rows, with their reason and how well they held.
///
/// ```
/// use regretless_core::{Instance, Matrix, Multipliers, Problem, Rule};
/// let problem = Problem::maximize(2)
///     .linear([1.0, 1.0])
///     .at_most("cap", Matrix::from_rows(&[[1.0, -0.5]]), [1.0])
///     .upper([3.0, 3.0])
///     .build()?;
/// let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()])?;
/// assert!(multipliers.certificate.holds());
/// // Negative coefficients are outside the paper's theorems, and the rule says so.
/// assert!(Multipliers::choose(&problem, &Rule::Theory, &[Instance::default()]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Multipliers {
    /// The penalties; soft entries are 1 and not looked at.
    pub values: RowValues,
    /// Which rule, which theorem, which numbers, in a sentence or two.
    pub explanation: String,
    /// How the softened problem behaved on the instances given.
    pub certificate: Certificate,
    /// Rows raised since, in order, each with its new value.
    pub raised: Vec<(RowId, f64)>,
}

impl Multipliers {
    /// Applies a rule to a problem; the instances are those the multipliers have to be good for.
    pub fn choose(
        problem: &Problem,
        rule: &Rule,
        instances: &[Instance<'_>],
    ) -> Result<Self, MultiplierError> {
        if instances.is_empty() {
            return Err(MultiplierError::NoInstances);
        }
        let views: Vec<View<'_>> = instances.iter().map(|i| problem.view(i)).collect::<Result<_, _>>()?;
        let (values, explanation) = match rule {
            Rule::Theory => theory::choose(&views)?,
            Rule::Empirical { factor, sqrt_n } => {
                empirical::choose(problem, *factor, *sqrt_n, instances, &views)?
            }
            Rule::Dual { factor } => dual::choose(problem, *factor, instances, &views)?,
            Rule::Constant(value) => {
                positive(*value)?;
                let values = RowValues::constant(problem.shape(), *value);
                (values, format!("{value} on every hard row and bound, as given"))
            }
            Rule::PerRow(values) => {
                let mut values = values.clone();
                values.soft = vec![1.0; problem.shape().soft];
                let stacked = values.checked("multiplier", problem.shape())?.stacked();
                stacked.iter().try_for_each(|v| positive(*v))?;
                (values, "one value for each hard row and bound, as given".into())
            }
        };
        let certificate = Certificate::of(problem, &values, instances);
        Ok(Self { values, explanation, certificate, raised: Vec::new() })
    }

    /// Penalties as they are, one for each row and bound, with nothing tried: the certificate is about no instance.
    pub fn given(values: RowValues) -> Self {
        let certificate = Certificate::untried();
        Self { values, explanation: "as given".into(), certificate, raised: Vec::new() }
    }

    /// Doubles the penalties of the given hard rows, and records it.
    pub fn raise(&mut self, rows: &[RowId]) {
        for &row in rows.iter().filter(|row| !matches!(row, RowId::Soft(_))) {
            let Some(value) = self.values.get_mut(row) else { continue };
            *value *= 2.0;
            self.raised.push((row, *value));
        }
    }
}

fn positive(value: f64) -> Result<(), ProblemError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(ProblemError::Setting {
        what: "multiplier".into(),
        value,
        expected: "a positive finite number is needed",
    })
}

/// max |θ| over the instances.
fn largest_theta(views: &[View<'_>]) -> f64 {
    views.iter().flat_map(|v| v.theta).fold(0.0, |m, t| m.max(t.abs()))
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The smallest norm each stacked row has over the instances; 1 for zero rows and bounds.
fn smallest_norms(views: &[View<'_>]) -> Vec<f64> {
    let shape = views[0].shape;
    let mut smallest = vec![f64::INFINITY; shape.general()];
    for view in views {
        let rows = view.rows().into_iter().flat_map(|(m, _)| m.iter());
        for (s, row) in smallest.iter_mut().zip(rows) {
            let norm = norm(row.values());
            *s = s.min(if norm > 0.0 { norm } else { 1.0 });
        }
    }
    smallest.resize(shape.rows(), 1.0);
    smallest
}
