//! How a problem is written down does not matter to the surrogate: the order of rows, one common unit of all rows, rows that
//! are stated again. K and penalties are fitted, as in training.
#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

mod common;

use common::params::Params;
use common::{Recipe, rng, vector};
use proptest::prelude::*;
use rand::seq::SliceRandom;
use regretless_core::{Instance, Matrix, Multipliers, Problem, Rule, Sense, Sharpness, Soft, Surrogate};

/// Problems whose optimum and multipliers are unique: where they are not, any of them is right, and with them penalties.
fn recipe(seed: u64) -> Recipe {
    Recipe { scaled: false, redundant: false, degenerate: false, quadratic: 1, ..Recipe::from_seed(seed) }
}

/// The same problem with its rows in the given order and unit; rows that come again are the same rows.
fn restated(problem: &Problem, soft: &[usize], at_most: &[usize], equal: &[usize], unit: f64) -> Problem {
    let (p, n) = (Params::of(problem), problem.n());
    let rows =
        |m: &[f64], order: &[usize]| Matrix::from_fn(order.len(), n, |i, j| unit * m[order[i] * n + j]);
    let each =
        |v: &[f64], order: &[usize], unit: f64| order.iter().map(|&i| unit * v[i]).collect::<Vec<f64>>();
    let mut builder = match problem.sense() {
        Sense::Max => Problem::maximize(n),
        Sense::Min => Problem::minimize(n),
    };
    if let Some(q) = problem.Q() {
        builder = builder.quadratic(q.clone());
    }
    let prices = |v: &[f64]| each(v, soft, 1.0 / unit);
    builder
        .linear(p.theta.clone())
        .soft(
            "soft",
            Soft::both(rows(&p.C, soft), each(&p.d, soft, unit), prices(&p.alpha), prices(&p.under)),
        )
        .at_most("at most", rows(&p.A, at_most), each(&p.b, at_most, unit))
        .equal("equal", rows(&p.B, equal), each(&p.c, equal, unit))
        .lower(p.lower.clone())
        .upper(p.upper.clone())
        .build()
        .unwrap()
}

/// Decisions and their derivatives in θ, for several θ.
fn learned(problem: &Problem, thetas: &[Vec<f64>]) -> Option<Vec<f64>> {
    let instances: Vec<Instance<'_>> = thetas.iter().map(|t| Instance::theta(t)).collect();
    let multipliers = Multipliers::choose(problem, &Rule::default(), &instances).ok()?;
    let sharpness = Sharpness::fit(problem, &instances);
    let surrogate = Surrogate::new(problem, &multipliers, &sharpness.options()).unwrap();
    let mut out = Vec::new();
    for solution in surrogate.solve_batch(&instances) {
        let solution = solution.unwrap();
        out.extend(solution.x());
        out.extend(solution.vjp(&vec![1.0; problem.n()]).parameters.theta);
    }
    Some(out)
}

fn same(a: &[f64], b: &[f64]) -> bool {
    let size = a.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6 * size)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 0, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(17), ..ProptestConfig::default() })]

    #[test]
    fn order_and_unit_of_rows_do_not_matter(seed in 0u64..1_000_000, unit in -3.0f64..3.0) {
        let recipe = recipe(seed);
        let problem = recipe.build();
        let shape = problem.shape();
        let mut r = rng(seed);
        let thetas: Vec<Vec<f64>> = (0..5).map(|_| vector(&mut r, shape.n)).collect();
        let mut order = |count: usize| {
            let mut order: Vec<usize> = (0..count).collect();
            order.shuffle(&mut r);
            order
        };
        let (soft, at_most, equal) = (order(shape.soft), order(shape.at_most), order(shape.equal));
        let Some(plain) = learned(&problem, &thetas) else { return Ok(()) };
        let other = learned(&restated(&problem, &soft, &at_most, &equal, 10.0_f64.powf(unit)), &thetas);
        prop_assert!(other.is_some_and(|other| same(&plain, &other)), "{recipe:?}");
    }

    #[test]
    fn rows_that_are_stated_again_do_not_matter(seed in 0u64..1_000_000) {
        let recipe = recipe(seed);
        let problem = recipe.build();
        let shape = problem.shape();
        let mut r = rng(seed);
        let thetas: Vec<Vec<f64>> = (0..5).map(|_| vector(&mut r, shape.n)).collect();
        let all = |count: usize| (0..count).collect::<Vec<usize>>();
        let again = |count: usize| (0..count).chain(0..count / 2).chain(0..count / 3).collect::<Vec<usize>>();
        let Some(plain) = learned(&problem, &thetas) else { return Ok(()) };
        let other = restated(&problem, &all(shape.soft), &again(shape.at_most), &again(shape.equal), 1.0);
        let other = learned(&other, &thetas);
        prop_assert!(other.is_some_and(|other| same(&plain, &other)), "{recipe:?}");
    }
}
