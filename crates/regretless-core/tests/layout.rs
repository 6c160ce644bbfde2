//! Flat predictions and back.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::cases::{layouts, near, problem};
use regretless_core::problem::ByParameter;
use regretless_core::*;

#[test]
fn reading_is_the_inverse_of_writing() {
    for seed in 0..6 {
        let problem = problem(seed, seed % 2 == 1, false);
        for layout in layouts(&problem) {
            layout.check(&problem).unwrap();
            let flat = near(&problem, &layout, seed, 0.3);
            let parameters = layout.parameters(&problem, &flat);
            assert_eq!(layout.read(&problem, &parameters), flat);
            problem.view(&parameters.instance()).unwrap();
            let unset = Parameter::ALL.into_iter().filter(|p| !layout.predicts(*p));
            assert!(unset.into_iter().all(|p| parameters.get(p).is_none()));
        }
    }
}

#[test]
fn parts_of_one_kind_may_be_apart_and_out_of_order() {
    let problem = Problem::maximize(4).linear([1.0, 2.0, 3.0, 4.0]).upper([1.0; 4]).build().unwrap();
    let part = |range| Part { parameter: Parameter::Linear, range };
    let layout = Layout::new(vec![part(3..4), part(0..2)]);
    layout.check(&problem).unwrap();
    assert_eq!(layout.read(&problem, &Parameters::default()), [4.0, 1.0, 2.0]);
    let parameters = layout.parameters(&problem, &[9.0, 7.0, 8.0]);
    assert_eq!(parameters.get(Parameter::Linear), Some(&[7.0, 8.0, 3.0, 9.0][..]));
    let gradients =
        Gradients::from(ByParameter { theta: vec![0.1, 0.2, 0.3, 0.4], ..ByParameter::default() });
    let mut out = [0.0; 3];
    layout.gather(&gradients, &mut out);
    assert_eq!(out, [0.4, 0.1, 0.2]);
    // The losses see the same order: one step down the gradient of `l2` and of `spo+` moves the right entries.
    for method in [Method::L2, Method::SpoPlus] {
        let mut loss = build_loss(method, &problem, &layout, &LossOptions::default()).unwrap();
        let batch = Batch { predictions: &[-9.0, 1.0, 1.0], truths: &[9.0, 1.0, 1.0], ids: &[0] };
        let gradients = loss.evaluate(&batch).unwrap().gradients;
        assert!(gradients[0] < 0.0 && gradients[1] == 0.0 && gradients[2] == 0.0, "{gradients:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let problem = Problem::maximize(2).build().unwrap();
    let refused = |parameter, range| Layout::new(vec![Part { parameter, range }]).check(&problem).is_err();
    assert!(refused(Parameter::Linear, 0..3));
    assert!(refused(Parameter::Limit, 0..1));
    assert!(refused(Parameter::Linear, 1..1));
    assert!(Layout::new(vec![]).check(&problem).is_err());
    assert!(!refused(Parameter::Quadratic, 0..4), "an LP may be given a predicted Q");
}
