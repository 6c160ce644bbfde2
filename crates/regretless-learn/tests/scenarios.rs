//! Decisions over scenarios against the newsvendor's closed form: order the quantile under/(over + under) of demand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::{NEWSVENDOR, Project, fit, lp, newsvendor, normal, residuals};
use regretless_core::Law;
use regretless_learn::{LearnError, Model, Silent, judge, stream};
use regretless_project::{Run, train_new};

/// The 3/4 quantile of the standard normal distribution.
const QUANTILE: f64 = 0.674_489_750_196_082;

/// The mean cost of ordering q units above the mean of a demand with deviation 2: 1·E(q − D)⁺ + 3·E(D − q)⁺.
fn cost(q: f64) -> f64 {
    let z = q / 2.0;
    let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    let below = 0.5 * (1.0 + statrs::function::erf::erf(z / std::f64::consts::SQRT_2));
    let surplus = 2.0 * (z * below + density);
    surplus + 3.0 * (surplus - q)
}

#[test]
fn the_closed_form_has_its_minimum_at_the_quantile() {
    let best = cost(2.0 * QUANTILE);
    assert!(cost(2.0 * QUANTILE + 0.1) > best && cost(2.0 * QUANTILE - 0.1) > best);
}

#[test]
fn residual_scenarios_order_the_critical_quantile() {
    let project = newsvendor("epochs = 40\nscenarios = { source = \"residuals\", count = 200 }", 1200);
    let dir = project.path("run");
    train_new(&project.with_method("l2+scenarios"), &dir, &mut Silent).unwrap();
    let (_, decider) = Run::open(&dir).unwrap().decider().unwrap();
    let features: Vec<f64> = (0..21).map(|i| -1.0 + 0.1 * f64::from(i)).collect();
    let decisions = decider.decide(&features, &[], 21).unwrap();
    for (f, decision) in features.iter().zip(decisions) {
        let wanted = 10.0 + 3.0 * f + 2.0 * QUANTILE;
        let found = decision.unwrap().x[0];
        // 200 residuals: the quantile's own standard error is 0.19; the regression adds a little.
        assert!((found - wanted).abs() < 0.6, "f = {f}: {found} is not {wanted}");
    }
    // What decisions cost is known row by row, noise and all: the measured regret is that up to its standard error (the
    // optimum, to order what is asked for, costs nothing).
    let task = project.task();
    let best = cost(2.0 * QUANTILE);
    let mut expected = Vec::new();
    for method in ["l2", "l2+scenarios"] {
        let model = fit(&task, method).unwrap().candidate.fitted.model;
        let judged = judge(&task, &model, task.test()).unwrap();
        let known = task.features(task.test()).into_iter().zip(&judged.decisions);
        let costs: Vec<f64> = known.map(|(f, d)| cost(d.x[0] - (10.0 + 3.0 * f))).collect();
        let mean = costs.iter().sum::<f64>() / costs.len() as f64;
        let (found, error) = (judged.measures.regret, judged.measures.standard_error);
        assert!((found - mean).abs() < 4.0 * error, "{method}: {found} is not {mean} ± {error}");
        expected.push(mean);
    }
    // With scenarios nearly the best that can be had, and better than the point decision.
    assert!(expected[1] < 1.05 * best, "{} is not {best}", expected[1]);
    assert!(expected[1] < expected[0], "{expected:?}");
}

#[test]
fn scenarios_are_the_quantile_of_their_residuals() {
    // Exactly, whatever was trained: the decision is the prediction plus a 3/4 quantile of the kept residuals.
    let project = newsvendor("epochs = 3\nscenarios = { count = 21 }", 150);
    let task = project.task();
    for method in
        ["l2+scenarios", "constant+scenarios", "surrogate-smooth+scenarios", "surrogate-smooth+l2+scenarios"]
    {
        let chosen = fit(&task, method).unwrap_or_else(|e| panic!("{method}: {e}"));
        let model = &chosen.candidate.fitted.model;
        let mut residuals = residuals(model);
        assert_eq!(residuals.len(), 21, "{method}");
        residuals.sort_by(f64::total_cmp);
        // 16 of 21 is the first share of at least 3/4.
        let judged = judge(&task, model, task.test()).unwrap();
        for (prediction, decision) in judged.predictions.iter().zip(&judged.decisions) {
            let wanted = (prediction + residuals[15]).clamp(0.0, 40.0);
            assert!((decision.x[0] - wanted).abs() < 1e-7, "{method}: {} is not {wanted}", decision.x[0]);
        }
    }
}

/// Residuals are what a predictor without the row got wrong. Of the constant one, in the order of the table, by hand: the row
/// less the mean of the four fifths that it is not in.
#[test]
fn residuals_are_cross_fitted() {
    let project = newsvendor("scenarios = { count = 1000 }", 150);
    let problem = std::fs::read_to_string(project.path("problem.toml")).unwrap();
    let split = "[data]\nsplit = { kind = \"chronological\", valid = 0.2, test = 0.2 }\n";
    project.write("problem.toml", problem.replacen("[data]\n", split, 1));
    let task = project.task();
    let demand = task.targets(task.train());
    assert_eq!(demand.len(), 90);
    let mean = |rows: &[f64]| rows.iter().sum::<f64>() / rows.len() as f64;
    let mut wanted: Vec<f64> = (0..90)
        .map(|i| {
            let (start, end) = (i / 18 * 18, i / 18 * 18 + 18);
            demand[i] - mean(&[&demand[..start], &demand[end..]].concat())
        })
        .collect();
    let mut found = residuals(&fit(&task, "constant+scenarios").unwrap().candidate.fitted.model);
    // What it errs by on later rows, which it did not learn from, is known too.
    let later = task.targets(task.valid());
    assert_eq!(later.len(), 30);
    wanted.extend(later.iter().map(|later| later - mean(&demand)));
    wanted.sort_by(f64::total_cmp);
    found.sort_by(f64::total_cmp);
    assert_eq!(found.len(), 120);
    assert!(found.iter().zip(&wanted).all(|(f, w)| (f - w).abs() < 1e-9), "{found:?} {wanted:?}");
}

/// A predictor that knows its training rows by heart has no errors there: without the rows that it did not learn from it would
/// believe that it is never wrong, and order the mean.
#[test]
fn what_was_learned_by_heart_does_not_count() {
    let mut rng = stream(3, 0, 0);
    let names: Vec<String> = (0..60).map(|j| format!("noise{j}")).collect();
    let mut table = format!("demand,{}\n", names.join(","));
    for _ in 0..80 {
        let cells: Vec<String> = (0..61)
            .map(|j| if j == 0 { 12.0 + 2.0 * normal(&mut rng) } else { normal(&mut rng) })
            .map(|v| v.to_string())
            .collect();
        writeln!(table, "{}", cells.join(",")).unwrap();
    }
    let training = "[training]\nlearning_rate = 0.05\nepochs = 300\nregression = \"descent\"\nstop = \"never\"\n\
                    keep = \"last\"\nscenarios = { count = 200 }\n";
    let project = Project::new(&format!("{NEWSVENDOR}\n{training}"), &table);
    let task = project.task();
    let model = fit(&task, "l2+scenarios").unwrap().candidate.fitted.model;
    let size = |errors: &[f64]| (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
    let errors = |rows: &[usize]| -> Vec<f64> {
        let found = model.predict(&task.features(rows), rows.len());
        task.targets(rows).iter().zip(found).map(|(t, p)| t - p).collect()
    };
    let (learned, new) = (size(&errors(task.train())), size(&errors(task.test())));
    assert!(learned < 0.7 * new, "{learned} on rows it learned from, {new} on others");
    let found = size(&residuals(&model));
    assert!(found > 0.8 * new, "{found} is not {new}");
}

#[test]
fn an_ensemble_decides_for_its_members() {
    let project = newsvendor(
        "epochs = 2\nbatch = 8\nscenarios = { source = \"ensemble\", count = 5 }\noptimizer = \"sgd\"",
        100,
    );
    let problem = std::fs::read_to_string(project.path("problem.toml")).unwrap();
    project.write("problem.toml", problem.replace("kind = \"linear\"", "layers = [6]"));
    let task = project.task();
    let model = fit(&task, "l2+scenarios").unwrap().candidate.fitted.model;
    assert_eq!((model.members.len(), model.law()), (5, Some(Law::points(5))));
    let features = task.features(task.test());
    let each = model.predict_each(&features, task.test().len());
    assert!(each[1..].iter().all(|m| m != &each[0]), "members differ");
    let judged = judge(&task, &model, task.test()).unwrap();
    for (r, decision) in judged.decisions.iter().enumerate() {
        let mut members: Vec<f64> = each.iter().map(|m| m[r]).collect();
        members.sort_by(f64::total_cmp);
        // 4 of 5 is the first share of at least 3/4.
        assert!((decision.x[0] - members[3]).abs() < 1e-7, "{} is not {}", decision.x[0], members[3]);
        let mean = members.iter().sum::<f64>() / 5.0;
        assert!((judged.predictions[r] - mean).abs() < 1e-9);
    }
    // The whole way through a run directory.
    let dir = project.path("run");
    let (_, outcome) = train_new(&project.with_method("l2+scenarios"), &dir, &mut Silent).unwrap();
    assert!((outcome.test.unwrap().regret - judged.measures.regret).abs() < 1e-9);
}

#[test]
fn scenarios_that_change_nothing_are_refused() {
    let task = lp("epochs = 2").task();
    assert!(!task.has_scenarios());
    for method in ["l2+scenarios", "spo++scenarios", "surrogate-smooth+l2+scenarios"] {
        match fit(&task, method) {
            Err(error @ LearnError::Settings { .. }) => {
                assert!(error.to_string().contains("linearly"), "{error}");
                assert!(error.hint().unwrap().to_string().contains("predicted soft rows"));
            }
            other => panic!("{method}: {other:?}"),
        }
    }
    // And nothing is left behind.
    let project = lp("epochs = 2");
    let dir = project.path("run");
    assert!(train_new(&project.with_method("l2+scenarios"), &dir, &mut Silent).is_err());
    assert!(!dir.exists());
}

/// At risk the worst tenth counts, which is of both tails: a surplus up to a = F⁻¹(3/4 · 0.1) and a shortage from b = F⁻¹(1 − 1/4 · 0.1)
/// on, with (q − a) = 3(b − q).
#[test]
fn a_risk_hedges_the_tails_from_training_to_decisions() {
    let risk = "scenarios = { source = \"residuals\", count = 400 }\nrisk = { cvar = 0.9 }";
    let project = newsvendor(risk, 1600);
    let dir = project.path("run");
    train_new(&project.with_method("l2+scenarios"), &dir, &mut Silent).unwrap();
    let (_, decider) = Run::open(&dir).unwrap().decider().unwrap();
    assert!(decider.is_at_risk() && decider.card().risk.is_some());
    let (a, b) = (-1.439_531_470_938_456, 1.959_963_984_540_054);
    let above = 2.0 * (a + 3.0 * b) / 4.0;
    let features: Vec<f64> = (0..5).map(|i| -1.0 + 0.5 * f64::from(i)).collect();
    for (f, decided) in features.iter().zip(decider.decide_with_outlooks(&features, &[], 5).unwrap()) {
        let (optimum, outlook) = decided.unwrap();
        let wanted = 10.0 + 3.0 * f + above;
        // 10 residuals in each of the tails that decide.
        assert!((optimum.x[0] - wanted).abs() < 0.9, "f = {f}: {} is not {wanted}", optimum.x[0]);
        let threshold = above - 2.0 * a;
        assert!((outlook.unwrap().threshold - threshold).abs() < 0.9);
    }
    // On rows that nobody saw: the scores keep what was promised, a tenth is beyond, and the mean pays for it.
    let task = project.task();
    let judged = |method: &str| {
        let model = fit(&task, method).unwrap().candidate.fitted.model;
        judge(&task, &model, task.test()).unwrap()
    };
    let (hedged, point) = (judged("l2+scenarios"), judged("l2"));
    let kept = hedged.measures.risk.unwrap();
    assert!((kept.score - kept.promised).abs() < 0.25 * kept.promised, "{kept:?}");
    assert!((kept.beyond - 0.1).abs() < 0.06, "{kept:?}");
    assert!(point.measures.risk.is_none());
    let tail = |judged: &regretless_learn::Judgement| {
        let mut costs: Vec<f64> = judged.decisions.iter().map(|d| d.objective).collect();
        costs.sort_by(|a, b| b.total_cmp(a));
        let worst = costs.len() / 10;
        costs[..worst].iter().sum::<f64>() / worst as f64
    };
    assert!(tail(&hedged) < 0.9 * tail(&point));
}

#[test]
fn risks_that_make_no_sense_are_refused() {
    let project = newsvendor("risk = { cvar = 0.9 }", 100);
    let refused =
        |method: &str| match train_new(&project.with_method(method), &project.path(method), &mut Silent) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{method}"),
        };
    assert!(refused("auto").contains("`auto` chooses by the mean"));
    assert!(refused("l2").contains("no risk"));
    assert!(refused("df+scenarios").contains("through the mean"));
}

/// The forecast is a constant, which is wrong in both halves of the year: what a decision loss learns from there lowers the scores.
#[test]
fn decision_losses_are_trained_through_the_risk() {
    let project =
        newsvendor("scenarios = { source = \"residuals\", count = 40 }\nrisk = { cvar = 0.8 }", 400);
    let task = project.task();
    let fitted = fit(&task, "surrogate+scenarios").unwrap().candidate.fitted;
    let judged: Vec<f64> =
        fitted.history.iter().filter_map(|e| e.valid.risk).map(|risk| risk.regret).collect();
    assert_eq!(judged.len(), fitted.history.len(), "epochs are judged at risk");
    assert!(judged.iter().all(|regret| *regret >= 0.0));
    let trained: Vec<f64> = fitted.history.iter().skip(1).map(|e| e.zero_gradients).collect();
    assert!(!trained.is_empty() && trained.iter().all(|zeros| *zeros < 0.5), "{trained:?}");
    // What was kept is the epoch with the best scores.
    let best = judged.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(judged[fitted.best], best);
    let plain = fit(&task, "l2+scenarios").unwrap().candidate.fitted.model;
    let score = |model: &Model| judge(&task, model, task.test()).unwrap().measures.risk.unwrap().score;
    assert!(score(&fitted.model) < 1.03 * score(&plain), "{} {}", score(&fitted.model), score(&plain));
}
