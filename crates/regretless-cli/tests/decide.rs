//! `decide` on tables of any length: groups of rows, shares of them, kills, memory.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::Folder;
use regretless_project::{Limits, OutColumn, ParquetOut, TableReader};

/// x follows a predicted limit that is 2 + f; below f = −2 there is no decision.
const PROBLEM: &str = r#"
[problem]
sense = "min"
variables = ["a", "b"]

[objective]
linear = { predict = ["price_a", "price_b"] }

[[soft]]
name = "wanted"
rows = [[1.0, 1.0]]
limit = 1.0
over = 0.0
under = 3.0

[[hard]]
name = "cap"
rows = [[1.0, 0.0]]
at_most = { predict = ["cap"] }

[bounds]
upper = 2.0

[data]
file = "history.csv"
features = ["f", "g"]
missing = "drop"

[predictor]
kind = "linear"

[training]
method = "l2"
"#;

fn works(folder: &Folder, arguments: &str) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 0, "{arguments}: {}", ran.stderr);
    ran.stdout
}

fn trained() -> Folder {
    let mut table = String::from("f,g,price_a,price_b,cap\n");
    for i in 0..100 {
        let (f, g) = (f64::from(i) / 50.0 - 1.0, f64::from(i * 37 % 100) / 100.0);
        writeln!(table, "{f},{g},{},{},{}", 1.0 + f, 1.5 - g, 2.0 + f).unwrap();
    }
    let folder = Folder::new().with("problem.toml", PROBLEM).with("history.csv", table);
    works(&folder, "train problem.toml --out run --quiet");
    folder
}

/// Row groups of these sizes; some rows have no decision, and one has no value.
fn parquet(path: &Path, groups: &[usize]) {
    let mut out = ParquetOut::new(fs::File::create(path).unwrap());
    let mut row = 0;
    for &rows in groups {
        let f: Vec<f64> = (row..row + rows)
            .map(|i| if i == 77 { f64::NAN } else { (i % 251) as f64 / 60.0 - 2.1 })
            .collect();
        let g: Vec<f64> = (row..row + rows).map(|i| (i % 97) as f64 / 97.0).collect();
        out.write(&[("g", OutColumn::Numbers(&g)), ("f", OutColumn::Numbers(&f))]).unwrap();
        row += rows;
    }
    out.close().unwrap();
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    entries
        .map(|path| (name(&path), fs::read(&path).unwrap()))
        .filter(|(name, _)| name.starts_with("group-"))
        .collect()
}

/// The rows of a Parquet file as text, all columns.
fn rows(path: &Path) -> Vec<String> {
    let mut reader = TableReader::open(path, &Limits::default()).unwrap();
    let all = 0..reader.header().len();
    reader.select_texts(all.collect());
    let mut out = Vec::new();
    while let Some(chunk) = reader.next().unwrap() {
        out.extend(
            (0..chunk.rows).map(|i| chunk.texts.iter().map(|c| c[i].as_str()).collect::<Vec<_>>().join(",")),
        );
    }
    out
}

#[test]
fn shards_together_are_the_whole() {
    let folder = trained();
    parquet(&folder.path().join("new.parquet"), &[3000, 1, 0, 9000, 500]);
    let whole = folder.run("decide run --features new.parquet --out whole.csv --predictions");
    assert_eq!(whole.code, 1, "{}", whole.stderr);
    assert!(whole.stderr.contains("row 78: missing f"), "{}", whole.stderr);
    let expected = fs::read_to_string(folder.path().join("whole.csv")).unwrap();
    let (head, expected) = expected.split_once('\n').unwrap();
    assert_eq!(expected.lines().count(), 12_501);
    for shards in [1, 3] {
        let dir = format!("d{shards}");
        for shard in (1..=shards).rev() {
            folder.run(&format!("decide run --features new.parquet --out {dir} --files csv --predictions --shard {shard}/{shards} --threads {shard}"));
        }
        // Names sort as the rows do. The empty row group has no file.
        let all = files(&folder.path().join(&dir));
        let groups: Vec<&str> = all.keys().map(|name| &name[..12]).collect();
        assert_eq!(groups, ["group-000000", "group-000001", "group-000003", "group-000004"]);
        let shard_of = |name: &str| name.split("-shard-").nth(1).unwrap().to_owned();
        let expected_shard = |group: usize| format!("{}-of-{shards}.csv", group % shards + 1);
        for (name, group) in all.keys().zip([0, 1, 3, 4]) {
            assert_eq!(shard_of(name), expected_shard(group));
        }
        let texts: Vec<String> = all.into_values().map(|bytes| String::from_utf8(bytes).unwrap()).collect();
        assert!(texts.iter().all(|text| text.starts_with(head)));
        let together: String = texts.iter().map(|text| text.split_once('\n').unwrap().1).collect();
        assert_eq!(together, expected, "{shards} shards");
    }
}

#[test]
fn other_tables_have_groups_too() {
    let folder = trained();
    let mut table = String::from("f,g\n");
    for i in 0..70_000 {
        writeln!(table, "{},{}", f64::from(i % 100) / 50.0 - 1.0, f64::from(i % 7)).unwrap();
    }
    let folder = folder.with("new.csv", table);
    works(&folder, "decide run --features new.csv --out whole.parquet");
    for shard in 1..=2 {
        works(&folder, &format!("decide run --features new.csv --out d --shard {shard}/2"));
    }
    let names: Vec<String> = files(&folder.path().join("d")).into_keys().collect();
    assert_eq!(names, ["group-000000-shard-1-of-2.parquet", "group-000001-shard-2-of-2.parquet"]);
    let together: Vec<String> =
        names.iter().flat_map(|name| rows(&folder.path().join("d").join(name))).collect();
    assert_eq!(together.len(), 70_000);
    assert_eq!(together, rows(&folder.path().join("whole.parquet")));
}

fn spawn(folder: &Folder, arguments: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
        .current_dir(folder.path())
        .args(arguments.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn the_table_is_not_written_over() {
    let folder = trained();
    parquet(&folder.path().join("new.parquet"), &[10]);
    let before = fs::read(folder.path().join("new.parquet")).unwrap();
    let said = folder.run("decide run --features new.parquet --out ./new.parquet");
    assert_eq!(said.code, 2, "{}", said.stderr);
    assert!(said.stderr.contains("decisions would be written over it"), "{}", said.stderr);
    assert_eq!(fs::read(folder.path().join("new.parquet")).unwrap(), before);
}

#[test]
fn a_kill_costs_no_more_than_a_group() {
    let folder = trained();
    parquet(&folder.path().join("new.parquet"), &[5000; 12]);
    folder.run("decide run --features new.parquet --out whole --threads 2");
    let command = "decide run --features new.parquet --out d --threads 1";
    let expected = files(&folder.path().join("whole"));
    assert_eq!(expected.len(), 12);
    let mut kills = 0;
    for wait in (20..).step_by(7) {
        let mut child = spawn(&folder, command);
        std::thread::sleep(Duration::from_millis(wait));
        let over = child.try_wait().unwrap().is_some();
        // SIGKILL; it may be over already.
        let _ = child.kill();
        child.wait().unwrap();
        let there = folder.path().join("d");
        if over {
            break;
        }
        kills += 1;
        if there.is_dir() {
            // What has its name is whole.
            assert!(files(&there).iter().all(|(name, bytes)| expected[name] == *bytes));
        }
    }
    assert!(kills > 0);
    let last = folder.run(command);
    assert!(last.stderr.contains("12 files there already"), "{}", last.stderr);
    assert_eq!(files(&folder.path().join("d")), expected);
    // A kill may leave what had no name yet.
    let mut left: Vec<_> =
        fs::read_dir(folder.path().join("d")).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.retain(|name| !name.to_string_lossy().ends_with(".partial"));
    assert_eq!(left.len(), 13, "{left:?}");
}

/// The most memory a process had, in KiB, as far as somebody who looks all the time can see.
#[cfg(target_os = "linux")]
fn peak(mut child: Child) -> u64 {
    let path = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let found = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok());
        most = most.max(found.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    most
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_table() {
    let folder = trained();
    parquet(&folder.path().join("short.parquet"), &[100_000]);
    parquet(&folder.path().join("long.parquet"), &[400_000]);
    let of = |name: &str, out: &str| {
        peak(spawn(&folder, &format!("decide run --features {name}.parquet --out {name}{out} --threads 1")))
    };
    for out in [".csv", ".parquet", ""] {
        let (short, long) = (of("short", out), of("long", out));
        // The rows alone, two features and four numbers of a decision, are 5 and 19 MB.
        assert!(short > 1000 && long < short + 6_000, "{short} and {long} KiB");
    }
}

#[test]
fn messages() {
    let folder = trained();
    parquet(&folder.path().join("new.parquet"), &[10]);
    parquet(&folder.path().join("other.parquet"), &[11]);
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/letter.txt"), "").unwrap();
    works(&folder, "train problem.toml --method l1 --out run2 --quiet");
    folder.run("decide run --features new.parquet --out d --shard 1/2");
    let mut all = String::new();
    for (case, arguments, code) in [
        ("a shard beyond the last", "decide run --features new.parquet --out d --shard 3/2", 2),
        ("no shards", "decide run --features new.parquet --out d --shard 0/0", 2),
        ("a shard and stdout", "decide run --features new.parquet --shard 1/2", 2),
        ("a shard and a file", "decide run --features new.parquet --out d.csv --shard 1/2", 2),
        ("other shards", "decide run --features new.parquet --out d --shard 1/3", 2),
        ("other features", "decide run --features other.parquet --out d --shard 1/2", 2),
        ("another model", "decide run2 --features new.parquet --out d --shard 1/2", 2),
        ("other files", "decide run --features new.parquet --out d --shard 1/2 --files csv", 2),
        ("other columns", "decide run --features new.parquet --out d --shard 1/2 --predictions", 2),
        ("somebody's folder", "decide run --features new.parquet --out mine", 2),
        ("a file in the way", "decide run --features new.parquet --out problem.toml/d", 2),
        ("a row without a decision", "decide run --features new.parquet --out e --infeasible fail", 1),
    ] {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{case}: {}", ran.stderr);
        writeln!(all, "## {case}\n\n{}", ran.stderr).unwrap();
    }
    insta::assert_snapshot!(all);
    assert!(files(&folder.path().join("e")).is_empty());
}

#[test]
fn a_folder_that_ran_out_of_time_goes_on() {
    let folder = trained();
    parquet(&folder.path().join("new.parquet"), &[200, 300, 400]);
    let ran = folder.run("decide run --features new.parquet --max-minutes 1 --out one.csv");
    assert!(ran.code == 2 && ran.stderr.contains("--max-minutes needs a folder"), "{}", ran.stderr);
    // Each time one file, however short the time.
    for there in 1..=3 {
        let ran = folder.run("decide run --features new.parquet --out d --files csv --max-minutes 0.0000001");
        assert_eq!(files(&folder.path().join("d")).len(), there, "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("the time is up: 1 file made"), there < 3, "{}", ran.stderr);
    }
    works_but_for_rows(&folder, "decide run --features new.parquet --out whole.csv");
    let texts = files(&folder.path().join("d")).into_values().map(|bytes| String::from_utf8(bytes).unwrap());
    let together: String = texts.map(|text| text.split_once('\n').unwrap().1.to_owned()).collect();
    let whole = fs::read_to_string(folder.path().join("whole.csv")).unwrap();
    assert_eq!(together, whole.split_once('\n').unwrap().1);
}

/// One row of the table has no value.
fn works_but_for_rows(folder: &Folder, arguments: &str) {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}
