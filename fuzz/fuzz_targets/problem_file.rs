//! Text of a problem file to a checked problem: whatever the text, an answer or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regretless_project::{Limits, ParameterTable, Spec};

/// Small, so that time goes into the parser and not into eigenvalues.
const LIMITS: Limits = Limits { problem_bytes: 1 << 16, model_bytes: 1 << 16, table_bytes: 1 << 16, variables: 32, predicted: 1024, terms: 4096, entries: 1024 };

fuzz_target!(|text: &str| {
    match Spec::parse(text, "nowhere/problem.toml", &LIMITS) {
        Ok(spec) => {
            let table = "price_a,price_b,c_1,c_2\n1,2,3,4\n";
            if let Ok(table) = ParameterTable::from_csv(table.as_bytes(), "t.csv".as_ref(), &spec, &LIMITS) {
                let row = table.row(0).expect("a table that was read has a row");
                let _ = spec.problem().view(&row.instance());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
