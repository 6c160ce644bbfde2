//! A trained model at work: decisions for new rows.

use std::path::Path;

use regretless_core::{Decision, Forecast, Optimum, Placement, Problem, ProblemError, Promised, Regret};

use crate::data::past::Past;
use crate::error::LearnError;
use crate::model::Model;
use crate::model::file::{self, For, ModelCard};
use crate::model::policy::Policy;
use crate::select::choose::Chosen;
use crate::select::training;
use crate::settings::PredictorSettings;
use crate::task::Task;

/// New solves start from the nearest of this many training solutions.
const ANCHORS: usize = 64;

/// What messages about a model without a file call it.
const IN_MEMORY: &str = "the model in memory";

/// Decides for rows of features with a model.
#[derive(Debug)]
pub struct Decider {
    problem: Problem,
    placement: Placement,
    model: Model,
    card: ModelCard,
    policy: Policy,
}

impl Decider {
    /// Gets what was trained on a task ready to decide.
    pub fn trained(task: &Task, chosen: &Chosen) -> Result<Self, LearnError> {
        let (model, card) = training::finished(task, chosen);
        Self::new(task.problem().clone(), task.placement().clone(), model, card)
    }

    /// Gets a model ready to decide.
    pub fn new(
        problem: Problem,
        placement: Placement,
        model: Model,
        card: ModelCard,
    ) -> Result<Self, LearnError> {
        let ready = |model: &Model, scenarios| {
            let mut regret = Regret::new(&problem, &placement, scenarios)?;
            if let Some(prices) = &model.prices {
                regret.price_violations(prices)?;
            }
            regret.set_anchors(&model.anchors, &model.anchors_known, ANCHORS)?;
            Ok(regret)
        };
        let policy = Policy::new(&model, &problem, &placement, ready)?;
        Ok(Self { problem, placement, model, card, policy })
    }

    /// The model as the bytes of a model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, LearnError> {
        file::to_bytes(Path::new(IN_MEMORY), &self.model, &self.card, &[])
    }

    /// Gets a model ready to decide that [`Decider::to_bytes`] wrote down for the same problem and predictor.
    pub fn from_bytes(
        problem: Problem,
        placement: Placement,
        predictor: &PredictorSettings,
        bytes: &[u8],
    ) -> Result<Self, LearnError> {
        let made_for = For { problem: &problem, placement: &placement, predictor };
        let (model, card, _) = file::from_bytes(Path::new(IN_MEMORY), bytes, made_for)?;
        Self::new(problem, placement, model, card)
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Which coefficients of the problem quantities and known numbers are.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// What the model says about itself.
    pub fn card(&self) -> &ModelCard {
        &self.card
    }

    /// The newest values of each series, if features are made of them.
    pub fn past(&self) -> Option<&Past> {
        self.model.past.as_ref()
    }

    /// Number of predicted parameters.
    pub fn width(&self) -> usize {
        self.placement.width()
    }

    /// Predictions for rows of features.
    pub fn predict(&self, features: &[f64], rows: usize) -> Vec<f64> {
        self.model.predict(features, rows)
    }

    /// What is predicted for rows of features as weighted scenarios, the same number for each row: one of them without scenarios.
    pub fn forecasts(&self, features: &[f64], rows: usize) -> Vec<Forecast> {
        self.model.forecasts(features, rows)
    }

    /// Scenarios of a row: one without a source of them.
    pub fn scenarios(&self) -> usize {
        let own = |model: &Model| model.law().map_or(1, |law| law.count(self.width()));
        self.model.deciding().into_iter().map(|(_, model)| own(model)).sum()
    }

    /// Known numbers of a row.
    pub fn known(&self) -> usize {
        self.placement.known()
    }

    /// Exact decisions for rows of features, with what is known of them. A prediction that the problem refuses is an `Err` of its own.
    pub fn decide(
        &self,
        features: &[f64],
        known: &[f64],
        rows: usize,
    ) -> Result<Vec<Result<Optimum, ProblemError>>, LearnError> {
        let promised = self.decide_with_outlooks(features, known, rows)?.into_iter();
        Ok(promised.map(|decided| decided.map(|(optimum, _)| optimum)).collect())
    }

    /// [`Decider::decide`] with what decisions at risk promise.
    pub fn decide_with_outlooks(
        &self,
        features: &[f64],
        known: &[f64],
        rows: usize,
    ) -> Result<Vec<Promised>, LearnError> {
        self.policy.decide(&self.seen(features, rows), known)
    }

    /// Prices that come out negative in the predictions of rows, and count as 0.
    pub fn cut(&self, features: &[f64], known: &[f64], rows: usize) -> Result<usize, LearnError> {
        if !self.placement.guards() {
            return Ok(0);
        }
        self.policy.cut(&self.seen(features, rows), known)
    }

    /// True if decisions are for the average over scenarios: the objective of a decision is then the expected one.
    pub fn has_scenarios(&self) -> bool {
        self.model.has_scenarios()
    }

    /// True if decisions are the mean of those of several models.
    pub fn averages(&self) -> bool {
        self.model.averages_decisions()
    }

    /// True if decisions are for the worst of them, beside their mean.
    pub fn is_at_risk(&self) -> bool {
        self.has_scenarios() && self.model.risk.is_some()
    }

    /// The objective of a decision if the prediction came true; NaN if the problem refuses the prediction.
    pub fn objective_if_predicted(&self, x: &[f64], prediction: &[f64], known: &[f64]) -> f64 {
        let parameters = self.placement.parameters(&self.problem, prediction, known);
        self.problem.view(&parameters.instance()).map_or(f64::NAN, |view| view.objective(x))
    }

    /// Decisions for rows of features, judged by the parameters that came true. Nothing is remembered of the rows.
    pub fn evaluate(
        &self,
        features: &[f64],
        truths: &[f64],
        known: &[f64],
        rows: usize,
    ) -> Result<Vec<Decision>, LearnError> {
        self.judged(&self.seen(features, rows), truths, known)
    }

    /// What the model says of rows: predictions, or what stands for its scenarios.
    pub(crate) fn seen(&self, features: &[f64], rows: usize) -> Vec<f64> {
        self.model.seen(features, rows)
    }

    /// Decisions for what [`Decider::seen`] says of rows, judged by what came true.
    pub(crate) fn judged(
        &self,
        seen: &[f64],
        truths: &[f64],
        known: &[f64],
    ) -> Result<Vec<Decision>, LearnError> {
        self.policy.evaluate_once(seen, truths, known)
    }

    /// Exact decisions, row after row, NaN where there is none.
    pub(crate) fn taken(&self, features: &[f64], known: &[f64], rows: usize) -> Result<Vec<f64>, LearnError> {
        let n = self.problem.n();
        let mut taken = Vec::with_capacity(rows * n);
        for decided in self.decide(features, known, rows)? {
            match decided {
                Ok(optimum) if optimum.is_optimal() => taken.extend(optimum.x),
                _ => taken.extend(std::iter::repeat_n(f64::NAN, n)),
            }
        }
        Ok(taken)
    }

    /// Other decisions for rows that were judged.
    pub(crate) fn beside(
        &self,
        taken: &[f64],
        judged: &[Decision],
        truths: &[f64],
        known: &[f64],
    ) -> Result<Vec<Decision>, LearnError> {
        self.policy.judge_beside(taken, judged, truths, known)
    }
}
