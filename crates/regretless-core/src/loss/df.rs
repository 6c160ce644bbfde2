//! `df`: the optimum of the problem with −ridge·‖x‖² added, differentiated through its KKT system.
//!
//! ```text
//! x_r(p̂) = argmax F(x; p̂) − ridge·‖x‖²        loss V(p) − F(x_r(p̂); p) ≥ 0
//! ```
//!
//! The ridge makes the optimum of an LP differentiable (Wilder, Dilkina & Tambe 2019). It also moves the optimum: at a
//! perfect prediction the loss is the ridge's own regret, which vanishes with the ridge.

use std::time::Instant;

use rayon::prelude::*;

use super::truths;
use super::{
    Batch, Cause, DecisionLoss, LossError, LossOptions, LossWork, Losses, Method, Sample, Side, gap_of,
    positive, read_store, save_store,
};
use crate::gradient::kkt;
use crate::linalg::matrix::Matrix;
use crate::predict::instances::Reading;
use crate::predict::placement::{Numbers, Values};
use crate::predict::truths::{Known, Truths};
use crate::problem::parameter::Parameter;
use crate::problem::{Coefficients, Form, Instance, Problem, ProblemError, View};
use crate::solve::batch as solve;
use crate::solve::optimum::Optimum;
use crate::solve::oracle::Oracle;
use crate::solve::store::Store;

pub(super) struct Df {
    reading: Reading,
    ridge: f64,
    /// The problem that decides, ridge included.
    ridged: Problem,
    oracle: Oracle,
    truths: Truths,
    store: Store,
}

impl Df {
    pub(super) fn new(reading: Reading, options: &LossOptions<'_>) -> Result<Self, LossError> {
        positive("ridge", options.ridge)?;
        let (problem, n) = (reading.problem(), reading.problem().n());
        // What is sparse stays so: the diagonal alone, unless a whole Q is predicted.
        let whole = problem.form() == Form::Dense
            || reading.placement().places(Parameter::Quadratic).next().is_some();
        let own = match problem.Q() {
            Some(own) => own.clone(),
            None if whole => Matrix::zeros(n, n).into(),
            None => Coefficients::sparse(n, n, (0..n).map(|j| (j, j, 0.0)))?,
        };
        let ridged = problem.with_quadratic(own.plus_diagonal(options.ridge));
        let oracle = Oracle::new(&ridged.or_zero_theta());
        let truths = truths::lent(&reading, options)?;
        let store = Store::with_budget(options.store_bytes);
        Ok(Self { reading, ridge: options.ridge, ridged, oracle, truths, store })
    }

    /// The instance of the problem with the ridge; a predicted Q gets its ridge here.
    fn values<'a>(&self, prediction: Numbers<'a>) -> Values<'a> {
        let mut values = self.reading.values(prediction);
        if let Values::Owned(parameters) = &mut values
            && let Some(q) = parameters.get(Parameter::Quadratic)
        {
            let q = self.ridged.quadratic_pattern().plus_diagonal(q, self.ridge);
            parameters.set(Parameter::Quadratic, q);
        }
        values
    }

    fn sample(
        &self,
        solved: &Result<(Optimum, View<'_>), ProblemError>,
        known: &Known,
        truth: Numbers<'_>,
        prediction: Numbers<'_>,
    ) -> Sample {
        let refused = |e: &ProblemError| Cause::Refused(Side::Prediction, e.clone());
        let (optimum, ridged) = solved.as_ref().map_err(refused)?;
        if let Some(cause) = Cause::of_status(Side::Prediction, &optimum.status) {
            return Err(cause);
        }
        let best = truths::optimum(known)?;
        let values = self.reading.truth(truth);
        let view = self.reading.original().view_checked_before(&values.instance());
        let value = gap_of(view.sign * best.objective, view.sign * view.objective(&optimum.x));
        let Some(gradients) = kkt::vjp(ridged, optimum, &downhill(&view, &optimum.x)) else {
            return Err(Cause::NoOptimum(Side::Prediction, "Q and the ridge together are singular".into()));
        };
        let mut out = vec![0.0; self.reading.width()];
        self.reading.gather(&gradients, prediction, &mut out);
        Ok((value, out))
    }
}

/// −∂F/∂x of the exact objective as a gain. At a kink any subgradient: rows the decision holds there do not let it move.
fn downhill(view: &View<'_>, x: &[f64]) -> Vec<f64> {
    let n = view.shape.n;
    let mut g: Vec<f64> = view.theta.iter().map(|t| -view.sign * t).collect();
    if let Some(q) = view.quadratic() {
        if q.pattern.is_dense() {
            let q = q.values;
            for (i, g) in g.iter_mut().enumerate() {
                *g += (0..n).map(|j| (q[i * n + j] + q[j * n + i]) * x[j]).sum::<f64>();
            }
        } else {
            for (i, (row, x_i)) in q.iter().zip(x).enumerate() {
                g[i] += row.dot(x);
                row.add_to(*x_i, &mut g);
            }
        }
    }
    let [(soft, _), ..] = view.rows();
    for (k, row) in soft.iter().enumerate() {
        let z = row.iter().map(|(j, c)| c * x[j]).sum::<f64>() - view.d[k];
        let price = if z > 0.0 { view.alpha[k] } else { -view.under[k] };
        row.iter().for_each(|(j, c)| g[j] += price * c);
    }
    g
}

impl DecisionLoss for Df {
    fn method(&self) -> Method {
        Method::Df
    }

    fn evaluate(&mut self, batch: &Batch<'_>) -> Result<Losses, LossError> {
        let width = self.reading.width();
        let (predictions, truths) = batch.rows(&self.reading)?;
        let clock = Instant::now();
        let values: Vec<Values<'_>> = predictions.par_iter().map(|p| self.values(*p)).collect();
        let (known, new) = self.truths.look_up(&truths);
        let instances: Vec<Instance<'_>> = values.iter().map(Values::instance).collect();
        let solved = solve::warm(&self.oracle, &instances, batch.ids, &mut self.store, |optimum, view| {
            (optimum, view)
        });
        let took = solved.iter().map(|s| s.as_ref().map_or(0, |s| s.0.work.breakpoints));
        let mut losses = Losses::of(solved.len(), width, clock, LossWork::of(took, new), |i| {
            self.sample(&solved[i], &known[i], truths[i], predictions[i])
        });
        losses.cut = self.reading.cut_in(&predictions);
        Ok(losses)
    }

    fn checkpoint(&mut self) -> Vec<u8> {
        save_store(Method::Df, &mut self.store)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), LossError> {
        self.store = read_store(Method::Df, bytes)?;
        Ok(())
    }
}
