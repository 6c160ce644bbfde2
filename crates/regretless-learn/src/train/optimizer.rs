//! Optimisers on flat vectors.
//!
//! Their states go into checkpoints number by number, and gradients are clipped by the norm over *all* weights, not matrix by
//! matrix. Formulas and constants are PyTorch's.

use crate::settings::{Clip, OptimizerKind as Kind};

/// Clips a gradient in place and returns its norm before.
pub fn clip(clip: Clip, gradient: &mut [f32]) -> f64 {
    let norm = gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
    match clip {
        Clip::Norm(most) if norm > most => {
            let factor = (most / norm) as f32;
            gradient.iter_mut().for_each(|g| *g *= factor);
        }
        Clip::None | Clip::Norm(_) => {}
        Clip::Value(most) => {
            let most = most as f32;
            gradient.iter_mut().for_each(|g| *g = g.clamp(-most, most));
        }
    }
    norm
}

/// An optimiser and what it remembers.
///
/// - Adam: m ← 0.9m + 0.1g, v ← 0.999v + 0.001g²; w ← w − η m̂/(√v̂ + 1e-8) (Kingma & Ba 2015)
/// - AdaGrad: s ← s + g²; w ← w − η g/(√s + 1e-10) (Duchi et al. 2011)
/// - SGD: v ← μv + g; w ← w − ηv
///
/// ```
/// use regretless_learn::Optimizer;
/// let mut optimizer = Optimizer::new(regretless_learn::OptimizerKind::Sgd, 0.0, 0.0);
/// let mut weights = [1.0_f32, 2.0];
/// optimizer.step(&mut weights, &[1.0, -1.0], 0.5);
/// assert_eq!(weights, [0.5, 2.5]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer {
    kind: Kind,
    momentum: f32,
    weight_decay: f32,
    /// Steps taken.
    pub(crate) time: u64,
    /// Adam's m, the velocity of SGD.
    pub(crate) first: Vec<f32>,
    /// Adam's v, the sum of squares of AdaGrad.
    pub(crate) second: Vec<f32>,
}

impl Optimizer {
    /// An optimiser that has seen nothing. `momentum` is for SGD; `weight_decay` adds that multiple of the weights to the
    /// gradient.
    pub fn new(kind: Kind, momentum: f64, weight_decay: f64) -> Self {
        let (momentum, weight_decay) = (momentum as f32, weight_decay as f32);
        Self { kind, momentum, weight_decay, time: 0, first: Vec::new(), second: Vec::new() }
    }

    /// The mean length of the gradients so far, with Adam's memory: what trees measure gradients by that have no curvature.
    pub(crate) fn pace(&mut self, length: f64) -> f64 {
        self.time += 1;
        self.second.resize(1, 0.0);
        self.second[0] = (0.999 * f64::from(self.second[0]) + 0.001 * length) as f32;
        let time = i32::try_from(self.time).unwrap_or(i32::MAX);
        f64::from(self.second[0]) / (1.0 - 0.999_f64.powi(time))
    }

    /// One step along `gradient` with learning rate `rate`.
    pub fn step(&mut self, weights: &mut [f32], gradient: &[f32], rate: f64) {
        self.time += 1;
        self.first.resize(weights.len(), 0.0);
        self.second.resize(weights.len(), 0.0);
        let decay = self.weight_decay;
        let states = self.first.iter_mut().zip(&mut self.second);
        let each = weights.iter_mut().zip(gradient).zip(states);
        match self.kind {
            Kind::Adam => {
                let (b1, b2) = (0.9_f32, 0.999_f32);
                let time = i32::try_from(self.time).unwrap_or(i32::MAX);
                let c1 = 1.0 - 0.9_f64.powi(time);
                let c2 = 1.0 - 0.999_f64.powi(time);
                let (step, root) = ((rate / c1) as f32, (1.0 / c2.sqrt()) as f32);
                for ((w, g), (m, v)) in each {
                    let g = g + decay * *w;
                    *m = b1 * *m + (1.0 - b1) * g;
                    *v = b2 * *v + (1.0 - b2) * g * g;
                    *w -= step * *m / (v.sqrt() * root + 1e-8);
                }
            }
            Kind::AdaGrad => {
                for ((w, g), (_, s)) in each {
                    let g = g + decay * *w;
                    *s += g * g;
                    *w -= rate as f32 * g / (s.sqrt() + 1e-10);
                }
            }
            Kind::Sgd => {
                for ((w, g), (v, _)) in each {
                    *v = self.momentum * *v + g + decay * *w;
                    *w -= rate as f32 * *v;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, three steps on f(w) = w², from w = 1 with rate 0.1.
    #[test]
    fn steps_agree_with_the_formulas() {
        for (kind, expected) in [
            (Kind::Adam, [0.9, 0.800_412, 0.701_586]),
            (Kind::AdaGrad, [0.9, 0.833_104, 0.780_456]),
            (Kind::Sgd, [0.8, 0.46, 0.062]),
        ] {
            let mut optimizer = Optimizer::new(kind, 0.9, 0.0);
            let mut w = [1.0_f32];
            for expected in expected {
                let gradient = [2.0 * w[0]];
                optimizer.step(&mut w, &gradient, 0.1);
                assert!((f64::from(w[0]) - expected).abs() < 1e-5, "{kind:?}: {} {expected}", w[0]);
            }
        }
    }

    #[test]
    fn norms_are_over_all_weights() {
        let mut gradient = [3.0, 0.0, 4.0];
        assert!((clip(Clip::Norm(1.0), &mut gradient) - 5.0).abs() < 1e-12);
        assert!((gradient[0] - 0.6).abs() < 1e-6 && (gradient[2] - 0.8).abs() < 1e-6);
        let mut gradient = [3.0, -0.5];
        clip(Clip::Value(1.0), &mut gradient);
        assert_eq!(gradient, [1.0, -0.5]);
    }
}
