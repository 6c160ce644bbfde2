//! Every method of the registry through the same checks.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::cases::{Case, every, many, options, parts, placements, problem};
use regretless_core::solve::Par;
use regretless_core::solve::SavedError;
use regretless_core::*;

/// Central differences of the loss's own value, all in one batch of fresh samples. Points next to a kink are skipped:
/// there two step sizes disagree.
fn check_gradient(case: &Case, method: Method) -> (usize, usize) {
    let mut loss = case.loss(method);
    let width = case.placement.width();
    let (base, truth) = (&case.predictions[..width], &case.truths[..width]);
    let steps = [1e-4, 5e-5];
    let mut rows = base.to_vec();
    for j in 0..width {
        for h in steps.iter().flat_map(|s| [*s, -s]) {
            let mut row = base.to_vec();
            row[j] += h;
            rows.extend(row);
        }
    }
    let count = rows.len() / width;
    let truths = truth.repeat(count);
    let ids: Vec<u64> = (0..count as u64).collect();
    let losses = loss.evaluate(&Batch::new(&rows, &truths, &ids)).unwrap();
    assert!(losses.values.iter().all(|v| *v >= 0.0), "{method}: {:?}", losses.values);
    let troubled: Vec<usize> = losses.troubles.iter().map(|t| t.sample).collect();
    if troubled.contains(&0) {
        return (0, width);
    }
    let gradient = &losses.gradients[..width];
    let size = gradient.iter().fold(1e-2_f64, |m, g| m.max(g.abs()));
    let mut checked = 0;
    for j in 0..width {
        let at = 1 + 4 * j;
        if (at..at + 4).any(|i| troubled.contains(&i)) {
            continue;
        }
        let v = &losses.values[at..at + 4];
        let (wide, narrow) = ((v[0] - v[1]) / 2e-4, (v[2] - v[3]) / 1e-4);
        let bend = (v[0] + v[1] - 2.0 * losses.values[0]).abs() / 1e-4;
        if (wide - narrow).abs() > 1e-4 * size || bend > 0.05 * size {
            continue;
        }
        assert!(
            (gradient[j] - narrow).abs() <= 1e-3 * size,
            "{method} {:?} entry {j}: {} vs {narrow} ({wide})",
            parts(&case.placement),
            gradient[j]
        );
        checked += 1;
    }
    (checked, width)
}

#[test]
fn gradients_match_central_differences() {
    for method in Method::ALL {
        let (mut checked, mut tried) = (0, 0);
        for case in many(method, 1, 24) {
            let (c, t) = check_gradient(&case, method);
            (checked, tried) = (checked + c, tried + t);
        }
        assert!(
            checked * 10 >= tried * 7 && checked >= 100,
            "{method}: {checked} of {tried} entries checked"
        );
    }
}

#[test]
fn perfect_predictions_cost_nothing() {
    for method in Method::ALL {
        for case in every(method, 3) {
            let own_pieces = method == Method::SurrogateVertex && !case.placement.is_theta_only();
            if method == Method::Df || own_pieces {
                continue;
            }
            let mut loss = case.loss(method);
            let losses = loss.evaluate(&Batch { predictions: &case.truths, ..case.batch() }).unwrap();
            assert!(losses.troubles.is_empty(), "{method}: {:?}", losses.troubles);
            assert!(losses.values.iter().all(|v| v.abs() < 1e-7), "{method}: {:?}", losses.values);
            let largest = losses.gradients.iter().fold(0.0_f64, |m, g| m.max(g.abs()));
            assert!(largest < 1e-5, "{method} {:?}: {largest}", parts(&case.placement));
        }
    }
}

#[test]
fn the_bias_of_the_ridge_vanishes_with_it() {
    for case in every(Method::Df, 3) {
        let mut before = f64::INFINITY;
        for ridge in [1.0, 0.1, 0.01, 1e-4] {
            let options = LossOptions { ridge, ..options(&case.multipliers) };
            let mut loss = build_loss(Method::Df, &case.problem, &case.placement, &options).unwrap();
            let losses = loss.evaluate(&Batch { predictions: &case.truths, ..case.batch() }).unwrap();
            let worst = losses.values.iter().fold(0.0_f64, |m, v| m.max(*v));
            assert!(worst <= before + 1e-9, "{worst} after {before}");
            before = worst;
        }
        assert!(before < 2e-3, "{before}");
    }
}

#[test]
fn the_closed_form_point_of_a_sharp_surrogate_is_nearly_right() {
    for case in every(Method::SurrogateVertex, 2).iter().filter(|c| !c.placement.is_theta_only()) {
        let options = LossOptions { k: 1e4, ..options(&case.multipliers) };
        let mut loss = build_loss(Method::SurrogateVertex, &case.problem, &case.placement, &options).unwrap();
        let losses = loss.evaluate(&Batch { predictions: &case.truths, ..case.batch() }).unwrap();
        assert!(losses.values.iter().all(|v| *v < 1e-2), "{:?}: {:?}", parts(&case.placement), losses.values);
    }
}

#[test]
fn a_batch_is_a_loop() {
    for method in Method::ALL {
        for case in every(method, 4) {
            let (mut whole, mut each) = (case.loss(method), case.loss(method));
            let width = case.placement.width();
            for _ in 0..2 {
                let losses = whole.evaluate(&case.batch()).unwrap();
                for i in 0..case.ids.len() {
                    let at = i * width..(i + 1) * width;
                    let one = each
                        .evaluate(&Batch {
                            predictions: &case.predictions[at.clone()],
                            truths: &case.truths[at.clone()],
                            known: &[],
                            ids: &case.ids[i..=i],
                        })
                        .unwrap();
                    assert_eq!(one.values[0].to_bits(), losses.values[i].to_bits(), "{method}");
                    assert_eq!(one.gradients, losses.gradients[at], "{method}");
                }
            }
        }
    }
}

/// A sample that comes back starts where it was: the way is shorter, the loss is the same.
#[test]
fn where_a_sample_started_does_not_matter() {
    for method in Method::ALL {
        for case in every(method, 4) {
            let mut warm = case.loss(method);
            warm.evaluate(&Batch { predictions: &case.truths, ..case.batch() }).unwrap();
            let (warm, cold) =
                (warm.evaluate(&case.batch()).unwrap(), case.loss(method).evaluate(&case.batch()).unwrap());
            assert_eq!(warm.troubles, cold.troubles);
            for (a, b) in warm.values.iter().zip(&cold.values) {
                close!(*a, *b, 1e-7, "{method} {:?}", parts(&case.placement));
            }
            for (a, b) in warm.gradients.iter().zip(&cold.gradients) {
                close!(*a, *b, 1e-4, "{method} {:?}", parts(&case.placement));
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    let (alone, four) = (Par::alone(), Par::new(4).unwrap());
    for method in Method::ALL {
        for case in every(method, 6) {
            let run = |par: &Par| {
                let mut loss = case.loss(method);
                par.run(|| {
                    loss.evaluate(&case.batch()).unwrap();
                    loss.evaluate(&case.batch()).unwrap()
                })
            };
            let (a, b) = (run(&alone), run(&four));
            assert_eq!((a.values, a.gradients), (b.values, b.gradients), "{method}");
        }
    }
}

#[test]
fn a_restored_loss_goes_on_bit_equal() {
    for method in Method::ALL {
        for case in every(method, 5) {
            let mut running = case.loss(method);
            let first = running.evaluate(&case.batch()).unwrap();
            running.set_k(3.0).unwrap();
            let raised = running.end_epoch(&[RowId::AtMost(0), RowId::Upper(1)].into());
            assert_eq!(raised.len(), if method.uses_surrogate() { 2 } else { 0 });
            running.evaluate(&case.batch()).unwrap();
            let bytes = running.checkpoint();
            let mut resumed = case.loss(method);
            resumed.restore(&bytes).unwrap();
            // The next step: predictions have moved.
            let step = case.predictions.iter().zip(&first.gradients).map(|(p, g)| p - 1e-3 * g);
            let step: Vec<f64> = step.collect();
            for _ in 0..2 {
                let batch = Batch { predictions: &step, ..case.batch() };
                let (a, b) = (running.evaluate(&batch).unwrap(), resumed.evaluate(&batch).unwrap());
                assert_eq!(a.values, b.values, "{method}");
                assert_eq!(a.gradients, b.gradients, "{method}");
            }
        }
    }
}

#[test]
fn damaged_checkpoints_are_refused_and_change_nothing() {
    for method in Method::ALL {
        let case = every(method, 3).remove(0);
        let mut loss = case.loss(method);
        loss.evaluate(&case.batch()).unwrap();
        let bytes = loss.checkpoint();
        let reference = loss.evaluate(&case.batch()).unwrap();
        for cut in 0..bytes.len() {
            assert!(loss.restore(&bytes[..cut]).is_err(), "{method}: {cut}");
        }
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut hostile = bytes.clone();
                hostile[at] ^= flip;
                let mut other = case.loss(method);
                if other.restore(&hostile).is_ok() && at % 7 == 0 {
                    let losses = other.evaluate(&case.batch()).unwrap();
                    assert!(losses.values.iter().all(|v| !v.is_nan()));
                    assert!(losses.gradients.iter().all(|g| g.is_finite()));
                }
            }
        }
        loss.restore(&bytes).unwrap();
        let again = loss.evaluate(&case.batch()).unwrap();
        assert_eq!(again.values, reference.values, "{method}");
        let other = Method::ALL.into_iter().find(|m| *m != method).unwrap();
        let other = every(other, 1).remove(0).loss(other).checkpoint();
        assert!(matches!(loss.restore(&other), Err(LossError::Saved(SavedError::Mismatch("method")))));
    }
}

#[test]
fn a_sample_that_cannot_be_solved_harms_no_other() {
    for method in Method::ALL {
        for case in every(method, 4) {
            let sound = case.loss(method).evaluate(&case.batch()).unwrap();
            assert!(sound.troubles.is_empty(), "{method} {:?}: {:?}", parts(&case.placement), sound.troubles);
            let width = case.placement.width();
            let mut predictions = case.predictions.clone();
            predictions[width] = f64::NAN;
            let batch = Batch { predictions: &predictions, ..case.batch() };
            let losses = case.loss(method).evaluate(&batch).unwrap();
            assert_eq!(losses.troubles.len(), 1, "{method}");
            assert_eq!(losses.troubles[0].sample, 1);
            assert!(losses.troubles[0].to_string().contains("prediction"), "{}", losses.troubles[0]);
            assert_eq!(losses.values[1], f64::INFINITY);
            assert!(losses.gradients[width..2 * width].iter().all(|g| *g == 0.0), "{method}");
            assert_eq!(losses.known().1, 3, "{method}");
            for i in [0, 2, 3] {
                assert_eq!(losses.values[i], sound.values[i], "{method}");
            }
        }
    }
}

#[test]
fn predictions_that_the_problem_refuses_are_troubles() {
    let problem = problem(1, true, false);
    let refused = [
        (Parameter::Over, f64::NAN),
        (Parameter::Quadratic, -50.0),
        (Parameter::Lower, 1e3),
        // No x in the box satisfies x₀·1 ≤ −1e3.
        (Parameter::AtMost, -1e3),
    ];
    for (parameter, bad) in refused {
        let placement = Placement::whole(&problem, &[parameter]);
        for method in Method::ALL.into_iter().filter(|m| m.is_decision_focused()) {
            if method.supports(&problem, &placement).is_err() {
                continue;
            }
            let mut case = Case::new(&problem, &placement, 5, 3).unwrap();
            case.predictions[placement.width()] = bad;
            let losses = case.loss(method).evaluate(&case.batch()).unwrap();
            let troubled: Vec<usize> = losses.troubles.iter().map(|t| t.sample).collect();
            assert_eq!(troubled, [1], "{method} {parameter:?} {:?}", losses.troubles);
            assert_eq!(losses.values[1], f64::INFINITY, "{method} {parameter:?}");
            let others = [losses.values[0], losses.values[2]];
            assert!(others.iter().chain(&losses.gradients).all(|v| v.is_finite()));
        }
    }
}

#[test]
fn what_a_method_cannot_do_is_refused_with_alternatives() {
    let problem = problem(1, true, false);
    let mut refusals = 0;
    for method in Method::ALL {
        for placement in placements(&problem) {
            let case = Case::new(&problem, &placement, 1, 1).unwrap();
            let built = build_loss(method, &problem, &placement, &options(&case.multipliers));
            let Err(error) = built else { continue };
            let LossError::Unsupported { alternatives, reason, .. } = &error else { panic!("{error}") };
            assert!(!reason.is_empty() && !alternatives.is_empty(), "{error}");
            assert!(alternatives.iter().all(|m| m.supports(&problem, &placement).is_ok()));
            refusals += 1;
        }
        let theta = Placement::theta(problem.n());
        let without = build_loss(method, &problem, &theta, &LossOptions::default());
        assert_eq!(without.is_err(), method.uses_surrogate(), "{method}");
    }
    assert!(refusals > 20);
    let outside = Placement::of_parts(&[Part { parameter: Parameter::Limit, range: 0..99 }]);
    assert!(Method::L2.supports(&problem, &outside).is_err());
}

#[test]
fn ids_and_infos_are_complete() {
    for method in Method::ALL {
        assert_eq!(method.to_string().parse::<Method>().unwrap(), method);
        let info = method.info();
        assert!([info.formula, info.gradient, info.predicts, info.source].iter().all(|t| !t.is_empty()));
    }
    assert!("spo".parse::<Method>().unwrap_err().to_string().contains("spo+-smooth"));
}

#[test]
fn batches_of_the_wrong_size_are_errors() {
    for method in Method::ALL {
        let case = every(method, 2).remove(0);
        let mut loss = case.loss(method);
        let short = Batch { predictions: &case.predictions[1..], ..case.batch() };
        assert!(matches!(loss.evaluate(&short), Err(LossError::Length { what: "predictions", .. })));
        let ids = Batch { ids: &[1], ..case.batch() };
        assert!(loss.evaluate(&ids).is_err());
        assert!(loss.set_k(-1.0).is_err() == method.uses_surrogate());
        let empty = loss.evaluate(&Batch::new(&[], &[], &[])).unwrap();
        assert!(empty.values.is_empty());
    }
}
