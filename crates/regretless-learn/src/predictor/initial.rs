//! Initial weights.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Uniform on ±√(gain/fan_in): He's rule for gain 6 (rectifiers), LeCun's for gain 3.
pub(super) fn uniform(rng: &mut ChaCha8Rng, fan_in: usize, len: usize, gain: f64) -> Vec<f32> {
    let bound = (gain / fan_in.max(1) as f64).sqrt();
    (0..len).map(|_| rng.random_range(-bound..=bound) as f32).collect()
}
