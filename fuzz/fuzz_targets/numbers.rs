//! Bytes to numbers: CSV arrays, NPY arrays and parameter tables.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use regretless_project::{Array, Limits, ParameterTable, Spec};

const LIMITS: Limits = Limits { problem_bytes: 1 << 16, model_bytes: 1 << 16, table_bytes: 1 << 16, variables: 32, predicted: 1024, terms: 4096, entries: 1024 };

static SPEC: LazyLock<Spec> = LazyLock::new(|| {
    let text = "[problem]\nvariables = 2\n[objective]\nlinear = { predict = \"p*\" }\n";
    Spec::parse(text, "p.toml", &LIMITS).expect("a good problem")
});

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("data");
    let arrays = [Array::from_csv(bytes, path, &LIMITS), Array::from_npy(bytes, bytes.len() as u64, path, &LIMITS)];
    for array in arrays.into_iter().flatten() {
        assert_eq!(array.values.len(), array.rows * array.cols);
    }
    if let Ok(table) = ParameterTable::from_csv(bytes, path, &SPEC, &LIMITS) {
        for row in 0..table.len() {
            let parameters = table.row(row).expect("a row within the table");
            assert!(SPEC.problem().view(&parameters.instance()).is_ok());
        }
    }
});
