//! What the losses mean: bounds between them, and values worked out by another route.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::cases::{Case, every, options, parts, problem};
use regretless_core::engine::reference;
use regretless_core::*;

fn sign(problem: &Problem) -> f64 {
    if problem.sense() == Sense::Max { 1.0 } else { -1.0 }
}

/// The optimum by Clarabel, as a gain.
fn reference_optimum(problem: &Problem, placement: &Placement, flat: &[f64]) -> (Vec<f64>, f64) {
    let parameters = placement.parameters(problem, flat, &[]);
    let instance = parameters.instance();
    let view = problem.view(&instance).unwrap();
    let solved = reference::solve(&view);
    assert_eq!(solved.status, reference::ReferenceStatus::Solved);
    let value = sign(problem) * view.objective(&solved.x);
    (solved.x, value)
}

/// F(x; p) as a gain.
fn gain(problem: &Problem, placement: &Placement, flat: &[f64], x: &[f64]) -> f64 {
    let parameters = placement.parameters(problem, flat, &[]);
    sign(problem) * problem.view(&parameters.instance()).unwrap().objective(x)
}

#[test]
fn spo_plus_is_what_its_formula_says() {
    for case in every(Method::SpoPlus, 4) {
        let (problem, placement, width) = (&case.problem, &case.placement, case.placement.width());
        let losses = case.loss(Method::SpoPlus).evaluate(&case.batch()).unwrap();
        for i in 0..4 {
            let at = i * width..(i + 1) * width;
            let (p, t) = (&case.predictions[at.clone()], &case.truths[at.clone()]);
            let u: Vec<f64> = p.iter().zip(t).map(|(p, t)| 2.0 * p - t).collect();
            let (best, _) = reference_optimum(problem, placement, t);
            let (beyond, value) = reference_optimum(problem, placement, &u);
            close!(losses.values[i], value - gain(problem, placement, &u, &best), 1e-5);
            let range = parts(placement)[0].range.clone();
            for (g, j) in losses.gradients[at].iter().zip(range) {
                close!(*g, 2.0 * sign(problem) * (beyond[j] - best[j]), 1e-4);
            }
        }
    }
}

#[test]
fn spo_plus_bounds_the_regret() {
    let mut positive = 0;
    for case in every(Method::SpoPlus, 12) {
        let losses = case.loss(Method::SpoPlus).evaluate(&case.batch()).unwrap();
        let mut regret = Regret::new(&case.problem, &case.placement, None).unwrap();
        let decisions = regret.evaluate(&Batch::new(&case.predictions, &case.truths, &case.ids)).unwrap();
        for (value, decision) in losses.values.iter().zip(&decisions) {
            assert!(decision.regret >= 0.0 && decision.trouble.is_none());
            assert!(*value >= decision.regret - 1e-9, "{value} < {}", decision.regret);
            positive += usize::from(decision.regret > 1e-6);
        }
    }
    assert!(positive > 20, "{positive}");
}

#[test]
fn smooth_spo_plus_bounds_the_smooth_regret() {
    for case in every(Method::SpoPlusSmooth, 12) {
        let bound = case.loss(Method::SpoPlusSmooth).evaluate(&case.batch()).unwrap();
        let regret = case.loss(Method::SurrogateSmooth).evaluate(&case.batch()).unwrap();
        if !(bound.uncapped.is_empty() && regret.uncapped.is_empty()) {
            continue;
        }
        for (bound, regret) in bound.values.iter().zip(&regret.values) {
            assert!(*bound >= regret - 1e-9, "{bound} < {regret}");
        }
    }
}

/// The smooth losses at a high sharpness are those of the exact problem.
#[test]
fn sharp_losses_approach_the_exact_ones() {
    for case in every(Method::SpoPlus, 6) {
        let sharp = |method: Method| {
            let options = LossOptions { k: 1e5, ..options(&case.multipliers) };
            let mut loss = build_loss(method, &case.problem, &case.placement, &options).unwrap();
            loss.evaluate(&case.batch()).unwrap().values
        };
        let exact = case.loss(Method::SpoPlus).evaluate(&case.batch()).unwrap().values;
        for (smooth, exact) in sharp(Method::SpoPlusSmooth).iter().zip(&exact) {
            close!(*smooth, *exact, 1e-3);
        }
        let mut regret = Regret::new(&case.problem, &case.placement, None).unwrap();
        let decisions = regret.evaluate(&Batch::new(&case.predictions, &case.truths, &case.ids)).unwrap();
        for (smooth, decision) in sharp(Method::SurrogateSmooth).iter().zip(&decisions) {
            close!(*smooth, decision.regret, 1e-3);
        }
    }
}

/// Fenchel–Young and the smooth regret are the two directions of one Bregman divergence: exchanged, they are equal.
#[test]
fn fenchel_young_is_the_regret_the_other_way_round() {
    for case in every(Method::FenchelYoung, 4) {
        let (mut young, mut regret) = (case.loss(Method::FenchelYoung), case.loss(Method::SurrogateSmooth));
        let forth = young.evaluate(&case.batch()).unwrap();
        let turned = Batch::new(&case.truths, &case.predictions, &case.ids);
        let back = regret.evaluate(&turned).unwrap();
        if !(forth.uncapped.is_empty() && back.uncapped.is_empty()) {
            continue;
        }
        for (a, b) in forth.values.iter().zip(&back.values) {
            close!(*a, *b, 1e-8);
        }
    }
}

/// The value of `df` is the exact regret of its decision, found here with Clarabel.
#[test]
fn df_is_the_regret_of_the_decision_with_a_ridge() {
    for case in every(Method::Df, 2) {
        let (problem, placement, width) = (&case.problem, &case.placement, case.placement.width());
        let n = problem.n();
        let losses = case.loss(Method::Df).evaluate(&case.batch()).unwrap();
        for i in 0..2 {
            let at = i * width..(i + 1) * width;
            let parameters = placement.parameters(problem, &case.predictions[at.clone()], &[]);
            let own = problem.Q().map_or(vec![0.0; n * n], |q| q.as_slice().to_vec());
            let mut q = parameters.get(Parameter::Quadratic).map_or(own, <[f64]>::to_vec);
            (0..n).for_each(|j| q[j * n + j] += 0.1);
            let instance = Instance { Q: Some(&q), ..parameters.instance() };
            let solved = reference::solve(&problem.view(&instance).unwrap());
            let truth = &case.truths[at];
            let (_, best) = reference_optimum(problem, placement, truth);
            close!(losses.values[i], best - gain(problem, placement, truth, &solved.x), 1e-4);
        }
    }
}

/// Active rows that depend on one another: gradients stay those of the problem without the copies.
#[test]
fn dependent_active_rows_do_no_harm() {
    let row = [1.0, 1.0, 1.0];
    let build = |rows: &[[f64; 3]], b: &[f64]| {
        let builder = Problem::maximize(3).at_most("cap", Matrix::from_rows(rows), b).upper([5.0; 3]);
        builder.build().unwrap()
    };
    let once = build(&[row], &[2.0]);
    let often = build(&[row, row.map(|a| 2.0 * a), row], &[2.0, 4.0, 2.0]);
    let batch = Batch::new(&[1.0, 1.2, 0.9], &[0.5, 0.6, 1.0], &[0]);
    let of = |problem: &Problem| {
        let options = LossOptions { ridge: 0.3, ..LossOptions::default() };
        build_loss(Method::Df, problem, &Placement::theta(3), &options).unwrap().evaluate(&batch).unwrap()
    };
    let (a, b) = (of(&once), of(&often));
    for (a, b) in a.gradients.iter().zip(&b.gradients) {
        close!(*a, *b, 1e-9);
    }
    // By hand: the constraint projects, so v = (g − mean g)/2·ridge with g = −θ.
    let mean = (0.5 + 0.6 + 1.0) / 3.0;
    for (gradient, theta) in a.gradients.iter().zip([0.5, 0.6, 1.0]) {
        close!(*gradient, (mean - theta) / 0.6, 1e-9);
    }
}

/// The gradient in θ is H⁻¹(θ̂ − θ), with the H of smoothed gradients where they are asked for: that of a surrogate.
#[test]
fn surrogates_lose_with_the_gradients_of_their_smoothing() {
    let problem = problem(0, false, false);
    let placement = Placement::theta(problem.n());
    let case = Case::new(&problem, &placement, 0, 8).unwrap();
    let n = problem.n();
    let mut different = 0;
    for smoothing in [0.0, 0.3] {
        let with = LossOptions { smoothing, ..options(&case.multipliers) };
        let mut loss = build_loss(Method::SurrogateSmooth, &problem, &placement, &with).unwrap();
        let found = loss.evaluate(&case.batch()).unwrap();
        let of = SurrogateOptions { smoothing, ..SurrogateOptions::with_k(with.k) };
        let surrogate = Surrogate::new(&problem, &case.multipliers, &of).unwrap();
        let plain = SurrogateOptions { smoothing: 0.0, ..of };
        let plain = Surrogate::new(&problem, &case.multipliers, &plain).unwrap();
        for i in 0..8 {
            let at = i * n..(i + 1) * n;
            let theta = Instance::theta(&case.predictions[at.clone()]);
            let error: Vec<f64> =
                at.clone().map(|j| sign(&problem) * (case.predictions[j] - case.truths[j])).collect();
            let expected = surrogate.solve(&theta).unwrap().vjp(&error).parameters.theta;
            let without = plain.solve(&theta).unwrap().vjp(&error).parameters.theta;
            for ((found, expected), without) in found.gradients[at].iter().zip(&expected).zip(&without) {
                close!(*found, *expected, 1e-9);
                different += usize::from((found - without).abs() > 1e-3 * without.abs());
            }
        }
        assert_eq!(different > 0, smoothing > 0.0);
    }
}

#[test]
fn multipliers_too_small_are_reported_and_raised() {
    let problem = problem(0, false, false);
    let placement = Placement::theta(problem.n());
    let case = Case::new(&problem, &placement, 0, 8).unwrap();
    let mut small = case.multipliers.clone();
    let shrink = |v: &mut Vec<f64>| v.iter_mut().for_each(|v| *v *= 1e-3);
    [&mut small.values.at_most, &mut small.values.lower, &mut small.values.upper]
        .into_iter()
        .for_each(shrink);
    for method in [Method::SurrogateSmooth, Method::SpoPlusSmooth, Method::FenchelYoung] {
        let options = LossOptions { multipliers: Some(&small), ..options(&case.multipliers) };
        let mut loss = build_loss(method, &problem, &placement, &options).unwrap();
        let mut epochs = 0;
        loop {
            let losses = loss.evaluate(&case.batch()).unwrap();
            assert!(losses.troubles.is_empty(), "{:?}", losses.troubles);
            if losses.uncapped.is_empty() {
                break;
            }
            let raised = loss.end_epoch(&losses.uncapped);
            assert_eq!(raised, losses.uncapped.iter().copied().collect::<Vec<_>>());
            epochs += 1;
            assert!(epochs < 20, "{method}: still too small");
        }
        assert!(epochs > 2);
    }
}

#[test]
fn entrywise_losses_by_hand() {
    let problem = Problem::maximize(2).upper([1.0, 1.0]).build().unwrap();
    let placement = Placement::theta(2);
    let options =
        LossOptions { over: 3.0, under: 0.5, scale: Some(vec![2.0, 1.0]), ..LossOptions::default() };
    let batch = Batch::new(&[3.0, 1.0], &[1.0, 1.5], &[0]);
    let of = |method| build_loss(method, &problem, &placement, &options).unwrap().evaluate(&batch).unwrap();
    let l1 = of(Method::L1);
    assert_eq!((l1.values[0], &l1.gradients[..]), (0.75, &[0.25, -0.5][..]));
    let l2 = of(Method::L2);
    assert_eq!((l2.values[0], &l2.gradients[..]), (0.625, &[0.5, -0.5][..]));
    let weighted = of(Method::WeightedL1);
    assert_eq!((weighted.values[0], &weighted.gradients[..]), (1.625, &[0.75, -0.25][..]));
    let short = LossOptions { scale: Some(vec![1.0]), ..LossOptions::default() };
    assert!(build_loss(Method::L1, &problem, &placement, &short).is_err());
}
