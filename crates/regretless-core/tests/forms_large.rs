//! Dense against sparse factors at sizes where it matters: problems of up to 300 variables with sparse rows.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, non_snake_case, reason = "tests fail loudly")]

mod common;

use common::{normal, rng, vector};
use rand::RngExt;
use regretless_core::problem::Form;
use regretless_core::*;

/// What a random sparse problem should look like.
#[derive(Clone, Copy, Debug)]
struct Kind {
    n: usize,
    /// 0 none, 1 positive definite, 2 singular.
    quadratic: u8,
    degenerate: bool,
    scaled: bool,
    redundant: bool,
    seed: u64,
}

impl Kind {
    fn of(seed: u64) -> Self {
        let mut r = rng(seed);
        Self {
            n: r.random_range(20..=300),
            quadratic: (seed % 3) as u8,
            degenerate: r.random_bool(0.4),
            scaled: r.random_bool(0.3),
            redundant: r.random_bool(0.3),
            seed,
        }
    }

    /// Feasible by a planted point, bounded by a box.
    fn build(self) -> Problem {
        let Self { n, quadratic, degenerate, scaled, redundant, seed } = self;
        let mut r = rng(seed ^ 0x5eed);
        let lower: Vec<f64> =
            (0..n).map(|j| if j % 3 == 0 { 0.0 } else { -1.0 - r.random::<f64>() }).collect();
        let upper: Vec<f64> = lower.iter().map(|l| l + 1.0 + 2.0 * r.random::<f64>()).collect();
        let inside: Vec<f64> = (0..n)
            .map(|j| {
                let at_lower = degenerate && r.random_bool(0.5);
                if at_lower { lower[j] } else { lower[j] + (upper[j] - lower[j]) * r.random::<f64>() }
            })
            .collect();
        let mut rows = |count: usize, copies: bool| -> Vec<Vec<(usize, f64)>> {
            let mut all: Vec<Vec<(usize, f64)>> = Vec::new();
            for i in 0..count {
                if copies && i % 4 == 3 {
                    let factor = 0.5 + r.random::<f64>();
                    all.push(all[i - 1].iter().map(|(j, a)| (*j, factor * a)).collect());
                    continue;
                }
                let scale = if scaled { 10f64.powf(r.random_range(-3.0..3.0)) } else { 1.0 };
                let mut columns: Vec<usize> = (0..4).map(|_| r.random_range(0..n)).collect();
                columns.sort_unstable();
                columns.dedup();
                all.push(columns.into_iter().map(|j| (j, scale * normal(&mut r))).collect());
            }
            all
        };
        let (a, b, c) = (rows(n / 2, redundant), rows(n / 5, redundant), rows(n / 3, redundant));
        let value = |row: &[(usize, f64)]| row.iter().map(|(j, a)| a * inside[*j]).sum::<f64>();
        let size = |row: &[(usize, f64)]| row.iter().fold(1e-9_f64, |m, (_, a)| m.max(a.abs()));
        let limit =
            |row: &Vec<(usize, f64)>, room: f64| value(row) + if degenerate { 0.0 } else { room * size(row) };
        let most: Vec<f64> = a.iter().map(|row| limit(row, 0.5)).collect();
        let equal: Vec<f64> = b.iter().map(|row| value(row)).collect();
        let soft: Vec<f64> = c.iter().map(|row| limit(row, -0.3)).collect();
        let alpha: Vec<f64> = c.iter().map(|row| (0.1 + r.random::<f64>()) / size(row)).collect();
        let under: Vec<f64> =
            alpha.iter().enumerate().map(|(i, a)| if i % 2 == 0 { 0.0 } else { 0.5 * a }).collect();
        let matrix = |rows: &[Vec<(usize, f64)>]| {
            let entries =
                rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |(j, a)| (i, *j, *a)));
            Coefficients::sparse(rows.len(), n, entries.collect::<Vec<_>>()).unwrap()
        };
        let stated = Problem::maximize(n)
            .linear(vector(&mut r, n))
            .soft("soft", Soft::both(matrix(&c), soft, alpha, under))
            .at_most("most", matrix(&a), most)
            .equal("equal", matrix(&b), equal)
            .lower(lower)
            .upper(upper);
        // Chains of neighbours: (xⱼ − xⱼ₊₁)², and the diagonal.
        let stated = if quadratic == 0 {
            stated
        } else {
            let mut q = std::collections::BTreeMap::new();
            for j in 0..n {
                *q.entry((j, j)).or_insert(0.0) += if quadratic == 1 { 0.3 } else { 0.0 };
                if j + 1 < n && j % 3 != 2 {
                    let w = 0.2 + r.random::<f64>();
                    for (i, k, s) in [(j, j, w), (j + 1, j + 1, w), (j, j + 1, -w), (j + 1, j, -w)] {
                        *q.entry((i, k)).or_insert(0.0) += s;
                    }
                }
            }
            stated.quadratic(Coefficients::sparse(n, n, q.into_iter().map(|((i, j), v)| (i, j, v))).unwrap())
        };
        stated.build().unwrap()
    }
}

fn off(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().filter(|b| b.is_finite()).fold(1.0_f64, |m, b| m.max(b.abs()));
    a.iter().zip(b).map(|(a, b)| if a == b { 0.0 } else { (a - b).abs() / size }).fold(0.0, f64::max)
}

#[test]
fn optima_are_the_same_in_both_forms() {
    let (mut worst, mut compared) = (0.0_f64, 0);
    for seed in 0..60 {
        let kind = Kind::of(seed);
        let problem = kind.build();
        let solve = |form| Oracle::new(&problem.in_form(form)).solve(&Instance::default()).unwrap();
        let (sparse, dense) = (solve(Form::Sparse), solve(Form::Dense));
        assert_eq!(sparse.status, dense.status, "{kind:?}");
        assert!(sparse.is_optimal(), "{kind:?}");
        let objective = off(&[sparse.objective], &[dense.objective]);
        assert!(objective <= 1e-9, "{kind:?}: {} vs {}", sparse.objective, dense.objective);
        if kind.quadratic == 1 {
            let x = off(&sparse.x, &dense.x);
            worst = worst.max(x);
            compared += 1;
            assert!(x <= 1e-9, "{kind:?}: x off by {x:e}");
        }
    }
    assert!(compared >= 15, "{compared} optima compared, the worst off by {worst:e}");
}

#[test]
fn surrogates_and_all_gradients_are_the_same_in_both_forms() {
    let mut compared = 0;
    for seed in 0..45 {
        let kind = Kind { scaled: false, redundant: false, ..Kind::of(seed) };
        let problem = kind.build();
        let dense = problem.in_form(Form::Dense);
        let multipliers = Multipliers::choose(&dense, &Rule::Constant(20.0), &[Instance::default()]).unwrap();
        for smoothing in [0.0, 0.3] {
            let options = SurrogateOptions { smoothing, ..SurrogateOptions::with_k(2.0) };
            let solve = |p: &Problem| {
                Surrogate::new(p, &multipliers, &options).unwrap().solve(&Instance::default()).unwrap()
            };
            let (a, b) = (solve(&problem.in_form(Form::Sparse)), solve(&dense));
            assert_eq!(a.status, b.status, "{kind:?}");
            if !a.is_optimal() || b.is_singular() {
                continue;
            }
            assert!(a.pieces().eq(b.pieces()), "{kind:?}: other pieces");
            let g = vector(&mut rng(seed), dense.n());
            let (by, expected) = (a.vjp(&g), b.vjp(&g));
            let x = off(a.x(), b.x());
            assert!(x <= 1e-9, "{kind:?}: x off by {x:e}");
            for parameter in Parameter::ALL {
                let gradient = off(by.of(parameter), expected.of(parameter));
                assert!(
                    gradient <= 1e-9,
                    "{kind:?}, smoothing {smoothing}: {} off by {gradient:e}",
                    parameter.symbol()
                );
            }
            compared += 1;
        }
    }
    assert!(compared >= 40, "{compared} compared");
}

/// Gradients in θ, the limits and right-hand sides at 2,000 variables, along random directions, against differences.
#[test]
fn gradients_at_2000_variables_are_those_of_differences() {
    for seed in [3, 4] {
        let kind = Kind { n: 2000, quadratic: 1, degenerate: false, scaled: false, redundant: false, seed };
        let problem = kind.build();
        assert_eq!(problem.form(), Form::Sparse);
        let multipliers =
            Multipliers::choose(&problem, &Rule::Constant(20.0), &[Instance::default()]).unwrap();
        let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(2.0)).unwrap();
        let mut r = rng(seed);
        let g = vector(&mut r, 2000);
        let solution = surrogate.solve(&Instance::default()).unwrap();
        assert!(solution.is_optimal());
        let gradients = solution.vjp(&g);
        for parameter in [
            Parameter::Linear,
            Parameter::Limit,
            Parameter::AtMost,
            Parameter::Equals,
            Parameter::Over,
            Parameter::SoftRows,
        ] {
            let own = parameter.of(&problem).to_vec();
            let mut direction = vector(&mut r, own.len());
            if parameter == Parameter::Over {
                direction.iter_mut().zip(&own).for_each(|(d, a)| *d *= a);
            }
            let slope: f64 = gradients.of(parameter).iter().zip(&direction).map(|(a, d)| a * d).sum();
            let value = |t: f64| {
                let moved: Vec<f64> = own.iter().zip(&direction).map(|(a, d)| a + t * d).collect();
                let moved = &moved[..];
                let mut instance = Instance::default();
                match parameter {
                    Parameter::Linear => instance.theta = Some(moved),
                    Parameter::Limit => instance.d = Some(moved),
                    Parameter::AtMost => instance.b = Some(moved),
                    Parameter::Equals => instance.c = Some(moved),
                    Parameter::Over => instance.alpha = Some(moved),
                    _ => instance.C = Some(moved),
                }
                let solution = surrogate.solve(&instance).unwrap();
                assert!(solution.is_optimal());
                solution.x().iter().zip(&g).map(|(x, g)| x * g).sum::<f64>()
            };
            let step = 1e-6;
            let difference = (value(step) - value(-step)) / (2.0 * step);
            assert!(
                (slope - difference).abs() <= 2e-5 * (1.0 + slope.abs()),
                "{}: {slope} vs {difference}",
                parameter.symbol()
            );
        }
    }
}
