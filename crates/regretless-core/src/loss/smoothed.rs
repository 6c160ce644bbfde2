//! Regret of the surrogate: `surrogate-smooth` and `surrogate-vertex`.
//!
//! ```text
//! smooth    F_K(x_K(p); p) − F_K(x_K(p̂); p)        ∂/∂p̂ by the vjp of g = −∂F_K/∂x(x̂; p)
//! vertex    the closed-form point x̄ of frozen pieces in place of x_K(p̂)
//! ```
//!
//! If θ alone is predicted, stationarity at x̂ makes g = θ̂ − θ, and the gradient is H⁻¹(θ̂ − θ): no product with the rows.
//! With frozen pieces the objective is one quadratic, so its regret is ½(θ̂ − θ)ᵀH⁻¹(θ̂ − θ) and the truth need not be
//! solved at all. Of decisions at risk the pair of decision and threshold is judged ([`Risk::score`](crate::Risk::score)), and t is
//! differentiated with x. If more is predicted, the objective of the truth takes its own pieces at x̄, as the paper's code does.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::softening::{Known, Softening};
use super::{
    Batch, Cause, DecisionLoss, LossError, LossOptions, LossWork, Losses, Method, Sample, Side, gap_of,
};
use crate::engine::status::SurrogateStatus;
use crate::predict::at_risk::AtRisk;
use crate::predict::instances::Reading;
use crate::predict::placement::{Numbers, Values};
use crate::problem::parameter::Parameter;
use crate::problem::{ByParameter, ProblemError, RowId};
use crate::surrogate::Segments;
use crate::surrogate::objective::Stage;
use crate::surrogate::solution::Solution;

pub(super) struct Smoothed {
    base: Softening,
    frozen: bool,
}

impl Smoothed {
    pub(super) fn new(
        method: Method,
        reading: Reading,
        options: &LossOptions<'_>,
    ) -> Result<Self, LossError> {
        let frozen = method == Method::SurrogateVertex;
        let segments = if frozen { Segments::Vertex } else { Segments::Smooth };
        Ok(Self { base: Softening::new(method, reading, options, segments)?, frozen })
    }

    fn solution(solved: &Result<Solution, ProblemError>) -> Result<&Solution, Cause> {
        let solution = solved.as_ref().map_err(|e| Cause::Refused(Side::Prediction, e.clone()))?;
        Cause::of_surrogate(Side::Prediction, &solution.status).map_or(Ok(solution), Err)
    }

    /// θ alone on frozen pieces: ½(θ̂ − θ)ᵀH⁻¹(θ̂ − θ).
    fn quadratic(
        &self,
        solved: &Result<Solution, ProblemError>,
        prediction: Numbers<'_>,
        truth: Numbers<'_>,
    ) -> Sample {
        let solution = Self::solution(solved)?;
        // A truth that no instance can have is refused like a prediction.
        self.base
            .reading
            .original()
            .view(&self.base.reading.truth(truth).instance())
            .map_err(|e| Cause::Refused(Side::Truth, e))?;
        let gradient = self.pull(solution, prediction, truth);
        let errors = prediction.quantities.iter().zip(truth.quantities);
        let value = 0.5 * errors.zip(&gradient).map(|((p, t), g)| (p - t) * g).sum::<f64>();
        Ok((value, gradient))
    }

    /// JᵀH⁻¹J(q̂ − q) for θ = Jq + …: H⁻¹(θ̂ − θ) where the quantities are θ.
    fn pull(&self, solution: &Solution, prediction: Numbers<'_>, truth: Numbers<'_>) -> Vec<f64> {
        let sign = self.base.reading.original().sign();
        let placement = self.base.reading.placement();
        let mut g = vec![0.0; solution.x().len()];
        let error = |j: usize| sign * (prediction.quantities[j] - truth.quantities[j]);
        placement.push_theta(error, truth.known, &mut g);
        solution.vjp_theta(&mut g);
        self.base.gather(&ByParameter { theta: g, ..ByParameter::default() }.into(), prediction)
    }

    /// Any parameters: the truth's objective at x̂.
    fn regret(
        &self,
        solved: &Result<Solution, ProblemError>,
        known: &Known,
        prediction: Numbers<'_>,
        truth: Numbers<'_>,
    ) -> Sample {
        let solution = Self::solution(solved)?;
        let best = known.as_ref().as_ref().map_err(Clone::clone)?;
        let (reading, best_uncapped) = (&self.base.reading, best.uncapped.is_some());
        let values = reading.truth(truth);
        let view = reading.original().view_checked_before(&values.instance());
        let stage = self.base.original.stage(&view, best_uncapped);
        if let Some(at_risk) = reading.at_risk() {
            let certain = at_risk.certain(&reading.truth(truth).parameters());
            let rest = reading.original().view_checked_before(&certain.instance());
            let rest = self.base.original.stage(&rest, best_uncapped);
            let (score, g) = of_pair(at_risk, [&stage, &rest], solution.x());
            let gradients = solution.vjp_in(&g, &reading.kinds());
            return Ok((gap_of(best.value, -score), self.base.gather(&gradients, prediction)));
        }
        let value = gap_of(best.value, stage.value(solution.x()));
        let uncapped = matches!(solution.status, SurrogateStatus::Uncapped { .. });
        if reading.is_theta_only() && !self.frozen && uncapped == best_uncapped {
            return Ok((value, self.pull(solution, prediction, truth)));
        }
        let mut g = stage.gradient(solution.x());
        g.iter_mut().for_each(|g| *g = -*g);
        let kinds: Vec<Parameter> = reading.placement().predicted_kinds();
        Ok((value, self.base.gather(&solution.vjp_in(&g, &kinds), prediction)))
    }
}

/// The score of a pair (x, t) by what came true, and its derivative. With c = −F_K(x; p) the threshold of all costs is T = f(x) + t, f
/// being what costs the same in every scenario.
fn of_pair(at_risk: &AtRisk, [stage, certain]: [&Stage; 2], solved: &[f64]) -> (f64, Vec<f64>) {
    let (x, behind) = solved.split_at(at_risk.threshold());
    let (cost, threshold) = (-stage.value(x), behind[0] - certain.value(x));
    let (of_threshold, of_cost) = at_risk.risk.slopes(threshold, cost);
    let mut g = vec![0.0; solved.len()];
    g[at_risk.threshold()] = of_threshold;
    for ((g, all), certain) in g.iter_mut().zip(stage.gradient(x)).zip(certain.gradient(x)) {
        *g = -of_cost * all - of_threshold * certain;
    }
    (at_risk.risk.score(threshold, cost), g)
}

impl DecisionLoss for Smoothed {
    fn method(&self) -> Method {
        self.base.method
    }

    fn evaluate(&mut self, batch: &Batch<'_>) -> Result<Losses, LossError> {
        let reading = Arc::clone(&self.base.reading);
        let width = reading.width();
        let (predictions, truths) = batch.rows(&reading)?;
        let clock = Instant::now();
        let values: Vec<Values<'_>> = predictions.par_iter().map(|p| reading.values(*p)).collect();
        let quadratic = self.frozen && reading.is_theta_only();
        let (known, new) = if quadratic { (Vec::new(), 0) } else { self.base.known(&truths) };
        let solved = self.base.solve(&values, batch.ids);
        let took = solved.iter().map(|s| s.as_ref().map_or(0, |s| s.work.breakpoints));
        let mut losses = Losses::of(solved.len(), width, clock, LossWork::of(took, new), |i| {
            if quadratic {
                self.quadratic(&solved[i], predictions[i], truths[i])
            } else {
                self.regret(&solved[i], &known[i], predictions[i], truths[i])
            }
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
