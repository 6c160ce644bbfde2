//! The plan of the house: dependencies between the folders of the crate are a line.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};

/// Each folder may use those before it, and itself.
const LINE: [&str; 10] = [
    "linalg",
    "problem",
    "engine",
    "solve",
    "multipliers",
    "surrogate",
    "gradient",
    "predict",
    "loss",
    "decide",
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}

/// What the code of a file names by `crate::…`, its tests and comments apart.
fn named(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for line in lines {
        for rest in line.split("crate::").skip(1) {
            found.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    found
}

#[test]
fn dependencies_are_a_line() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let place = |name: &str| LINE.iter().position(|folder| *folder == name);
    let mut edges = 0;
    for (own, folder) in LINE.iter().enumerate() {
        for file in files(&source.join(folder)) {
            for name in named(&fs::read_to_string(&file).unwrap()) {
                let what = format!("{} uses crate::{name}", file.display());
                // An item of the facade has a folder too, which the name would hide.
                let other = place(&name).unwrap_or_else(|| panic!("{what}, which is no folder"));
                assert!(other <= own, "{what}, which comes after {folder}");
                edges += usize::from(other < own);
            }
        }
    }
    assert!(edges > 100, "only {edges} edges were seen");
    let folders = fs::read_dir(&source).unwrap().filter(|e| e.as_ref().unwrap().path().is_dir()).count();
    assert_eq!(folders, LINE.len(), "a folder without a place in the line");
}
