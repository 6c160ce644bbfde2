//! Features as regressions want them: centred, in units of their deviation, along orthogonal directions.

use faer::{Mat, MatRef, Side};

/// Directions whose squared length is below this share of the longest are rounding: of constant, duplicated and dependent
/// features nothing is left but this. (The eigenvalues come from XᵀX or XXᵀ, whose own error is about 1e-15.)
const RANK: f64 = 1e-11;

/// Features X of the rows to learn from, centred and scaled, as W^½X = U S Vᵀ with the rows' weights W, 1 on average.
pub(crate) struct Design {
    centre: Vec<f64>,
    /// How much each row counts.
    pub(super) weight: Vec<f64>,
    /// Deviation of each feature; 0 for one that does not change.
    pub(super) scale: Vec<f64>,
    /// Rows × rank, orthonormal columns.
    pub(super) u: Mat<f64>,
    /// Lengths of the directions.
    pub(super) s: Vec<f64>,
    /// Features × rank, orthonormal columns.
    v: Mat<f64>,
}

impl Design {
    /// Takes apart rows of `features` features, row-major, one for each weight; `None` if they are not finite.
    #[cfg(test)]
    pub(crate) fn new(x: &[f64], weight: &[f64], features: usize) -> Option<Self> {
        Self::scaled(x, weight, &vec![false; features])
    }

    /// Takes apart rows of features, row-major, one for each weight; `None` if they are not finite. Those that are `scaled` already have
    /// the unit they are to have.
    pub(crate) fn scaled(x: &[f64], weight: &[f64], scaled: &[bool]) -> Option<Self> {
        let (rows, features) = (weight.len(), scaled.len());
        let raw = MatRef::from_row_major_slice(x, rows, features);
        let count = rows.max(1) as f64;
        let column = |j: usize| (0..rows).map(move |i| (raw[(i, j)], weight[i]));
        let centre: Vec<f64> =
            (0..features).map(|j| column(j).map(|(v, w)| w * v).sum::<f64>() / count).collect();
        let deviation = |j: usize| {
            let square = column(j).map(|(v, w)| w * (v - centre[j]).powi(2)).sum::<f64>();
            let deviation = (square / count).sqrt();
            // What rounding leaves of a constant column is no signal.
            match deviation > 1e-12 * centre[j].abs() {
                true if scaled[j] => 1.0,
                true => deviation,
                false => 0.0,
            }
        };
        let scale: Vec<f64> = (0..features).map(deviation).collect();
        let standard = Mat::from_fn(rows, features, |i, j| {
            if scale[j] > 0.0 { weight[i].sqrt() * ((raw[(i, j)] - centre[j]) / scale[j]) } else { 0.0 }
        });
        // The smaller of XᵀX and XXᵀ has all there is to know.
        let wide = features > rows;
        let gram = if wide { &standard * standard.transpose() } else { standard.transpose() * &standard };
        // Without a feature there is nothing to take apart: what is fitted is a level.
        let eigen = if gram.nrows() > 0 { Some(gram.self_adjoint_eigen(Side::Lower).ok()?) } else { None };
        let values: Vec<f64> =
            eigen.iter().flat_map(|eigen| (0..gram.nrows()).map(|k| eigen.S()[k])).collect();
        if values.iter().chain(&scale).any(|v| !v.is_finite()) {
            return None;
        }
        let longest = values.iter().copied().fold(0.0, f64::max);
        let kept: Vec<usize> =
            (0..values.len()).rev().filter(|&k| values[k] > RANK * longest && values[k] > 0.0).collect();
        let s: Vec<f64> = kept.iter().map(|&k| values[k].sqrt()).collect();
        let own = Mat::from_fn(gram.nrows(), kept.len(), |i, k| {
            eigen.as_ref().map_or(0.0, |eigen| eigen.U()[(i, kept[k])])
        });
        let mut other = if wide { standard.transpose() * &own } else { &standard * &own };
        for (k, s) in s.iter().enumerate() {
            other.col_mut(k).iter_mut().for_each(|v| *v /= s);
        }
        let (u, v) = if wide { (own, other) } else { (other, own) };
        Some(Self { centre, weight: weight.to_vec(), scale, u, s, v })
    }

    /// Rows it was made of.
    pub(super) fn rows(&self) -> usize {
        self.u.nrows()
    }

    /// Directions.
    pub(super) fn rank(&self) -> usize {
        self.s.len()
    }

    /// Weights and intercept, in the features' own units, of the function that is `level + W^−½U·along` on the rows:
    /// w = V S⁻¹·along in units of the deviations.
    pub(crate) fn weights(&self, along: &[f64], level: f64) -> (Vec<f64>, f64) {
        let weight = |j: usize| {
            if self.scale[j] == 0.0 {
                return 0.0;
            }
            let standard: f64 =
                along.iter().zip(&self.s).enumerate().map(|(k, (a, s))| self.v[(j, k)] * a / s).sum();
            standard / self.scale[j]
        };
        let weights: Vec<f64> = (0..self.scale.len()).map(weight).collect();
        let intercept = level - weights.iter().zip(&self.centre).map(|(w, c)| w * c).sum::<f64>();
        (weights, intercept)
    }
}
