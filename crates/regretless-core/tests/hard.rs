//! Exact problems that are hard for their numbers.
#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

use regretless_core::problem::Form;
use regretless_core::{Coefficients, Instance, Oracle, Problem};

/// Files write infinity as 1e20, and what they compute from it may be a little less.
#[test]
fn a_limit_as_large_as_infinity_is_none() {
    let rows = |with: bool| {
        let mut rows = vec![(0, 0, 1.0), (0, 1, 1.0)];
        let mut limits = vec![8.0];
        if with {
            rows.extend([(1, 0, -1.0), (1, 1, -1.0)]);
            limits.push(9.999_999_999_999_998e19);
        }
        let upper = if with { vec![5.0, 9.999_999_999_999_998e19] } else { vec![5.0, f64::INFINITY] };
        let stated = Problem::maximize(2).linear([3.0, 2.0]).upper(upper);
        stated.at_most("rows", Coefficients::sparse(limits.len(), 2, rows).unwrap(), limits).build().unwrap()
    };
    for form in [Form::Dense, Form::Sparse] {
        let [with, without] = [true, false]
            .map(|with| Oracle::new(&rows(with).in_form(form)).solve(&Instance::default()).unwrap());
        assert!(with.is_optimal() && without.is_optimal(), "{form:?}");
        assert!(with.x.iter().zip(&without.x).all(|(a, b)| (a - b).abs() < 1e-9), "{form:?}: {:?}", with.x);
        assert!((with.objective - 21.0).abs() < 1e-9);
        assert_eq!(with.multipliers.at_most[1], 0.0);
    }
}

/// The nearest convex sequence: n second differences are as badly conditioned as n⁴, and their multipliers are sums of sums.
///
/// ```text
/// min ½Σ(xᵢ − cᵢ)²   over   zᵢ = 2xᵢ₊₁ − xᵢ − xᵢ₊₂ ≤ 0          λᵢ − 2λᵢ₋₁ + λᵢ₋₂ = xᵢ − cᵢ,   λ ≥ 0,   λz = 0
/// ```
#[test]
fn the_nearest_convex_sequence() {
    let n = 2000;
    let c: Vec<f64> = (0..n)
        .map(|i| {
            let t = i as f64 / (n - 1) as f64;
            (2.0 * std::f64::consts::PI * t).sin() + 0.1 * (i as f64).sin()
        })
        .collect();
    let entries = (0..n - 2).flat_map(|i| [(i, i, -1.0), (i, i + 1, 2.0), (i, i + 2, -1.0)]);
    let problem = Problem::minimize(n)
        .linear(c.iter().map(|c| -c).collect::<Vec<_>>())
        .quadratic(Coefficients::sparse(n, n, (0..n).map(|i| (i, i, 0.5))).unwrap())
        .at_most("convex", Coefficients::sparse(n - 2, n, entries).unwrap(), vec![0.0; n - 2])
        .lower(vec![f64::NEG_INFINITY; n])
        .build()
        .unwrap();
    assert_eq!(problem.form(), Form::Sparse);
    let optimum = Oracle::new(&problem).solve(&Instance::default()).unwrap();
    assert!(optimum.is_optimal(), "{:?}", optimum.accuracy);
    let (mut slope, mut lambda, mut largest, mut gap) = (0.0, 0.0, 0.0_f64, 0.0);
    for i in 0..n - 2 {
        slope += optimum.x[i] - c[i];
        lambda += slope;
        let z = 2.0 * optimum.x[i + 1] - optimum.x[i] - optimum.x[i + 2];
        assert!(z < 1e-7, "{i}: {z}");
        largest = largest.max(lambda);
        assert!(lambda > -1e-6 * largest.max(1.0), "{i}: {lambda}");
        gap += (lambda * z).abs();
    }
    assert!(gap < 1e-3, "{gap}");
    assert!(largest > 1e3, "not the case that is meant: {largest}");
}
