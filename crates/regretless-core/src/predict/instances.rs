//! From flat predictions to instances of the problem that decides, and back from its gradients.

use crate::gradient::Gradients;
use crate::predict::layout::{Layout, Values};
use crate::predict::scenarios::{ScenarioError, Scenarios};
use crate::problem::Problem;

/// How predictions become instances of the problem that decides: outright, or through scenarios.
#[derive(Debug)]
pub(crate) struct Reading {
    problem: Problem,
    layout: Layout,
    scenarios: Option<Scenarios>,
}

impl Reading {
    pub(crate) fn new(
        problem: &Problem,
        layout: &Layout,
        scenarios: Option<Scenarios>,
    ) -> Result<Self, ScenarioError> {
        if let Some(scenarios) = &scenarios {
            scenarios.fits(problem, layout)?;
        }
        Ok(Self { problem: problem.clone(), layout: layout.clone(), scenarios })
    }

    /// The problem that decides.
    pub(crate) fn problem(&self) -> &Problem {
        self.scenarios.as_ref().map_or(&self.problem, Scenarios::problem)
    }

    /// The problem of the truth.
    pub(crate) fn original(&self) -> &Problem {
        &self.problem
    }

    /// Numbers of the soft rows for those of the problem that decides.
    pub(crate) fn soft(&self, values: &[f64]) -> Vec<f64> {
        self.scenarios.as_ref().map_or_else(|| values.to_vec(), |scenarios| scenarios.soft(values))
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Entries of a prediction.
    pub(crate) fn width(&self) -> usize {
        self.scenarios.as_ref().map_or(self.layout.width(), Scenarios::width)
    }

    /// True if predictions and truths are instances of one problem that differ in θ only.
    pub(crate) fn is_theta_only(&self) -> bool {
        self.scenarios.is_none() && self.layout.is_theta_only()
    }

    pub(crate) fn values<'a>(&self, prediction: &'a [f64]) -> Values<'a> {
        match &self.scenarios {
            Some(scenarios) => Values::Owned(Box::new(scenarios.parameters(prediction))),
            None => self.layout.values(&self.problem, prediction),
        }
    }

    pub(crate) fn truth<'a>(&self, truth: &'a [f64]) -> Values<'a> {
        self.layout.values(&self.problem, truth)
    }

    pub(crate) fn gather(&self, gradients: &Gradients, prediction: &[f64], out: &mut [f64]) {
        match &self.scenarios {
            Some(scenarios) => scenarios.gather(gradients, prediction, out),
            None => self.layout.gather(gradients, out),
        }
    }
}
