//! What decides for a model: one evaluator, or one for each model whose decisions are averaged.

use regretless_core::{Batch, Decision, Optimum, Placement, Problem, Promised, Regret, RowValues, Scenarios};

use crate::error::LearnError;
use crate::model::Model;
use crate::model::combination::mean;

/// Evaluators of a model's decisions. Rows are what [`Model::seen`] says of them.
#[derive(Debug)]
pub(crate) struct Policy {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    weight: f64,
    regret: Regret,
    /// Numbers that its model says of a row.
    entries: usize,
}

impl Policy {
    /// The evaluators of a model, each made ready by `ready`.
    pub(crate) fn new(
        model: &Model,
        problem: &Problem,
        placement: &Placement,
        ready: impl Fn(&Model, Option<Scenarios>) -> Result<Regret, LearnError>,
    ) -> Result<Self, LearnError> {
        let part = |(weight, model): (f64, &Model)| {
            let regret = ready(model, model.scenarios(problem, placement)?)?;
            Ok(Part { weight, regret, entries: model.entries() })
        };
        Ok(Self { parts: model.deciding().into_iter().map(part).collect::<Result<_, LearnError>>()? })
    }

    /// The evaluator of the first model, which judges for all.
    fn first(&self) -> &Regret {
        &self.parts[0].regret
    }

    fn is_one(&self) -> bool {
        self.parts.len() == 1
    }

    fn weights(&self) -> Vec<f64> {
        self.parts.iter().map(|part| part.weight).collect()
    }

    /// What each part's model says of the rows.
    fn apart(&self, seen: &[f64]) -> Vec<Vec<f64>> {
        let all: usize = self.parts.iter().map(|part| part.entries).sum();
        let mut from = 0;
        let own = |part: &Part| {
            let own = from..from + part.entries;
            from = own.end;
            seen.chunks_exact(all.max(1)).flat_map(|row| &row[own.clone()]).copied().collect()
        };
        self.parts.iter().map(own).collect()
    }

    /// [`Regret::evaluate`].
    pub(crate) fn evaluate(&mut self, batch: &Batch<'_>) -> Result<Vec<Decision>, LearnError> {
        if self.is_one() {
            return Ok(self.parts[0].regret.evaluate(batch)?);
        }
        let seen = self.apart(batch.predictions);
        let mut each = Vec::with_capacity(seen.len());
        for (part, own) in self.parts.iter_mut().zip(&seen) {
            each.push(part.regret.evaluate(&Batch { predictions: own, ..*batch })?);
        }
        self.together(each, batch.truths, batch.known)
    }

    /// [`Regret::evaluate_once`].
    pub(crate) fn evaluate_once(
        &self,
        seen: &[f64],
        truths: &[f64],
        known: &[f64],
    ) -> Result<Vec<Decision>, LearnError> {
        if self.is_one() {
            return Ok(self.first().evaluate_once(seen, truths, known)?);
        }
        let each = self.parts.iter().zip(self.apart(seen));
        let each = each.map(|(part, own)| part.regret.evaluate_once(&own, truths, known));
        self.together(each.collect::<Result<_, _>>()?, truths, known)
    }

    /// The mean decision of each row, judged. A row that one of the models cannot decide for has none.
    fn together(
        &self,
        mut each: Vec<Vec<Decision>>,
        truths: &[f64],
        known: &[f64],
    ) -> Result<Vec<Decision>, LearnError> {
        let weights = self.weights();
        let n = each[0].first().map_or(0, |decision| decision.x.len());
        let mut taken = Vec::with_capacity(each[0].len() * n);
        for i in 0..each[0].len() {
            let fine = each.iter().all(|own| own[i].trouble.is_none());
            let x = mean(&weights, each.iter().map(|own| own[i].x.as_slice()));
            taken.extend(if fine { x } else { vec![f64::NAN; n] });
        }
        let mut judged = self.first().judge_beside(&taken, &each[0], truths, known)?;
        for (i, decision) in judged.iter_mut().enumerate() {
            decision.cut = each.iter().map(|own| own[i].cut).sum();
            let expected = weights.iter().zip(&each).map(|(weight, own)| weight * own[i].predicted_objective);
            decision.predicted_objective = expected.sum();
            if let Some(troubled) = each.iter_mut().find(|own| own[i].trouble.is_some()) {
                *decision = Decision { optimal: decision.optimal, ..troubled[i].clone() };
            }
        }
        Ok(judged)
    }

    /// [`Regret::judge_beside`].
    pub(crate) fn judge_beside(
        &self,
        taken: &[f64],
        judged: &[Decision],
        truths: &[f64],
        known: &[f64],
    ) -> Result<Vec<Decision>, LearnError> {
        Ok(self.first().judge_beside(taken, judged, truths, known)?)
    }

    /// [`Regret::decide_with_outlooks`]. An averaged decision is no vertex: its multipliers are NaN, and no row is said to be active.
    pub(crate) fn decide(&self, seen: &[f64], known: &[f64]) -> Result<Vec<Promised>, LearnError> {
        if self.is_one() {
            return Ok(self.first().decide_with_outlooks(seen, known)?);
        }
        let weights = self.weights();
        let mut each = Vec::with_capacity(self.parts.len());
        for (part, own) in self.parts.iter().zip(self.apart(seen)) {
            each.push(part.regret.decide(&own, known)?.into_iter());
        }
        let rows = std::iter::from_fn(|| each.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>());
        Ok(rows
            .map(|row| Ok((averaged(&weights, row.into_iter().collect::<Result<_, _>>()?), None)))
            .collect())
    }

    /// [`Regret::cut`].
    pub(crate) fn cut(&self, seen: &[f64], known: &[f64]) -> Result<usize, LearnError> {
        let each = self.parts.iter().zip(self.apart(seen));
        each.map(|(part, own)| Ok(part.regret.cut(&own, known)?)).sum()
    }
}

/// The mean of the decisions of a row; the first without an optimum, if there is one.
fn averaged(weights: &[f64], mut row: Vec<Optimum>) -> Optimum {
    if let Some(trouble) = row.iter().position(|optimum| !optimum.is_optimal()) {
        return row.swap_remove(trouble);
    }
    let x = mean(weights, row.iter().map(|optimum| optimum.x.as_slice()));
    let objective = weights.iter().zip(&row).map(|(weight, own)| weight * own.objective).sum();
    let first = row.swap_remove(0);
    let unknown = |values: &Vec<f64>| vec![f64::NAN; values.len()];
    let RowValues { soft, at_most, equal, lower, upper } = &first.multipliers;
    let multipliers = RowValues {
        soft: unknown(soft),
        at_most: unknown(at_most),
        equal: unknown(equal),
        lower: unknown(lower),
        upper: unknown(upper),
    };
    Optimum { x, objective, multipliers, active: Vec::new(), ..first }
}
