//! Which column of the table feeds which predicted number: by order, which names do not change.

use std::collections::BTreeSet;

use crate::{Predicted, Spec};
use regretless_core::Parameter;
use regretless_learn::Dataset;

use super::{Finding, Verdict};
use regretless_learn::some_of;

/// A line for every predicted part, and a warning where the names of columns suggest another order.
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
        if other_order(columns, spec.problem().variables()) {
            findings.push(Finding {
                check: "predicted",
                verdict: Verdict::Warning,
                detail: format!(
                    "`{}`: its columns end with the names of variables, in another order: {}. Columns are taken in the order of \
                     the table, so name them one by one in the order that is meant",
                    part.key,
                    some_of(columns)
                ),
            });
        }
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

/// True if the columns, what they begin with in common apart, are the variables in another order.
fn other_order(columns: &[String], variables: &[String]) -> bool {
    let ends = |column: &String| variables.iter().position(|name| column.ends_with(name.as_str()));
    let places: Vec<usize> = columns.iter().filter_map(ends).collect();
    let distinct: BTreeSet<usize> = places.iter().copied().collect();
    columns.len() == variables.len()
        && distinct.len() == variables.len()
        && !places.iter().copied().eq(0..variables.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders() {
        let named = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let shop = named(&["bread", "cake", "roll"]);
        assert!(!other_order(&named(&["demand_bread", "demand_cake", "demand_roll"]), &shop));
        assert!(other_order(&named(&["demand_cake", "demand_bread", "demand_roll"]), &shop));
        // Other names say nothing.
        assert!(!other_order(&named(&["north", "south", "west"]), &shop));
        assert!(!other_order(&named(&["d_cake", "d_bread"]), &shop));
    }
}
