//! Features and true objectives of the synthetic LP.

use std::f64::consts::TAU;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regretless_learn::Part;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::profile::Profile;
use crate::random::{normal, thin, uniform};

/// Deviation of the phase ξB, in periods, at which there is something to learn.
pub const LEARNABLE: f64 = 0.25;

/// Rows that are judged on in the `sound` profile: fewer would only add noise.
const TEST: usize = 1000;

/// Features ξ and true objectives θ, each row in its part.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// ξ, rows × 2n.
    pub features: Vec<f64>,
    /// θ, rows × n.
    pub targets: Vec<f64>,
    /// To which part each row belongs.
    pub parts: Vec<Part>,
}

impl History {
    /// Draws `samples` rows to train on, and those to choose and judge by.
    ///
    /// ```text
    /// ξ ~ N(μ, FFᵀ + I)   F ~ U(0,1)^{2n×n}      z = sin(2π ξB)   B fair coins      θ = h(z), each entry stretched to [0, 1]
    /// ```
    ///
    /// h is a frozen network n → 1.5n → 128 → n with rectifiers, weights N(0, 0.01²) of which half are zero, biases
    /// N(0, 0.1²). `phase` scales ξB to that many periods of deviation; the original scale, hundreds of periods, is `None`.
    ///
    /// `published`: μ ~ U(0,1), no noise, a quarter of the training size each for validation and test, as the released
    /// experiment has it. `sound`: the paper's text: μ = 0, noise 0.01·N(0,1) on ξ and 0.01·(N(0,1) within [0, 1.5]) on θ,
    /// half the training size for validation; 1,000 rows for test.
    pub fn draw(n: usize, samples: usize, profile: Profile, phase: Option<f64>, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let parts = parts(samples, profile == Profile::Sound, &mut rng);
        Self::of_parts(n, parts, profile, phase, &mut rng)
    }

    /// The same with a row for each of the given parts.
    pub fn of_parts(
        n: usize,
        parts: Vec<Part>,
        profile: Profile,
        phase: Option<f64>,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let sound = profile == Profile::Sound;
        let (rows, wide) = (parts.len(), 2 * n);
        let mut centre = uniform(rng, wide);
        if sound {
            centre.fill(0.0);
        }
        let spread = uniform(rng, wide * n);
        let coins: Vec<f64> = (0..wide * n).map(|_| f64::from(u8::from(rng.random_bool(0.5)))).collect();
        let mut features = Vec::with_capacity(rows * wide);
        for _ in 0..rows {
            let (common, own) = (normal(rng, n), normal(rng, wide));
            features
                .extend((0..wide).map(|i| centre[i] + own[i] + dot(&spread[i * n..(i + 1) * n], &common)));
        }
        let scale: Vec<f64> = match phase {
            None => vec![1.0; n],
            Some(phase) => deviations(&spread, &coins, n).iter().map(|d| phase / d).collect(),
        };
        let waves = |xi: &[f64]| -> Vec<f64> {
            let phase = times(xi, &coins, n);
            phase.iter().zip(&scale).map(|(p, s)| (TAU * s * p).sin()).collect()
        };
        let mut targets: Vec<f64> = features.chunks_exact(wide).flat_map(waves).collect();
        targets = network(targets, n, rng);
        stretch(&mut targets, n);
        if sound {
            let noise = normal(rng, features.len());
            features.iter_mut().zip(noise).for_each(|(xi, e)| *xi += 0.01 * e);
            let noise = truncated(rng, targets.len());
            targets.iter_mut().zip(noise).for_each(|(t, e)| *t += 0.01 * e);
        }
        Self { features, targets, parts }
    }
}

/// A part for each row. The released experiment takes 16.6 % of 1.5 N rows for test and a fifth of the rest for validation,
/// both rounded up.
fn parts(samples: usize, sound: bool, rng: &mut ChaCha8Rng) -> Vec<Part> {
    if sound {
        let counts = [(Part::Train, samples), (Part::Valid, samples.div_ceil(2)), (Part::Test, TEST)];
        return counts.into_iter().flat_map(|(part, count)| std::iter::repeat_n(part, count)).collect();
    }
    let total = samples + samples / 2;
    let test = (0.166 * total as f64).ceil() as usize;
    let valid = (0.2 * (total - test) as f64).ceil() as usize;
    let mut parts: Vec<Part> = (0..total)
        .map(|i| match i {
            i if i < test => Part::Test,
            i if i < test + valid => Part::Valid,
            _ => Part::Train,
        })
        .collect();
    parts.shuffle(rng);
    parts
}

/// Deviation of each entry of ξB: √(bᵀ(FFᵀ + I)b).
fn deviations(spread: &[f64], coins: &[f64], n: usize) -> Vec<f64> {
    let column = |j: usize| -> Vec<f64> { coins.iter().skip(j).step_by(n).copied().collect() };
    let one = |j: usize| {
        let b = column(j);
        let common = times(&b, spread, n);
        (dot(&common, &common) + dot(&b, &b)).sqrt().max(1.0)
    };
    (0..n).map(one).collect()
}

/// The frozen network h on rows of n entries.
fn network(mut z: Vec<f64>, n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut width = n;
    for (units, last) in [((3 * n).div_ceil(2), false), (128, false), (n, true)] {
        let mut weights: Vec<f64> = normal(rng, units * width).iter().map(|w| 0.01 * w).collect();
        thin(rng, &mut weights, units, width, units.div_ceil(2));
        let bias: Vec<f64> = normal(rng, units).iter().map(|b| 0.1 * b).collect();
        let layer = |x: &[f64]| -> Vec<f64> {
            let unit = |i: usize| bias[i] + dot(&weights[i * width..(i + 1) * width], x);
            (0..units).map(unit).map(|v| if last { v } else { v.max(0.0) }).collect()
        };
        z = z.chunks_exact(width).flat_map(layer).collect();
        width = units;
    }
    z
}

/// Takes every column to [0, 1].
fn stretch(values: &mut [f64], cols: usize) {
    for j in 0..cols {
        let column = || values.iter().skip(j).step_by(cols);
        let (low, high) = column().fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
        let width = if high > low { high - low } else { 1.0 };
        values.iter_mut().skip(j).step_by(cols).for_each(|v| *v = (*v - low) / width);
    }
}

/// Standard normal numbers within [0, 1.5], by the inverse distribution function.
fn truncated(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    let standard = Normal::standard();
    let (low, high) = (0.5, standard.cdf(1.5));
    uniform(rng, count).iter().map(|u| standard.inverse_cdf(low + (high - low) * u)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// xᵀM for a row-major matrix with `cols` columns.
fn times(x: &[f64], matrix: &[f64], cols: usize) -> Vec<f64> {
    let mut out = vec![0.0; cols];
    for (x, row) in x.iter().zip(matrix.chunks_exact(cols)) {
        out.iter_mut().zip(row).for_each(|(o, m)| *o += x * m);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(parts: &[Part], part: Part) -> usize {
        parts.iter().filter(|p| **p == part).count()
    }

    #[test]
    fn the_released_split() {
        for (samples, expected) in
            [(100, (100, 25, 25)), (1000, (1000, 251, 249)), (5000, (5004, 1251, 1245))]
        {
            let parts = parts(samples, false, &mut ChaCha8Rng::seed_from_u64(1));
            let found = (count(&parts, Part::Train), count(&parts, Part::Valid), count(&parts, Part::Test));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_phase_has_the_deviation_asked_for() {
        let n = 12;
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let spread = uniform(&mut rng, 2 * n * n);
        let coins: Vec<f64> = (0..2 * n * n).map(|_| f64::from(u8::from(rng.random_bool(0.5)))).collect();
        let expected = deviations(&spread, &coins, n);
        let mut squares = vec![0.0; n];
        let draws = 20_000;
        for _ in 0..draws {
            let (common, own) = (normal(&mut rng, n), normal(&mut rng, 2 * n));
            let xi: Vec<f64> =
                (0..2 * n).map(|i| own[i] + dot(&spread[i * n..(i + 1) * n], &common)).collect();
            squares.iter_mut().zip(times(&xi, &coins, n)).for_each(|(s, p)| *s += p * p);
        }
        for (square, expected) in squares.iter().zip(expected) {
            let found = (square / f64::from(draws)).sqrt();
            assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
        }
    }

    #[test]
    fn published_is_without_noise_and_sound_is_with_it() {
        let published = History::draw(6, 100, Profile::Published, None, 5);
        let column =
            |h: &History, j: usize| h.targets.iter().skip(j).step_by(6).copied().collect::<Vec<f64>>();
        for j in 0..6 {
            let values = column(&published, j);
            assert_eq!(values.iter().copied().fold(f64::MAX, f64::min), 0.0);
            assert_eq!(values.iter().copied().fold(f64::MIN, f64::max), 1.0);
        }
        let sound = History::draw(6, 100, Profile::Sound, Some(LEARNABLE), 5);
        let all = sound.targets.iter().copied();
        assert!(all.clone().fold(f64::MAX, f64::min) >= 0.0);
        let most = all.fold(f64::MIN, f64::max);
        assert!(most > 1.0 && most <= 1.015, "{most}");
        assert_eq!(count(&sound.parts, Part::Valid), 50);
        assert_eq!(sound, History::draw(6, 100, Profile::Sound, Some(LEARNABLE), 5));
        assert_ne!(sound, History::draw(6, 100, Profile::Sound, Some(LEARNABLE), 6));
    }

    #[test]
    fn truncated_noise_has_the_mean_of_its_law() {
        let values = truncated(&mut ChaCha8Rng::seed_from_u64(2), 40_000);
        assert!(values.iter().all(|v| (0.0..=1.5).contains(v)));
        // (φ(0) − φ(1.5))/(Φ(1.5) − Φ(0)) = 0.26942/0.43319
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean - 0.621_93).abs() < 0.005, "{mean}");
    }
}
