//! What goes wrong with learning: bad tables, rows without a decision, full disks, damaged runs, kills.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, Ran};
use serde_json::Value;

/// Capacity is predicted: below 0 there is no decision. What is wanted lies below it, so that it matters only there.
const CAPACITY: &str = r#"
[problem]
sense = "min"
variables = ["a"]

[[soft]]
name = "wanted"
rows = [[1.0]]
limit = { predict = ["want"] }
over = 1.0
under = 3.0

[[hard]]
name = "cap"
rows = [[1.0]]
at_most = { predict = ["cap"] }

[data]
file = "history.csv"
features = ["f"]

[predictor]
kind = "linear"

[training]
method = "l2"
epochs = 60
learning_rate = 0.1
"#;

/// cap = 2 + f for f in [−1, 1]: trained, the prediction for f = −10 is far below 0.
fn capacity() -> Folder {
    let mut table = String::from("f,want,cap\n");
    for i in 0..100 {
        let f = f64::from(i) / 50.0 - 1.0;
        writeln!(table, "{f},{},{}", 1.5 + f, 2.0 + f).unwrap();
    }
    let folder = Folder::new().with("problem.toml", CAPACITY).with("history.csv", table);
    works(&folder, "train problem.toml --out run --quiet");
    folder
}

fn works(folder: &Folder, arguments: &str) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 0, "{arguments}: {}", ran.stderr);
    ran.stdout
}

/// Must be refused; nothing on stdout.
fn refused(folder: &Folder, arguments: &str) -> Ran {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 2, "{arguments}: {}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "", "{arguments}");
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    ran
}

fn tidy(text: &str) -> String {
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn messages() {
    let folder = capacity();
    let mut all = String::new();
    let mut say = |case: &str, arguments: &str| {
        let ran = refused(&folder, arguments);
        writeln!(all, "## {case}\n\n{}", tidy(&ran.stderr)).unwrap();
    };
    fs::write(folder.path().join("other.csv"), "g,cap\n1,2\n").unwrap();
    fs::write(folder.path().join("bare.csv"), "f\n1\n").unwrap();
    fs::write(
        folder.path().join("known.toml"),
        "[problem]\nvariables = 1\n[objective]\nlinear = 1\n[bounds]\nupper = 1\n",
    )
    .unwrap();
    fs::write(folder.path().join("nodata.toml"), CAPACITY.split("[data]").next().unwrap()).unwrap();
    say("decide: the feature is not there", "decide run --features other.csv");
    say("decide: no such table", "decide run --features none.csv");
    say("decide: another ending", "decide run --features history.csv --out plan.xlsx");
    say("decide: no such run", "decide nowhere --features history.csv");
    say("decide: not a run", "decide . --features history.csv");
    say("evaluate: the truth is not there", "evaluate run --data bare.csv");
    say("train: the directory is taken", "train problem.toml --out run");
    say("train: nothing to learn", "train known.toml --out r2");
    say("train: no data", "train nodata.toml --out r2");
    say("train: no such method", "train problem.toml --method spo --out r2");
    say("train: a method that does not fit", "train problem.toml --method spo+ --out r2");
    say("train: scenarios that do not fit", "train problem.toml --method l2+scenarios --out r2");
    say("train: bad option", "train problem.toml --epochs 0 --out r2");
    say("train: no run to resume", "train --resume nowhere");
    say("train: other settings for a run", "train --resume run --epochs 5");
    say("compare: no such method", "compare problem.toml --methods l2,magic --out c");
    say("compare: L2 with L2", "compare problem.toml --methods l2+l2 --out c");
    say("report: no such run", "report nowhere");
    insta::assert_snapshot!(all);
    for name in ["r2", "c", "report", "plan.xlsx"] {
        assert!(!folder.path().join(name).exists(), "{name} was made");
    }
}

#[test]
fn a_gap_far_down_is_named_by_its_line() {
    let folder = capacity();
    let mut table = String::from("f,want,cap\n");
    for i in 0..50_000 {
        if i == 40_000 {
            table.push_str("NaN,1.5,2\n");
        } else {
            writeln!(table, "{},1.5,2", f64::from(i % 100) / 100.0).unwrap();
        }
    }
    let refusing = CAPACITY.replace("features = [\"f\"]", "features = [\"f\"]\nmissing = \"refuse\"");
    let folder = folder.with("refusing.toml", refusing).with("big.csv", table);
    works(&folder, "train refusing.toml --out refusing --quiet");
    // A row that cannot be decided for stops no other.
    let ran = folder.run("decide refusing --features big.csv --out d.csv");
    assert!(ran.code == 1 && ran.stderr.contains("line 40002: missing f"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(folder.path().join("d.csv")).unwrap().lines().count(), 50_001);
    for command in ["evaluate refusing --data big.csv", "train refusing.toml --data big.csv --out r2"] {
        let ran = refused(&folder, command);
        assert!(
            ran.stderr.contains("line 40002") || ran.stderr.contains("line 40,002"),
            "{command}: {}",
            ran.stderr
        );
    }
    for name in ["d.csv.partial", "r2"] {
        assert!(!folder.path().join(name).exists(), "{name} was left");
    }
}

#[test]
fn rows_without_a_decision() {
    let folder = capacity();
    // More than a chunk of 4096 rows before the bad one.
    let mut table = String::from("f\n");
    for i in 0..6000 {
        writeln!(table, "{}", if i == 5000 { -10.0 } else { f64::from(i % 100) / 100.0 }).unwrap();
    }
    let folder = folder.with("batch.csv", table);
    for name in ["d.csv", "d.jsonl", "d.parquet"] {
        let ran = folder.run(&format!("decide run --features batch.csv --out {name} --infeasible fail"));
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("line 5002") && ran.stderr.contains("infeasible"), "{}", ran.stderr);
        assert!(!folder.path().join(name).exists(), "{name}");
        assert!(!folder.path().join(format!("{name}.partial")).exists(), "{name}");
    }
    let ran = folder.run("decide run --features batch.csv --infeasible fail");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "fail and write nothing");
    let ran = folder.run("decide run --features batch.csv --out d.csv --infeasible mark");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("line 5002: infeasible"), "{}", ran.stderr);
    let decided = fs::read_to_string(folder.path().join("d.csv")).unwrap();
    let lines: Vec<&str> = decided.lines().collect();
    assert_eq!(lines.len(), 6001);
    assert_eq!(lines[5001], "5000,infeasible,,");
    let others = lines.iter().skip(1).filter(|l| l.split(',').nth(1) == Some("optimal")).count();
    assert_eq!(others, 5999);
    // The neighbours are what they are without it.
    let clean: String =
        fs::read_to_string(folder.path().join("batch.csv")).unwrap().replace("\n-10\n", "\n0\n");
    fs::write(folder.path().join("clean.csv"), clean).unwrap();
    let wanted = works(&folder, "decide run --features clean.csv");
    for (i, (found, wanted)) in decided.lines().zip(wanted.lines()).enumerate().filter(|(i, _)| *i != 5001) {
        assert_eq!(found, wanted, "line {i}");
    }
    // Evaluation counts it as undecided and says where it is.
    let folder = folder.with("judge.csv", "f,want,cap\n0.5,2,2.5\n-10,1,1.5\n0.2,1.7,2.2\n");
    let ran = folder.run("evaluate run --data judge.csv --format json");
    assert_eq!(ran.code, 1);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&found["instances"], &found["undecided"]), (&Value::from(2), &Value::from(1)));
    assert!(ran.stderr.contains("line 3"), "{}", ran.stderr);
}

#[test]
fn dropped_rows_keep_the_others_numbers() {
    // With missing = "drop" a row without features has no decision and says so; the others have theirs.
    let folder = capacity();
    let dropping = CAPACITY.replace("features = [\"f\"]", "features = [\"f\"]\nmissing = \"drop\"");
    let folder = folder.with("dropping.toml", dropping).with("new.csv", "f\n0.1\n\"\"\n0.3\n");
    works(&folder, "train dropping.toml --out dropping --quiet");
    let ran = folder.run("decide dropping --features new.csv");
    let status = |line: &str| line.splitn(3, ',').take(2).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = ran.stdout.lines().skip(1).map(status).collect();
    assert_eq!(rows, ["0 optimal", "1 missing f", "2 optimal"], "{}", ran.stdout);
    assert!(
        ran.code == 1 && ran.stderr.contains("line 3: missing f"),
        "a row without a decision is told: {:?}",
        ran.stderr
    );
}

#[cfg(target_os = "linux")]
#[test]
fn outputs_that_cannot_be_written() {
    let folder = capacity();
    let full = |arguments: &str| {
        let program = assert_cmd::cargo::cargo_bin!("regretless");
        let device = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        Command::new(program)
            .current_dir(folder.path())
            .args(arguments.split_whitespace())
            .stdout(device)
            .stderr(Stdio::piped())
            .output()
            .unwrap()
    };
    for arguments in [
        "decide run --features history.csv",
        "decide run --features history.csv --format json",
        "evaluate run --data history.csv",
        "train problem.toml --out r2 --epochs 1 --quiet",
    ] {
        let output = full(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {stderr}");
        assert!(stderr.contains("No space left"), "{arguments}: {stderr}");
    }
    // A directory in the place of the file, a folder that is not there.
    fs::create_dir(folder.path().join("taken.csv")).unwrap();
    for out in ["taken.csv", "nowhere/d.csv"] {
        let ran = refused(&folder, &format!("decide run --features history.csv --out {out}"));
        assert!(ran.stderr.contains(out), "{}", ran.stderr);
    }
    assert!(!folder.path().join("taken.csv.partial").exists(), "half a file was left");
    for (command, out) in [
        ("compare problem.toml --methods l2 --seeds 1 --epochs 1", "history.csv/c"),
        ("report run", "history.csv/r"),
        ("train problem.toml", "history.csv/t"),
    ] {
        let ran = refused(&folder, &format!("{command} --out {out}"));
        assert!(ran.stderr.contains("history.csv"), "{}", ran.stderr);
    }
}

#[test]
fn a_reader_that_has_seen_enough() {
    let folder = capacity();
    let table: String = (0..20_000).fold(String::from("f\n"), |t, i| t + &format!("0.{i}\n"));
    fs::write(folder.path().join("many.csv"), table).unwrap();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
        .current_dir(folder.path())
        .args(["decide", "run", "--features", "many.csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
}

#[test]
fn damaged_runs() {
    let folder = capacity();
    let run = folder.path().join("run");
    let environment = fs::read_to_string(run.join("environment.json")).unwrap();
    fs::write(run.join("environment.json"), environment.replace("\"format\": 1", "\"format\": 99")).unwrap();
    let every = ["decide run --features history.csv", "evaluate run --data history.csv", "report run"];
    for arguments in every.into_iter().chain(["train --resume run"]) {
        let ran = refused(&folder, arguments);
        assert!(ran.stderr.contains("format 99"), "{arguments}: {}", ran.stderr);
    }
    fs::write(run.join("environment.json"), environment).unwrap();
    let model = fs::read(run.join("model.safetensors")).unwrap();
    for length in [0, 7, 100, model.len() / 2, model.len() - 1] {
        fs::write(run.join("model.safetensors"), &model[..length]).unwrap();
        for arguments in &every[..2] {
            let ran = refused(&folder, arguments);
            assert!(ran.stderr.contains("model.safetensors"), "{length}: {}", ran.stderr);
        }
    }
    fs::remove_file(run.join("model.safetensors")).unwrap();
    let ran = refused(&folder, every[0]);
    assert!(ran.stderr.contains("train --resume run"), "{}", ran.stderr);
    // The stages are whole: the model is there again after --resume.
    works(&folder, "train --resume run --quiet");
    assert!(fs::read(run.join("model.safetensors")).unwrap() == model);
}

/// An LP that takes a second or two to train.
fn slow() -> Folder {
    let folder = Folder::new();
    works(&folder, "new production p");
    let problem = fs::read_to_string(folder.path().join("p/problem.toml")).unwrap();
    let slow = problem
        .replace("epochs = 200", "epochs = 25")
        .replace("stop = { patience = 30 }", "stop = \"never\"");
    assert_ne!(problem, slow);
    fs::write(folder.path().join("p/problem.toml"), slow).unwrap();
    folder
}

fn spawned(folder: &Folder, arguments: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
        .current_dir(folder.path())
        .args(arguments.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until the run has `epochs` lines and a checkpoint.
fn wait_for(run: &Path, epochs: usize, child: &mut Child) {
    let started = Instant::now();
    loop {
        let lines = fs::read_to_string(run.join("metrics.jsonl")).map_or(0, |t| t.lines().count());
        if lines >= epochs && run.join("checkpoint").exists() {
            return;
        }
        assert!(started.elapsed() < Duration::from_mins(1), "no checkpoint");
        assert!(child.try_wait().unwrap().is_none(), "the run was over too soon: make it slower");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A run without what depends on the clock: result, epochs, model.
fn essence(run: &Path) -> (Value, Vec<Value>, Vec<u8>) {
    let parse = |text: &str| timeless(serde_json::from_str(text).unwrap());
    let result = fs::read_to_string(run.join("result.json")).unwrap();
    let epochs = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    (parse(&result), epochs.lines().map(parse).collect(), fs::read(run.join("model.safetensors")).unwrap())
}

fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.remove("seconds");
            map.values_mut().for_each(|v| *v = timeless(v.take()));
        }
        Value::Array(list) => list.iter_mut().for_each(|v| *v = timeless(v.take())),
        _ => {}
    }
    value
}

fn same(found: &Path, wanted: &Path) {
    let (found, wanted) = (essence(found), essence(wanted));
    assert_eq!(found.0, wanted.0, "result");
    assert_eq!(found.1, wanted.1, "epochs");
    assert!(found.2 == wanted.2, "model");
}

#[test]
fn a_killed_run_goes_on_with_the_same_numbers() {
    let folder = slow();
    for method in ["surrogate-smooth+l2", "auto"] {
        let train = format!("train p/problem.toml --method {method} --quiet --threads 2 --out");
        works(&folder, &format!("{train} whole-{method}"));
        for epochs in [1, 7, 30] {
            if epochs > 20 && method != "auto" {
                continue;
            }
            let name = format!("killed-{method}-{epochs}");
            let run = folder.path().join(&name);
            let mut child = spawned(&folder, &format!("{train} {name}"));
            wait_for(&run, epochs, &mut child);
            // SIGKILL.
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!run.join("result.json").exists());
            works(&folder, &format!("train --resume {name} --quiet --threads 1"));
            same(&run, &folder.path().join(format!("whole-{method}")));
        }
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_usable_run() {
    let folder = slow();
    for method in ["surrogate-smooth+l2", "auto"] {
        let train = format!("train p/problem.toml --method {method} --quiet --format json --out");
        works(&folder, &format!("{train} whole-{method}"));
        for epochs in [2, 60] {
            if epochs > 20 && method != "auto" {
                continue;
            }
            let name = format!("stopped-{method}-{epochs}");
            let run = folder.path().join(&name);
            let mut child = spawned(&folder, &format!("{train} {name}"));
            wait_for(&run, epochs, &mut child);
            let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
            assert!(signalled.success());
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(0), "{method} after {epochs}: {stderr}");
            let result: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(result["interrupted"], true);
            works(&folder, &format!("decide {name} --features p/new.csv --out d.csv"));
            works(&folder, &format!("train --resume {name} --quiet"));
            same(&run, &folder.path().join(format!("whole-{method}")));
        }
    }
}
