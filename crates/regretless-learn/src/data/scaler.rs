//! Means and deviations of the training part, and nothing else's.

use serde::{Deserialize, Serialize};

/// Takes columns to mean 0 and deviation 1 over the rows it was fitted on, and back.
///
/// ```
/// use regretless_learn::Scaler;
/// let scaler = Scaler::fit(&[1.0, 10.0, 3.0, 10.0], 2, 0..2);
/// assert_eq!(scaler.mean, [2.0, 10.0]);
/// assert_eq!(scaler.deviation, [1.0, 0.0]); // a column that never changed
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scaler {
    /// Mean of each column.
    pub mean: Vec<f64>,
    /// Standard deviation of each column; 0 for one that does not change.
    pub deviation: Vec<f64>,
}

impl Scaler {
    /// A scaler that changes nothing.
    pub fn identity(width: usize) -> Self {
        Self { mean: vec![0.0; width], deviation: vec![1.0; width] }
    }

    /// Statistics of the given rows of a row-major table; missing numbers (NaN) are left out.
    pub fn fit(values: &[f64], width: usize, rows: impl IntoIterator<Item = usize> + Clone) -> Self {
        let mut count = vec![0.0; width];
        let mut mean = vec![0.0; width];
        for row in rows.clone() {
            for (j, v) in values[row * width..(row + 1) * width].iter().enumerate() {
                if !v.is_nan() {
                    count[j] += 1.0;
                    mean[j] += (v - mean[j]) / count[j];
                }
            }
        }
        let mut square = vec![0.0; width];
        for row in rows {
            for (j, v) in values[row * width..(row + 1) * width].iter().enumerate() {
                if !v.is_nan() {
                    square[j] += (v - mean[j]).powi(2);
                }
            }
        }
        let deviation = square.iter().zip(&count).zip(&mean).map(|((s, n), m)| {
            let deviation = (s / f64::max(*n, 1.0)).sqrt();
            // What rounding leaves of a constant column is no signal.
            if deviation > 1e-12 * m.abs() { deviation } else { 0.0 }
        });
        Self { deviation: deviation.collect(), mean }
    }

    /// The standardised value; 0 for a missing number and for a column that did not change in training.
    pub fn forward(&self, j: usize, value: f64) -> f32 {
        self.standardised(j, value) as f32
    }

    /// [`Scaler::forward`] with all digits.
    pub fn standardised(&self, j: usize, value: f64) -> f64 {
        if value.is_nan() || self.deviation[j] == 0.0 {
            return 0.0;
        }
        (value - self.mean[j]) / self.deviation[j]
    }

    /// The value behind a standardised one.
    pub fn back(&self, j: usize, value: f32) -> f64 {
        self.mean[j] + self.deviation[j] * f64::from(value)
    }
}
