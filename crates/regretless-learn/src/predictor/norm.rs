//! Batch normalisation (Ioffe & Szegedy 2015), with PyTorch's constants.
//!
//! A layer's gains γ and shifts β lie one after the other, and so do its means μ and variances v.

use super::dense::column_sums;

/// Share of a new batch in the running statistics.
const MOMENTUM: f32 = 0.1;
/// What keeps a variance off zero.
const EPSILON: f32 = 1e-5;

/// One layer's normalisation, with what the way back needs of it: ẑ and 1/s.
#[derive(Debug, Default)]
pub(super) struct Normed {
    z: Vec<f32>,
    scale: Vec<f32>,
    /// μ and s are those of the batch: they depend on z.
    of_batch: bool,
}

impl Normed {
    /// z ← γẑ + β with ẑ = (z − μ)/s and s = √(v + ε), for the given μ and v.
    pub(super) fn fixed(&mut self, z: &mut [f32], weights: &[f32], statistics: &[f32]) {
        let units = weights.len() / 2;
        let (gain, shift) = weights.split_at(units);
        let (mean, variance) = statistics.split_at(units);
        self.of_batch = false;
        self.scale.clear();
        self.scale.extend(variance.iter().map(|v| 1.0 / (v + EPSILON).sqrt()));
        self.z.resize(z.len(), 0.0);
        for (row, hats) in rows_mut(z, units).zip(rows_mut(&mut self.z, units)) {
            for (((hat, z), mean), scale) in hats.iter_mut().zip(&*row).zip(mean).zip(&self.scale) {
                *hat = (z - mean) * scale;
            }
            for (((z, hat), gain), shift) in row.iter_mut().zip(hats).zip(gain).zip(shift) {
                *z = *hat * gain + shift;
            }
        }
    }

    /// The same with the μ = Σz/n and v = Σ(z − μ)²/n of the batch itself. The running statistics go a tenth of the way to
    /// them, v taken as vn/(n − 1).
    pub(super) fn of_batch(&mut self, z: &mut [f32], weights: &[f32], running: &mut [f32]) {
        let units = weights.len() / 2;
        let n = (z.len() / units.max(1)) as f32;
        let mut statistics = vec![0.0; 2 * units];
        let (mean, variance) = statistics.split_at_mut(units);
        column_sums(z, mean);
        mean.iter_mut().for_each(|sum| *sum /= n);
        for row in rows(z, units) {
            for ((sum, z), mean) in variance.iter_mut().zip(row).zip(&*mean) {
                *sum += (z - mean) * (z - mean);
            }
        }
        variance.iter_mut().for_each(|sum| *sum /= n);
        self.fixed(z, weights, &statistics);
        self.of_batch = true;
        let unbiased = [1.0, n / (n - 1.0)].into_iter().flat_map(|c| std::iter::repeat_n(c, units));
        for ((old, new), unbiased) in running.iter_mut().zip(&statistics).zip(unbiased) {
            *old += MOMENTUM * (unbiased * new - *old);
        }
    }

    /// Takes g = ∂L/∂(γẑ + β) to ∂L/∂z = γ/s·(g − Σg/n − ẑ·Σgẑ/n), or γ/s·g where μ and s do not depend on z. The gradients
    /// of γ and β, Σgẑ and Σg, are added to what `gradient` holds, which are zeros.
    pub(super) fn backward(&self, g: &mut [f32], weights: &[f32], gradient: &mut [f32]) {
        let units = self.scale.len();
        let (of_gain, of_shift) = gradient.split_at_mut(units);
        column_sums(g, of_shift);
        for (g, hats) in rows(g, units).zip(rows(&self.z, units)) {
            for ((sum, g), hat) in of_gain.iter_mut().zip(g).zip(hats) {
                *sum += g * hat;
            }
        }
        let share = if self.of_batch { units as f32 / g.len() as f32 } else { 0.0 };
        let factors: Vec<f32> = weights.iter().zip(&self.scale).map(|(gain, scale)| gain * scale).collect();
        for (g, hats) in rows_mut(g, units).zip(rows(&self.z, units)) {
            let sums = of_gain.iter().zip(&*of_shift).zip(&factors);
            for ((g, hat), ((of_gain, of_shift), factor)) in g.iter_mut().zip(hats).zip(sums) {
                *g = factor * (*g - share * (of_shift + hat * of_gain));
            }
        }
    }
}

fn rows(values: &[f32], units: usize) -> impl Iterator<Item = &[f32]> {
    values.chunks_exact(units.max(1))
}

fn rows_mut(values: &mut [f32], units: usize) -> impl Iterator<Item = &mut [f32]> {
    values.chunks_exact_mut(units.max(1))
}
