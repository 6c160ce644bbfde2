//! Forecasts made elsewhere: judged, with scenarios of their errors, and nothing trained.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::{NEWSVENDOR, Project, fit, residuals};
use rand::RngExt;
use regretless_learn::{Ended, Silent, judge, stream};
use regretless_project::{Run, train_new};

/// Demand that a forecast gets right but for errors of 0 to 4, evenly.
fn project(training: &str) -> Project {
    let mut rng = stream(21, 0, 0);
    let mut table = String::from("day,forecast,demand\n");
    for day in 0..300 {
        let forecast = rng.random_range(10.0..20.0_f64);
        writeln!(table, "{day},{forecast},{}", forecast + rng.random_range(0.0..4.0)).unwrap();
    }
    let problem = NEWSVENDOR
        .replace("file = \"history.csv\"\n", "file = \"history.csv\"\nfeatures = [\"forecast\"]\n")
        .replace("kind = \"linear\"", "kind = \"given\"");
    Project::new(&format!("{problem}\n[training]\n{training}\n"), &table)
}

#[test]
fn forecasts_are_taken_as_they_are() {
    let project = project("scenarios = { count = 1000 }");
    let task = project.task();
    let plain = fit(&task, "l2").unwrap().candidate;
    assert_eq!((plain.name.as_str(), &plain.fitted.ended), ("given", &Ended::Nothing));
    let rows = task.test();
    let found = plain.fitted.model.predict(&task.features(rows), rows.len());
    for (found, given) in found.iter().zip(task.features(rows)) {
        assert!((found - given).abs() < 1e-5);
    }
    // A unit too few costs 3, one too many 1: with scenarios the order is the forecast and three quarters of the errors' range.
    let spread = fit(&task, "l2+scenarios").unwrap().candidate;
    assert_eq!(residuals(&spread.fitted.model).len(), task.train().len());
    let decided = judge(&task, &spread.fitted.model, rows).unwrap();
    let costs = |j: &regretless_learn::Judgement| j.measures.regret;
    assert!(costs(&decided) < 0.4 * costs(&judge(&task, &plain.fitted.model, rows).unwrap()));
    let margin: Vec<f64> =
        decided.decisions.iter().zip(task.features(rows)).map(|(d, f)| d.x[0] - f).collect();
    let mean = margin.iter().sum::<f64>() / margin.len() as f64;
    assert!((mean - 3.0).abs() < 0.25, "{mean}");
    assert_eq!(fit(&task, "auto").unwrap().candidate.name, "given+scenarios");
}

#[test]
fn runs_of_forecasts_are_read_as_they_were_written() {
    let project = project("method = \"l2+scenarios\"");
    let dir = project.path("run");
    let (_, outcome) = train_new(&project.spec(), &dir, &mut Silent).unwrap();
    let (model, _) = Run::open(&dir).unwrap().model().unwrap();
    let task = project.task();
    let again = judge(&task, &model, task.test()).unwrap().measures.regret;
    assert!((again - outcome.test.unwrap().regret).abs() < 1e-9);
}

#[test]
fn what_cannot_be_done_with_forecasts_is_said() {
    let task = project("epochs = 2").task();
    let error = fit(&task, "surrogate-smooth").unwrap_err();
    assert!(error.to_string().contains("nothing to train"), "{error}");
    let wide = project("epochs = 2");
    let text = std::fs::read_to_string(wide.path("problem.toml")).unwrap();
    wide.write("problem.toml", text.replace("[\"forecast\"]", "[\"forecast\", \"day\"]"));
    let error = fit(&wide.task(), "l2").unwrap_err();
    assert!(error.to_string().contains("2 features") && error.to_string().contains("1 numbers"), "{error}");
}
