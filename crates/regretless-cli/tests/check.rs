//! `regretless check`: what it finds, and its exit codes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use common::{Folder, run};
use serde_json::Value;

#[test]
fn every_example_passes() {
    for (name, table) in [("farm", "prices"), ("portfolio", "returns"), ("provisioning", "output")] {
        let ran = run(&format!(
            "check examples/{name}/problem.toml --data examples/{name}/{table}.csv --format json"
        ));
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.stdout, ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(report["passed"], true);
        assert_eq!(report["certificate"]["holds"], true);
        for gradient in report["gradients"].as_array().unwrap() {
            assert!(gradient["relative_error"].as_f64().unwrap() <= 1e-5, "{name}: {gradient}");
        }
    }
}

/// Orders of magnitude of rounding errors differ between machines.
fn settled(text: &str) -> String {
    let mut settings = text.to_owned();
    while let Some(at) =
        settings.find("1e-").filter(|&at| settings[at + 3..].starts_with(|c: char| c.is_ascii_digit()))
    {
        let end =
            settings[at + 3..].find(|c: char| !c.is_ascii_digit()).map_or(settings.len(), |e| at + 3 + e);
        settings.replace_range(at..end, "TINY");
    }
    // Alignment follows the number's width.
    settings.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn the_text_for_people() {
    let farm = run("check examples/farm/problem.toml --data examples/farm/prices.csv");
    insta::assert_snapshot!("farm", settled(&farm.stdout));
    let portfolio = run("check examples/portfolio/problem.toml");
    assert_eq!(portfolio.code, 0);
    insta::assert_snapshot!("without_data", portfolio.stdout);
}

#[test]
fn a_predicted_quadratic_term() {
    let text = "[problem]\nvariables = 2\n[objective]\nlinear = 1\nquadratic = { predict = \"q*\" }\n";
    let folder = Folder::new().with("p.toml", text).with("t.csv", "q1,q2,q3,q4\n2,1,1,2\n5,0,0,3\n");
    let without = folder.run("check p.toml");
    assert_eq!(without.code, 0);
    assert!(without.stdout.contains("convexity    skipped"), "{}", without.stdout);
    let with = folder.run("check p.toml --data t.csv");
    assert_eq!(with.code, 0, "{}", with.stdout);
    assert!(with.stdout.contains("smallest eigenvalue of Q over 2 instances is 1\n"), "{}", with.stdout);
}

#[test]
fn a_problem_without_optimum_fails() {
    let text = "[problem]\nvariables = 1\n[objective]\nlinear = 1\n[[hard]]\nrows = [[1], [-1]]\nat_most = [1, -2]\n";
    let ran = Folder::new().with("p.toml", text).run("check p.toml");
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!("infeasible", ran.stdout);
    let ran = Folder::new()
        .with("p.toml", "[problem]\nvariables = 1\n[objective]\nlinear = 1\n")
        .run("check p.toml");
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!("unbounded", ran.stdout);
}

#[test]
fn a_rule_that_does_not_apply_fails_with_its_reason() {
    let text = "[problem]\nvariables = 1\n[objective]\nlinear = 1\n[[hard]]\nrows = [[1], [-1]]\nat_most = [1, 2]\n\
                [surrogate]\nmultipliers = \"theory\"\n";
    let ran = Folder::new().with("p.toml", text).run("check p.toml");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("`theory` rule does not cover this problem"), "{}", ran.stdout);
}

#[test]
fn multipliers_that_are_too_small_fail_the_certificate() {
    let text = "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = [3, 2]\n[[hard]]\nname = \"cap\"\nrows = [1, \
                1]\nat_most = 1\n[bounds]\nupper = 5\n[surrogate]\nmultipliers = 0.5\n";
    let ran = Folder::new().with("p.toml", text).run("check p.toml --format json");
    assert_eq!(ran.code, 1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["certificate"]["holds"], false);
    let failed: Vec<_> =
        report["checks"].as_array().unwrap().iter().filter(|c| c["verdict"] == "failed").collect();
    assert_eq!(failed[0]["check"], "certificate");
}

#[test]
fn both_segment_modes_and_every_rule() {
    for segments in ["smooth", "vertex"] {
        for rule in ["\"dual\"", "\"empirical\"", "\"theory\"", "50"] {
            let text = format!(
                "[problem]\nvariables = 2\n[objective]\nlinear = [3, 2]\n[[soft]]\nrows = [2, 1]\nlimit = 4\nover = 0.7\n\
                 [[hard]]\nrows = [1, 1]\nat_most = 3\n[surrogate]\nsegments = \"{segments}\"\nmultipliers = {rule}\nk = 2\n"
            );
            let ran = Folder::new().with("p.toml", text).run("check p.toml");
            assert_eq!(ran.code, 0, "{segments} {rule}: {}{}", ran.stdout, ran.stderr);
        }
    }
}

/// `check` looks at the rows that `train` would learn from: a truth that is missing stops neither.
#[test]
fn rows_without_a_truth_are_left_out() {
    let text = "[problem]\nsense = \"min\"\nvariables = 1\n[[soft]]\nrows = [1]\nlimit = { predict = \"d\" }\nover = 1\nunder = 3\n\
                [bounds]\nupper = 9\n[data]\nfile = \"h.csv\"\n";
    let rows: String =
        (0..60).map(|i| if i == 7 { "1,\n".to_owned() } else { format!("{i},{}\n", i % 5) }).collect();
    let folder = Folder::new().with("p.toml", text).with("h.csv", format!("x,d\n{rows}"));
    for arguments in ["check p.toml", "check p.toml --data h.csv"] {
        let ran = folder.run(&format!("{arguments} --format json"));
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(report["instances"], 59);
    }
    let refuses = text.replace("[data]\n", "[data]\nmissing = \"refuse\"\n");
    let ran = folder.with("r.toml", refuses).run("check r.toml");
    assert!(ran.code == 2 && ran.stderr.contains("line 9"), "{}{}", ran.stdout, ran.stderr);
}
