//! Models that decide together: the mean of decisions, or of predictions; in files; and as the last candidate of `auto`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write as _;

use common::{Project, fit, lp, newsvendor};
use rand::RngExt;
use regretless_learn::{
    Averaged, Chosen, Combination, Decider, Model, ModelCard, Partner, Task, judge, stream,
};
use regretless_project::Deciding;

/// A model that a method trains, with what it says about itself.
fn trained(task: &Task, method: &str) -> (Model, ModelCard) {
    let chosen = fit(task, method).unwrap().candidate;
    let card = ModelCard::new(method, &chosen.fitted.model, chosen.constant, &task.data().names);
    (chosen.fitted.model, card)
}

/// Models side by side, with these weights.
fn together(averaged: Averaged, weights: &[f64], models: &[(Model, ModelCard)]) -> (Model, ModelCard) {
    let (model, card) = models[0].clone();
    let partner = |(weight, (model, card)): (&f64, &(Model, ModelCard))| Partner {
        weight: *weight,
        model: model.clone(),
        card: card.clone(),
    };
    let partners = weights.iter().zip(models).skip(1).map(partner).collect();
    let combination = Some(Combination { averaged, weight: weights[0], partners });
    let model = Model { combination, ..model };
    let names = regretless_learn::Names {
        features: card.features.clone(),
        targets: card.targets.clone(),
        per_variable: None,
    };
    let card = ModelCard::new("together", &model, false, &names);
    (model, card)
}

fn ready(task: &Task, (model, card): &(Model, ModelCard)) -> Decider {
    Decider::new(task.problem().clone(), task.placement().clone(), model.clone(), card.clone()).unwrap()
}

fn decisions(decider: &Decider, task: &Task, rows: &[usize]) -> Vec<Vec<f64>> {
    let (features, known) = (task.features(rows), task.known(rows));
    let found = decider.decide(&features, &known, rows.len()).unwrap();
    found.into_iter().map(|optimum| optimum.unwrap().x).collect()
}

/// x̄ = Σ wₖ xₖ, F(x̄) ≤ Σ wₖ F(xₖ), and hard rows hold.
#[test]
fn the_mean_of_decisions_is_feasible_and_never_dearer() {
    let task = newsvendor("epochs = 4", 90).task();
    let models = ["constant", "l2", "l2+scenarios"].map(|method| trained(&task, method));
    let rows: Vec<usize> = (0..task.data().rows()).collect();
    let each = models.clone().map(|model| decisions(&ready(&task, &model), &task, &rows));
    let alone = models.clone().map(|(model, _)| judge(&task, &model, &rows).unwrap().decisions);
    for seed in 0..12 {
        let mut rng = stream(seed, 0, 0);
        let weights: [f64; 3] = std::array::from_fn(|_| rng.random_range(0.05..1.0));
        let sum: f64 = weights.iter().sum();
        let all = together(Averaged::Decisions, &weights, &models);
        let found = decisions(&ready(&task, &all), &task, &rows);
        let judged = judge(&task, &all.0, &rows).unwrap().decisions;
        for i in 0..rows.len() {
            for (j, x) in found[i].iter().enumerate() {
                let mean: f64 = weights.iter().zip(&each).map(|(w, own)| w * own[i][j]).sum::<f64>() / sum;
                assert!((x - mean).abs() < 1e-9 * (1.0 + mean.abs()), "row {i}");
            }
            let mean: f64 = weights.iter().zip(&alone).map(|(w, own)| w * own[i].regret).sum::<f64>() / sum;
            assert!(judged[i].regret <= mean + 1e-9 * (1.0 + judged[i].optimal.abs()), "row {i}");
            assert!(judged[i].regret >= 0.0 && judged[i].violation < 1e-9, "row {i}");
        }
    }
}

/// One decision, for Σ wₖ pₖ.
#[test]
fn the_mean_of_predictions_is_decided_for() {
    let task = lp("epochs = 5").task();
    let models = ["l2", "constant"].map(|method| trained(&task, method));
    let decider = ready(&task, &together(Averaged::Predictions, &[3.0, 1.0], &models));
    let rows: Vec<usize> = (0..40).collect();
    let features = task.features(&rows);
    let each = models.map(|(model, _)| model.predict(&features, rows.len()));
    let found = decider.decide(&features, &[], rows.len()).unwrap();
    let oracle = regretless_core::Oracle::new(task.problem());
    for (i, optimum) in found.into_iter().enumerate() {
        let theta: Vec<f64> = (0..4).map(|j| 0.75 * each[0][4 * i + j] + 0.25 * each[1][4 * i + j]).collect();
        let instance = regretless_core::Instance { theta: Some(&theta), ..Default::default() };
        let by_hand = oracle.solve(&instance).unwrap();
        assert!((optimum.unwrap().objective - by_hand.objective).abs() < 1e-9, "row {i}");
    }
    assert!(!decider.averages());
}

/// Scenarios around Σ wₖ pₖ: the residuals of the first model at the place of the mean. Such a model decides alone and beside another, and a
/// file keeps both.
#[test]
fn a_mean_of_predictions_has_scenarios() {
    let task = newsvendor("epochs = 4", 90).task();
    let [first, other] = ["l2+scenarios", "constant"].map(|method| trained(&task, method));
    let mean = together(Averaged::Predictions, &[1.0, 3.0], &[first.clone(), other.clone()]);
    let rows: Vec<usize> = (0..30).collect();
    let features = task.features(&rows);
    let [own, beside] = [&first, &other].map(|(model, _)| model.predict(&features, 30));
    let (told, before) = (mean.0.forecasts(&features, 30), first.0.forecasts(&features, 30));
    for i in 0..30 {
        let moved = 0.75 * (beside[i] - own[i]);
        assert!(moved.abs() > 1e-3 && told[i].count() == before[i].count());
        for ((new, weight), (old, same)) in told[i].each().zip(before[i].each()) {
            assert!((new[0] - old[0] - moved).abs() < 1e-9 && weight == same);
        }
        assert!((mean.0.predict(&features, 30)[i] - own[i] - moved).abs() < 1e-9);
        // P(d ≤ x) = 3/(1 + 3): the order is that quantile.
        let order = decisions(&ready(&task, &mean), &task, &rows)[i][0];
        let short: f64 = told[i].each().filter(|(d, _)| d[0] > order + 1e-9).map(|(_, w)| w).sum();
        let over: f64 = told[i].each().filter(|(d, _)| d[0] < order - 1e-9).map(|(_, w)| w).sum();
        assert!(short <= 0.25 + 1e-9 && over <= 0.75 + 1e-9, "row {i}: {short} {over}");
    }
    let both = together(Averaged::Decisions, &[0.5, 0.5], &[first.clone(), mean.clone()]);
    let (problem, placement) = (task.problem().clone(), task.placement().clone());
    for all in [&mean, &both] {
        let written = ready(&task, all);
        let bytes = written.to_bytes().unwrap();
        let predictor = &task.settings().predictor;
        let read = Decider::from_bytes(problem.clone(), placement.clone(), predictor, &bytes).unwrap();
        assert_eq!(decisions(&read, &task, &rows), decisions(&written, &task, &rows));
        assert_eq!(read.forecasts(&features, 30), written.forecasts(&features, 30));
    }
    let each = [&first, &mean].map(|model| decisions(&ready(&task, model), &task, &rows));
    for (i, x) in decisions(&ready(&task, &both), &task, &rows).iter().enumerate() {
        assert!((x[0] - 0.5 * (each[0][i][0] + each[1][i][0])).abs() < 1e-9);
    }
}

#[test]
fn a_file_keeps_all_of_them() {
    let project = newsvendor("epochs = 4", 90);
    let task = project.task();
    let models = ["l2+scenarios", "constant"].map(|method| trained(&task, method));
    let all = together(Averaged::Decisions, &[0.4, 0.6], &models);
    assert_eq!((all.1.format, all.1.averaged), (10, Some(Averaged::Decisions)));
    let (written, rows) = (ready(&task, &all), (0..30).collect::<Vec<usize>>());
    let bytes = written.to_bytes().unwrap();
    let (problem, placement) = (task.problem().clone(), task.placement().clone());
    let read = Decider::from_bytes(problem, placement, &task.settings().predictor, &bytes).unwrap();
    assert!(read.averages() && read.has_scenarios());
    assert_eq!(decisions(&read, &task, &rows), decisions(&written, &task, &rows));
    let features = task.features(&rows);
    assert_eq!(read.forecasts(&features, 30), written.forecasts(&features, 30));
    let told = Deciding::new(&read, &["row".into()], false).decide(&features, &[], 30).unwrap();
    assert!(told.iter().all(|row| row.status == "averaged" && row.is_there()));
    // Both say the same, with the weights of the two.
    let forecast = &read.forecasts(&features, 30)[0];
    let likely: f64 = forecast.weights().iter().sum();
    assert!((likely - 1.0).abs() < 1e-9 && (forecast.weights().last().unwrap() - 0.6).abs() < 1e-9);
}

#[test]
fn a_file_of_what_is_no_combination_is_refused() {
    let task = newsvendor("epochs = 4", 90).task();
    let models = ["l2", "constant"].map(|method| trained(&task, method));
    let both = together(Averaged::Decisions, &[1.0, 1.0], &models);
    let read = |all: &(Model, ModelCard)| {
        let bytes = ready(&task, all).to_bytes().unwrap();
        let (problem, placement) = (task.problem().clone(), task.placement().clone());
        Decider::from_bytes(problem, placement, &task.settings().predictor, &bytes).map(drop)
    };
    assert!(read(&both).is_ok());
    let refused = |all: &(Model, ModelCard), why: &str| {
        let said = read(all).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    };
    refused(&together(Averaged::Decisions, &[1.0, 1.0], &[models[0].clone(), both.clone()]), "not one model");
    let deeper = together(Averaged::Predictions, &[1.0, 1.0], &[models[0].clone(), models[1].clone()]);
    refused(&together(Averaged::Predictions, &[1.0, 1.0], &[models[0].clone(), deeper]), "not one model");
    let mut other = models[1].clone();
    other.1.features = vec!["g".into()];
    refused(&together(Averaged::Decisions, &[1.0, 1.0], &[models[0].clone(), other]), "other columns");
    for weights in [vec![0.0, 0.0], vec![2.0, -1.0], vec![1.0]] {
        let card = ModelCard { weights, ..both.1.clone() };
        refused(&(both.0.clone(), card), "its weights are not those of its models");
    }
    let card = ModelCard { averaged: None, ..both.1.clone() };
    refused(&(both.0.clone(), card), "nobody says what its models decide together");
    let card = ModelCard { members: 0, ..both.1.clone() };
    refused(&(both.0.clone(), card), "its scenarios do not fit");
}

/// Demand that is half a line of many features and half steps: lines, trees and networks are each half right.
fn half_and_half(rows: usize, seed: u64) -> Project {
    const FEATURES: usize = 14;
    let mut rng = stream(seed, 0, 0);
    let names: Vec<String> = (0..FEATURES).map(|j| format!("f_{j}")).collect();
    let slopes: [f64; FEATURES] = std::array::from_fn(|_| common::normal(&mut rng));
    let mut table = format!("{},demand\n", names.join(","));
    for _ in 0..rows {
        let x: [f64; FEATURES] = std::array::from_fn(|_| rng.random_range(-1.0..=1.0));
        let line: f64 = x.iter().zip(&slopes).map(|(x, slope)| x * slope).sum();
        let step = |v: f64| if (6.0 * v).sin() > 0.0 { 1.0 } else { -1.0 };
        let demand = 20.0 + 2.0 * line + 1.5 * (step(x[0]) + step(x[1])) + rng.random_range(-1.0..1.0);
        let features = x.map(|x| x.to_string()).join(",");
        writeln!(table, "{features},{demand}").unwrap();
    }
    let problem = common::NEWSVENDOR.replace("[predictor]\nkind = \"linear\"\n", "");
    Project::new(&format!("{problem}features = [\"f_*\"]\n[training]\nepochs = 30\n"), &table)
}

/// In a file and out of it, what was chosen decides the same.
fn comes_back(task: &Task, chosen: &Chosen) {
    let decider = Decider::trained(task, chosen).unwrap();
    let (problem, placement) = (task.problem().clone(), task.placement().clone());
    let bytes = decider.to_bytes().unwrap();
    let read = Decider::from_bytes(problem, placement, &task.settings().predictor, &bytes).unwrap();
    assert_eq!(read.card(), decider.card());
    let rows = task.test().to_vec();
    assert_eq!(decisions(&read, task, &rows), decisions(&decider, task, &rows));
    let judged = judge(task, &chosen.candidate.fitted.model, &rows).unwrap().decisions;
    for (judged, found) in judged.iter().zip(decisions(&decider, task, &rows)) {
        assert!(judged.x.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

/// The constant predictor with past outcomes has no kind of its own, alone and among others.
#[test]
fn past_outcomes_join() {
    let mut joined = 0;
    for seed in 0..6 {
        let mut rng = stream(seed, 0, 0);
        let mut table = String::from("a,b,c,demand\n");
        for _ in 0..400 {
            let [a, b, c]: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.0..=1.0));
            let step = |v: f64| if v > 0.0 { 1.0 } else { 0.0 };
            let noise = (0.3 + 4.0 * step(b)) * common::normal(&mut rng);
            writeln!(table, "{a},{b},{c},{}", 20.0 + 6.0 * step(a) * step(c) + 2.0 * a + noise).unwrap();
        }
        let problem = common::NEWSVENDOR.replace("[predictor]\nkind = \"linear\"\n", "");
        let task = Project::new(&format!("{problem}[training]\nepochs = 20\n"), &table).task();
        let chosen = fit(&task, "auto").unwrap();
        // Alone, and with seed 5 beside trees.
        joined += usize::from(chosen.candidate.name.contains("constant+forest"));
        comes_back(&task, &chosen);
    }
    assert!(joined > 0, "a forest of outcomes knows where the noise is");
}

#[test]
fn auto_tries_the_best_together_and_keeps_what_they_decide() {
    let mut kept = 0;
    for seed in 0..3 {
        let task = half_and_half(500, seed).task();
        let chosen = fit(&task, "auto").unwrap();
        let last = chosen.tried.last().unwrap();
        // Only what is cheaper together than alone is a candidate.
        if last.name.starts_with("mean of the decisions of ") {
            let alone = chosen.tried.iter().filter(|t| t.folds == last.folds && t.name != last.name);
            let alone = alone.map(|t| t.valid.regret).fold(f64::INFINITY, f64::min);
            assert!(last.valid.regret < 1.02 * alone, "together {}, alone {alone}", last.valid.regret);
        }
        if chosen.candidate.name.starts_with("mean of ") {
            kept += 1;
            comes_back(&task, &chosen);
        }
    }
    assert!(kept > 0, "lines and trees know different things");
}
