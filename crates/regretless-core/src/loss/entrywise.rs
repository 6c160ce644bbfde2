//! Losses of the forecast, entry by entry: `l1`, `l2`, `weighted-l1`. They solve nothing.

use std::time::Instant;

use super::{
    Batch, Cause, DecisionLoss, LossError, LossOptions, Losses, Method, Sample, Side, header, positive,
    read_header,
};
use crate::predict::instances::Reading;
use crate::problem::ProblemError;

pub(super) struct Entrywise {
    method: Method,
    reading: Reading,
    /// 1/s of each entry.
    inverse: Vec<f64>,
    over: f64,
    under: f64,
}

impl Entrywise {
    pub(super) fn new(
        method: Method,
        reading: Reading,
        options: &LossOptions<'_>,
    ) -> Result<Self, LossError> {
        let width = reading.placement().width();
        let inverse = match &options.scale {
            None => vec![1.0; width],
            Some(scale) if scale.len() != width => {
                return Err(LossError::Length { what: "scale", expected: width, found: scale.len() });
            }
            Some(scale) => {
                scale.iter().try_for_each(|s| positive("scale", *s))?;
                scale.iter().map(|s| 1.0 / s).collect()
            }
        };
        if method == Method::WeightedL1 {
            positive("price of predicting too high", options.over)?;
            positive("price of predicting too low", options.under)?;
        }
        Ok(Self { method, reading, inverse, over: options.over, under: options.under })
    }

    fn sample(&self, prediction: &[f64], truth: &[f64]) -> Sample {
        finite(Side::Prediction, prediction)?;
        finite(Side::Truth, truth)?;
        let share = 1.0 / prediction.len() as f64;
        let mut value = 0.0;
        let entries = prediction.iter().zip(truth).zip(&self.inverse);
        let gradient = entries.map(|((p, t), inverse)| {
            let e = (p - t) * inverse;
            let (v, slope) = match self.method {
                Method::L2 => (e * e, 2.0 * e),
                // At a perfect entry 0 is a subgradient, and the one that leaves it alone.
                _ if e == 0.0 => (0.0, 0.0),
                Method::WeightedL1 if e > 0.0 => (self.over * e, self.over),
                Method::WeightedL1 => (-self.under * e, -self.under),
                _ => (e.abs(), e.signum()),
            };
            value += share * v;
            share * slope * inverse
        });
        let gradient = gradient.collect();
        Ok((value, gradient))
    }
}

impl DecisionLoss for Entrywise {
    fn method(&self) -> Method {
        self.method
    }

    fn evaluate(&mut self, batch: &Batch<'_>) -> Result<Losses, LossError> {
        let width = self.inverse.len();
        batch.check(&self.reading)?;
        let clock = Instant::now();
        let rows = batch.predictions.chunks_exact(width).zip(batch.truths.chunks_exact(width));
        let mut losses = Losses::collect(rows.map(|(p, t)| self.sample(p, t)).collect(), width);
        losses.work.gradient = clock.elapsed();
        Ok(losses)
    }

    fn checkpoint(&mut self) -> Vec<u8> {
        header(self.method).0
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), LossError> {
        Ok(read_header(self.method, bytes)?.end()?)
    }
}

fn finite(side: Side, values: &[f64]) -> Result<(), Cause> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(index) => {
            let error = ProblemError::NotFinite { what: side.to_string(), index, value: values[index] };
            Err(Cause::Refused(side, error))
        }
    }
}
