//! `spo+` on the exact problem, soft rows and Q included.
//!
//! ```text
//! V(2θ̂ − θ) − F(x*(θ); 2θ̂ − θ)        gradient 2(x*(2θ̂ − θ) − x*(θ))
//! ```
//!
//! Elmachtoub & Grigas 2022 for a linear objective; whatever else the objective holds is the same at θ̂ and at θ, so the
//! loss still bounds the regret from above. It is convex in θ̂; at a kink the gradient is one subgradient.

use std::time::Instant;

use rayon::prelude::*;

use super::gap::target;
use super::truths::{Known, Truths};
use super::{
    Batch, Cause, DecisionLoss, LossError, LossOptions, Losses, Method, Sample, Side, gap_of, read_store,
    save_store,
};
use crate::gradient::Gradients;
use crate::predict::instances::Reading;
use crate::predict::layout::Values;
use crate::problem::{Instance, ProblemError};
use crate::solve::optimum::Optimum;
use crate::solve::oracle::Oracle;
use crate::solve::store::Store;

pub(super) struct SpoPlus {
    reading: Reading,
    oracle: Oracle,
    truths: Truths,
    store: Store,
}

impl SpoPlus {
    pub(super) fn new(reading: Reading, options: &LossOptions<'_>) -> Self {
        let oracle = Oracle::new(reading.problem());
        Self { oracle, truths: Truths::default(), store: Store::with_budget(options.store_bytes), reading }
    }

    fn sample(&self, solved: &Result<Optimum, ProblemError>, known: &Known, values: &Values<'_>) -> Sample {
        let refused = |e: &ProblemError| Cause::Refused(Side::Prediction, e.clone());
        let optimum = solved.as_ref().map_err(refused)?;
        if let Some(cause) = Cause::of_status(Side::Prediction, &optimum.status) {
            return Err(cause);
        }
        let truth = known.as_ref().as_ref().map_err(Clone::clone)?;
        let problem = self.reading.problem();
        let view = problem.view(&values.instance()).map_err(|e| refused(&e))?;
        let sign = problem.sign();
        let value = gap_of(sign * optimum.objective, sign * view.objective(&truth.x));
        let theta = optimum.x.iter().zip(&truth.x).map(|(a, b)| 2.0 * sign * (a - b)).collect();
        let mut out = vec![0.0; self.reading.width()];
        self.reading.layout().gather(&Gradients { theta, ..Gradients::default() }, &mut out);
        Ok((value, out))
    }
}

impl DecisionLoss for SpoPlus {
    fn method(&self) -> Method {
        Method::SpoPlus
    }

    fn evaluate(&mut self, batch: &Batch<'_>) -> Result<Losses, LossError> {
        let width = self.reading.width();
        batch.check(width, width)?;
        let predictions = batch.predictions.chunks_exact(width);
        let truths: Vec<&[f64]> = batch.truths.chunks_exact(width).collect();
        let clock = Instant::now();
        let targets: Vec<Vec<f64>> =
            predictions.zip(&truths).map(|(p, t)| target(Method::SpoPlus, p, t)).collect();
        let values: Vec<Values<'_>> = targets.iter().map(|p| self.reading.values(p)).collect();
        let truth_values: Vec<Values<'_>> = truths.iter().map(|t| self.reading.truth(t)).collect();
        let sign = self.reading.problem().sign();
        let (known, new) = self.truths.exact(&self.oracle, sign, &truths, &truth_values);
        let instances: Vec<Instance<'_>> = values.iter().map(Values::instance).collect();
        let solved = self.oracle.solve_batch_warm(&instances, batch.ids, &mut self.store);
        let solve = clock.elapsed();
        let clock = Instant::now();
        let each = (0..solved.len()).into_par_iter().map(|i| self.sample(&solved[i], &known[i], &values[i]));
        let mut losses = Losses::collect(each.collect(), width);
        losses.work.solves = solved.len() + new;
        losses.work.breakpoints = solved.iter().flatten().map(|s| s.work.breakpoints).sum();
        (losses.work.solve, losses.work.gradient) = (solve, clock.elapsed());
        Ok(losses)
    }

    fn checkpoint(&mut self) -> Vec<u8> {
        save_store(Method::SpoPlus, &mut self.store)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), LossError> {
        self.store = read_store(Method::SpoPlus, bytes)?;
        Ok(())
    }
}
