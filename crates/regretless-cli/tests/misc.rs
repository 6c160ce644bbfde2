//! Help, schema, completions, pipes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::process::{Command, Stdio};

use common::run;

#[test]
fn help() {
    for arguments in ["--help", "solve --help", "check --help"] {
        let ran = run(arguments);
        assert_eq!(ran.code, 0);
        let text: String = ran.stdout.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        insta::assert_snapshot!(arguments.replace([' ', '-'], "_"), text);
    }
}

#[test]
fn usage_errors_exit_with_2() {
    for arguments in ["", "solve", "fly", "solve p.toml --row 1", "solve p.toml --format xml"] {
        assert_eq!(run(arguments).code, 2, "{arguments}");
    }
}

#[test]
fn the_schema_is_json() {
    let ran = run("schema");
    assert_eq!(ran.code, 0);
    let printed: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(printed, regretless_project::json_schema());
}

#[test]
fn completions() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = run(&format!("completions {shell}"));
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("params"));
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
        .arg("schema")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}
