//! From quantities to coefficients: the numbers that are predicted, and those that are known by row, at their places.
//!
//! ```text
//! coefficient e = Σ over its terms of  factor · (1 or κ_b) · (1, q_j or κ_l)        q predicted, κ known by row
//! ```
//!
//! A factor is fixed or known by row, never predicted: every coefficient is affine in what is predicted. One quantity may feed
//! several coefficients (it is *tied*), and a coefficient may have several terms. Coefficients without a term keep the problem's
//! value. Gradients go back through the transpose: a quantity's is the sum over its places.
//!
//! Guards after placement, the same for predictions and truths: a price below 0 is 0 and passes no gradient on, and Q is a sum of
//! positive semidefinite matrices with weights that are 0 where they come out negative ([`super::curvature`]). That l ≤ u is
//! checked with the instance.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use crate::gradient::Gradients;
use crate::predict::curvature::Curvature;
use crate::problem::parameter::{Parameter, Parameters, Role};
use crate::problem::{Instance, Problem, ProblemError};

/// What a term is a multiple of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Nothing: the term is a constant.
    One,
    /// The predicted quantity of this number.
    Predicted(usize),
    /// The known number of this number.
    Known(usize),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("1"),
            Self::Predicted(j) => write!(f, "quantity {j}"),
            Self::Known(l) => write!(f, "known number {l}"),
        }
    }
}

/// One summand of a coefficient.
///
/// ```
/// use regretless_core::{Parameter, Source, Term};
/// // A limit of 5 − 2κ₀q₁.
/// let limit = Term::predicted(Parameter::Limit, 0, 1).times(-2.0).by(0);
/// assert_eq!((limit.source, limit.factor, limit.by), (Source::Predicted(1), -2.0, Some(0)));
/// assert_eq!(Term::fixed(Parameter::Limit, 0, 5.0).source, Source::One);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The kind of the coefficient.
    pub parameter: Parameter,
    /// Which one, among all stacked entries of that kind (see [`Parameter::of`]).
    pub entry: usize,
    /// A fixed factor.
    pub factor: f64,
    /// A factor that is known by row: the known number of this number.
    pub by: Option<usize>,
    /// What it is a multiple of.
    pub source: Source,
}

impl Term {
    /// A predicted quantity as it is.
    pub fn predicted(parameter: Parameter, entry: usize, quantity: usize) -> Self {
        Self { parameter, entry, factor: 1.0, by: None, source: Source::Predicted(quantity) }
    }

    /// A known number as it is.
    pub fn known(parameter: Parameter, entry: usize, number: usize) -> Self {
        Self { parameter, entry, factor: 1.0, by: None, source: Source::Known(number) }
    }

    /// A constant: the shift of what else is placed there.
    pub fn fixed(parameter: Parameter, entry: usize, value: f64) -> Self {
        Self { parameter, entry, factor: value, by: None, source: Source::One }
    }

    /// The term times a constant.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { factor: self.factor * factor, ..self }
    }

    /// The term times a known number.
    #[must_use]
    pub fn by(self, number: usize) -> Self {
        Self { by: Some(number), ..self }
    }

    /// What the quantity is multiplied with in a row.
    pub(super) fn slope(&self, known: &[f64]) -> f64 {
        self.by.map_or(self.factor, |l| self.factor * known[l])
    }

    fn value(&self, numbers: Numbers<'_>) -> f64 {
        let slope = self.slope(numbers.known);
        match self.source {
            Source::One => slope,
            Source::Predicted(j) => slope * numbers.quantities[j],
            Source::Known(l) => slope * numbers.known[l],
        }
    }
}

/// A run of entries of one kind, within all stacked entries of that kind (see [`Parameter::of`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind.
    pub parameter: Parameter,
    /// The entries.
    pub range: Range<usize>,
}

/// The numbers of one row: quantities, predicted or true, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<'a> {
    pub(crate) quantities: &'a [f64],
    pub(crate) known: &'a [f64],
}

/// A coefficient that is placed, with its terms.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slot {
    pub(super) parameter: Parameter,
    pub(super) entry: usize,
    terms: Range<usize>,
    /// True if a term is predicted.
    pub(super) predicted: bool,
}

/// Which coefficients the quantities of a prediction and the known numbers of a row are, and how.
///
/// ```
/// use regretless_core::{Matrix, Parameter, Placement, Problem, Soft, Term};
/// let problem = Problem::maximize(2)
///     .soft("load", Soft::over(Matrix::from_rows(&[[1.0, 1.0]]), [0.0], [0.5]))
///     .at_most("stock", Matrix::from_rows(&[[1.0, 2.0]]), [0.0])
///     .build()?;
/// // One predicted load is the limit of the first row and, negated, earns; the stock is known.
/// let terms = vec![
///     Term::predicted(Parameter::Limit, 0, 0),
///     Term::predicted(Parameter::Linear, 1, 0).times(-1.0),
///     Term::fixed(Parameter::Linear, 1, 10.0),
///     Term::known(Parameter::AtMost, 0, 0),
/// ];
/// let placement = Placement::new(&problem, 1, 1, terms)?;
/// let parameters = placement.parameters(&problem, &[3.0], &[8.0]);
/// assert_eq!(parameters.get(Parameter::Limit), Some(&[3.0][..]));
/// assert_eq!(parameters.get(Parameter::Linear), Some(&[0.0, 7.0][..]));
/// assert_eq!(parameters.get(Parameter::AtMost), Some(&[8.0][..]));
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    width: usize,
    known: usize,
    /// By kind and entry; those of one entry in the order they were given.
    terms: Vec<Term>,
    slots: Vec<Slot>,
    /// The kinds with their slots.
    kinds: Vec<(Parameter, Range<usize>)>,
    /// How numbers enter Q, if they do other than entry by entry.
    curvature: Option<Curvature>,
    /// The prediction is θ, all of it and nothing else.
    identity: bool,
}

impl Placement {
    /// A placement of `width` predicted quantities and `known` known numbers. Refuses terms outside what the problem has,
    /// quantities without a place, and what would make Q indefinite.
    pub fn new(
        problem: &Problem,
        width: usize,
        known: usize,
        terms: Vec<Term>,
    ) -> Result<Self, ProblemError> {
        let mut out = Self::sorted(width, known, terms);
        out.fits(problem)?;
        let placed: BTreeSet<usize> = out.predicted().map(|(_, j)| j).collect();
        if let Some(quantity) = (0..width).find(|j| !placed.contains(j)) {
            return Err(ProblemError::Unplaced { quantity });
        }
        out.curvature = Curvature::of(&out, problem)?;
        Ok(out)
    }

    /// All of θ and nothing else: the commonest.
    pub fn theta(n: usize) -> Self {
        Self::of_parts(&[Part { parameter: Parameter::Linear, range: 0..n }])
    }

    /// All entries of the given kinds that `problem` has, each a quantity of its own.
    pub fn whole(problem: &Problem, parameters: &[Parameter]) -> Self {
        let part = |&parameter: &Parameter| Part { parameter, range: 0..parameter.entries(problem) };
        Self::of_parts(&parameters.iter().map(part).collect::<Vec<_>>())
    }

    /// Runs of entries, each entry a quantity of its own, in order; [`Placement::check`] says whether they fit a problem.
    pub fn of_parts(parts: &[Part]) -> Self {
        let entries = parts.iter().flat_map(|part| part.range.clone().map(|entry| (part.parameter, entry)));
        let term =
            |(j, (parameter, entry)): (usize, (Parameter, usize))| Term::predicted(parameter, entry, j);
        let terms: Vec<Term> = entries.enumerate().map(term).collect();
        Self::sorted(terms.len(), 0, terms)
    }

    fn sorted(width: usize, known: usize, mut terms: Vec<Term>) -> Self {
        terms.sort_by_key(|term| (term.parameter, term.entry));
        let predicts = |term: &Term| matches!(term.source, Source::Predicted(_));
        let (mut slots, mut kinds): (Vec<Slot>, Vec<(Parameter, Range<usize>)>) = (Vec::new(), Vec::new());
        for (at, term) in terms.iter().enumerate() {
            let (parameter, entry) = (term.parameter, term.entry);
            match slots.last_mut().filter(|slot| (slot.parameter, slot.entry) == (parameter, entry)) {
                Some(slot) => {
                    slot.terms.end = at + 1;
                    slot.predicted |= predicts(term);
                }
                None => slots.push(Slot { parameter, entry, terms: at..at + 1, predicted: predicts(term) }),
            }
            match kinds.last_mut().filter(|(kind, _)| *kind == parameter) {
                Some((_, range)) => range.end = slots.len(),
                None => kinds.push((parameter, slots.len() - 1..slots.len())),
            }
        }
        let own = |(k, term): (usize, &Term)| *term == Term::predicted(Parameter::Linear, k, k);
        let identity = terms.len() == width && terms.iter().enumerate().all(own);
        Self { width, known, terms, slots, kinds, curvature: None, identity }
    }

    /// Predicted quantities.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Known numbers of a row.
    pub fn known(&self) -> usize {
        self.known
    }

    /// The terms, by kind and entry.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// True if entries of this kind depend on what is predicted.
    pub fn predicts(&self, parameter: Parameter) -> bool {
        self.slots_of(parameter).iter().any(|slot| slot.predicted)
    }

    /// The kinds with entries that depend on what is predicted.
    pub fn predicted_kinds(&self) -> Vec<Parameter> {
        self.kinds.iter().map(|(kind, _)| *kind).filter(|kind| self.predicts(*kind)).collect()
    }

    /// True if a coefficient of this role depends on what is predicted.
    pub fn predicts_role(&self, role: Role) -> bool {
        self.predicted_kinds().into_iter().any(|kind| kind.role() == role)
    }

    /// The coefficients that are placed, of one kind.
    pub fn places(&self, parameter: Parameter) -> impl Iterator<Item = usize> + '_ {
        self.slots_of(parameter).iter().map(|slot| slot.entry)
    }

    /// Those of them that depend on what is predicted.
    pub(super) fn predicted_places(&self, parameter: Parameter) -> impl Iterator<Item = usize> + '_ {
        self.slots_of(parameter).iter().filter(|slot| slot.predicted).map(|slot| slot.entry)
    }

    /// True if nothing but θ depends on what is predicted.
    pub fn is_theta_only(&self) -> bool {
        self.slots.iter().all(|slot| !slot.predicted || slot.parameter == Parameter::Linear)
    }

    /// The places of every quantity.
    ///
    /// ```
    /// use regretless_core::{Parameter, Placement};
    /// assert_eq!(Placement::theta(2).homes()[1], [(Parameter::Linear, 1)]);
    /// ```
    pub fn homes(&self) -> Vec<Vec<(Parameter, usize)>> {
        let mut homes = vec![Vec::new(); self.width];
        self.predicted().for_each(|(term, j)| homes[j].push((term.parameter, term.entry)));
        homes
    }

    /// True if every quantity is one coefficient as it is, and nothing is known by row.
    pub fn is_plain(&self) -> bool {
        let plain =
            |term: &Term| *term == Term { factor: 1.0, by: None, ..*term } && term.source != Source::One;
        self.known == 0 && self.terms.len() == self.width && self.terms.iter().all(plain)
    }

    /// The first places of the quantities, in order, as runs within one block of rows.
    ///
    /// ```
    /// use regretless_core::{Parameter, Part, Placement, Problem};
    /// let problem = Problem::maximize(3).build()?;
    /// let parts = vec![Part { parameter: Parameter::Upper, range: 0..3 }];
    /// assert_eq!(Placement::of_parts(&parts).runs(&problem), parts);
    /// # Ok::<(), regretless_core::ProblemError>(())
    /// ```
    pub fn runs(&self, problem: &Problem) -> Vec<Part> {
        let starts = |parameter: Parameter, entry: usize| {
            let blocks = match parameter {
                Parameter::SoftRows | Parameter::Limit | Parameter::Over | Parameter::Under => {
                    &problem.soft().blocks
                }
                Parameter::AtMostRows | Parameter::AtMost => &problem.at_most().blocks,
                Parameter::EqualRows | Parameter::Equals => &problem.equal().blocks,
                _ => return false,
            };
            let start = |row: usize| parameter.pattern(problem).map_or(row, |p| p.range(row..row).start);
            blocks.iter().any(|block| start(block.rows.start) == entry)
        };
        let mut parts: Vec<Part> = Vec::new();
        for home in self.homes() {
            let Some(&(parameter, entry)) = home.first() else { continue };
            let next = |part: &&mut Part| (part.parameter, part.range.end) == (parameter, entry);
            match parts.last_mut().filter(next).filter(|_| !starts(parameter, entry)) {
                Some(part) => part.range.end += 1,
                None => parts.push(Part { parameter, range: entry..entry + 1 }),
            }
        }
        parts
    }

    /// Refuses a problem that lacks one of the places, and a prediction that holds nothing.
    pub fn check(&self, problem: &Problem) -> Result<(), ProblemError> {
        if self.width == 0 {
            return Err(ProblemError::Length { what: "prediction".into(), expected: 1, found: 0 });
        }
        self.fits(problem)
    }

    fn fits(&self, problem: &Problem) -> Result<(), ProblemError> {
        for (parameter, range) in &self.kinds {
            let what = || format!("placed part of {}", parameter.symbol());
            let (expected, found) = (parameter.entries(problem), self.slots[range.end - 1].entry + 1);
            if expected == 0 {
                return Err(ProblemError::NothingToOverride { what: what() });
            }
            if found > expected {
                return Err(ProblemError::Length { what: what(), expected, found });
            }
        }
        for term in &self.terms {
            let what = || format!("factor of {}", term.parameter.symbol());
            if !term.factor.is_finite() {
                return Err(ProblemError::NotFinite { what: what(), index: term.entry, value: term.factor });
            }
            let numbers = [
                (
                    "quantities",
                    self.width,
                    if let Source::Predicted(j) = term.source { Some(j) } else { None },
                ),
                (
                    "known numbers",
                    self.known,
                    if let Source::Known(l) = term.source { Some(l) } else { None },
                ),
                ("known numbers", self.known, term.by),
            ];
            for (what, found, wanted) in numbers {
                if let Some(wanted) = wanted.filter(|wanted| *wanted >= found) {
                    return Err(ProblemError::Length { what: what.into(), expected: wanted + 1, found });
                }
            }
        }
        Ok(())
    }

    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(super) fn slots_of(&self, parameter: Parameter) -> &[Slot] {
        let own = self.kinds.iter().find(|(kind, _)| *kind == parameter);
        own.map_or(&[], |(_, range)| &self.slots[range.clone()])
    }

    pub(super) fn terms_of(&self, slot: &Slot) -> &[Term] {
        &self.terms[slot.terms.clone()]
    }

    pub(super) fn curvature(&self) -> Option<&Curvature> {
        self.curvature.as_ref()
    }

    fn predicted(&self) -> impl Iterator<Item = (&Term, usize)> {
        self.terms.iter().filter_map(|term| match term.source {
            Source::Predicted(j) => Some((term, j)),
            Source::One | Source::Known(_) => None,
        })
    }

    /// The quantity that a coefficient is, if it is one as it stands.
    pub(super) fn whole_quantity(&self, slot: &Slot) -> Option<usize> {
        match self.terms_of(slot) {
            [Term { factor: 1.0, by: None, source: Source::Predicted(j), .. }] => Some(*j),
            _ => None,
        }
    }

    /// The coefficient before any guard.
    pub(super) fn value(&self, slot: &Slot, numbers: Numbers<'_>) -> f64 {
        let mut terms = self.terms_of(slot).iter().map(|term| term.value(numbers));
        let first = terms.next().unwrap_or(0.0);
        terms.fold(first, |sum, value| sum + value)
    }

    /// The parameters of one instance: what is not placed keeps the problem's value.
    ///
    /// # Panics
    /// If there are not [`Placement::width`] quantities and [`Placement::known`] known numbers, or the placement does not fit the
    /// problem.
    pub fn parameters(&self, problem: &Problem, quantities: &[f64], known: &[f64]) -> Parameters {
        assert_eq!(quantities.len(), self.width, "one value for each quantity");
        assert_eq!(known.len(), self.known, "one value for each known number");
        let numbers = Numbers { quantities, known };
        let mut out = Parameters::default();
        for (parameter, slots) in &self.kinds {
            let place = out.get_mut(*parameter, problem);
            match &self.curvature {
                Some(curvature) if *parameter == Parameter::Quadratic => {
                    curvature.place(&curvature.weights(numbers), place);
                }
                _ => {
                    for slot in &self.slots[slots.clone()] {
                        place[slot.entry] = guarded(*parameter, self.value(slot, numbers));
                    }
                }
            }
        }
        out
    }

    /// The transpose: from gradients in every parameter to the gradient in the quantities.
    ///
    /// # Panics
    /// If quantities, known numbers or `out` are of another number, or the gradients lack a predicted kind.
    pub fn gather(&self, gradients: &Gradients, quantities: &[f64], known: &[f64], out: &mut [f64]) {
        assert_eq!(out.len(), self.width, "one place for each quantity");
        if self.identity {
            out.copy_from_slice(&gradients.of(Parameter::Linear)[..self.width]);
            return;
        }
        let numbers = Numbers { quantities, known };
        out.fill(0.0);
        for slot in self.slots.iter().filter(|slot| slot.predicted) {
            let parameter = slot.parameter;
            if parameter == Parameter::Quadratic && self.curvature.is_some()
                || is_price(parameter) && self.value(slot, numbers) < 0.0
            {
                continue;
            }
            self.pull(slot, gradients.of(parameter)[slot.entry], known, out);
        }
        if let Some(curvature) = &self.curvature
            && self.predicts(Parameter::Quadratic)
        {
            curvature.pull(gradients.of(Parameter::Quadratic), numbers, out);
        }
    }

    /// Adds a coefficient's gradient to those of its quantities.
    pub(super) fn pull(&self, slot: &Slot, gradient: f64, known: &[f64], out: &mut [f64]) {
        for term in self.terms_of(slot) {
            if let Source::Predicted(j) = term.source {
                out[j] += term.slope(known) * gradient;
            }
        }
    }

    /// The part of θ that moves with the quantities: adds J·change.
    pub(crate) fn push_theta(&self, change: impl Fn(usize) -> f64, known: &[f64], out: &mut [f64]) {
        for slot in self.slots_of(Parameter::Linear) {
            for term in self.terms_of(slot) {
                if let Source::Predicted(j) = term.source {
                    out[slot.entry] += term.slope(known) * change(j);
                }
            }
        }
    }

    /// True if something is placed that may not be negative.
    pub fn guards(&self) -> bool {
        self.curvature.is_some() || self.kinds.iter().any(|(kind, _)| is_price(*kind))
    }

    /// Prices and weights of Q that come out negative and count as 0.
    ///
    /// # Panics
    /// If quantities or known numbers are of another number.
    pub fn cut(&self, quantities: &[f64], known: &[f64]) -> usize {
        let numbers = Numbers { quantities, known };
        let prices = [Parameter::Over, Parameter::Under].into_iter().flat_map(|kind| self.slots_of(kind));
        prices.filter(|slot| self.value(slot, numbers) < 0.0).count()
            + self.curvature.as_ref().map_or(0, |curvature| curvature.cut(numbers))
    }

    /// The instance of one row, without copying where the quantities are θ itself.
    pub(crate) fn values<'a>(&self, problem: &Problem, numbers: Numbers<'a>) -> Values<'a> {
        if self.identity && self.width == problem.n() {
            return Values::Theta(numbers.quantities);
        }
        Values::Owned(Box::new(self.parameters(problem, numbers.quantities, numbers.known)))
    }
}

pub(super) fn is_price(parameter: Parameter) -> bool {
    matches!(parameter, Parameter::Over | Parameter::Under)
}

/// A price below 0 is 0; NaN stays what it is.
pub(super) fn guarded(parameter: Parameter, value: f64) -> f64 {
    if is_price(parameter) && value < 0.0 { 0.0 } else { value }
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

    pub(crate) fn parameters(self) -> Parameters {
        match self {
            Self::Theta(theta) => {
                let mut parameters = Parameters::default();
                parameters.set(Parameter::Linear, theta.to_vec());
                parameters
            }
            Self::Owned(parameters) => *parameters,
        }
    }
}
