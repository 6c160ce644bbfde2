//! A parabola through points.

use faer::Mat;
use faer::linalg::solvers::SolveLstsq;
use serde::Serialize;

use super::Distribution;

/// a·x² + b·x + c.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quadratic {
    /// Factor of x².
    pub a: f64,
    /// Factor of x.
    pub b: f64,
    /// Constant.
    pub c: f64,
}

impl Quadratic {
    /// Least squares; `None` with fewer than three different x, or numbers that are not finite.
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let mut xs: Vec<f64> = points.iter().map(|p| p.0).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        if xs.len() < 3 || points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
            return None;
        }
        // Powers of x / max|x| are of one size, which keeps the factor well conditioned.
        let scale = xs.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let powers = Mat::from_fn(points.len(), 3, |i, j| {
            let x = points[i].0 / scale;
            [x * x, x, 1.0][j]
        });
        let values = Mat::from_fn(points.len(), 1, |i, _| points[i].1);
        let found = powers.qr().solve_lstsq(&values);
        Some(Self { a: found[(0, 0)] / (scale * scale), b: found[(1, 0)] / scale, c: found[(2, 0)] })
    }

    /// The curve that the paper prints for the largest eigenvalue of 1000 trials as a function of n.
    pub fn published(distribution: Distribution) -> Self {
        match distribution {
            Distribution::Uniform => Self { a: 0.1282, b: 2.392, c: -32.89 },
            Distribution::Normal => Self { a: 0.2693, b: 13.95, c: -716.8 },
            Distribution::Beta => Self { a: 0.1325, b: 3.403, c: -69.95 },
        }
    }

    /// The value at x.
    pub fn at(&self, x: f64) -> f64 {
        (self.a * x + self.b) * x + self.c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_on_exact_data() {
        let curve = Quadratic::published(Distribution::Uniform);
        let points: Vec<(f64, f64)> = (1..=60).map(|i| f64::from(5 * i)).map(|x| (x, curve.at(x))).collect();
        let found = Quadratic::fit(&points).unwrap();
        assert!((found.a - curve.a).abs() < 1e-10, "{found:?}");
        assert!((found.b - curve.b).abs() < 1e-8 && (found.c - curve.c).abs() < 1e-8, "{found:?}");
    }

    #[test]
    fn two_points_are_not_enough() {
        assert_eq!(Quadratic::fit(&[(1.0, 1.0), (2.0, 3.0), (2.0, 4.0)]), None);
        assert_eq!(Quadratic::fit(&[(1.0, 1.0), (2.0, 3.0), (3.0, f64::INFINITY)]), None);
    }
}
