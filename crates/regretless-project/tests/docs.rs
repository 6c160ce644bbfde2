//! The examples of `docs/problem-file.md` are read by the code they document.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use regretless_project::{Limits, Spec};

#[test]
fn every_example_of_the_docs_is_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/problem-file.md")).unwrap();
    let mut seen = 0;
    for block in text.split("```toml").skip(1) {
        let (head, rest) = block.split_once('\n').unwrap();
        let body = rest.split("```").next().unwrap();
        // A fragment is completed to a file; a folder says where the named files are.
        let (folder, body) = match head.trim() {
            "fragment" => {
                (root.clone(), format!("[problem]\nvariables = 2\n[objective]\nlinear = 1\n{body}"))
            }
            folder => (root.join(folder), body.to_owned()),
        };
        let spec = Spec::parse(body.as_str(), folder.join("problem.toml"), &Limits::default());
        spec.unwrap_or_else(|e| panic!("{e}\nin\n{body}"));
        seen += 1;
    }
    assert_eq!(seen, 14);
}

#[test]
fn the_limits_are_as_documented() {
    let limits = Limits::default();
    assert_eq!((limits.problem_bytes, limits.model_bytes, limits.table_bytes), (8 << 20, 256 << 20, 4 << 30));
    assert_eq!((limits.variables, limits.entries, limits.predicted), (10_000, 1 << 27, 1 << 20));
}

#[test]
fn every_key_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/problem-file.md")).unwrap();
    let schema = regretless_project::json_schema();
    let mut keys = Vec::new();
    for definition in schema["$defs"].as_object().unwrap().values() {
        keys.extend(definition["properties"].as_object().into_iter().flat_map(|keys| keys.keys()));
    }
    assert!(keys.len() > 60, "{}", keys.len());
    for key in keys {
        let ways = [format!("`{key}`"), format!("{key} = "), format!("{{ {key}")];
        assert!(ways.iter().any(|way| text.contains(way)), "`{key}` is not documented");
    }
}
