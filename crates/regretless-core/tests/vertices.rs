//! Linear programs that are solved again and again, from vertex to vertex, degenerate ones first of all.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, non_snake_case, reason = "tests fail loudly")]

mod common;

use common::{Recipe, normal, rng};
use proptest::prelude::*;
use rand::RngExt;
use regretless_core::engine::Link;
use regretless_core::problem::Form;
use regretless_core::*;

/// A shortest path from corner to corner of a grid as people state it: a flow row for every node, arcs used at most once.
fn path(side: usize, seed: u64) -> (Problem, Vec<(usize, usize)>) {
    let mut r = rng(seed);
    let node = |i: usize, j: usize| i * side + j;
    let mut arcs = Vec::new();
    for i in 0..side {
        for j in 0..side {
            for (a, b) in [(i, j + 1), (i + 1, j)] {
                if a < side && b < side {
                    arcs.push((node(i, j), node(a, b)));
                }
            }
        }
    }
    let entries: Vec<_> =
        arcs.iter().enumerate().flat_map(|(k, &(from, to))| [(from, k, -1.0), (to, k, 1.0)]).collect();
    let mut ends = vec![0.0; side * side];
    (ends[0], ends[side * side - 1]) = (-1.0, 1.0);
    let problem = Problem::minimize(arcs.len())
        .linear((0..arcs.len()).map(|_| 1.0 + r.random::<f64>()).collect::<Vec<_>>())
        .equal("flow", Coefficients::sparse(side * side, arcs.len(), entries).unwrap(), ends)
        .upper(vec![1.0; arcs.len()])
        .build()
        .unwrap();
    (problem, arcs)
}

/// The cost of the shortest path, by dynamic programming; arcs go from lower nodes to higher ones.
fn shortest(arcs: &[(usize, usize)], price: &[f64], nodes: usize) -> f64 {
    let mut far = vec![f64::INFINITY; nodes];
    far[0] = 0.0;
    let mut order: Vec<usize> = (0..arcs.len()).collect();
    order.sort_by_key(|k| arcs[*k].0);
    for k in order {
        let (from, to) = arcs[k];
        far[to] = far[to].min(far[from] + price[k]);
    }
    far[nodes - 1]
}

#[test]
fn shortest_paths_are_followed_as_prices_move() {
    for (side, form) in [(5, Form::Dense), (5, Form::Sparse), (12, Form::Dense), (20, Form::Sparse)] {
        let (problem, arcs) = path(side, side as u64);
        let problem = problem.in_form(form);
        let (oracle, mut store, mut r) = (Oracle::new(&problem), Store::with_budget(1 << 26), rng(7));
        let (mut pivots, steps) = (0, 40);
        for step in 0..=steps {
            let share = if step % 10 == 9 { 0.9 } else { 0.1 };
            let price: Vec<f64> =
                problem.theta().iter().map(|p| p * (1.0 + share * (2.0 * r.random::<f64>() - 1.0))).collect();
            let instance = [Instance::theta(&price)];
            let optimum = oracle.solve_batch_warm(&instance, &[3], &mut store).remove(0).unwrap();
            assert!(optimum.is_optimal(), "{side} {form:?} {step}: {:?}", optimum.accuracy);
            let expected = shortest(&arcs, &price, side * side);
            assert!(
                (optimum.objective - expected).abs() <= 1e-9 * expected,
                "{} vs {expected}",
                optimum.objective
            );
            assert!(optimum.x.iter().all(|x| x.abs() < 1e-9 || (x - 1.0).abs() < 1e-9));
            // After a move by nine tenths somebody else may be asked.
            if step % 10 != 0 && step % 10 != 9 {
                assert_eq!(optimum.link, Link::Path, "{side} {form:?} {step}");
                assert!(optimum.work.factorisations <= 1 + optimum.work.pivots / 64 + 1);
                pivots += optimum.work.pivots;
            }
        }
        assert!(pivots > steps, "{pivots} pivots: the vertex changes");
    }
}

/// An unchanged prediction takes no step, and a store read back gives the same bits.
#[test]
fn what_has_not_moved_stays_and_stores_resume_bit_equal() {
    let (problem, _) = path(6, 1);
    let (oracle, mut store) = (Oracle::new(&problem), Store::with_budget(1 << 24));
    let price = problem.theta().to_vec();
    let mut r = rng(2);
    let solve = |store: &mut Store, price: &[f64]| {
        oracle.solve_batch_warm(&[Instance::theta(price)], &[0], store).remove(0).unwrap()
    };
    solve(&mut store, &price);
    let moved: Vec<f64> = price.iter().map(|p| p * (1.0 + 0.1 * r.random::<f64>())).collect();
    let first = solve(&mut store, &moved);
    let again = solve(&mut store, &moved);
    assert_eq!((again.work.pivots, &again.x), (0, &first.x));
    let mut resumed = Store::from_bytes(&store.to_bytes()).unwrap();
    store.drop_factors();
    let (a, b) = (solve(&mut store, &price), solve(&mut resumed, &price));
    assert_eq!((a.x, a.multipliers, a.work), (b.x, b.multipliers, b.work));
}

/// Production over time: demands move, and few rows change places.
#[test]
fn moved_demands_are_followed() {
    let (goods, periods) = (6, 10);
    let n = 3 * goods * periods;
    let at = |what: usize, g: usize, t: usize| (what * goods + g) * periods + t;
    let mut r = rng(11);
    let (mut balance, mut demand, mut hours) = (Vec::new(), Vec::new(), Vec::new());
    let mut price = vec![0.0; n];
    for g in 0..goods {
        for t in 0..periods {
            // Made, kept and bought.
            let row = demand.len();
            balance.extend([(row, at(0, g, t), 1.0), (row, at(1, g, t), -1.0), (row, at(2, g, t), 1.0)]);
            if t > 0 {
                balance.push((row, at(1, g, t - 1), 1.0));
            }
            hours.push((t, at(0, g, t), 0.5 + r.random::<f64>()));
            demand.push(5.0 + 5.0 * r.random::<f64>());
            let base = 1.0 + r.random::<f64>();
            (price[at(0, g, t)], price[at(1, g, t)], price[at(2, g, t)]) = (base, 0.05 * base, 3.0 * base);
        }
    }
    let rows = |count: usize, entries: &[(usize, usize, f64)]| {
        Coefficients::sparse(count, n, entries.to_vec()).unwrap()
    };
    let problem = Problem::minimize(n)
        .linear(price)
        .equal("balance", rows(demand.len(), &balance), demand.clone())
        .at_most("hours", rows(periods, &hours), vec![30.0; periods])
        .build()
        .unwrap();
    for form in [Form::Dense, Form::Sparse] {
        let oracle = Oracle::new(&problem.in_form(form));
        let (mut store, mut by_path) = (Store::with_budget(1 << 24), 0);
        for step in 0..=20 {
            let moved: Vec<f64> =
                demand.iter().map(|d| d * (1.0 + 0.02 * (r.random::<f64>() - 0.5))).collect();
            let theta: Vec<f64> =
                problem.theta().iter().map(|p| p * (1.0 + 0.02 * (r.random::<f64>() - 0.5))).collect();
            let instance = [Instance { c: Some(&moved), ..Instance::theta(&theta) }];
            let warm = oracle.solve_batch_warm(&instance, &[0], &mut store).remove(0).unwrap();
            let cold = oracle.solve(&instance[0]).unwrap();
            assert!(warm.is_optimal() && cold.is_optimal());
            assert!(
                (warm.objective - cold.objective).abs() <= 1e-8 * cold.objective.abs(),
                "{form:?} {step}"
            );
            by_path += usize::from(step > 0 && warm.link == Link::Path && warm.work.factorisations <= 2);
        }
        assert_eq!(by_path, 20, "{form:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 0, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(5), ..ProptestConfig::default() })]

    /// Linear programs of every kind, degenerate, with redundant rows and badly scaled: each warm answer is that of a dense solve
    /// from nothing.
    #[test]
    fn warm_answers_are_those_of_cold_solves(seed in 0_u64..1 << 40) {
        let recipe = Recipe { quadratic: 0, ..Recipe::from_seed(seed) };
        let dense = recipe.build();
        let sparse = dense.in_form(Form::Sparse);
        let (a, b, mut store) = (Oracle::new(&sparse), Oracle::new(&dense.in_form(Form::Dense)), Store::with_budget(1 << 24));
        let mut theta = dense.theta().to_vec();
        let mut r = rng(seed);
        for step in 0..6 {
            let instance = [Instance::theta(&theta)];
            let expected = b.solve(&instance[0]).unwrap();
            let warm = a.solve_batch_warm(&instance, &[7], &mut store).remove(0).unwrap();
            prop_assert_eq!(warm.status.word(), expected.status.word(), "step {}", step);
            if warm.is_optimal() {
                let close = (warm.objective - expected.objective).abs() <= 1e-8 * (1.0 + expected.objective.abs());
                prop_assert!(close, "step {}: {} vs {}", step, warm.objective, expected.objective);
                prop_assert!(warm.accuracy.within(&Tolerances::default()), "{:?}", warm.accuracy);
            }
            theta.iter_mut().for_each(|t| *t += 0.3 * normal(&mut r));
        }
    }

    /// The same with limits that move too: rows are violated at the saved vertex, and some problems have no answer any more.
    #[test]
    fn moved_limits_have_the_answers_of_cold_solves(seed in 0_u64..1 << 40) {
        let recipe = Recipe { quadratic: 0, ..Recipe::from_seed(seed) };
        let dense = recipe.build();
        let sparse = dense.in_form(Form::Sparse);
        let (a, b, mut store) = (Oracle::new(&sparse), Oracle::new(&dense.in_form(Form::Dense)), Store::with_budget(1 << 24));
        let (mut theta, mut most) = (dense.theta().to_vec(), dense.at_most().rhs.clone());
        let (mut equal, mut soft) = (dense.equal().rhs.clone(), dense.soft().d.clone());
        let mut r = rng(seed);
        for step in 0..6 {
            let parts = Instance { b: Some(&most), c: Some(&equal), d: Some(&soft), ..Instance::theta(&theta) };
            let instance = [parts];
            let expected = b.solve(&instance[0]).unwrap();
            let warm = a.solve_batch_warm(&instance, &[7], &mut store).remove(0).unwrap();
            prop_assert_eq!(warm.status.word(), expected.status.word(), "step {}", step);
            if warm.is_optimal() {
                let close = (warm.objective - expected.objective).abs() <= 1e-8 * (1.0 + expected.objective.abs());
                prop_assert!(close, "step {}: {} vs {}", step, warm.objective, expected.objective);
            }
            theta.iter_mut().for_each(|t| *t += 0.1 * normal(&mut r));
            for limits in [&mut most, &mut soft] {
                limits.iter_mut().for_each(|l| *l += 0.1 * (0.1 + l.abs()) * normal(&mut r));
            }
            equal.iter_mut().for_each(|c| *c *= 1.0 + 0.02 * normal(&mut r));
        }
    }
}
