//! Whether training gets anywhere: what patience waits for.

use crate::train::epoch::Epoch;

/// An improvement is one of this share of the best value so far: less is noise of the last digits, and would be waited for
/// for ever. PyTorch's plateau schedule has the same default.
const IMPROVEMENT: f64 = 1e-4;

/// … and this share of the first value, for measures that go to zero.
const ROUNDING: f64 = 1e-9;

/// The last epoch that improved the validation regret or, where a loss of the forecast is trained, its own validation loss:
/// a two-stage predictor is not done while it still learns to predict.
pub(crate) fn last_improvement(history: &[Epoch]) -> usize {
    let regrets = history.iter().map(|e| (e.epoch, (e.valid.instances > 0).then(|| e.valid.judged())));
    let losses = history.iter().map(|e| (e.epoch, e.valid_loss));
    last(regrets).max(last(losses))
}

fn last(values: impl Iterator<Item = (usize, Option<f64>)>) -> usize {
    let mut first: Option<f64> = None;
    let (mut best, mut at) = (f64::INFINITY, 0);
    for (epoch, value) in values {
        let Some(value) = value.filter(|v| v.is_finite()) else { continue };
        let size = first.get_or_insert(value).abs();
        if best == f64::INFINITY || value < best - IMPROVEMENT * best.abs() - ROUNDING * size {
            (best, at) = (value, epoch);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::measures::Measures;

    fn epochs(regrets: &[f64], losses: &[f64]) -> Vec<Epoch> {
        let one = |(epoch, regret): (usize, &f64)| Epoch {
            epoch,
            valid: Measures { instances: 1, regret: *regret, ..Measures::default() },
            valid_loss: losses.get(epoch).copied(),
            ..Epoch::default()
        };
        regrets.iter().enumerate().map(one).collect()
    }

    #[test]
    fn the_last_digits_are_no_improvement() {
        let creeping: Vec<f64> = (0..9).map(|i| 2.0 - 1e-16 - 1e-12 * f64::from(i)).collect();
        assert_eq!(last_improvement(&epochs(&creeping, &[])), 0);
        assert_eq!(last_improvement(&epochs(&[2.0, 1.0, 0.9999, 0.9998, 0.99], &[])), 4);
        // Many small steps are one improvement when they have come far enough: the best that counted is what is compared with.
        let slow: Vec<f64> = (0..9).map(|i| 1.0 - 3e-5 * f64::from(i)).collect();
        assert_eq!(last_improvement(&epochs(&slow, &[])), 8);
    }

    #[test]
    fn zero_is_the_end() {
        assert_eq!(last_improvement(&epochs(&[1.0, 0.0, -1e-17, -1e-12], &[])), 1);
        assert_eq!(last_improvement(&epochs(&[f64::NAN, 3.0, f64::NAN, 2.0], &[])), 3);
        assert_eq!(last_improvement(&[]), 0);
    }

    #[test]
    fn either_measure_counts() {
        assert_eq!(last_improvement(&epochs(&[2.0, 1.0, 1.0, 1.0], &[5.0, 4.0, 3.0, 3.0])), 2);
        assert_eq!(last_improvement(&epochs(&[2.0, 1.0, 0.5, 1.0], &[5.0, 4.0, 4.0, 4.0])), 2);
    }
}
