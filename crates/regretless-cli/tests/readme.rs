//! The README does what it says: its commands run, their output is as shown.
//!
//! `UPDATE_README=1 cargo test -p regretless-cli --test readme` writes it anew.
#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::path::{Path, PathBuf};

use common::run;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn updating() -> bool {
    std::env::var_os("UPDATE_README").is_some()
}

/// Compares a file with what it should be, or writes it.
fn in_step(file: &str, wanted: &str) {
    let path = root().join(file);
    if updating() {
        std::fs::write(path, wanted).unwrap();
        return;
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        coarse(&found) == coarse(wanted),
        "{file} is out of step: UPDATE_README=1 cargo test -p regretless-cli --test readme"
    );
}

/// Without the digits of rounding errors and the column widths they cause: these differ between machines.
fn coarse(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("1e-") {
        out.push_str(&rest[..at]);
        rest = rest[at + 3..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out.push_str(rest);
    out.split_whitespace().filter(|word| !word.starts_with("textLength")).collect::<Vec<_>>().join(" ")
}

/// The lines of fenced blocks in a language, each block with the line it starts at.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<Vec<&'a str>> {
    let fence = format!("```{language}");
    let mut out = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == fence {
            out.push(lines.by_ref().take_while(|l| *l != "```").collect());
        }
    }
    out
}

#[test]
fn shell_commands_run() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let commands: Vec<&str> = blocks(&readme, "sh").concat();
    assert_eq!(commands.len(), 2, "the main job and the tests");
    for command in commands {
        if let Some(arguments) = command.strip_prefix("cargo run --release -- ") {
            // The comparison runs in the test of the console blocks.
            assert_eq!(arguments, "compare");
        } else {
            assert!(root().join(command).is_file(), "{command}");
        }
    }
}

#[test]
fn console_blocks_show_what_is_printed() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut wanted = readme.clone();
    for block in blocks(&readme, "console") {
        let arguments = block[0].strip_prefix("$ regretless ").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let compares = arguments.starts_with("compare");
        let out = if compares { format!(" --out {}", dir.path().display()) } else { String::new() };
        let mut ran = run(&format!("{arguments}{out}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout = ran.stdout.replace(&dir.path().display().to_string(), "comparison");
        if compares && !updating() {
            assert_close(&block, &ran.stdout);
            continue;
        }
        let shown: String = block.iter().fold(String::from("```console\n"), |t, l| t + l + "\n");
        let real = format!("```console\n{}\n{}", block[0], tidy(&ran.stdout));
        wanted = wanted.replace(&shown, &real);
    }
    in_step("README.md", &wanted);
}

/// The same methods with about the same regret: training sums in another order on another processor, and seconds are those
/// of the machine.
fn assert_close(shown: &[&str], real: &str) {
    let rows = |lines: Vec<&str>| -> Vec<(String, f64)> {
        let row = |line: &str| {
            let mut words = line.trim_start_matches([' ', '*']).split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
        };
        lines.into_iter().filter_map(row).collect()
    };
    let (shown, real) = (rows(shown.to_vec()), rows(real.lines().collect()));
    assert!(shown.len() >= 8, "{shown:?}");
    assert_eq!(shown.len(), real.len());
    for ((shown, value), (real, found)) in shown.iter().zip(&real) {
        assert_eq!(shown, real);
        assert!((value - found).abs() < 0.1 * value, "{real}: README {value}, now {found}");
    }
}

/// Without blanks at line ends, which editors take away.
fn tidy(text: &str) -> String {
    text.lines().fold(String::new(), |t, l| t + l.trim_end() + "\n")
}
