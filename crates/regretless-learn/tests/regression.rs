//! Linear two-stage predictors: regressions solved to the optimum.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::{LP, Project, fit, lp, lp_table, lp_with, newsvendor, residuals, weights};
use regretless_learn::{Decider, Ended, Model, Scale, Silent, Task, judge};
use regretless_project::{Run, train_new};

fn predictions(task: &Task, model: &Model) -> Vec<f64> {
    let rows: Vec<usize> = (0..task.data().rows()).collect();
    model.predict(&task.features(&rows), rows.len())
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// What was kept for the epochs of descent does not move the solution; and no descent has a smaller loss.
#[test]
fn a_regression_is_solved_at_once() {
    let model = |training: &str, method: &str| {
        let fitted = fit(&lp(training).task(), method).unwrap().candidate.fitted;
        assert!(fitted.model.transforms.is_empty());
        (fitted.model, fitted.history, fitted.ended)
    };
    for method in ["l1", "l2", "weighted-l1"] {
        let (solved, history, ended) = model("epochs = 3", method);
        assert_eq!((ended, history.len()), (Ended::Solved, 2), "{method}");
        let (same, ..) = model("epochs = 90\nlearning_rate = 0.5\nstop = { patience = 1 }", method);
        assert_eq!(weights(&solved)[0], weights(&same)[0], "{method}");
        let descent =
            "epochs = 300\nlearning_rate = 0.01\nregression = \"descent\"\nstop = \"never\"\nkeep = \"last\"";
        let (_, descended, ended) = model(descent, method);
        assert_eq!(ended, Ended::LastEpoch);
        let (own, other) = (history[1].loss, descended.last().unwrap().loss);
        assert!(own < 1.002 * other, "{method}: {own}, by descent {other}");
    }
}

/// A regression is that of its rows: the features' units, what is there twice and what never changes do not matter.
#[test]
fn units_and_copies_of_features_do_not_matter() {
    let table = lp_table(150, 1);
    let plain = Project::new(&format!("{LP}[predictor]\nkind = \"linear\"\n"), &table);
    let mut other = String::from("p,q,r,s,t,v_a,v_b,v_c,v_d\n");
    for line in table.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|c| c.parse().unwrap()).collect();
        let mut features = cells[..3].to_vec();
        features[0] = 1e6 + 1e3 * features[0];
        features.extend([7.0, 1e-3 * features[1]]);
        let line: Vec<String> = features.iter().chain(&cells[3..]).map(ToString::to_string).collect();
        writeln!(other, "{}", line.join(",")).unwrap();
    }
    let text = LP.replace("\"r\"]", "\"r\", \"s\", \"t\"]");
    let other = Project::new(&format!("{text}[predictor]\nkind = \"linear\"\n"), &other);
    let (plain, other) = (plain.task(), other.task());
    let of =
        |task: &Task, method: &str| predictions(task, &fit(task, method).unwrap().candidate.fitted.model);
    // Least absolute deviations are the same fit; the ridge's length of a feature that is there twice is another.
    assert!(largest_difference(&of(&plain, "l1"), &of(&other, "l1")) < 2e-4);
    assert!(largest_difference(&of(&plain, "l2"), &of(&other, "l2")) < 2e-2);
}

fn skewed(rows: usize) -> Project {
    common::skewed(rows, "[predictor]\nkind = \"linear\"\n[training]\nepochs = 8\n")
}

#[test]
fn skewed_targets_are_predicted_on_another_scale() {
    let project = skewed(500);
    let task = project.task();
    let rows = task.test();
    let regret = |model: &Model| judge(&task, model, rows).unwrap().measures.regret;
    for (method, share) in [("l2", 0.7), ("l1", 0.95)] {
        let model = fit(&task, method).unwrap().candidate.fitted.model;
        assert_eq!(model.transforms.iter().map(|t| t.scale).collect::<Vec<_>>(), [Scale::Log; 8], "{method}");
        let plain = Project::new(
            &std::fs::read_to_string(project.path("problem.toml")).unwrap(),
            &std::fs::read_to_string(project.path("history.csv")).unwrap(),
        );
        let text = std::fs::read_to_string(plain.path("problem.toml")).unwrap();
        plain.write("problem.toml", text + "regression = \"descent\"\nlearning_rate = 0.03\n");
        let descended = fit(&plain.task(), method).unwrap().candidate.fitted.model;
        assert!(descended.transforms.is_empty());
        assert!(
            regret(&model) < share * regret(&descended),
            "{method}: {} {}",
            regret(&model),
            regret(&descended)
        );
        // Least squares predicts means, E exp(ε) above medians; least absolute deviations predict medians.
        let corrected = |c: f64| if method == "l2" { (1.01..1.5).contains(&c) } else { c == 1.0 };
        assert!(model.transforms.iter().all(|t| corrected(t.correction)), "{method}: {:?}", model.transforms);
    }
}

/// Through a run directory, through bytes, tuned by a decision loss, with the same predictions.
#[test]
fn scales_are_kept_with_the_model() {
    let project = skewed(200);
    for method in ["l2", "auto"] {
        let dir = project.path(method);
        let (_, outcome) = train_new(&project.with_method(method), &dir, &mut Silent).unwrap();
        let run = Run::open(&dir).unwrap();
        let (model, card) = run.model().unwrap();
        assert_eq!(
            (card.format, card.scales.as_slice()),
            (2, &[Scale::Log; 8][..]),
            "{method}: {}",
            outcome.kept
        );
        let (_, decider) = run.decider().unwrap();
        let (spec, bytes) = (project.spec(), decider.to_bytes().unwrap());
        let predictor = spec.predictor();
        let placement = spec.placement(&decider.card().targets, &[]).unwrap();
        let again = Decider::from_bytes(spec.problem().clone(), placement, predictor, &bytes).unwrap();
        let features = [0.3, -0.8, 1.4, 0.0, 0.5, 0.1, -0.2, 0.6];
        assert_eq!(decider.predict(&features, 2), model.predict(&features, 2));
        assert_eq!(again.predict(&features, 2), model.predict(&features, 2));
        assert!(model.predict(&features, 2).iter().all(|p| *p > 0.0));
        // Far outside of what was seen a forecast is still a number.
        assert!(model.predict(&[1e9, -1e9, 1e9, 0.0], 1).iter().all(|p| p.is_finite()));
        let test = outcome.test.unwrap().regret;
        let task = project.task();
        assert!((judge(&task, &model, task.test()).unwrap().measures.regret - test).abs() < 1e-9);
    }
    // What needs no other scale has a card and a file as before.
    let plain = lp("epochs = 2");
    let (run, _) = train_new(&plain.with_method("l2"), &plain.path("run"), &mut Silent).unwrap();
    let (model, card) = run.model().unwrap();
    assert_eq!((card.format, card.scales.len(), model.transforms.len()), (1, 0, 0));
}

/// Demand that is never negative: scenarios are residuals around whatever is predicted. The noise has a deviation of 2.
#[test]
fn scenarios_come_with_any_scale() {
    let project = newsvendor("scenarios = { count = 150 }", 300);
    let model = fit(&project.task(), "l2+scenarios").unwrap().candidate.fitted.model;
    let residuals = residuals(&model);
    assert_eq!(residuals.len(), 150);
    let mean = residuals.iter().sum::<f64>() / 150.0;
    let deviation = (residuals.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 150.0).sqrt();
    assert!(mean.abs() < 0.5 && (deviation - 2.0).abs() < 0.4, "{mean} ± {deviation}");
}

/// A network on the scale of logarithms: chosen where it decides better, measured there, with means on the way back.
#[test]
fn networks_forecast_skewed_targets_on_another_scale() {
    let project = skewed(500);
    let text = std::fs::read_to_string(project.path("problem.toml")).unwrap();
    let network = "layers = [16]\n[training]\nlearning_rate = 0.01\nstop = { patience = 20 }\n";
    let text = text.replace("kind = \"linear\"\n[training]\nepochs = 8\n", network);
    project.write("problem.toml", format!("{text}epochs = 120\n"));
    let task = project.task();
    let model = fit(&task, "l2").unwrap().candidate.fitted.model;
    assert_eq!(model.transforms.iter().map(|t| t.scale).collect::<Vec<_>>(), [Scale::Log; 8]);
    project.write("problem.toml", format!("{text}epochs = 120\nregression = \"descent\"\n"));
    let descended = fit(&project.task(), "l2").unwrap().candidate.fitted.model;
    assert!(descended.transforms.is_empty());
    let regret = |model: &Model| judge(&task, model, task.test()).unwrap().measures.regret;
    assert!(regret(&model) < regret(&descended), "{} {}", regret(&model), regret(&descended));
    // Means, not medians: over the rows that it learned from, where errors are a little too small, ratios of truth to prediction are
    // nearly 1 on average.
    let rows = task.train();
    let found = model.predict(&task.features(rows), rows.len());
    let truths = task.targets(rows);
    let ratio = truths.iter().zip(&found).map(|(t, p)| t / p).sum::<f64>() / found.len() as f64;
    assert!((0.98..1.001).contains(&ratio), "{ratio}");
    // The same through a run directory, stopped and resumed or not.
    let (run, _) = train_new(&project.with_method("auto"), &project.path("run"), &mut Silent).unwrap();
    assert!(run.model().unwrap().0.predict(&task.features(rows), rows.len()).iter().all(|p| p.is_finite()));
}

/// The same problem said otherwise: a row twice, rows in another order and in other units.
#[test]
fn what_is_learned_does_not_depend_on_how_rows_are_stated() {
    let sections = "[predictor]\nkind = \"linear\"\n";
    let training = "epochs = 6\nlearning_rate = 0.02";
    let plain = lp_with(sections, training).task();
    let rows = "rows = [[1.0, 2.0, 1.0, 0.5], [0.5, 1.0, 2.0, 1.5]]\nat_most = [5.0, 6.0]";
    let others = [
        // The sum of the two rows, which says nothing new, and one of them again.
        "rows = [[1.0, 2.0, 1.0, 0.5], [0.5, 1.0, 2.0, 1.5], [1.5, 3.0, 3.0, 2.0], [1.0, 2.0, 1.0, 0.5]]\nat_most = [5.0, 6.0, 11.0, 5.0]",
        "rows = [[0.5, 1.0, 2.0, 1.5], [1.0, 2.0, 1.0, 0.5]]\nat_most = [6.0, 5.0]",
        "rows = [[128.0, 256.0, 128.0, 64.0], [0.0078125, 0.015625, 0.03125, 0.0234375]]\nat_most = [640.0, 0.09375]",
    ];
    assert!(LP.contains(rows));
    for method in ["l1", "l2", "spo+"] {
        let wanted = predictions(&plain, &fit(&plain, method).unwrap().candidate.fitted.model);
        for other in others {
            let text = format!("{}{sections}\n[training]\n{training}\n", LP.replace(rows, other));
            let task = Project::new(&text, &lp_table(150, 1)).task();
            let found = predictions(&task, &fit(&task, method).unwrap().candidate.fitted.model);
            let apart = largest_difference(&wanted, &found);
            assert!(apart < 1e-5, "{method}: {apart} apart with\n{other}");
        }
    }
}

/// `+stopped` is the descent that a problem file can ask for, and keeps the epoch that decides best on validation.
#[test]
fn a_stopped_forecast_is_descended() {
    let training = "epochs = 20\nlearning_rate = 0.03";
    let stopped = fit(&lp(training).task(), "l2+stopped").unwrap().candidate;
    let asked = format!("{training}\nregression = \"descent\"");
    let descended = fit(&lp(&asked).task(), "l2").unwrap().candidate;
    assert_eq!(stopped.valid.regrets(), descended.valid.regrets());
    let best = stopped.fitted.history.iter().map(|e| e.valid.regret).fold(f64::INFINITY, f64::min);
    // The same decisions, from other starts.
    assert!((stopped.valid.measures.regret - best).abs() < 1e-9);
    let regression = fit(&lp(training).task(), "l2").unwrap().candidate;
    assert_ne!(stopped.valid.regrets(), regression.valid.regrets());
}
