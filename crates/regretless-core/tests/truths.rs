//! Truths are solved once, whoever asks, and by whoever can.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::cases::{Case, options, placements, problem};
use regretless_core::solve::{Exact, ExactSolver};
use regretless_core::*;

fn cases() -> Vec<Case> {
    let problems = (0..4).map(|seed| problem(seed, seed % 2 == 1, seed / 2 == 1));
    problems.flat_map(|p| placements(&p).into_iter().filter_map(move |l| Case::new(&p, &l, 3, 6))).collect()
}

/// An oracle that counts what it is asked.
#[derive(Debug)]
struct Counted(Oracle, Arc<AtomicUsize>);

impl ExactSolver for Counted {
    fn solve_exactly(&self, instances: &[Instance<'_>]) -> Vec<Result<Exact, ProblemError>> {
        self.1.fetch_add(instances.len(), Ordering::Relaxed);
        self.0.solve_exactly(instances)
    }
}

#[test]
fn losses_and_regret_share_what_is_known() {
    for case in cases() {
        let asked = Arc::new(AtomicUsize::new(0));
        let solver = Box::new(Counted(Oracle::new(&case.problem), Arc::clone(&asked)));
        let truths = Truths::with_solver(&case.problem, &case.placement, solver).unwrap();
        let batch = Batch::new(&case.predictions, &case.truths, &case.ids);
        for method in [Method::SpoPlus, Method::Df] {
            if method.supports(&case.problem, &case.placement).is_err() {
                continue;
            }
            let alone = case.loss(method).evaluate(&batch).unwrap();
            let lent = LossOptions { truths: Some(&truths), ..options(&case.multipliers) };
            let mut loss = build_loss(method, &case.problem, &case.placement, &lent).unwrap();
            let found = loss.evaluate(&batch).unwrap();
            assert_eq!((found.values, found.gradients), (alone.values, alone.gradients), "{method}");
        }
        let plain = Regret::new(&case.problem, &case.placement, None).unwrap();
        let mut lent =
            Regret::new(&case.problem, &case.placement, None).unwrap().with_truths(&truths).unwrap();
        let found = lent.evaluate(&Batch::new(&case.predictions, &case.truths, &case.ids)).unwrap();
        let mut plain = plain;
        assert_eq!(found, plain.evaluate(&Batch::new(&case.predictions, &case.truths, &case.ids)).unwrap());
        assert_eq!(asked.load(Ordering::Relaxed), truths.len(), "each once");
        let optima: Vec<f64> = found.iter().map(|d| d.optimal).collect();
        assert_eq!(truths.optima(&case.truths, &[]).unwrap(), optima);
        // Asked for apart, nothing is kept.
        let before = truths.len();
        lent.evaluate_once(&case.truths, &case.predictions, &[]).unwrap();
        assert_eq!(truths.len(), before);
    }
}

#[test]
fn truths_of_something_else_are_refused() {
    let one = Problem::maximize(1).upper([1.0]).build().unwrap();
    let two = Problem::maximize(2).upper([1.0, 1.0]).build().unwrap();
    let truths = Truths::new(&one, &Placement::theta(1)).unwrap();
    assert!(truths.is_empty() && truths.optima(&[], &[]).unwrap().is_empty());
    let regret = Regret::new(&two, &Placement::theta(2), None).unwrap();
    assert_eq!(regret.with_truths(&truths).err(), Some(LossError::Truths));
    // Alike in shape, and not in what it states.
    let wider = Problem::maximize(1).upper([2.0]).build().unwrap();
    let regret = Regret::new(&wider, &Placement::theta(1), None).unwrap();
    assert_eq!(regret.with_truths(&truths).err(), Some(LossError::Truths));
    assert!(Regret::new(&one, &Placement::theta(1), None).unwrap().with_truths(&truths).is_ok());
    let options = LossOptions { truths: Some(&truths), ..LossOptions::default() };
    assert!(build_loss(Method::SpoPlus, &two, &Placement::theta(2), &options).is_err());
    assert!(Truths::new(&one, &Placement::theta(2)).is_err());
    let two_truths = Truths::new(&two, &Placement::theta(2)).unwrap();
    assert!(two_truths.optima(&[1.0, 2.0, 3.0], &[]).is_err(), "a truth and a half");
}

#[test]
fn what_has_no_optimum_is_known_too() {
    let problem = Problem::maximize(1).at_most("cap", Matrix::from_rows(&[[1.0]]), [1.0]).build().unwrap();
    let placement = Placement::whole(&problem, &[Parameter::AtMost, Parameter::Lower]);
    let truths = Truths::new(&problem, &placement).unwrap();
    // Feasible, infeasible, refused.
    let flat = [1.0, 0.0, 1.0, 2.0, 1.0, f64::NAN];
    for _ in 0..2 {
        let optima = truths.optima(&flat, &[]).unwrap();
        assert!(optima[0].abs() < 1e-12 && optima[1] == f64::NEG_INFINITY && optima[2].is_nan());
    }
    assert_eq!(truths.len(), 3);
}
