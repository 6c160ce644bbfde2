//! The surrogate against its definition: stationarity written out from S, limits, warm starts, batches.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::params::Params;
use common::{Recipe, rng};
use proptest::prelude::*;
use rand::RngExt;
use regretless_core::solve::Par;
use regretless_core::*;

/// S'(z) from its definition.
fn hinge_slope(z: f64, k: f64) -> f64 {
    let h = 0.25 / k;
    if z < -h {
        0.0
    } else if z > h {
        1.0
    } else {
        2.0 * k * (z + h)
    }
}

/// θ − 2Qx − C'ᵀ(γ S'(C'x − d')) over the size of its terms, every row and every side written out.
fn stationarity(problem: &Problem, params: &Params, multipliers: &Multipliers, k: f64, x: &[f64]) -> f64 {
    let n = problem.n();
    let sign = if problem.sense() == Sense::Max { 1.0 } else { -1.0 };
    let mut force: Vec<f64> = params.theta.iter().map(|t| sign * t).collect();
    let mut scale = force.iter().fold(1e-3_f64, |m, f| m.max(f.abs()));
    // Empty for an LP.
    let q = &params.Q;
    if !q.is_empty() {
        for i in 0..n {
            let f: f64 = (0..n).map(|j| (q[i * n + j] + q[j * n + i]) * x[j]).sum();
            scale = scale.max(f.abs());
            force[i] -= f;
        }
    }
    let mut side = |row: &[f64], limit: f64, sign: f64, price: f64| {
        let z = sign * (row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - limit);
        let lambda = sign * price * hinge_slope(z, k);
        for j in 0..n {
            force[j] -= lambda * row[j];
            scale = scale.max((lambda * row[j]).abs());
        }
    };
    let v = &multipliers.values;
    for i in 0..params.d.len() {
        let row = &params.C[i * n..(i + 1) * n];
        side(row, params.d[i], 1.0, params.alpha[i]);
        side(row, params.d[i], -1.0, params.under[i]);
    }
    // A row that is stated again, or with a limit that says nothing new, is no other row: the tightest counts, once.
    let same = |m: &[f64], i: usize, j: usize| m[i * n..(i + 1) * n] == m[j * n..(j + 1) * n];
    for i in 0..params.b.len() {
        let beats = |j: usize| params.b[j] < params.b[i] || (params.b[j] == params.b[i] && j < i);
        if !(0..params.b.len()).any(|j| same(&params.A, i, j) && beats(j)) {
            side(&params.A[i * n..(i + 1) * n], params.b[i], 1.0, v.at_most[i]);
        }
    }
    for i in 0..params.c.len() {
        let row = &params.B[i * n..(i + 1) * n];
        if (0..i).any(|j| same(&params.B, i, j) && params.c[i] == params.c[j]) {
            continue;
        }
        side(row, params.c[i], 1.0, v.equal[i]);
        side(row, params.c[i], -1.0, v.equal[i]);
    }
    for j in 0..n {
        let unit: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == j))).collect();
        if params.lower[j].is_finite() {
            side(&unit, params.lower[j], -1.0, v.lower[j]);
        }
        if params.upper[j].is_finite() {
            side(&unit, params.upper[j], 1.0, v.upper[j]);
        }
    }
    force.iter().fold(0.0_f64, |m, f| m.max(f.abs())) / scale
}

fn softened(recipe: &Recipe, k: f64) -> Option<(Problem, Multipliers, Surrogate)> {
    let problem = recipe.build();
    let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()]).ok()?;
    let options = SurrogateOptions::with_k(k);
    let surrogate = Surrogate::new(&problem, &multipliers, &options).unwrap();
    Some((problem, multipliers, surrogate))
}

const SHARPNESS: [f64; 5] = [0.2, 1.0, 5.0, 25.0, 125.0];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, max_shrink_iters: 0, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(2021), ..ProptestConfig::default() })]

    #[test]
    fn smooth_optimum_is_stationary(seed in 0u64..1_000_000, k in 0usize..5) {
        let recipe = Recipe { scaled: false, ..Recipe::from_seed(seed) };
        let Some((problem, multipliers, surrogate)) = softened(&recipe, SHARPNESS[k]) else { return Ok(()) };
        let params = Params::of(&problem);
        let solution = surrogate.solve(&Instance::default()).unwrap();
        prop_assert!(solution.is_optimal(), "{:?} {recipe:?}", solution.status);
        prop_assert!(solution.residual <= 1e-9, "residual {}", solution.residual);
        if solution.status == SurrogateStatus::Optimal {
            let by_hand = stationarity(&problem, &params, &multipliers, SHARPNESS[k], solution.x());
            prop_assert!(by_hand <= 1e-8, "{by_hand} {recipe:?}");
        }
    }

    #[test]
    fn warm_equals_cold_whatever_moved(seed in 0u64..1_000_000, k in 0usize..5) {
        let recipe = Recipe { scaled: false, bounds: 1, quadratic: 1, ..Recipe::from_seed(seed) };
        let Some((problem, _, surrogate)) = softened(&recipe, SHARPNESS[k]) else { return Ok(()) };
        let mut params = Params::of(&problem);
        let mut store = Store::with_budget(1 << 20);
        let mut r = rng(seed);
        for step in 0..6 {
            // θ alone keeps the factor; then the limits, then the rows themselves.
            let names: &[&str] = match step % 3 { 0 => &["theta"], 1 => &["theta", "d", "b"], _ => &["C", "A", "alpha"] };
            for name in names {
                for v in params.part(name) {
                    *v += 0.03 * (r.random::<f64>() - if *name == "alpha" { 0.0 } else { 0.5 });
                }
            }
            let theta_only = Instance::theta(&params.theta);
            let instance = if step == 0 { theta_only } else { params.instance() };
            let warm = surrogate.solve_batch_warm(&[instance], &[3], &mut store).pop().unwrap().unwrap();
            let cold = surrogate.solve(&instance).unwrap();
            prop_assert_eq!(&warm.status, &cold.status);
            // Rows that moved may not hold together any more.
            if !cold.is_optimal() {
                continue;
            }
            for (w, c) in warm.x().iter().zip(cold.x()) {
                close!(*w, *c, 1e-7, "step {step} {recipe:?}");
            }
        }
    }

    #[test]
    fn sharper_surrogates_approach_the_exact_optimum(seed in 0u64..1_000_000) {
        let recipe = Recipe { scaled: false, ..Recipe::from_seed(seed) };
        let Some((problem, multipliers, surrogate)) = softened(&recipe, 1e6) else { return Ok(()) };
        prop_assume!(multipliers.certificate.holds());
        let exact = Oracle::new(&problem).solve(&Instance::default()).unwrap();
        let smooth = surrogate.solve(&Instance::default()).unwrap();
        let view = problem.view(&Instance::default()).unwrap();
        prop_assert!(smooth.is_optimal());
        prop_assert!(view.violation(smooth.x()) <= 1e-4);
        close!(smooth.objective, exact.objective, 1e-4, "{recipe:?}");
    }

    #[test]
    fn softening_changes_nothing_while_the_certificate_holds(seed in 0u64..1_000_000, spread in 0.0f64..0.5) {
        let recipe = Recipe { scaled: false, bounds: 1, ..Recipe::from_seed(seed) };
        let problem = recipe.build();
        let mut r = rng(seed);
        let thetas: Vec<Vec<f64>> = (0..4)
            .map(|_| problem.theta().iter().map(|t| t + spread * (r.random::<f64>() - 0.5)).collect())
            .collect();
        let instances: Vec<Instance> = thetas.iter().map(|t| Instance::theta(t)).collect();
        let multipliers = Multipliers::choose(&problem, &Rule::default(), &instances).unwrap();
        prop_assert!(multipliers.certificate.holds(), "{:?}", multipliers.certificate);
        prop_assert_eq!(multipliers.certificate.without_optimum, 0);
    }
}

/// Every hard row and bound as a soft row with its penalty as price, on free variables.
fn softened_by_hand(problem: &Problem, v: &RowValues) -> Problem {
    let n = problem.n();
    let soft = problem.soft();
    let start = if problem.sense() == Sense::Max { Problem::maximize(n) } else { Problem::minimize(n) };
    let mut builder = start
        .linear(problem.theta())
        .free()
        .soft("soft", Soft::both(soft.C.clone(), soft.d.clone(), soft.alpha.clone(), soft.under.clone()))
        .soft(
            "A",
            Soft::over(problem.at_most().rows.clone(), problem.at_most().rhs.clone(), v.at_most.clone()),
        )
        .soft(
            "B",
            Soft::both(
                problem.equal().rows.clone(),
                problem.equal().rhs.clone(),
                v.equal.clone(),
                v.equal.clone(),
            ),
        );
    if let Some(q) = problem.Q() {
        builder = builder.quadratic(q.clone());
    }
    for j in 0..n {
        let unit = |sign: f64| Matrix::from_fn(1, n, |_, k| if j == k { sign } else { 0.0 });
        let (l, u) = (problem.lower()[j], problem.upper()[j]);
        if l.is_finite() {
            builder = builder.soft(format!("l{j}"), Soft::over(unit(-1.0), [-l], [v.lower[j]]));
        }
        if u.is_finite() {
            builder = builder.soft(format!("u{j}"), Soft::over(unit(1.0), [u], [v.upper[j]]));
        }
    }
    builder.build().unwrap()
}

#[test]
fn the_softened_problem_has_the_original_optimum() {
    let mut held = 0;
    for seed in 0..400 {
        let problem = Recipe { scaled: false, ..Recipe::from_seed(seed) }.build();
        let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()]).unwrap();
        if !multipliers.certificate.holds() {
            continue;
        }
        held += 1;
        let original = Oracle::new(&problem).solve(&Instance::default()).unwrap();
        let by_hand = softened_by_hand(&problem, &multipliers.values);
        let softened = Oracle::new(&by_hand).solve(&Instance::default()).unwrap();
        assert!(softened.is_optimal());
        close!(softened.objective, original.objective, 1e-7, "seed {seed}");
        let view = problem.view(&Instance::default()).unwrap();
        assert!(view.violation(&softened.x) <= 1e-6, "seed {seed}");
    }
    assert!(held >= 395, "{held}");
}

#[test]
fn a_store_may_be_shared_and_outlive_its_surrogate() {
    let recipe =
        Recipe { n: 8, soft: 4, at_most: 5, equal: 1, bounds: 1, quadratic: 0, ..Recipe::from_seed(77) };
    let (problem, multipliers, smooth) = softened(&recipe, 5.0).unwrap();
    let with = |k: f64, segments| {
        Surrogate::new(&problem, &multipliers, &SurrogateOptions { segments, ..SurrogateOptions::with_k(k) })
            .unwrap()
    };
    let (sharp, vertex) = (with(50.0, Segments::Smooth), with(5.0, Segments::Vertex));
    let oracle = Oracle::new(&problem);
    let mut store = Store::with_budget(1 << 20);
    let mut r = rng(1);
    for _ in 0..20 {
        let theta: Vec<f64> = problem.theta().iter().map(|t| t + 0.2 * common::normal(&mut r)).collect();
        let instance = [Instance::theta(&theta)];
        let exact = oracle.solve_batch_warm(&instance, &[1], &mut store).pop().unwrap().unwrap();
        close!(exact.objective, oracle.solve(&instance[0]).unwrap().objective, 1e-9);
        for surrogate in [&smooth, &sharp, &vertex, &sharp] {
            let warm = surrogate.solve_batch_warm(&instance, &[1], &mut store).pop().unwrap().unwrap();
            let cold = surrogate.solve(&instance[0]).unwrap();
            assert!(warm.is_optimal() && cold.is_optimal());
            warm.x().iter().zip(cold.x()).for_each(|(w, c)| close!(*w, *c, 1e-7));
        }
    }
}

#[test]
fn batches_are_bit_equal_to_loops_for_any_number_of_threads() {
    let recipe =
        Recipe { n: 9, soft: 5, at_most: 7, equal: 1, quadratic: 0, bounds: 1, ..Recipe::from_seed(5) };
    let (problem, _, surrogate) = softened(&recipe, 5.0).unwrap();
    let mut r = rng(11);
    let thetas: Vec<Vec<f64>> = (0..200).map(|_| common::vector(&mut r, problem.n())).collect();
    let instances: Vec<Instance> = thetas.iter().map(|t| Instance::theta(t)).collect();
    let ids: Vec<u64> = (0..200).collect();
    let run = |threads: usize| {
        Par::new(threads).unwrap().run(|| {
            let mut store = Store::with_budget(100_000);
            let mut all = Vec::new();
            for _ in 0..3 {
                for solution in surrogate.solve_batch_warm(&instances, &ids, &mut store) {
                    let solution = solution.unwrap();
                    all.extend_from_slice(solution.x());
                    all.extend(solution.vjp(&vec![1.0; problem.n()]).parameters.theta);
                }
            }
            all
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(5));
    let solved: Vec<Solution> = surrogate.solve_batch(&instances).into_iter().map(Result::unwrap).collect();
    let upstream: Vec<Vec<f64>> = thetas.clone();
    let batch = Solution::vjp_batch(&solved, &upstream);
    assert!(batch.iter().zip(&solved).zip(&upstream).all(|((b, s), g)| *b == s.vjp(g)));
    let tangents: Vec<_> = batch
        .iter()
        .zip(&solved)
        .map(|(b, s)| {
            let mut tangent = s.zero_tangent();
            tangent.theta.clone_from(&b.theta);
            tangent
        })
        .collect();
    let moved = Solution::jvp_batch(&solved, &tangents);
    assert!(moved.iter().zip(&solved).zip(&tangents).all(|((m, s), t)| *m == s.jvp(t)));
    let first: Vec<f64> = instances.iter().flat_map(|i| surrogate.solve(i).unwrap().x().to_vec()).collect();
    let batch: Vec<f64> =
        surrogate.solve_batch(&instances).into_iter().flat_map(|s| s.unwrap().x().to_vec()).collect();
    assert!(first == batch);
}

#[test]
fn one_bad_instance_does_not_harm_the_others() {
    let recipe = Recipe { n: 6, soft: 3, at_most: 4, equal: 0, bounds: 1, ..Recipe::from_seed(8) };
    let (problem, _, surrogate) = softened(&recipe, 5.0).unwrap();
    let good = problem.theta().to_vec();
    let bad = vec![f64::NAN; problem.n()];
    let short = vec![0.0; problem.n() - 1];
    let instances =
        [Instance::theta(&good), Instance::theta(&bad), Instance::theta(&short), Instance::theta(&good)];
    let solved = surrogate.solve_batch(&instances);
    assert!(matches!(solved[1], Err(ProblemError::NotFinite { .. })));
    assert!(matches!(solved[2], Err(ProblemError::Length { .. })));
    assert_eq!(solved[0].as_ref().unwrap().x(), solved[3].as_ref().unwrap().x());
}

#[test]
fn a_multiplier_that_is_too_small_is_reported_and_repaired() {
    // x ≤ 1 with θ = 3: a penalty of 1 cannot hold it.
    let problem = Problem::maximize(1)
        .linear([3.0])
        .at_most("cap", Matrix::from_rows(&[[1.0]]), [1.0])
        .build()
        .unwrap();
    let mut multipliers =
        Multipliers::choose(&problem, &Rule::Constant(1.0), &[Instance::default()]).unwrap();
    assert!(!multipliers.certificate.holds());
    assert_eq!(multipliers.certificate.unbounded, 1);
    let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(5.0)).unwrap();
    let solution = surrogate.solve(&Instance::default()).unwrap();
    assert!(matches!(solution.status, SurrogateStatus::Uncapped { .. }), "{:?}", solution.status);
    assert!(solution.x()[0] < 1.5);
    multipliers.raise(&[RowId::AtMost(0), RowId::AtMost(0)]);
    assert_eq!(multipliers.values.at_most, [4.0]);
    assert_eq!(multipliers.raised, [(RowId::AtMost(0), 2.0), (RowId::AtMost(0), 4.0)]);
    let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(5.0)).unwrap();
    assert_eq!(surrogate.solve(&Instance::default()).unwrap().status, SurrogateStatus::Optimal);
}

#[test]
fn an_infeasible_instance_is_never_called_optimal() {
    let problem = Problem::minimize(2)
        .linear([1.0, 2.0])
        .equal("demand", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
        .upper([1.0, 1.0])
        .build()
        .unwrap();
    let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()]).unwrap();
    let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(5.0)).unwrap();
    let too_much = Instance { c: Some(&[5.0]), ..Instance::default() };
    let solution = surrogate.solve(&too_much).unwrap();
    assert!(!solution.is_optimal());
    let SurrogateStatus::Infeasible { rows } = &solution.status else { panic!("{:?}", solution.status) };
    assert_eq!(*rows, [RowId::Equal(0), RowId::Upper(0), RowId::Upper(1)]);
    assert!(solution.vjp(&[1.0, 1.0]).c[0].is_finite());
}

#[test]
fn a_store_keeps_factors_within_its_budget() {
    let recipe =
        Recipe { n: 10, soft: 5, at_most: 5, equal: 0, bounds: 1, quadratic: 0, ..Recipe::from_seed(21) };
    let problem = recipe.build();
    let thetas: Vec<Vec<f64>> = (0..50).map(|s| common::vector(&mut rng(s), problem.n())).collect();
    let instances: Vec<Instance> = thetas.iter().map(|t| Instance::theta(t)).collect();
    let multipliers = Multipliers::choose(&problem, &Rule::default(), &instances).unwrap();
    let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(5.0)).unwrap();
    let ids: Vec<u64> = (0..50).rev().collect();
    let (mut large, mut small, mut tiny) =
        (Store::with_budget(1 << 20), Store::with_budget(70_000), Store::with_budget(5_000));
    let mut answers = Vec::new();
    for store in [&mut large, &mut small, &mut tiny] {
        let mut x = Vec::new();
        for _ in 0..2 {
            let solved = surrogate.solve_batch_warm(&instances, &ids, store);
            x = solved.into_iter().flat_map(|s| s.unwrap().x().to_vec()).collect();
        }
        answers.push(x);
    }
    assert_eq!((large.len(), large.factors()), (50, 50));
    assert!(small.len() == 50 && (1..50).contains(&small.factors()), "{} {}", small.len(), small.factors());
    assert!(tiny.len() < 50);
    for (a, b) in answers[0].iter().zip(answers[1].iter().zip(&answers[2])) {
        close!(*a, *b.0, 1e-9);
        close!(*a, *b.1, 1e-9);
    }
}

/// What is feasible for one θ is so for all, and is not looked at again; other rows are.
#[test]
fn small_penalties_are_told_from_rows_that_cannot_hold() {
    let problem = Problem::maximize(2)
        .at_most("both", Matrix::from_rows(&[[1.0, 1.0]]), [4.0])
        .at_most("first", Matrix::from_rows(&[[1.0, 0.0]]), [3.0])
        .build()
        .unwrap();
    let multipliers = Multipliers::given(RowValues::constant(problem.shape(), 1.0));
    let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(5.0)).unwrap();
    // By hand, with λ = ½ + 10z and no cap: of [5, 3], λ = 3 on both and 2 on the first, so z = 0.25 and 0.15.
    for (theta, x) in [([5.0, 3.0], [3.15, 1.1]), ([2.0, 7.0], [-0.45, 5.1]), ([9.0, 0.5], [3.8, 0.2])] {
        let found = surrogate.solve(&Instance::theta(&theta)).unwrap();
        assert!(matches!(found.status, SurrogateStatus::Uncapped { .. }), "{:?}", found.status);
        for (found, x) in found.x().iter().zip(x) {
            assert!((found - x).abs() < 1e-12, "{found} {x}");
        }
        let none = Instance { b: Some(&[-1.0, 3.0]), ..Instance::theta(&theta) };
        let found = surrogate.solve(&none).unwrap();
        assert!(matches!(found.status, SurrogateStatus::Infeasible { .. }), "{:?}", found.status);
    }
}
