//! The multiplier rules: which theorem is picked, what each refuses, what the certificate says.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::rng;
use rand::RngExt;
use regretless_core::*;

fn theory(problem: &Problem) -> Result<Multipliers, MultiplierError> {
    Multipliers::choose(problem, &Rule::Theory, &[Instance::default()])
}

fn ones(rows: usize, cols: usize) -> Matrix {
    Matrix::from_fn(rows, cols, |_, _| 1.0)
}

#[test]
fn theory_picks_the_theorem_by_structure() {
    let weighted = Matrix::from_rows(&[[3.0, 4.0]]);
    // Theorem 2: Ax ≤ b alone, β = E = ‖θ‖ = 5, divided by the row's norm 5.
    let free =
        Problem::maximize(2).free().linear([3.0, 4.0]).at_most("a", weighted.clone(), [1.0]).build().unwrap();
    let chosen = theory(&free).unwrap();
    assert!(chosen.explanation.contains("Theorem 2"), "{}", chosen.explanation);
    close!(chosen.values.at_most[0], 1.0, 1e-12);
    assert!(chosen.certificate.holds());

    // Theorem 3: x ≥ 0 too; sin p = 3/5, so β = 2^1.5·5/0.6 on unit rows.
    let positive =
        Problem::maximize(2).linear([3.0, 4.0]).at_most("a", weighted.clone(), [1.0]).build().unwrap();
    let chosen = theory(&positive).unwrap();
    let beta = 2f64.powf(1.5) * 5.0 / 0.6;
    assert!(chosen.explanation.contains("Theorem 3"), "{}", chosen.explanation);
    close!(chosen.values.lower[0], beta, 1e-12);
    close!(chosen.values.at_most[0], beta / 5.0, 1e-12);
    assert!(chosen.certificate.holds());

    // Corollary 4: 0/1 rows lose the sine.
    let binary = Problem::maximize(2).linear([3.0, 4.0]).at_most("a", ones(1, 2), [1.0]).build().unwrap();
    let chosen = theory(&binary).unwrap();
    assert!(chosen.explanation.contains("Corollary 4"), "{}", chosen.explanation);
    close!(chosen.values.lower[0], 2f64.powf(1.5) * 5.0, 1e-12);

    // Theorem 5: one equality and a box; E counts the soft rows: ‖θ‖ + ‖Cᵀα‖ = 5 + 2.
    let shares = Problem::maximize(2)
        .linear([3.0, 4.0])
        .soft("s", Soft::over(Matrix::from_rows(&[[2.0, 0.0]]), [0.1], [1.0]))
        .equal("sum", weighted, [1.0])
        .upper([1.0, 1.0])
        .build()
        .unwrap();
    let chosen = theory(&shares).unwrap();
    assert!(chosen.explanation.contains("Theorem 5"), "{}", chosen.explanation);
    close!(chosen.values.upper[0], 2f64.powf(1.5) * 7.0 / 0.6, 1e-12);

    // Theorem 6: both kinds of rows. With rows e₁, (e₁+e₂)/√2 and −I the worst pair is {e₁ or −e₁, diagonal}:
    // σ_min² = 1 − 1/√2, so β = √2/(1 − 1/√2)·E.
    let both = Problem::maximize(2)
        .linear([3.0, 4.0])
        .at_most("a", Matrix::from_rows(&[[1.0, 0.0]]), [1.0])
        .equal("sum", ones(1, 2), [1.0])
        .build()
        .unwrap();
    let chosen = theory(&both).unwrap();
    assert!(chosen.explanation.contains("Theorem 6"), "{}", chosen.explanation);
    close!(chosen.values.lower[0], 2f64.sqrt() / (1.0 - 0.5f64.sqrt()) * 5.0, 1e-9);
}

#[test]
fn the_gradient_bound_counts_the_quadratic_term() {
    // 2‖Q‖·radius = 2·2·√2 on the unit box, plus ‖θ‖ = 5.
    let problem = Problem::maximize(2)
        .linear([3.0, 4.0])
        .quadratic(Matrix::from_rows(&[[2.0, 0.0], [0.0, 1.0]]))
        .upper([1.0, 1.0])
        .build()
        .unwrap();
    let chosen = theory(&problem).unwrap();
    close!(chosen.values.lower[0], 5.0 + 4.0 * 2f64.sqrt(), 1e-12, "{}", chosen.explanation);
}

#[test]
fn theory_refuses_with_the_reason_and_dual_does_not() {
    let negative = Matrix::from_rows(&[[1.0, -0.5]]);
    let cases = [
        (
            Problem::maximize(2).linear([1.0, 0.1]).at_most("a", negative.clone(), [1.0]).upper([4.0, 4.0]),
            "negative coefficient -0.5",
        ),
        (
            Problem::maximize(2).linear([1.0, 0.1]).equal("a", negative, [1.0]).upper([4.0, 4.0]),
            "B has the negative coefficient",
        ),
        (Problem::maximize(2).linear([-1.0, -1.0]).at_most("a", ones(1, 2), [-1.0]).lower([-3.0, -3.0]), ""),
        (
            Problem::maximize(2).linear([-1.0, -1.0]).at_most("a", ones(1, 2), [1.0]).lower([1.0, 1.0]),
            "right-hand side -1",
        ),
        (
            Problem::maximize(2)
                .linear([1.0, 1.0])
                .at_most("a", ones(1, 2), [1.0])
                .lower([0.0, f64::NEG_INFINITY]),
            "some variables are free",
        ),
        (
            Problem::minimize(2)
                .quadratic(Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]))
                .linear([-1.0, -1.0])
                .soft("s", Soft::over(ones(1, 2), [1.0], [1.0])),
            "no row bounds x",
        ),
    ];
    for (builder, reason) in cases {
        let problem = builder.build().unwrap();
        match theory(&problem) {
            Err(error) => {
                let message = error.to_string();
                assert!(!reason.is_empty() && message.contains(reason), "{message}");
                assert!(message.contains("use `dual`"));
            }
            // Lower bounds are moved to 0 first: −1 − (−6) = 5 ≥ 0 is covered.
            Ok(chosen) => assert!(reason.is_empty(), "{}", chosen.explanation),
        }
        let dual = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()]);
        if let Ok(dual) = dual {
            assert!(dual.certificate.holds(), "{:?}", dual.certificate);
        }
    }
}

#[test]
fn dual_multipliers_are_a_factor_above_the_largest_seen() {
    let mut r = rng(3);
    let problem = Problem::maximize(5)
        .at_most("a", Matrix::from_fn(4, 5, |_, _| r.random::<f64>() - 0.2), vec![1.0; 4])
        .upper(vec![2.0; 5])
        .build()
        .unwrap();
    let thetas: Vec<Vec<f64>> = (0..20).map(|_| common::vector(&mut r, 5)).collect();
    let instances: Vec<Instance> = thetas.iter().map(|t| Instance::theta(t)).collect();
    let chosen = Multipliers::choose(&problem, &Rule::Dual { factor: 3.0 }, &instances).unwrap();
    assert!(chosen.certificate.holds());
    let oracle = Oracle::new(&problem);
    for instance in &instances {
        let optimum = oracle.solve(instance).unwrap();
        for (value, seen) in chosen.values.at_most.iter().zip(&optimum.multipliers.at_most) {
            assert!(*value >= 3.0 * seen - 1e-9);
        }
        assert!(
            optimum
                .multipliers
                .upper
                .iter()
                .zip(&chosen.values.upper)
                .all(|(seen, v)| *v >= 3.0 * seen - 1e-9)
        );
    }
    // Just below what is needed, the certificate names the violation.
    let mut low = chosen.values.clone();
    low.at_most.iter_mut().chain(&mut low.lower).chain(&mut low.upper).for_each(|v| *v /= 30.0);
    let broken = Multipliers::choose(&problem, &Rule::PerRow(low), &instances).unwrap();
    assert!(!broken.certificate.holds());
    assert!(broken.certificate.worst_row.is_some() || broken.certificate.unbounded > 0);
}

#[test]
fn the_empirical_rule_escalates_until_it_holds() {
    // The row's multiplier is 4/0.1 = 40: 0.5·√2·max|θ| has to be doubled until it exceeds that.
    let problem = Problem::maximize(2)
        .linear([4.0, 0.0])
        .at_most("a", Matrix::from_rows(&[[0.1, 0.0]]), [1.0])
        .build()
        .unwrap();
    let rule = Rule::Empirical { factor: 0.5, sqrt_n: true };
    let chosen = Multipliers::choose(&problem, &rule, &[Instance::default()]).unwrap();
    assert!(chosen.certificate.holds());
    let start = 0.5 * 2f64.sqrt() * 4.0;
    close!(chosen.values.at_most[0], start * 16.0, 1e-12, "{}", chosen.explanation);
}

#[test]
fn rules_say_what_they_cannot_use() {
    let infeasible = Problem::maximize(1).at_most("a", Matrix::from_rows(&[[1.0]]), [-1.0]).build().unwrap();
    let none = Multipliers::choose(&infeasible, &Rule::default(), &[Instance::default()]);
    assert!(matches!(none, Err(MultiplierError::NoOptimum(1))));
    assert!(matches!(
        Multipliers::choose(&infeasible, &Rule::default(), &[]),
        Err(MultiplierError::NoInstances)
    ));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = Multipliers::choose(&infeasible, &Rule::Constant(bad), &[Instance::default()]);
        assert!(matches!(refused, Err(MultiplierError::Problem(ProblemError::Setting { .. }))));
    }
}
