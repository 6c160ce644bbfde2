//! Tied quantities and known numbers: against a problem per row, the sum over places, and finite differences.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::cases::{multipliers, options, problem};
use common::{normal, rng};
use rand::RngExt;
use regretless_core::problem::Role;
use regretless_core::*;

/// A random placement: every entry of some kinds is affine in two quantities, its factors fixed or known.
fn tied(problem: &Problem, kinds: &[Parameter], seed: u64) -> Placement {
    let mut r = rng(seed);
    let mut terms = Vec::new();
    for &kind in kinds {
        for (entry, &own) in kind.of(problem).iter().enumerate() {
            let prices = matches!(kind, Parameter::Over | Parameter::Under);
            terms.push(Term::fixed(kind, entry, if prices { own + 0.5 } else { own }));
            let far = 0.3 * normal(&mut r);
            let term = Term::predicted(kind, entry, r.random_range(0..2)).times(far);
            terms.push(if r.random() { term.by(0) } else { term });
        }
    }
    // A limit that is known, a known stock, a known tariff.
    if !kinds.contains(&Parameter::Limit) {
        terms.push(Term::known(Parameter::Limit, 0, 1).times(0.7));
        terms.push(Term::fixed(Parameter::Limit, 0, Parameter::Limit.of(problem)[0]));
    }
    let (stock, own) = (Parameter::AtMost, Parameter::AtMost.of(problem)[0]);
    if !kinds.contains(&stock) {
        terms.extend([Term::fixed(stock, 0, own), Term::known(stock, 0, 2).times(0.1).by(0)]);
    }
    terms.extend([Term::predicted(Parameter::Linear, 1, 0), Term::predicted(Parameter::Linear, 1, 1)]);
    Placement::new(problem, 2, 3, terms).unwrap()
}

fn numbers(seed: u64, count: usize, about: f64) -> Vec<f64> {
    let mut r = rng(seed);
    (0..count).map(|_| about + 0.3 * normal(&mut r)).collect()
}

/// The problem of one row, stated anew: what is known is written into it.
fn stated(problem: &Problem, placement: &Placement, quantities: &[f64], known: &[f64]) -> Problem {
    let parameters = placement.parameters(problem, quantities, known);
    let own = |p: Parameter| parameters.get(p).unwrap_or(p.of(problem)).to_vec();
    let n = problem.n();
    let rows = |p: Parameter| Matrix::from_vec(own(p).len() / n, n, own(p)).unwrap();
    let mut builder = match problem.sense() {
        Sense::Max => Problem::maximize(n),
        Sense::Min => Problem::minimize(n),
    };
    if let Some(q) = problem.Q() {
        builder = builder.quadratic(q.clone());
    }
    let soft = Soft::both(
        rows(Parameter::SoftRows),
        own(Parameter::Limit),
        own(Parameter::Over),
        own(Parameter::Under),
    );
    builder = builder.linear(own(Parameter::Linear)).soft("soft", soft);
    builder = builder.at_most("hard", rows(Parameter::AtMostRows), own(Parameter::AtMost));
    if problem.shape().equal > 0 {
        builder = builder.equal("equal", rows(Parameter::EqualRows), own(Parameter::Equals));
    }
    builder.lower(own(Parameter::Lower)).upper(own(Parameter::Upper)).build().unwrap()
}

fn kinds(seed: u64) -> Vec<Parameter> {
    use Parameter::*;
    [
        vec![Linear],
        vec![Limit],
        vec![Linear, Limit],
        vec![Over, Limit],
        vec![AtMost],
        vec![SoftRows],
        vec![Upper],
    ][seed as usize % 7]
        .clone()
}

struct Row {
    problem: Problem,
    placement: Placement,
    multipliers: Multipliers,
    prediction: Vec<f64>,
    truth: Vec<f64>,
    known: Vec<f64>,
}

fn rows(count: u64) -> Vec<Row> {
    let mut all = Vec::new();
    for seed in 0..count {
        let problem = problem(seed, seed % 2 == 1, seed % 4 > 1);
        let placement = tied(&problem, &kinds(seed), seed);
        let (prediction, truth) = (numbers(seed, 2, 0.5), numbers(seed + 100, 2, 0.5));
        let known = numbers(seed + 200, 3, 1.0);
        let parameters: Vec<Parameters> =
            [&truth, &prediction].iter().map(|q| placement.parameters(&problem, q, &known)).collect();
        let instances: Vec<Instance<'_>> = parameters.iter().map(Parameters::instance).collect();
        let Ok(multipliers) = Multipliers::choose(&problem, &Rule::default(), &instances) else { continue };
        all.push(Row { problem, placement, multipliers, prediction, truth, known });
    }
    all
}

/// `known` is a problem per row: regret and losses are those of the problem with the known numbers written in.
#[test]
fn known_numbers_are_a_problem_per_row() {
    let mut compared = 0;
    for row in rows(28) {
        let Row { problem, placement, multipliers, prediction, truth, known } = &row;
        let own = stated(problem, placement, truth, known);
        // Placed entries that do not depend on the prediction are the statement's own now.
        let terms: Vec<Term> = placement.terms().to_vec();
        let depends = |t: &Term| {
            let same = |o: &&Term| (o.parameter, o.entry) == (t.parameter, t.entry);
            terms.iter().filter(same).any(|o| matches!(o.source, Source::Predicted(_)))
        };
        let fixed =
            |t: &Term| Term { factor: t.by.map_or(t.factor, |l| t.factor * known[l]), by: None, ..*t };
        let left = terms.iter().filter(|t| depends(t)).map(|t| match t.source {
            Source::Known(l) => {
                Term { source: Source::One, factor: fixed(t).factor * known[l], by: None, ..*t }
            }
            _ => fixed(t),
        });
        let plain = Placement::new(&own, 2, 0, left.collect()).unwrap();
        let batch = Batch { predictions: prediction, truths: truth, known, ids: &[3] };
        let alone = Batch::new(prediction, truth, &[3]);
        let a = Regret::new(problem, placement, None).unwrap().evaluate(&batch).unwrap().remove(0);
        let b = Regret::new(&own, &plain, None).unwrap().evaluate(&alone).unwrap().remove(0);
        close!(a.regret, b.regret, 1e-9);
        close!(a.objective, b.objective, 1e-9);
        for method in Method::ALL.into_iter().filter(|m| m.supports(problem, placement).is_ok()) {
            let of = |p: &Problem, l: &Placement, b: &Batch<'_>| {
                build_loss(method, p, l, &options(multipliers)).unwrap().evaluate(b).unwrap()
            };
            let (a, b) = (of(problem, placement, &batch), of(&own, &plain, &alone));
            assert_eq!(a.troubles.len(), b.troubles.len(), "{method}");
            if a.troubles.is_empty() {
                close!(a.values[0], b.values[0], 1e-8, "{method}");
                a.gradients.iter().zip(&b.gradients).for_each(|(a, b)| close!(*a, *b, 1e-7, "{method}"));
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

/// A tied quantity's gradient is the sum over its places: that of a placement in which every place is a quantity of its own.
#[test]
fn a_tied_gradient_is_the_sum_over_places() {
    let mut compared = 0;
    for row in rows(28) {
        let Row { problem, placement, multipliers, prediction, truth, known } = &row;
        let (mut apart, mut of) = (Vec::new(), Vec::new());
        for term in placement.terms() {
            apart.push(match term.source {
                Source::Predicted(j) => {
                    of.push(j);
                    Term { source: Source::Predicted(of.len() - 1), ..*term }
                }
                _ => *term,
            });
        }
        let apart = Placement::new(problem, of.len(), 3, apart).unwrap();
        let spread = |q: &[f64]| of.iter().map(|&j| q[j]).collect::<Vec<f64>>();
        let (wide_prediction, wide_truth) = (spread(prediction), spread(truth));
        let batch = Batch { predictions: prediction, truths: truth, known, ids: &[0] };
        let wide = Batch { predictions: &wide_prediction, truths: &wide_truth, known, ids: &[0] };
        let decided = |m: &Method| m.is_decision_focused() && m.supports(problem, placement).is_ok();
        for method in Method::ALL.into_iter().filter(decided) {
            let run = |l: &Placement, b: &Batch<'_>| {
                build_loss(method, problem, l, &options(multipliers)).unwrap().evaluate(b).unwrap()
            };
            let (a, b) = (run(placement, &batch), run(&apart, &wide));
            if !a.troubles.is_empty() {
                continue;
            }
            close!(a.values[0], b.values[0], 1e-9, "{method}");
            let mut sums = [0.0; 2];
            of.iter().zip(&b.gradients).for_each(|(&j, g)| sums[j] += g);
            a.gradients.iter().zip(sums).for_each(|(a, b)| close!(*a, b, 1e-8, "{method}"));
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn gradients_are_finite_differences() {
    let mut compared = 0;
    for row in rows(28) {
        let Row { problem, placement, multipliers, prediction, truth, known } = &row;
        let mut loss =
            build_loss(Method::SurrogateSmooth, problem, placement, &options(multipliers)).unwrap();
        let mut at =
            |p: &[f64]| loss.evaluate(&Batch { predictions: p, truths: truth, known, ids: &[0] }).unwrap();
        let here = at(prediction);
        if !here.troubles.is_empty() {
            continue;
        }
        for j in 0..2 {
            let h = 1e-5;
            let moved = |h: f64| {
                let mut p = prediction.clone();
                p[j] += h;
                p
            };
            let (up, down) = (at(&moved(h)).values[0], at(&moved(-h)).values[0]);
            let quotient = (up - down) / (2.0 * h);
            // A breakpoint between the two makes the quotient a mean of two slopes.
            if ((up - here.values[0]) - (here.values[0] - down)).abs() < 1e-8 {
                close!(here.gradients[j], quotient, 2e-3 * (1.0 + quotient.abs()));
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "{compared}");
}

/// One rule everywhere: a price below 0 is 0, passes nothing on and is counted, outright and in scenarios.
#[test]
fn negative_prices_are_nothing() {
    let soft = Soft::over(Matrix::from_rows(&[[1.0, 1.0], [1.0, 0.0]]), [1.0, 0.5], [2.0, 2.0]);
    let problem = Problem::maximize(2).linear([1.0, 1.2]).soft("s", soft).upper([3.0, 3.0]).build().unwrap();
    let placement = Placement::whole(&problem, &[Parameter::Over]);
    let parameters = |q: &[f64]| placement.parameters(&problem, q, &[]);
    assert_eq!(parameters(&[-3.0, 0.5]), parameters(&[0.0, 0.5]));
    assert_eq!((placement.cut(&[-3.0, 0.5], &[]), placement.cut(&[0.0, 0.5], &[])), (1, 0));
    let multipliers = multipliers(&problem, &placement, &[&[0.4, 0.4]]).unwrap();
    for method in Method::ALL.into_iter().filter(|m| m.supports(&problem, &placement).is_ok()) {
        let mut loss = build_loss(method, &problem, &placement, &options(&multipliers)).unwrap();
        let cut = loss.evaluate(&Batch::new(&[-3.0, 0.5], &[0.7, 0.9], &[0])).unwrap();
        assert!(cut.troubles.is_empty(), "{method}");
        if method.is_decision_focused() {
            let zero = loss.evaluate(&Batch::new(&[0.0, 0.5], &[0.7, 0.9], &[1])).unwrap();
            close!(cut.values[0], zero.values[0], 1e-9, "{method}");
            assert_eq!((cut.gradients[0], cut.cut, zero.cut), (0.0, 1, 0), "{method}");
        }
    }
    // The truth's prices as well.
    let mut regret = Regret::new(&problem, &placement, None).unwrap();
    let judged = regret.evaluate(&Batch::new(&[-1.0, 0.5], &[-2.0, 0.5], &[0])).unwrap().remove(0);
    assert_eq!((judged.trouble.clone(), judged.cut), (None, 1));
    assert!(judged.regret.abs() < 1e-9);
    let scenarios = Scenarios::new(&problem, &placement, vec![-1.0, 0.0, 1.0, 0.0]).unwrap();
    let mut regret = Regret::new(&problem, &placement, Some(scenarios)).unwrap();
    let judged = regret.evaluate(&Batch::new(&[0.5, 0.5], &[0.5, 0.5], &[0])).unwrap().remove(0);
    assert_eq!(judged.cut, 1, "in one of two scenarios");
}

/// A hard row that is known by row does not forbid scenarios, and each row is decided with its own.
#[test]
fn scenarios_with_a_known_hard_row() {
    let soft = Soft::over(Matrix::from_rows(&[[1.0]]), [0.0], [6.0]);
    let problem = Problem::maximize(1)
        .linear([1.0])
        .soft("demand", soft)
        .at_most("stock", Matrix::from_rows(&[[1.0]]), [0.0])
        .build()
        .unwrap();
    let demand = Term::predicted(Parameter::Limit, 0, 0);
    let terms = vec![demand, Term::known(Parameter::AtMost, 0, 0)];
    let placement = Placement::new(&problem, 1, 1, terms).unwrap();
    assert!(!placement.predicts_role(Role::Hard));
    let scenarios = Scenarios::new(&problem, &placement, vec![-2.0, -1.0, 0.0, 1.0, 2.0]).unwrap();
    let regret = Regret::new(&problem, &placement, Some(scenarios)).unwrap();
    let decided = regret.decide(&[10.0, 10.0], &[100.0, 5.0]).unwrap();
    close!(decided[0].as_ref().unwrap().x[0], 8.0, 1e-9);
    close!(decided[1].as_ref().unwrap().x[0], 5.0, 1e-9);
    let hard = vec![demand, Term::predicted(Parameter::AtMost, 0, 0)];
    let hard = Placement::new(&problem, 1, 0, hard).unwrap();
    assert!(matches!(Scenarios::new(&problem, &hard, vec![0.0]), Err(ScenarioError::Hard("b"))));
}

/// Known prices and limits of rows that are repeated are those of every copy: the mean objective by its definition.
#[test]
fn scenarios_with_known_soft_numbers() {
    for seed in 0..12 {
        let problem = problem(seed, seed % 2 == 1, false);
        let n = problem.shape().soft;
        let mut terms: Vec<Term> =
            (0..n).map(|k| Term::predicted(Parameter::Limit, k, 0).times(1.0 + k as f64).by(0)).collect();
        terms.extend((0..n).map(|k| Term::known(Parameter::Over, k, 1).times(1.0 + k as f64)));
        terms.push(Term::known(Parameter::SoftRows, 1, 2));
        let placement = Placement::new(&problem, 1, 3, terms).unwrap();
        let known = numbers(seed, 3, 1.0);
        let scenarios = Scenarios::from_members(&problem, &placement, 3).unwrap();
        let members = numbers(seed + 9, 3, 1.0);
        let x = numbers(seed + 18, problem.n(), 0.4);
        let parameters = scenarios.parameters(&members, &known);
        let mean = scenarios.problem().view(&parameters.instance()).unwrap().objective(&x);
        let one = |q: &f64| {
            let parameters = placement.parameters(&problem, &[*q], &known);
            problem.view(&parameters.instance()).unwrap().objective(&x)
        };
        close!(mean, members.iter().map(one).sum::<f64>() / 3.0, 1e-9);
    }
}

/// Into Q numbers enter as weights of semidefinite matrices, never below 0.
#[test]
fn weights_in_the_quadratic_term() {
    let lp = Problem::maximize(2).linear([1.0, 2.0]).upper([4.0, 4.0]).build().unwrap();
    let q = |entry, factor| Term::predicted(Parameter::Quadratic, entry, 0).times(factor);
    // risk · [[2, 1], [1, 1]] + I
    let mut terms = vec![q(0, 2.0), q(1, 1.0), q(2, 1.0), q(3, 1.0)];
    terms.extend([0, 3].map(|entry| Term::fixed(Parameter::Quadratic, entry, 1.0)));
    let placement = Placement::new(&lp, 1, 0, terms.clone()).unwrap();
    let at = |risk: f64| placement.parameters(&lp, &[risk], &[]).get(Parameter::Quadratic).unwrap().to_vec();
    assert_eq!(at(0.5), [2.0, 0.5, 0.5, 1.5]);
    assert_eq!(at(-0.5), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(placement.cut(&[-0.5], &[]), 1);
    // Not semidefinite: refused.
    terms[1].factor = 3.0;
    terms[2].factor = 3.0;
    let refused = Placement::new(&lp, 1, 0, terms).unwrap_err();
    assert!(matches!(refused, ProblemError::Curvature { .. }), "{refused}");
    // The gradient goes through the weight, and not where it is cut.
    let multipliers = multipliers(&lp, &placement, &[&[0.5]]).unwrap();
    let mut loss = build_loss(Method::SurrogateSmooth, &lp, &placement, &options(&multipliers)).unwrap();
    let mut at = |risk: f64| loss.evaluate(&Batch::new(&[risk], &[0.8], &[0])).unwrap();
    let h = 1e-5;
    let quotient = (at(0.3 + h).values[0] - at(0.3 - h).values[0]) / (2.0 * h);
    close!(at(0.3).gradients[0], quotient, 1e-4);
    assert_eq!((at(-0.3).gradients[0], at(-0.3).values[0]), (0.0, at(0.0).values[0]));
}

#[test]
fn what_does_not_fit_is_refused() {
    let problem = Problem::maximize(2).linear([1.0, 1.0]).build().unwrap();
    let of = |width, known, terms| Placement::new(&problem, width, known, terms);
    let theta = Term::predicted(Parameter::Linear, 0, 0);
    assert!(of(1, 0, vec![theta]).is_ok());
    assert_eq!(of(2, 0, vec![theta]).unwrap_err(), ProblemError::Unplaced { quantity: 1 });
    assert!(of(1, 0, vec![theta.by(0)]).is_err(), "no such known number");
    assert!(of(1, 0, vec![Term { entry: 2, ..theta }]).is_err(), "no such variable");
    assert!(of(1, 0, vec![theta.times(f64::NAN)]).is_err());
    let loss =
        build_loss(Method::L2, &problem, &of(1, 1, vec![theta.by(0)]).unwrap(), &LossOptions::default());
    let short = loss.unwrap().evaluate(&Batch::new(&[1.0], &[1.0], &[0]));
    assert!(matches!(short, Err(LossError::Length { what: "known numbers", expected: 1, found: 0 })));
}
