//! What training leaves behind: its epochs, how it ended, and the predictor.

use serde::{Deserialize, Serialize};

use crate::evaluate::measures::Measures;
use crate::model::Model;

/// What an epoch came to: a line of `metrics.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// The recipe's name.
    pub stage: String,
    /// 0 is the predictor as it started.
    pub epoch: usize,
    /// Mean training loss of the instances that have one; unknown if none has.
    #[serde(with = "crate::unknown")]
    pub loss: f64,
    /// Measures on the validation part.
    pub valid: Measures,
    /// Mean loss on the validation part; of losses of the forecast only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_loss: Option<f64>,
    /// True if the predictions ran away.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ran_away: bool,
    /// True if the validation regret is the best so far, and of a regression for its solution.
    pub best: bool,
    /// Learning rate.
    pub rate: f64,
    /// True if the next epoch goes on from the best one so far.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub back: bool,
    /// Sharpness.
    pub k: f64,
    /// Weight of L2.
    pub mix: f64,
    /// Mean norm of the gradient over all weights, before clipping.
    #[serde(with = "crate::unknown")]
    pub gradient: f64,
    /// Share of instances with a zero gradient.
    #[serde(with = "crate::unknown")]
    pub zero_gradients: f64,
    /// Instances without a loss: their prediction has no optimum.
    pub troubles: usize,
    /// Hard rows whose multiplier was raised after the epoch.
    pub raised: usize,
    /// Breakpoints an instance.
    #[serde(with = "crate::unknown")]
    pub breakpoints: f64,
    /// Where the time went.
    pub seconds: Seconds,
}

/// Where an epoch's time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Predictor, forward and backward, and the optimiser.
    pub network: f64,
    /// Optimisation problems.
    pub solve: f64,
    /// Their gradients.
    pub gradient: f64,
    /// Decisions for the validation part.
    pub validation: f64,
}

/// How training ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// At the last epoch.
    LastEpoch,
    /// The validation regret got no better, nor did the loss if it is one of the forecast.
    NoProgress,
    /// The predictor was fitted to the optimum at once.
    Solved,
    /// Somebody asked for it.
    Interrupted,
    /// Predictions or weights ran away; the best predictor before that is kept.
    Diverged,
    /// There was nothing to train.
    Nothing,
}

/// A trained predictor and how it came about.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The predictor of the epoch that was kept.
    pub model: Model,
    /// Every epoch.
    pub history: Vec<Epoch>,
    /// How it ended.
    pub ended: Ended,
    /// The epoch whose predictor was kept.
    pub best: usize,
    /// Seconds of training.
    pub seconds: f64,
}

impl Fitted {
    /// The learning rates of the epochs that led to the predictor that was kept, without those that training went back from.
    pub(crate) fn rates(&self) -> Vec<f64> {
        rates(&self.history, self.best)
    }
}

fn rates(history: &[Epoch], kept: usize) -> Vec<f64> {
    let mut way: Vec<&Epoch> = Vec::new();
    for epoch in history.iter().take_while(|e| e.epoch <= kept) {
        way.push(epoch);
        if epoch.back {
            let best = way.iter().rposition(|e| e.best).unwrap_or(0);
            way.truncate(best + 1);
        }
    }
    way.iter().filter(|e| e.epoch > 0).map(|e| e.rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_that_training_went_back_from_led_nowhere() {
        // Regrets 5 4 6 6 | 4.5 4.5 | 3 and 3.5: back to the second epoch twice, then on.
        let falling = [0.4, 0.4, 0.4, 0.4, 0.4, 0.2, 0.2, 0.1, 0.1];
        let (best, back) = ([0, 1, 2, 7], [4, 6]);
        let epoch = |(epoch, rate): (usize, &f64)| Epoch {
            epoch,
            rate: *rate,
            best: best.contains(&epoch),
            back: back.contains(&epoch),
            ..Epoch::default()
        };
        let history: Vec<Epoch> = falling.iter().enumerate().map(epoch).collect();
        assert_eq!(rates(&history, 7), [0.4, 0.4, 0.1]);
        assert_eq!(rates(&history, 2), [0.4, 0.4]);
        assert!(rates(&history, 0).is_empty());
    }
}
