//! Problems found by trying to break the engine, kept so that they stay mended.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use regretless_core::*;

fn optimum(problem: &Problem) -> Optimum {
    Oracle::new(problem).solve(&Instance::default()).unwrap()
}

#[test]
fn bounds_that_appear_and_vanish_by_override() {
    let problem = Problem::maximize(1)
        .linear([1.0])
        .soft("s", Soft::over(Matrix::from_rows(&[[10.0]]), [10.0], [0.2]))
        .upper([10.0])
        .build()
        .unwrap();
    let oracle = Oracle::new(&problem);
    let (infinite, free) = ([f64::INFINITY], [f64::NEG_INFINITY]);
    for _ in 0..2 {
        for instance in [
            Instance { upper: Some(&infinite), ..Instance::default() },
            Instance { lower: Some(&free), ..Instance::default() },
            Instance::default(),
        ] {
            let optimum = oracle.solve(&instance).unwrap();
            close!(optimum.x[0], 1.0, 1e-9, "{:?}", optimum.status);
            close!(optimum.objective, 1.0, 1e-9);
        }
    }
}

#[test]
fn a_huge_slack_bound_does_not_set_the_scale() {
    for huge in [1e6, 1e9, 1e11, 1e12] {
        let parabola = Problem::maximize(1)
            .linear([1.0])
            .quadratic(Matrix::from_rows(&[[1e4]]))
            .upper([huge])
            .build()
            .unwrap();
        close!(optimum(&parabola).x[0] * 1e5, 5.0, 1e-7, "{huge}");
        let boxed = Problem::maximize(2)
            .linear([1.0, 1.0])
            .at_most("a", Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]), [1.0, 1.0])
            .upper([huge, f64::INFINITY])
            .build()
            .unwrap();
        let x = optimum(&boxed).x;
        assert!((x[0] - 1.0).abs() < 1e-9 && (x[1] - 1.0).abs() < 1e-9, "{huge}: {x:?}");
        let soft = Problem::maximize(2)
            .linear([3.0, 2.0])
            .at_most("land", Matrix::from_rows(&[[1.0, 1.0]]), [8.0])
            .soft("water", Soft::over(Matrix::from_rows(&[[2.0, 1.0]]), [10.0], [0.6]))
            .upper([huge, huge])
            .build()
            .unwrap();
        close!(optimum(&soft).objective, 20.4, 1e-9, "{huge}");
    }
}

#[test]
fn nothing_pulls() {
    for (lower, upper) in [(0.0, f64::INFINITY), (f64::NEG_INFINITY, 2.0), (-1.0, 1.0)] {
        let bowl = Problem::maximize(1)
            .linear([0.0])
            .quadratic(Matrix::from_rows(&[[1.0]]))
            .lower([lower])
            .upper([upper])
            .build()
            .unwrap();
        let optimum = optimum(&bowl);
        assert!(optimum.is_optimal(), "{:?}", optimum.status);
        assert!(optimum.x[0].abs() < 1e-9, "{:?}", optimum.x);
        let multipliers = Multipliers::choose(&bowl, &Rule::default(), &[Instance::default()]).unwrap();
        assert!(multipliers.certificate.holds(), "{:?}", multipliers.certificate);
    }
    let bowl = Problem::maximize(2)
        .quadratic(Matrix::from_rows(&[[0.97, 0.19], [0.19, 0.75]]))
        .free()
        .upper([2.0, 2.0])
        .build()
        .unwrap();
    let multipliers = Multipliers::choose(&bowl, &Rule::Constant(20.0), &[Instance::default()]).unwrap();
    let solution = Surrogate::new(&bowl, &multipliers, &SurrogateOptions::with_k(5.0))
        .unwrap()
        .solve(&Instance::default())
        .unwrap();
    assert_eq!(solution.status, SurrogateStatus::Optimal);
    assert!(solution.x().iter().all(|x| x.abs() < 1e-9));
}

#[test]
fn claims_without_proof_are_not_made() {
    let boxed = Problem::maximize(2).linear([1e18, 1.0]).upper([1.0, 1.0]).build().unwrap();
    let answer = optimum(&boxed);
    assert!(matches!(answer.status, Status::Optimal | Status::NumericalTrouble), "{:?}", answer.status);
    let thin = Problem::minimize(1)
        .linear([0.55e10])
        .at_most("a", Matrix::from_rows(&[[-0.234]]), [0.298])
        .upper([1e-9])
        .build()
        .unwrap();
    let answer = optimum(&thin);
    assert!(matches!(answer.status, Status::Optimal | Status::NumericalTrouble), "{:?}", answer.status);
}

#[test]
fn no_number_that_is_not_one_leaves() {
    let problem = Problem::minimize(1)
        .linear([2.48e-13])
        .quadratic(Matrix::from_rows(&[[189_565.0]]))
        .soft("s", Soft::over(Matrix::from_rows(&[[-1.48]]), [0.0], [1.72]))
        .at_most("a", Matrix::from_rows(&[[0.147]]), [0.0])
        .build()
        .unwrap();
    let answer = optimum(&problem);
    let m = &answer.multipliers;
    let all = [&answer.x, &m.soft, &m.at_most, &m.lower, &m.upper];
    assert!(all.into_iter().flatten().all(|v| v.is_finite()), "{answer:?}");
}

#[test]
fn rounding_is_not_a_binding_row() {
    // A maximum flow: 8 nodes, source 0, sink 7, all of it degenerate.
    let edges = [(0, 4), (1, 2), (1, 6), (2, 1), (2, 6), (3, 2), (3, 7), (4, 1), (6, 1), (6, 3)];
    let caps = [4.0, 2.0, 3.0, 2.0, 1.0, 2.0, 3.0, 1.0, 4.0, 4.0];
    let inner: Vec<usize> = (1..7).collect();
    let balance = Matrix::from_fn(inner.len(), edges.len(), |i, e| {
        let (from, to) = edges[e];
        f64::from(i8::from(to == inner[i]) - i8::from(from == inner[i]))
    });
    let gain: Vec<f64> = edges.iter().map(|(_, to)| f64::from(u8::from(*to == 7))).collect();
    let problem = Problem::maximize(edges.len())
        .linear(gain)
        .equal("balance", balance, vec![0.0; 6])
        .upper(caps)
        .build()
        .unwrap();
    close!(optimum(&problem).objective, 1.0, 1e-9);
    let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()]).unwrap();
    assert!(multipliers.certificate.holds(), "{:?} {}", multipliers.certificate, multipliers.explanation);
}

#[test]
fn values_by_row_have_the_sizes_of_their_kinds() {
    let problem =
        Problem::maximize(1).linear([1.0]).at_most("a", Matrix::from_rows(&[[1.0]]), [1.0]).build().unwrap();
    let mut values = RowValues::constant(problem.shape(), 3.0);
    values.at_most.clear();
    values.upper.push(3.0);
    let refused = Multipliers::choose(&problem, &Rule::PerRow(values.clone()), &[Instance::default()]);
    assert!(matches!(refused, Err(MultiplierError::Problem(ProblemError::Length { .. }))));
    let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()]).unwrap();
    let options = SurrogateOptions { k_rows: Some(values), ..SurrogateOptions::with_k(5.0) };
    assert!(matches!(Surrogate::new(&problem, &multipliers, &options), Err(ProblemError::Length { .. })));
}

#[test]
fn an_lp_with_little_or_nothing_to_gain_still_has_a_vertex() {
    use rand::RngExt;
    for seed in 0..2000 {
        let mut r = common::rng(seed);
        let n = r.random_range(1..10);
        let (m, s) = (r.random_range(0..4), r.random_range(0..3));
        let mut sparse = |rows: usize, zeros: f64| {
            Matrix::from_fn(rows, n, |_, _| if r.random_bool(zeros) { 0.0 } else { common::normal(&mut r) })
        };
        let (a, c) = (sparse(m, 0.5), sparse(s, 0.7));
        let theta: Vec<f64> =
            (0..n).map(|_| if r.random_bool(0.7) { 0.0 } else { -r.random::<f64>() }).collect();
        let b: Vec<f64> = (0..m).map(|_| r.random()).collect();
        let d: Vec<f64> =
            (0..s).map(|_| if r.random_bool(0.5) { 0.0 } else { common::normal(&mut r) }).collect();
        let prices: Vec<f64> = (0..s).map(|_| r.random()).collect();
        let problem = Problem::maximize(n)
            .linear(theta)
            .at_most("a", a, b)
            .soft("s", Soft::over(c, d, prices))
            .build()
            .unwrap();
        let answer = optimum(&problem);
        assert!(answer.is_optimal() && !answer.rank_deficient, "seed {seed}: {:?}", answer.status);
        assert_eq!(answer.basis(&problem.view(&Instance::default()).unwrap()).len(), n, "seed {seed}");
    }
}

/// Rows that differ by a hair meet somewhere: the point they were made to meet at satisfies both.
#[test]
fn nearly_parallel_rows_are_not_called_infeasible() {
    for hair in [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9] {
        for tilt in [1.0, 0.37, 2.9] {
            let rows = [[1.0, tilt], [1.0, tilt * (1.0 + hair)]];
            let meets = |row: [f64; 2]| 0.9 * row[0] + 1.1 * row[1];
            let problem = Problem::maximize(2)
                .linear([1.0, 2.0])
                .equal("pair", Matrix::from_rows(&rows), [meets(rows[0]), meets(rows[1])])
                .upper([10.0, 10.0])
                .build()
                .unwrap();
            let found = optimum(&problem);
            let infeasible = matches!(found.status, Status::Infeasible { .. } | Status::Unbounded { .. });
            assert!(!infeasible, "{hair} {tilt}: {:?}", found.status);
        }
    }
    // Rows that never meet are, by however little they miss each other.
    for gap in [1.0, 1e-3, 1e-5] {
        let apart = Problem::maximize(2)
            .linear([1.0, 2.0])
            .equal("pair", Matrix::from_rows(&[[1.0, 1.0], [2.0, 2.0]]), [1.0, 2.0 + gap])
            .build()
            .unwrap();
        assert!(matches!(optimum(&apart).status, Status::Infeasible { .. }), "{gap}");
    }
}

/// A residual that is nothing beside the largest θ earns 10 in a box that is 10⁹ wide: no optimum without it.
#[test]
fn a_wide_box_hides_no_gain() {
    for (small, wide) in [(1e-8, 1e9), (1e-6, 1e7), (1e-3, 1e4)] {
        let problem = Problem::maximize(2).linear([1e8, small]).upper([1e-7, wide]).build().unwrap();
        let found = optimum(&problem);
        let best = 10.0 + small * wide;
        assert!(!found.is_optimal() || (found.objective - best).abs() < 1e-6 * best, "{small}: {found:?}");
    }
    // Rounding in a wide box is no gain: this stays an optimum.
    let slack = Problem::maximize(2)
        .linear([0.3, 0.7])
        .at_most("sum", Matrix::from_rows(&[[0.1, 0.3]]), [0.7])
        .upper([1e12, 1e15])
        .build()
        .unwrap();
    assert!(optimum(&slack).is_optimal());
}
