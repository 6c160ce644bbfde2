//! Which column of the table feeds which predicted number: by order, which names do not change.

use crate::{Predicted, Spec};
use regretless_core::Parameter;
use regretless_learn::Dataset;

use super::Finding;
use regretless_learn::some_of;

/// A line for every predicted part. Where the names of columns suggest another order, the task warns.
pub(super) fn run(spec: &Spec, data: &Dataset) -> Vec<Finding> {
    let mut at = 0;
    let mut findings = Vec::new();
    for part in spec.predicted() {
        let columns = &data.names.targets[at..at + part.range.len()];
        at += part.range.len();
        let pairs: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(k, column)| format!("{} ← {column}", entry(spec, part, k)))
            .collect();
        findings.push(Finding::ok("predicted", format!("`{}`: {}", part.key, some_of(&pairs))));
    }
    findings
}

/// What an entry of a predicted part is called: the variable's name where there is one for each, else its position.
fn entry(spec: &Spec, part: &Predicted, k: usize) -> String {
    let variables = spec.problem().variables();
    match (part.parameter, part.matrix) {
        (Parameter::Linear | Parameter::Lower | Parameter::Upper, _) => {
            variables[part.range.start + k].clone()
        }
        (_, Some((_, columns))) => format!("[{}][{}]", k / columns, k % columns),
        _ => format!("[{k}]"),
    }
}
