//! `docs/problem.schema.json` is what the code says. After a change: `UPDATE_SCHEMA=1 cargo test -p regretless-project`.

use std::path::Path;

#[test]
fn the_committed_schema_is_the_generated_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/problem.schema.json");
    let generated = format!("{:#}\n", regretless_project::json_schema());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    // Compared as values: the order of keys depends on features that other crates choose.
    let committed: serde_json::Value = serde_json::from_str(&committed).unwrap_or_default();
    assert!(
        committed == regretless_project::json_schema(),
        "docs/problem.schema.json is out of date: run UPDATE_SCHEMA=1 cargo test -p regretless-project --test schema"
    );
}
