//! Decisions at risk, against CVaR by its definition, the newsvendor's closed form and feasible decisions nearby.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::cases::{Case, differences, near, options, problem};
use common::{normal, rng, sparse};
use rand::RngExt;
use regretless_core::problem::Form;
use regretless_core::*;

/// CVaR by its definition: the mean of the worst share 1 − τ, the last scenario cut to what is left of it.
fn worst(mut costs: Vec<(f64, f64)>, level: f64) -> f64 {
    costs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut left, mut sum) = (1.0 - level, 0.0);
    for (cost, share) in costs {
        let taken = share.min(left);
        sum += taken * cost;
        left -= taken;
    }
    sum / (1.0 - level)
}

/// (1 − ω)·mean + ω·CVaR of what a decision costs in the scenarios.
fn measure(problem: &Problem, placement: &Placement, forecast: &Forecast, risk: Risk, x: &[f64]) -> f64 {
    let cost = |(q, share): (&[f64], f64)| {
        let parameters = placement.parameters(problem, q, &[]);
        let gain = problem.view(&parameters.instance()).unwrap().objective(x);
        (if problem.sense() == Sense::Max { -gain } else { gain }, share)
    };
    let costs: Vec<(f64, f64)> = forecast.each().map(cost).collect();
    let mean: f64 = costs.iter().map(|(cost, share)| cost * share).sum();
    (1.0 - risk.weight()) * mean + risk.weight() * worst(costs, risk.level())
}

fn layouts(problem: &Problem) -> Vec<Placement> {
    use Parameter::*;
    let kinds: [&[Parameter]; 7] =
        [&[Linear], &[Limit], &[Over], &[Under], &[SoftRows], &[Linear, Limit], &[SoftRows, Limit, Under]];
    let part = Placement::of_parts(&[
        Part { parameter: Linear, range: 1..2 },
        Part { parameter: Limit, range: 1..2 },
    ]);
    kinds.into_iter().map(|kinds| Placement::whole(problem, kinds)).chain([part]).collect()
}

/// The measure is convex, so that a decision is the best where no way to another feasible one is downhill at its beginning.
#[test]
fn no_way_to_another_decision_has_less_risk() {
    for seed in 0..8 {
        let problem = problem(seed, seed % 2 == 1, seed % 4 > 1);
        for placement in layouts(&problem) {
            let mut r = rng(seed);
            let base = near(&problem, &placement, seed, 0.0);
            let count = 9_u64;
            let points: Vec<f64> =
                (0..count).flat_map(|k| near(&problem, &placement, 100 * seed + k, 0.3)).collect();
            let weights: Vec<f64> = (0..count).map(|_| r.random::<f64>()).collect();
            let forecast = Forecast::new(placement.width(), points.clone(), weights.clone()).unwrap();
            for risk in [Risk::cvar(0.8).unwrap(), Risk::mixed(0.6, 0.4).unwrap()] {
                let law = Law::Points { weights: weights.clone() };
                let scenarios = Scenarios::of(&problem, &placement, law).unwrap().with_risk(risk).unwrap();
                let regret = Regret::new(&problem, &placement, Some(scenarios.clone())).unwrap();
                let decided = regret.decide_with_outlooks(&points, &[]).unwrap().remove(0).unwrap();
                let (optimum, outlook) = (decided.0, decided.1.unwrap());
                let at = |x: &[f64]| measure(&problem, &placement, &forecast, risk, x);
                let here = at(&optimum.x);
                let sign = if problem.sense() == Sense::Max { -1.0 } else { 1.0 };
                let size = 1.0 + here.abs();
                assert!((sign * outlook.value - here).abs() < 1e-9 * size, "the value is the measure");
                // What the other form finds has the same measure.
                let sparse = scenarios.problem().in_form(Form::Sparse);
                let parameters = scenarios.parameters(&points, &[]);
                let other = Oracle::new(&sparse).solve(&parameters.instance()).unwrap();
                assert!((at(&other.x[..problem.n()]) - here).abs() < 1e-6 * size);
                // Feasible decisions: those of single scenarios, and of others nearby.
                let oracle = Oracle::new(&problem);
                for q in points.chunks(placement.width()).chain([&base[..]]) {
                    let there = oracle.solve(&placement.parameters(&problem, q, &[]).instance()).unwrap();
                    for step in [1e-3, 0.1, 1.0] {
                        let x: Vec<f64> =
                            optimum.x.iter().zip(&there.x).map(|(a, b)| a + step * (b - a)).collect();
                        assert!(at(&x) > here - 1e-8 * size, "seed {seed}, {placement:?}, {risk:?}, {step}");
                    }
                }
            }
        }
    }
}

/// h(q − D)⁺ + p(D − q)⁺: the worst share is of both tails, h·P(D < a) = p·P(D > b), and costs the same at both ends, h(q − a) =
/// p(b − q).
#[test]
fn a_newsvendor_at_risk_hedges_both_tails() {
    let shop = Problem::minimize(1)
        .soft("orders", Soft::both(Matrix::from_rows(&[[1.0]]), [0.0], [1.0], [3.0]))
        .build()
        .unwrap();
    let placement = Placement::whole(&shop, &[Parameter::Limit]);
    // 1 to 200, as likely each: 20 outcomes are the worst tenth, 15 below a and 5 above b.
    let outcomes: Vec<f64> = (1..=200).map(f64::from).collect();
    let law = Law::Outcomes { outcomes };
    let scenarios = Scenarios::of(&shop, &placement, law).unwrap().with_risk(Risk::cvar(0.9).unwrap());
    let mut regret = Regret::new(&shop, &placement, Some(scenarios.unwrap())).unwrap();
    let weights = vec![1.0; 200];
    let rows = [&weights[..], &weights[..]].concat();
    let judged = regret.evaluate(&Batch::new(&rows, &[100.0, 198.0], &[0, 1])).unwrap();
    // Between the 15th and 16th outcome from below and the 5th and 6th from above.
    let (low, high) = ((15.0 + 3.0 * 195.0) / 4.0, (16.0 + 3.0 * 196.0) / 4.0);
    let q = judged[0].x[0];
    assert!(low - 1e-6 <= q && q <= high + 1e-6, "{q}");
    for decision in &judged {
        let kept = decision.at_risk.unwrap();
        let t = kept.promised.threshold;
        // The pair (x, t) by its formula.
        let score = t + (decision.objective - t).max(0.0) / (1.0 - 0.9);
        assert!((kept.score - score).abs() < 1e-9);
        assert_eq!(kept.beyond, decision.objective > t);
        assert!((decision.predicted_objective - kept.promised.mean).abs() < 1e-12);
    }
    assert!(!judged[0].at_risk.unwrap().beyond && judged[1].at_risk.unwrap().beyond);
}

/// The mean of the scores is least at the decisions' own threshold, and then what they promise, if the forecast is true.
#[test]
fn scores_average_to_what_was_promised() {
    let mut r = rng(3);
    let costs: Vec<f64> = (0..400).map(|_| normal(&mut r)).collect();
    let risk = Risk::mixed(0.75, 0.6).unwrap();
    let mean = |t: f64| costs.iter().map(|c| risk.score(t, *c)).sum::<f64>() / costs.len() as f64;
    let share = 1.0 / costs.len() as f64;
    let cvar = worst(costs.iter().map(|c| (*c, share)).collect(), 0.75);
    let all = costs.iter().sum::<f64>() * share;
    let mut sorted = costs.clone();
    sorted.sort_by(f64::total_cmp);
    let t = sorted[299];
    assert!((mean(t) - (0.4 * all + 0.6 * cvar)).abs() < 1e-9);
    assert!([-0.5, -0.01, 0.01, 0.5].into_iter().all(|move_| mean(t + move_) >= mean(t) - 1e-12));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    for (level, weight) in [(0.0, 1.0), (1.0, 1.0), (90.0, 1.0), (f64::NAN, 1.0), (0.9, 0.0), (0.9, 1.5)] {
        assert!(matches!(Risk::mixed(level, weight), Err(ScenarioError::Risk { .. })), "{level} {weight}");
    }
    let problem = problem(1, true, false);
    let risk = Risk::cvar(0.9).unwrap();
    let with = |kinds: &[Parameter]| {
        let placement = Placement::whole(&problem, kinds);
        Scenarios::of(&problem, &placement, Law::points(3)).and_then(|own| own.with_risk(risk))
    };
    assert!(matches!(with(&[Parameter::Linear, Parameter::Quadratic]), Err(ScenarioError::Quadratic)));
    assert!(matches!(with(&[Parameter::AtMost]), Err(ScenarioError::Hard("b"))));
    let wide = Problem::maximize(2000).build().unwrap();
    let many = Scenarios::of(&wide, &Placement::theta(2000), Law::points(10_000)).unwrap();
    let refused = many.with_risk(risk).err().unwrap().to_string();
    assert!(refused.contains("take fewer scenarios"), "{refused}");
    let placement = Placement::whole(&problem, &[Parameter::Limit]);
    let options =
        LossOptions { scenarios: Some(with(&[Parameter::Limit]).unwrap()), ..LossOptions::default() };
    for method in [Method::L2, Method::Df] {
        let refused = build_loss(method, &problem, &placement, &options).err().unwrap();
        let LossError::Unsupported { alternatives, .. } = &refused else { panic!("{refused}") };
        assert!(refused.to_string().contains("scenarios") && !alternatives.contains(&method), "{refused}");
    }
}

/// Central differences through decision and threshold, for what may be predicted and for laws of every kind. A truth moves no threshold,
/// so that each case has truths on both of its sides.
#[test]
fn gradients_match_central_differences() {
    for method in Method::ALL.into_iter().filter(|m| m.takes_risk()) {
        let (mut checked, mut tried, mut beyond) = (0, 0, 0);
        for seed in 0..6 {
            let problem = problem(seed, seed % 2 == 1, seed % 4 > 1);
            let problem = if seed % 3 == 2 { sparse(&problem) } else { problem };
            for placement in layouts(&problem) {
                let Some(case) = Case::new(&problem, &placement, seed, 3) else { continue };
                let width = placement.width();
                let mut r = rng(90 + seed);
                let mut draws =
                    |count: usize| -> Vec<f64> { (0..count).map(|_| 0.2 * normal(&mut r)).collect() };
                let own = &case.predictions[..width];
                let points: Vec<f64> =
                    (0..4).flat_map(|_| own.to_vec()).zip(draws(4 * width)).map(|(a, b)| a + b).collect();
                let shift =
                    Law::Shift { residuals: draws(5 * width), weights: vec![1.0, 2.0, 1.0, 0.5, 0.5] };
                let scale = Law::Scale { atoms: draws(4 * width), weights: vec![1.0, 3.0, 2.0, 1.0] };
                let spreads = [own, &vec![1.3; width][..]].concat();
                let laws = [(shift, own.to_vec()), (Law::points(4), points), (scale, spreads)];
                for ((law, base), risk) in laws.into_iter().zip([
                    Risk::cvar(0.7).unwrap(),
                    Risk::mixed(0.6, 0.5).unwrap(),
                    Risk::mixed(0.5, 0.8).unwrap(),
                ]) {
                    let scenarios =
                        Scenarios::of(&problem, &placement, law).unwrap().with_risk(risk).unwrap();
                    let options =
                        LossOptions { scenarios: Some(scenarios.clone()), ..options(&case.multipliers) };
                    let mut loss = build_loss(method, &problem, &placement, &options).unwrap();
                    let mut regret = Regret::new(&problem, &placement, Some(scenarios)).unwrap();
                    for truth in case.truths.chunks(width) {
                        let (c, t) = differences(loss.as_mut(), &base, truth);
                        (checked, tried) = (checked + c, tried + t);
                        let judged = regret.evaluate(&Batch::new(&base, truth, &[0])).unwrap();
                        beyond += usize::from(judged[0].at_risk.unwrap().beyond);
                    }
                }
            }
        }
        assert!(checked * 10 >= tried * 6, "{method}: {checked} of {tried} entries checked");
        assert!(beyond > 20, "{method}: {beyond} beyond their threshold");
    }
}

/// Fewer scenarios read the same numbers: of five errors the first and the third are kept, at their shares.
#[test]
fn thinned_scenarios_are_some_of_them() {
    let problem = problem(1, true, false);
    let placement = Placement::of_parts(&[Part { parameter: Parameter::Limit, range: 0..1 }]);
    let laws = |residuals: Vec<f64>, weights: Vec<f64>| Law::Shift { residuals, weights };
    let law = laws(vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![3.0, 9.0, 1.0, 9.0, 9.0]);
    let all = Scenarios::of(&problem, &placement, Law::Groups(vec![law])).unwrap();
    let some = all.with_risk(Risk::cvar(0.5).unwrap()).unwrap().thinned(2).unwrap();
    let forecast = some.forecast(&[10.0, 0.0]);
    assert_eq!((forecast.points(), forecast.weights()), (&[11.0, 13.0][..], &[0.75, 0.25][..]));
    assert!(some.risk() == Some(Risk::cvar(0.5).unwrap()) && some.width() == 2);
}

/// Limits of hard rows that are known by row, and θ that is partly known, are those of the row in every scenario.
#[test]
fn known_numbers_are_those_of_the_row() {
    let problem = Problem::maximize(2)
        .linear([0.0, 1.0])
        .at_most("money", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
        .build()
        .unwrap();
    let terms = vec![
        Term::predicted(Parameter::Linear, 0, 0),
        Term::known(Parameter::AtMost, 0, 0),
        Term::known(Parameter::Linear, 1, 1),
    ];
    let placement = Placement::new(&problem, 1, 2, terms).unwrap();
    let law = Law::points(4);
    let scenarios = Scenarios::of(&problem, &placement, law).unwrap().with_risk(Risk::cvar(0.5).unwrap());
    let regret = Regret::new(&problem, &placement, Some(scenarios.unwrap())).unwrap();
    // The worst half of the first asset's returns has a mean of 1.5; money is 10, the second is worth 1 or 2.
    let returns = [1.0, 2.0, 9.0, 9.0];
    let rows = [returns, returns].concat();
    let decided = regret.decide_with_outlooks(&rows, &[10.0, 1.0, 10.0, 2.0]).unwrap();
    for (found, (x, value)) in decided.into_iter().zip([([10.0, 0.0], 15.0), ([0.0, 10.0], 20.0)]) {
        let (optimum, outlook) = found.unwrap();
        assert!((0..2).all(|j| (optimum.x[j] - x[j]).abs() < 1e-7), "{:?}", optimum.x);
        assert!((outlook.unwrap().value - value).abs() < 1e-6);
    }
}
