//! The parameters of a problem that can be predicted, and the values of one instance.

use super::{ByParameter, Instance, Pattern, Problem};

/// A kind of parameter; blocks of one kind are stacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parameter {
    /// θ, the linear term.
    Linear,
    /// Q, the quadratic term.
    Quadratic,
    /// C, the coefficients of soft rows.
    SoftRows,
    /// d, the limits of soft rows.
    Limit,
    /// α, the prices above the limits.
    Over,
    /// α₂, the prices below the limits.
    Under,
    /// A of `Ax ≤ b`.
    AtMostRows,
    /// b of `Ax ≤ b`.
    AtMost,
    /// B of `Bx = c`.
    EqualRows,
    /// c of `Bx = c`.
    Equals,
    /// Lower bounds.
    Lower,
    /// Upper bounds.
    Upper,
}

/// What a parameter is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// θ and Q, in which the objective is linear: of a distribution only the mean matters.
    Objective,
    /// Soft rows and their prices.
    Soft,
    /// Hard rows and bounds: what is feasible depends on them.
    Hard,
}

impl Parameter {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Linear,
        Self::Quadratic,
        Self::SoftRows,
        Self::Limit,
        Self::Over,
        Self::Under,
        Self::AtMostRows,
        Self::AtMost,
        Self::EqualRows,
        Self::Equals,
        Self::Lower,
        Self::Upper,
    ];

    /// What it is a part of.
    pub fn role(self) -> Role {
        match self {
            Self::Linear | Self::Quadratic => Role::Objective,
            Self::SoftRows | Self::Limit | Self::Over | Self::Under => Role::Soft,
            Self::AtMostRows | Self::AtMost | Self::EqualRows | Self::Equals | Self::Lower | Self::Upper => {
                Role::Hard
            }
        }
    }

    /// What the mathematics of the docs calls it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Linear => "theta",
            Self::Quadratic => "Q",
            Self::SoftRows => "C",
            Self::Limit => "d",
            Self::Over => "alpha",
            Self::Under => "under",
            Self::AtMostRows => "A",
            Self::AtMost => "b",
            Self::EqualRows => "B",
            Self::Equals => "c",
            Self::Lower => "lower",
            Self::Upper => "upper",
        }
    }

    /// The values that `problem` states for it, stacked over all blocks; empty if the problem has none.
    ///
    /// ```
    /// use regretless_core::{Parameter, Problem};
    /// let problem = Problem::maximize(2).linear([3.0, 2.0]).build()?;
    /// assert_eq!(Parameter::Linear.of(&problem), [3.0, 2.0]);
    /// assert!(Parameter::SoftRows.of(&problem).is_empty());
    /// # Ok::<(), regretless_core::ProblemError>(())
    /// ```
    #[inline]
    pub fn of(self, problem: &Problem) -> &[f64] {
        let (soft, at_most, equal) = (problem.soft(), problem.at_most(), problem.equal());
        match self {
            Self::Linear => problem.theta(),
            Self::Quadratic => problem.Q().map_or(&[], |q| q.as_slice()),
            Self::SoftRows => soft.C.as_slice(),
            Self::Limit => &soft.d,
            Self::Over => &soft.alpha,
            Self::Under => &soft.under,
            Self::AtMostRows => at_most.rows.as_slice(),
            Self::AtMost => &at_most.rhs,
            Self::EqualRows => equal.rows.as_slice(),
            Self::Equals => &equal.rhs,
            Self::Lower => problem.lower(),
            Self::Upper => problem.upper(),
        }
    }

    /// The pattern of a matrix; `None` for a vector. An LP has room for a Q that instances bring.
    pub fn pattern(self, problem: &Problem) -> Option<&Pattern> {
        match self {
            Self::Quadratic => Some(problem.quadratic_pattern()),
            Self::SoftRows => Some(problem.soft().C.pattern()),
            Self::AtMostRows => Some(problem.at_most().rows.pattern()),
            Self::EqualRows => Some(problem.equal().rows.pattern()),
            _ => None,
        }
    }

    /// How many values an instance has for it.
    pub fn entries(self, problem: &Problem) -> usize {
        self.pattern(problem).map_or_else(|| self.of(problem).len(), Pattern::entries)
    }
}

/// The parameters of one instance: what is not set keeps the problem's value.
///
/// ```
/// use regretless_core::{Parameter, Parameters, Problem};
/// let mut parameters = Parameters::default();
/// parameters.set(Parameter::Linear, vec![1.0, 2.0]);
/// let problem = Problem::maximize(2).build()?;
/// let view = problem.view(&parameters.instance())?;
/// assert_eq!(view.theta, [1.0, 2.0]);
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    values: ByParameter<Option<Vec<f64>>>,
}

impl Parameters {
    /// The values of one kind, stacked over all blocks, if they are set.
    pub fn get(&self, parameter: Parameter) -> Option<&[f64]> {
        self.values.get(parameter).as_deref()
    }

    /// Sets the values of one kind, stacked over all blocks.
    pub fn set(&mut self, parameter: Parameter, values: Vec<f64>) {
        *self.values.get_mut(parameter) = Some(values);
    }

    /// The values of one kind, to change; first taken from `problem` if they are not set.
    pub fn get_mut(&mut self, parameter: Parameter, problem: &Problem) -> &mut [f64] {
        let own = || {
            let mut values = parameter.of(problem).to_vec();
            // An LP's Q is one of zeros.
            values.resize(parameter.entries(problem), 0.0);
            values
        };
        self.values.get_mut(parameter).get_or_insert_with(own)
    }

    /// The form that the engine takes.
    pub fn instance(&self) -> Instance<'_> {
        Instance::from_fn(|parameter| self.get(parameter))
    }
}
