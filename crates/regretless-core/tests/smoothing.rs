//! Smoothed gradients against the central path itself, its units, and each other.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::{Recipe, rng};
use proptest::prelude::*;
use rand::RngExt;
use regretless_core::*;

/// max θᵀx − αᵀmax(Cx − d, 0) over Ax ≤ b, x ≥ 0, all numbers positive.
#[derive(Clone)]
struct Plant {
    theta: Vec<f64>,
    a: Vec<Vec<f64>>,
    b: Vec<f64>,
    c: Vec<Vec<f64>>,
    d: Vec<f64>,
    alpha: Vec<f64>,
}

impl Plant {
    fn draw(seed: u64) -> Self {
        let mut r = rng(seed);
        let n = 2 + (seed % 4) as usize;
        let mut rows = |m: usize| {
            (0..m).map(|_| (0..n).map(|_| r.random_range(0.2..1.0)).collect()).collect::<Vec<Vec<f64>>>()
        };
        let (a, c) = (rows(3), rows(2));
        // Different shares: rows that all meet in one point would be a tie.
        let mut sums = |rows: &[Vec<f64>]| {
            rows.iter().map(|row| r.random_range(0.4..0.9) * row.iter().sum::<f64>()).collect::<Vec<f64>>()
        };
        let (b, d) = (sums(&a), sums(&c));
        let mut numbers =
            |m: usize, low: f64, high: f64| (0..m).map(|_| r.random_range(low..high)).collect::<Vec<f64>>();
        Self { theta: numbers(n, 0.5, 2.0), b, d, alpha: numbers(2, 0.1, 0.6), a, c }
    }

    fn n(&self) -> usize {
        self.theta.len()
    }

    fn problem(&self) -> Problem {
        Problem::maximize(self.n())
            .linear(self.theta.clone())
            .at_most("a", matrix(&self.a), self.b.clone())
            .soft("c", Soft::over(matrix(&self.c), self.d.clone(), self.alpha.clone()))
            .build()
            .unwrap()
    }

    /// The point of the central path at μ, by Newton's method from a point inside.
    fn central(&self, mu: f64) -> Vec<f64> {
        let n = self.n();
        let mut x = vec![0.05; n];
        let mut now = 1.0;
        loop {
            for _ in 0..200 {
                let (mut force, mut h) = (self.theta.clone(), vec![vec![0.0; n]; n]);
                let mut add = |row: &[f64], lambda: f64, w: f64| {
                    for i in 0..n {
                        force[i] -= lambda * row[i];
                        for j in 0..n {
                            h[i][j] += w * row[i] * row[j];
                        }
                    }
                };
                for (row, b) in self.a.iter().zip(&self.b) {
                    let s = b - dot(row, &x);
                    add(row, now / s, now / (s * s));
                }
                for j in 0..n {
                    let unit: Vec<f64> = (0..n).map(|i| if i == j { -1.0 } else { 0.0 }).collect();
                    add(&unit, now / x[j], now / (x[j] * x[j]));
                }
                for ((row, d), alpha) in self.c.iter().zip(&self.d).zip(&self.alpha) {
                    let (lambda, w) = soft(dot(row, &x) - d, *alpha, now);
                    add(row, lambda, w);
                }
                let step = solve(h, &force);
                // Stay inside.
                let mut t: f64 = 1.0;
                for (row, b) in self.a.iter().zip(&self.b) {
                    let speed = dot(row, &step);
                    if speed > 0.0 {
                        t = t.min(0.9 * (b - dot(row, &x)) / speed);
                    }
                }
                for j in 0..n {
                    if step[j] < 0.0 {
                        t = t.min(0.9 * x[j] / -step[j]);
                    }
                }
                x.iter_mut().zip(&step).for_each(|(x, s)| *x += t * s);
                if step.iter().all(|s| s.abs() < 1e-14) {
                    break;
                }
            }
            if now <= mu {
                return x;
            }
            now = (0.3 * now).max(mu);
        }
    }
}

/// λ and dλ/dz of a soft row: μ/(α − λ) − μ/λ = z, by halving.
fn soft(z: f64, alpha: f64, mu: f64) -> (f64, f64) {
    let (mut low, mut high) = (0.0, alpha);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if mu / (alpha - middle) - mu / middle < z { low = middle } else { high = middle }
    }
    let lambda = 0.5 * (low + high);
    (lambda, 1.0 / (mu / (alpha - lambda).powi(2) + mu / lambda.powi(2)))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn matrix(rows: &[Vec<f64>]) -> Matrix {
    Matrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

/// Gauss with pivots.
fn solve(mut h: Vec<Vec<f64>>, g: &[f64]) -> Vec<f64> {
    let n = g.len();
    let mut g = g.to_vec();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| h[i][k].abs().total_cmp(&h[j][k].abs())).unwrap();
        h.swap(k, pivot);
        g.swap(k, pivot);
        for i in k + 1..n {
            let by = h[i][k] / h[k][k];
            for j in k..n {
                h[i][j] -= by * h[k][j];
            }
            g[i] -= by * g[k];
        }
    }
    for k in (0..n).rev() {
        g[k] = (g[k] - (k + 1..n).map(|j| h[k][j] * g[j]).sum::<f64>()) / h[k][k];
    }
    g
}

fn smoothed(problem: &Problem, k: f64, smoothing: f64) -> Option<Surrogate> {
    let multipliers = Multipliers::choose(problem, &Rule::default(), &[Instance::default()]).ok()?;
    let options = SurrogateOptions { smoothing, ..SurrogateOptions::with_k(k) };
    Surrogate::new(problem, &multipliers, &options).ok()
}

/// At a small gap, in a place without ties: the derivative of the central path, by differences of points that a method of
/// another kind found.
#[test]
fn at_a_small_gap_it_is_the_derivative_of_the_central_path() {
    let mu = 1e-7;
    let mut compared = 0;
    for seed in 0..40 {
        let plant = Plant::draw(seed);
        let n = plant.n();
        let g: Vec<f64> = (0..n).map(|j| 1.0 - 0.3 * j as f64).collect();
        let problem = plant.problem();
        let exact = Oracle::new(&problem).solve(&Instance::default()).unwrap();
        // Every row is far from changing sides; there μ is small beside λ and s.
        let clear = |lambda: f64, s: f64| (lambda > 0.1) != (s > 0.05);
        let limits = plant.a.iter().zip(&plant.b).map(|(row, b)| b - dot(row, &exact.x));
        let hard = limits.zip(&exact.multipliers.at_most).all(|(s, l)| clear(*l, s));
        let bounds = exact.x.iter().zip(&exact.multipliers.lower).all(|(x, l)| clear(*l, *x));
        let excess = plant.c.iter().zip(&plant.d).map(|(row, d)| dot(row, &exact.x) - d);
        let soft = excess
            .zip(exact.multipliers.soft.iter().zip(&plant.alpha))
            .all(|(z, (l, alpha))| z.abs() > 0.05 || (*l > 0.05 && alpha - l > 0.05));
        if !(hard && bounds && soft) {
            continue;
        }
        compared += 1;
        let size = dot(&plant.theta, &exact.x);
        let rows = (plant.a.len() + plant.c.len() + n) as f64;
        let surrogate = smoothed(&problem, 1e6, mu * rows / size).unwrap();
        let found = surrogate.solve(&Instance::default()).unwrap().vjp(&g);
        let moved = |j: usize, h: f64| {
            let mut other = plant.clone();
            other.theta[j] += h;
            dot(&g, &other.central(mu))
        };
        let h = 1e-3;
        let expected: Vec<f64> = (0..n).map(|j| (moved(j, h) - moved(j, -h)) / (2.0 * h)).collect();
        let largest = expected.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        for (found, expected) in found.theta.iter().zip(&expected) {
            assert!((found - expected).abs() < 0.01 * largest, "seed {seed}: {found:e}, not {expected:e}");
        }
    }
    assert!(compared >= 10, "only {compared} instances were clear");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// ⟨g, jvp(u)⟩ = ⟨vjp(g), u⟩, and the gradients are finite.
    #[test]
    fn both_directions_agree(seed in 0u64..1_000_000, smoothing in 1e-3..1.0) {
        let problem = Recipe::from_seed(seed).build();
        let Some(surrogate) = smoothed(&problem, 5.0, smoothing) else { return Ok(()) };
        let Ok(solution) = surrogate.solve(&Instance::default()) else { return Ok(()) };
        let mut r = rng(seed);
        let g = common::vector(&mut r, problem.n());
        let gradients = solution.vjp(&g);
        let mut tangent = solution.zero_tangent();
        let mut expected = 0.0;
        let mut terms = 0.0;
        {
            let mut fill = |out: &mut Vec<f64>, gradient: &[f64]| {
                for (o, g) in out.iter_mut().zip(gradient) {
                    *o = r.random_range(-1.0..1.0);
                    expected += *o * g;
                    terms += (*o * g).abs();
                }
            };
            fill(&mut tangent.theta, &gradients.theta);
            fill(&mut tangent.C, &gradients.C);
            fill(&mut tangent.d, &gradients.d);
            fill(&mut tangent.alpha, &gradients.alpha);
            fill(&mut tangent.under, &gradients.under);
            fill(&mut tangent.A, &gradients.A);
            fill(&mut tangent.b, &gradients.b);
            fill(&mut tangent.B, &gradients.B);
            fill(&mut tangent.c, &gradients.c);
            fill(&mut tangent.lower, &gradients.lower);
            fill(&mut tangent.upper, &gradients.upper);
        }
        prop_assert!(terms.is_finite());
        let found = dot(&g, &solution.jvp(&tangent));
        prop_assert!((found - expected).abs() <= 1e-6 * terms.max(1e-9), "{found} {expected} {terms}");
    }

    /// In other units of money and of amounts the gradient is the same one in these units.
    #[test]
    fn units_do_not_matter(seed in 0u64..1_000_000, money in 0.01..100.0, amount in 0.01..100.0) {
        let plant = Plant::draw(seed);
        let scaled = |v: &[f64], by: f64| v.iter().map(|v| v * by).collect::<Vec<f64>>();
        let rows = |rows: &[Vec<f64>], by: f64| rows.iter().map(|r| scaled(r, by)).collect();
        let other = Plant {
            theta: scaled(&plant.theta, money / amount),
            a: rows(&plant.a, 1.0 / amount),
            c: rows(&plant.c, 1.0 / amount),
            alpha: scaled(&plant.alpha, money),
            ..plant.clone()
        };
        let g = vec![1.0; plant.n()];
        let sharp = |problem: &Problem, k: f64, of_bounds: f64| {
            let multipliers = Multipliers::choose(problem, &Rule::default(), &[Instance::default()]).unwrap();
            let mut k_rows = RowValues::constant(problem.shape(), k);
            k_rows.lower.fill(of_bounds);
            let options = SurrogateOptions { k_rows: Some(k_rows), smoothing: 0.03, ..SurrogateOptions::with_k(5.0) };
            let solution = Surrogate::new(problem, &multipliers, &options).unwrap().solve(&Instance::default()).unwrap();
            solution.vjp(&g).parameters.theta
        };
        // x is `amount` times as large: bounds are rounded over as much more, rows as before.
        let (here, there) = (sharp(&plant.problem(), 5.0, 5.0), sharp(&other.problem(), 5.0, 5.0 / amount));
        let largest = here.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        for (here, there) in here.iter().zip(&there) {
            let there: f64 = there * money / (amount * amount);
            prop_assert!((here - there).abs() <= 1e-6 * largest, "{here} {there}");
        }
    }
}

#[test]
fn what_cannot_be_smoothed_is_refused() {
    let problem = Plant::draw(1).problem();
    let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()]).unwrap();
    let refused =
        |options: SurrogateOptions| Surrogate::new(&problem, &multipliers, &options).unwrap_err().to_string();
    for smoothing in [-0.1, 1.5, 1e-300, f64::NAN, f64::INFINITY] {
        assert!(
            refused(SurrogateOptions { smoothing, ..SurrogateOptions::with_k(5.0) })
                .contains("from 1e-9 to 1")
        );
    }
    let vertex =
        SurrogateOptions { smoothing: 0.1, segments: Segments::Vertex, ..SurrogateOptions::with_k(5.0) };
    assert!(refused(vertex).contains("smooth segments"));
}

/// Without a bound there is no optimum to look around at, and the rays would make gradients of any length.
#[test]
fn where_there_is_no_optimum_the_derivative_is_given() {
    let open = Problem::maximize(2).at_most("a", Matrix::from_rows(&[[1.0, -1.0]]), [1.0]).build().unwrap();
    let multipliers = Multipliers::given(RowValues::constant(open.shape(), 5.0));
    let gradient = |smoothing: f64| {
        let options = SurrogateOptions { smoothing, ..SurrogateOptions::with_k(5.0) };
        let surrogate = Surrogate::new(&open, &multipliers, &options).unwrap();
        let solution = surrogate.solve(&Instance::theta(&[1.0, 1.0])).unwrap();
        assert_eq!(solution.status, SurrogateStatus::Unbounded);
        let mut g = [1.0, 1.0];
        solution.vjp_theta(&mut g);
        g
    };
    assert_eq!(gradient(0.3), gradient(0.0));
}

/// Nothing binds and nothing costs: there is no gap to speak of, and the derivative itself is given.
#[test]
fn without_a_gap_the_derivative_is_given() {
    let bowl = Problem::maximize(2)
        .linear([1.0, -1.0])
        .quadratic(Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]))
        .free()
        .build()
        .unwrap();
    let solution = smoothed(&bowl, 5.0, 0.03).unwrap().solve(&Instance::default()).unwrap();
    let found = solution.vjp(&[1.0, 0.0]).parameters.theta;
    assert!((found[0] - 0.5).abs() < 1e-15 && found[1] == 0.0, "{found:?}");
}
