//! The random rows of the paper's eigenvalue study.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Distribution of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// U(0, 1).
    Uniform,
    /// |N(0, 1)|; N(0, 1) for the vector that the rows are held against.
    Normal,
    /// Beta(2, 2).
    Beta,
}

impl Distribution {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Uniform, Self::Normal, Self::Beta];

    /// The name used in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Normal => "normal",
            Self::Beta => "beta",
        }
    }

    /// Fills a row with draws of N(0, 1), U(0, 1) or Beta(2, 2): 64 random bits give two, two, and one of them.
    ///
    /// Rejection makes this the whole cost of the study, and 32 bits (21 for Beta) are plenty for a histogram.
    fn fill(self, rng: &mut ChaCha8Rng, row: &mut [f64]) {
        match self {
            Self::Uniform => {
                for pair in row.chunks_mut(2) {
                    let (a, b) = halves(rng.next_u64());
                    pair[0] = a;
                    pair.iter_mut().skip(1).for_each(|second| *second = b);
                }
            }
            Self::Normal => {
                for pair in row.chunks_mut(2) {
                    // Box and Muller's pair: a radius and an angle.
                    let (a, b) = halves(rng.next_u64());
                    let radius = (-2.0 * a.ln()).sqrt();
                    let (sin, cos) = (std::f64::consts::TAU * b).sin_cos();
                    pair[0] = radius * cos;
                    pair.iter_mut().skip(1).for_each(|second| *second = radius * sin);
                }
            }
            Self::Beta => {
                // The middle one of three uniform numbers has the distribution Beta(2, 2).
                for entry in row {
                    let bits = rng.next_u64();
                    let third = |shift: u32| (bits >> shift) & 0x1f_ffff;
                    let (a, b, c) = (third(0), third(21), third(42));
                    let middle = a.min(b).max(a.max(b).min(c));
                    *entry = (middle as f64 + 0.5) / f64::from(1 << 21);
                }
            }
        }
    }

    /// The vector v: centred entries.
    fn vector(self, rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
        let mut v = vec![0.0; n];
        self.fill(rng, &mut v);
        if self != Self::Normal {
            v.iter_mut().for_each(|v| *v -= 0.5);
        }
        v
    }

    /// A row of entries of one sign.
    fn row(self, rng: &mut ChaCha8Rng, sign: f64, row: &mut [f64]) {
        self.fill(rng, row);
        row.iter_mut().for_each(|r| *r = sign * r.abs());
    }
}

/// Two numbers of the open interval (0, 1).
fn halves(bits: u64) -> (f64, f64) {
    let half = |bits: u32| (f64::from(bits) + 0.5) / 4_294_967_296.0;
    (half(bits as u32), half((bits >> 32) as u32))
}

/// Rejections after which the released experiment keeps a row that it should not.
const PATIENCE: usize = 10_000;

/// One trial: n random rows, each of one sign, that lie on one side of a random hyperplane through 0.
///
/// Given v, the product Σ rᵢvᵢ has mean μ·Σvᵢ and deviation σ·‖v‖. For uniform entries the mean lies about 1.7·Z
/// deviations from 0, with Z a standard normal number that depends on v alone, whatever n is: from |Z| = 2.2 on, a row
/// of the wrong sign is rejected about 10,000 times. So giving up is no accident of small n, and where it happens it
/// happens to many rows of the trial at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// Number of rows, and of entries of each.
    pub n: usize,
    /// The rows at unit length, row-major.
    pub unit: Vec<f64>,
    /// Rows on which the released experiment gave up, each with the length that it left them.
    pub given_up: Vec<(usize, f64)>,
}

impl Draw {
    /// Draws trial number `trial`; each has a stream of its own, so that the order of trials does not matter.
    pub fn new(n: usize, distribution: Distribution, seed: u64, trial: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(trial);
        let v = distribution.vector(&mut rng, n);
        let mut draw = Self { n, unit: vec![0.0; n * n], given_up: Vec::new() };
        for (i, row) in draw.unit.chunks_exact_mut(n.max(1)).enumerate() {
            let sign = if rng.next_u32() & 1 == 0 { 1.0 } else { -1.0 };
            // No row of this sign can be accepted, so the last of 10,000 rejected ones is as good as the first.
            let hopeless = v.iter().all(|v| sign * v < 0.0);
            let tries = if hopeless { 1 } else { PATIENCE };
            let accepted = (0..tries).any(|_| {
                distribution.row(&mut rng, sign, row);
                row.iter().zip(&v).map(|(r, v)| r * v).sum::<f64>() >= 0.0
            });
            let length = row.iter().map(|r| r * r).sum::<f64>().sqrt();
            row.iter_mut().for_each(|r| *r /= length);
            if !accepted {
                draw.given_up.push((i, length));
            }
        }
        draw
    }

    /// The rows as the released experiment has them: those it gave up on are not normalised.
    pub fn published(&self) -> Vec<f64> {
        let mut rows = self.unit.clone();
        for &(i, length) in &self.given_up {
            rows[i * self.n..(i + 1) * self.n].iter_mut().for_each(|r| *r *= length);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut draws = vec![0.0; 200_001];
        for (distribution, mean, variance) in [
            (Distribution::Uniform, 0.5, 1.0 / 12.0),
            (Distribution::Normal, 0.0, 1.0),
            (Distribution::Beta, 0.5, 0.05),
        ] {
            distribution.fill(&mut rng, &mut draws);
            let count = draws.len() as f64;
            let m = draws.iter().sum::<f64>() / count;
            let v = draws.iter().map(|d| (d - m).powi(2)).sum::<f64>() / count;
            assert!((m - mean).abs() < 0.01 && (v / variance - 1.0).abs() < 0.02, "{distribution:?} {m} {v}");
        }
    }

    #[test]
    fn rows_have_one_sign_and_unit_length() {
        let mut given_up = 0;
        for trial in 0..50 {
            let draw = Draw::new(5, Distribution::Beta, 7, trial);
            for row in draw.unit.chunks_exact(5) {
                assert!(row.iter().all(|r| *r >= 0.0) || row.iter().all(|r| *r <= 0.0));
                assert!((row.iter().map(|r| r * r).sum::<f64>() - 1.0).abs() < 1e-12);
            }
            assert_eq!(draw.given_up.is_empty(), draw.published() == draw.unit);
            given_up += draw.given_up.len();
        }
        assert!(given_up > 0);
    }
}
