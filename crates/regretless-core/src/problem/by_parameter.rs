//! Something for each parameter, under the names of the mathematics.

use super::parameter::Parameter;

/// One `T` for each kind of parameter; all blocks of a kind are stacked, and flat matrices have their values in pattern
/// order (see [`Pattern`](super::Pattern)).
///
/// ```
/// use regretless_core::problem::ByParameter;
/// use regretless_core::Parameter;
/// let mut names = ByParameter::from_fn(Parameter::symbol);
/// assert_eq!((names.theta, *names.get(Parameter::Over)), ("theta", "alpha"));
/// *names.get_mut(Parameter::Limit) = "limit";
/// assert_eq!(names.d, "limit");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(non_snake_case)]
pub struct ByParameter<T> {
    /// Linear term, n.
    pub theta: T,
    /// Quadratic term.
    pub Q: T,
    /// Coefficients of all soft rows.
    pub C: T,
    /// Limits of all soft rows.
    pub d: T,
    /// Price above the limit of all soft rows.
    pub alpha: T,
    /// Price below the limit of all soft rows.
    pub under: T,
    /// Coefficients of all rows of `Ax ≤ b`.
    pub A: T,
    /// Right-hand side of `Ax ≤ b`.
    pub b: T,
    /// Coefficients of all rows of `Bx = c`.
    pub B: T,
    /// Right-hand side of `Bx = c`.
    pub c: T,
    /// Lower bounds.
    pub lower: T,
    /// Upper bounds.
    pub upper: T,
}

impl<T> ByParameter<T> {
    /// What `of` gives for each kind.
    #[inline]
    pub fn from_fn(mut of: impl FnMut(Parameter) -> T) -> Self {
        Self {
            theta: of(Parameter::Linear),
            Q: of(Parameter::Quadratic),
            C: of(Parameter::SoftRows),
            d: of(Parameter::Limit),
            alpha: of(Parameter::Over),
            under: of(Parameter::Under),
            A: of(Parameter::AtMostRows),
            b: of(Parameter::AtMost),
            B: of(Parameter::EqualRows),
            c: of(Parameter::Equals),
            lower: of(Parameter::Lower),
            upper: of(Parameter::Upper),
        }
    }

    /// That of one kind.
    #[inline]
    pub fn get(&self, parameter: Parameter) -> &T {
        match parameter {
            Parameter::Linear => &self.theta,
            Parameter::Quadratic => &self.Q,
            Parameter::SoftRows => &self.C,
            Parameter::Limit => &self.d,
            Parameter::Over => &self.alpha,
            Parameter::Under => &self.under,
            Parameter::AtMostRows => &self.A,
            Parameter::AtMost => &self.b,
            Parameter::EqualRows => &self.B,
            Parameter::Equals => &self.c,
            Parameter::Lower => &self.lower,
            Parameter::Upper => &self.upper,
        }
    }

    /// That of one kind, to change.
    pub fn get_mut(&mut self, parameter: Parameter) -> &mut T {
        match parameter {
            Parameter::Linear => &mut self.theta,
            Parameter::Quadratic => &mut self.Q,
            Parameter::SoftRows => &mut self.C,
            Parameter::Limit => &mut self.d,
            Parameter::Over => &mut self.alpha,
            Parameter::Under => &mut self.under,
            Parameter::AtMostRows => &mut self.A,
            Parameter::AtMost => &mut self.b,
            Parameter::EqualRows => &mut self.B,
            Parameter::Equals => &mut self.c,
            Parameter::Lower => &mut self.lower,
            Parameter::Upper => &mut self.upper,
        }
    }
}
