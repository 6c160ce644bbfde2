//! `optimal` is said only of what is: the three figures of every answer, computed here from the statement of the problem.
#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

mod common;

use common::{Recipe, rng};
use proptest::prelude::*;
use rand::RngExt;
use regretless_core::engine::{Accuracy, Link};
use regretless_core::{
    Instance, Matrix, Multipliers, Optimum, Oracle, Problem, Rule, Sense, Soft, Status, Store, Surrogate,
    SurrogateOptions, SurrogateStatus, Tolerances,
};

/// The figures of an answer, row by row from the definition.
fn figures(problem: &Problem, optimum: &Optimum) -> Accuracy {
    let view = problem.view(&Instance::default()).unwrap();
    let (n, x, l) = (problem.n(), &optimum.x, &optimum.multipliers);
    let sign = if problem.sense() == Sense::Max { 1.0 } else { -1.0 };
    let (mut primal, mut gap, mut pull) = (0.0_f64, 0.0, vec![0.0; n]);
    let mut hard = |row: &[f64], limit: f64, lambda: f64, equality: bool| {
        let value: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
        let size: f64 = row.iter().zip(x).map(|(a, x)| (a * x).abs()).sum();
        let out = if equality { (value - limit).abs() } else { value - limit };
        primal = primal.max(out / (1.0 + limit.abs() + size));
        gap += (lambda * (value - limit)).abs();
        pull.iter_mut().zip(row).for_each(|(p, a)| *p += lambda * a);
        assert!(equality || lambda >= 0.0, "a multiplier of {lambda}");
    };
    for (i, b) in view.b.iter().enumerate() {
        hard(&view.A[i * n..(i + 1) * n], *b, l.at_most[i], false);
    }
    for (i, c) in view.c.iter().enumerate() {
        hard(&view.B[i * n..(i + 1) * n], *c, l.equal[i], true);
    }
    for j in 0..n {
        let unit = |s: f64| (0..n).map(|k| if k == j { s } else { 0.0 }).collect::<Vec<_>>();
        if view.lower[j].is_finite() {
            hard(&unit(-1.0), -view.lower[j], l.lower[j], false);
        }
        if view.upper[j].is_finite() {
            hard(&unit(1.0), view.upper[j], l.upper[j], false);
        }
    }
    for (k, d) in view.d.iter().enumerate() {
        let row = &view.C[k * n..(k + 1) * n];
        let z = row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - d;
        let cost = view.alpha[k] * z.max(0.0) + view.under[k] * (-z).max(0.0);
        gap += (cost - l.soft[k] * z).abs();
        pull.iter_mut().zip(row).for_each(|(p, a)| *p += l.soft[k] * a);
        assert!(l.soft[k] <= view.alpha[k] * (1.0 + 1e-12) && l.soft[k] >= -view.under[k] * (1.0 + 1e-12));
    }
    let quadratic = view.quadratic().map(|q| q.dense());
    let (mut worst, mut theta, mut largest) = (0.0_f64, 0.0_f64, 0.0_f64);
    for j in 0..n {
        let curve: f64 =
            quadratic.as_deref().map_or(0.0, |q| (0..n).map(|k| (q[j * n + k] + q[k * n + j]) * x[k]).sum());
        worst = worst.max((sign * view.theta[j] - curve - pull[j]).abs());
        theta = theta.max(view.theta[j].abs());
        largest = largest.max(pull[j].abs());
    }
    let size = 1.0 + optimum.objective.abs();
    Accuracy { primal, dual: worst / (1.0 + theta + largest), gap: gap / size }
}

/// The same problem with every variable in another unit: x = s·x̂.
fn in_units(problem: &Problem, s: &[f64]) -> Problem {
    let view = problem.view(&Instance::default()).unwrap();
    let n = problem.n();
    let columns = |m: &[f64]| Matrix::from_fn(m.len() / n, n, |i, j| m[i * n + j] * s[j]);
    let scaled = |v: &[f64], power: i32| v.iter().zip(s).map(|(v, s)| v * s.powi(power)).collect::<Vec<_>>();
    let start = if problem.sense() == Sense::Max { Problem::maximize(n) } else { Problem::minimize(n) };
    let mut builder = start
        .linear(scaled(view.theta, 1))
        .soft("s", Soft::both(columns(view.C), view.d, view.alpha, view.under))
        .at_most("a", columns(view.A), view.b)
        .equal("b", columns(view.B), view.c)
        .lower(scaled(view.lower, -1))
        .upper(scaled(view.upper, -1));
    if let Some(q) = view.quadratic().map(|q| q.dense()) {
        builder = builder.quadratic(Matrix::from_fn(n, n, |i, j| q[i * n + j] * s[i] * s[j]));
    }
    builder.build().unwrap()
}

/// A random problem, every other one in units of 1e-4 to 1e4.
fn drawn(seed: u64) -> (Problem, Option<Problem>) {
    let recipe = Recipe::from_seed(seed);
    let problem = recipe.build();
    if seed.is_multiple_of(2) {
        return (problem, None);
    }
    let mut r = rng(seed ^ 0x4d);
    let s: Vec<f64> = (0..recipe.n).map(|_| 10f64.powf(r.random_range(-4.0..4.0))).collect();
    (in_units(&problem, &s), Some(problem))
}

/// How an answer is wrong, if it is.
fn wrong(problem: &Problem, original: Option<&Problem>) -> Option<String> {
    let optimum = Oracle::new(problem).solve(&Instance::default()).unwrap();
    if !optimum.is_optimal() {
        return Some(format!("{:?} {:?}", optimum.status, optimum.accuracy));
    }
    let found = figures(problem, &optimum);
    // What the answer says of itself is what is found here.
    let agree = |said: f64, found: f64| (said - found).abs() <= 1e-9 + 1e-6 * found;
    if !found.within(&Tolerances::all(1.001e-7)) || !agree(optimum.accuracy.primal, found.primal) {
        return Some(format!("said {:?}, is {found:?}", optimum.accuracy));
    }
    // An independent bound: units do not change the optimum.
    let other = Oracle::new(original?).solve(&Instance::default()).unwrap();
    let apart = (optimum.objective - other.objective).abs() / (1.0 + other.objective.abs());
    (apart > 1e-6).then(|| format!("{} in other units {}", other.objective, optimum.objective))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_shrink_iters: 0, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(17), ..ProptestConfig::default() })]
    #[test]
    fn optimal_is_said_of_optima_only(seed in 0u64..1_000_000_000) {
        let (problem, original) = drawn(seed);
        let fault = wrong(&problem, original.as_ref());
        prop_assert!(fault.is_none(), "seed {seed}: {fault:?}");
    }

    /// Weak duality: what the point of a surrogate gains, plus its gap, is no less than the exact optimum.
    #[test]
    fn the_gap_of_a_surrogate_is_a_bound(seed in 0u64..1_000_000_000) {
        // Rows that are stated twice share a penalty in the surrogate, and not in the sum by hand.
        let problem = Recipe { scaled: false, redundant: false, ..Recipe::from_seed(seed) }.build();
        let exact = Oracle::new(&problem).solve(&Instance::default()).unwrap();
        let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()]).unwrap();
        let options = SurrogateOptions::with_k(4.0);
        let solution = Surrogate::new(&problem, &multipliers, &options).unwrap().solve(&Instance::default()).unwrap();
        prop_assume!(solution.status == SurrogateStatus::Optimal);
        let (view, figures) = (problem.view(&Instance::default()).unwrap(), solution.accuracy());
        let sign = if problem.sense() == Sense::Max { 1.0 } else { -1.0 };
        let gain = sign * solution.objective - view.penalty(solution.x(), &multipliers.values);
        let bound = gain + figures.gap * (1.0 + solution.objective.abs());
        prop_assert!(bound >= sign * exact.objective - 1e-7 * (1.0 + bound.abs()), "{bound} {}", exact.objective);
        prop_assert!(figures.dual <= 1e-7);
        prop_assert!(view.violation(solution.x()) == 0.0 || figures.primal > 0.0);
    }
}

/// The long version: `cargo test --release -p regretless-core --test accuracy -- --ignored --nocapture`.
#[test]
#[ignore = "a minute or two"]
#[allow(clippy::print_stdout)]
fn a_hundred_thousand_problems() {
    let mut troubled = 0;
    for seed in 0..100_000 {
        let (problem, original) = drawn(seed);
        match wrong(&problem, original.as_ref()) {
            Some(fault) if fault.starts_with("NumericalTrouble") => {
                println!("seed {seed}: {fault}");
                troubled += 1;
            }
            Some(fault) => panic!("seed {seed}: {fault}"),
            None => {}
        }
    }
    println!("100,000 problems, 0 wrong, {troubled} in numerical trouble");
    assert!(troubled <= 10, "{troubled} in numerical trouble");
}

/// Limits that are zero up to rounding, beside bounds of 20: once taken for the scale of the problem, they made its proximal
/// slope 1e12 and every residual look small (Maros–Meszaros QRECIPE).
#[test]
fn a_limit_of_rounding_sets_no_scale() {
    let n = 6;
    let balance = Matrix::from_fn(2, n, |i, j| if j / 3 == i { [1.0, 0.4, -1.0][j % 3] } else { 0.0 });
    let problem = Problem::minimize(n)
        .linear([-2.0, 1.0, 0.1, 0.5, -1.0, 0.3])
        .quadratic(Matrix::from_fn(n, n, |i, j| if i == j && i < 2 { 10.0 } else { 0.0 }))
        .equal("balance", balance, [-1.136_868_377e-13, 5.684_341_886e-14])
        .upper([20.0; 6])
        .build()
        .unwrap();
    let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
    assert!(optimum.is_optimal() && optimum.link == Link::Path, "{:?} by {:?}", optimum.status, optimum.link);
    // First block: min −2a + 10a² + 0.1c with c = a, so a = 0.095. Second: e gains 1, and f = 0.4e costs 0.3 a unit.
    near(optimum.x[0], 0.095);
    near(optimum.x[2], 0.095);
    near(optimum.x[4], 20.0);
    near(optimum.x[5], 8.0);
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

/// The flow rows of a network sum to zero: one says nothing new, and is no obstacle, whichever it is.
#[test]
fn a_redundant_equality_changes_nothing() {
    // A square with a diagonal: 0 → 1 → 3, 0 → 2 → 3, 0 → 3.
    let arcs = [(0, 1), (1, 3), (0, 2), (2, 3), (0, 3)];
    let flow = |rows: &[usize]| {
        Matrix::from_fn(rows.len(), 5, |i, k| {
            let (from, to) = arcs[k];
            f64::from(u8::from(from == rows[i])) - f64::from(u8::from(to == rows[i]))
        })
    };
    let supply = |rows: &[usize]| rows.iter().map(|r| [1.0, 0.0, 0.0, -1.0][*r]).collect::<Vec<_>>();
    let solve = |rows: &[usize]| {
        let problem = Problem::minimize(5)
            .linear([1.0, 1.0, 0.5, 1.0, 1.8])
            .equal("flow", flow(rows), supply(rows))
            .upper([1.0; 5])
            .build()
            .unwrap();
        Oracle::new(&problem).solve(&Instance::default()).unwrap()
    };
    let least = solve(&[0, 1, 2]);
    for rows in [vec![0, 1, 2, 3], vec![3, 2, 1, 0], vec![0, 0, 1, 2, 3, 3]] {
        let optimum = solve(&rows);
        assert!(optimum.is_optimal() && optimum.link == Link::Path);
        optimum.x.iter().zip(&least.x).for_each(|(x, least)| near(*x, *least));
        near(optimum.objective, 1.5);
    }
    // A contradiction is no redundancy.
    let problem = Problem::minimize(5)
        .linear([1.0; 5])
        .equal("flow", flow(&[0, 1, 2, 3]), [1.0, 0.0, 0.0, -0.5])
        .build()
        .unwrap();
    let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
    assert!(matches!(optimum.status, Status::Infeasible { .. }), "{:?}", optimum.status);
}

/// A known optimum in columns from 1e-6 to 1e6 and rows from 1e-5 to 1e5.
#[test]
fn units_of_rows_and_columns() {
    // max Σ x_j, x_j + x_{j+1} ≤ 1: alternate ones and halves have the same value, n/2 for even n.
    let n = 12;
    let unit = |j: usize| 10f64.powf(j as f64 - 6.0);
    let size = |i: usize| 10f64.powf((i * 7 % 11) as f64 - 5.0);
    let rows = Matrix::from_fn(n, n, |i, j| {
        let on = j == i || j == (i + 1) % n;
        if on { size(i) / unit(j) } else { 0.0 }
    });
    let limits: Vec<f64> = (0..n).map(size).collect();
    let theta: Vec<f64> = (0..n).map(|j| unit(j).recip()).collect();
    let problem = Problem::maximize(n).linear(theta).at_most("pairs", rows, limits).build().unwrap();
    let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
    assert!(optimum.is_optimal(), "{:?}", optimum.accuracy);
    near(optimum.objective, 6.0);
}

/// Tolerances are a setting: what nobody can keep is numerical trouble, with the figures of the best answer.
#[test]
fn what_cannot_be_kept_is_trouble() {
    let problem = Recipe { n: 8, quadratic: 1, equal: 2, ..Recipe::from_seed(5) }.build();
    let demanding = Oracle::new(&problem).with_tolerances(Tolerances::all(0.0));
    let optimum = demanding.solve(&Instance::default()).unwrap();
    assert_eq!(optimum.status, Status::NumericalTrouble);
    assert!(optimum.accuracy.within(&Tolerances::all(1e-9)), "{:?}", optimum.accuracy);
    let usual = Oracle::new(&problem).solve(&Instance::default()).unwrap();
    near(usual.objective, optimum.objective);
}

/// Warm or cold, moved or not: the same answer with the same certificate.
#[test]
fn what_has_not_moved_is_measured_again() {
    let problem = Recipe { n: 10, quadratic: 0, bounds: 1, ..Recipe::from_seed(3) }.build();
    let oracle = Oracle::new(&problem);
    let mut store = Store::with_budget(1 << 20);
    let mut solve = || {
        let answers = oracle.solve_batch_warm(&[Instance::default()], &[1], &mut store);
        answers.into_iter().next().unwrap().unwrap()
    };
    let (first, second) = (solve(), solve());
    assert!(first.is_optimal() && second.is_optimal());
    assert_eq!(first.x, second.x);
    assert_eq!(second.work.breakpoints, 0);
    assert!(figures(&problem, &second).within(&Tolerances::default()));
}
