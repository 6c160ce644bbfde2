//! Rows that can be learned from: their numbers are sound, and their true problem has an optimum.

use std::collections::BTreeSet;

use regretless_core::{Parameter, Placement, Problem, Sense, Source, Truths};

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
    let prices = Prices::of(placement);
    let why = |row: usize, value: f64| {
        let largest = prices.largest(data, placement, row);
        if largest > HUGE {
            return format!("a price of {largest:e} is too large to be added up");
        }
        let truth = truth(problem, placement, data, row);
        let refused = problem.view(&truth.instance()).err().map(|e| e.to_string());
        let sign = if problem.sense() == Sense::Max { 1.0 } else { -1.0 };
        refused.unwrap_or_else(|| match sign * value {
            f64::INFINITY => "unbounded".into(),
            f64::NEG_INFINITY => "infeasible".into(),
            _ => "numerical trouble".into(),
        })
    };
    let sound = |row, value: f64| value.is_finite() && prices.largest(data, placement, row) <= HUGE;
    let bad: Vec<(usize, f64)> =
        rows.iter().copied().zip(values).filter(|&(row, value)| !sound(row, value)).collect();
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

/// Prices whose squares are no numbers any more, or nearly so: sums of such are infinite or wrong where nothing is unbounded.
const HUGE: f64 = 1e150;

/// The numbers of a row that a unit of something costs or brings.
struct Prices {
    quantities: Vec<usize>,
    known: Vec<usize>,
}

impl Prices {
    fn of(placement: &Placement) -> Self {
        let (mut quantities, mut known) = (BTreeSet::new(), BTreeSet::new());
        let kinds = [Parameter::Linear, Parameter::Quadratic, Parameter::Over, Parameter::Under];
        for term in placement.terms().iter().filter(|term| kinds.contains(&term.parameter)) {
            known.extend(term.by);
            match term.source {
                Source::One => {}
                Source::Predicted(k) => quantities.extend([k]),
                Source::Known(l) => known.extend([l]),
            }
        }
        Self { quantities: quantities.into_iter().collect(), known: known.into_iter().collect() }
    }

    fn largest(&self, data: &Dataset, placement: &Placement, row: usize) -> f64 {
        let targets = self.quantities.iter().map(|k| data.targets[row * placement.width() + k]);
        let known = self.known.iter().map(|l| data.known.values[row * placement.known() + l]);
        targets.chain(known).map(f64::abs).fold(0.0, f64::max)
    }
}

/// Prices that are negative under the true numbers, in words.
fn negative(placement: &Placement, targets: &[f64], known: &[f64], rows: usize) -> Option<String> {
    let (width, by) = (placement.width(), placement.known());
    let of = |i: usize| placement.cut(&targets[i * width..(i + 1) * width], &known[i * by..(i + 1) * by]);
    let cut: usize = (0..rows).map(of).sum();
    (cut > 0).then(|| format!("{cut} prices of {rows} rows come out negative and count as 0"))
}
