//! A quadratic term that is learned and not a function of the features: a free embedding of the variables.
//!
//! ```text
//! gram     Q̂ = ridge·I + EEᵀ                   ∂L/∂E = (G + Gᵀ)E                                G = ∂L/∂Q̂
//! cosine   Q̂ = ridge·I + (1 − ridge)·UUᵀ       ∂L/∂eᵢ = (I − uᵢuᵢᵀ)((1 − ridge)(G + Gᵀ)U)ᵢ/‖eᵢ‖   uᵢ = eᵢ/‖eᵢ‖
//! ```
//!
//! Both are positive definite by construction. `cosine` is the paper's portfolio (Q̂ = 0.9·cosine + 0.1·I).

use rand::RngExt;
use rand::distr::Open01;
use rand_chacha::ChaCha8Rng;
use regretless_spec::QuadraticForm;
use statrs::distribution::{ContinuousCDF, Normal};

use super::{Predictor, Pullback, Weights};
use crate::random::stream;

/// A free embedding of n variables; its outputs are the n × n entries of Q̂ in the matrix's own units.
#[derive(Clone, Debug)]
pub struct Embedding {
    n: usize,
    rank: usize,
    form: QuadraticForm,
    ridge: f64,
    weights: Weights,
}

impl Embedding {
    /// An embedding whose Q̂ is as near to `mean` as rank, form and ridge allow.
    pub fn new(mean: &[f64], n: usize, rank: usize, form: QuadraticForm, ridge: f64, seed: u64) -> Self {
        let share = match form {
            QuadraticForm::Gram => 1.0,
            QuadraticForm::Cosine => 1.0 - ridge,
        };
        let rest = |i: usize, j: usize| {
            let symmetric = f64::midpoint(mean[i * n + j], mean[j * n + i]);
            (symmetric - if i == j { ridge } else { 0.0 }) / share.max(1e-9)
        };
        let mut values = pivoted_cholesky(n, rank, rest);
        // Columns of zeros would never learn: (G + Gᵀ)E is zero there.
        let size = (values.iter().map(|v| v * v).sum::<f64>() / values.len().max(1) as f64).sqrt().max(1e-3);
        let mut rng = stream(seed, u64::MAX, 1);
        for value in &mut values {
            *value += 1e-3 * size * rng.random_range(-1.0..=1.0);
        }
        let mut weights = Weights::default();
        weights.push("quadratic.embedding", [n, rank], values.into_iter().map(|v| v as f32).collect());
        Self { n, rank, form, ridge, weights }
    }

    /// An embedding of standard normal numbers.
    pub fn random(n: usize, rank: usize, form: QuadraticForm, ridge: f64, seed: u64) -> Self {
        let mut rng = stream(seed, u64::MAX, 1);
        let standard = Normal::standard();
        let values = (0..n * rank).map(|_| standard.inverse_cdf(rng.sample(Open01)) as f32).collect();
        let mut weights = Weights::default();
        weights.push("quadratic.embedding", [n, rank], values);
        Self { n, rank, form, ridge, weights }
    }

    /// The embedding's rows, of unit length for cosines, and the lengths they had.
    fn rows(&self) -> (Vec<f64>, Vec<f64>) {
        let mut rows: Vec<f64> = self.weights.values().iter().map(|&v| f64::from(v)).collect();
        let mut lengths = vec![1.0; self.n];
        if self.form == QuadraticForm::Cosine {
            for (row, length) in rows.chunks_exact_mut(self.rank).zip(&mut lengths) {
                *length = row.iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-12);
                row.iter_mut().for_each(|v| *v /= *length);
            }
        }
        (rows, lengths)
    }

    fn share(&self) -> f64 {
        match self.form {
            QuadraticForm::Gram => 1.0,
            QuadraticForm::Cosine => 1.0 - self.ridge,
        }
    }

    fn matrix(&self) -> Vec<f32> {
        let (rows, _) = self.rows();
        let row = |i: usize| &rows[i * self.rank..(i + 1) * self.rank];
        let entry = |i: usize, j: usize| {
            let product: f64 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
            (self.share() * product + if i == j { self.ridge } else { 0.0 }) as f32
        };
        (0..self.n * self.n).map(|k| entry(k / self.n, k % self.n)).collect()
    }

    /// ∂L/∂E for the seeds of all rows together.
    fn gradient(&self, seeds: &[f32]) -> Vec<f32> {
        let (n, rank) = (self.n, self.rank);
        let mut g = vec![0.0; n * n];
        for seed in seeds.chunks_exact(n * n) {
            for (g, s) in g.iter_mut().zip(seed) {
                *g += f64::from(*s);
            }
        }
        let (rows, lengths) = self.rows();
        let mut out = Vec::with_capacity(n * rank);
        for i in 0..n {
            let mut along = vec![0.0; rank];
            for j in 0..n {
                let weight = self.share() * (g[i * n + j] + g[j * n + i]);
                let row = &rows[j * rank..(j + 1) * rank];
                along.iter_mut().zip(row).for_each(|(a, r)| *a += weight * r);
            }
            if self.form == QuadraticForm::Cosine {
                let own = &rows[i * rank..(i + 1) * rank];
                let radial: f64 = own.iter().zip(&along).map(|(u, a)| u * a).sum();
                along.iter_mut().zip(own).for_each(|(a, u)| *a = (*a - radial * u) / lengths[i]);
            }
            out.extend(along.into_iter().map(|v| v as f32));
        }
        out
    }
}

impl Predictor for Embedding {
    fn outputs(&self) -> usize {
        self.n * self.n
    }

    fn weights(&self) -> Vec<&Weights> {
        vec![&self.weights]
    }

    fn weights_mut(&mut self) -> Vec<&mut Weights> {
        vec![&mut self.weights]
    }

    fn predict(&self, _: &[f32], rows: usize) -> Vec<f32> {
        self.matrix().repeat(rows)
    }

    fn train(&mut self, inputs: &[f32], rows: usize, _: &mut ChaCha8Rng) -> (Vec<f32>, Pullback<'_>) {
        (self.predict(inputs, rows), Box::new(|seeds| self.gradient(seeds)))
    }

    fn boxed(&self) -> Box<dyn Predictor> {
        Box::new(self.clone())
    }
}

/// n × rank factor E with EEᵀ ≈ the matrix, largest remaining diagonal first; negative curvature is left out.
fn pivoted_cholesky(n: usize, rank: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut factor = vec![0.0; n * rank];
    let mut diagonal: Vec<f64> = (0..n).map(|i| entry(i, i)).collect();
    let largest = diagonal.iter().fold(0.0_f64, |m, d| m.max(*d));
    for k in 0..rank.min(n) {
        let Some(pivot) = (0..n).max_by(|&i, &j| diagonal[i].total_cmp(&diagonal[j])) else { break };
        if diagonal[pivot] <= 1e-12 * largest {
            break;
        }
        let root = diagonal[pivot].sqrt();
        for i in 0..n {
            let known: f64 = (0..k).map(|c| factor[i * rank + c] * factor[pivot * rank + c]).sum();
            factor[i * rank + k] = (entry(i, pivot) - known) / root;
            diagonal[i] -= factor[i * rank + k].powi(2);
        }
        diagonal[pivot] = f64::NEG_INFINITY;
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_agree_with_differences() {
        let mean = [1.0, 0.3, 0.1, 0.3, 1.0, -0.2, 0.1, -0.2, 1.0];
        let seed: Vec<f32> = (0..9).map(|i| (i as f32 * 1.7).sin()).collect();
        for form in [QuadraticForm::Gram, QuadraticForm::Cosine] {
            let mut embedding = Embedding::new(&mean, 3, 3, form, 0.1, 1);
            for (q, mean) in embedding.matrix().iter().zip(mean) {
                assert!((f64::from(*q) - mean).abs() < 0.01, "{form:?}");
            }
            let gradient = embedding.gradient(&seed);
            let value =
                |e: &Embedding| e.matrix().iter().zip(&seed).map(|(q, s)| f64::from(q * s)).sum::<f64>();
            for k in 0..9 {
                let step = 0.01;
                let kept = embedding.weights.values()[k];
                embedding.weights.values_mut()[k] = kept + step;
                let above = value(&embedding);
                embedding.weights.values_mut()[k] = kept - step;
                let below = value(&embedding);
                embedding.weights.values_mut()[k] = kept;
                let difference = (above - below) / (2.0 * f64::from(step));
                assert!((difference - f64::from(gradient[k])).abs() < 2e-3, "{form:?} {k}");
            }
        }
    }
}
