//! The same problem through dense and sparse factors: one semantics.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, non_snake_case, reason = "tests fail loudly")]

mod common;

use common::{Recipe, rng, vector};
use proptest::prelude::*;
use rand::RngExt;
use regretless_core::engine::Link;
use regretless_core::problem::{FactorCost, Form};
use regretless_core::*;

fn same(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = b.iter().filter(|b| b.is_finite()).fold(1.0_f64, |m, b| m.max(b.abs()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!(a == b || (a - b).abs() <= tolerance * size, "{what}[{i}]: {a} vs {b}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 0, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(26), ..ProptestConfig::default() })]

    /// Optima of every kind of problem, degenerate and badly scaled ones among them.
    #[test]
    fn optima_agree(seed in 0_u64..1 << 40) {
        let dense = Recipe::from_seed(seed).build();
        let sparse = dense.in_form(Form::Sparse);
        let solve = |p: &Problem| Oracle::new(p).solve(&Instance::default()).unwrap();
        let (a, b) = (solve(&sparse), solve(&dense));
        prop_assert_eq!(&a.status, &b.status);
        prop_assert!(a.accuracy.within(&Tolerances::default()), "{:?}", a.accuracy);
        same(&[a.objective], &[b.objective], 1e-8, "objective");
    }

    /// Where the optimum is one, so is x; from ids as from nothing.
    #[test]
    fn unique_optima_agree_cold_and_warm(seed in 0_u64..1 << 40) {
        let recipe = Recipe { quadratic: 1, scaled: false, ..Recipe::from_seed(seed) };
        let dense = recipe.build();
        let sparse = dense.in_form(Form::Sparse);
        let (a, b) = (Oracle::new(&sparse), Oracle::new(&dense));
        let mut store = Store::with_budget(1 << 24);
        let mut theta = dense.theta().to_vec();
        for _ in 0..3 {
            let instance = [Instance::theta(&theta)];
            let expected = b.solve(&instance[0]).unwrap();
            let cold = a.solve(&instance[0]).unwrap();
            let warm = a.solve_batch_warm(&instance, &[7], &mut store).remove(0).unwrap();
            prop_assert_eq!(&cold.status, &expected.status);
            prop_assert_eq!(&warm.status, &expected.status);
            same(&cold.x, &expected.x, 1e-9, "cold x");
            same(&warm.x, &expected.x, 1e-9, "warm x");
            let mut r = rng(seed);
            theta.iter_mut().for_each(|t| *t *= 1.0 + 0.02 * r.random::<f64>());
        }
    }

    /// Surrogates: point, pieces and the gradient in every parameter.
    #[test]
    fn surrogates_agree(seed in 0_u64..1 << 40) {
        let recipe = Recipe { quadratic: 1, scaled: false, redundant: false, ..Recipe::from_seed(seed) };
        let dense = recipe.build();
        let sparse = dense.in_form(Form::Sparse);
        let Ok(multipliers) = Multipliers::choose(&dense, &Rule::default(), &[Instance::default()]) else {
            return Ok(());
        };
        for smoothing in [0.0, 0.3] {
            let options = SurrogateOptions { smoothing, ..SurrogateOptions::with_k(2.0) };
            let solve = |p: &Problem| Surrogate::new(p, &multipliers, &options).unwrap().solve(&Instance::default()).unwrap();
            let (a, b) = (solve(&sparse), solve(&dense));
            prop_assert_eq!(&a.status, &b.status);
            if !a.is_optimal() || b.is_singular() {
                continue;
            }
            same(a.x(), b.x(), 1e-9, "x");
            same(&[a.objective], &[b.objective], 1e-9, "objective");
            let g = vector(&mut rng(seed), dense.n());
            let (by, expected) = (a.vjp(&g), b.vjp(&g));
            for parameter in Parameter::ALL {
                same(by.of(parameter), expected.of(parameter), 1e-9, parameter.symbol());
            }
            let along = a.vjp(&g);
            let mut tangent = a.zero_tangent();
            tangent.theta.clone_from(&along.theta);
            same(&a.jvp(&tangent), &b.jvp(&tangent), 1e-9, "jvp");
        }
    }
}

/// A network: flow from node to node along a ring with chords, demands at the nodes, capacities on the arcs.
fn network(nodes: usize, seed: u64) -> Problem {
    let mut r = rng(seed);
    let arcs: Vec<(usize, usize)> = (0..nodes)
        .flat_map(|i| [(i, (i + 1) % nodes), (i, (7 * i + 3) % nodes)])
        .filter(|(i, j)| i != j)
        .collect();
    // Supply and slack at every node, at a price, so that any demand can be met.
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
    let demand: Vec<f64> = (0..nodes).map(|_| r.random::<f64>() - 0.4).collect();
    Problem::minimize(n)
        .linear(price)
        .equal("balance", Coefficients::sparse(nodes, n, entries).unwrap(), demand)
        .upper(vec![3.0; n])
        .build()
        .unwrap()
}

#[test]
fn the_form_is_chosen_by_what_a_factorisation_takes() {
    let small = network(20, 1);
    assert_eq!(small.form(), Form::Dense);
    let large = network(400, 1);
    assert_eq!(large.form(), Form::Sparse);
    let FactorCost { flops, .. } = large.factor_cost();
    assert!(flops < 0.05 * large.in_form(Form::Dense).factor_cost().flops);
    // Rows that are all there have no sparse factor.
    let full = Matrix::from_fn(60, 300, |i, j| ((i * j) as f64).sin());
    let full = Problem::maximize(300).at_most("full", full, vec![1.0; 60]).build().unwrap();
    assert_eq!(full.form(), Form::Dense);
    // One row over all variables is a small part of K.
    let n = 2000;
    let budget = Coefficients::sparse(1, n, (0..n).map(|j| (0, j, 1.0 + j as f64 / n as f64))).unwrap();
    let budget = Problem::maximize(n).at_most("budget", budget, [10.0]).upper(vec![1.0; n]).build().unwrap();
    assert_eq!(budget.form(), Form::Sparse);
}

/// A network of 1,200 variables against the dense engine, and one of 8,000 against its own certificate.
#[test]
fn networks_have_the_same_optimum() {
    let problem = network(300, 3);
    let (sparse, dense) = (problem.in_form(Form::Sparse), problem.in_form(Form::Dense));
    let solve = |p: &Problem| Oracle::new(p).solve(&Instance::default()).unwrap();
    let (a, b) = (solve(&sparse), solve(&dense));
    assert!(a.is_optimal() && b.is_optimal());
    same(&[a.objective], &[b.objective], 1e-9, "objective");
    let large = solve(&network(2000, 5));
    assert!(large.is_optimal() && large.accuracy.within(&Tolerances::default()), "{:?}", large.accuracy);
}

/// Two rows among many contradict each other: they are named, and no other.
#[test]
fn rows_that_cannot_hold_together_are_named() {
    let base = network(300, 9);
    let n = base.n();
    let equal = base.equal();
    let state = |at_most: Coefficients, b: Vec<f64>, lower: f64| {
        Problem::minimize(n)
            .linear(base.theta())
            .equal("balance", equal.rows.clone(), equal.rhs.clone())
            .at_most("extra", at_most, b)
            .lower(vec![lower; n])
            .upper(base.upper())
            .build()
            .unwrap()
    };
    let pair = Coefficients::sparse(2, n, [(0, 4, 1.0), (0, 9, 1.0), (1, 4, -1.0), (1, 9, -1.0)]).unwrap();
    let problem = state(pair, vec![1.0, -2.0], 0.0);
    assert_eq!(problem.form(), Form::Sparse);
    let Status::Infeasible { mut rows } = Oracle::new(&problem).solve(&Instance::default()).unwrap().status
    else {
        panic!("two rows contradict each other")
    };
    rows.sort();
    assert_eq!(rows, [RowId::AtMost(0), RowId::AtMost(1)]);
}

/// A variable that earns without limit, found among many.
#[test]
fn an_unbounded_objective_has_a_ray() {
    let base = network(300, 11);
    let n = base.n();
    let mut upper = base.upper().to_vec();
    let (supply, waste) = (n - 600 + 5, n - 300 + 5);
    (upper[supply], upper[waste]) = (f64::INFINITY, f64::INFINITY);
    let mut price = base.theta().to_vec();
    price[waste] = -50.0;
    let problem = Problem::minimize(n)
        .linear(price.clone())
        .equal("balance", base.equal().rows.clone(), base.equal().rhs.clone())
        .upper(upper)
        .build()
        .unwrap();
    let Status::Unbounded { ray } = Oracle::new(&problem).solve(&Instance::default()).unwrap().status else {
        panic!("supply may be wasted at a gain")
    };
    assert!(price.iter().zip(&ray).map(|(p, r)| p * r).sum::<f64>() < 0.0);
    for row in problem.equal().rows.view().iter() {
        assert!(row.dot(&ray).abs() < 1e-9);
    }
    assert!(ray.iter().all(|r| *r > -1e-9));
}

/// Gradients at 4,000 variables along a random direction, against differences.
#[test]
fn derivatives_of_a_large_network_are_those_of_differences() {
    let problem = network(1000, 13);
    let n = problem.n();
    let curved = {
        let q = Coefficients::sparse(n, n, (0..n).map(|j| (j, j, 0.05))).unwrap();
        let state = Problem::minimize(n).linear(problem.theta()).quadratic(q);
        let equal = problem.equal();
        state.equal("balance", equal.rows.clone(), equal.rhs.clone()).upper(problem.upper()).build().unwrap()
    };
    assert_eq!(curved.form(), Form::Sparse);
    let multipliers = Multipliers::choose(&curved, &Rule::Constant(100.0), &[Instance::default()]).unwrap();
    let surrogate = Surrogate::new(&curved, &multipliers, &SurrogateOptions::with_k(5.0)).unwrap();
    let mut r = rng(17);
    let (g, direction) = (vector(&mut r, n), vector(&mut r, n));
    let moved =
        |t: f64| -> Vec<f64> { curved.theta().iter().zip(&direction).map(|(a, d)| a + t * d).collect() };
    let value = |t: f64| {
        let theta = moved(t);
        let solution = surrogate.solve(&Instance::theta(&theta)).unwrap();
        assert!(solution.is_optimal(), "{:?} {}", solution.status, solution.residual);
        solution.x().iter().zip(&g).map(|(x, g)| x * g).sum::<f64>()
    };
    let solution = surrogate.solve(&Instance::default()).unwrap();
    let slope: f64 = solution.vjp(&g).theta.iter().zip(&direction).map(|(a, d)| a * d).sum();
    let step = 1e-7;
    let difference = (value(step) - value(-step)) / (2.0 * step);
    assert!((slope - difference).abs() <= 1e-4 * (1.0 + slope.abs()), "{slope} vs {difference}");
}

/// A direction that no row on its slope sees: gradients are those of the pseudo-inverse, not the inverse of rounding.
#[test]
fn a_singular_curvature_has_the_least_gradient() {
    let rows = Matrix::from_rows(&[[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let soft = Soft::over(rows, [1.0, 2.0], [2.0, 2.0]);
    let dense = Problem::maximize(3).linear([1.0, 1.0, 1.0]).soft("s", soft).free().build().unwrap();
    let multipliers = Multipliers::choose(&dense, &Rule::Constant(10.0), &[Instance::default()]).unwrap();
    let solve = |p: &Problem| {
        let surrogate = Surrogate::new(p, &multipliers, &SurrogateOptions::with_k(2.0)).unwrap();
        surrogate.solve(&Instance::default()).unwrap()
    };
    let (a, b) = (solve(&dense.in_form(Form::Sparse)), solve(&dense));
    assert!(a.is_optimal() && b.is_optimal() && b.is_singular());
    let g = [1.0, -0.5, 0.25];
    same(&a.vjp(&g).theta, &b.vjp(&g).theta, 1e-6, "theta");
}

/// Prices that move a little from solve to solve: a path goes from vertex to vertex with the factor of long ago, and each answer
/// is the one of a cold solve.
#[test]
fn a_linear_program_is_followed_from_vertex_to_vertex() {
    let problem = network(400, 21).in_form(Form::Sparse);
    let (oracle, mut store, mut r) = (Oracle::new(&problem), Store::with_budget(1 << 28), rng(3));
    let mut price = problem.theta().to_vec();
    let (mut factorisations, mut pivots, mut by_path, steps) = (0, 0, 0, 30);
    for step in 0..=steps {
        let instance = [Instance::theta(&price)];
        let warm = oracle.solve_batch_warm(&instance, &[1], &mut store).remove(0).unwrap();
        let cold = oracle.solve(&instance[0]).unwrap();
        assert!(warm.is_optimal() && cold.is_optimal(), "step {step}");
        same(&[warm.objective], &[cold.objective], 1e-9, "objective");
        if step > 0 {
            factorisations += warm.work.factorisations;
            pivots += warm.work.pivots;
            by_path += usize::from(warm.link == Link::Path);
        }
        price.iter_mut().for_each(|p| *p *= 1.0 + 0.02 * (r.random::<f64>() - 0.5));
    }
    assert!(pivots > steps, "{pivots} pivots: the vertex changes");
    assert!(by_path == steps && factorisations <= steps, "{by_path} paths, {factorisations} factorisations");
}

/// Rows with many hinges: a ray along which they cost something is proved to gain more, not twice what they cost.
#[test]
fn a_ray_across_rows_with_many_hinges_is_one() {
    let n = 3;
    // Three scenarios of one limit, of a price of 1 each: 3 a unit of x₀ + x₁, which earns 4.
    let c = Matrix::from_rows(&[[1.0, 1.0, 0.0]; 3]);
    let soft = Soft::over(c, [1.0, 2.0, 3.0], [1.0; 3]);
    let state = |price: f64| {
        let stated = Problem::maximize(n).linear([price, price, -1.0]).soft("s", soft.clone());
        stated.build().unwrap().in_form(Form::Sparse)
    };
    let solve = |p: &Problem| Oracle::new(p).solve(&Instance::default()).unwrap();
    let Status::Unbounded { ray } = solve(&state(4.0)).status else { panic!("it earns 1 a unit for ever") };
    assert!(ray[0] + ray[1] - ray[2] > 1e-3 && ray.iter().all(|r| *r >= -1e-9), "{ray:?}");
    let bounded = solve(&state(2.5));
    assert!(bounded.is_optimal(), "{:?}", bounded.status);
    assert!((bounded.x[0] + bounded.x[1] - 3.0).abs() < 1e-8, "{:?}", bounded.x);
}

/// A softened problem without a bound is said to have none, whatever the factor.
#[test]
fn an_unbounded_softened_problem_is_one_in_both_forms() {
    let base = network(60, 31);
    let multipliers = Multipliers::choose(&base, &Rule::Constant(50.0), &[Instance::default()]).unwrap();
    // A flow that earns more than twice what breaking its two balances and its bound costs.
    let mut price = base.theta().to_vec();
    price[3] = -1000.0;
    for form in [Form::Dense, Form::Sparse] {
        let problem = base.in_form(form);
        let mut free = base.upper().to_vec();
        free[3] = f64::INFINITY;
        let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(5.0)).unwrap();
        let capped = surrogate.solve(&Instance::theta(&price)).unwrap();
        // Uncapped the balances hold it.
        assert_eq!(capped.status.word(), "uncapped", "{form:?}");
        let n = problem.n();
        let soft = Soft::over(Coefficients::sparse(1, n, [(0, 3, 1.0)]).unwrap(), [1.0], [1.0]);
        let loose = Problem::minimize(n)
            .linear(price.clone())
            .soft("s", soft)
            .upper(free)
            .build()
            .unwrap()
            .in_form(form);
        let multipliers =
            Multipliers::choose(&loose, &Rule::Constant(50.0), &[Instance::theta(base.theta())]).unwrap();
        let surrogate = Surrogate::new(&loose, &multipliers, &SurrogateOptions::with_k(5.0)).unwrap();
        assert_eq!(surrogate.solve(&Instance::theta(&price)).unwrap().status.word(), "unbounded", "{form:?}");
    }
}

/// The loss `df` through both factors, ridge and KKT gradient included.
#[test]
fn the_optimum_with_a_ridge_has_the_same_gradient() {
    let base = network(40, 41);
    let n = base.n();
    let loads = (0..30).map(|i| (i, i, 1.0)).chain((0..30).map(|i| (i, i + 31, 1.0)));
    let soft = Soft::over(Coefficients::sparse(30, n, loads).unwrap(), vec![0.3; 30], vec![2.0; 30]);
    let equal = base.equal();
    let stated = Problem::minimize(n).linear(base.theta()).soft("s", soft);
    let problem =
        stated.equal("balance", equal.rows.clone(), equal.rhs.clone()).upper(base.upper()).build().unwrap();
    let mut r = rng(2);
    let truth = problem.theta().to_vec();
    let predicted: Vec<f64> = truth.iter().map(|t| t * (0.3 + 1.4 * r.random::<f64>())).collect();
    let evaluate = |form: Form| {
        let problem = problem.in_form(form);
        let options = LossOptions { ridge: 0.5, ..LossOptions::default() };
        let placement = Placement::theta(n);
        let mut loss = build_loss(Method::Df, &problem, &placement, &options).unwrap();
        let batch = Batch { predictions: &predicted, truths: &truth, known: &[], ids: &[3] };
        let losses = loss.evaluate(&batch).unwrap();
        assert!(losses.troubles.is_empty(), "{:?}", losses.troubles);
        (losses.values, losses.gradients)
    };
    let (dense, sparse) = (evaluate(Form::Dense), evaluate(Form::Sparse));
    same(&sparse.0, &dense.0, 1e-8, "value");
    same(&sparse.1, &dense.1, 1e-8, "gradient");
    assert!(dense.1.iter().any(|g| g.abs() > 1e-6));
}
