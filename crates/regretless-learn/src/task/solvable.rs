//! Rows that can be learned from: their numbers are sound, and their true problem has an optimum.

use std::collections::BTreeSet;

use regretless_core::{Placement, Problem, Sense, Truths};

use super::{gather, truth};
use crate::data::dataset::Dataset;
use crate::error::{Hint, LearnError};
use crate::settings::Infeasible;

pub(super) fn check_known(data: &Dataset, placement: &Placement) -> Result<(), LearnError> {
    let (expected, found) = (data.rows() * placement.known(), data.known.values.len());
    if expected == found {
        return Ok(());
    }
    Err(LearnError::Data {
        what: format!("{found} known numbers for {} rows of {} each", data.rows(), placement.known()),
        hint: "give every row what is known of it".into(),
    })
}

pub(super) fn check_weights(data: &Dataset) -> Result<(), LearnError> {
    if data.weights.is_empty() {
        return Ok(());
    }
    let trouble = if data.weights.len() != data.rows() {
        format!("{} weights for {} rows", data.weights.len(), data.rows())
    } else if let Some(row) = data.weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        format!("the weight of {} is {}", data.place(row), data.weights[row])
    } else {
        return Ok(());
    };
    Err(LearnError::Data {
        what: trouble,
        hint: "a weight is a finite number from 0 on, one for each row".into(),
    })
}

/// Solves every row's true problem once. Rows without an optimum fail or are left out, as the user chose.
pub(super) fn keep_solvable(
    problem: &Problem,
    placement: &Placement,
    data: &Dataset,
    infeasible: Infeasible,
    truths: &Truths,
    parts: &mut [Vec<usize>; 3],
    notes: &mut Vec<String>,
) -> Result<(), LearnError> {
    let mut rows: Vec<usize> = parts.iter().flatten().copied().collect();
    rows.sort_unstable();
    let targets = gather(&data.targets, placement.width(), &rows);
    let known = gather(&data.known.values, placement.known(), &rows);
    let values = truths.optima(&targets, &known)?;
    notes.extend(negative(placement, &targets, &known, rows.len()));
    let why = |row: usize, value: f64| {
        let truth = truth(problem, placement, data, row);
        let refused = problem.view(&truth.instance()).err().map(|e| e.to_string());
        let sign = if problem.sense() == Sense::Max { 1.0 } else { -1.0 };
        refused.unwrap_or_else(|| match sign * value {
            f64::INFINITY => "unbounded".into(),
            f64::NEG_INFINITY => "infeasible".into(),
            _ => "numerical trouble".into(),
        })
    };
    let bad: Vec<(usize, f64)> =
        rows.iter().copied().zip(values).filter(|(_, value)| !value.is_finite()).collect();
    if bad.is_empty() {
        return Ok(());
    }
    let first = bad.iter().take(5).map(|&(row, value)| format!("{}: {}", data.place(row), why(row, value)));
    let more = if bad.len() > 5 { format!("; and {} more", bad.len() - 5) } else { String::new() };
    let list = format!("{}{more}", first.collect::<Vec<_>>().join("; "));
    let count = format!("{} of {} instances", bad.len(), rows.len());
    if infeasible == Infeasible::Fail {
        return Err(LearnError::Data {
            what: format!("{count} have no optimum under their true parameters: {list}"),
            hint: Hint::set(
                "mend these rows, or leave them out with {}",
                "training",
                "infeasible",
                "\"skip\"",
            ),
        });
    }
    notes.push(format!("left out {count} that have no optimum: {list}"));
    let bad: BTreeSet<usize> = bad.into_iter().map(|(row, _)| row).collect();
    for part in parts {
        part.retain(|row| !bad.contains(row));
    }
    Ok(())
}

/// Prices that are negative under the true numbers, in words.
fn negative(placement: &Placement, targets: &[f64], known: &[f64], rows: usize) -> Option<String> {
    let (width, by) = (placement.width(), placement.known());
    let of = |i: usize| placement.cut(&targets[i * width..(i + 1) * width], &known[i * by..(i + 1) * by]);
    let cut: usize = (0..rows).map(of).sum();
    (cut > 0).then(|| format!("{cut} prices of {rows} rows come out negative and count as 0"))
}
