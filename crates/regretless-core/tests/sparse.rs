//! Problems stated by their coefficients alone, against the same problems stated dense.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, non_snake_case, reason = "tests fail loudly")]

mod common;

use common::cases::{Case, near, options, parts, placements, problem};
use common::{Recipe, rng, sparse, vector};
use proptest::prelude::*;
use regretless_core::problem::ByParameter;
use regretless_core::*;

/// Values in the sparse pattern as values of the dense problem.
fn spread(dense: &Problem, own: &Problem, parameter: Parameter, values: &[f64]) -> Vec<f64> {
    let Some(pattern) = parameter.pattern(own) else { return values.to_vec() };
    let mut out = vec![0.0; parameter.entries(dense)];
    for (entry, value) in values.iter().enumerate() {
        let (i, j) = pattern.place(entry);
        out[i * own.n() + j] = *value;
    }
    out
}

/// Those of the dense problem's values that the sparse pattern stores.
fn picked(own: &Problem, parameter: Parameter, values: &[f64]) -> Vec<f64> {
    let Some(pattern) = parameter.pattern(own) else { return values.to_vec() };
    let at = |entry| {
        let (i, j) = pattern.place(entry);
        values[i * own.n() + j]
    };
    (0..if values.is_empty() { 0 } else { pattern.entries() }).map(at).collect()
}

fn same(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = b.iter().filter(|b| b.is_finite()).fold(1.0_f64, |m, b| m.max(b.abs()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!(a == b || (a - b).abs() <= tolerance * size, "{what}[{i}]: {a} vs {b}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn optima_and_derivatives_are_those_of_the_dense_statement(seed in 0_u64..1 << 40) {
        let dense = Recipe { scaled: false, ..Recipe::from_seed(seed) }.build();
        let own = sparse(&dense);
        let (a, b) = (Oracle::new(&own), Oracle::new(&dense));
        let (a, b) = (a.solve(&Instance::default()).unwrap(), b.solve(&Instance::default()).unwrap());
        prop_assert_eq!(&a.status, &b.status);
        same(&a.x, &b.x, 1e-9, "x");
        same(&[a.objective], &[b.objective], 1e-9, "objective");
        for row in (0..dense.shape().rows()).map(|i| dense.shape().row(i)) {
            same(&[a.multipliers.get(row)], &[b.multipliers.get(row)], 1e-9, &dense.row_name(row));
        }
        let x = vector(&mut rng(seed), dense.n());
        let views = (own.view(&Instance::default()).unwrap(), dense.view(&Instance::default()).unwrap());
        same(&[views.0.objective(&x)], &[views.1.objective(&x)], 1e-12, "objective at a point");
        same(&[views.0.violation(&x)], &[views.1.violation(&x)], 1e-12, "violation");
        let prices = RowValues::constant(dense.shape(), 2.0);
        same(&[views.0.penalty(&x, &prices)], &[views.1.penalty(&x, &prices)], 1e-12, "penalty");

        for rule in [Rule::default(), Rule::Theory] {
            let chosen = |p: &Problem| Multipliers::choose(p, &rule, &[Instance::default()]);
            match (chosen(&own), chosen(&dense)) {
                (Ok(a), Ok(b)) => same(&a.values.at_most, &b.values.at_most, 1e-9, "multipliers by a rule"),
                (a, b) => prop_assert_eq!(a.is_ok(), b.is_ok()),
            }
        }
        let Ok(multipliers) = Multipliers::choose(&dense, &Rule::default(), &[Instance::default()]) else {
            return Ok(());
        };
        let (fit, fit_dense) = (
            Sharpness::fit(&own, &[Instance::default()]).options(),
            Sharpness::fit(&dense, &[Instance::default()]).options(),
        );
        same(&[fit.k], &[fit_dense.k], 1e-9, "K");
        for smoothing in [0.0, 1.0] {
            let options = SurrogateOptions { smoothing, ..SurrogateOptions::with_k(2.0) };
            let solve = |p| Surrogate::new(p, &multipliers, &options).unwrap().solve(&Instance::default()).unwrap();
            let (a, b) = (solve(&own), solve(&dense));
            prop_assert_eq!(&a.status, &b.status);
            if !a.is_optimal() {
                continue;
            }
            same(a.x(), b.x(), 1e-12, "surrogate x");
            let (by, by_dense) = (a.vjp(&x), b.vjp(&x));
            for parameter in Parameter::ALL {
                let expected = picked(&own, parameter, by_dense.of(parameter));
                same(by.of(parameter), &expected, 1e-12, parameter.symbol());
            }
            let (mut along, mut along_dense) = (a.zero_tangent(), b.zero_tangent());
            for (k, parameter) in Parameter::ALL.into_iter().enumerate() {
                let values = vector(&mut rng(seed ^ k as u64), by.of(parameter).len());
                *along_dense.get_mut(parameter) = if values.is_empty() { Vec::new() } else {
                    spread(&dense, &own, parameter, &values)
                };
                *along.get_mut(parameter) = values;
            }
            same(&a.jvp(&along), &b.jvp(&along_dense), 1e-9, "jvp");
        }
    }
}

/// The dense problem's placement and flat values for the same prediction.
fn restated(dense: &Problem, own: &Problem, placement: &Placement, flat: &[f64]) -> (Placement, Vec<f64>) {
    let kinds: Vec<Parameter> = parts(placement).iter().map(|part| part.parameter).collect();
    let (mut at, mut out) = (0, Vec::new());
    for part in parts(placement) {
        out.extend(spread(dense, own, part.parameter, &flat[at..at + part.range.len()]));
        at += part.range.len();
    }
    (Placement::whole(dense, &kinds), out)
}

#[test]
fn losses_and_regret_are_those_of_the_dense_statement() {
    let mut compared = 0;
    for seed in 0..8 {
        let dense = problem(seed, seed % 2 == 1, seed % 4 > 1);
        let own = sparse(&dense);
        for placement in placements(&own).into_iter().filter(|l| parts(l)[0].range.start == 0) {
            let Some(case) = Case::new(&own, &placement, seed, 1) else { continue };
            let (wide, predictions) = restated(&dense, &own, &placement, &case.predictions);
            let (_, truths) = restated(&dense, &own, &placement, &case.truths);
            let batch = Batch::new(&predictions, &truths, &case.ids);
            let judged = |p, l, a, b| {
                Regret::new(p, l, None).unwrap().evaluate(&Batch::new(a, b, &[0])).unwrap().remove(0)
            };
            let a = judged(&own, &placement, &case.predictions[..], &case.truths[..]);
            let b = judged(&dense, &wide, &predictions, &truths);
            same(&[a.regret], &[b.regret], 1e-8, "regret");
            for method in Method::ALL.into_iter().filter(|m| m.supports(&own, &placement).is_ok()) {
                let a = case.loss(method).evaluate(&case.batch()).unwrap();
                let mut loss = build_loss(method, &dense, &wide, &options(&case.multipliers)).unwrap();
                let b = loss.evaluate(&batch).unwrap();
                assert_eq!(a.troubles.len(), b.troubles.len());
                // Losses by entry are means over the entries, of which a dense statement has more.
                if !a.troubles.is_empty() || !method.is_decision_focused() {
                    continue;
                }
                same(&a.values, &b.values, 1e-8, method.id());
                let mut at = 0;
                let expected = parts(&wide).into_iter().flat_map(|part| {
                    at += part.range.len();
                    picked(&own, part.parameter, &b.gradients[at - part.range.len()..at])
                });
                same(&a.gradients, &expected.collect::<Vec<_>>(), 1e-6, method.id());
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared} losses compared");
}

#[test]
fn scenarios_repeat_sparse_rows() {
    for seed in 0..6 {
        let dense = problem(seed, seed % 2 == 1, false);
        let own = sparse(&dense);
        let placement = Placement::whole(&own, &[Parameter::SoftRows, Parameter::Limit]);
        let flat = near(&own, &placement, seed, 0.2);
        let members: Vec<Vec<f64>> = (0..4).map(|s| near(&own, &placement, 50 * seed + s, 0.3)).collect();
        let (wide, _) = restated(&dense, &own, &placement, &flat);
        let wide_members: Vec<Vec<f64>> =
            members.iter().map(|m| restated(&dense, &own, &placement, m).1).collect();
        let a = Scenarios::from_members(&own, &placement, 4).unwrap();
        let b = Scenarios::from_members(&dense, &wide, 4).unwrap();
        let (pa, pb) = (a.parameters(&members.concat(), &[]), b.parameters(&wide_members.concat(), &[]));
        let decided = |s: &Scenarios, p: &Parameters| Oracle::new(s.problem()).solve(&p.instance()).unwrap();
        let (xa, xb) = (decided(&a, &pa), decided(&b, &pb));
        same(&[xa.objective], &[xb.objective], 1e-9, "mean objective");
        // Adjoint: each entry of C goes to its own place in its own scenario.
        let count = Parameter::SoftRows.entries(a.problem());
        let mut gradients = Gradients::from(ByParameter::from_fn(|p| vec![0.0; p.entries(a.problem())]));
        gradients.C = (0..count).map(|e| e as f64).collect();
        let mut gathered = vec![0.0; a.width()];
        a.gather(&gradients, &members.concat(), &[], &mut gathered);
        let C = pa.get(Parameter::SoftRows).unwrap();
        for (entry, at) in
            gathered.iter().enumerate().filter(|(e, _)| e % placement.width() < placement.width() - 3)
        {
            assert_eq!(C[*at as usize], members.concat()[entry]);
        }
    }
}

#[test]
fn what_is_no_pattern_is_refused() {
    let build =
        |rows: Coefficients, b: Vec<f64>| Problem::maximize(3).linear([1.0; 3]).at_most("a", rows, b).build();
    assert_eq!(
        Coefficients::sparse(2, 3, [(0, 1, 1.0), (2, 0, 1.0)]),
        Err(ProblemError::OutOfRange { row: 2, col: 0, rows: 2, cols: 3 })
    );
    assert!(matches!(Coefficients::sparse(1, 3, [(0, 3, 1.0)]), Err(ProblemError::OutOfRange { .. })));
    assert!(matches!(Coefficients::sparse(0, 3, [(0, 0, 1.0)]), Err(ProblemError::OutOfRange { .. })));
    assert_eq!(
        Coefficients::sparse(2, 3, [(1, 2, 1.0), (0, 0, 3.0), (1, 2, 4.0)]),
        Err(ProblemError::StatedTwice { row: 1, col: 2 })
    );
    let rows = Coefficients::sparse(1, 3, [(0, 2, f64::NAN)]).unwrap();
    assert!(matches!(build(rows, vec![1.0]), Err(ProblemError::NotFinite { index: 0, .. })));
    let narrow = Coefficients::sparse(1, 2, [(0, 1, 1.0)]).unwrap();
    assert!(matches!(build(narrow, vec![1.0]), Err(ProblemError::Shape { .. })));
    let rows = Coefficients::sparse(2, 3, [(1, 0, 1.0)]).unwrap();
    assert!(matches!(build(rows.clone(), vec![1.0]), Err(ProblemError::Length { .. })));
    // One value for each stored coefficient: the second of 0 = 0·x ≤ 1 and x₀ ≤ 2.
    let problem = build(rows, vec![1.0, 2.0]).unwrap();
    for (values, fine) in [(&[1.0][..], true), (&[1.0; 6], false), (&[], false), (&[f64::NAN], false)] {
        let instance = Instance { A: Some(values), ..Instance::default() };
        assert_eq!(problem.view(&instance).is_ok(), fine, "{values:?}");
    }
    // Half of a symmetric matrix is none.
    let half = Coefficients::sparse(2, 2, [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 0.5)]).unwrap();
    let stated = Problem::maximize(2).linear([1.0; 2]).quadratic(half).build();
    assert!(matches!(stated, Err(ProblemError::NotSymmetric { .. })));
}

#[test]
fn empty_rows_and_empty_blocks_are_rows_and_blocks() {
    let rows = Coefficients::sparse(3, 2, [(1, 1, 2.0)]).unwrap();
    let none = Coefficients::sparse(0, 2, []).unwrap();
    let problem = Problem::maximize(2)
        .linear([1.0, 1.0])
        .at_most("mostly empty", rows, [1.0, 4.0, 0.0])
        .at_most("dense", Matrix::from_rows(&[[1.0, 1.0]]), [5.0])
        .equal("none", none, [])
        .build()
        .unwrap();
    assert_eq!(problem.at_most().rows.as_slice(), [2.0, 1.0, 1.0]);
    assert_eq!(Parameter::AtMostRows.pattern(&problem).unwrap().place(2), (3, 1));
    let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
    assert!(optimum.is_optimal());
    same(&[optimum.objective], &[5.0], 1e-12, "objective");
    assert_eq!(optimum.multipliers.at_most[0], 0.0);
    let a = [4.0, 1.0, 1.0];
    let optimum = Oracle::new(&problem).solve(&Instance {
        A: Some(&a),
        b: Some(&[1.0, 4.0, -1.0, 5.0]),
        ..Instance::default()
    });
    assert!(matches!(optimum.unwrap().status, Status::Infeasible { .. }));
}

/// A diagonal Q with one entry stated off it stores three, its mirror image with it.
#[test]
fn a_sparse_quadratic_stores_mirror_images_and_the_diagonal() {
    let q = Coefficients::sparse(3, 3, [(0, 0, 2.0), (0, 2, 0.5), (2, 0, 0.5), (2, 2, 1.0)]).unwrap();
    let problem = Problem::maximize(3).linear([1.0, -1.0, 1.0]).quadratic(q).build().unwrap();
    assert_eq!(problem.Q().unwrap().as_slice(), [2.0, 0.5, 0.0, 0.5, 1.0]);
    // 2Qx = θ on the first and last variable: x₀ = 2/14, x₂ = 6/14.
    let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
    same(&optimum.x, &[1.0 / 7.0, 0.0, 3.0 / 7.0], 1e-12, "x");
    let indefinite = [2.0, 2.0, 0.0, 2.0, 1.0];
    let refused = problem.view(&Instance { Q: Some(&indefinite), ..Instance::default() });
    assert!(matches!(refused, Err(ProblemError::NotConvex { .. })));
}
