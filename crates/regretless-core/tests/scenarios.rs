//! Decisions for the average over scenarios, against average problems built by hand.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, non_snake_case, reason = "tests fail loudly")]

mod common;

use common::cases::{Case, differences, near, options, problem};
use common::{normal, rng};
use regretless_core::engine::reference;
use regretless_core::*;

fn residuals(placement: &Placement, count: usize, seed: u64) -> Vec<f64> {
    let mut r = rng(seed);
    (0..count * placement.width()).map(|_| 0.2 * normal(&mut r)).collect()
}

fn soft_layouts(problem: &Problem) -> Vec<Placement> {
    use Parameter::*;
    let kinds: [&[Parameter]; 7] =
        [&[SoftRows], &[Limit], &[Over], &[Under], &[SoftRows, Limit, Over], &[Linear, Limit], &[Linear]];
    let part = Placement::of_parts(&[Part { parameter: Limit, range: 1..2 }]);
    kinds.into_iter().map(|k| Placement::whole(problem, k)).chain([part]).collect()
}

/// Mean objective over the scenarios, straight from the definition.
fn mean_objective(problem: &Problem, placement: &Placement, members: &[Vec<f64>], x: &[f64]) -> f64 {
    let one = |member: &Vec<f64>| {
        let clamp = |(part, v): (Parameter, f64)| match part {
            Parameter::Over | Parameter::Under => v.max(0.0),
            _ => v,
        };
        let kinds = placement.homes().into_iter().map(|home| home[0].0);
        let flat: Vec<f64> = kinds.zip(member.iter().copied()).map(clamp).collect();
        let parameters = placement.parameters(problem, &flat, &[]);
        problem.view(&parameters.instance()).unwrap().objective(x)
    };
    members.iter().map(one).sum::<f64>() / members.len() as f64
}

/// The average problem with every soft row repeated for every scenario, built by hand and solved by Clarabel.
fn by_hand(problem: &Problem, placement: &Placement, members: &[Vec<f64>]) -> Vec<f64> {
    let (n, count) = (problem.n(), members.len() as f64);
    let mut theta = vec![0.0; n];
    let (mut C, mut d, mut alpha, mut under) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for member in members {
        let parameters = placement.parameters(problem, member, &[]);
        let own = |p: Parameter| parameters.get(p).unwrap_or(p.of(problem)).to_vec();
        theta.iter_mut().zip(own(Parameter::Linear)).for_each(|(t, v)| *t += v / count);
        C.extend(own(Parameter::SoftRows));
        d.extend(own(Parameter::Limit));
        alpha.extend(own(Parameter::Over).iter().map(|a| a.max(0.0) / count));
        under.extend(own(Parameter::Under).iter().map(|a| a.max(0.0) / count));
    }
    let start = match problem.sense() {
        Sense::Max => Problem::maximize(n),
        Sense::Min => Problem::minimize(n),
    };
    let rows = Matrix::from_vec(d.len(), n, C).unwrap();
    let at_most = problem.at_most();
    let mut builder = start
        .linear(theta)
        .soft("all", Soft::both(rows, d, alpha, under))
        .at_most("limit", at_most.rows.clone(), at_most.rhs.clone())
        .lower(problem.lower())
        .upper(problem.upper());
    if let Some(q) = problem.Q() {
        builder = builder.quadratic(q.clone());
    }
    let whole = builder.build().unwrap();
    reference::solve(&whole.view(&Instance::default()).unwrap()).x
}

fn spread(prediction: &[f64], residuals: &[f64]) -> Vec<Vec<f64>> {
    let rows = residuals.chunks_exact(prediction.len());
    rows.map(|r| r.iter().zip(prediction).map(|(r, p)| r + p).collect()).collect()
}

#[test]
fn the_average_decision_is_the_one_built_by_hand() {
    for seed in 0..4 {
        let problem = problem(seed, seed % 2 == 1, seed / 2 == 1);
        for placement in soft_layouts(&problem) {
            let residuals = residuals(&placement, 5, seed);
            let prediction = near(&problem, &placement, seed, 0.2);
            let members = spread(&prediction, &residuals);
            let scenarios = Scenarios::new(&problem, &placement, residuals).unwrap();
            let mut regret = Regret::new(&problem, &placement, Some(scenarios.clone())).unwrap();
            let decisions = regret.evaluate(&Batch::new(&prediction, &prediction, &[3])).unwrap();
            let reference = by_hand(&problem, &placement, &members);
            let (ours, theirs) = (
                mean_objective(&problem, &placement, &members, &decisions[0].x),
                mean_objective(&problem, &placement, &members, &reference),
            );
            close!(ours, theirs, 1e-6);
            close!(decisions[0].predicted_objective, ours, 1e-9, "the average problem's value");
            if seed % 2 == 1 {
                for (a, b) in decisions[0].x.iter().zip(&reference) {
                    close!(*a, *b, 1e-4);
                }
            }
            assert_eq!(decisions[0].violation.max(1e-9), 1e-9);
        }
    }
}

#[test]
fn members_are_scenarios_of_their_own() {
    let problem = problem(1, true, false);
    let placement = Placement::whole(&problem, &[Parameter::SoftRows, Parameter::Over]);
    let residuals = residuals(&placement, 4, 1);
    let prediction = near(&problem, &placement, 1, 0.2);
    let flat: Vec<f64> = spread(&prediction, &residuals).concat();
    let by_residuals = Scenarios::new(&problem, &placement, residuals).unwrap();
    let by_members = Scenarios::from_members(&problem, &placement, 4).unwrap();
    assert_eq!(by_members.width(), 4 * placement.width());
    assert_eq!(by_residuals.parameters(&prediction, &[]), by_members.parameters(&flat, &[]));
    let forecast = Forecast::new(placement.width(), flat.clone(), vec![0.25; 4]).unwrap();
    assert_eq!(by_residuals.parameters_of(&forecast, &[]), by_members.parameters(&flat, &[]));
    let mut regret = Regret::new(&problem, &placement, Some(by_members)).unwrap();
    assert!(regret.evaluate(&Batch::new(&flat, &prediction, &[0])).unwrap()[0].trouble.is_none());
}

/// A scenario that is three times as likely is one that is there three times, whatever law it comes by.
#[test]
fn weights_are_repetitions() {
    for seed in 0..4 {
        let problem = problem(seed, true, seed / 2 == 1);
        for placement in soft_layouts(&problem) {
            let width = placement.width();
            let residuals = residuals(&placement, 3, seed);
            let prediction = near(&problem, &placement, seed, 0.2);
            let members = spread(&prediction, &residuals);
            let repeated: Vec<Vec<f64>> =
                [0, 1, 1, 1, 2, 2].into_iter().map(|s| members[s].clone()).collect();
            let reference = by_hand(&problem, &placement, &repeated);
            let weights = vec![1.0, 3.0, 2.0];
            let flat = members.concat();
            let brought = [flat.clone(), weights.clone()].concat();
            let scaled = [prediction.clone(), vec![0.5; width]].concat();
            let doubled: Vec<f64> = residuals.iter().map(|r| 2.0 * r).collect();
            let own = Law::Shift { residuals: residuals.clone(), weights: weights.clone() };
            let groups = Law::Groups(vec![Law::shift(vec![7.0; 3 * width], width), own]);
            let laws = [
                (groups, [&prediction[..], &[1.0]].concat()),
                (Law::Shift { residuals, weights: weights.clone() }, prediction.clone()),
                (Law::Scale { atoms: doubled, weights: weights.clone() }, scaled),
                (Law::Points { weights: weights.clone() }, flat.clone()),
                (Law::Samples { count: 3 }, brought),
                (Law::Outcomes { outcomes: flat }, weights),
            ];
            for (law, numbers) in laws {
                let scenarios = Scenarios::of(&problem, &placement, law).unwrap();
                let forecast = scenarios.forecast(&numbers);
                forecast.points().iter().zip(members.concat()).for_each(|(a, b)| close!(*a, b, 1e-12));
                let mut regret = Regret::new(&problem, &placement, Some(scenarios)).unwrap();
                let decision = &regret.evaluate(&Batch::new(&numbers, &prediction, &[3])).unwrap()[0];
                let value = mean_objective(&problem, &placement, &repeated, &decision.x);
                close!(value, mean_objective(&problem, &placement, &repeated, &reference), 1e-6);
                close!(decision.predicted_objective, value, 1e-9, "the average problem's value");
            }
        }
    }
}

#[test]
fn weights_that_are_none_are_refused() {
    let problem = problem(1, true, false);
    let placement = Placement::whole(&problem, &[Parameter::Limit]);
    let law = |weights: Vec<f64>| Law::Shift { residuals: vec![0.0; 2 * placement.width()], weights };
    for weights in [vec![1.0], vec![1.0, -1.0], vec![0.0, 0.0], vec![1.0, f64::NAN]] {
        assert!(Scenarios::of(&problem, &placement, law(weights.clone())).is_err(), "{weights:?}");
    }
    let groups = |laws: Vec<Law>| Scenarios::of(&problem, &placement, Law::Groups(laws));
    let (two, one) = (law(vec![1.0, 2.0]), Law::shift(vec![0.0; placement.width()], placement.width()));
    assert!(groups(vec![two.clone(), law(vec![1.0, 0.0])]).is_ok());
    assert!(matches!(groups(vec![two, one]), Err(ScenarioError::Groups { first: (2, _), other: (1, _) })));
    assert!(groups(Vec::new()).is_err());
    // Brought by an instance they harm that one only.
    let past = Law::Outcomes { outcomes: vec![1.0; 2 * placement.width()] };
    let scenarios = Scenarios::of(&problem, &placement, past).unwrap();
    let regret = Regret::new(&problem, &placement, Some(scenarios)).unwrap();
    let decided = regret.decide(&[0.0, 0.0, 1.0, 0.0], &[]).unwrap();
    assert!(decided[0].is_err() && decided[1].is_ok());
}

/// Central differences through scenarios, with and without members of their own.
#[test]
fn gradients_match_central_differences() {
    for method in Method::ALL.into_iter().filter(|m| m.takes_scenarios()) {
        let (mut checked, mut tried) = (0, 0);
        for seed in 0..8 {
            let problem = problem(seed % 4, seed % 2 == 1, (seed / 2) % 2 == 1);
            for placement in soft_layouts(&problem) {
                let case = Case::new(&problem, &placement, seed, 1).unwrap();
                let shared = Scenarios::new(&problem, &placement, residuals(&placement, 3, seed)).unwrap();
                let own = Scenarios::from_members(&problem, &placement, 3).unwrap();
                let atoms = residuals(&placement, 3, seed + 50);
                let members = spread(&case.predictions, &atoms).concat();
                let law = Law::Scale { atoms, weights: vec![1.0, 3.0, 2.0] };
                let scaled = Scenarios::of(&problem, &placement, law).unwrap();
                let spreads = [case.predictions.clone(), vec![1.3; placement.width()]].concat();
                let other =
                    Law::Scale { atoms: residuals(&placement, 3, seed + 90), weights: vec![2.0, 0.0, 1.0] };
                let laws = Law::Groups(vec![other, scaled.law().clone()]);
                let groups = Scenarios::of(&problem, &placement, laws).unwrap();
                let of_first = [&spreads[..], &[0.0]].concat();
                for (scenarios, base) in [
                    (shared, case.predictions.clone()),
                    (own, members),
                    (scaled, spreads),
                    (groups, of_first),
                ] {
                    let options = LossOptions { scenarios: Some(scenarios), ..options(&case.multipliers) };
                    let mut loss = build_loss(method, &problem, &placement, &options).unwrap();
                    let (c, t) = differences(loss.as_mut(), &base, &case.truths);
                    (checked, tried) = (checked + c, tried + t);
                }
            }
        }
        assert!(checked * 10 >= tried * 6, "{method}: {checked} of {tried} entries checked");
    }
}

#[test]
fn what_scenarios_change() {
    let problem = problem(1, true, false);
    let theta = Placement::theta(problem.n());
    let centred: Vec<f64> = [vec![0.5; problem.n()], vec![-0.5; problem.n()]].concat();
    assert!(!Scenarios::new(&problem, &theta, centred).unwrap().changes_decision());
    assert!(Scenarios::new(&problem, &theta, vec![0.5; problem.n()]).unwrap().changes_decision());
    let limits = Placement::whole(&problem, &[Parameter::Limit]);
    assert!(Scenarios::new(&problem, &limits, vec![0.0; 6]).unwrap().changes_decision());
    let one = Placement::of_parts(&[Part { parameter: Parameter::Limit, range: 1..2 }]);
    let scenarios = Scenarios::new(&problem, &one, vec![0.1, -0.1, 0.0]).unwrap();
    assert_eq!(scenarios.problem().shape().soft, 5, "one row of three is repeated three times");
    assert_eq!(scenarios.problem().row_name(RowId::Soft(0)), "soft[0]");
    assert_eq!(scenarios.problem().row_name(RowId::Soft(2)), "soft[1] in scenario[1]");
}

#[test]
fn what_has_no_average_is_refused() {
    let problem = problem(1, true, false);
    for parameter in [Parameter::AtMost, Parameter::AtMostRows, Parameter::Lower, Parameter::Upper] {
        let placement = Placement::whole(&problem, &[parameter]);
        let error = Scenarios::new(&problem, &placement, vec![0.0; placement.width()]).unwrap_err();
        assert!(error.to_string().contains("hard"), "{error}");
    }
    let theta = Placement::theta(problem.n());
    assert!(Scenarios::new(&problem, &theta, vec![]).is_err());
    assert!(Scenarios::new(&problem, &theta, vec![0.0; problem.n() + 1]).is_err());
    assert!(Scenarios::new(&problem, &theta, vec![f64::NAN; problem.n()]).is_err());
    let scenarios = Scenarios::new(&problem, &theta, vec![0.1; problem.n()]).unwrap();
    let limits = Placement::whole(&problem, &[Parameter::Limit]);
    assert!(Regret::new(&problem, &limits, Some(scenarios.clone())).is_err(), "another placement");
    let case = Case::new(&problem, &theta, 1, 1).unwrap();
    for method in Method::ALL.into_iter().filter(|m| !m.takes_scenarios()) {
        let options = LossOptions { scenarios: Some(scenarios.clone()), ..options(&case.multipliers) };
        let Err(error) = build_loss(method, &problem, &theta, &options) else { panic!("{method}") };
        assert!(matches!(error, LossError::Unsupported { alternatives, .. } if !alternatives.is_empty()));
    }
}

/// So many copies of predicted rows that Newton's method is asked before the path, and limits that move all together: from a start or
/// from nothing, a sample has the same loss, and its gradient is that of finite differences.
#[test]
fn many_scenarios_are_as_exact_as_few() {
    for parameter in [Parameter::SoftRows, Parameter::Limit] {
        let problem = problem(2, false, true);
        let placement = Placement::whole(&problem, &[parameter]);
        let scenarios = Scenarios::new(&problem, &placement, residuals(&placement, 60, 5)).unwrap();
        assert!(scenarios.problem().shape().soft >= 20 * problem.n());
        let first = near(&problem, &placement, 1, 0.2);
        let truth = near(&problem, &placement, 7, 0.3);
        let typical = placement.parameters(&problem, &truth, &[]);
        let multipliers = Multipliers::choose(&problem, &Rule::default(), &[typical.instance()]).unwrap();
        let options = LossOptions {
            k: 3.0,
            multipliers: Some(&multipliers),
            scenarios: Some(scenarios),
            ..LossOptions::default()
        };
        let fresh = || build_loss(Method::SurrogateSmooth, &problem, &placement, &options).unwrap();
        let of = |loss: &mut dyn DecisionLoss, p: &[f64]| {
            let found = loss.evaluate(&Batch::new(p, &truth, &[0])).unwrap();
            assert!(found.troubles.is_empty());
            (found.values[0], found.gradients)
        };
        let mut warm = fresh();
        let mut r = rng(3);
        let mut p = first;
        for _ in 0..6 {
            let (value, gradient) = of(&mut *warm, &p);
            let (cold, other) = of(&mut *fresh(), &p);
            close!(value, cold, 1e-8);
            for (a, b) in gradient.iter().zip(&other) {
                close!(*a, *b, 1e-6);
            }
            let step = 1e-6;
            for j in 0..p.len() {
                let at = |h: f64| {
                    let mut moved = p.clone();
                    moved[j] += h;
                    of(&mut *fresh(), &moved).0
                };
                let slope = (at(step) - at(-step)) / (2.0 * step);
                close!(slope, gradient[j], 2e-4, "{parameter:?}, entry {j}");
            }
            p.iter_mut().for_each(|p| *p += 0.05 * normal(&mut r));
        }
    }
}
