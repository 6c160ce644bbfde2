//! Forecasts made elsewhere, from a file: points, quantiles and samples in one format.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fs;

use common::Folder;

/// A unit short costs 2, one too many 1: the best order is the quantile of level 2/3.
const PROBLEM: &str = r#"
[problem]
sense = "min"
variables = ["order"]
[[soft]]
name = "demand"
rows = [[1.0]]
limit = { predict = "demand" }
over = 1.0
under = 2.0
[data]
file = "history.csv"
key = "day"
split = { kind = "chronological", valid = 0.2, test = 0.2 }
[training]
method = "l2"
"#;

const ROWS: usize = 200;

fn demand(i: usize) -> f64 {
    20.0 + (i * 37 % 11) as f64
}

/// What the forecast is off by; as often 3 too low as 3 too high, and right on one day in three.
fn point(i: usize) -> f64 {
    demand(i) + [-3.0, 0.0, 3.0][i % 3]
}

fn history() -> String {
    let lines = (0..ROWS).map(|i| format!("d{i},{},{}\n", i % 7, demand(i)));
    std::iter::once("day,weekday,demand\n".to_owned()).chain(lines).collect()
}

/// A table with one column or several of numbers behind the names of days.
fn table(head: &str, cells: impl Fn(usize) -> Vec<f64>) -> String {
    let line = |i: usize| {
        let cells: Vec<String> = cells(i).iter().map(f64::to_string).collect();
        format!("d{i},{}\n", cells.join(","))
    };
    std::iter::once(format!("day,{head}\n")).chain((0..ROWS).map(line)).collect()
}

fn folder(forecasts: String) -> Folder {
    Folder::new()
        .with("problem.toml", PROBLEM)
        .with("history.csv", history())
        .with("forecasts.csv", forecasts)
}

fn trained(forecasts: String, options: &str) -> Folder {
    let folder = folder(forecasts);
    let ran =
        folder.run(&format!("train problem.toml --forecasts forecasts.csv --out run --quiet {options}"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("decide run --forecasts FILE"), "{}", ran.stdout);
    folder
}

fn orders(folder: &Folder, options: &str) -> Vec<f64> {
    let ran = folder.run(&format!("decide run --out orders.csv {options}"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let text = fs::read_to_string(folder.path().join("orders.csv")).unwrap();
    let at = text.lines().next().unwrap().split(',').position(|name| name == "order").unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

fn regret(folder: &Folder) -> f64 {
    let ran = folder.run("evaluate run --data history.csv --forecasts forecasts.csv --format json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()["regret"].as_f64().unwrap()
}

/// What orders cost on average.
fn cost(order: impl Fn(usize) -> f64) -> f64 {
    let one = |i: usize| {
        let over = order(i) - demand(i);
        if over > 0.0 { over } else { -2.0 * over }
    };
    (0..ROWS).map(one).sum::<f64>() / ROWS as f64
}

#[test]
fn points_are_decided_for_as_they_are() {
    let folder = trained(table("demand", |i| vec![point(i)]), "");
    let taken = orders(&folder, "--forecasts forecasts.csv");
    assert_eq!(taken.len(), ROWS);
    assert!(taken.iter().enumerate().all(|(i, order)| (order - point(i)).abs() < 1e-5), "{taken:?}");
    assert!((regret(&folder) - cost(point)).abs() < 1e-5);
    // What was written down is enough to go on, and to report.
    let config = fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    assert!(config.contains("forecasts.csv") && config.contains("forecast of demand"), "{config}");
    assert_eq!(folder.run("report run --out page --importance").code, 0);
    assert_eq!(folder.run("train run/config.toml --out again --quiet").code, 0);
}

/// Errors −3, 0 and 3 are equally frequent: the quantile of level 2/3 of the truth is the forecast to the forecast and 3 more.
#[test]
fn points_with_their_errors() {
    let folder = trained(table("demand", |i| vec![point(i)]), "--method l2+scenarios");
    let taken = orders(&folder, "--features history.csv --forecasts forecasts.csv");
    let off: Vec<f64> = taken.iter().enumerate().map(|(i, order)| order - point(i)).collect();
    assert!(off.iter().all(|off| (-1e-6..=3.0 + 1e-6).contains(off)), "{off:?}");
}

#[test]
fn quantiles_and_samples_are_scenarios() {
    // Shares .375, .25, .375: the level 2/3 is beyond the first two.
    let quantiles = |i: usize| vec![point(i) + 9.0, point(i) - 4.0, point(i) + 1.0];
    let folder = trained(table("demand@0.75,demand@0.25,demand@0.5", quantiles), "");
    let taken = orders(&folder, "--forecasts forecasts.csv");
    assert!(taken.iter().enumerate().all(|(i, order)| (order - point(i) - 9.0).abs() < 1e-5), "{taken:?}");
    assert!((regret(&folder) - cost(|i| point(i) + 9.0)).abs() < 1e-5);
    // Of four samples the third smallest.
    let samples = |i: usize| vec![point(i) + 2.0, point(i) - 5.0, point(i) + 8.0, point(i)];
    for options in ["", "--method auto"] {
        let folder = trained(table("demand#1,demand#2,demand#3,demand#4", samples), options);
        let kept = folder.run("evaluate run --data history.csv --forecasts forecasts.csv").stdout;
        if kept.starts_with("given\n") {
            let taken = orders(&folder, "--forecasts forecasts.csv");
            let there = |(i, order): (usize, &f64)| (order - point(i) - 2.0).abs() < 1e-5;
            assert!(taken.iter().enumerate().all(there), "{taken:?}");
        } else {
            assert_eq!(options, "--method auto", "{kept}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let refused = |forecasts: String, told: &[&str]| {
        let ran = folder(forecasts).run("train problem.toml --forecasts forecasts.csv --out run --quiet");
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        for told in told {
            assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
        }
    };
    let fine = || table("demand", |i| vec![point(i)]);
    refused(
        fine().replace("d7,26", "d7,many"),
        &["forecasts.csv, line 9, column 2", "`many` is not a number", "a forecast"],
    );
    refused(fine().replace("\nd7,", "\nd8,"), &["line 9, column 1 (`day`)", "`d8`", "`d7`", "in its order"]);
    refused(
        fine().replace("day,demand", "day,sales"),
        &["forecasts.csv: ", "`demand`", "sales", "forecasts are wanted of all"],
    );
    refused(fine().lines().take(100).collect::<Vec<_>>().join("\n"), &["no forecast for row 100"]);
    refused(fine() + "d200,3\n", &["line 202", "only 200 rows"]);
    refused(
        table("demand@0.5,demand#1", |i| vec![point(i), point(i)]),
        &["some columns hold quantiles, and some samples"],
    );
    // Of a run with a predictor of its own, and of one without the file.
    let own = folder(fine());
    assert_eq!(own.run("train problem.toml --out own --quiet").code, 0);
    let trained = trained(fine(), "");
    let ran = trained.run("evaluate run --data history.csv");
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("forecast of demand") && ran.stderr.contains("--forecasts"),
        "{}",
        ran.stderr
    );
    let ran = own.run("decide own --features history.csv --forecasts forecasts.csv");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("--forecasts"), "{}", ran.stderr);
    // One method has something to learn, and forecasts have not.
    let ran = own.run("train problem.toml --forecasts forecasts.csv --method surrogate-smooth --out run");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

/// A row that has no forecast is said, and does not stop the others.
#[test]
fn a_gap_is_a_row_without_a_decision() {
    let folder = trained(table("demand", |i| vec![point(i)]), "");
    let gap = table("demand", |i| vec![point(i)]).replace("d7,26", "d7,");
    fs::write(folder.path().join("gap.csv"), gap).unwrap();
    let ran = folder.run("decide run --forecasts gap.csv --out x.csv");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("missing forecast of demand"), "{}", ran.stderr);
    let text = fs::read_to_string(folder.path().join("x.csv")).unwrap();
    assert_eq!(text.lines().count(), ROWS + 1);
    // In groups, which are read apart.
    let whole = orders(&folder, "--forecasts forecasts.csv");
    assert_eq!(folder.run("decide run --forecasts forecasts.csv --out folder --files csv").code, 0);
    let part = fs::read_dir(folder.path().join("folder")).unwrap().flatten();
    let part = part.map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == "csv")).unwrap();
    assert_eq!(fs::read_to_string(part).unwrap().lines().count(), whole.len() + 1);
}
