//! How far the truth's decision is from optimal for other parameters: `spo+-smooth` and `fenchel-young`.
//!
//! ```text
//! gap(u) = V_K(u) − F_K(x_K(p); u) ≥ 0        ∂gap/∂u = ∂F_K/∂u at x_K(u) − the same at x_K(p)
//! ```
//!
//! `fenchel-young` takes u = p̂: the Bregman divergence of V_K, a Fenchel–Young loss (Blondel, Martins & Niculae 2020).
//! `spo+-smooth` takes u = 2θ̂ − θ: SPO+ (Elmachtoub & Grigas 2022) on the surrogate, an upper bound of its regret. Both
//! are convex in the prediction, because F_K is linear in θ, Q and the prices, and need no solve with H.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::softening::{Known, Softening};
use super::{
    Batch, Cause, DecisionLoss, LossError, LossOptions, LossWork, Losses, Method, Sample, Side, gap_of,
};
use crate::gradient::Gradients;
use crate::predict::instances::Reading;
use crate::predict::placement::{Numbers, Values};
use crate::problem::parameter::Parameter;
use crate::problem::{Pattern, ProblemError, RowId};
use crate::surrogate::Segments;
use crate::surrogate::objective::{Stage, smooth_hinge};
use crate::surrogate::solution::Solution;

pub(super) struct Gap {
    base: Softening,
}

impl Gap {
    pub(super) fn new(
        method: Method,
        reading: Reading,
        options: &LossOptions<'_>,
    ) -> Result<Self, LossError> {
        Ok(Self { base: Softening::new(method, reading, options, Segments::Smooth)? })
    }

    fn sample(&self, solved: &Result<Solution, ProblemError>, known: &Known, target: Numbers<'_>) -> Sample {
        let refused = |e: &ProblemError| Cause::Refused(Side::Prediction, e.clone());
        let solution = solved.as_ref().map_err(refused)?;
        if let Some(cause) = Cause::of_surrogate(Side::Prediction, &solution.status) {
            return Err(cause);
        }
        let truth = known.as_ref().as_ref().map_err(Clone::clone)?;
        let problem = self.base.reading.problem();
        let stage = Stage::of(solution);
        let value = gap_of(stage.value(solution.x()), stage.value(&truth.x));
        let placement = self.base.reading.placement();
        let mut by = Gradients::default();
        let factor = if self.base.method == Method::SpoPlusSmooth { 2.0 } else { 1.0 };
        let pull = factor * problem.sign();
        by.theta = solution.x().iter().zip(&truth.x).map(|(a, b)| pull * (a - b)).collect();
        if placement.predicts(Parameter::Quadratic) {
            by.Q = quadratic(problem.quadratic_pattern(), solution.x(), &truth.x);
        }
        if placement.predicts(Parameter::Over) || placement.predicts(Parameter::Under) {
            (by.alpha, by.under) = prices(&stage, problem.shape().soft, solution.x(), &truth.x);
        }
        Ok((value, self.base.gather(&by, target)))
    }
}

/// SPO+ looks beyond the prediction, twice as far from the truth.
pub(super) fn target(method: Method, prediction: Numbers<'_>, truth: Numbers<'_>) -> Vec<f64> {
    match method {
        Method::FenchelYoung => prediction.quantities.to_vec(),
        _ => prediction.quantities.iter().zip(truth.quantities).map(|(p, t)| 2.0 * p - t).collect(),
    }
}

/// ∂F/∂Q = −xxᵀ, at x̂ less at x.
fn quadratic(pattern: &Pattern, decided: &[f64], best: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; pattern.entries()];
    for (i, (a, b)) in decided.iter().zip(best).enumerate() {
        pattern.pull(i, (*a, decided), (-b, best), &mut out);
    }
    out
}

/// ∂F_K/∂α = −S(z) and ∂F_K/∂α₂ = −S(−z), at x̂ less at x.
fn prices(stage: &Stage, soft: usize, decided: &[f64], best: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (z, zb) = (stage.soft(soft, decided), stage.soft(soft, best));
    let side = |sign: f64| {
        let hinge = |(z, k): (f64, f64)| smooth_hinge(sign * z, k);
        zb.iter().zip(&z).map(|(zb, z)| hinge(*zb) - hinge(*z)).collect()
    };
    (side(1.0), side(-1.0))
}

impl DecisionLoss for Gap {
    fn method(&self) -> Method {
        self.base.method
    }

    fn evaluate(&mut self, batch: &Batch<'_>) -> Result<Losses, LossError> {
        let (reading, method) = (Arc::clone(&self.base.reading), self.base.method);
        let width = reading.width();
        let (predictions, truths) = batch.rows(&reading)?;
        let clock = Instant::now();
        let both = predictions.iter().zip(&truths);
        let targets: Vec<f64> = both.flat_map(|(p, t)| target(method, *p, *t)).collect();
        let targets = reading.predictions(&targets, batch.known);
        let values: Vec<Values<'_>> = targets.iter().map(|p| reading.values(*p)).collect();
        let (known, new) = self.base.known(&truths);
        let solved = self.base.solve(&values, batch.ids);
        let took = solved.iter().map(|s| s.as_ref().map_or(0, |s| s.work.breakpoints));
        let mut losses = Losses::of(solved.len(), width, clock, LossWork::of(took, new), |i| {
            self.sample(&solved[i], &known[i], targets[i])
        });
        losses.uncapped = self.base.uncapped(&solved, &known);
        losses.cut = reading.cut_in(&predictions);
        Ok(losses)
    }

    fn end_epoch(&mut self, uncapped: &BTreeSet<RowId>) -> Vec<RowId> {
        self.base.raise(uncapped)
    }

    fn set_k(&mut self, k: f64) -> Result<(), LossError> {
        self.base.set_k(k)
    }

    fn checkpoint(&mut self) -> Vec<u8> {
        self.base.checkpoint()
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), LossError> {
        self.base.restore(bytes)
    }
}
