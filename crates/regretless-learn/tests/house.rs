//! `learn` knows no file format and no face: whoever has a problem in memory can train.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn messages_speak_of_the_thing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&root);
    assert!(files.len() > 40, "{}", files.len());
    for path in files {
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            // What users read are texts; comments may explain.
            for text in line.split('"').skip(1).step_by(2) {
                let words = [" --", "section [", ".toml", "regretless train", "problem file"];
                let of_a_face = words.iter().any(|word| text.contains(word)) || text.starts_with("--");
                assert!(!of_a_face, "{}:{}: {text}", path.display(), number + 1);
            }
        }
    }
}

#[test]
fn the_crate_stands_below_problem_files() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let (_, rest) = manifest.split_once("[dependencies]").unwrap();
    let (own, _) = rest.split_once("[dev-dependencies]").unwrap();
    for above in ["toml", "regretless-project", "regretless-report", "clap", "pyo3"] {
        assert!(!own.lines().any(|line| line.starts_with(above)), "{above}");
    }
}
