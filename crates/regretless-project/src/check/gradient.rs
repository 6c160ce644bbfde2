//! Gradients of the surrogate against central differences.
//!
//! L(p) = gᵀx(p) for a random g. For every parameter that the problem has, ⟨∂L/∂p, u⟩ from one `vjp` is compared with
//! (L(p + hu) − L(p − hu))/2h for random directions u, with h small enough that no row changes its piece in between.

use std::collections::BTreeMap;
use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regretless_core::engine::Piece;
use regretless_core::{Gradients, Multipliers, RowId, Solution, Surrogate, SurrogateOptions};

use serde::Serialize;

use super::Finding;
use crate::{Parameter, Parameters, Spec};
use regretless_learn::count;

/// Directions for each parameter and instance.
const DIRECTIONS: usize = 4;
/// Largest relative error that passes.
const TOLERANCE: f64 = 1e-5;

/// The gradient with respect to one parameter, over all instances and directions.
#[derive(Debug, Serialize)]
pub struct GradientReport {
    /// As the docs call it: theta, Q, C, …
    pub parameter: &'static str,
    /// Its entries.
    pub entries: usize,
    /// Directions compared; those with a kink too near are left out.
    pub compared: usize,
    /// Null if nothing could be compared.
    pub relative_error: Option<f64>,
    /// True if it is right, or nothing could be compared.
    pub passed: bool,
}

/// What is perturbed.
#[derive(Clone, Copy)]
enum What {
    Parameter(Parameter),
    Sharpness,
}

/// Checks every parameter that the problem has.
pub(super) fn check(
    spec: &Spec,
    multipliers: &Multipliers,
    instances: &[&Parameters],
) -> Vec<GradientReport> {
    let present = Parameter::ALL.into_iter().map(What::Parameter).chain([What::Sharpness]);
    let checked = present.filter_map(|what| {
        // Each parameter has its own stream, so that one more block elsewhere changes nothing here.
        let seed = match what {
            What::Parameter(parameter) => parameter as u64,
            What::Sharpness => 99,
        };
        let mut bench = Bench { spec, multipliers, rng: ChaCha8Rng::seed_from_u64(seed) };
        bench.check(what, instances)
    });
    checked.collect()
}

/// The summary line.
pub(super) fn finding(gradients: &[GradientReport], instances: usize) -> Finding {
    let failed: Vec<_> = gradients.iter().filter(|g| !g.passed).map(|g| g.parameter).collect();
    let skipped: Vec<_> = gradients.iter().filter(|g| g.compared == 0).map(|g| g.parameter).collect();
    if skipped.len() == gradients.len() {
        return Finding::skipped(
            "gradients",
            "no unique optimum, or a kink too near: nothing to compare with",
        );
    }
    let mut detail = format!("vjp against central differences on {}", count(instances, "instance"));
    if failed.is_empty() {
        let _ = write!(detail, ": within {TOLERANCE:e}");
    } else {
        let _ = write!(detail, ": wrong for {}", failed.join(", "));
    }
    if !skipped.is_empty() {
        let _ = write!(
            detail,
            "; not comparable (a kink too near, or no unique optimum): {}",
            skipped.join(", ")
        );
    }
    Finding::judged("gradients", failed.is_empty(), detail)
}

struct Bench<'a> {
    spec: &'a Spec,
    multipliers: &'a Multipliers,
    rng: ChaCha8Rng,
}

impl Bench<'_> {
    fn check(&mut self, what: What, instances: &[&Parameters]) -> Option<GradientReport> {
        let problem = self.spec.problem();
        let (name, entries) = match what {
            What::Parameter(parameter) => {
                let movable = self.movable(parameter, instances[0]);
                (parameter.symbol(), movable.into_iter().filter(|moves| *moves).count())
            }
            What::Sharpness => ("K", usize::from(problem.shape().rows() > 0)),
        };
        if entries == 0 {
            return None;
        }
        let (mut compared, mut worst) = (0, None);
        for parameters in instances {
            let g: Vec<f64> = (0..problem.n()).map(|_| self.normal()).collect();
            for _ in 0..DIRECTIONS {
                if let Some(error) = self.compare(what, parameters, &g) {
                    compared += 1;
                    worst = Some(worst.map_or(error, |w: f64| w.max(error)));
                }
            }
        }
        let passed = worst.is_none_or(|w| w <= TOLERANCE);
        Some(GradientReport { parameter: name, entries, compared, relative_error: worst, passed })
    }

    /// The relative error in one random direction; `None` if no step avoids the kinks.
    fn compare(&mut self, what: What, parameters: &Parameters, g: &[f64]) -> Option<f64> {
        let k = self.spec.surrogate().options.k;
        let base = self.solve(parameters, k)?;
        if base.is_singular() {
            return None;
        }
        let (values, direction) = match what {
            What::Parameter(parameter) => {
                let values = self.values(parameter, parameters);
                let direction = self.direction(parameter, parameters, &values);
                (values, direction)
            }
            What::Sharpness => (vec![k], vec![1.0]),
        };
        let scale = values.iter().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let by_vjp = dot(of(&base.vjp(g), what), &direction);
        for step in [1e-5, 1e-6, 1e-7] {
            let h = step * scale;
            let at = |sign: f64| {
                let moved: Vec<f64> = values.iter().zip(&direction).map(|(v, u)| v + sign * h * u).collect();
                match what {
                    What::Sharpness => self.solve(parameters, moved[0]),
                    What::Parameter(parameter) => {
                        let mut parameters = parameters.clone();
                        parameters.set(parameter, moved);
                        self.solve(&parameters, k)
                    }
                }
            };
            let (Some(plus), Some(minus)) = (at(1.0), at(-1.0)) else { continue };
            if [&plus, &minus].iter().any(|s| s.status != base.status || pieces(s) != pieces(&base)) {
                continue;
            }
            let by_difference = (dot(g, plus.x()) - dot(g, minus.x())) / (2.0 * h);
            // Against the size of the terms and of x itself: a derivative of 0 is compared with rounding noise otherwise.
            let terms: f64 = of(&base.vjp(g), what).iter().zip(&direction).map(|(a, u)| (a * u).abs()).sum();
            let floor = 1e-2 * dot(g, g).sqrt() * dot(base.x(), base.x()).sqrt().max(1.0) / scale;
            let size = by_vjp.abs().max(by_difference.abs()).max(terms).max(floor);
            return Some(if size > 0.0 { (by_vjp - by_difference).abs() / size } else { 0.0 });
        }
        None
    }

    /// Solved where it can be: a direction that leaves the valid parameters is one that cannot be compared.
    fn solve(&self, parameters: &Parameters, k: f64) -> Option<Solution> {
        // Smoothed gradients are no derivatives of the optimum; the formulas are the same.
        let options = SurrogateOptions { k, smoothing: 0.0, ..self.spec.surrogate().options.clone() };
        let surrogate = Surrogate::new(self.spec.problem(), self.multipliers, &options).ok()?;
        surrogate.solve(&parameters.instance()).ok().filter(Solution::is_optimal)
    }

    fn values(&self, parameter: Parameter, parameters: &Parameters) -> Vec<f64> {
        parameters.get(parameter).unwrap_or_else(|| parameter.of(self.spec.problem())).to_vec()
    }

    /// A random direction that stays among valid parameters for small steps.
    fn direction(&mut self, parameter: Parameter, parameters: &Parameters, values: &[f64]) -> Vec<f64> {
        let mut u: Vec<f64> = values.iter().map(|_| self.normal()).collect();
        match parameter {
            Parameter::Quadratic => {
                // An entry and its mirror image move together.
                let Some(pattern) = parameter.pattern(self.spec.problem()) else { return u };
                let entries: BTreeMap<_, _> =
                    (0..u.len()).map(|entry| (pattern.place(entry), entry)).collect();
                for (&(i, j), &entry) in &entries {
                    if let Some(&mirror) = entries.get(&(j, i)).filter(|_| j < i) {
                        u[entry] = u[mirror];
                    }
                }
            }
            Parameter::Over | Parameter::Under | Parameter::Lower | Parameter::Upper => {
                for (u, moves) in u.iter_mut().zip(self.movable(parameter, parameters)) {
                    if !moves {
                        *u = 0.0;
                    }
                }
            }
            _ => {}
        }
        u
    }

    /// Which entries can be moved both ways: a price of 0 stands on the edge of what is allowed, an infinite bound is none,
    /// and bounds that meet cannot pass each other.
    fn movable(&self, parameter: Parameter, parameters: &Parameters) -> Vec<bool> {
        let values = self.values(parameter, parameters);
        let other = match parameter {
            Parameter::Over | Parameter::Under => return values.iter().map(|&v| v > 0.0).collect(),
            Parameter::Lower => self.values(Parameter::Upper, parameters),
            Parameter::Upper => self.values(Parameter::Lower, parameters),
            _ => return vec![true; values.len()],
        };
        values.iter().zip(&other).map(|(v, w)| v.is_finite() && v != w).collect()
    }

    /// A standard normal number (Box–Muller).
    fn normal(&mut self) -> f64 {
        let (a, b): (f64, f64) = (self.rng.random(), self.rng.random());
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

fn of(gradients: &Gradients, what: What) -> &[f64] {
    match what {
        What::Sharpness => std::slice::from_ref(&gradients.k),
        What::Parameter(parameter) => gradients.of(parameter),
    }
}

fn pieces(solution: &Solution) -> Vec<(RowId, Piece)> {
    solution.pieces().collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Verdict;

    fn report(parameter: &'static str, relative_error: Option<f64>) -> GradientReport {
        let passed = relative_error.is_none_or(|e| e <= TOLERANCE);
        GradientReport {
            parameter,
            entries: 1,
            compared: usize::from(relative_error.is_some()),
            relative_error,
            passed,
        }
    }

    #[test]
    fn one_wrong_gradient_fails_and_none_at_all_is_no_success() {
        let good = [report("theta", Some(1e-9)), report("d", None)];
        assert_eq!(finding(&good, 1).verdict, Verdict::Ok);
        let bad = [report("theta", Some(1e-9)), report("C", Some(0.1))];
        let found = finding(&bad, 1);
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(found.detail.contains("wrong for C"), "{}", found.detail);
        assert_eq!(finding(&[report("theta", None)], 1).verdict, Verdict::Skipped);
    }
}
