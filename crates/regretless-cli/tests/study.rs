//! Studies over many processes: the numbers of `compare` and `paper`, whoever does the trials.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, Ran, run};
use serde_json::Value;

fn works(folder: &Folder, arguments: &str) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 0, "{arguments}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

/// A starter project in `p` with seeds that split anew, and a row without a value that is left out.
fn started() -> Folder {
    let folder = Folder::new();
    works(&folder, "new newsvendor p");
    let [problem, history] =
        ["p/problem.toml", "p/history.csv"].map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    let problem = problem.replacen("[data]\n", "[data]\nmissing = \"drop\"\n", 1);
    assert!(problem.contains("drop"));
    let mut lines: Vec<String> = history.lines().map(str::to_owned).collect();
    let (first, rest) = lines[5].split_once(',').unwrap();
    let (_, rest) = rest.split_once(',').unwrap();
    lines[5] = format!("{first},,{rest}");
    folder.with("p/problem.toml", problem).with("p/history.csv", lines.join("\n") + "\n")
}

const WHAT: &str = "p/problem.toml --seeds 3 --epochs 3 --methods l2,surrogate,surrogate+l2 --k 1,10";

/// Without what a clock says.
fn timeless(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| *key != "seconds");
            Value::Object(kept.map(|(key, v)| (key.clone(), timeless(v))).collect())
        }
        Value::Array(items) => items.iter().map(timeless).collect(),
        other => other.clone(),
    }
}

fn json(path: &Path) -> Value {
    timeless(&serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
}

fn results(study: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(study.join("results")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Charts without the one of seconds are drawn from numbers alone.
fn charts(dir: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(dir.join("charts")).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut all: Vec<_> = entries.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect();
    all.sort();
    all
}

#[test]
fn a_study_is_the_comparison() {
    let folder = started();
    works(&folder, &format!("compare {WHAT} --out c --quiet"));
    let said = works(&folder, &format!("study plan compare {WHAT} --out s"));
    assert!(said.contains("12 trials in s"), "{said}");
    let study = folder.path().join("s");
    // By number, by the beginning of a hash, as a share, all that is left; several at a time and from another folder.
    let plan = fs::read_to_string(study.join("plan.jsonl")).unwrap();
    let second: Value = serde_json::from_str(plan.lines().nth(2).unwrap()).unwrap();
    let hash = second["trial"].as_str().unwrap();
    assert!(works(&folder, "study do s 1").contains("constant, seed"));
    assert!(works(&folder, &format!("study do s {} --threads 1", &hash[..10])).starts_with("2 "));
    assert!(works(&folder, &format!("study do s 2 {hash}")).contains("was done before"));
    assert_eq!(results(&study).len(), 2);
    works(&folder, "study do s --shard 2/2 --threads 2 --quiet");
    // Shares are dealt by hash.
    let mut hashes: Vec<&str> = plan.lines().skip(1).map(|line| line.split('"').nth(3).unwrap()).collect();
    let first_two = [hashes[0], hashes[1]];
    hashes.sort_unstable();
    let share: Vec<&str> = hashes.iter().copied().skip(1).step_by(2).collect();
    let done = 6 + first_two.iter().filter(|hash| !share.contains(hash)).count();
    assert_eq!(results(&study).len(), done);
    works(&folder, "study do s 1 2 3 4 --quiet");
    let missing = 12 - results(&study).len();
    let partly = folder.run("study table s --format json");
    assert_eq!(partly.code, 1, "{}", partly.stderr);
    assert!(partly.stderr.contains(&format!("{missing} of 12 trials are missing")), "{}", partly.stderr);
    let elsewhere = common::run_in(&study, "study do . --threads 2");
    assert_eq!(elsewhere.code, 0, "{}", elsewhere.stderr);
    let before = results(&study);
    assert_eq!(before.len(), 12);
    let shown = works(&folder, "study table s");
    assert!(shown.contains("next: regretless train p/problem.toml"), "{shown}");
    let out = folder.path().join("c");
    let found = json(&study.join("comparison.json"));
    assert_eq!(found, json(&out.join("comparison.json")));
    assert!(found["notes"][0].as_str().unwrap().starts_with("p/history.csv: left out 1 row"), "{found}");
    assert_eq!(charts(&study), charts(&out));
    // What is done is not done again, in a study that grew neither.
    works(&folder, "study do s");
    works(&folder, &format!("study plan compare {} --out s", WHAT.replace("--seeds 3", "--seeds 4")));
    assert_eq!(results(&study), before);
    works(&folder, "study do s --quiet");
    assert_eq!(results(&study).len(), 16);
    works(&folder, &format!("compare {} --out c4 --quiet", WHAT.replace("--seeds 3", "--seeds 4")));
    works(&folder, "study table s --out t");
    assert_eq!(
        json(&folder.path().join("t/comparison.json")),
        json(&folder.path().join("c4/comparison.json"))
    );
}

#[test]
fn a_plan_writes_over_nothing() {
    let folder = started();
    let own = fs::read_to_string(folder.path().join("p/problem.toml")).unwrap();
    let said = folder.run(&format!("study plan compare {WHAT} --out p"));
    assert_eq!(said.code, 2, "{}", said.stderr);
    assert!(said.stderr.contains("the folder is not empty, and no study is in it"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(folder.path().join("p/problem.toml")).unwrap(), own);
}

#[test]
fn the_papers_applications_can_be_planned() {
    let toy = "synthetic --sizes 6,4,2 --samples 40 --seeds 2 --methods l1,surrogate,auto --k 0.2,5";
    let folder = Folder::new();
    works(&folder, &format!("paper {toy} --out p --quiet"));
    works(&folder, &format!("study plan paper {toy} --out s"));
    for trial in 1..=3 {
        works(&folder, &format!("study do s {trial} --quiet"));
    }
    assert_eq!(folder.run("study table s").code, 1);
    works(&folder, "study do s --threads 2 --quiet");
    works(&folder, "study table s");
    let rows = |dir: &str| json(&folder.path().join(dir).join("rows.json"));
    assert_eq!(rows("s"), rows("p"));
    assert_eq!(charts(&folder.path().join("s")), charts(&folder.path().join("p")));
}

#[test]
fn a_kill_costs_no_more_than_what_was_on() {
    let folder = started();
    works(&folder, &format!("study plan compare {WHAT} --epochs 60 --out s").replacen(" --epochs 3", "", 1));
    let study = folder.path().join("s");
    let mut rounds = 0;
    while results(&study).iter().filter(|path| path.extension().is_some_and(|e| e == "json")).count() < 12 {
        rounds += 1;
        assert!(rounds < 200, "nothing gets done");
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
            .current_dir(folder.path())
            .args(["study", "do", "s", "--threads", "2", "--quiet"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(60 + 25 * rounds) && child.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        // SIGKILL; it may be over already.
        let _ = child.kill();
        child.wait().unwrap();
    }
    works(&folder, "study table s");
    works(&folder, &format!("compare {WHAT} --epochs 60 --out c --quiet").replacen(" --epochs 3", "", 1));
    assert_eq!(json(&study.join("comparison.json")), json(&folder.path().join("c/comparison.json")));
}

#[test]
fn two_who_do_the_same_trials_agree() {
    let folder = started();
    works(&folder, &format!("study plan compare {WHAT} --out s"));
    let spawn = || {
        Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
            .current_dir(folder.path())
            .args(["study", "do", "s", "--threads", "1", "--quiet"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let both = [spawn(), spawn()];
    for mut child in both {
        assert!(child.wait().unwrap().success());
    }
    works(&folder, "study table s");
    works(&folder, &format!("compare {WHAT} --out c --quiet"));
    assert_eq!(
        json(&folder.path().join("s/comparison.json")),
        json(&folder.path().join("c/comparison.json"))
    );
    assert_eq!(results(&folder.path().join("s")).len(), 12);
}

/// Must be refused with nothing on stdout.
fn refused(folder: &Folder, arguments: &str, code: i32) -> Ran {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, code, "{arguments}: {}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "", "{arguments}");
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    ran
}

#[test]
fn messages() {
    let folder = started();
    works(&folder, &format!("study plan compare {WHAT} --out s"));
    fs::create_dir(folder.path().join("empty")).unwrap();
    let study = folder.path().join("s");
    let mut all = String::new();
    let mut say = |case: &str, arguments: &str, code: i32| {
        let text = refused(&folder, arguments, code).stderr;
        // Hashes change with the version.
        let text = text.replace(&folder.path().display().to_string(), "FOLDER");
        writeln!(all, "## {case}\n\n{text}").unwrap();
    };
    say("a shard beyond the last", "study do s --shard 3/2", 2);
    say("no shards", "study do s --shard 0/0", 2);
    say("a shard counted from 0", "study do s --shard 0/2", 2);
    say("half a shard", "study do s --shard 3", 2);
    say("no such number", "study do s 13", 2);
    say("no such hash", "study do s zzzz", 2);
    say("no such folder", "study do nowhere", 2);
    say("not a study", "study do empty", 2);
    say("nothing is done", "study table s", 1);
    say("a method that does not fit", "study plan compare p/problem.toml --methods spo+ --out t", 2);
    say("no trainings", "study plan paper multipliers --out t", 2);
    // Two hashes that begin alike.
    let plan = fs::read_to_string(study.join("plan.jsonl")).unwrap();
    let hashes: Vec<String> = plan
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["trial"].as_str().unwrap().to_owned())
        .collect();
    let twin = format!("{}{}", &hashes[0][..20], "0".repeat(12));
    fs::write(study.join("plan.jsonl"), plan.replace(&hashes[1], &twin)).unwrap();
    let ambiguous = refused(&folder, &format!("study do s {}", &hashes[0][..9]), 2).stderr;
    assert!(ambiguous.contains("is the beginning of 2 trials"), "{ambiguous}");
    fs::write(study.join("plan.jsonl"), &plan).unwrap();
    let mut say = |case: &str, arguments: &str, code: i32| {
        let text = refused(&folder, arguments, code).stderr;
        let text = text.replace(&folder.path().display().to_string(), "FOLDER");
        writeln!(all, "## {case}\n\n{text}").unwrap();
    };
    fs::write(study.join("plan.jsonl"), plan.replacen(env!("CARGO_PKG_VERSION"), "0.0.7", 1)).unwrap();
    say("a plan of another version", "study do s 1", 2);
    fs::write(study.join("plan.jsonl"), "hello\n").unwrap();
    say("a damaged plan", "study do s 1", 2);
    fs::write(study.join("plan.jsonl"), &plan).unwrap();
    works(&folder, "study do s 1");
    let result = results(&study).into_iter().next().unwrap();
    fs::write(&result, &fs::read(&result).unwrap()[..100]).unwrap();
    let damaged = refused(&folder, "study table s", 2).stderr;
    assert!(damaged.contains("delete the file, and the trial is done again"), "{damaged}");
    fs::remove_file(result).unwrap();
    let table = fs::read_to_string(folder.path().join("p/history.csv")).unwrap();
    let shorter: Vec<&str> = table.lines().collect();
    fs::write(folder.path().join("p/history.csv"), shorter[..shorter.len() - 1].join("\n") + "\n").unwrap();
    say("the data changed", "study do s 1", 2);
    fs::write(folder.path().join("p/history.csv"), table).unwrap();
    let problem = fs::read_to_string(study.join("problem.toml")).unwrap();
    fs::write(study.join("problem.toml"), problem.replace("epochs = 3", "epochs = 4")).unwrap();
    say("the problem changed", "study do s 1", 2);
    fs::write(folder.path().join("taken"), "").unwrap();
    say("a file in the way", "study plan compare p/problem.toml --out taken", 2);
    insta::assert_snapshot!(all);
    assert!(!folder.path().join("t").exists());
}

/// A folder in place of the file that a result is written to stands for a disk that takes nothing.
#[test]
fn what_cannot_be_written_is_said() {
    let folder = started();
    works(&folder, &format!("study plan compare {WHAT} --out s"));
    let results = folder.path().join("s/results");
    fs::remove_dir(&results).unwrap();
    fs::write(&results, "").unwrap();
    let ran = folder.run("study do s --threads 1 --quiet");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("1 trials failed:") && ran.stderr.contains("results"), "{}", ran.stderr);
}

#[test]
fn help() {
    for arguments in ["study --help", "study plan compare --help", "study do --help", "study table --help"] {
        let ran = run(arguments);
        assert_eq!(ran.code, 0);
        let text: String = ran.stdout.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        insta::assert_snapshot!(arguments.replace([' ', '-'], "_"), text);
    }
}
