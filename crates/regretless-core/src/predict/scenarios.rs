//! Deciding for the average over a predicted distribution instead of for one predicted point.
//!
//! With scenarios p₁, …, p_S of the predicted parameters and their weights π₁, …, π_S the decision maximises the mean objective
//!
//! ```text
//! max_x  θ̄ᵀx − xᵀQ̄x − Σ_s π_s α_sᵀmax(C_s x − d_s, 0)        over the same hard rows and bounds
//! ```
//!
//! which is a problem of the same kind: every soft row with a predicted entry is stated S times at π_s of its price, and
//! θ and Q, in which the objective is linear, are replaced by their means (the sample average approximation of stochastic
//! programming). To the engine the S are one row with many breakpoints ([`crate::engine::hinges`]), unless their
//! coefficients are predicted. Known numbers are the same in all of them, hard rows that depend on known numbers alone included.

use std::cell::LazyCell;
use std::ops::Range;

use thiserror::Error;

use crate::gradient::Gradients;
use crate::predict::at_risk::AtRisk;
use crate::predict::forecast::{Forecast, Law};
use crate::predict::placement::{Numbers, Placement, Slot, guarded, is_price};
use crate::predict::risk::{Outlook, Risk};
use crate::problem::parameter::{Parameter, Parameters, Role};
use crate::problem::{Block, Coefficients, Pattern, Problem, ProblemError, RowId, RowValues, SoftRows};

/// Why there is no average problem.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The placement does not fit the problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A predicted hard row.
    #[error(
        "{0} belongs to hard rows: a hard row has to hold in every scenario or in one, there is no average of it; \
         make the row soft, or decide without scenarios"
    )]
    Hard(&'static str),
    /// The residuals are not whole scenarios.
    #[error("{found} numbers are not a positive number of scenarios of {width} entries each")]
    Length {
        /// Entries of one scenario.
        width: usize,
        /// Entries found.
        found: usize,
    },
    /// A risk that is none.
    #[error("{what} is {value}; it is {expected}")]
    Risk {
        /// Which number of it.
        what: &'static str,
        /// It.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// More scenarios than one threshold can join.
    #[error(
        "{scenarios} scenarios with {rows} predicted soft rows each are {numbers} coefficients at risk, which would take gigabytes: \
         take fewer scenarios"
    )]
    Many {
        /// Scenarios.
        scenarios: usize,
        /// Soft rows with a predicted entry.
        rows: usize,
        /// Coefficients of all of them.
        numbers: usize,
    },
    /// A predicted Q.
    #[error(
        "Q is predicted: the worst scenarios of a quadratic term are no quadratic program; decide for their mean, without a risk"
    )]
    Quadratic,
    /// Made for another problem or placement.
    #[error("the scenarios were made for another problem or another placement of predictions")]
    Mismatch,
    /// NaN or an infinity among the scenarios.
    #[error("number {0} of the scenarios is not finite")]
    NotFinite(usize),
    /// Not a weight for each scenario.
    #[error("{found} weights for {expected} scenarios")]
    Weights {
        /// Scenarios.
        expected: usize,
        /// Weights.
        found: usize,
    },
    /// A weight that is none, or no weight above 0.
    #[error("weight {at} is {value}: weights are finite, from 0 on, and not all 0")]
    Weight {
        /// Which.
        at: usize,
        /// It.
        value: f64,
    },
    /// Groups whose laws differ in size.
    #[error(
        "the laws of groups have as many scenarios and numbers each: {} and {} of one, {} and {} of another",
        first.0, first.1, other.0, other.1
    )]
    Groups {
        /// Scenarios and numbers of the first.
        first: (usize, usize),
        /// Those of one that differs.
        other: (usize, usize),
    },
}

/// The average problem over scenarios of a prediction.
///
/// ```
/// use regretless_core::*;
/// // How much to order: 1 earned a unit, 6 lost for every unit above the demand d, which is predicted.
/// let problem = Problem::maximize(1)
///     .linear([1.0])
///     .soft("demand", Soft::over(Matrix::from_rows(&[[1.0]]), [0.0], [6.0]))
///     .build()?;
/// let placement = Placement::whole(&problem, &[Parameter::Limit]);
/// // The forecast errs by −2 … 2; 10 is predicted.
/// let scenarios = Scenarios::new(&problem, &placement, vec![-2.0, -1.0, 0.0, 1.0, 2.0])?;
/// let oracle = Oracle::new(scenarios.problem());
/// let order = oracle.solve(&scenarios.parameters(&[10.0], &[]).instance())?;
/// assert!((order.x[0] - 8.0).abs() < 1e-9); // one unit more loses 6 in one case out of five: not worth 1
/// // Past demands, with weights that are predicted: 7 and 12 are as likely, 9 is not.
/// let past = Scenarios::of(&problem, &placement, Law::Outcomes { outcomes: vec![7.0, 9.0, 12.0] })?;
/// let order = Oracle::new(past.problem()).solve(&past.parameters(&[0.5, 0.0, 0.5], &[]).instance())?;
/// assert!((order.x[0] - 7.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scenarios {
    problem: Problem,
    placement: Placement,
    law: Law,
    count: usize,
    original: Problem,
    /// Where each soft row of the original problem is among those of the problem that decides.
    copies: Vec<Range<usize>>,
    /// Which of them are stated once for each scenario.
    repeated: Vec<bool>,
    /// Where each slot of the placement is among the numbers of the problem that decides.
    places: Vec<Place>,
    /// For the worst of them in place of their average.
    at_risk: Option<AtRisk>,
}

impl Scenarios {
    /// Scenarios are the prediction plus each of the residuals (S × width, row after row), which are equally likely: what a
    /// forecast got wrong on data it was not trained on.
    pub fn new(problem: &Problem, placement: &Placement, residuals: Vec<f64>) -> Result<Self, ScenarioError> {
        Self::of(problem, placement, Law::shift(residuals, placement.width()))
    }

    /// Each instance brings its own `count` scenarios: the members of an ensemble. A prediction is then the members one
    /// after the other, `count` × width entries.
    pub fn from_members(
        problem: &Problem,
        placement: &Placement,
        count: usize,
    ) -> Result<Self, ScenarioError> {
        Self::of(problem, placement, Law::points(count))
    }

    /// Scenarios by any law.
    pub fn of(problem: &Problem, placement: &Placement, law: Law) -> Result<Self, ScenarioError> {
        let law = law.checked(placement.width())?;
        let count = law.count(placement.width());
        let (original, placement) = (problem.clone(), placement.clone());
        let repeated = touched(problem, &placement)?;
        let (problem, copies) = average(problem, &repeated, law.weights(), count);
        let place = |slot: &Slot| Place::of(slot, &original, &problem, &copies, &repeated);
        let places = placement.slots().iter().map(place).collect();
        Ok(Self { problem, placement, law, count, original, copies, repeated, places, at_risk: None })
    }

    /// The same scenarios, and decisions for the worst of them: at the least CVaR in place of the best mean. There the mean of θ is not
    /// all that matters.
    ///
    /// ```
    /// use regretless_core::*;
    /// // A sure gain of 1 a unit, or one of 0 or 3 that is as likely; together one unit.
    /// let problem = Problem::maximize(2)
    ///     .at_most("money", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
    ///     .build()?;
    /// let law = Law::Outcomes { outcomes: vec![1.0, 0.0, 1.0, 3.0] };
    /// let scenarios = Scenarios::of(&problem, &Placement::theta(2), law)?.with_risk(Risk::cvar(0.5)?)?;
    /// let best = Oracle::new(scenarios.problem()).solve(&scenarios.parameters(&[0.5, 0.5], &[]).instance())?;
    /// assert!((best.x[0] - 1.0).abs() < 1e-9);
    /// // Variables behind those of the problem are a threshold, and what scenarios exceed limits by.
    /// let outlook = scenarios.outlook(&[0.5, 0.5], &[], &best.x[..2]).unwrap();
    /// assert!((outlook.mean - 1.0).abs() < 1e-9 && (outlook.value - 1.0).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_risk(self, risk: Risk) -> Result<Self, ScenarioError> {
        let own = AtRisk::new(&self.original, &self.placement, &self.repeated, self.count, risk)?;
        Ok(Self { problem: own.problem.clone(), at_risk: Some(own), ..self })
    }

    /// The same at fewer scenarios, where those of an instance are the law's: of its errors at most `count`, evenly spaced. A prediction has
    /// the same entries.
    pub fn thinned(&self, count: usize) -> Result<Self, ScenarioError> {
        let law = self.law.thinned(count, self.placement.width());
        let own = Self::of(&self.original, &self.placement, law)?;
        self.risk().map_or(Ok(own.clone()), |risk| own.with_risk(risk))
    }

    /// The risk that decisions are for; `None` for the average.
    pub fn risk(&self) -> Option<Risk> {
        self.at_risk.as_ref().map(|own| own.risk)
    }

    /// What a decision of the original problem promises at a prediction, in its own sense; `None` without a risk.
    ///
    /// # Panics
    /// If prediction, known numbers or decision have another number of entries.
    pub fn outlook(&self, prediction: &[f64], known: &[f64], x: &[f64]) -> Option<Outlook> {
        let own = self.at_risk.as_ref()?;
        Some(own.outlook(&self.placement, &self.forecast(prediction), known, x))
    }

    /// The problem at risk, if decisions are at risk.
    pub(crate) fn at_risk(&self) -> Option<&AtRisk> {
        self.at_risk.as_ref()
    }

    /// Numbers of one instance of the problem that decides.
    pub(crate) fn numbers(&self) -> usize {
        self.at_risk.as_ref().map_or(4 * self.problem.shape().soft, AtRisk::numbers)
    }

    /// Refuses scenarios that were made for something else.
    pub(crate) fn fits(&self, problem: &Problem, placement: &Placement) -> Result<(), ScenarioError> {
        let fits = self.original.shape() == problem.shape() && self.placement == *placement;
        if fits { Ok(()) } else { Err(ScenarioError::Mismatch) }
    }

    /// The average problem; hard rows and bounds are those of the original one. At risk it has more variables and hard rows, behind its
    /// own.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// How predictions stand for forecasts.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// Number of scenarios.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Entries of a prediction, as the law has it.
    pub fn width(&self) -> usize {
        self.law.entries(self.placement.width())
    }

    /// Sharpness of the rows of the original problem for those of the problem that decides.
    pub(crate) fn sharpness(&self, original: &RowValues) -> RowValues {
        if let Some(own) = &self.at_risk {
            return own.sharpness(original);
        }
        let copies = self.copies.iter().zip(&original.soft);
        RowValues {
            soft: copies.flat_map(|(rows, k)| rows.clone().map(|_| *k)).collect(),
            ..original.clone()
        }
    }

    /// Penalties of hard rows of the original problem for those of the problem that decides.
    pub(crate) fn penalties(&self, original: &RowValues) -> RowValues {
        match &self.at_risk {
            Some(own) => own.penalties(original, self.law.weights()),
            None => RowValues { soft: vec![1.0; self.problem.shape().soft], ..original.clone() },
        }
    }

    /// False if deciding for the average is deciding for the prediction: nothing but θ and Q predicted and no bias.
    pub fn changes_decision(&self) -> bool {
        if self.at_risk.is_some() {
            return true;
        }
        if self.placement.predicted_kinds().into_iter().any(|kind| kind.role() != Role::Objective) {
            return true;
        }
        let width = self.placement.width();
        let biased = |points: &Vec<f64>, weights: &Vec<f64>| {
            let own = Forecast::new(width, points.clone(), weights.clone());
            own.is_ok_and(|own| own.mean().iter().any(|m| *m != 0.0))
        };
        match &self.law {
            Law::Shift { residuals, weights } => biased(residuals, weights),
            Law::Scale { atoms, weights } => biased(atoms, weights),
            Law::Points { .. } | Law::Samples { .. } | Law::Outcomes { .. } | Law::Groups(_) => {
                self.count > 1
            }
        }
    }

    /// The forecast that a prediction of [`Scenarios::width`] entries stands for.
    ///
    /// # Panics
    /// If the prediction has another number of entries.
    pub fn forecast(&self, prediction: &[f64]) -> Forecast {
        self.law.forecast(prediction, self.placement.width())
    }

    /// The parameters of the average problem for a prediction of [`Scenarios::width`] entries, and what is known of its row.
    ///
    /// # Panics
    /// If the prediction or what is known has another number of entries.
    pub fn parameters(&self, prediction: &[f64], known: &[f64]) -> Parameters {
        self.parameters_of(&self.forecast(prediction), known)
    }

    /// The parameters of the average problem for a forecast given outright.
    ///
    /// # Panics
    /// If it has another number of scenarios.
    pub fn parameters_of(&self, forecast: &Forecast, known: &[f64]) -> Parameters {
        assert_eq!(
            forecast.points().len(),
            self.count * self.placement.width(),
            "the entries of every scenario"
        );
        if let Some(own) = &self.at_risk {
            return own.parameters(&self.placement, forecast, known);
        }
        let mut out = Parameters::default();
        let (means, weights) = (LazyCell::new(|| forecast.mean()), forecast.weights());
        let mean = || Numbers { quantities: &means, known };
        let each = || forecast.each().map(|(quantities, weight)| (Numbers { quantities, known }, weight));
        if let Some(curvature) = self.placement.curvature() {
            // The weights are not linear where they are cut: the mean is over the cut ones.
            let mut sums = curvature.weights(mean());
            sums.fill(0.0);
            for (numbers, weight) in each() {
                sums.iter_mut().zip(curvature.weights(numbers)).for_each(|(sum, w)| *sum += weight * w);
            }
            curvature.place(&sums, out.get_mut(Parameter::Quadratic, &self.problem));
        }
        if self.law.weights().is_none() {
            self.place_prices(weights, &mut out);
        }
        for (slot, at) in self.placement.slots().iter().zip(&self.places) {
            let parameter = slot.parameter;
            if parameter == Parameter::Quadratic && self.placement.curvature().is_some() {
                continue;
            }
            let place = out.get_mut(parameter, &self.problem);
            if parameter.role() != Role::Soft {
                place[slot.entry] = self.placement.value(slot, mean());
                continue;
            }
            let share = |s: usize| if at.repeated && is_price(parameter) { weights[s] } else { 1.0 };
            if self.whole(slot).is_some() {
                continue;
            }
            if slot.predicted {
                for (s, (numbers, _)) in each().enumerate() {
                    let value = guarded(parameter, self.placement.value(slot, numbers));
                    place[at.in_scenario(s)] = share(s) * value;
                }
            } else {
                let value = guarded(parameter, self.placement.value(slot, mean()));
                (0..if at.repeated { self.count } else { 1 })
                    .for_each(|s| place[at.in_scenario(s)] = share(s) * value);
            }
        }
        // What is a quantity as it stands, scenario by scenario: as both of them lie in memory.
        for (parameter, wholes) in self.wholes() {
            let place = out.get_mut(parameter, &self.problem);
            for (s, point) in forecast.points().chunks_exact(self.placement.width()).enumerate() {
                wholes.iter().for_each(|(j, at)| place[at.in_scenario(s)] = point[*j]);
            }
        }
        out
    }

    /// The quantity that a coefficient of a soft row is in each scenario, if it is one as it stands and no price.
    fn whole(&self, slot: &Slot) -> Option<usize> {
        let soft = slot.parameter.role() == Role::Soft && !is_price(slot.parameter);
        self.placement.whole_quantity(slot).filter(|_| soft)
    }

    /// All of these with their places, by kind.
    fn wholes(&self) -> impl Iterator<Item = (Parameter, Vec<(usize, Place)>)> + '_ {
        [Parameter::SoftRows, Parameter::Limit].into_iter().filter_map(|parameter| {
            let slots = self.placement.slots().iter().zip(&self.places);
            let own = slots.filter(|(slot, _)| slot.parameter == parameter);
            let wholes: Vec<_> = own.filter_map(|(slot, at)| Some((self.whole(slot)?, *at))).collect();
            (!wholes.is_empty()).then_some((parameter, wholes))
        })
    }

    /// The stated prices of the repeated rows, by shares.
    fn place_prices(&self, shares: &[f64], out: &mut Parameters) {
        for parameter in [Parameter::Over, Parameter::Under] {
            let stated = parameter.of(&self.original);
            let place = out.get_mut(parameter, &self.problem);
            for ((rows, repeated), price) in self.copies.iter().zip(&self.repeated).zip(stated) {
                if *repeated {
                    place[rows.clone()].iter_mut().zip(shares).for_each(|(p, share)| *p = share * price);
                }
            }
        }
    }

    /// The adjoint of [`Scenarios::parameters`]: from gradients in the parameters of the average problem to the gradient
    /// in the prediction, of [`Scenarios::width`] entries. A price below 0 counts as 0 and passes nothing on, nor do weights.
    ///
    /// # Panics
    /// If the prediction or `out` has another number of entries.
    pub fn gather(&self, gradients: &Gradients, prediction: &[f64], known: &[f64], out: &mut [f64]) {
        assert_eq!(out.len(), self.width(), "one place for each predicted entry");
        out.fill(0.0);
        if let Some(own) = &self.at_risk {
            own.gather(&self.placement, (&self.law, prediction, known), gradients, out);
            return;
        }
        let curvature = self.placement.curvature().filter(|_| self.placement.predicts(Parameter::Quadratic));
        // What has no guard is linear: its gradient is the same wherever the scenarios are.
        let forecast = self.placement.guards().then(|| self.forecast(prediction));
        let shares = match &forecast {
            Some(forecast) => forecast.weights().to_vec(),
            None => self.law.shares(prediction, self.placement.width()),
        };
        if self.law.adds() && forecast.is_none() {
            // All scenarios move as the prediction does: what they pull at a coefficient is a sum.
            let (own, total) = (&mut out[..self.placement.width()], shares.iter().sum::<f64>());
            let slots = || self.placement.slots().iter().zip(&self.places).filter(|(s, _)| s.predicted);
            let soft: Vec<(&[f64], Place)> = slots()
                .filter(|(slot, _)| slot.parameter.role() == Role::Soft)
                .map(|(slot, at)| (gradients.of(slot.parameter), *at))
                .collect();
            // Scenario by scenario, as they lie in memory.
            let mut sums = vec![0.0; soft.len()];
            for s in 0..self.count {
                sums.iter_mut().zip(&soft).for_each(|(sum, (from, at))| *sum += from[at.in_scenario(s)]);
            }
            let mut sums = sums.into_iter();
            for (slot, _) in slots() {
                let pull = if slot.parameter.role() == Role::Soft {
                    sums.next().unwrap_or_default()
                } else {
                    total * gradients.of(slot.parameter)[slot.entry]
                };
                self.placement.pull(slot, pull, known, own);
            }
            return;
        }
        let slots: Vec<_> =
            self.placement.slots().iter().zip(&self.places).filter(|(s, _)| s.predicted).collect();
        let width = self.placement.width();
        let mut by = vec![0.0; width];
        for (s, share) in shares.into_iter().enumerate() {
            let quantities = forecast.as_ref().map_or(&[][..], |own| &own.points()[s * width..][..width]);
            let numbers = Numbers { quantities, known };
            by.fill(0.0);
            if let Some(curvature) = curvature {
                curvature.pull(gradients.of(Parameter::Quadratic), numbers, &mut by);
                by.iter_mut().for_each(|g| *g *= share);
            }
            for (slot, at) in &slots {
                let (parameter, from) = (slot.parameter, gradients.of(slot.parameter));
                let pull = match parameter {
                    Parameter::Quadratic if curvature.is_some() => continue,
                    Parameter::Linear | Parameter::Quadratic => share * from[slot.entry],
                    _ if is_price(parameter) && self.placement.value(slot, numbers) < 0.0 => continue,
                    _ if is_price(parameter) => share * from[at.in_scenario(s)],
                    _ => from[at.in_scenario(s)],
                };
                if pull != 0.0 {
                    self.placement.pull(slot, pull, known, &mut by);
                }
            }
            self.law.pull(s, &by, prediction, out);
        }
    }
}

/// Where a coefficient is in each scenario, among the numbers of its kind in the problem that decides.
#[derive(Clone, Copy, Debug)]
struct Place {
    first: usize,
    /// From one scenario to the next.
    step: usize,
    /// True if it is stated for each scenario.
    repeated: bool,
}

impl Place {
    fn of(
        slot: &Slot,
        original: &Problem,
        problem: &Problem,
        copies: &[Range<usize>],
        repeated: &[bool],
    ) -> Self {
        if slot.parameter.role() != Role::Soft {
            return Self { first: slot.entry, step: 0, repeated: false };
        }
        let (pattern, ours) = (original.soft().C.pattern(), problem.soft().C.pattern());
        let row = soft_row(pattern, slot);
        let (first, step) = if slot.parameter == Parameter::SoftRows {
            let (own, first) = (pattern.range(row..row + 1), copies[row].start);
            (ours.range(first..first).start + slot.entry - own.start, own.len())
        } else {
            (copies[row].start, 1)
        };
        Self { first, step, repeated: repeated[row] }
    }

    #[inline]
    fn in_scenario(self, s: usize) -> usize {
        self.first + s * self.step
    }
}

fn soft_row(pattern: &Pattern, slot: &Slot) -> usize {
    if slot.parameter == Parameter::SoftRows { pattern.place(slot.entry).0 } else { slot.entry }
}

/// Which soft rows have a predicted entry. Hard rows may not have one.
fn touched(problem: &Problem, placement: &Placement) -> Result<Vec<bool>, ScenarioError> {
    placement.check(problem)?;
    let mut touched = vec![false; problem.soft().d.len()];
    for slot in placement.slots().iter().filter(|slot| slot.predicted) {
        match slot.parameter.role() {
            Role::Objective => {}
            Role::Soft => touched[soft_row(problem.soft().C.pattern(), slot)] = true,
            Role::Hard => return Err(ScenarioError::Hard(slot.parameter.symbol())),
        }
    }
    Ok(touched)
}

/// The problem with some soft rows stated once for each scenario, at the share of their price that it has where that is known, and
/// where each row went.
fn average(
    problem: &Problem,
    repeated: &[bool],
    weights: Option<&[f64]>,
    count: usize,
) -> (Problem, Vec<Range<usize>>) {
    let soft = problem.soft();
    let mut all = SoftRows {
        C: Coefficients::empty(problem.n()),
        d: Vec::new(),
        alpha: Vec::new(),
        under: Vec::new(),
        blocks: Vec::new(),
    };
    let mut copies = Vec::with_capacity(repeated.len());
    for (k, &repeated) in repeated.iter().enumerate() {
        let start = all.d.len();
        let times = if repeated { count } else { 1 };
        for s in 0..times {
            let share = weights.filter(|_| repeated).map_or(1.0, |weights| weights[s]);
            all.C.append(&soft.C, [k]);
            all.d.push(soft.d[k]);
            all.alpha.push(share * soft.alpha[k]);
            all.under.push(share * soft.under[k]);
        }
        let name = problem.row_name(RowId::Soft(k));
        let name = if repeated { format!("{name} in scenario") } else { name };
        all.blocks.push(Block { name, rows: start..start + times });
        copies.push(start..start + times);
    }
    (problem.with_soft(all), copies)
}
