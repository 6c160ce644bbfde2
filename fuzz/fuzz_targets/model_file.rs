//! Text of an MPS or LP file to a checked problem: whatever the text, an answer or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regretless_core::Instance;
use regretless_project::{Limits, Spec};

/// Small, so that time goes into the parser and not into eigenvalues.
const LIMITS: Limits =
    Limits { problem_bytes: 1 << 16, model_bytes: 1 << 16, table_bytes: 1 << 16, variables: 32, predicted: 1024, terms: 4096, entries: 1024 };

fuzz_target!(|text: &str| {
    for name in ["model.mps", "model.lp"] {
        if let Ok(spec) = Spec::parse(text, name, &LIMITS) {
            assert!(spec.problem().view(&Instance::default()).is_ok());
        }
    }
});
