//! A trained predictor with all it needs to be used: statistics, and where its scenarios come from.

pub(crate) mod combination;
pub(crate) mod decider;
pub(crate) mod file;
pub(crate) mod policy;

use regretless_core::{Forecast, Law, Placement, Problem, RowValues, ScenarioError, Scenarios};

use crate::data::encoder::Encoder;
use crate::data::past::Past;
use crate::data::scaler::Scaler;
use crate::data::transform::{self, Transform};
use crate::forecast::Source;
use crate::model::combination::{Averaged, Combination, mean};
use crate::predictor::Predictor;
use crate::settings::RiskSettings;

/// A predictor in the parameters' own units.
#[derive(Clone, Debug)]
pub struct Model {
    /// One predictor, or the members of an ensemble.
    pub members: Vec<Box<dyn Predictor>>,
    /// How features become inputs.
    pub features: Encoder,
    /// Statistics of the targets; the outputs of an embedding are in the target's own units (mean 0, deviation 1).
    pub targets: Scaler,
    /// The scale that each target is predicted on, its statistics included; empty if all are on their own.
    pub transforms: Vec<Transform>,
    /// Where scenarios come from; `None` for point decisions and for ensembles, whose members are the scenarios.
    pub source: Option<Box<dyn Source>>,
    /// How much the worst scenarios count; `None` for their mean.
    pub risk: Option<RiskSettings>,
    /// Predictions of some training rows, from whose solutions new decisions start.
    pub anchors: Vec<f64>,
    /// What is known of those rows.
    pub anchors_known: Vec<f64>,
    /// What a unit of violation of each hard row costs, if predictions can cause any.
    pub prices: Option<RowValues>,
    /// The newest values of each series, if features are made of them.
    pub past: Option<Past>,
    /// The models that decide together with this one, if there are such.
    pub combination: Option<Combination>,
}

impl Model {
    /// Number of predicted parameters.
    pub fn width(&self) -> usize {
        self.targets.mean.len()
    }

    /// Features as the predictor takes them: encoded, missing cells at the mean or, for trees, missing.
    pub fn encode(&self, features: &[f64]) -> Vec<f32> {
        self.features.inputs(features)
    }

    /// [`Model::encode`] with all digits.
    pub(crate) fn standardised(&self, features: &[f64]) -> Vec<f64> {
        self.features.standardised(features)
    }

    /// Outputs in the parameters' units.
    pub fn restore(&self, outputs: &[f32]) -> Vec<f64> {
        transform::read(&self.targets, &self.transforms, outputs).map(|(value, _)| value).collect()
    }

    /// Each member's predictions for rows of features, row-major.
    pub fn predict_each(&self, features: &[f64], rows: usize) -> Vec<Vec<f64>> {
        let inputs = self.encode(features);
        self.members.iter().map(|member| self.restore(&member.predict(&inputs, rows))).collect()
    }

    /// How what the model itself says of an instance stands for a forecast; `None` for a point.
    pub fn law(&self) -> Option<Law> {
        match &self.source {
            Some(source) => Some(source.law()),
            None if self.members.len() > 1 => Some(Law::Points { weights: self.weights().collect() }),
            None => None,
        }
    }

    /// The scenarios that the model decides for, if it has any.
    pub fn scenarios(
        &self,
        problem: &Problem,
        placement: &Placement,
    ) -> Result<Option<Scenarios>, ScenarioError> {
        let Some(law) = self.law() else { return Ok(None) };
        let scenarios = Scenarios::of(problem, placement, law)?;
        let Some(risk) = self.risk else { return Ok(Some(scenarios)) };
        scenarios.with_risk(risk.risk()?).map(Some)
    }

    /// Numbers that the model itself says of a row.
    pub(crate) fn entries(&self) -> usize {
        self.law().map_or(self.width(), |law| law.entries(self.width()))
    }

    /// The models that take decisions of their own, with what each counts; this one alone unless decisions are averaged.
    pub(crate) fn deciding(&self) -> Vec<(f64, &Self)> {
        match &self.combination {
            Some(own) if own.averaged == Averaged::Decisions => {
                let models = std::iter::once(self).chain(own.partners.iter().map(|partner| &partner.model));
                own.weights().into_iter().zip(models).collect()
            }
            _ => vec![(1.0, self)],
        }
    }

    /// True if decisions are the mean of those of several models.
    pub fn averages_decisions(&self) -> bool {
        self.deciding().len() > 1
    }

    /// True if decisions are for more than a point.
    pub fn has_scenarios(&self) -> bool {
        self.deciding().iter().any(|(_, model)| model.law().is_some())
    }

    /// What the model says of rows: numbers that [`Model::law`] makes forecasts of, or points; of models whose decisions are averaged
    /// those of each, one after the other.
    pub fn seen(&self, features: &[f64], rows: usize) -> Vec<f64> {
        match &self.deciding()[..] {
            [_] => self.own_seen(features, rows),
            models => {
                let each: Vec<(usize, Vec<f64>)> = models
                    .iter()
                    .map(|(_, model)| (model.entries(), model.own_seen(features, rows)))
                    .collect();
                let row = |r: usize| {
                    each.iter().flat_map(move |(width, own)| own[r * width..(r + 1) * width].iter())
                };
                (0..rows).flat_map(row).copied().collect()
            }
        }
    }

    /// [`Model::seen`] of this model alone, or of the predictions of several.
    pub(crate) fn own_seen(&self, features: &[f64], rows: usize) -> Vec<f64> {
        if let Some(source) = &self.source {
            return source.seen(&self.points(features, rows), &self.encode(features), rows);
        }
        if self.members.len() == 1 || self.averages_predictions() {
            return self.points(features, rows);
        }
        let each = self.predict_each(features, rows);
        let width = self.width();
        let row = |r: usize| each.iter().flat_map(move |m| m[r * width..(r + 1) * width].iter().copied());
        (0..rows).flat_map(row).collect()
    }

    /// What is predicted for rows of features as weighted scenarios, the same number for each row: one of them for a point. Models
    /// whose decisions are averaged have their scenarios side by side.
    pub fn forecasts(&self, features: &[f64], rows: usize) -> Vec<Forecast> {
        let width = self.width();
        let alone = self.deciding().len() == 1;
        let each = self.deciding().into_iter().map(|(weight, model)| {
            let law = model.law().unwrap_or_else(|| Law::points(1));
            let seen = if alone { self.seen(features, rows) } else { model.own_seen(features, rows) };
            let own = seen.chunks_exact(law.entries(width)).map(|own| law.forecast(own, width));
            (weight, own.collect::<Vec<Forecast>>())
        });
        let each: Vec<(f64, Vec<Forecast>)> = each.collect();
        (0..rows).map(|row| Forecast::mixed(each.iter().map(|(weight, own)| (*weight, &own[row])))).collect()
    }

    /// Predictions for rows of features, row-major: what the predictor says, or the mean of past outcomes; the mean of those of all
    /// models that decide together.
    pub fn predict(&self, features: &[f64], rows: usize) -> Vec<f64> {
        let own = self.own_predict(features, rows);
        let Some(combination) = self.combination.as_ref().filter(|_| self.averages_decisions()) else {
            return own;
        };
        let others: Vec<Vec<f64>> =
            combination.partners.iter().map(|partner| partner.model.predict(features, rows)).collect();
        mean(&combination.weights(), std::iter::once(&own).chain(&others).map(Vec::as_slice))
    }

    fn own_predict(&self, features: &[f64], rows: usize) -> Vec<f64> {
        let Some(source) = self.source.as_ref().filter(|s| s.source().is_of_outcomes()) else {
            return self.points(features, rows);
        };
        let (law, width) = (source.law(), self.width());
        let seen = self.own_seen(features, rows);
        seen.chunks_exact(law.entries(width)).flat_map(|own| law.forecast(own, width).mean()).collect()
    }

    /// What each member counts.
    fn weights(&self) -> impl Iterator<Item = f64> {
        self.members.iter().map(|member| member.weight())
    }

    /// True if one decision is taken for the mean of what several models predict.
    pub(crate) fn averages_predictions(&self) -> bool {
        self.combination.as_ref().is_some_and(|own| own.averaged == Averaged::Predictions)
    }

    /// True if trees are among what predicts.
    pub(crate) fn grows(&self) -> bool {
        let partners = self.combination.iter().flat_map(|own| &own.partners);
        let own = self.members.iter().any(|member| member.boosting().is_some());
        own || partners.into_iter().any(|partner| partner.model.grows())
    }

    /// What is predicted, before scenarios: the mean over members, and over all models whose predictions are averaged.
    fn points(&self, features: &[f64], rows: usize) -> Vec<f64> {
        let own = self.own_points(features, rows);
        let Some(combination) = self.combination.as_ref().filter(|_| self.averages_predictions()) else {
            return own;
        };
        let others: Vec<Vec<f64>> =
            combination.partners.iter().map(|partner| partner.model.predict(features, rows)).collect();
        mean(&combination.weights(), std::iter::once(&own).chain(&others).map(Vec::as_slice))
    }

    /// The mean of what the members predict.
    fn own_points(&self, features: &[f64], rows: usize) -> Vec<f64> {
        let each = self.predict_each(features, rows);
        if let [alone] = &each[..] {
            return alone.clone();
        }
        let all: f64 = self.weights().sum();
        let mut mean = vec![0.0; rows * self.width()];
        for (member, weight) in each.iter().zip(self.weights()) {
            mean.iter_mut().zip(member).for_each(|(m, own)| *m += weight * own);
        }
        mean.iter_mut().for_each(|m| *m /= all);
        mean
    }

    /// Decides for the scenarios of forecasts that are given, if these have several, in place of their mean.
    pub(crate) fn spread_out(&mut self) {
        let [member] = &self.members[..] else { return };
        if let Some(given) = member.given().filter(|given| given.count() > 1) {
            self.members = given.each().map(|one| Box::new(one) as Box<dyn Predictor>).collect();
        }
    }
}
