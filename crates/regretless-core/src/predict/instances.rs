//! From predictions to instances of the problem that decides, and back from its gradients.

use crate::gradient::Gradients;
use crate::predict::at_risk::AtRisk;
use crate::predict::placement::{Numbers, Placement, Values};
use crate::predict::risk::{Outlook, Risk};
use crate::predict::scenarios::{ScenarioError, Scenarios};
use crate::problem::parameter::Parameter;
use crate::problem::{Problem, RowId, RowValues};
use crate::solve::optimum::Optimum;

/// How predictions become instances of the problem that decides: outright, or through scenarios.
#[derive(Debug)]
pub(crate) struct Reading {
    problem: Problem,
    placement: Placement,
    scenarios: Option<Scenarios>,
}

impl Reading {
    pub(crate) fn new(
        problem: &Problem,
        placement: &Placement,
        scenarios: Option<Scenarios>,
    ) -> Result<Self, ScenarioError> {
        if let Some(scenarios) = &scenarios {
            scenarios.fits(problem, placement)?;
        }
        Ok(Self { problem: problem.clone(), placement: placement.clone(), scenarios })
    }

    /// The problem that decides.
    pub(crate) fn problem(&self) -> &Problem {
        self.scenarios.as_ref().map_or(&self.problem, Scenarios::problem)
    }

    /// The problem of the truth.
    pub(crate) fn original(&self) -> &Problem {
        &self.problem
    }

    /// Sharpness of the rows for those of the problem that decides.
    pub(crate) fn sharpness(&self, values: &RowValues) -> RowValues {
        self.scenarios.as_ref().map_or_else(|| values.clone(), |own| own.sharpness(values))
    }

    /// Penalties of hard rows for those of the problem that decides.
    pub(crate) fn penalties(&self, values: &RowValues) -> RowValues {
        self.scenarios.as_ref().map_or_else(|| values.clone(), |own| own.penalties(values))
    }

    /// The problem at risk, where decisions are.
    pub(crate) fn at_risk(&self) -> Option<&AtRisk> {
        self.scenarios.as_ref().and_then(Scenarios::at_risk)
    }

    /// The parameters of the problem that decides whose gradients are gathered.
    pub(crate) fn kinds(&self) -> Vec<Parameter> {
        self.at_risk().map_or_else(|| self.placement.predicted_kinds(), AtRisk::kinds)
    }

    pub(crate) fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Entries of a prediction.
    pub(crate) fn width(&self) -> usize {
        self.scenarios.as_ref().map_or(self.placement.width(), Scenarios::width)
    }

    /// Instances to state at a time: thousands of scenarios of many rows are megabytes each.
    pub(crate) fn at_once(&self) -> usize {
        const BYTES: usize = 256 << 20;
        let own = self.scenarios.as_ref().map_or(4 * self.problem.shape().soft, Scenarios::numbers);
        let numbers = self.width() + own;
        (BYTES / (8 * numbers.max(1))).max(16)
    }

    /// True if predictions and truths are instances of one problem that differ in θ only.
    pub(crate) fn is_theta_only(&self) -> bool {
        self.scenarios.is_none() && self.placement.is_theta_only()
    }

    pub(crate) fn values<'a>(&self, prediction: Numbers<'a>) -> Values<'a> {
        match &self.scenarios {
            Some(scenarios) => {
                Values::Owned(Box::new(scenarios.parameters(prediction.quantities, prediction.known)))
            }
            None => self.placement.values(&self.problem, prediction),
        }
    }

    pub(crate) fn truth<'a>(&self, truth: Numbers<'a>) -> Values<'a> {
        self.placement.values(&self.problem, truth)
    }

    pub(crate) fn gather(&self, gradients: &Gradients, prediction: Numbers<'_>, out: &mut [f64]) {
        let Numbers { quantities, known } = prediction;
        match &self.scenarios {
            Some(scenarios) => scenarios.gather(gradients, quantities, known, out),
            None => self.placement.gather(gradients, quantities, known, out),
        }
    }

    /// The risk that decisions are for.
    pub(crate) fn risk(&self) -> Option<Risk> {
        self.scenarios.as_ref().and_then(Scenarios::risk)
    }

    /// The decision within an optimum of the problem that decides, and what it promises at risk: its objective is then the mean.
    pub(crate) fn decided(
        &self,
        mut optimum: Optimum,
        prediction: Numbers<'_>,
    ) -> (Optimum, Option<Outlook>) {
        let Some(scenarios) = self.scenarios.as_ref().filter(|own| own.risk().is_some()) else {
            return (optimum, None);
        };
        let shape = self.problem.shape();
        optimum.x.truncate(shape.n);
        let rows = &mut optimum.multipliers;
        rows.at_most.truncate(shape.at_most);
        [&mut rows.lower, &mut rows.upper].into_iter().for_each(|bounds| bounds.truncate(shape.n));
        optimum.active.retain(|row| match *row {
            RowId::Soft(_) => false,
            RowId::AtMost(i) => i < shape.at_most,
            RowId::Equal(_) => true,
            RowId::Lower(j) | RowId::Upper(j) => j < shape.n,
        });
        if !optimum.is_optimal() {
            return (optimum, None);
        }
        let outlook = scenarios.outlook(prediction.quantities, prediction.known, &optimum.x);
        optimum.objective = outlook.map_or(optimum.objective, |outlook| outlook.mean);
        (optimum, outlook)
    }

    /// Prices that come out negative in a prediction, and count as 0.
    pub(crate) fn cut(&self, prediction: Numbers<'_>) -> usize {
        let Numbers { quantities, known } = prediction;
        let each = |quantities: &[f64]| self.placement.cut(quantities, known);
        match &self.scenarios {
            Some(scenarios) => {
                scenarios.forecast(quantities).points().chunks_exact(self.placement.width()).map(each).sum()
            }
            None => each(quantities),
        }
    }

    /// [`Reading::cut`] of some predictions together.
    pub(crate) fn cut_in(&self, predictions: &[Numbers<'_>]) -> usize {
        if !self.placement.guards() {
            return 0;
        }
        predictions.iter().map(|prediction| self.cut(*prediction)).sum()
    }

    /// Predictions, one after the other, each with what is known of its row.
    pub(crate) fn predictions<'a>(&self, quantities: &'a [f64], known: &'a [f64]) -> Vec<Numbers<'a>> {
        rows(quantities, self.width(), known, self.placement.known())
    }

    /// Truths, one after the other, each with what is known of its row.
    pub(crate) fn truths<'a>(&self, quantities: &'a [f64], known: &'a [f64]) -> Vec<Numbers<'a>> {
        rows(quantities, self.placement.width(), known, self.placement.known())
    }
}

/// The rows of two tables side by side; the second may have no columns.
pub(crate) fn rows<'a>(quantities: &'a [f64], width: usize, known: &'a [f64], by: usize) -> Vec<Numbers<'a>> {
    let row = |(i, quantities)| Numbers { quantities, known: &known[i * by..(i + 1) * by] };
    quantities.chunks_exact(width).enumerate().map(row).collect()
}
