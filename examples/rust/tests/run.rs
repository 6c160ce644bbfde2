//! Every example runs and prints its table.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::{Command, Output};

fn run(binary: &str, argument: &str) -> Output {
    Command::new(binary).arg(argument).output().unwrap()
}

/// Runs an example and checks that every method has a row with a regret, and the two-stage one a ratio of 1.
fn prints(binary: &str, methods: &[&str]) {
    let out = run(binary, "--quick");
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    for method in methods {
        let row = text.lines().find(|line| line.split_whitespace().next() == Some(method));
        let cells: Vec<&str> =
            row.unwrap_or_else(|| panic!("no {method} in\n{text}")).split_whitespace().collect();
        let number = |i: usize| cells[i].parse::<f64>().unwrap_or_else(|_| panic!("{row:?}"));
        assert!(number(1) > 0.0 && number(2).is_finite() && number(3) > 0.0, "{row:?}");
        assert!(*method != "l2" || number(3) == 1.0, "{row:?}");
    }
    assert!(text.contains("too few seeds to tell"), "{text}");
}

#[test]
fn logistics() {
    prints(env!("CARGO_BIN_EXE_logistics"), &["constant", "l2", "spo+", "auto"]);
}

#[test]
fn portfolio() {
    prints(env!("CARGO_BIN_EXE_portfolio"), &["constant", "l1", "l2", "surrogate", "auto"]);
}

#[test]
fn provisioning() {
    let methods = ["constant", "l1", "l2", "df", "surrogate", "l2+scenarios", "auto"];
    prints(env!("CARGO_BIN_EXE_provisioning"), &methods);
}

#[test]
fn an_unknown_argument_is_refused() {
    let out = run(env!("CARGO_BIN_EXE_logistics"), "--fast");
    assert!(!out.status.success());
    assert!(String::from_utf8_lossy(&out.stderr).contains("--quick"));
}
