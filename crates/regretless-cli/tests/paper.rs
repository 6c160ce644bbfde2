//! `regretless paper` at toy size, and what it refuses.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::{Folder, run};
use serde_json::Value;

const TOY: &str =
    "paper synthetic --sizes 6,4,2 --samples 40 --seeds 3 --methods l1,surrogate --k 0.2,5 --out toy --quiet";

fn works(folder: &Folder, arguments: &str) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 0, "{arguments}: {}", ran.stderr);
    ran.stdout
}

#[test]
fn rows_for_machines() {
    let folder = Folder::new();
    let json: Value = serde_json::from_str(&works(&folder, &format!("{TOY} --format json"))).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let found: Vec<(String, Option<f64>)> =
        rows.iter().map(|r| (r["method"].as_str().unwrap().to_owned(), r["k"].as_f64())).collect();
    let expected = [
        ("constant", None),
        ("l1", None),
        ("surrogate-smooth", Some(0.2)),
        ("surrogate-smooth", Some(5.0)),
        ("surrogate-smooth", None),
    ];
    assert_eq!(found, expected.map(|(method, k)| (method.to_owned(), k)));
    for row in rows {
        assert_eq!((row["size"].as_str(), row["samples"].as_u64()), (Some("6,4,2"), Some(40)));
        assert!(
            row["regret"].as_f64().unwrap() >= 0.0 && row["std"].is_number() && row["published"].is_null()
        );
    }
    // Nothing is trained again, and the tables lie beside the results.
    let lines = || std::fs::read_to_string(folder.path().join("toy/results.jsonl")).unwrap();
    let before = lines();
    let table = works(&folder, &format!("{TOY} --sizes 06,4,2 --predictor mlp,mlp --samples 40 --k .2"));
    assert_eq!(before, lines());
    assert!(table.contains("surrogate-smooth") && table.contains("report: toy/study.html"), "{table}");
    for file in ["study.html", "tables.md", "rows.csv", "rows.json", "study.json"] {
        assert!(folder.path().join("toy").join(file).is_file(), "{file}");
    }
    let csv = std::fs::read_to_string(folder.path().join("toy/rows.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + rows.len());
    let markdown = std::fs::read_to_string(folder.path().join("toy/tables.md")).unwrap();
    assert!(markdown.contains("| (6,4,2), N = 40 | ours |"), "{markdown}");
    // Core-hours: of all trainings, those of the K that was chosen once.
    let seconds = before.lines().map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        record["seconds"].as_f64().unwrap()
    });
    let (trainings, hours) = (before.lines().count(), seconds.sum::<f64>() / 3600.0);
    assert_eq!(trainings, 12);
    let work = table.lines().find(|line| line.contains("core-hours")).unwrap();
    let told: f64 = work.split(' ').nth(2).unwrap().parse().unwrap();
    assert!(work.starts_with("12 trainings, ") && (told - hours).abs() <= 1e-3 * hours, "{work}: {hours}");
    assert!(markdown.contains("| (6,4,2), N = 40 | 12 |"), "{markdown}");
}

#[test]
fn the_papers_figures_stand_beside_ours() {
    let folder = Folder::new();
    let command = "paper synthetic --profile published --sizes 40,40,0 --samples 100 --seeds 1 --methods l1,surrogate --k 0.2,1 \
                   --quiet --format json";
    let json: Value = serde_json::from_str(&works(&folder, command)).unwrap();
    let published = |method: &str, k: Option<f64>| {
        let rows = json["rows"].as_array().unwrap();
        let row = rows.iter().find(|r| r["method"] == method && r["k"].as_f64() == k).unwrap();
        row["published"].as_f64()
    };
    // Table 1, the table of all K, and its best K, which we did not try.
    assert_eq!(published("l1", None), Some(2.454));
    assert_eq!(published("surrogate-vertex", Some(0.2)), Some(2.423));
    assert_eq!(published("surrogate-vertex", None), Some(2.258));
    assert_eq!(published("constant", None), None);
    assert!(folder.path().join("paper-synthetic-published/study.html").is_file());
}

#[test]
fn messages() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let mut seen = String::new();
    for arguments in [
        "paper synthetic --sizes 80,80",
        "paper synthetic --methods l1,surogate",
        "paper synthetic --k 0",
        "paper synthetic --k -1",
        "paper synthetic --sizes -1,2,3",
        "paper synthetic --out file",
        "paper synthetic --data empty",
        "paper synthetic --data nowhere",
        "paper synthetic --phase -1",
        "paper synthetic --seeds 0",
        "paper portfolio --data empty",
        "paper portfolio --data nowhere",
        "paper portfolio --sizes many",
        "paper provisioning --data empty",
        "paper provisioning --sizes 3",
        "paper synthetic --quick --full",
        "paper synthetic --sizes 6,4,2 --samples 20 --seeds 1 --methods l1+scenarios --out a",
        "paper provisioning --sizes 1 --seeds 1 --methods l1,spo+ --out b",
        "paper synthetic --sizes 2,1,1 --samples 20 --seeds 1 --methods l1 --out c",
    ] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 2, "{arguments}");
        assert_eq!(ran.stdout, "");
        let _ = writeln!(seen, "$ regretless {arguments}\n{}", ran.stderr);
    }
    insta::assert_snapshot!(seen);
    // What was refused left nothing.
    for out in ["a", "b", "c"] {
        assert!(!folder.path().join(out).exists(), "{out}");
    }
}

#[test]
fn another_studys_folder() {
    let folder = Folder::new();
    let tiny = "paper synthetic --sizes 6,4,2 --samples 20 --seeds 1 --methods l1 --out out --quiet";
    works(&folder, tiny);
    let refused = |arguments: &str, what: &str| {
        let ran = folder.run(arguments);
        assert!(ran.code == 2 && ran.stderr.contains(what), "{arguments}: {}", ran.stderr);
    };
    refused(&format!("{tiny} --phase 0.3"), "made with another `data`: “drawn, a phase of 0.25");
    refused(&format!("{tiny} --profile published"), "of the sound profile, not of published");
    // Somebody's own files are not written over.
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    std::fs::write(folder.path().join("mine/rows.csv"), "mine").unwrap();
    refused(&tiny.replace("out out", "out mine"), "no study that it could be of");
    assert_eq!(std::fs::read_dir(folder.path().join("mine")).unwrap().count(), 1);
    // Begun, with nothing in it yet: begun anew.
    std::fs::write(folder.path().join("out/results.jsonl"), "").unwrap();
    std::fs::write(folder.path().join("out/study.json"), "{").unwrap();
    works(&folder, tiny);
}

#[test]
fn penalties_and_eigenvalues() {
    let folder = Folder::new();
    let few = "paper multipliers --sizes 5,3,5 --out out --format json --quiet";
    let rows: serde_json::Value = serde_json::from_str(&works(&folder, few)).unwrap();
    // Three distributions of each size; what the rules found for each application, and what certifies it.
    let eigenvalues = rows["eigenvalues"].as_array().unwrap();
    let sizes: Vec<_> = eigenvalues.iter().map(|e| e["n"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [3, 5, 3, 5, 3, 5]);
    assert!(eigenvalues.iter().all(|e| e["unit_rows"]["max"].as_f64() <= e["n"].as_f64().map(|n| n + 1e-9)));
    let rules = rows["rows"].as_array().unwrap();
    for application in ["synthetic", "portfolio", "provisioning"] {
        for rule in ["theory", "empirical", "dual"] {
            let found = rules.iter().find(|r| r["application"] == application && r["rule"] == rule).unwrap();
            assert!(rule != "dual" || found["holds"] == true, "{found}");
        }
    }
    // Sizes that are done are not done again.
    let known = folder.path().join("out/eigenvalues.jsonl");
    let before = std::fs::read_to_string(&known).unwrap();
    works(&folder, &few.replace("5,3,5", "3,4"));
    let after = std::fs::read_to_string(&known).unwrap();
    assert!(after.starts_with(&before) && after.lines().count() == before.lines().count() + 3);
}

#[cfg(unix)]
#[test]
fn a_folder_whose_name_is_no_text() {
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    let mut command = assert_cmd::Command::cargo_bin("regretless").unwrap();
    command.current_dir(folder.path()).env_remove("REGRETLESS_DATA");
    command
        .args("paper synthetic --sizes 6,4,2 --samples 20 --seeds 1 --methods l1 --quiet --out".split(' '));
    command.arg(std::ffi::OsStr::from_bytes(b"a b\xff")).assert().success();
}

#[test]
fn help() {
    for command in ["", " synthetic"] {
        let ran = run(&format!("paper{command} --help"));
        assert_eq!(ran.code, 0);
        let text = ran.stdout;
        insta::assert_snapshot!(format!("paper{}_help", command.replace(' ', "_")), text);
    }
}
