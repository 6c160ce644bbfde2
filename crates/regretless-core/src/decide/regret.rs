//! What predictions cost: the decisions they cause, judged by the parameters that came true.

use rayon::prelude::*;

use crate::decide::medoids::Anchors;
use crate::engine::tolerance::NO_REGRET;
use crate::loss::{Batch, Cause, LossError, Side, gap_of};
use crate::predict::instances::Reading;
use crate::predict::placement::{Numbers, Placement, Values};
use crate::predict::risk::Outlook;
use crate::predict::scenarios::Scenarios;
use crate::predict::truths::Truths;
use crate::problem::{Instance, Problem, ProblemError, RowValues};
use crate::solve::batch;
use crate::solve::codec::{Reader, Writer};
use crate::solve::exact_solver::Exact;
use crate::solve::optimum::{Optimum, Status};
use crate::solve::oracle::Oracle;
use crate::solve::store::Store;

/// A decision and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// How the solve at the prediction ended.
    pub status: Status,
    /// Why the decision does not count: prediction or truth refused or without an optimum. `None` if all is well.
    pub trouble: Option<Cause>,
    /// The decision.
    pub x: Vec<f64>,
    /// F(x; truth), in the problem's own sense; infinitely bad where there is no decision or no truth to judge by.
    pub objective: f64,
    /// V(truth), in the problem's own sense; infinite if the truth has no optimum.
    pub optimal: f64,
    /// What the decision falls short of the optimum, ≥ 0; below 0 only if the decision breaks hard rows of the truth and
    /// nobody set a price on that ([`Regret::price_violations`]). Infinite where there is trouble.
    pub regret: f64,
    /// The largest violation of a hard row or bound of the truth, in the row's own units.
    pub violation: f64,
    /// Prices (and weights in Q) that came out negative in the prediction, and counted as 0.
    pub cut: usize,
    /// The objective that was expected: the optimal value at the prediction (of the average problem, with scenarios).
    pub predicted_objective: f64,
    /// What it promised and what came of that, of a decision at risk.
    pub at_risk: Option<Kept>,
}

/// A decision x with its threshold t, judged as a pair by what came true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    /// What was promised.
    pub promised: Outlook,
    /// (1 − ω)·cost + ω(t + (cost − t)⁺/(1 − τ)), in the problem's own sense; its mean is what a risk minimises. NaN where there is no
    /// truth to judge by.
    pub score: f64,
    /// True if the objective is beyond the threshold, as it should be for a share of at most 1 − τ.
    pub beyond: bool,
}

/// Decides exactly at predictions, and judges the decisions by truths.
///
/// ```
/// use regretless_core::*;
/// let problem = Problem::maximize(2)
///     .at_most("machine", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
///     .build()?;
/// let mut regret = Regret::new(&problem, &Placement::theta(2), None)?;
/// let decisions = regret.evaluate(&Batch::new(&[1.0, 2.0], &[2.0, 1.5], &[0]))?;
/// assert!((decisions[0].x[1] - 1.0).abs() < 1e-12);
/// assert!((decisions[0].regret - 0.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Regret {
    reading: Reading,
    oracle: Oracle,
    truths: Truths,
    store: Store,
    anchors: Anchors,
    /// What a unit of violation of a hard row costs.
    prices: Option<RowValues>,
}

/// A decision with what it promises at risk, or why the problem refuses the prediction.
pub type Promised = Result<(Optimum, Option<Outlook>), ProblemError>;

/// Memory for warm starts unless [`Regret::set_store_bytes`] says otherwise.
const STORE_BYTES: usize = 512 << 20;

const TAG: [u8; 4] = *b"RGRG";
const VERSION: u32 = 1;

impl Regret {
    /// An evaluator; with scenarios decisions are for the average over them.
    pub fn new(
        problem: &Problem,
        placement: &Placement,
        scenarios: Option<Scenarios>,
    ) -> Result<Self, LossError> {
        placement.check(problem)?;
        let reading = Reading::new(problem, placement, scenarios)?;
        Ok(Self {
            oracle: Oracle::new(&reading.problem().or_zero_theta()),
            truths: Truths::new(problem, placement)?,
            reading,
            store: Store::with_budget(STORE_BYTES),
            anchors: Anchors::default(),
            prices: None,
        })
    }

    /// The same evaluator with truths that others know and want to know.
    pub fn with_truths(self, truths: &Truths) -> Result<Self, LossError> {
        if !truths.fits(self.reading.original(), self.reading.placement()) {
            return Err(LossError::Truths);
        }
        Ok(Self { truths: truths.clone(), ..self })
    }

    /// The truths met so far, with their optima.
    pub fn truths(&self) -> &Truths {
        &self.truths
    }

    /// Adds what broken hard rows of the truth cost to the regret. With multipliers that make the softened problem exact, no
    /// decision gains by breaking one. Decisions taken here can break predicted hard rows and bounds only.
    pub fn price_violations(&mut self, prices: &RowValues) -> Result<(), LossError> {
        self.prices = Some(prices.checked("multiplier", self.reading.original().shape())?.clone());
        Ok(())
    }

    /// Empties the store of warm starts and gives it another budget.
    pub fn set_store_bytes(&mut self, bytes: usize) {
        self.store = Store::with_budget(bytes);
    }

    /// Decides at each prediction, from where its id was decided last, and judges by the truth.
    pub fn evaluate(&mut self, batch: &Batch<'_>) -> Result<Vec<Decision>, LossError> {
        batch.check(&self.reading)?;
        let predictions = self.reading.predictions(batch.predictions, batch.known);
        let truths = self.reading.truths(batch.truths, batch.known);
        let (known, _) = self.truths.look_up(&truths);
        let mut solved = Vec::with_capacity(predictions.len());
        let at_once = self.reading.at_once();
        for (predictions, ids) in predictions.chunks(at_once).zip(batch.ids.chunks(at_once)) {
            let values: Vec<Values<'_>> = predictions.par_iter().map(|p| self.reading.values(*p)).collect();
            let instances: Vec<Instance<'_>> = values.iter().map(Values::instance).collect();
            solved.extend(self.oracle.solve_batch_warm(&instances, ids, &mut self.store));
        }
        let rows = solved.into_par_iter().zip(predictions).zip(truths).zip(&known);
        Ok(rows.map(|(((solved, p), truth), known)| self.judge(solved, p, truth, known)).collect())
    }

    /// [`Regret::evaluate`] for rows that will not come again: each starts from the nearest anchor, and nothing is kept.
    pub fn evaluate_once(
        &self,
        predictions: &[f64],
        truths: &[f64],
        known: &[f64],
    ) -> Result<Vec<Decision>, LossError> {
        let rows = predictions.len() / self.reading.width();
        self.check("truths", truths, rows * self.reading.placement().width())?;
        let solved = self.solve(&self.rows(predictions, known)?);
        let truths = self.reading.truths(truths, known);
        let optima = self.truths.solve(&truths);
        let rows =
            solved.into_iter().zip(self.reading.predictions(predictions, known)).zip(truths).zip(&optima);
        Ok(rows.map(|(((solved, p), truth), best)| self.judge(solved, p, truth, best)).collect())
    }

    /// Judges decisions that were taken elsewhere, n numbers each; one with a NaN is none. What was expected of them is not
    /// known. They may break any hard row, so set a price on that ([`Regret::price_violations`]).
    ///
    /// ```
    /// use regretless_core::*;
    /// let problem = Problem::maximize(2)
    ///     .at_most("machine", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
    ///     .build()?;
    /// let regret = Regret::new(&problem, &Placement::theta(2), None)?;
    /// let judged = regret.judge_decisions(&[0.5, 0.5], &[2.0, 1.5], &[])?;
    /// assert!((judged[0].regret - 0.25).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn judge_decisions(
        &self,
        decisions: &[f64],
        truths: &[f64],
        known: &[f64],
    ) -> Result<Vec<Decision>, LossError> {
        let (n, truth_width) = (self.reading.original().n(), self.reading.placement().width());
        let rows = truths.len() / truth_width;
        self.check("truths", truths, rows * truth_width)?;
        self.check("decisions", decisions, rows * n)?;
        self.check_known(known, rows)?;
        let truths = self.reading.truths(truths, known);
        let known = self.truths.solve(&truths);
        let rows = decisions.chunks_exact(n).zip(truths).zip(&known);
        Ok(rows.map(|((x, truth), known)| self.judged(self.taken(x), truth, known)).collect())
    }

    /// [`Regret::judge_decisions`] for rows that were judged before, with other decisions: their truths are not solved again.
    ///
    /// ```
    /// use regretless_core::*;
    /// let problem = Problem::maximize(2)
    ///     .at_most("machine", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
    ///     .build()?;
    /// let regret = Regret::new(&problem, &Placement::theta(2), None)?;
    /// let judged = regret.judge_decisions(&[0.0, 1.0], &[2.0, 1.5], &[])?;
    /// let beside = regret.judge_beside(&[0.5, 0.5], &judged, &[2.0, 1.5], &[])?;
    /// assert_eq!((judged[0].regret, beside[0].regret), (0.5, 0.25));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn judge_beside(
        &self,
        decisions: &[f64],
        judged: &[Decision],
        truths: &[f64],
        known: &[f64],
    ) -> Result<Vec<Decision>, LossError> {
        let (n, rows) = (self.reading.original().n(), judged.len());
        self.check("truths", truths, rows * self.reading.placement().width())?;
        self.check("decisions", decisions, rows * n)?;
        self.check_known(known, rows)?;
        let truths = self.reading.truths(truths, known);
        let rows = decisions.par_chunks_exact(n).zip(truths).zip(judged);
        let one = |((x, truth), judged): ((&[f64], Numbers<'_>), &Decision)| match &judged.trouble {
            Some(Cause::Refused(Side::Truth, error)) => {
                let trouble = Some(Cause::Refused(Side::Truth, error.clone()));
                Decision { trouble, ..self.taken(x) }
            }
            _ => self.against(self.taken(x), truth, judged.optimal),
        };
        Ok(rows.map(one).collect())
    }

    /// A decision that was taken elsewhere; one with a NaN is none.
    fn taken(&self, x: &[f64]) -> Decision {
        let there = x.iter().all(|v| v.is_finite());
        Decision {
            trouble: (!there).then_some(Cause::NoDecision),
            status: if there { Status::Optimal } else { Status::NumericalTrouble },
            predicted_objective: f64::NAN,
            ..self.undecided(x.to_vec())
        }
    }

    /// Without a decision nothing may look good.
    fn undecided(&self, x: Vec<f64>) -> Decision {
        let worst = -self.reading.original().sign() * f64::INFINITY;
        Decision {
            status: Status::NumericalTrouble,
            trouble: None,
            x,
            objective: worst,
            optimal: -worst,
            regret: f64::INFINITY,
            violation: 0.0,
            cut: 0,
            predicted_objective: worst,
            at_risk: None,
        }
    }

    fn judge(
        &self,
        solved: Result<Optimum, ProblemError>,
        prediction: Numbers<'_>,
        truth: Numbers<'_>,
        known: &Result<Exact, ProblemError>,
    ) -> Decision {
        let decision = match solved {
            Ok(optimum) => {
                let (optimum, outlook) = self.reading.decided(optimum, prediction);
                let unjudged = |promised| Kept { promised, score: f64::NAN, beyond: false };
                Decision {
                    trouble: Cause::of_status(Side::Prediction, &optimum.status),
                    status: optimum.status,
                    predicted_objective: optimum.objective,
                    at_risk: outlook.map(unjudged),
                    ..self.undecided(optimum.x)
                }
            }
            Err(error) => Decision {
                trouble: Some(Cause::Refused(Side::Prediction, error)),
                ..self.undecided(vec![0.0; self.reading.original().n()])
            },
        };
        let decision = Decision { cut: self.reading.cut_in(&[prediction]), ..decision };
        self.judged(decision, truth, known)
    }

    fn judged(
        &self,
        mut decision: Decision,
        truth: Numbers<'_>,
        known: &Result<Exact, ProblemError>,
    ) -> Decision {
        match known {
            Ok(best) => self.against(decision, truth, best.objective),
            Err(error) => {
                decision.trouble.get_or_insert(Cause::Refused(Side::Truth, error.clone()));
                decision
            }
        }
    }

    /// Judges a decision by a truth whose optimal value is known.
    fn against(&self, mut decision: Decision, truth: Numbers<'_>, optimal: f64) -> Decision {
        let problem = self.reading.original();
        let values = self.reading.truth(truth);
        let view = problem.view_checked_before(&values.instance());
        if decision.trouble.is_none() {
            decision.objective = view.objective(&decision.x);
            decision.violation = view.violation(&decision.x);
            if let (Some(risk), Some(kept)) = (self.reading.risk(), &mut decision.at_risk) {
                // As costs.
                let [threshold, cost] = [kept.promised.threshold, decision.objective].map(|v| -view.sign * v);
                kept.score = -view.sign * risk.score(threshold, cost);
                kept.beyond = cost > threshold;
            }
        }
        decision.optimal = optimal;
        if !decision.optimal.is_finite() {
            let words = if decision.optimal * view.sign > 0.0 { "unbounded" } else { "infeasible" };
            decision.trouble.get_or_insert(Cause::NoOptimum(Side::Truth, words.into()));
        }
        if decision.trouble.is_none() {
            let (best, found) = (view.sign * decision.optimal, view.sign * decision.objective);
            let broken = self.prices.as_ref().map_or(0.0, |prices| view.penalty(&decision.x, prices));
            let regret = gap_of(best, found) + broken;
            decision.regret = if regret.abs() <= NO_REGRET * (1.0 + best.abs()) { 0.0 } else { regret };
        }
        decision
    }

    /// Decides at predictions without knowing the truth, each from the nearest anchor (see [`Regret::set_anchors`]); `known` is what
    /// is known of their rows. A prediction that the problem refuses is an `Err` of its own.
    pub fn decide(
        &self,
        predictions: &[f64],
        known: &[f64],
    ) -> Result<Vec<Result<Optimum, ProblemError>>, LossError> {
        let decided = self.decide_with_outlooks(predictions, known)?;
        Ok(decided.into_iter().map(|solved| solved.map(|(optimum, _)| optimum)).collect())
    }

    /// [`Regret::decide`] with what decisions at risk promise.
    pub fn decide_with_outlooks(
        &self,
        predictions: &[f64],
        known: &[f64],
    ) -> Result<Vec<Promised>, LossError> {
        let predictions = self.rows(predictions, known)?;
        let rows = self.solve(&predictions).into_par_iter().zip(predictions);
        Ok(rows.map(|(solved, p)| solved.map(|optimum| self.reading.decided(optimum, p))).collect())
    }

    /// Solves the problem that decides, each prediction from the nearest anchor.
    fn solve(&self, predictions: &[Numbers<'_>]) -> Vec<Result<Optimum, ProblemError>> {
        let some = |predictions: &[Numbers<'_>]| {
            let values: Vec<Values<'_>> = predictions.par_iter().map(|p| self.reading.values(*p)).collect();
            let instances: Vec<Instance<'_>> = values.iter().map(Values::instance).collect();
            let starts = predictions.par_iter().map(|p| self.anchors.nearest(*p)).collect();
            batch::from(&self.oracle, &instances, starts, |solved| solved.answer)
        };
        predictions.chunks(self.reading.at_once()).flat_map(some).collect()
    }

    /// Picks up to `count` of the given predictions, so that others are near one of them, and solves them: new rows
    /// start from the nearest. The same predictions give the same anchors. Returns how many were picked.
    pub fn set_anchors(
        &mut self,
        predictions: &[f64],
        known: &[f64],
        count: usize,
    ) -> Result<usize, LossError> {
        let predictions = self.rows(predictions, known)?;
        self.anchors = Anchors::choose(&self.oracle, &self.reading, &predictions, count);
        Ok(self.anchors.len())
    }

    /// Prices (and weights in Q) that come out negative in predictions, and count as 0.
    pub fn cut(&self, predictions: &[f64], known: &[f64]) -> Result<usize, LossError> {
        Ok(self.reading.cut_in(&self.rows(predictions, known)?))
    }

    fn rows<'a>(&self, predictions: &'a [f64], known: &'a [f64]) -> Result<Vec<Numbers<'a>>, LossError> {
        let width = self.reading.width();
        let rows = predictions.len() / width;
        self.check("predictions", predictions, rows * width)?;
        self.check_known(known, rows)?;
        Ok(self.reading.predictions(predictions, known))
    }

    /// Everything a resumed process needs; this one forgets its factors, so that both go on bit-equal. Anchors are not
    /// in it: they follow from the predictions they were chosen from.
    pub fn checkpoint(&mut self) -> Vec<u8> {
        self.store.drop_factors();
        let mut w = Writer::default();
        w.tag(TAG, VERSION);
        w.bytes(&self.store.to_bytes());
        w.0
    }

    /// Takes up where [`Regret::checkpoint`] left off. On an error nothing has changed.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), LossError> {
        let mut r = Reader::new(bytes);
        r.tag(TAG, VERSION, "regret evaluator")?;
        let store = Store::from_bytes(r.bytes()?)?;
        r.end()?;
        self.store = store;
        Ok(())
    }

    fn check_known(&self, known: &[f64], rows: usize) -> Result<(), LossError> {
        let (expected, found) = (rows * self.reading.placement().known(), known.len());
        if found == expected {
            Ok(())
        } else {
            Err(LossError::Length { what: "known numbers", expected, found })
        }
    }

    fn check(&self, what: &'static str, values: &[f64], expected: usize) -> Result<(), LossError> {
        if values.len() == expected {
            return Ok(());
        }
        // A ragged batch: the next whole number of rows is what was meant.
        let expected = if expected < values.len() { expected + self.reading.width() } else { expected };
        Err(LossError::Length { what, expected, found: values.len() })
    }
}
