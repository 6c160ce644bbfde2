//! Sources of scenarios against closed forms and weights by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::{NEWSVENDOR, Project, fit, normal, residuals};
use rand::RngExt;
use regretless_core::Law;
use regretless_learn::{Chosen, Part, Silent, Task, Trained, judge, stream, train_task};
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// Demand 20 + 3f with a spread of 2 + 1.6g, both features uniform on ±1; ordering one too few costs 3, one too many 1.
fn heteroscedastic(rows: usize, sections: &str) -> Project {
    let mut rng = stream(11, 0, 0);
    let mut table = String::from("f,g,demand\n");
    for _ in 0..rows {
        let (f, g): (f64, f64) = (rng.random_range(-1.0..=1.0), rng.random_range(-1.0..=1.0));
        writeln!(table, "{f},{g},{}", 20.0 + 3.0 * f + (2.0 + 1.6 * g) * normal(&mut rng)).unwrap();
    }
    Project::new(&format!("{NEWSVENDOR}\n{sections}"), &table)
}

/// The mean cost of decisions where demand is as it is in truth, over that of the best decisions.
fn excess(task: &Task, chosen: &Chosen) -> f64 {
    let judged = judge(task, &chosen.candidate.fitted.model, task.test()).unwrap();
    let normal = Normal::standard();
    let cost = |q: f64, mean: f64, spread: f64| {
        let z = (q - mean) / spread;
        let surplus = spread * (z * normal.cdf(z) + normal.pdf(z));
        surplus + 3.0 * (surplus - (q - mean))
    };
    let features = task.features(task.test());
    let rows = features.chunks_exact(2).zip(&judged.decisions);
    let (mut found, mut best) = (0.0, 0.0);
    for (own, decision) in rows {
        let (mean, spread) = (20.0 + 3.0 * own[0], 2.0 + 1.6 * own[1]);
        found += cost(decision.x[0], mean, spread);
        best += cost(mean + spread * normal.inverse_cdf(0.75), mean, spread);
    }
    found / best - 1.0
}

#[test]
fn a_predicted_spread_is_worth_what_it_should_be() {
    let task = heteroscedastic(1500, "").task();
    let of = |method: &str| excess(&task, &fit(&task, method).unwrap_or_else(|e| panic!("{method}: {e}")));
    let (plain, scaled) = (of("l2+scenarios"), of("l2+scaled"));
    // One spread for all costs about a tenth here, whatever the number of rows.
    assert!(plain > 0.05, "{plain}");
    assert!(scaled < 0.02, "{scaled}");
    // Trained through the decision it stays there, and so does the mean.
    let trained = of("surrogate-smooth+scaled");
    assert!(trained < 0.03, "{trained}");
}

/// Trees, whose errors on rows they know are too small: both the residuals and the spread they are divided by are of other folds.
#[test]
fn trees_have_a_spread_too() {
    let sections = "[training]\nepochs = 60\n";
    let project = heteroscedastic(1200, sections);
    let problem = std::fs::read_to_string(project.path("problem.toml")).unwrap();
    project.write("problem.toml", problem.replace("kind = \"linear\"", "kind = \"trees\""));
    let task = project.task();
    let of = |method: &str| fit(&task, method).unwrap_or_else(|e| panic!("{method}: {e}"));
    let (plain, scaled) = (of("l2+scenarios"), of("l2+scaled"));
    assert!(excess(&task, &scaled) < 0.7 * excess(&task, &plain), "{}", excess(&task, &scaled));
    // Atoms have the size that the spread says: neither too sure nor too cautious of rows it has not seen.
    let Some(Law::Scale { atoms, .. }) = scaled.candidate.fitted.model.law() else { panic!() };
    let size = atoms.iter().map(|e| e.abs()).sum::<f64>() / atoms.len() as f64;
    assert!((0.9..1.15).contains(&size), "{size}");
}

/// Where the spread does not change nothing is gained, and the atoms are the residuals over one number.
#[test]
fn a_spread_that_does_not_change_is_a_number() {
    let mut rng = stream(3, 0, 0);
    let mut table = String::from("f,demand\n");
    for _ in 0..400 {
        let f: f64 = rng.random_range(-1.0..=1.0);
        writeln!(table, "{f},{}", 20.0 + 3.0 * f + 2.0 * normal(&mut rng)).unwrap();
    }
    let task = Project::new(NEWSVENDOR, &table).task();
    let model = |method: &str| fit(&task, method).unwrap().candidate.fitted.model;
    let (plain, scaled) = (model("l2+scenarios"), model("l2+scaled"));
    let features = task.features(task.test());
    let seen = scaled.seen(&features, task.test().len());
    assert!(seen.chunks_exact(2).all(|row| row[1] == seen[1]));
    let Some(Law::Scale { atoms, .. }) = scaled.law() else { panic!() };
    // One level a fold: what the others have in the mean.
    let ratios: Vec<f64> = atoms.iter().zip(residuals(&plain)).map(|(e, r)| r / e).collect();
    let levels = ratios.windows(2).filter(|pair| (pair[0] - pair[1]).abs() > 1e-9).count();
    assert_eq!(levels, 4, "five folds");
}

/// The decision is the quantile of past demands by the weights that the model says, and these are a distribution.
#[test]
fn past_outcomes_are_weighted() {
    let task = heteroscedastic(500, "").task();
    for method in ["l2+neighbours", "l2+forest"] {
        let model = fit(&task, method).unwrap_or_else(|e| panic!("{method}: {e}")).candidate.fitted.model;
        let Some(Law::Outcomes { outcomes }) = model.law() else { panic!("{method}") };
        assert_eq!(outcomes, task.targets(task.train()), "{method}");
        let features = task.features(task.test());
        let seen = model.seen(&features, task.test().len());
        let judged = judge(&task, &model, task.test()).unwrap();
        for (i, decision) in judged.decisions.iter().enumerate() {
            let own = &seen[i * outcomes.len()..(i + 1) * outcomes.len()];
            let all: f64 = own.iter().sum();
            let mut order: Vec<usize> = (0..outcomes.len()).collect();
            order.sort_by(|a, b| outcomes[*a].total_cmp(&outcomes[*b]));
            let mut below = 0.0;
            let quantile = order.into_iter().find(|s| {
                below += own[*s] / all;
                below >= 0.75 - 1e-9
            });
            let wanted = outcomes[quantile.unwrap()];
            assert!((decision.x[0] - wanted).abs() < 1e-6, "{method}: {} is not {wanted}", decision.x[0]);
            let mean: f64 = own.iter().zip(&outcomes).map(|(w, y)| w / all * y).sum();
            assert!((judged.predictions[i] - mean).abs() < 1e-9, "{method} predicts the mean");
        }
        // Better than weights that know no features.
        let blind = fit(&task, "constant+scenarios").unwrap();
        let own = fit(&task, method).unwrap();
        assert!(excess(&task, &own) < 0.8 * excess(&task, &blind), "{method}");
    }
}

/// Where the noise is what the model takes it for, intervals hold what they say, and costs what was expected.
#[test]
fn scenarios_are_compared_with_what_came_true() {
    let project = heteroscedastic(1500, "[training]\nmethod = \"l2+scaled\"\n");
    let mut silent = Silent;
    let Trained { outcome, model, .. } = train_task(&project.task(), None, &mut silent).unwrap();
    let found = outcome.calibration.unwrap();
    // 256 rows: standard errors of 0.031 and 0.019.
    assert!((found.half - 0.5).abs() < 0.1 && (found.nine_tenths - 0.9).abs() < 0.06, "{found:?}");
    assert!((found.expected / found.realised - 1.0).abs() < 0.15, "{found:?}");
    // Of 256 truths within a quantile the share has a standard error of 0.031 at most.
    assert!(found.shares.iter().all(|(level, share)| (level - share).abs() < 0.1), "{:?}", found.shares);
    assert!(found.shares.is_sorted_by(|a, b| a.1 <= b.1));
    // The pinball loss by hand, over rows that all are looked at.
    let task = project.task();
    let rows: Vec<usize> = (0..256).map(|i| task.test()[i * task.test().len() / 256]).collect();
    let (seen, truths) = (model.seen(&task.features(&rows), rows.len()), task.targets(&rows));
    let Some(Law::Scale { mut atoms, .. }) = model.law() else { panic!() };
    atoms.sort_by(f64::total_cmp);
    let (mut loss, mut count) = (0.0, 0.0);
    for (own, truth) in seen.chunks_exact(2).zip(truths) {
        for level in [0.05, 0.25, 0.5, 0.75, 0.95] {
            let at = (level * atoms.len() as f64).ceil() as usize - 1;
            let short = truth - (own[0] + own[1] * atoms[at]);
            loss += f64::max(level * short, (level - 1.0) * short);
            count += 1.0;
        }
    }
    assert!(
        (found.pinball - loss / count).abs() < 1e-6 * found.pinball,
        "{} {}",
        found.pinball,
        loss / count
    );
    let point = heteroscedastic(200, "[training]\nmethod = \"l2\"\n");
    assert_eq!(train_task(&point.task(), None, &mut silent).unwrap().outcome.calibration, None);
}

/// The nearest, by hand: with one feature they are a run of the sorted rows.
#[test]
fn neighbours_are_the_nearest() {
    let mut table = String::from("f,demand\n");
    (0..60).for_each(|i| writeln!(table, "{i},{}", (i * 7) % 13 + 10).unwrap());
    let task = Project::new(NEWSVENDOR, &table).task();
    let model = fit(&task, "constant+neighbours").unwrap().candidate.fitted.model;
    let train: Vec<f64> = task.features(task.train());
    for at in [-5.0, 20.2, 41.7, 99.0] {
        let weights = model.seen(&[at], 1);
        let far = |s: &usize| (train[*s] - at).abs();
        let (near, others): (Vec<usize>, Vec<usize>) = (0..train.len()).partition(|s| weights[*s] > 0.0);
        let most = near.iter().map(far).fold(0.0, f64::max);
        assert!(others.iter().map(far).all(|d| d >= most - 1e-5), "{at}");
        assert!(near.iter().all(|s| weights[*s] == weights[near[0]]));
    }
}

/// Two series below each other in the table, of the same days: a fold is a run of days, whatever the order of the rows.
#[test]
fn folds_are_blocks_of_time() {
    let mut table = String::from("f,demand\n");
    let demand = |day: usize, shop: usize| 20.0 + (day / 10) as f64 + 5.0 * shop as f64;
    let rows: Vec<(usize, usize)> = (0..2).flat_map(|shop| (0..60).map(move |day| (day, shop))).collect();
    rows.iter().for_each(|&(day, shop)| writeln!(table, "{shop},{}", demand(day, shop)).unwrap());
    let task = Project::new(NEWSVENDOR, &table).task();
    let parts: Vec<Part> =
        rows.iter().map(|(day, _)| if *day < 50 { Part::Train } else { Part::Valid }).collect();
    let mut data = task.data().clone().with_parts(&parts);
    data.times = rows.iter().map(|(day, _)| *day as f64).collect();
    let (problem, placement) = (task.problem().clone(), task.placement().clone());
    let task = Task::new(problem, placement, data, task.settings().clone()).unwrap();
    let mut found = residuals(&fit(&task, "constant+scenarios").unwrap().candidate.fitted.model);
    // By hand: days 0 … 9, 10 … 19, … of both shops, less the mean of the other forty days.
    let mut wanted: Vec<f64> = (0..50)
        .flat_map(|day| (0..2).map(move |shop| (day, shop)))
        .map(|(day, shop)| {
            let others = (0..50).filter(|other| other / 10 != day / 10);
            let mean = others.map(|d| demand(d, 0) + demand(d, 1)).sum::<f64>() / 80.0;
            demand(day, shop) - mean
        })
        .collect();
    // And the last ten days, less the mean of all fifty before them.
    let mean = (0..50).map(|d| demand(d, 0) + demand(d, 1)).sum::<f64>() / 100.0;
    wanted.extend((50..60).flat_map(|day| (0..2).map(move |shop| demand(day, shop) - mean)));
    found.sort_by(f64::total_cmp);
    wanted.sort_by(f64::total_cmp);
    assert_eq!(found.len(), 120);
    assert!(found.iter().zip(&wanted).all(|(f, w)| (f - w).abs() < 1e-9), "{found:?} {wanted:?}");
}

#[test]
fn rows_that_count_more_are_more_likely() {
    let task = heteroscedastic(300, "").task();
    let mut data = task.data().clone();
    data.weights = (0..300).map(|i| if i % 3 == 0 { 4.0 } else { 1.0 }).collect();
    let (problem, placement) = (task.problem().clone(), task.placement().clone());
    let weighted = Task::new(problem, placement, data, task.settings().clone()).unwrap();
    let model = fit(&weighted, "constant+scenarios").unwrap().candidate.fitted.model;
    let Some(Law::Shift { weights, .. }) = model.law() else { panic!() };
    let (least, most) = weights.iter().fold((f64::MAX, 0.0_f64), |(a, b), w| (a.min(*w), b.max(*w)));
    assert!((most / least - 4.0).abs() < 1e-9);
}
