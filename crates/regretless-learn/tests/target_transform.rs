//! Targets on another scale, for every predictor and loss, and squared errors before a decision loss.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::cell::Cell;
use std::fmt::Write;

use common::{NEWSVENDOR, Project, essence, fit, lp_with, normal, skewed};
use rand::RngExt;
use regretless_learn::{Dataset, Model, Observer, Scale, Silent, Task, judge, stream};
use regretless_project::{Run, train_new, train_on};

const KINDS: [&str; 3] = ["kind = \"linear\"", "layers = [8]", "kind = \"trees\"\nmin_rows = 5\nleaves = 8"];

fn project(kind: &str, transform: &str, training: &str) -> Project {
    let sections =
        format!("[predictor]\n{kind}\ntarget_transform = \"{transform}\"\n[training]\n{training}\n");
    skewed(300, &sections)
}

fn scales(model: &Model) -> Vec<Scale> {
    model.transforms.iter().map(|t| t.scale).collect()
}

#[test]
fn every_predictor_and_loss_takes_every_scale() {
    for kind in KINDS {
        for (word, scale) in [("log", Scale::Log), ("root", Scale::Root), ("none", Scale::None)] {
            let task = project(kind, word, "epochs = 6").task();
            for method in ["l2", "l1", "spo+", "surrogate-smooth+l2", "l2+stopped"] {
                let model = fit(&task, method).unwrap().candidate.fitted.model;
                let own = scale == Scale::None;
                assert_eq!(scales(&model), vec![scale; if own { 0 } else { 8 }], "{kind} {word} {method}");
                let rows = task.valid();
                let found = model.predict(&task.features(rows), rows.len());
                assert!(own || found.iter().all(|p| *p >= 0.0), "{kind} {word} {method}");
            }
        }
    }
}

/// An untrained predictor predicts the mean of the training rows, on whatever scale.
#[test]
fn decision_losses_start_at_the_mean() {
    for word in ["log", "root", "none"] {
        let task =
            project("kind = \"linear\"", word, "epochs = 1\nlearning_rate = 1e-12\nkeep = \"last\"").task();
        let model = fit(&task, "spo+").unwrap().candidate.fitted.model;
        let rows = task.train();
        let truths = task.targets(rows);
        let found = model.predict(&task.features(&rows[..1]), 1);
        for (k, found) in found.iter().enumerate() {
            let mean = truths.iter().skip(k).step_by(8).sum::<f64>() / rows.len() as f64;
            assert!((found / mean - 1.0).abs() < 1e-5, "{word}: {found} {mean}");
        }
    }
}

/// A linear predictor of log c fits what that of c cannot; descended by SPO+ through exp().
#[test]
fn decision_losses_learn_through_the_scale() {
    let training = "epochs = 40\nlearning_rate = 0.02";
    let judged = |transform: &str| {
        let task = project("kind = \"linear\"", transform, training).task();
        let model = fit(&task, "spo+").unwrap().candidate.fitted.model;
        (judge(&task, &model, task.test()).unwrap().measures.regret, scales(&model))
    };
    let (log, own) = (judged("log"), judged("none"));
    assert!(log.0 < 0.95 * own.0, "{} {}", log.0, own.0);
    // Left to choose, it is one of the two; and by default decision losses keep the targets' own.
    let chosen = judged("auto");
    assert!(chosen == log || chosen == own, "{chosen:?}");
    assert_eq!(judged("forecasts"), own);
}

/// The squared errors that warm up are those of logarithms: with nothing else they end at their regression.
#[test]
fn warming_up_is_done_on_the_scale() {
    let training = "epochs = 300\nwarmup = 300\nkeep = \"last\"\nstop = \"never\"\nlearning_rate = 0.01";
    let task = project("kind = \"linear\"", "log", training).task();
    let warm = fit(&task, "spo+").unwrap().candidate.fitted.model;
    let regression = fit(&task, "l2").unwrap().candidate.fitted.model;
    let rows = task.test();
    let of = |model: &Model| model.predict(&task.features(rows), rows.len());
    let differences = of(&warm).iter().zip(of(&regression)).map(|(a, b)| (a / b).ln().abs()).sum::<f64>();
    assert!(differences / of(&warm).len() as f64 <= 0.03, "{differences}");
}

/// `warmup = "auto"`: the decision loss starts where the whole of `l2` ends.
#[test]
fn a_whole_forecast_may_come_first() {
    for kind in KINDS {
        let task = project(kind, "forecasts", "epochs = 10\nwarmup = \"auto\"").task();
        let first = fit(&task, "l2").unwrap().candidate;
        let tuned = fit(&task, "spo+").unwrap().candidate;
        let start = &tuned.fitted.history[0].valid;
        assert_eq!(start.regret, first.valid.measures.regret, "{kind}");
        assert!(tuned.valid.measures.regret <= first.valid.measures.regret, "{kind}");
        assert_eq!(scales(&tuned.fitted.model), scales(&first.fitted.model), "{kind}");
        assert_eq!(tuned.lineage.len(), 2);
    }
}

struct Stop {
    after: usize,
    looked: Cell<usize>,
}

impl Observer for Stop {
    fn interrupted(&self) -> bool {
        self.looked.set(self.looked.get() + 1);
        self.looked.get() > self.after
    }
}

#[test]
fn stopped_runs_go_on_bit_by_bit() {
    for (kind, warmup) in KINDS.into_iter().zip(["3", "\"auto\"", "3"]) {
        let training = format!("epochs = 8\nwarmup = {warmup}\nmethod = \"spo+\"");
        let project = project(kind, "log", &training);
        let whole = project.path("whole");
        train_new(&project.spec(), &whole, &mut Silent).unwrap();
        let wanted = essence(&whole);
        assert_eq!(scales(&Run::open(&whole).unwrap().model().unwrap().0), [Scale::Log; 8]);
        for after in [0, 2, 9, 14, 40] {
            let dir = project.path(&after.to_string());
            train_new(&project.spec(), &dir, &mut Stop { after, looked: Cell::new(0) }).unwrap();
            train_on(&dir, &mut Silent).unwrap_or_else(|e| panic!("{kind} {after}: {e}"));
            let found = essence(&dir);
            assert_eq!((found.0, found.1), (wanted.0.clone(), wanted.1.clone()), "{kind} after {after}");
            assert!(found.2 == wanted.2, "{kind} after {after}: model");
        }
    }
}

/// Rows that count twice are there twice, also on the way back to means.
#[test]
fn weights_count_on_the_way_back() {
    let project = project("kind = \"linear\"", "log", "epochs = 2");
    let task = project.task();
    let mean_of = |weights: Vec<f64>| {
        let data: Dataset = task.data().clone().with_weights(weights);
        let task = Task::new(task.problem().clone(), task.placement().clone(), data, task.settings().clone());
        let task = task.unwrap();
        let model = fit(&task, "l2").unwrap().candidate.fitted.model;
        model.transforms[0].correction
    };
    let rows = task.data().rows();
    let even = mean_of(vec![1.0; rows]);
    let uneven = mean_of((0..rows).map(|i| if i % 2 == 0 { 3.0 } else { 1e-3 }).collect());
    assert!(even > 1.0 && uneven > 1.0 && (even - uneven).abs() > 1e-4, "{even} {uneven}");
}

/// A scale is chosen for weighted rows, too, and by those that count.
#[test]
fn weighted_rows_choose_a_scale() {
    for kind in ["kind = \"linear\"", "layers = [16]"] {
        let task = skewed(300, &format!("[predictor]\n{kind}\n[training]\nepochs = 40\n")).task();
        let rows = task.data().rows();
        let chosen = |weights: Vec<f64>| {
            let data: Dataset = task.data().clone().with_weights(weights);
            let (problem, placement) = (task.problem().clone(), task.placement().clone());
            let task = Task::new(problem, placement, data, task.settings().clone()).unwrap();
            scales(&fit(&task, "l2").unwrap().candidate.fitted.model)
        };
        let even = chosen(vec![1.0; rows]);
        assert_eq!(even, [Scale::Log; 8], "{kind}");
        assert_eq!(chosen((0..rows).map(|i| [2.0, 0.5][i % 2]).collect()), even, "{kind}");
    }
}

/// y = exp(f(ξ) + ε): predictors of log y whose errors on the rows that they learned from are too small predict means all the same.
#[test]
fn means_come_back_as_means() {
    let mut rng = stream(9, 0, 0);
    let mut table = String::from("p,q,demand\n");
    let center = |p: f64, q: f64| 0.5 + (3.0 * p).sin() * q;
    for _ in 0..6000 {
        let (p, q): (f64, f64) = (rng.random_range(-1.0..=1.0), rng.random_range(-1.0..=1.0));
        writeln!(table, "{p},{q},{}", (center(p, q) + 0.5 * normal(&mut rng)).exp()).unwrap();
    }
    let trees = "kind = \"trees\"\nmin_rows = 5\nleaves = 60\ntarget_transform = \"log\"\n";
    let problem = NEWSVENDOR.replace("kind = \"linear\"", trees);
    let settings = "[training]\nepochs = 60\nkeep = \"last\"\nstop = \"never\"\n";
    let task = Project::new(&format!("{problem}{settings}"), &table).task();
    let model = fit(&task, "l2").unwrap().candidate.fitted.model;
    // E y = exp(f + σ²/2).
    let features = task.features(task.test());
    let wanted: f64 = features.chunks_exact(2).map(|x| (center(x[0], x[1]) + 0.125).exp()).sum();
    let ratio = model.predict(&features, task.test().len()).iter().sum::<f64>() / wanted;
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    // The errors on training rows, by themselves, would say too little.
    let rows = task.train();
    let (found, truths) = (model.predict(&task.features(rows), rows.len()), task.targets(rows));
    let own = found.iter().zip(&truths).map(|(p, y)| (y / p * model.transforms[0].correction).max(0.0));
    let small = own.sum::<f64>() / truths.len() as f64;
    assert!(small / model.transforms[0].correction < 0.98, "{small}");
}

#[test]
fn values_without_a_logarithm_are_named() {
    let project = lp_with("[predictor]\nkind = \"linear\"\ntarget_transform = \"log\"\n", "epochs = 2");
    let table = std::fs::read_to_string(project.path("history.csv")).unwrap();
    let mut lines: Vec<String> = table.lines().map(ToOwned::to_owned).collect();
    for line in &mut lines[1..] {
        *line = format!("{},2,2,2,2", line.split(',').take(3).collect::<Vec<_>>().join(","));
    }
    let last = lines.len() - 1;
    for line in &mut lines[last - 20..] {
        *line = line.replacen("2,2,2,2", "2,2,-0.5,2", 1);
    }
    project.write("history.csv", lines.join("\n") + "\n");
    let error = fit(&project.task(), "spo+").unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("`v_c` is -0.5 in") && text.contains("line ") && text.contains("above 0"),
        "{text}"
    );
    assert!(error.hint().unwrap().to_string().contains("target_transform = \"auto\""));
}
