//! Flat predictions and back.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::cases::{near, placements, problem, read};
use regretless_core::problem::ByParameter;
use regretless_core::*;

#[test]
fn reading_is_the_inverse_of_writing() {
    for seed in 0..6 {
        let problem = problem(seed, seed % 2 == 1, false);
        for placement in placements(&problem) {
            placement.check(&problem).unwrap();
            let flat = near(&problem, &placement, seed, 0.3);
            let parameters = placement.parameters(&problem, &flat, &[]);
            assert_eq!(read(&problem, &placement, &parameters), flat);
            problem.view(&parameters.instance()).unwrap();
            let unset = Parameter::ALL.into_iter().filter(|p| !placement.predicts(*p));
            assert!(unset.into_iter().all(|p| parameters.get(p).is_none()));
        }
    }
}

#[test]
fn parts_of_one_kind_may_be_apart_and_out_of_order() {
    let problem = Problem::maximize(4).linear([1.0, 2.0, 3.0, 4.0]).upper([1.0; 4]).build().unwrap();
    let part = |range| Part { parameter: Parameter::Linear, range };
    let placement = Placement::of_parts(&[part(3..4), part(0..2)]);
    placement.check(&problem).unwrap();
    assert_eq!(read(&problem, &placement, &Parameters::default()), [4.0, 1.0, 2.0]);
    let parameters = placement.parameters(&problem, &[9.0, 7.0, 8.0], &[]);
    assert_eq!(parameters.get(Parameter::Linear), Some(&[7.0, 8.0, 3.0, 9.0][..]));
    let gradients =
        Gradients::from(ByParameter { theta: vec![0.1, 0.2, 0.3, 0.4], ..ByParameter::default() });
    let mut out = [0.0; 3];
    placement.gather(&gradients, &[9.0, 7.0, 8.0], &[], &mut out);
    assert_eq!(out, [0.4, 0.1, 0.2]);
    // The losses see the same order: one step down the gradient of `l2` and of `spo+` moves the right entries.
    for method in [Method::L2, Method::SpoPlus] {
        let mut loss = build_loss(method, &problem, &placement, &LossOptions::default()).unwrap();
        let batch = Batch::new(&[-9.0, 1.0, 1.0], &[9.0, 1.0, 1.0], &[0]);
        let gradients = loss.evaluate(&batch).unwrap().gradients;
        assert!(gradients[0] < 0.0 && gradients[1] == 0.0 && gradients[2] == 0.0, "{gradients:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let problem = Problem::maximize(2).build().unwrap();
    let refused =
        |parameter, range| Placement::of_parts(&[Part { parameter, range }]).check(&problem).is_err();
    assert!(refused(Parameter::Linear, 0..3));
    assert!(refused(Parameter::Limit, 0..1));
    assert!(refused(Parameter::Linear, 1..1));
    assert!(Placement::of_parts(&[]).check(&problem).is_err());
    assert!(!refused(Parameter::Quadratic, 0..4), "an LP may be given a predicted Q");
}
