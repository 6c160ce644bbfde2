//! Surrogates of sparse linear programs that are solved again and again, by way of the vertex with its kinks moved.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, non_snake_case, reason = "tests fail loudly")]

mod common;

use common::params::{Params, part};
use common::{Recipe, normal, rng, vector};
use proptest::prelude::*;
use rand::RngExt;
use regretless_core::problem::Form;
use regretless_core::*;

const K: f64 = 5.0;

/// Flow along a ring with chords: arcs, supply and waste at every node; lines of some arcs have soft limits.
fn network(nodes: usize, seed: u64) -> Problem {
    let mut r = rng(seed);
    let arcs: Vec<(usize, usize)> = (0..nodes)
        .flat_map(|i| [(i, (i + 1) % nodes), (i, (7 * i + 3) % nodes)])
        .filter(|(i, j)| i != j)
        .collect();
    let n = arcs.len() + 2 * nodes;
    let mut entries = Vec::new();
    for (a, (i, j)) in arcs.iter().enumerate() {
        entries.extend([(*i, a, -1.0), (*j, a, 1.0)]);
    }
    for i in 0..nodes {
        entries.extend([(i, arcs.len() + i, 1.0), (i, arcs.len() + nodes + i, -1.0)]);
    }
    let price: Vec<f64> = (0..n)
        .map(|a| if a < arcs.len() { 1.0 + r.random::<f64>() } else { 20.0 + 10.0 * r.random::<f64>() })
        .collect();
    let demand: Vec<f64> = (0..nodes).map(|_| 4.0 * r.random::<f64>() - 1.6).collect();
    let lines = arcs.len() / 3;
    let limits = Coefficients::sparse(lines, n, (0..lines).map(|i| (i, 3 * i, 1.0))).unwrap();
    let soft = Soft::over(limits, vec![0.7; lines], vec![3.0; lines]);
    Problem::minimize(n)
        .linear(price)
        .soft("lines", soft)
        .equal("balance", Coefficients::sparse(nodes, n, entries).unwrap(), demand)
        .upper(vec![9.0; n])
        .build()
        .unwrap()
}

fn softened(problem: &Problem, k: f64) -> Surrogate {
    let multipliers = Multipliers::choose(problem, &Rule::Constant(200.0), &[Instance::default()]).unwrap();
    Surrogate::new(problem, &multipliers, &SurrogateOptions::with_k(k)).unwrap()
}

/// Prices and demands a little off those that are stated.
fn moved(problem: &Problem, share: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut r = rng(seed);
    let mut near = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|v| v * (1.0 + share * (2.0 * r.random::<f64>() - 1.0))).collect()
    };
    (near(problem.theta()), near(&problem.equal().rhs))
}

fn off(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(1.0_f64, |m, b| m.max(b.abs()));
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs() / size))
}

/// Warm answers are those of dense solves from nothing, in all that is differentiated, and mostly take the basis alone.
#[test]
fn warm_surrogates_are_those_of_dense_solves() {
    let problem = network(60, 3).in_form(Form::Sparse);
    let (sparse, dense) = (softened(&problem, K), softened(&problem.in_form(Form::Dense), K));
    let (mut store, mut counts) = (Store::with_budget(1 << 26), Vec::new());
    for step in 0..40 {
        let (theta, c) = moved(&problem, if step % 10 == 9 { 0.2 } else { 0.01 }, step);
        let instance = [Instance { c: (step % 2 == 0).then_some(&c[..]), ..Instance::theta(&theta) }];
        let warm = sparse.solve_batch_warm(&instance, &[1], &mut store).remove(0).unwrap();
        let cold = dense.solve(&instance[0]).unwrap();
        assert_eq!(warm.status, cold.status, "step {step}");
        assert!(warm.is_optimal() && !cold.is_singular() && warm.residual <= 1e-10, "{}", warm.residual);
        assert!(off(warm.x(), cold.x()) < 1e-9, "step {step}: {}", off(warm.x(), cold.x()));
        let g = vector(&mut rng(step), problem.n());
        let (by, expected) = (warm.vjp(&g), cold.vjp(&g));
        for parameter in Parameter::ALL {
            let off = off(by.of(parameter), expected.of(parameter));
            assert!(off < 1e-7, "step {step}: {} by {off}", parameter.symbol());
        }
        let mut tangent = Gradients { k: 1.0, ..warm.zero_tangent() };
        tangent.theta = vector(&mut rng(step + 100), problem.n());
        assert!(off(&warm.jvp(&tangent), &cold.jvp(&tangent)) < 1e-7);
        counts.push(warm.work.factorisations);
    }
    counts.sort_unstable();
    assert!(counts[counts.len() / 2] <= 2, "{counts:?}");
}

/// 2,000 variables: gradients along random directions in every parameter, against differences.
#[test]
fn derivatives_of_a_large_linear_program_are_those_of_differences() {
    let problem = network(500, 13);
    assert!(problem.n() >= 1990 && problem.form() == Form::Sparse);
    let surrogate = softened(&problem, K);
    let (mut r, stated) = (rng(17), Params::of(&problem));
    let g = vector(&mut r, problem.n());
    let mut store = Store::with_budget(1 << 28);
    // The start of all solves, and a move from it.
    surrogate.solve_batch_warm(&[Instance::default()], &[0], &mut store).remove(0).unwrap();
    let (theta, c) = moved(&problem, 0.01, 5);
    let mut base = stated.clone();
    (base.theta, base.c) = (theta, c);
    let solution = surrogate.solve_batch_warm(&[base.instance()], &[0], &mut store).remove(0).unwrap();
    assert!(solution.is_optimal() && !solution.is_singular());
    let mut gradients = solution.vjp(&g);
    let mut seen = 0;
    for name in ["theta", "d", "alpha", "c", "upper", "lower", "B", "C"] {
        for _ in 0..3 {
            let direction = vector(&mut r, base.part(name).len());
            let slope: f64 = part(&mut gradients, name).iter().zip(&direction).map(|(a, d)| a * d).sum();
            let mut value = |t: f64| {
                let mut near = base.clone();
                near.part(name).iter_mut().zip(&direction).for_each(|(v, d)| *v += t * d);
                let solution = surrogate.solve_batch_warm(&[near.instance()], &[0], &mut store);
                let solution = solution.into_iter().next().unwrap().unwrap();
                assert!(solution.is_optimal(), "{:?} {}", solution.status, solution.residual);
                solution.x().iter().zip(&g).map(|(x, g)| x * g).sum::<f64>()
            };
            let step = 1e-6;
            let difference = (value(step) - value(-step)) / (2.0 * step);
            assert!(
                (slope - difference).abs() <= 2e-4 * (1.0 + slope.abs()),
                "{name}: {slope} vs {difference}"
            );
            seen += usize::from(slope.abs() > 1e-3);
        }
    }
    assert!(seen >= 20, "{seen} slopes that are not 0");
}

/// The same bits for any number of threads, and from a store that was saved.
#[test]
fn threads_and_saved_stores_change_nothing() {
    let problem = network(100, 7).in_form(Form::Sparse);
    let surrogate = softened(&problem, K);
    let prices: Vec<Vec<f64>> = (0..12).map(|seed| moved(&problem, 0.02, seed).0).collect();
    let (first, second) = prices.split_at(6);
    let ids: Vec<u64> = (0..6).collect();
    let run = |threads: usize, saved: bool| -> Vec<Vec<f64>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut store = Store::with_budget(1 << 28);
            let mut out = Vec::new();
            for prices in [first, second] {
                let each: Vec<Instance<'_>> = prices.iter().map(|p| Instance::theta(p)).collect();
                let solved = surrogate.solve_batch_warm(&each, &ids, &mut store);
                let g = vec![1.0; problem.n()];
                out.extend(solved.iter().flatten().flat_map(|s| [s.x().to_vec(), s.vjp(&g).theta.clone()]));
                if saved {
                    store = Store::from_bytes(&store.to_bytes()).unwrap();
                } else {
                    store.drop_factors();
                }
            }
            out
        })
    };
    assert_eq!(run(1, false), run(3, false));
    assert_eq!(run(1, false), run(2, true));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 0, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(9), ..ProptestConfig::default() })]

    /// Linear programs of every kind, degenerate ones and such with several optima too, as prices and limits move; what has no cold answer with sparse factors is
    /// not asked for a warm one.
    #[test]
    fn warm_answers_are_those_of_cold_solves(seed in 0_u64..1 << 40) {
        let recipe = Recipe { quadratic: 0, scaled: false, redundant: false, ..Recipe::from_seed(seed) };
        let dense = recipe.build();
        let sparse = dense.in_form(Form::Sparse);
        let Ok(multipliers) = Multipliers::choose(&dense, &Rule::default(), &[Instance::default()]) else {
            return Ok(());
        };
        let mut r = rng(seed);
        let k = [0.5, 5.0, 100.0][r.random_range(0..3)];
        let of = |p: &Problem| Surrogate::new(p, &multipliers, &SurrogateOptions::with_k(k)).unwrap();
        let (a, b, mut store) = (of(&sparse), of(&dense.in_form(Form::Dense)), Store::with_budget(1 << 24));
        let mut at = Params::of(&dense);
        for step in 0..5 {
            let instance = if step % 2 == 0 { at.instance() } else { Instance::theta(&at.theta) };
            let expected = b.solve(&instance).unwrap();
            let cold = a.solve(&instance).unwrap();
            let warm = a.solve_batch_warm(&[instance], &[7], &mut store).remove(0).unwrap();
            if cold.status == SurrogateStatus::NumericalTrouble {
                continue;
            }
            prop_assert_eq!(warm.status.word(), expected.status.word(), "step {}", step);
            if warm.is_optimal() {
                let size = 1.0 + expected.objective.abs();
                let close = (warm.objective - expected.objective).abs() <= 1e-6 * size;
                prop_assert!(close || expected.is_singular(), "step {}: {} vs {}", step, warm.objective, expected.objective);
                prop_assert!(warm.residual <= 1e-7, "{}", warm.residual);
            }
            at.theta.iter_mut().for_each(|t| *t += 0.1 * normal(&mut r));
            for name in ["d", "b"] {
                at.part(name).iter_mut().for_each(|l| *l += 0.05 * (0.1 + l.abs()) * normal(&mut r));
            }
        }
    }
}
