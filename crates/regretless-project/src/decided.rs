//! Decisions as rows of a table: what `decide` writes, whoever asks.

use regretless_core::{Outlook, Promised};
use regretless_learn::{Decider, LearnError};

use crate::DataChunk;

/// The objective that a decision has if the prediction comes true, which it never quite does.
const IF_PREDICTED: &str = "objective_if_predicted";
/// The mean objective over scenarios.
const EXPECTED: &str = "expected_objective";
/// What is minimised at risk, and the objective that is missed with a probability of at most 1 − τ.
const AT_RISK: [&str; 2] = ["objective_at_risk", "threshold"];

/// What is said of a decision.
const OPTIMAL: &str = "optimal";
/// What is said of the mean of several.
const AVERAGED: &str = "averaged";

/// The decision for a row: its numbers in the order of [`Deciding::names`], NaN where there is no decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// `optimal`, `averaged` where it is the mean of several decisions, or why there is none.
    pub status: String,
    /// Objectives, decision, prediction; ten significant digits.
    pub numbers: Vec<f64>,
}

impl Decided {
    /// True if there is a decision.
    pub fn is_there(&self) -> bool {
        [OPTIMAL, AVERAGED].contains(&self.status.as_str())
    }
}

/// A model at work on rows of a table.
#[derive(Debug)]
pub struct Deciding<'a> {
    decider: &'a Decider,
    names: Vec<String>,
    predictions: bool,
}

impl<'a> Deciding<'a> {
    /// `head` are the columns that say what a decision is for: the name of a row or its number, its time and series. With `predictions`
    /// those are written, too.
    pub fn new(decider: &'a Decider, head: &[String], predictions: bool) -> Self {
        let at_risk = if decider.is_at_risk() { &AT_RISK[..] } else { &[] };
        let objectives = std::iter::once(IF_PREDICTED).chain(decider.has_scenarios().then_some(EXPECTED));
        let objectives = objectives.chain(at_risk.iter().copied());
        // A variable may be called like one of the first columns.
        let taken =
            |name: &String| name == "status" || head.contains(name) || objectives.clone().any(|o| o == name);
        let own = decider.problem().variables().iter();
        let own = own.map(|v| if taken(v) { format!("x_{v}") } else { v.clone() });
        let targets = if predictions { decider.card().targets.as_slice() } else { &[] };
        let predicted = targets.iter().map(|t| format!("predicted_{t}"));
        let names = objectives.clone().map(str::to_owned).chain(own).chain(predicted).collect();
        Self { decider, names, predictions }
    }

    /// Names of the columns of numbers: objectives, decision, prediction.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Decides for the rows of a chunk. One that cannot be decided for has its reason for a status and no numbers, and stops no other.
    /// Beside the decisions: prices that come out negative in the predictions, and count as 0.
    pub fn chunk(&self, chunk: &DataChunk) -> Result<(Vec<Decided>, usize), LearnError> {
        let trouble = |row: usize| chunk.troubles.get(row).and_then(Option::as_deref);
        let fine: Vec<usize> = (0..chunk.rows).filter(|&row| trouble(row).is_none()).collect();
        let gather = |table: &[f64]| -> Vec<f64> {
            let width = table.len() / chunk.rows.max(1);
            fine.iter().flat_map(|row| &table[row * width..(row + 1) * width]).copied().collect()
        };
        let (features, known) = (gather(&chunk.features), gather(&chunk.known));
        let mut decided = self.decide(&features, &known, fine.len())?.into_iter();
        let cut = self.decider.cut(&features, &known, fine.len())?;
        let none =
            |status: &str| Decided { status: status.to_owned(), numbers: vec![f64::NAN; self.names.len()] };
        let one = |row: usize| trouble(row).map(none).or_else(|| decided.next());
        Ok(((0..chunk.rows).filter_map(one).collect(), cut))
    }

    /// Decides for rows of features, with what is known of them.
    pub fn decide(&self, features: &[f64], known: &[f64], rows: usize) -> Result<Vec<Decided>, LearnError> {
        let predictions = self.decider.predict(features, rows);
        let found = self.decider.decide_with_outlooks(features, known, rows)?.into_iter();
        let expects = self.decider.has_scenarios();
        let at_risk = self.decider.is_at_risk();
        let first = 1 + usize::from(expects) + if at_risk { AT_RISK.len() } else { 0 };
        let one = |(i, found): (usize, Promised)| {
            let prediction = &predictions[i * self.decider.width()..(i + 1) * self.decider.width()];
            let known = &known[i * self.decider.known()..(i + 1) * self.decider.known()];
            let mut numbers = Vec::with_capacity(self.names.len());
            let status = match found {
                Ok((optimum, outlook)) if optimum.is_optimal() => {
                    numbers.push(self.decider.objective_if_predicted(&optimum.x, prediction, known));
                    numbers.extend(expects.then_some(optimum.objective));
                    let kept = |Outlook { value, threshold, .. }| [value, threshold];
                    numbers.extend(outlook.map(kept).into_iter().flatten());
                    numbers.extend(optimum.x);
                    if self.decider.averages() { AVERAGED } else { OPTIMAL }.to_owned()
                }
                Ok((optimum, _)) => optimum.status.word().to_owned(),
                Err(error) => error.to_string(),
            };
            let decision = first + self.decider.problem().n();
            numbers.resize(decision, f64::NAN);
            if self.predictions {
                numbers.extend(prediction);
            }
            let x = first..decision;
            let rounding = ROUNDING * numbers[x].iter().fold(0.0, |max: f64, v| max.max(v.abs()));
            numbers[..decision].iter_mut().filter(|v| v.abs() <= rounding).for_each(|v| *v = 0.0);
            numbers.iter_mut().for_each(|v| *v = rounded(*v));
            Decided { status, numbers }
        };
        Ok(found.enumerate().map(one).collect())
    }
}

/// A share of the largest entry of a decision: what is below, in it or in its objective, is nothing but rounding.
const ROUNDING: f64 = 1e-12;

/// Ten significant digits, for people: what solving leaves behind them is rounding. −0 is 0.
fn rounded(v: f64) -> f64 {
    if !v.is_finite() {
        return v;
    }
    format!("{v:.9e}").parse().unwrap_or(v) + 0.0
}
