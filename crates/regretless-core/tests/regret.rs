//! Regret of decisions: against the reference solver, across checkpoints, from anchors.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::cases::{Case, parts, placements, problem};
use regretless_core::engine::reference;
use regretless_core::loss::{Cause, Side};
use regretless_core::*;

fn cases() -> Vec<Case> {
    let problems = (0..4).map(|seed| problem(seed, seed % 2 == 1, seed / 2 == 1));
    problems.flat_map(|p| placements(&p).into_iter().filter_map(move |l| Case::new(&p, &l, 3, 6))).collect()
}

#[test]
fn regret_is_what_the_reference_solver_says() {
    for case in cases() {
        let (problem, width) = (&case.problem, case.placement.width());
        let mut regret = Regret::new(problem, &case.placement, None).unwrap();
        let decisions = regret.evaluate(&Batch::new(&case.predictions, &case.truths, &case.ids)).unwrap();
        for (i, decision) in decisions.iter().enumerate() {
            assert_eq!(decision.trouble, None);
            let parameters =
                case.placement.parameters(problem, &case.truths[i * width..(i + 1) * width], &[]);
            let instance = parameters.instance();
            let view = problem.view(&instance).unwrap();
            close!(decision.optimal, view.objective(&reference::solve(&view).x), 1e-5);
            close!(decision.objective, view.objective(&decision.x), 1e-12);
            close!(decision.violation, view.violation(&decision.x), 1e-12);
            let gap = (decision.optimal - decision.objective).abs();
            close!(decision.regret.abs(), gap, 1e-8);
            let soft_only = parts(&case.placement).iter().all(|p| {
                !matches!(
                    p.parameter,
                    Parameter::AtMost | Parameter::AtMostRows | Parameter::Lower | Parameter::Upper
                )
            });
            assert!(!soft_only || (decision.regret >= 0.0 && decision.violation < 1e-7));
        }
    }
}

#[test]
fn perfect_predictions_have_no_regret() {
    for case in cases() {
        let mut regret = Regret::new(&case.problem, &case.placement, None).unwrap();
        for decision in regret.evaluate(&Batch::new(&case.truths, &case.truths, &case.ids)).unwrap() {
            assert!(decision.regret >= 0.0 && decision.regret < 1e-8, "{}", decision.regret);
            close!(decision.predicted_objective, decision.objective, 1e-9);
        }
    }
}

#[test]
fn a_restored_evaluator_goes_on_bit_equal() {
    for case in cases() {
        let mut running = Regret::new(&case.problem, &case.placement, None).unwrap();
        running.evaluate(&Batch::new(&case.truths, &case.truths, &case.ids)).unwrap();
        let bytes = running.checkpoint();
        let resumed = Regret::new(&case.problem, &case.placement, None).unwrap();
        let mut resumed = resumed.with_truths(running.truths()).unwrap();
        resumed.restore(&bytes).unwrap();
        for predictions in [&case.predictions, &case.truths] {
            let a = running.evaluate(&Batch::new(predictions, &case.truths, &case.ids)).unwrap();
            let b = resumed.evaluate(&Batch::new(predictions, &case.truths, &case.ids)).unwrap();
            assert_eq!(a, b);
        }
        assert!(resumed.restore(&bytes[..bytes.len() - 1]).is_err());
        assert!(resumed.restore(b"").is_err());
    }
}

/// Anchored decisions are as good as cold ones, whatever the anchors.
#[test]
fn anchors_change_the_way_not_the_decision() {
    for case in cases() {
        let mut regret = Regret::new(&case.problem, &case.placement, None).unwrap();
        let cold = regret.decide(&case.predictions, &[]).unwrap();
        let anchors = regret.set_anchors(&case.truths, &[], 4).unwrap();
        assert!((1..=4).contains(&anchors));
        let near = regret.decide(&case.predictions, &[]).unwrap();
        let again = regret.decide(&case.predictions, &[]).unwrap();
        for ((cold, near), again) in cold.iter().zip(&near).zip(&again) {
            let (cold, near, again) =
                (cold.as_ref().unwrap(), near.as_ref().unwrap(), again.as_ref().unwrap());
            close!(near.objective, cold.objective, 1e-8);
            assert_eq!(near.x, again.x);
        }
    }
}

#[test]
fn trouble_is_said_and_contained() {
    let problem = problem(1, true, false);
    let placement = Placement::whole(&problem, &[Parameter::AtMost, Parameter::Over]);
    let case = Case::new(&problem, &placement, 1, 4).unwrap();
    let width = placement.width();
    let sound = Regret::new(&problem, &placement, None).unwrap().evaluate(&Batch::new(
        &case.predictions,
        &case.truths,
        &case.ids,
    ));
    let sound = sound.unwrap();
    let (mut predictions, mut truths) = (case.predictions.clone(), case.truths.clone());
    predictions[0] = -1e3; // infeasible
    predictions[2 * width - 1] = f64::NAN; // no price
    truths[2 * width] = -1e3;
    let mut regret = Regret::new(&problem, &placement, None).unwrap();
    let decisions = regret.evaluate(&Batch::new(&predictions, &truths, &case.ids)).unwrap();
    assert!(matches!(decisions[0].status, Status::Infeasible { .. }) && decisions[0].trouble.is_some());
    assert!(matches!(decisions[1].trouble, Some(Cause::Refused(Side::Prediction, _))));
    assert!(matches!(decisions[2].trouble, Some(Cause::NoOptimum(Side::Truth, _))));
    assert_eq!(decisions[3], sound[3]);
    // What has no answer is infinitely bad, never the best there is; nothing is NaN.
    let worst = if problem.sense() == Sense::Max { f64::NEG_INFINITY } else { f64::INFINITY };
    assert!(decisions[..3].iter().all(|d| d.regret == f64::INFINITY));
    assert!(decisions[..2].iter().all(|d| d.objective == worst) && decisions[2].objective.is_finite());
    assert!(decisions.iter().all(|d| !d.optimal.is_nan() && !d.predicted_objective.is_nan()));
    assert!(regret.evaluate(&Batch::new(&predictions[1..], &truths, &case.ids)).is_err());
    assert!(regret.decide(&predictions[1..], &[]).is_err());
    assert!(regret.decide(&predictions, &[]).unwrap()[1].is_err());
}
