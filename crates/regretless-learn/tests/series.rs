//! Scenarios of a panel: errors of a row's own series, where they tell more than those of all.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::{NEWSVENDOR, Project, fit, normal};
use rand::RngExt;
use regretless_core::Law;
use regretless_learn::{Decider, Part, Task, judge, stream};
use statrs::distribution::{ContinuousCDF, Normal};

/// Demand 10 + f + own·ε of each shop, row after row; the last fifth of the rows is for test.
fn panel(shops: &[(f64, usize)], sections: &str) -> Project {
    let mut rng = stream(5, 0, 0);
    let mut table = String::from("shop,f,demand\n");
    let longest = shops.iter().map(|(_, rows)| *rows).max().unwrap();
    for i in 0..longest {
        for (s, _) in shops.iter().enumerate().filter(|(_, (_, rows))| i < *rows) {
            let f: f64 = rng.random_range(-1.0..=1.0);
            writeln!(table, "shop{s},{f},{}", 20.0 + f + shops[s].0 * normal(&mut rng)).unwrap();
        }
    }
    let data =
        NEWSVENDOR.replace("[predictor]", "series = \"shop\"\nkinds = { shop = \"category\" }\n[predictor]");
    Project::new(&format!("{data}\n{sections}"), &table)
}

const FOUR: [(f64, usize); 4] = [(0.5, 300), (1.0, 300), (2.0, 300), (6.0, 300)];

/// The mean cost that orders of a method have beyond those of the known noise, relative to these.
fn excess(task: &Task, method: &str, shops: &[(f64, usize)]) -> f64 {
    let model = fit(task, method).unwrap_or_else(|e| panic!("{method}: {e}")).candidate.fitted.model;
    let judged = judge(task, &model, task.test()).unwrap();
    let normal = Normal::standard();
    let (mut found, mut best) = (0.0, 0.0);
    for (row, decision) in task.test().iter().zip(&judged.decisions) {
        let features = task.features(&[*row]);
        let (mean, own) = (20.0 + features[1], shops[task.data().series.of(*row)].0);
        let cost = |q: f64| {
            let z = (q - mean) / own;
            let surplus = own * (z * normal.cdf(z) + statrs::distribution::Continuous::pdf(&normal, z));
            surplus + 3.0 * (surplus - (q - mean))
        };
        found += cost(decision.x[0]);
        best += cost(mean + own * normal.inverse_cdf(0.75));
    }
    found / best - 1.0
}

#[test]
fn series_that_differ_have_errors_of_their_own() {
    let task = panel(&FOUR, "").task();
    // Without a column that says so, all series have the same errors.
    let mut data = task.data().clone();
    data.series = regretless_learn::Series::default();
    let (problem, placement) = (task.problem().clone(), task.placement().clone());
    let pooled = Task::new(problem, placement, data, task.settings().clone()).unwrap();
    let of = |task: &Task, method: &str| fit(task, method).unwrap().candidate.fitted.model;
    assert!(matches!(of(&pooled, "l2+scenarios").law(), Some(Law::Shift { .. })));
    let Some(Law::Groups(laws)) = of(&task, "l2+scenarios").law() else { panic!() };
    assert_eq!(laws.len(), 5, "four shops, and one that nobody knows");
    let own = excess(&task, "l2+scenarios", &FOUR);
    let plain = {
        let model = of(&pooled, "l2+scenarios");
        let judged = judge(&task, &model, task.test()).unwrap();
        judged.measures.regret
    };
    let better = judge(&task, &of(&task, "l2+scenarios"), task.test()).unwrap().measures.regret;
    assert!(own < 0.02 && better < 0.97 * plain, "{own} {better} {plain}");
    // Trained through them, mean and spread included, it stays there.
    assert!(excess(&task, "surrogate-smooth+scenarios", &FOUR) < 0.04);
    assert!(excess(&task, "surrogate-smooth+scaled", &FOUR) < 0.04);
}

/// The scenarios of a row are those of its shop: sizes by hand.
#[test]
fn a_row_has_the_scenarios_of_its_series() {
    let task = panel(&FOUR, "").task();
    let chosen = fit(&task, "l2+scenarios").unwrap();
    let model = &chosen.candidate.fitted.model;
    let size = |features: &[f64]| {
        let forecast = model.law().unwrap().forecast(&model.seen(features, 1), 1);
        let at = forecast.mean()[0];
        forecast.each().map(|(point, weight)| weight * (point[0] - at).abs()).sum::<f64>()
    };
    let row = |s: usize| *task.test().iter().find(|row| task.data().series.of(**row) == s).unwrap();
    for (s, (own, _)) in FOUR.iter().enumerate() {
        // The mean of |ε| is 0.798.
        let found = size(&task.features(&[row(s)]));
        assert!((found / (0.798 * own) - 1.0).abs() < 0.15, "{s}: {found}");
    }
    // A shop that nobody knows has the errors of all.
    let mean = FOUR.iter().map(|(own, _)| 0.798 * own).sum::<f64>() / 4.0;
    let found = size(&[-1.0, 0.0]);
    assert!((found / mean - 1.0).abs() < 0.15, "{found}");
    // A file keeps all of it.
    let decider = Decider::trained(&task, &chosen).unwrap();
    assert_eq!(decider.card().format, 8);
    let (problem, placement) = (task.problem().clone(), task.placement().clone());
    let settings = &task.settings().predictor;
    let read = Decider::from_bytes(problem, placement, settings, &decider.to_bytes().unwrap()).unwrap();
    let features = task.features(task.test());
    let orders = |decider: &Decider| -> Vec<f64> {
        let decided = decider.decide(&features, &[], task.test().len()).unwrap();
        decided.into_iter().map(|own| own.unwrap().x[0]).collect()
    };
    assert_eq!(orders(&read), orders(&decider));
}

/// Series of a few rows each: no series is told by its own few errors alone, and nothing is lost by looking.
#[test]
fn few_rows_are_told_by_the_errors_of_all() {
    let shops: Vec<(f64, usize)> = (0..30).map(|s| (if s % 2 == 0 { 1.0 } else { 3.0 }, 12)).collect();
    let task = panel(&shops, "").task();
    let model = fit(&task, "l2+scenarios").unwrap().candidate.fitted.model;
    if let Some(Law::Groups(laws)) = model.law() {
        for law in laws {
            let Law::Shift { residuals, weights } = law else { panic!() };
            let there = residuals.iter().zip(weights).filter(|(_, w)| *w > 0.0).count();
            assert!(there > 100, "{there} errors of a shop with at most twelve rows");
        }
    }
    let alike: Vec<(f64, usize)> = vec![(2.0, 100); 6];
    let task = panel(&alike, "").task();
    let model = fit(&task, "l2+scenarios").unwrap().candidate.fitted.model;
    assert!(matches!(model.law(), Some(Law::Shift { .. })), "shops that are alike share their errors");
}

/// What is far back tells little where the noise grows with time, and counts as much as all else where it does not.
#[test]
fn recent_errors_count_more_where_the_noise_changes() {
    let weights = |grows: bool, seed: u64| {
        let mut rng = stream(seed, 0, 0);
        let mut table = String::from("f,demand\n");
        for i in 0..900 {
            let f: f64 = rng.random_range(-1.0..=1.0);
            let own = if grows { 0.3 + 4.0 * f64::from(i) / 900.0 } else { 2.0 };
            writeln!(table, "{f},{}", 20.0 + f + own * normal(&mut rng)).unwrap();
        }
        let task = Project::new(NEWSVENDOR, &table).task();
        let parts: Vec<Part> = (0..900).map(|i| if i < 700 { Part::Train } else { Part::Valid }).collect();
        let data = task.data().clone().with_parts(&parts);
        let (problem, placement) = (task.problem().clone(), task.placement().clone());
        let task = Task::new(problem, placement, data, task.settings().clone()).unwrap();
        let model = fit(&task, "l2+scenarios").unwrap().candidate.fitted.model;
        let Some(Law::Shift { weights, .. }) = model.law() else { panic!() };
        weights
    };
    let growing = weights(true, 9);
    assert!(growing[699] > 1.9 * growing[0], "{} {}", growing[0], growing[699]);
    // What is told for a fold is off for all its rows at once: seldom taken for a gain.
    let told_apart = (0..20).filter(|seed| {
        let same = weights(false, *seed);
        same.iter().any(|w| *w != same[0])
    });
    let count = told_apart.count();
    assert!(count <= 2, "{count} of 20");
}
