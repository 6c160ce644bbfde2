//! A trained run at work: decisions for new rows.

use std::path::Path;

use regretless_core::{Decision, Layout, Optimum, ProblemError, Regret};
use regretless_project::Spec;

use crate::choose::Chosen;
use crate::error::LearnError;
use crate::judge::{scenarios, seen};
use crate::model::Model;
use crate::model_file::{self, ModelCard};
use crate::run::Run;
use crate::task::{Task, layout};
use crate::training;

/// New solves start from the nearest of this many training solutions.
const ANCHORS: usize = 64;

/// What messages about a model without a file call it.
const IN_MEMORY: &str = "the model in memory";

/// Decides for rows of features with a run's model.
#[derive(Debug)]
pub struct Decider {
    spec: Spec,
    layout: Layout,
    model: Model,
    card: ModelCard,
    regret: Regret,
}

impl Decider {
    /// Gets a run's model ready to decide.
    pub fn open(run: &Run) -> Result<Self, LearnError> {
        let spec = run.spec()?;
        let (model, card) = run.model()?;
        Self::new(spec, model, card)
    }

    /// Gets what was trained on a task ready to decide.
    pub fn trained(task: &Task, chosen: &Chosen) -> Result<Self, LearnError> {
        let (model, card) = training::finished(task, chosen);
        Self::new(task.spec().clone(), model, card)
    }

    /// Gets a model ready to decide.
    pub fn new(spec: Spec, model: Model, card: ModelCard) -> Result<Self, LearnError> {
        let layout = layout(&spec);
        let mut regret = Regret::new(spec.problem(), &layout, scenarios(&model, spec.problem(), &layout)?)?;
        if let Some(prices) = &model.prices {
            regret.price_violations(prices)?;
        }
        regret.set_anchors(&model.anchors, ANCHORS)?;
        Ok(Self { spec, layout, model, card, regret })
    }

    /// The model as the bytes of a model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, LearnError> {
        model_file::to_bytes(Path::new(IN_MEMORY), &self.model, &self.card, &[])
    }

    /// Gets a model ready to decide that [`Decider::to_bytes`] wrote down for the same problem file.
    pub fn from_bytes(spec: Spec, bytes: &[u8]) -> Result<Self, LearnError> {
        let (model, card, _) = model_file::from_bytes(Path::new(IN_MEMORY), bytes, &spec)?;
        Self::new(spec, model, card)
    }

    /// The problem file.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// What the model says about itself.
    pub fn card(&self) -> &ModelCard {
        &self.card
    }

    /// Number of predicted parameters.
    pub fn width(&self) -> usize {
        self.layout.width()
    }

    /// Predictions for rows of features.
    pub fn predict(&self, features: &[f64], rows: usize) -> Vec<f64> {
        self.model.predict(features, rows)
    }

    /// Exact decisions for rows of features. A prediction that the problem refuses is an `Err` of its own.
    pub fn decide(
        &self,
        features: &[f64],
        rows: usize,
    ) -> Result<Vec<Result<Optimum, ProblemError>>, LearnError> {
        Ok(self.regret.decide(&seen(&self.model, features, rows))?)
    }

    /// True if decisions are for the average over scenarios: the objective of a decision is then the expected one.
    pub fn has_scenarios(&self) -> bool {
        self.model.members.len() > 1 || !self.model.residuals.is_empty()
    }

    /// The objective of a decision if the prediction came true; NaN if the problem refuses the prediction.
    pub fn objective_if_predicted(&self, x: &[f64], prediction: &[f64]) -> f64 {
        let problem = self.spec.problem();
        let parameters = self.layout.parameters(problem, prediction);
        problem.view(&parameters.instance()).map_or(f64::NAN, |view| view.objective(x))
    }

    /// Decisions for rows of features, judged by the parameters that came true. Nothing is remembered of the rows.
    pub fn evaluate(
        &self,
        features: &[f64],
        truths: &[f64],
        rows: usize,
    ) -> Result<Vec<Decision>, LearnError> {
        Ok(self.regret.evaluate_once(&seen(&self.model, features, rows), truths)?)
    }
}
