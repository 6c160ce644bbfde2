//! Regret of the surrogate: `surrogate-smooth` and `surrogate-vertex`.
//!
//! ```text
//! smooth    F_K(x_K(p); p) − F_K(x_K(p̂); p)        ∂/∂p̂ by the vjp of g = −∂F_K/∂x(x̂; p)
//! vertex    the closed-form point x̄ of frozen pieces in place of x_K(p̂)
//! ```
//!
//! If θ alone is predicted, stationarity at x̂ makes g = θ̂ − θ, and the gradient is H⁻¹(θ̂ − θ): no product with the rows.
//! With frozen pieces the objective is one quadratic, so its regret is ½(θ̂ − θ)ᵀH⁻¹(θ̂ − θ) and the truth need not be
//! solved at all. If more is predicted, the objective of the truth takes its own pieces at x̄, as the paper's code does.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::softening::{Known, Softening};
use super::{
    Batch, Cause, DecisionLoss, LossError, LossOptions, LossWork, Losses, Method, Sample, Side, gap_of,
};
use crate::engine::status::SurrogateStatus;
use crate::predict::instances::Reading;
use crate::predict::layout::Values;
use crate::problem::parameter::Parameter;
use crate::problem::{ProblemError, RowId};
use crate::surrogate::Segments;
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
        prediction: &[f64],
        truth: &[f64],
    ) -> Sample {
        let solution = Self::solution(solved)?;
        // A truth that no instance can have is refused like a prediction.
        self.base
            .reading
            .original()
            .view(&self.base.reading.truth(truth).instance())
            .map_err(|e| Cause::Refused(Side::Truth, e))?;
        let gradient = self.pull(solution, prediction, truth);
        let value =
            0.5 * prediction.iter().zip(truth).zip(&gradient).map(|((p, t), g)| (p - t) * g).sum::<f64>();
        Ok((value, gradient))
    }

    /// H⁻¹(θ̂ − θ), for all of θ or the predicted part of it.
    fn pull(&self, solution: &Solution, prediction: &[f64], truth: &[f64]) -> Vec<f64> {
        let sign = self.base.reading.original().sign();
        let layout = self.base.reading.layout();
        let mut g = vec![0.0; solution.x().len()];
        for ((part, p), (_, t)) in layout.split(prediction).zip(layout.split(truth)) {
            let entries = g[part.range.clone()].iter_mut().zip(p.iter().zip(t));
            entries.for_each(|(g, (p, t))| *g = sign * (p - t));
        }
        solution.vjp_theta(&mut g);
        layout.parts().iter().flat_map(|part| g[part.range.clone()].iter().copied()).collect()
    }

    /// Any parameters: the truth's objective at x̂.
    fn regret(
        &self,
        solved: &Result<Solution, ProblemError>,
        known: &Known,
        prediction: &[f64],
        truth: &[f64],
    ) -> Sample {
        let solution = Self::solution(solved)?;
        let best = known.as_ref().as_ref().map_err(Clone::clone)?;
        let (reading, best_uncapped) = (&self.base.reading, best.uncapped.is_some());
        let values = reading.truth(truth);
        let view = reading.original().view_checked_before(&values.instance());
        let stage = self.base.original.stage(&view, best_uncapped);
        let value = gap_of(best.value, stage.value(solution.x()));
        let uncapped = matches!(solution.status, SurrogateStatus::Uncapped { .. });
        if reading.is_theta_only() && !self.frozen && uncapped == best_uncapped {
            return Ok((value, self.pull(solution, prediction, truth)));
        }
        let mut g = stage.gradient(solution.x());
        g.iter_mut().for_each(|g| *g = -*g);
        let kinds: Vec<Parameter> = reading.layout().parts().iter().map(|part| part.parameter).collect();
        Ok((value, self.base.gather(&solution.vjp_in(&g, &kinds), prediction)))
    }
}

impl DecisionLoss for Smoothed {
    fn method(&self) -> Method {
        self.base.method
    }

    fn evaluate(&mut self, batch: &Batch<'_>) -> Result<Losses, LossError> {
        let (width, truth_width) = (self.base.reading.width(), self.base.reading.layout().width());
        batch.check(width, truth_width)?;
        let reading = Arc::clone(&self.base.reading);
        let predictions: Vec<&[f64]> = batch.predictions.chunks_exact(width).collect();
        let truths: Vec<&[f64]> = batch.truths.chunks_exact(truth_width).collect();
        let clock = Instant::now();
        let values: Vec<Values<'_>> = predictions.par_iter().map(|p| reading.values(p)).collect();
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
