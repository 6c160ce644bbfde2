//! Losses of the forecast, entry by entry: `l1`, `l2`, `weighted-l1`. They solve nothing.

use std::time::Instant;

use super::{
    Batch, Cause, DecisionLoss, LossError, LossOptions, LossTrouble, Losses, Method, Side, header, positive,
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

    /// The loss of a row; its gradient goes to its place, for there are millions of rows and epochs.
    fn sample(&self, prediction: &[f64], truth: &[f64], gradient: &mut [f64]) -> Result<f64, Cause> {
        finite(Side::Prediction, prediction)?;
        finite(Side::Truth, truth)?;
        let share = 1.0 / prediction.len() as f64;
        let mut value = 0.0;
        let entries = prediction.iter().zip(truth).zip(&self.inverse);
        for (((p, t), inverse), place) in entries.zip(&mut *gradient) {
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
            *place = share * slope * inverse;
        }
        let finite = value.is_finite() && gradient.iter().all(|g| g.is_finite());
        if finite { Ok(value) } else { Err(Cause::NotFinite) }
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
        let count = batch.ids.len();
        let mut losses = Losses {
            values: vec![f64::INFINITY; count],
            gradients: vec![0.0; count * width],
            ..Losses::default()
        };
        let rows = batch.predictions.chunks_exact(width).zip(batch.truths.chunks_exact(width));
        let places = losses.gradients.chunks_exact_mut(width).zip(&mut losses.values);
        for (sample, ((prediction, truth), (gradient, value))) in rows.zip(places).enumerate() {
            match self.sample(prediction, truth, gradient) {
                Ok(found) => *value = found,
                Err(cause) => {
                    gradient.fill(0.0);
                    losses.troubles.push(LossTrouble { sample, cause });
                }
            }
        }
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
