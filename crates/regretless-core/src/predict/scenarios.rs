//! Deciding for the average over a predicted distribution instead of for one predicted point.
//!
//! With scenarios p₁, …, p_S of the predicted parameters the decision maximises the mean objective
//!
//! ```text
//! max_x  θ̄ᵀx − xᵀQ̄x − (1/S) Σ_s α_sᵀmax(C_s x − d_s, 0)        over the same hard rows and bounds
//! ```
//!
//! which is a problem of the same kind: every soft row with a predicted entry is stated S times at 1/S of its price, and
//! θ and Q, in which the objective is linear, are replaced by their means (the sample average approximation of stochastic
//! programming). To the engine the S are one row with many breakpoints ([`crate::engine::hinges`]), unless their
//! coefficients are predicted. Known numbers are the same in all of them, hard rows that depend on known numbers alone included.

use std::ops::Range;

use thiserror::Error;

use crate::gradient::Gradients;
use crate::predict::placement::{Numbers, Placement, Slot, guarded, is_price};
use crate::problem::parameter::{Parameter, Parameters, Role};
use crate::problem::{Block, Coefficients, Pattern, Problem, ProblemError, RowId, SoftRows};

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
    #[error("{found} residuals are not a positive number of scenarios of {width} entries each")]
    Length {
        /// Entries of one scenario.
        width: usize,
        /// Entries found.
        found: usize,
    },
    /// Made for another problem or placement.
    #[error("the scenarios were made for another problem or another placement of predictions")]
    Mismatch,
    /// NaN or an infinity among the residuals.
    #[error("residual {0} is not finite")]
    NotFinite(usize),
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
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scenarios {
    problem: Problem,
    placement: Placement,
    residuals: Vec<f64>,
    count: usize,
    /// Each prediction brings its own scenarios.
    members: bool,
    /// Where each soft row of the original problem is among those of the average problem.
    copies: Vec<Range<usize>>,
    /// The pattern of the original soft rows.
    pattern: Pattern,
}

impl Scenarios {
    /// Scenarios are the prediction plus each of the residuals (S × width, row after row): what a forecast got wrong on
    /// data it was not trained on.
    pub fn new(problem: &Problem, placement: &Placement, residuals: Vec<f64>) -> Result<Self, ScenarioError> {
        let width = placement.width();
        if width == 0 || residuals.is_empty() || !residuals.len().is_multiple_of(width) {
            return Err(ScenarioError::Length { width, found: residuals.len() });
        }
        if let Some(at) = residuals.iter().position(|r| !r.is_finite()) {
            return Err(ScenarioError::NotFinite(at));
        }
        let count = residuals.len() / width;
        let pattern = problem.soft().C.pattern().clone();
        let (problem, copies) = average(problem, placement, count)?;
        Ok(Self { problem, placement: placement.clone(), residuals, count, members: false, copies, pattern })
    }

    /// Each instance brings its own `count` scenarios: the members of an ensemble. A prediction is then the members one
    /// after the other, `count` × width entries.
    pub fn from_members(
        problem: &Problem,
        placement: &Placement,
        count: usize,
    ) -> Result<Self, ScenarioError> {
        let residuals = vec![0.0; count * placement.width()];
        Ok(Self { members: true, ..Self::new(problem, placement, residuals)? })
    }

    /// Refuses scenarios that were made for something else.
    pub(crate) fn fits(&self, problem: &Problem, placement: &Placement) -> Result<(), ScenarioError> {
        let (own, other) = (self.problem.shape(), problem.shape());
        let same_rows = (own.n, own.at_most, own.equal, self.copies.len())
            == (other.n, other.at_most, other.equal, other.soft);
        if same_rows && self.placement == *placement { Ok(()) } else { Err(ScenarioError::Mismatch) }
    }

    /// The average problem; hard rows and bounds are those of the original one.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Number of scenarios.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Entries of a prediction: the placement's width, or `count` times that if predictions bring their own scenarios.
    pub fn width(&self) -> usize {
        self.placement.width() * if self.members { self.count } else { 1 }
    }

    /// Numbers of the soft rows of the original problem for those of the average problem.
    pub(crate) fn soft(&self, values: &[f64]) -> Vec<f64> {
        self.copies.iter().zip(values).flat_map(|(rows, v)| rows.clone().map(|_| *v)).collect()
    }

    /// False if deciding for the average is deciding for the prediction: nothing but θ and Q predicted and no bias.
    pub fn changes_decision(&self) -> bool {
        if self.placement.predicted_kinds().into_iter().any(|kind| kind.role() != Role::Objective) {
            return true;
        }
        self.members && self.count > 1 || self.means(&self.residuals).iter().any(|m| *m != 0.0)
    }

    /// The parameters of the average problem for a prediction of [`Scenarios::width`] entries, and what is known of its row.
    ///
    /// # Panics
    /// If the prediction or what is known has another number of entries.
    pub fn parameters(&self, prediction: &[f64], known: &[f64]) -> Parameters {
        self.parameters_of(&self.spread(prediction), known)
    }

    /// The parameters of the average problem for S × width values given outright.
    ///
    /// # Panics
    /// If there are not S × width of them.
    pub fn parameters_of(&self, members: &[f64], known: &[f64]) -> Parameters {
        assert_eq!(members.len(), self.count * self.placement.width(), "the entries of every scenario");
        let mut out = Parameters::default();
        let means = self.means(members);
        let mean = Numbers { quantities: &means, known };
        if let Some(curvature) = self.placement.curvature() {
            // The weights are not linear where they are cut: the mean is over the cut ones.
            let mut weights = curvature.weights(mean);
            weights.fill(0.0);
            for numbers in self.each(members, known) {
                weights.iter_mut().zip(curvature.weights(numbers)).for_each(|(mean, w)| *mean += w);
            }
            weights.iter_mut().for_each(|w| *w /= self.count as f64);
            curvature.place(&weights, out.get_mut(Parameter::Quadratic, &self.problem));
        }
        for slot in self.placement.slots() {
            let parameter = slot.parameter;
            if parameter == Parameter::Quadratic && self.placement.curvature().is_some() {
                continue;
            }
            let place = out.get_mut(parameter, &self.problem);
            if parameter.role() != Role::Soft {
                place[slot.entry] = self.placement.value(slot, mean);
                continue;
            }
            let copies = self.copies[self.row(slot)].len();
            let share = if is_price(parameter) { 1.0 / copies as f64 } else { 1.0 };
            let mut set = |s: usize, value: f64| {
                place[self.copy(parameter, slot.entry, s)] = share * guarded(parameter, value);
            };
            if slot.predicted {
                let each = self.each(members, known).enumerate();
                each.for_each(|(s, numbers)| set(s, self.placement.value(slot, numbers)));
            } else {
                (0..copies).for_each(|s| set(s, self.placement.value(slot, mean)));
            }
        }
        out
    }

    /// The adjoint of [`Scenarios::parameters`]: from gradients in the parameters of the average problem to the gradient
    /// in the prediction, of [`Scenarios::width`] entries. A price below 0 counts as 0 and passes nothing on.
    ///
    /// # Panics
    /// If the prediction or `out` has another number of entries.
    pub fn gather(&self, gradients: &Gradients, prediction: &[f64], known: &[f64], out: &mut [f64]) {
        assert_eq!(out.len(), self.width(), "one place for each predicted entry");
        let (width, share) = (self.placement.width(), 1.0 / self.count as f64);
        let members = self.spread(prediction);
        out.fill(0.0);
        let curvature = self.placement.curvature().filter(|_| self.placement.predicts(Parameter::Quadratic));
        let mut by = vec![0.0; width];
        for (s, numbers) in self.each(&members, known).enumerate() {
            by.fill(0.0);
            if let Some(curvature) = curvature {
                curvature.pull(gradients.of(Parameter::Quadratic), numbers, &mut by);
                by.iter_mut().for_each(|g| *g *= share);
            }
            for slot in self.placement.slots().iter().filter(|slot| slot.predicted) {
                let (parameter, from) = (slot.parameter, gradients.of(slot.parameter));
                let pull = match parameter {
                    Parameter::Quadratic if curvature.is_some() => continue,
                    Parameter::Linear | Parameter::Quadratic => share * from[slot.entry],
                    _ if is_price(parameter) && self.placement.value(slot, numbers) < 0.0 => continue,
                    _ if is_price(parameter) => share * from[self.copy(parameter, slot.entry, s)],
                    _ => from[self.copy(parameter, slot.entry, s)],
                };
                self.placement.pull(slot, pull, known, &mut by);
            }
            let start = if self.members { s * width } else { 0 };
            out[start..start + width].iter_mut().zip(&by).for_each(|(o, g)| *o += g);
        }
    }

    /// Each scenario with what is known of the row.
    fn each<'a>(&self, members: &'a [f64], known: &'a [f64]) -> impl Iterator<Item = Numbers<'a>> {
        let scenarios = members.chunks_exact(self.placement.width());
        scenarios.map(move |quantities| Numbers { quantities, known })
    }

    /// Every scenario of a prediction, one after the other.
    pub(crate) fn spread(&self, prediction: &[f64]) -> Vec<f64> {
        assert_eq!(prediction.len(), self.width(), "one value for each predicted entry");
        if self.members {
            return prediction.to_vec();
        }
        let scenarios = self.residuals.chunks_exact(prediction.len());
        scenarios.flat_map(|r| r.iter().zip(prediction).map(|(r, p)| p + r)).collect()
    }

    fn means(&self, members: &[f64]) -> Vec<f64> {
        let mut means = vec![0.0; self.placement.width()];
        for scenario in members.chunks_exact(means.len()) {
            means.iter_mut().zip(scenario).for_each(|(m, v)| *m += v);
        }
        means.iter_mut().for_each(|m| *m /= self.count as f64);
        means
    }

    /// The soft row of the original problem that a coefficient belongs to.
    fn row(&self, slot: &Slot) -> usize {
        if slot.parameter == Parameter::SoftRows { self.pattern.place(slot.entry).0 } else { slot.entry }
    }

    /// Where entry `entry` of a soft kind is in scenario `s` of the average problem.
    fn copy(&self, parameter: Parameter, entry: usize, s: usize) -> usize {
        match parameter {
            Parameter::SoftRows => {
                let (k, _) = self.pattern.place(entry);
                let row = self.copies[k].start + s;
                let start = self.problem.soft().C.pattern().range(row..row).start;
                start + entry - self.pattern.range(k..k).start
            }
            _ => self.copies[entry].start + s,
        }
    }
}

/// The problem with every soft row that has a predicted entry repeated, and where each row went.
fn average(
    problem: &Problem,
    placement: &Placement,
    count: usize,
) -> Result<(Problem, Vec<Range<usize>>), ScenarioError> {
    placement.check(problem)?;
    let soft = problem.soft();
    let mut touched = vec![false; soft.d.len()];
    for slot in placement.slots().iter().filter(|slot| slot.predicted) {
        match slot.parameter {
            Parameter::Linear | Parameter::Quadratic => {}
            Parameter::SoftRows => touched[soft.C.pattern().place(slot.entry).0] = true,
            Parameter::Limit | Parameter::Over | Parameter::Under => touched[slot.entry] = true,
            hard => return Err(ScenarioError::Hard(hard.symbol())),
        }
    }
    let mut all = SoftRows {
        C: Coefficients::empty(problem.n()),
        d: Vec::new(),
        alpha: Vec::new(),
        under: Vec::new(),
        blocks: Vec::new(),
    };
    let mut copies = Vec::with_capacity(touched.len());
    for (k, &repeated) in touched.iter().enumerate() {
        let start = all.d.len();
        let times = if repeated { count } else { 1 };
        for _ in 0..times {
            all.C.append(&soft.C, [k]);
            all.d.push(soft.d[k]);
            all.alpha.push(soft.alpha[k] / times as f64);
            all.under.push(soft.under[k] / times as f64);
        }
        let name = problem.row_name(RowId::Soft(k));
        let name = if repeated { format!("{name} in scenario") } else { name };
        all.blocks.push(Block { name, rows: start..start + times });
        copies.push(start..start + times);
    }
    Ok((problem.with_soft(all), copies))
}
