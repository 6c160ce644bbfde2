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
//! coefficients are predicted.

use std::ops::Range;

use thiserror::Error;

use crate::gradient::Gradients;
use crate::predict::layout::Layout;
use crate::problem::parameter::{Parameter, Parameters, Role};
use crate::problem::{Block, Coefficients, Pattern, Problem, ProblemError, RowId, SoftRows};

/// Why there is no average problem.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The layout does not fit the problem.
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
    /// Made for another problem or layout.
    #[error("the scenarios were made for another problem or another layout of predictions")]
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
/// let layout = Layout::whole(&problem, &[Parameter::Limit]);
/// // The forecast errs by −2 … 2; 10 is predicted.
/// let scenarios = Scenarios::new(&problem, &layout, vec![-2.0, -1.0, 0.0, 1.0, 2.0])?;
/// let oracle = Oracle::new(scenarios.problem());
/// let order = oracle.solve(&scenarios.parameters(&[10.0]).instance())?;
/// assert!((order.x[0] - 8.0).abs() < 1e-9); // one unit more loses 6 in one case out of five: not worth 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scenarios {
    problem: Problem,
    layout: Layout,
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
    pub fn new(problem: &Problem, layout: &Layout, residuals: Vec<f64>) -> Result<Self, ScenarioError> {
        let width = layout.width();
        if width == 0 || residuals.is_empty() || !residuals.len().is_multiple_of(width) {
            return Err(ScenarioError::Length { width, found: residuals.len() });
        }
        if let Some(at) = residuals.iter().position(|r| !r.is_finite()) {
            return Err(ScenarioError::NotFinite(at));
        }
        let count = residuals.len() / width;
        let pattern = problem.soft().C.pattern().clone();
        let (problem, copies) = average(problem, layout, count)?;
        Ok(Self { problem, layout: layout.clone(), residuals, count, members: false, copies, pattern })
    }

    /// Each instance brings its own `count` scenarios: the members of an ensemble. A prediction is then the members one
    /// after the other, `count` × width entries.
    pub fn from_members(problem: &Problem, layout: &Layout, count: usize) -> Result<Self, ScenarioError> {
        let residuals = vec![0.0; count * layout.width()];
        Ok(Self { members: true, ..Self::new(problem, layout, residuals)? })
    }

    /// Refuses scenarios that were made for something else.
    pub(crate) fn fits(&self, problem: &Problem, layout: &Layout) -> Result<(), ScenarioError> {
        let (own, other) = (self.problem.shape(), problem.shape());
        let same_rows = (own.n, own.at_most, own.equal, self.copies.len())
            == (other.n, other.at_most, other.equal, other.soft);
        if same_rows && self.layout == *layout { Ok(()) } else { Err(ScenarioError::Mismatch) }
    }

    /// The average problem; hard rows and bounds are those of the original one.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Number of scenarios.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Entries of a prediction: the layout's width, or `count` times that if predictions bring their own scenarios.
    pub fn width(&self) -> usize {
        self.layout.width() * if self.members { self.count } else { 1 }
    }

    /// Numbers of the soft rows of the original problem for those of the average problem.
    pub(crate) fn soft(&self, values: &[f64]) -> Vec<f64> {
        self.copies.iter().zip(values).flat_map(|(rows, v)| rows.clone().map(|_| *v)).collect()
    }

    /// False if deciding for the average is deciding for the prediction: nothing but θ and Q predicted and no bias.
    pub fn changes_decision(&self) -> bool {
        if self.layout.parts().iter().any(|p| p.parameter.role() != Role::Objective) {
            return true;
        }
        self.members && self.count > 1 || self.means(&self.residuals).iter().any(|m| *m != 0.0)
    }

    /// The parameters of the average problem for a prediction of [`Scenarios::width`] entries.
    ///
    /// # Panics
    /// If the prediction has another number of entries.
    pub fn parameters(&self, prediction: &[f64]) -> Parameters {
        self.parameters_of(&self.spread(prediction))
    }

    /// The parameters of the average problem for S × width values given outright.
    ///
    /// # Panics
    /// If there are not S × width of them.
    pub fn parameters_of(&self, members: &[f64]) -> Parameters {
        let (width, share) = (self.layout.width(), 1.0 / self.count as f64);
        assert_eq!(members.len(), self.count * width, "the entries of every scenario");
        let mut out = Parameters::default();
        let means = self.means(members);
        let mut at = 0;
        for part in self.layout.parts() {
            let (parameter, range) = (part.parameter, part.range.clone());
            let place = match parameter {
                Parameter::Linear | Parameter::Quadratic => {
                    let mean = &means[at..at + range.len()];
                    let mut whole = out.get(parameter).unwrap_or(parameter.of(&self.problem)).to_vec();
                    // Only an LP's Q can be missing; it is then one of zeros.
                    whole.resize(parameter.entries(&self.problem), 0.0);
                    whole[range.clone()].copy_from_slice(mean);
                    out.set(parameter, whole);
                    at += range.len();
                    continue;
                }
                _ => out.get_mut(parameter, &self.problem),
            };
            for entry in range {
                for (s, scenario) in members.chunks_exact(width).enumerate() {
                    let value = scenario[at];
                    place[self.copy(parameter, entry, s)] = match parameter {
                        Parameter::Over | Parameter::Under => share * value.max(0.0),
                        _ => value,
                    };
                }
                at += 1;
            }
        }
        out
    }

    /// The adjoint of [`Scenarios::parameters`]: from gradients in the parameters of the average problem to the gradient
    /// in the prediction, of [`Scenarios::width`] entries. A price below 0 counts as 0 and passes nothing on.
    ///
    /// # Panics
    /// If the prediction or `out` has another number of entries.
    pub fn gather(&self, gradients: &Gradients, prediction: &[f64], out: &mut [f64]) {
        assert_eq!(out.len(), self.width(), "one place for each predicted entry");
        let (width, share) = (self.layout.width(), 1.0 / self.count as f64);
        let members = self.spread(prediction);
        out.fill(0.0);
        let mut at = 0;
        for part in self.layout.parts() {
            let from = gradients.of(part.parameter);
            for entry in part.range.clone() {
                for (s, scenario) in members.chunks_exact(width).enumerate() {
                    let pull = match part.parameter {
                        Parameter::Linear | Parameter::Quadratic => share * from[entry],
                        Parameter::Over | Parameter::Under if scenario[at] < 0.0 => 0.0,
                        Parameter::Over | Parameter::Under => {
                            share * from[self.copy(part.parameter, entry, s)]
                        }
                        _ => from[self.copy(part.parameter, entry, s)],
                    };
                    out[if self.members { s * width + at } else { at }] += pull;
                }
                at += 1;
            }
        }
    }

    /// Every scenario of a prediction, one after the other.
    fn spread(&self, prediction: &[f64]) -> Vec<f64> {
        assert_eq!(prediction.len(), self.width(), "one value for each predicted entry");
        if self.members {
            return prediction.to_vec();
        }
        let scenarios = self.residuals.chunks_exact(prediction.len());
        scenarios.flat_map(|r| r.iter().zip(prediction).map(|(r, p)| p + r)).collect()
    }

    fn means(&self, members: &[f64]) -> Vec<f64> {
        let mut means = vec![0.0; self.layout.width()];
        for scenario in members.chunks_exact(means.len()) {
            means.iter_mut().zip(scenario).for_each(|(m, v)| *m += v);
        }
        means.iter_mut().for_each(|m| *m /= self.count as f64);
        means
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
    layout: &Layout,
    count: usize,
) -> Result<(Problem, Vec<Range<usize>>), ScenarioError> {
    layout.check(problem)?;
    let soft = problem.soft();
    let mut touched = vec![false; soft.d.len()];
    for part in layout.parts() {
        match part.parameter {
            Parameter::Linear | Parameter::Quadratic => {}
            Parameter::SoftRows => {
                let rows = part.range.clone().map(|entry| soft.C.pattern().place(entry).0);
                rows.for_each(|k| touched[k] = true);
            }
            Parameter::Limit | Parameter::Over | Parameter::Under => touched[part.range.clone()].fill(true),
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
