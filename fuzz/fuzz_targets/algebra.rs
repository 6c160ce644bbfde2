//! Text of expressions to rows: whatever the text, an answer or an error with a place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regretless_project::{Limits, Spec};

/// Small, so that time goes into the parser and not into eigenvalues.
const LIMITS: Limits = Limits { problem_bytes: 1 << 16, model_bytes: 1 << 16, table_bytes: 1 << 16, variables: 32, predicted: 1024, terms: 4096, entries: 1024 };

const BEFORE: &str = "[sets]\nh = 3\nu = [\"a\", \"b\"]\narc = [[\"a\", \"b\"], [\"b\", \"a\"]]\n\
    [quantities]\nk = { known = \"k\" }\np = { for = \"h\", value = [1, 2, 3] }\n\
    [variables]\nx = { for = \"h\", before = 2 }\ny = { for = \"u, h\", cyclic = true }\nf = { for = \"arc\" }\nz = {}\n";

// The lines are the objective, what a row is for, and the row.
fuzz_target!(|text: &str| {
    if text.contains("'''") || text.contains(|c: char| c.is_control() && c != '\n') {
        return;
    }
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap_or("z");
    let (objective, over, row) = (next(), next(), next());
    let file = format!(
        "{BEFORE}[objective]\nminimize = '''{objective}'''\n[[hard]]\nfor = '''{over}'''\nrow = '''{row}'''\n"
    );
    match Spec::parse(file.as_str(), "nowhere/problem.toml", &LIMITS) {
        Ok(spec) => assert!(spec.expansion(None).is_some()),
        Err(error) => assert!(error.place.position().is_some_and(|(line, column)| line > 0 && column > 0)),
    }
});
