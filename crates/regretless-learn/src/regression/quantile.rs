//! Quantile regression to optimality: least absolute deviations for τ = ½.
//!
//! ```text
//! min  Σᵢ τ uᵢ + (1 − τ) vᵢ + ½ Σₖ κₖ βₖ²      y − Zβ = u − v,  u, v ≥ 0        (Z: a column of ones, then U)
//! KKT  Zᵀa = κβ,   u(τ − a) = 0,   v(1 − τ + a) = 0,   −(1 − τ) ≤ a ≤ τ
//! ```
//!
//! An interior-point method on these equations (Portnoy & Koenker 1997, with Mehrotra's corrector). A step is one system
//! (ZᵀWZ + κ)dβ = …, W = 1/(u/(τ − a) + v/(1 − τ + a)).

use faer::prelude::Solve;
use faer::{Mat, Side};

use super::design::Design;

/// The gap between primal and dual objective at which a fit is optimal, as a share of the objective.
const GAP: f64 = 1e-9;

/// … and as a share of the objective of the constant fit, for data that the features explain without a remainder.
const NOTHING: f64 = 1e-12;

/// Steps; 15 to 25 are usual.
const STEPS: usize = 100;

/// How far towards a bound a step goes.
const SHORT: f64 = 0.9995;

/// A fit of one target.
#[derive(Clone, Debug)]
pub(super) struct Quantile {
    /// The level.
    pub(super) level: f64,
    /// Coefficients along the directions of the design.
    pub(super) along: Vec<f64>,
    /// What is left between primal and dual objective, as a share of the objective of the constant fit.
    pub(super) gap: f64,
}

/// The iterate and what follows from it.
struct State {
    beta: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
}

/// A direction.
struct Move {
    beta: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
}

/// Fits the quantile τ of `y`; `ridge` is κ on the weights in units of the features' deviations, 0 for none.
pub(super) fn quantile(design: &Design, y: &[f64], tau: f64, ridge: f64) -> Quantile {
    let (rows, rank) = (design.rows(), design.rank());
    let weight = &design.weight;
    let mean = |of: &dyn Fn(f64) -> f64| {
        y.iter().zip(weight).map(|(y, w)| w * of(*y)).sum::<f64>() / rows.max(1) as f64
    };
    let level = mean(&|y| y);
    let size = mean(&|y| (y - level).powi(2)).sqrt();
    if size <= 1e-12 * level.abs() || size == 0.0 {
        return Quantile { level, along: vec![0.0; rank], gap: 0.0 };
    }
    // In units of the target's deviation, and U's columns at the length of a standardised feature.
    let root = (rows as f64).sqrt();
    // w·ρ(y − zβ) = ρ(w·y − w·zβ): a row that counts w times is w times as large.
    let z = Mat::from_fn(rows, rank + 1, |i, k| {
        if k == 0 { weight[i] } else { weight[i].sqrt() * (root * design.u[(i, k - 1)]) }
    });
    let y: Vec<f64> = y.iter().zip(weight).map(|(y, w)| w * ((y - level) / size)).collect();
    // w = V S⁻¹·√n·β·size, so that κ‖w‖²/size is κ·size·n·β²/s² in these units.
    let kappa: Vec<f64> =
        std::iter::once(0.0).chain(design.s.iter().map(|s| ridge * size * rows as f64 / (s * s))).collect();
    let problem = Problem { z, y, tau, kappa };
    let (beta, gap) = problem.solve();
    Quantile {
        level: level + size * beta[0],
        along: beta[1..].iter().map(|b| size * root * b).collect(),
        gap,
    }
}

struct Problem {
    z: Mat<f64>,
    y: Vec<f64>,
    tau: f64,
    kappa: Vec<f64>,
}

impl Problem {
    fn solve(&self) -> (Vec<f64>, f64) {
        let mut now = self.start();
        let constant: f64 = self.y.iter().map(|y| pinball(*y, self.tau)).sum();
        let mut gap = f64::INFINITY;
        for _ in 0..STEPS {
            let fitted = self.fitted(&now.beta);
            let value: f64 = self.y.iter().zip(&fitted).map(|(y, f)| pinball(y - f, self.tau)).sum();
            gap = self.gap(&now);
            let (primal, dual) = (self.primal(&now, &fitted), self.dual(&now));
            let unbalanced = dual.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
            let missed = primal.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
            let enough = GAP * value + NOTHING * constant;
            if gap <= enough && unbalanced <= 1e-7 * self.y.len() as f64 && missed <= 1e-9 {
                break;
            }
            let Some(next) = self.step(&now, &primal, &dual) else { break };
            now = next;
        }
        (now.beta, gap / constant.max(f64::MIN_POSITIVE))
    }

    /// Least squares with the ridge as it is, every residual on its side, a in the middle.
    fn start(&self) -> State {
        let n = self.y.len();
        // ZᵀZ = n·I where all rows count the same; elsewhere a start as good as any.
        let beta: Vec<f64> =
            (0..self.z.ncols()).map(|k| self.along(k, &self.y) / (n as f64 + self.kappa[k])).collect();
        let residuals: Vec<f64> = self.y.iter().zip(self.fitted(&beta)).map(|(y, f)| y - f).collect();
        let apart = 0.1 * residuals.iter().map(|r| r.abs()).sum::<f64>() / n as f64 + 1e-6;
        State {
            u: residuals.iter().map(|r| r.max(0.0) + apart).collect(),
            v: residuals.iter().map(|r| (-r).max(0.0) + apart).collect(),
            a: vec![self.tau - 0.5; n],
            beta,
        }
    }

    fn fitted(&self, beta: &[f64]) -> Vec<f64> {
        let beta = Mat::from_fn(beta.len(), 1, |k, _| beta[k]);
        let fitted = &self.z * &beta;
        (0..self.y.len()).map(|i| fitted[(i, 0)]).collect()
    }

    /// zₖᵀ values.
    fn along(&self, k: usize, values: &[f64]) -> f64 {
        self.z.col(k).iter().zip(values).map(|(z, v)| z * v).sum()
    }

    /// Complementarity, which is the gap between the objectives of feasible points.
    fn gap(&self, now: &State) -> f64 {
        let each = now.u.iter().zip(&now.v).zip(&now.a);
        each.map(|((u, v), a)| u * (self.tau - a) + v * (1.0 - self.tau + a)).sum()
    }

    /// y − Zβ − u + v.
    fn primal(&self, now: &State, fitted: &[f64]) -> Vec<f64> {
        (0..self.y.len()).map(|i| self.y[i] - fitted[i] - now.u[i] + now.v[i]).collect()
    }

    /// Zᵀa − κβ.
    fn dual(&self, now: &State) -> Vec<f64> {
        (0..now.beta.len()).map(|k| self.along(k, &now.a) - self.kappa[k] * now.beta[k]).collect()
    }

    /// A predictor step to see how far it gets, then the step; `None` where the system can no longer be factored.
    fn step(&self, now: &State, primal: &[f64], dual: &[f64]) -> Option<State> {
        let (n, tau) = (self.y.len(), self.tau);
        let weight = |i: usize| 1.0 / (now.u[i] / (tau - now.a[i]) + now.v[i] / (1.0 - tau + now.a[i]));
        let weights: Vec<f64> = (0..n).map(weight).collect();
        let scaled = Mat::from_fn(n, self.z.ncols(), |i, k| weights[i].sqrt() * self.z[(i, k)]);
        let mut system = scaled.transpose() * &scaled;
        let largest = (0..system.nrows()).map(|k| system[(k, k)]).fold(0.0, f64::max);
        for k in 0..system.nrows() {
            system[(k, k)] += self.kappa[k] + 1e-14 * largest;
        }
        let factor = system.llt(Side::Lower).ok()?;
        // Targets of the two products: u(τ − a) and v(1 − τ + a) are to become these.
        let direction = |wanted: &dyn Fn(usize) -> (f64, f64)| -> Move {
            let parts: Vec<(f64, f64)> = (0..n)
                .map(|i| {
                    let (for_u, for_v) = wanted(i);
                    let (above, below) = (tau - now.a[i], 1.0 - tau + now.a[i]);
                    ((for_u - now.u[i] * above) / above, (for_v - now.v[i] * below) / below)
                })
                .collect();
            let right: Vec<f64> =
                (0..n).map(|i| weights[i] * (primal[i] - parts[i].0 + parts[i].1)).collect();
            let right = Mat::from_fn(dual.len(), 1, |k, _| dual[k] + self.along(k, &right));
            let solved = factor.solve(&right);
            let beta: Vec<f64> = (0..dual.len()).map(|k| solved[(k, 0)]).collect();
            let moved = self.fitted(&beta);
            let a: Vec<f64> =
                (0..n).map(|i| weights[i] * (primal[i] - moved[i] - parts[i].0 + parts[i].1)).collect();
            let u = (0..n).map(|i| parts[i].0 + now.u[i] / (tau - now.a[i]) * a[i]).collect();
            let v = (0..n).map(|i| parts[i].1 - now.v[i] / (1.0 - tau + now.a[i]) * a[i]).collect();
            Move { beta, u, v, a }
        };
        let affine = direction(&|_| (0.0, 0.0));
        let reach = self.reach(now, &affine);
        let before = self.gap(now);
        let after = self.gap(&moved(now, &affine, reach)).max(0.0);
        let centre = (after / before).powi(3) * before / (2.0 * n as f64);
        // Second order: (u + du)(z + dz) = centre, with du·dz of the predictor.
        let found = direction(&|i| (centre + affine.u[i] * affine.a[i], centre - affine.v[i] * affine.a[i]));
        let reach = (SHORT * self.reach(now, &found)).min(1.0);
        let next = moved(now, &found, reach);
        next.beta.iter().chain(&next.a).all(|v| v.is_finite()).then_some(next)
    }

    /// How much of a move keeps u, v ≥ 0 and a within its bounds; at most a little more than all of it.
    fn reach(&self, now: &State, by: &Move) -> f64 {
        let mut most = 1.0 / SHORT;
        let mut bound = |value: f64, change: f64| {
            if change < 0.0 {
                most = f64::min(most, -value / change);
            }
        };
        for i in 0..self.y.len() {
            bound(now.u[i], by.u[i]);
            bound(now.v[i], by.v[i]);
            bound(self.tau - now.a[i], -by.a[i]);
            bound(1.0 - self.tau + now.a[i], by.a[i]);
        }
        most
    }
}

fn moved(now: &State, by: &Move, share: f64) -> State {
    let add = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + share * b).collect();
    State {
        beta: add(&now.beta, &by.beta),
        u: add(&now.u, &by.u),
        v: add(&now.v, &by.v),
        a: add(&now.a, &by.a),
    }
}

/// τ·max(e, 0) + (1 − τ)·max(−e, 0).
pub(super) fn pinball(error: f64, tau: f64) -> f64 {
    if error > 0.0 { tau * error } else { (tau - 1.0) * error }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern.
    fn noise(count: usize, seed: f64) -> Vec<f64> {
        let wild = (0..count).map(|i| ((i as f64 + 1.0) * 12.9898 + seed * 78.233).sin() * 43_758.545);
        wild.map(|v| v - v.floor() - 0.5).collect()
    }

    fn residuals(design: &Design, fit: &Quantile, y: &[f64]) -> Vec<f64> {
        let value = |i: usize| fit.along.iter().enumerate().map(|(k, a)| design.u[(i, k)] * a).sum::<f64>();
        (0..y.len()).map(|i| y[i] - fit.level - value(i)).collect()
    }

    /// No direction leads down: Σ over rows with an error of −slope·zᵀd, plus what a row without one loses either way, is ≥ 0 for
    /// every d. Tried along the coordinates and along directions without a pattern.
    #[test]
    fn no_direction_leads_down() {
        let (rows, features) = (120, 6);
        let x = noise(rows * features, 1.0);
        let design = Design::new(&x, &vec![1.0; rows], features).expect("finite");
        let heavy: Vec<f64> = noise(rows, 2.0).iter().map(|e| (4.0 * e).powi(3)).collect();
        let y: Vec<f64> = x.chunks(features).zip(&heavy).map(|(x, e)| 5.0 + 3.0 * x[0] - x[4] + e).collect();
        for tau in [0.5, 0.2, 0.75] {
            let fit = quantile(&design, &y, tau, 0.0);
            assert!(fit.gap < 1e-8, "{}", fit.gap);
            let errors = residuals(&design, &fit, &y);
            let met = |e: f64| e.abs() < 1e-6;
            assert!(errors.iter().filter(|e| met(**e)).count() >= features, "a vertex");
            let directions = (0..200).map(|t| noise(features + 1, 10.0 + f64::from(t)));
            for direction in directions.flat_map(|d| [d.clone(), d.iter().map(|v| -v).collect()]) {
                let slope = |i: usize| {
                    let along: f64 = (0..features).map(|k| design.u[(i, k)] * direction[k + 1]).sum();
                    let along = direction[0] / (rows as f64).sqrt() + along;
                    match errors[i] {
                        e if met(e) => pinball(-along, tau),
                        e if e > 0.0 => -tau * along,
                        _ => (1.0 - tau) * along,
                    }
                };
                let all: f64 = (0..rows).map(slope).sum();
                assert!(all > -1e-9, "τ = {tau}: {all}");
            }
            let above = errors.iter().filter(|e| **e > 1e-6).count() as f64 / rows as f64;
            assert!((above - (1.0 - tau)).abs() < 0.06, "τ = {tau}: {above} of the rows are above");
        }
    }

    /// Without features that matter the fit is a median; with ties, as counts have them, any of the medians.
    #[test]
    fn the_constant_fit_is_a_quantile() {
        let design = Design::new(&[3.0; 7], &[1.0; 7], 1).expect("finite");
        let y = [4.0, 1.0, 9.0, 2.0, 2.0, 2.0, 8.0];
        let fit = quantile(&design, &y, 0.5, 0.0);
        assert!((fit.level - 2.0).abs() < 1e-7, "{}", fit.level);
        assert_eq!(quantile(&design, &[5.0; 7], 0.5, 0.0).level, 5.0);
    }

    /// A row that counts twice is one that is there twice.
    #[test]
    fn weights_are_repetitions() {
        let (rows, features) = (30, 3);
        let (x, e) = (noise(rows * features, 6.0), noise(rows, 7.0));
        let y: Vec<f64> = x.chunks(features).zip(&e).map(|(x, e)| 2.0 + x[0] - x[1] + 3.0 * e).collect();
        let times = |i: usize| 1 + i % 3;
        let all: usize = (0..rows).map(times).sum();
        let weight: Vec<f64> = (0..rows).map(|i| (times(i) * rows) as f64 / all as f64).collect();
        let often: Vec<usize> = (0..rows).flat_map(|i| std::iter::repeat_n(i, times(i))).collect();
        let repeated: Vec<f64> =
            often.iter().flat_map(|&i| x[i * features..(i + 1) * features].iter().copied()).collect();
        let repeated_y: Vec<f64> = often.iter().map(|&i| y[i]).collect();
        for tau in [0.5, 0.3] {
            let weighted = Design::new(&x, &weight, features).expect("finite");
            let plain = Design::new(&repeated, &vec![1.0; all], features).expect("finite");
            let fits = [quantile(&weighted, &y, tau, 0.0), quantile(&plain, &repeated_y, tau, 0.0)];
            let (a, b) = weighted.weights(&fits[0].along, fits[0].level);
            let (c, d) = plain.weights(&fits[1].along, fits[1].level);
            let apart = a.iter().zip(&c).map(|(a, c)| (a - c).abs()).fold((b - d).abs(), f64::max);
            assert!(apart < 1e-5, "τ = {tau}: {apart}");
        }
    }

    /// A law without noise is found, and more features than rows are no trouble.
    #[test]
    fn what_can_be_met_is_met() {
        for (rows, features) in [(50, 4), (10, 25)] {
            let x = noise(rows * features, 3.0);
            let design = Design::new(&x, &vec![1.0; rows], features).expect("finite");
            let y: Vec<f64> = x.chunks(features).map(|x| 1e4 + 200.0 * x[0] - 30.0 * x[1]).collect();
            let fit = quantile(&design, &y, 0.5, 0.0);
            let errors = residuals(&design, &fit, &y);
            assert!(errors.iter().all(|e| e.abs() < 1e-4), "{errors:?}");
        }
    }

    /// Stationarity with a ridge: the gap is closed, and more of it means smaller weights.
    #[test]
    fn a_ridge_shrinks() {
        let (rows, features) = (40, 8);
        let x = noise(rows * features, 4.0);
        let design = Design::new(&x, &vec![1.0; rows], features).expect("finite");
        let y: Vec<f64> = x.chunks(features).zip(noise(rows, 5.0)).map(|(x, e)| x[2] + 2.0 * e).collect();
        let lengths: Vec<f64> = [0.0, 1.0, 10.0, 1e4]
            .into_iter()
            .map(|ridge| {
                let fit = quantile(&design, &y, 0.5, ridge);
                assert!(fit.gap < 1e-7, "{ridge}: {}", fit.gap);
                let (weights, _) = design.weights(&fit.along, fit.level);
                weights.iter().map(|w| w * w).sum::<f64>().sqrt()
            })
            .collect();
        assert!(lengths.is_sorted_by(|a, b| a > b), "{lengths:?}");
        assert!(lengths[3] < 1e-2, "{lengths:?}");
    }
}
