//! `regretless benchmark` at toy size, and what it refuses.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::{Folder, run};
use serde_json::Value;

const TOY: &str = "benchmark quality --only n=100+degree=4+noise=0.5 --draws 3 --out toy --quiet";

/// Arguments are cut at blanks, and names have some.
fn toy(folder: &Folder, contenders: &str, more: &str) -> (i32, String, String) {
    let mut command = assert_cmd::Command::cargo_bin("regretless").unwrap();
    command.current_dir(folder.path()).env_remove("REGRETLESS_DATA");
    command.args(TOY.split(' ').map(|word| word.replace('+', " ")));
    command.args(["--contenders", contenders]).args(more.split_whitespace());
    let out = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

/// Results without what differs from run to run, in one order.
fn results(folder: &Folder) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path().join("toy/results.jsonl")).unwrap();
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["seconds"] = 0.into();
        line.to_string()
    };
    let mut lines: Vec<String> = text.lines().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn the_board() {
    let folder = Folder::new();
    let (code, json, _) = toy(&folder, "constant,linear l2,linear l2 of log c", "--format json");
    assert_eq!(code, 0);
    let board: Value = serde_json::from_str(&json).unwrap();
    let rows = board["rows"].as_array().unwrap();
    assert_eq!((rows.len(), board["left"].as_u64()), (3, Some(0)));
    let of = |name: &str| rows.iter().find(|row| row["contender"] == name).unwrap();
    // Costs are skewed: the logarithm is the better scale, and a constant the worst there is.
    assert!(of("linear l2 of log c")["best"] == true && of("linear l2 of log c")["against"].is_null());
    assert!(of("constant")["mean"].as_f64() > of("linear l2")["mean"].as_f64());
    let l2 = of("linear l2");
    assert_eq!((l2["against"].as_str(), l2["paired"].as_u64()), (Some("linear l2 of log c"), Some(3)));
    let difference = l2["mean"].as_f64().unwrap() - of("linear l2 of log c")["mean"].as_f64().unwrap();
    assert!((l2["difference"].as_f64().unwrap() - difference).abs() < 1e-9);
    for file in ["rows.csv", "board.json", "tables.md", "study.html"] {
        assert!(folder.path().join("toy").join(file).is_file(), "{file}");
    }
    // What each row cost is there, and its mean is what the results say.
    let costs = folder.path().join("toy/costs/paths/n-100-degree-4-noise-0.5/1001/linear-l2.csv");
    let costs = std::fs::read_to_string(costs).unwrap();
    let cost = |line: &str| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        cells[2] * cells[3]
    };
    let costs: Vec<f64> = costs.lines().skip(1).map(cost).collect();
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    let line =
        results(&folder).into_iter().find(|l| l.contains("\"linear l2\"") && l.contains("1001")).unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    assert!(costs.len() == 1000 && (line["values"][0].as_f64().unwrap() - mean).abs() < 1e-9 * mean);
}

#[test]
fn a_run_that_was_stopped_goes_on_to_the_same_bits() {
    let (whole, stopped) = (Folder::new(), Folder::new());
    let contenders = "constant,linear l2,spo+";
    assert_eq!(toy(&whole, contenders, "--threads 2").0, 0);
    // Some is done, and the last line is cut short, as by a kill.
    assert_eq!(toy(&stopped, contenders, "--threads 1").0, 0);
    let path = stopped.path().join("toy/results.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    assert_eq!(toy(&stopped, contenders, "--threads 1").0, 0);
    assert_eq!(results(&whole), results(&stopped));
    // Nothing is done twice.
    let before = std::fs::read_to_string(&path).unwrap();
    assert_eq!(toy(&stopped, contenders, "").0, 0);
    assert_eq!(before, std::fs::read_to_string(&path).unwrap());
}

#[test]
fn a_study_is_the_board() {
    let folder = Folder::new();
    assert_eq!(toy(&folder, "constant,linear l2", "").0, 0);
    let works = |words: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("regretless").unwrap();
        command.current_dir(folder.path()).env_remove("REGRETLESS_DATA").arg("study").args(words);
        command.assert().success();
    };
    let only = "n=100 degree=4 noise=0.5";
    works(&[
        "plan",
        "benchmark",
        "quality",
        "--only",
        only,
        "--draws",
        "3",
        "--out",
        "study",
        "--contenders",
        "constant,linear l2",
    ]);
    works(&["do", "study", "--shard", "1/2", "--quiet"]);
    works(&["do", "study", "--quiet"]);
    works(&["table", "study"]);
    let board = |dir: &str| {
        let text = std::fs::read_to_string(folder.path().join(dir).join("board.json")).unwrap();
        let mut board: Value = serde_json::from_str(&text).unwrap();
        board["rows"].as_array_mut().unwrap().iter_mut().for_each(|row| row["seconds"] = 0.into());
        board
    };
    assert_eq!(board("study"), board("toy"));
}

#[test]
fn what_is_left_is_said() {
    let folder = Folder::new();
    let (code, out, remarks) = toy(&folder, "spo+", "--max-minutes 0.00001");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(remarks.contains("3 trials left") && remarks.contains("the same command goes on"), "{remarks}");
}

#[test]
fn the_table() {
    let folder = Folder::new();
    let (_, text, _) = toy(&folder, "constant,linear l2", "");
    // Seconds differ from run to run.
    let timeless = |line: &str| match line.trim_end().rsplit_once(' ') {
        Some((rest, last)) if last.parse::<f64>().is_ok() => rest.trim_end().to_owned(),
        _ => line.trim_end().to_owned(),
    };
    insta::assert_snapshot!(text.lines().map(timeless).collect::<Vec<_>>().join("\n"));
}

#[test]
fn messages() {
    let folder = Folder::new();
    let mut seen = String::new();
    for arguments in [
        "benchmark",
        "benchmark quality --data nowhere",
        "benchmark quality --only moon",
        "benchmark quality --contenders l2,moon",
        "benchmark quality --draws 0",
    ] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 2, "{arguments}");
        if arguments != "benchmark" {
            let _ = writeln!(seen, "$ regretless {arguments}\n{}", ran.stderr);
        }
    }
    insta::assert_snapshot!(seen);
    assert!(!folder.path().join("quality").exists());
}

#[test]
fn help() {
    let ran = run("benchmark quality --help");
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.stdout);
}
