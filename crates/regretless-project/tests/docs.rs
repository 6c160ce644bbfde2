//! The examples of `docs/problem-file.md` and `docs/algebra.md` are read by the code they document.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use regretless_project::{Limits, Spec};

/// What completes a fragment of either page to a file.
const MATRICES: &str = "[problem]\nvariables = 2\n[objective]\nlinear = 1\n";
const ALGEBRA: &str = "[sets]\ngood = [\"bread\", \"cake\"]\nunit = [\"gas\", \"coal\"]\nhour = 24\n\
    [variables]\nbake = { for = \"good\" }\npump = { for = \"hour\" }\n[objective]\nminimize = \"sum(g in good: bake[g])\"\n";
const NUMBERS: &str = "[quantities]\ndemand = { for = \"good\", predict = \"demand_*\" }\n\
    cost = { for = \"good\", value = [1, 2] }\nprice = { for = \"good\", value = 3 }\n";

#[test]
fn every_example_of_the_docs_is_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = Vec::new();
    for page in ["problem-file", "algebra"] {
        let text = std::fs::read_to_string(root.join(format!("docs/{page}.md"))).unwrap();
        let blocks = text.split("```toml").skip(1);
        seen.push(blocks.clone().count());
        for block in blocks {
            let (head, rest) = block.split_once('\n').unwrap();
            let body = rest.split("```").next().unwrap();
            let numbers = if body.contains("[quantities]") { "" } else { NUMBERS };
            // A fragment is completed to a file; a folder says where the named files are.
            let (folder, body) = match (head.trim(), page) {
                ("fragment", "algebra") => (root.clone(), format!("{ALGEBRA}{numbers}{body}")),
                ("fragment", _) => (root.clone(), format!("{MATRICES}{body}")),
                (folder, _) => (root.join(folder), body.to_owned()),
            };
            let spec = Spec::parse(body.as_str(), folder.join("problem.toml"), &Limits::default());
            spec.unwrap_or_else(|e| panic!("{e}\nin\n{body}"));
        }
    }
    assert_eq!(seen, [18, 4]);
}

#[test]
fn the_limits_are_as_documented() {
    let limits = Limits::default();
    assert_eq!((limits.problem_bytes, limits.model_bytes, limits.table_bytes), (8 << 20, 256 << 20, 4 << 30));
    assert_eq!((limits.variables, limits.entries, limits.predicted), (1_000_000, 1 << 27, 1 << 20));
    assert_eq!(limits.terms, 1 << 20);
}

#[test]
fn every_key_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |page: &str| std::fs::read_to_string(root.join(page)).unwrap();
    let text = read("docs/problem-file.md") + &read("docs/algebra.md");
    let schema = regretless_project::json_schema();
    let mut keys = Vec::new();
    for definition in schema["$defs"].as_object().unwrap().values() {
        keys.extend(definition["properties"].as_object().into_iter().flat_map(|keys| keys.keys()));
    }
    assert!(keys.len() > 60, "{}", keys.len());
    for key in keys {
        let ways = [format!("`{key}`"), format!("{key} = "), format!("{{ {key}"), format!("[{key}]")];
        assert!(ways.iter().any(|way| text.contains(way)), "`{key}` is not documented");
    }
}
