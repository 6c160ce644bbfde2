//! The oracle against Clarabel, against the KKT conditions written out, and against problems solved by hand.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::{Recipe, rng};
use proptest::prelude::*;
use rand::RngExt;
use regretless_core::engine::reference::{self, ReferenceStatus};
use regretless_core::*;

/// KKT conditions of the original problem, written out from its statement.
fn check_kkt(problem: &Problem, optimum: &Optimum, tolerance: f64) {
    let view = problem.view(&Instance::default()).unwrap();
    let (n, x, m) = (problem.n(), &optimum.x, &optimum.multipliers);
    let sign = if problem.sense() == Sense::Max { 1.0 } else { -1.0 };
    let row = |mat: &[f64], i: usize| mat[i * n..(i + 1) * n].to_vec();
    let value = |r: &[f64]| r.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    let mut force: Vec<f64> = problem.theta().iter().map(|t| sign * t).collect();
    let mut size = force.iter().fold(1e-3_f64, |a, t| a.max(t.abs()));
    if let Some(q) = view.quadratic().map(|q| q.dense()) {
        for i in 0..n {
            force[i] -= (0..n).map(|j| (q[i * n + j] + q[j * n + i]) * x[j]).sum::<f64>();
        }
    }
    let big = x.iter().fold(1.0_f64, |a, x| a.max(x.abs()));
    let mut pull = |r: &[f64], l: f64| {
        for j in 0..n {
            force[j] -= l * r[j];
            size = size.max((l * r[j]).abs());
        }
    };
    let feasible = |r: &[f64], z: f64| z / (1e-300 + big * r.iter().fold(0.0_f64, |a, v| a.max(v.abs())));
    for i in 0..view.d.len() {
        let r = row(view.C, i);
        let (z, l) = (value(&r) - view.d[i], m.soft[i]);
        pull(&r, l);
        let (over, under) = (view.alpha[i], view.under[i]);
        assert!(
            l <= over * (1.0 + 1e-9) && l >= -under * (1.0 + 1e-9),
            "soft multiplier {l} outside its caps"
        );
        if feasible(&r, z) > 1e-7 {
            close!(l, over, 1e-7, "over the limit the price is paid in full");
        }
        if feasible(&r, z) < -1e-7 {
            close!(l, -under, 1e-7, "under the limit");
        }
    }
    for i in 0..view.b.len() {
        let r = row(view.A, i);
        let (z, l) = (value(&r) - view.b[i], m.at_most[i]);
        pull(&r, l);
        assert!(l >= 0.0, "negative multiplier {l}");
        assert!(feasible(&r, z) <= 1e-8, "row {i} violated by {z}");
        assert!(l == 0.0 || feasible(&r, z).abs() < 1e-7, "slack row {i} has multiplier {l}");
    }
    for i in 0..view.c.len() {
        let r = row(view.B, i);
        pull(&r, m.equal[i]);
        assert!(feasible(&r, value(&r) - view.c[i]).abs() <= 1e-8, "equality {i} violated");
    }
    for j in 0..n {
        let unit: Vec<f64> = (0..n).map(|k| f64::from(u8::from(j == k))).collect();
        pull(&unit, m.upper[j] - m.lower[j]);
        assert!(m.lower[j] >= 0.0 && m.upper[j] >= 0.0);
        assert!(x[j] >= view.lower[j] - 1e-8 * big && x[j] <= view.upper[j] + 1e-8 * big, "bound of {j}");
        assert!(m.lower[j] == 0.0 || (x[j] - view.lower[j]).abs() < 1e-7 * big);
        assert!(m.upper[j] == 0.0 || (x[j] - view.upper[j]).abs() < 1e-7 * big);
    }
    let worst = force.iter().fold(0.0_f64, |a, f| a.max(f.abs()));
    assert!(worst <= tolerance * size, "stationarity {worst} of {size}");
}

/// Dual objective: bᵀλ + cᵀμ + dᵀλ_soft − lᵀλ_lower + uᵀλ_upper + xᵀQx equals the gain.
fn check_strong_duality(problem: &Problem, optimum: &Optimum) {
    let view = problem.view(&Instance::default()).unwrap();
    let m = &optimum.multipliers;
    let n = problem.n();
    let sum =
        |l: &[f64], r: &[f64]| l.iter().zip(r).filter(|(l, _)| **l != 0.0).map(|(l, r)| l * r).sum::<f64>();
    let mut dual = sum(&m.soft, view.d) + sum(&m.at_most, view.b) + sum(&m.equal, view.c);
    dual += sum(&m.upper, view.upper) - sum(&m.lower, view.lower);
    if let Some(q) = view.quadratic().map(|q| q.dense()) {
        for i in 0..n {
            for j in 0..n {
                dual += q[i * n + j] * optimum.x[i] * optimum.x[j];
            }
        }
    }
    let gain = if problem.sense() == Sense::Max { optimum.objective } else { -optimum.objective };
    let size = 1.0 + sum(&m.at_most, view.b).abs() + sum(&m.soft, view.d).abs() + sum(&m.equal, view.c).abs();
    assert!((dual - gain).abs() <= 1e-7 * size, "duality gap: {dual} vs {gain}");
}

/// The basis of an LP: n independent rows, all at equality.
fn check_basic(problem: &Problem, optimum: &Optimum) {
    if !problem.is_linear() || optimum.rank_deficient {
        return;
    }
    assert_eq!(
        optimum.basis(&problem.view(&Instance::default()).unwrap()).len(),
        problem.n(),
        "an LP optimum is a vertex"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, max_shrink_iters: 0, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(2021), ..ProptestConfig::default() })]
    #[test]
    fn native_agrees_with_the_reference(seed in 0u64..1_000_000) {
        let recipe = Recipe::from_seed(seed);
        let problem = recipe.build();
        let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
        prop_assert!(optimum.is_optimal(), "{:?} for {recipe:?}", optimum.status);
        check_kkt(&problem, &optimum, 1e-7);
        check_strong_duality(&problem, &optimum);
        check_basic(&problem, &optimum);
        let view = problem.view(&Instance::default()).unwrap();
        if !recipe.scaled {
            let reference = reference::solve(&view);
            if reference.status == ReferenceStatus::Solved {
                let other = view.objective(&reference.x);
                close!(optimum.objective, other, 1e-5, "{recipe:?}");
            }
        }
    }

    #[test]
    fn warm_equals_cold(seed in 0u64..1_000_000) {
        let recipe = Recipe { bounds: 1, ..Recipe::from_seed(seed) };
        let problem = recipe.build();
        let oracle = Oracle::new(&problem);
        let mut store = Store::with_budget(1 << 20);
        let mut r = rng(seed);
        let mut theta = problem.theta().to_vec();
        for _ in 0..4 {
            let warm = oracle.solve_batch_warm(&[Instance::theta(&theta)], &[7], &mut store).pop().unwrap().unwrap();
            let cold = oracle.solve(&Instance::theta(&theta)).unwrap();
            prop_assert!(warm.is_optimal() && cold.is_optimal());
            close!(warm.objective, cold.objective, 1e-8);
            theta.iter_mut().for_each(|t| *t += 0.1 * (r.random::<f64>() - 0.5));
        }
    }

    #[test]
    fn infeasible_rows_are_named(seed in 0u64..1_000_000) {
        let recipe = Recipe { at_most: 3, scaled: false, ..Recipe::from_seed(seed) };
        let mut r = rng(seed);
        let n = recipe.n;
        let a = common::matrix(&mut r, 1, n);
        prop_assume!(a.as_slice().iter().any(|v| v.abs() > 0.05));
        let negated = Matrix::from_fn(1, n, |_, j| -a[(0, j)]);
        let builder = Problem::maximize(n).linear(common::vector(&mut r, n)).free()
            .at_most("other", common::matrix(&mut r, 2, n), vec![100.0, 100.0])
            .at_most("up", a, vec![1.0])
            .at_most("down", negated, vec![-1.5]);
        let problem = builder.build().unwrap();
        let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
        match optimum.status {
            Status::Infeasible { rows } => {
                prop_assert_eq!(rows, vec![RowId::AtMost(2), RowId::AtMost(3)]);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn unbounded_problems_have_a_ray(seed in 0u64..1_000_000) {
        let mut r = rng(seed);
        let n = r.random_range(1..8);
        let m = r.random_range(0..4);
        // Rows that allow growth along a planted direction.
        let direction: Vec<f64> = (0..n).map(|_| r.random::<f64>() + 0.1).collect();
        let a = Matrix::from_fn(m, n, |_, _| -r.random::<f64>());
        let soft = Matrix::from_fn(1, n, |_, _| r.random::<f64>());
        let theta: Vec<f64> = direction.iter().map(|d| 1.0 + d).collect();
        let problem = Problem::maximize(n).linear(theta.clone())
            .at_most("a", a, vec![1.0; m])
            .soft("s", Soft::over(soft, [1.0], [0.01]))
            .build().unwrap();
        let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
        let Status::Unbounded { ray } = &optimum.status else { panic!("{:?}", optimum.status) };
        let view = problem.view(&Instance::default()).unwrap();
        let far: Vec<f64> = optimum.x.iter().zip(ray).map(|(x, r)| x + 1e3 * r).collect();
        let farther: Vec<f64> = optimum.x.iter().zip(ray).map(|(x, r)| x + 2e3 * r).collect();
        prop_assert!(view.objective(&farther) > view.objective(&far) + 1e-3);
        prop_assert!(ray.iter().all(|r| *r >= -1e-9));
    }
}

#[test]
fn a_problem_solved_by_hand() {
    // max 3x + 2y, x + y ≤ 8, 2x + y above 10 costs 0.5 a unit: leaving (2, 6) towards (8, 0) gains 1 and pays 0.5.
    let problem = Problem::maximize(2)
        .linear([3.0, 2.0])
        .at_most("land", Matrix::from_rows(&[[1.0, 1.0]]), [8.0])
        .soft("water", Soft::over(Matrix::from_rows(&[[2.0, 1.0]]), [10.0], [0.5]))
        .build()
        .unwrap();
    let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
    close!(optimum.x[0], 8.0, 1e-12);
    close!(optimum.x[1], 0.0, 1e-12);
    close!(optimum.objective, 24.0 - 0.5 * 6.0, 1e-12);
    close!(optimum.multipliers.soft[0], 0.5, 1e-12);
    close!(optimum.multipliers.at_most[0], 2.0, 1e-12);
    close!(optimum.multipliers.lower[1], 0.5, 1e-12);
}

#[test]
fn rank_deficient_problems_return_the_minimum_norm_optimum() {
    // Only x₀ + x₁ is seen: the optimum is a line, its point nearest to 0 is (2, 2).
    let problem = Problem::maximize(2)
        .free()
        .linear([1.0, 1.0])
        .at_most("sum", Matrix::from_rows(&[[1.0, 1.0]]), [4.0])
        .build()
        .unwrap();
    let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
    assert!(optimum.is_optimal() && optimum.rank_deficient);
    close!(optimum.x[0], 2.0, 1e-9);
    close!(optimum.x[1], 2.0, 1e-9);
    assert_eq!(optimum.active, [RowId::AtMost(0)]);
}

#[test]
fn equality_only_and_zero_width_boxes() {
    let problem = Problem::minimize(3)
        .linear([0.0; 3])
        .quadratic(Matrix::from_rows(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
        .free()
        .equal("sum", Matrix::from_rows(&[[1.0, 1.0, 1.0]]), [3.0])
        .build()
        .unwrap();
    let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
    optimum.x.iter().for_each(|x| close!(*x, 1.0, 1e-9));
    close!(optimum.objective, 3.0, 1e-9);

    let fixed = Problem::maximize(2).linear([1.0, -1.0]).lower([2.0, 3.0]).upper([2.0, 3.0]).build().unwrap();
    let optimum = Oracle::new(&fixed).solve(&Instance::default()).unwrap();
    assert_eq!(optimum.x, [2.0, 3.0]);
    close!(optimum.multipliers.upper[0], 1.0, 1e-9);
    close!(optimum.multipliers.lower[1], 1.0, 1e-9);
}
