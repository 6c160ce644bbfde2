//! What a flat prediction vector holds: which entries of which parameters.

use std::ops::Range;

use crate::gradient::Gradients;
use crate::problem::parameter::{Parameter, Parameters};
use crate::problem::{Instance, Problem, ProblemError};

/// A run of entries of one kind, within all stacked entries of that kind (see [`Parameter::of`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind.
    pub parameter: Parameter,
    /// The entries.
    pub range: Range<usize>,
}

/// Which entries of which parameters a prediction holds, in order.
///
/// ```
/// use regretless_core::{Layout, Matrix, Parameter, Part, Problem, Soft};
/// let problem = Problem::maximize(2)
///     .soft("water", Soft::over(Matrix::from_rows(&[[2.0, 1.0], [0.0, 1.0]]), [10.0, 4.0], [0.5, 0.5]))
///     .build()?;
/// // θ and the second limit are predicted; the first limit is known.
/// let layout = Layout::new(vec![
///     Part { parameter: Parameter::Linear, range: 0..2 },
///     Part { parameter: Parameter::Limit, range: 1..2 },
/// ]);
/// layout.check(&problem)?;
/// let parameters = layout.parameters(&problem, &[3.0, 2.0, 5.0]);
/// assert_eq!(parameters.get(Parameter::Limit), Some(&[10.0, 5.0][..]));
/// assert_eq!(layout.read(&problem, &parameters), [3.0, 2.0, 5.0]);
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    parts: Vec<Part>,
    width: usize,
}

impl Layout {
    /// A layout of the given parts; [`Layout::check`] says whether they fit a problem.
    pub fn new(parts: Vec<Part>) -> Self {
        let width = parts.iter().map(|p| p.range.len()).sum();
        Self { parts, width }
    }

    /// All of θ and nothing else: the commonest.
    pub fn theta(n: usize) -> Self {
        Self::new(vec![Part { parameter: Parameter::Linear, range: 0..n }])
    }

    /// All entries of the given kinds that `problem` has.
    pub fn whole(problem: &Problem, parameters: &[Parameter]) -> Self {
        let part = |&parameter: &Parameter| Part { parameter, range: 0..parameter.entries(problem) };
        Self::new(parameters.iter().map(part).collect())
    }

    /// Entries of a prediction.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// True if a part holds entries of this kind.
    pub fn predicts(&self, parameter: Parameter) -> bool {
        self.parts.iter().any(|p| p.parameter == parameter && !p.range.is_empty())
    }

    /// True if nothing but θ is predicted.
    pub fn is_theta_only(&self) -> bool {
        self.parts.iter().all(|p| p.parameter == Parameter::Linear)
    }

    /// Refuses parts that lie outside what the problem has, overlap, or hold nothing at all.
    pub fn check(&self, problem: &Problem) -> Result<(), ProblemError> {
        let mut seen: Vec<&Part> = Vec::new();
        for part in &self.parts {
            let what = || format!("predicted part of {}", part.parameter.symbol());
            let expected = part.parameter.entries(problem);
            if expected == 0 {
                return Err(ProblemError::NothingToOverride { what: what() });
            }
            if part.range.end > expected || part.range.start > part.range.end {
                return Err(ProblemError::Length { what: what(), expected, found: part.range.end });
            }
            let meets = |other: &&&Part| {
                other.parameter == part.parameter
                    && other.range.start < part.range.end
                    && part.range.start < other.range.end
            };
            if seen.iter().any(|other| meets(&other)) {
                return Err(ProblemError::DuplicateName {
                    what: "predicted entries",
                    name: part.parameter.symbol().into(),
                });
            }
            seen.push(part);
        }
        if self.width == 0 {
            return Err(ProblemError::Length { what: "prediction".into(), expected: 1, found: 0 });
        }
        Ok(())
    }

    /// The parameters of one instance: what is not predicted keeps the problem's value.
    ///
    /// # Panics
    /// If `flat` does not have [`Layout::width`] entries, or the layout does not fit the problem.
    pub fn parameters(&self, problem: &Problem, flat: &[f64]) -> Parameters {
        assert_eq!(flat.len(), self.width, "one value for each predicted entry");
        let mut out = Parameters::default();
        for (part, values) in self.split(flat) {
            if values.len() == part.parameter.entries(problem) {
                out.set(part.parameter, values.to_vec());
                continue;
            }
            out.get_mut(part.parameter, problem)[part.range.clone()].copy_from_slice(values);
        }
        out
    }

    /// The inverse of [`Layout::parameters`]: the predicted entries of one instance.
    pub fn read(&self, problem: &Problem, parameters: &Parameters) -> Vec<f64> {
        let mut flat = Vec::with_capacity(self.width);
        for Part { parameter, range } in &self.parts {
            match parameters.get(*parameter).unwrap_or(parameter.of(problem)) {
                // An LP's Q is one of zeros.
                [] => flat.resize(flat.len() + range.len(), 0.0),
                values => flat.extend_from_slice(&values[range.clone()]),
            }
        }
        flat
    }

    /// Picks the predicted entries out of gradients in every parameter.
    ///
    /// # Panics
    /// If `out` does not have [`Layout::width`] entries, or the gradients lack a predicted kind.
    pub fn gather(&self, gradients: &Gradients, out: &mut [f64]) {
        assert_eq!(out.len(), self.width, "one place for each predicted entry");
        let mut at = 0;
        for part in &self.parts {
            let len = part.range.len();
            out[at..at + len].copy_from_slice(&gradients.of(part.parameter)[part.range.clone()]);
            at += len;
        }
    }

    /// The instance of one prediction, without copying where the prediction is θ itself.
    pub(crate) fn values<'a>(&self, problem: &Problem, flat: &'a [f64]) -> Values<'a> {
        if self.is_theta_only() && self.parts.len() == 1 && self.width == problem.n() {
            return Values::Theta(flat);
        }
        Values::Owned(Box::new(self.parameters(problem, flat)))
    }

    /// The parts with their entries of a flat vector.
    pub(crate) fn split<'a>(&'a self, flat: &'a [f64]) -> impl Iterator<Item = (&'a Part, &'a [f64])> {
        let mut at = 0;
        self.parts.iter().map(move |part| {
            at += part.range.len();
            (part, &flat[at - part.range.len()..at])
        })
    }
}

/// The parameters of one instance, borrowed where they can be.
pub(crate) enum Values<'a> {
    /// θ alone, all of it.
    Theta(&'a [f64]),
    /// Anything else.
    Owned(Box<Parameters>),
}

impl Values<'_> {
    pub(crate) fn instance(&self) -> Instance<'_> {
        match self {
            Self::Theta(theta) => Instance::theta(theta),
            Self::Owned(parameters) => parameters.instance(),
        }
    }
}
