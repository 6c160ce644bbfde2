//! Least squares with a ridge, in closed form.
//!
//! ```text
//! min ‖y − a − Xw‖²_W + λ‖w‖²     X centred and standardised, the level a free of charge, W the rows' weights, 1 on average
//! fitted       ȳ + W^−½ U diag(s²/(s² + λ)) Uᵀ W^½ (y − ȳ)
//! left out     y − (y − fitted)/(1 − h),   hᵢ = Wᵢ/n + Σₖ uᵢₖ² s²ₖ/(s²ₖ + λ)
//! ```
//!
//! The second line is what a fit without a row predicts for it, exactly; λ is the one with the smallest squared error of these,
//! for each target its own. scikit-learn's `RidgeCV(alpha_per_target=True)` on standardised features does the same.

use faer::Mat;

use super::design::Design;

/// The values of λ that are tried, over the number of rows: two a decade. A feature's Σx² is the number of rows, so that this is
/// the ridge beside the curvature of one feature.
pub(super) fn grid() -> impl Iterator<Item = f64> {
    (-12..=6).map(|k| 10.0_f64.powf(f64::from(k) / 2.0))
}

/// What is left of 1 − h where a row decides its own fit.
const DETERMINED: f64 = 1e-12;

/// A fit of one target.
#[derive(Clone, Debug)]
pub(crate) struct Ridge {
    /// The mean of the target.
    pub(crate) level: f64,
    /// Coefficients along the directions of the design.
    pub(crate) along: Vec<f64>,
    /// The ridge that was chosen.
    pub(crate) lambda: f64,
    /// What a fit without the row predicts for each row.
    pub(crate) left_out: Vec<f64>,
}

/// The ridges of a design with what all targets share.
pub(crate) struct Ridges<'a> {
    design: &'a Design,
    lambdas: Vec<f64>,
    /// 1 − h for each λ and row.
    freedom: Vec<Vec<f64>>,
}

impl<'a> Ridges<'a> {
    pub(crate) fn new(design: &'a Design) -> Self {
        let rows = design.rows();
        let lambdas: Vec<f64> = grid().map(|share| share * rows as f64).collect();
        let freedom = lambdas.iter().map(|&lambda| {
            let shrink = shrink(design, lambda);
            let one = |i: usize| {
                let own: f64 = shrink.iter().enumerate().map(|(k, d)| d * design.u[(i, k)].powi(2)).sum();
                (1.0 - design.weight[i] / rows as f64 - own).max(DETERMINED)
            };
            (0..rows).map(one).collect()
        });
        Self { design, freedom: freedom.collect(), lambdas }
    }

    /// The fit of one target, its λ chosen by leaving out each row in turn.
    pub(crate) fn fit(&self, y: &[f64]) -> Ridge {
        let (design, rows) = (self.design, self.design.rows());
        let weight = &design.weight;
        let level = y.iter().zip(weight).map(|(y, w)| w * y).sum::<f64>() / rows.max(1) as f64;
        let root: Vec<f64> = weight.iter().map(|w| w.sqrt()).collect();
        let along = |k: usize| {
            y.iter().enumerate().map(|(i, y)| root[i] * design.u[(i, k)] * (y - level)).sum::<f64>()
        };
        let projected: Vec<f64> = (0..design.rank()).map(along).collect();
        let coefficients = Mat::from_fn(design.rank(), self.lambdas.len(), |k, l| {
            let square = design.s[k].powi(2);
            projected[k] * square / (square + self.lambdas[l])
        });
        let fitted = &design.u * &coefficients;
        let error = |l: usize, i: usize| (y[i] - level - fitted[(i, l)] / root[i]) / self.freedom[l][i];
        let score = |l: usize| (0..rows).map(|i| weight[i] * error(l, i).powi(2)).sum();
        let scores: Vec<f64> = (0..self.lambdas.len()).map(score).collect();
        let best = (0..scores.len()).min_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0);
        Ridge {
            level,
            along: (0..design.rank()).map(|k| coefficients[(k, best)]).collect(),
            lambda: self.lambdas[best],
            left_out: (0..rows).map(|i| y[i] - error(best, i)).collect(),
        }
    }
}

/// s²/(s² + λ) along each direction.
fn shrink(design: &Design, lambda: f64) -> Vec<f64> {
    design.s.iter().map(|s| s * s / (s * s + lambda)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern.
    fn noise(count: usize, seed: f64) -> Vec<f64> {
        (0..count)
            .map(|i| ((i as f64 + 1.0) * 12.9898 + seed * 78.233).sin() * 43758.5453)
            .map(|v| v - v.floor() - 0.5)
            .collect()
    }

    fn predict(design: &Design, fit: &Ridge, x: &[f64]) -> f64 {
        let (weights, intercept) = design.weights(&fit.along, fit.level);
        intercept + weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()
    }

    /// (XᵀX + λI)w = Xᵀ(y − ȳ) for the standardised X, with more rows than features and with fewer; a feature that never changes
    /// and one that is there twice do no harm.
    #[test]
    fn the_normal_equations_hold() {
        for (rows, free) in [(40, 5), (12, 30)] {
            let features = free + 2;
            let plain = noise(rows * free, 1.0);
            let x: Vec<f64> = (0..rows)
                .flat_map(|i| {
                    let own = &plain[i * free..(i + 1) * free];
                    own.iter().copied().chain([7.0, 3.0 * own[0] - 2.0]).collect::<Vec<_>>()
                })
                .collect();
            let signal = noise(rows, 2.0);
            let y: Vec<f64> = (0..rows).map(|i| 3.0 + 2.0 * plain[i * free] + 0.3 * signal[i]).collect();
            let design = Design::new(&x, &vec![1.0; rows], features).expect("finite");
            assert!(design.rank() <= free.min(rows - 1), "{}", design.rank());
            let fit = Ridges::new(&design).fit(&y);
            let (weights, _) = design.weights(&fit.along, fit.level);
            let residuals: Vec<f64> = (0..rows)
                .map(|i| y[i] - predict(&design, &fit, &x[i * features..(i + 1) * features]))
                .collect();
            assert!(residuals.iter().sum::<f64>().abs() < 1e-9, "the level is free");
            for j in 0..features {
                let column: Vec<f64> = (0..rows).map(|i| x[i * features + j]).collect();
                let mean = column.iter().sum::<f64>() / rows as f64;
                let deviation = (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / rows as f64).sqrt();
                if deviation == 0.0 {
                    assert_eq!(weights[j], 0.0);
                    continue;
                }
                let along: f64 = column.iter().zip(&residuals).map(|(v, r)| (v - mean) / deviation * r).sum();
                let ridge = fit.lambda * weights[j] * deviation;
                assert!((along - ridge).abs() < 1e-8 * rows as f64, "{j}: {along} {ridge}");
            }
            // The same feature twice gets the same weight, in units of its deviation.
            assert!((weights[0] - 3.0 * weights[features - 1]).abs() < 1e-6 * weights[0].abs());
        }
    }

    /// What a fit without a row predicts for it, against fits without a row; rows that count differently among them.
    #[test]
    fn left_out_is_left_out() {
        let rows = 15;
        let some: Vec<f64> = noise(rows, 9.0).iter().map(|e| e + 0.7).collect();
        let all: f64 = some.iter().sum();
        left_out_by_hand(&vec![1.0; rows]);
        left_out_by_hand(&some.iter().map(|w| w * rows as f64 / all).collect::<Vec<_>>());
    }

    fn left_out_by_hand(weight: &[f64]) {
        let (rows, features) = (weight.len(), 3);
        let x = noise(rows * features, 3.0);
        let y: Vec<f64> =
            noise(rows, 4.0).iter().zip(x.chunks(features)).map(|(e, x)| x[0] - x[2] + e).collect();
        let design = Design::new(&x, weight, features).expect("finite");
        let fit = Ridges::new(&design).fit(&y);
        for out in 0..rows {
            // By hand: minimise over the other rows with the same penalty on standardised weights, as one linear system.
            let kept: Vec<usize> = (0..rows).filter(|&i| i != out).collect();
            let matrix = Mat::from_fn(features + 1, features + 1, |a, b| {
                let entry = |i: usize, a: usize| if a == features { 1.0 } else { x[i * features + a] };
                let sum: f64 = kept.iter().map(|&i| weight[i] * entry(i, a) * entry(i, b)).sum();
                if a == b && a < features { sum + fit.lambda * design.scale[a].powi(2) } else { sum }
            });
            let right = Mat::from_fn(features + 1, 1, |a, _| {
                kept.iter()
                    .map(|&i| weight[i] * y[i] * if a == features { 1.0 } else { x[i * features + a] })
                    .sum::<f64>()
            });
            let found = faer::prelude::Solve::solve(&matrix.partial_piv_lu(), &right);
            let wanted: f64 = found[(features, 0)]
                + (0..features).map(|a| found[(a, 0)] * x[out * features + a]).sum::<f64>();
            assert!((fit.left_out[out] - wanted).abs() < 1e-9, "{out}: {} {wanted}", fit.left_out[out]);
        }
    }

    /// Noise is shrunk, a law without noise is not.
    #[test]
    fn the_ridge_fits_the_noise() {
        let (rows, features) = (60, 20);
        let x = noise(rows * features, 5.0);
        let design = Design::new(&x, &vec![1.0; rows], features).expect("finite");
        let ridges = Ridges::new(&design);
        let law: Vec<f64> = x.chunks(features).map(|x| x[0] + 2.0 * x[1]).collect();
        assert_eq!(ridges.fit(&law).lambda, ridges.lambdas[0]);
        assert!(ridges.fit(&noise(rows, 6.0)).lambda > 0.1 * rows as f64);
    }
}
