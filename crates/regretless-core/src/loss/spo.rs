//! `spo+` on the exact problem, soft rows and Q included.
//!
//! ```text
//! V(2θ̂ − θ) − F(x*(θ); 2θ̂ − θ)        gradient 2(x*(2θ̂ − θ) − x*(θ))
//! ```
//!
//! Elmachtoub & Grigas 2022 for a linear objective; whatever else the objective holds is the same at θ̂ and at θ, so the
//! loss still bounds the regret from above. It is convex in θ̂; at a kink the gradient is one subgradient.

use std::time::Instant;

use super::gap::target;
use super::truths;
use super::{
    Batch, Cause, DecisionLoss, LossError, LossOptions, LossWork, Losses, Method, Sample, Side, gap_of,
    read_store, save_store,
};
use crate::predict::instances::Reading;
use crate::predict::placement::{Numbers, Values};
use crate::predict::truths::{Known, Truths};
use crate::problem::{ByParameter, Instance, ProblemError, View};
use crate::solve::batch as solve;
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
    pub(super) fn new(reading: Reading, options: &LossOptions<'_>) -> Result<Self, LossError> {
        let (oracle, truths) = (Oracle::new(reading.problem()), truths::lent(&reading, options)?);
        Ok(Self { oracle, truths, store: Store::with_budget(options.store_bytes), reading })
    }

    fn sample(
        &self,
        solved: &Result<(Optimum, View<'_>), ProblemError>,
        known: &Known,
        target: Numbers<'_>,
    ) -> Sample {
        let refused = |e: &ProblemError| Cause::Refused(Side::Prediction, e.clone());
        let (optimum, view) = solved.as_ref().map_err(refused)?;
        if let Some(cause) = Cause::of_status(Side::Prediction, &optimum.status) {
            return Err(cause);
        }
        let (truth, sign) = (truths::optimum(known)?, view.sign);
        let value = gap_of(sign * optimum.objective, sign * view.objective(&truth.x));
        let theta = optimum.x.iter().zip(&truth.x).map(|(a, b)| 2.0 * sign * (a - b)).collect();
        let mut out = vec![0.0; self.reading.width()];
        self.reading.gather(&ByParameter { theta, ..ByParameter::default() }.into(), target, &mut out);
        Ok((value, out))
    }
}

impl DecisionLoss for SpoPlus {
    fn method(&self) -> Method {
        Method::SpoPlus
    }

    fn evaluate(&mut self, batch: &Batch<'_>) -> Result<Losses, LossError> {
        let width = self.reading.width();
        let (predictions, truths) = batch.rows(&self.reading)?;
        let clock = Instant::now();
        let both = predictions.iter().zip(&truths);
        let targets: Vec<f64> = both.flat_map(|(p, t)| target(Method::SpoPlus, *p, *t)).collect();
        let targets = self.reading.predictions(&targets, batch.known);
        let values: Vec<Values<'_>> = targets.iter().map(|p| self.reading.values(*p)).collect();
        let (known, new) = self.truths.look_up(&truths);
        let instances: Vec<Instance<'_>> = values.iter().map(Values::instance).collect();
        let solved = solve::warm(&self.oracle, &instances, batch.ids, &mut self.store, |optimum, view| {
            (optimum, view)
        });
        let took = solved.iter().map(|s| s.as_ref().map_or(0, |s| s.0.work.breakpoints));
        Ok(Losses::of(solved.len(), width, clock, LossWork::of(took, new), |i| {
            self.sample(&solved[i], &known[i], targets[i])
        }))
    }

    fn checkpoint(&mut self) -> Vec<u8> {
        save_store(Method::SpoPlus, &mut self.store)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), LossError> {
        self.store = read_store(Method::SpoPlus, bytes)?;
        Ok(())
    }
}
