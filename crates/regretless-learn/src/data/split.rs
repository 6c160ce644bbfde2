//! Which rows are for training, validation and test.
//!
//! What belongs together stays together: the rows of one time, so that no part knows the day of another one, or of one series where
//! series are drawn.

use std::collections::BTreeMap;

use super::dataset::Dataset;
use super::kind::date;
use crate::numbers::count;
use crate::random::order;
use crate::settings::{Part, Split, Timed};

/// Rows of the parts, each ascending.
pub(super) fn split(data: &Dataset, split: &Split, seed: u64) -> [Vec<usize>; 3] {
    let mut parts: [Vec<usize>; 3] = Default::default();
    let mut open = Vec::new();
    for (row, part) in data.parts.iter().enumerate() {
        match part {
            Some(part) => parts[*part as usize].push(row),
            None => open.push(row),
        }
    }
    // Sources of their own for training but not for validation: validation comes out of training.
    if open.is_empty() && parts[Part::Valid as usize].is_empty() && !matches!(split, Split::Column(_)) {
        open = std::mem::take(&mut parts[Part::Train as usize]);
    }
    let given = !parts[Part::Test as usize].is_empty() || data.sources.len() > 1;
    let share = |test: f64| if given { 0.0 } else { test };
    match *split {
        Split::Timed(timed) => by_time(data, open, &Timed { test: share(timed.test), ..timed }, &mut parts),
        Split::Chronological { valid, test } => fill(together(data, open), valid, share(test), &mut parts),
        Split::Series { valid, test } => {
            fill(shuffled(series(data, open), seed), valid, share(test), &mut parts);
        }
        Split::Random { valid, test } => {
            fill(shuffled(together(data, open), seed), valid, share(test), &mut parts);
        }
        Split::Column(_) => fill(shuffled(together(data, open), seed), 0.2, share(0.2), &mut parts),
    }
    parts.iter_mut().for_each(|p| p.sort_unstable());
    parts
}

/// Rows by time, or one by one where the order of the rows says it.
fn together(data: &Dataset, rows: Vec<usize>) -> Vec<Vec<usize>> {
    if data.times.is_empty() {
        return rows.into_iter().map(|row| vec![row]).collect();
    }
    let mut sorted = rows;
    sorted.sort_by(|a, b| data.times[*a].total_cmp(&data.times[*b]));
    sorted.chunk_by(|a, b| data.times[*a] == data.times[*b]).map(<[usize]>::to_vec).collect()
}

/// Rows by series.
fn series(data: &Dataset, rows: Vec<usize>) -> Vec<Vec<usize>> {
    let mut all: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    rows.into_iter().for_each(|row| all.entry(data.series.of(row)).or_default().push(row));
    all.into_values().collect()
}

fn shuffled(mut units: Vec<Vec<usize>>, seed: u64) -> Vec<Vec<usize>> {
    order(units.len(), seed, u64::MAX).into_iter().map(|at| std::mem::take(&mut units[at])).collect()
}

/// Training gets the first units, test the last ones; shares are of rows.
fn fill(units: Vec<Vec<usize>>, valid: f64, test: f64, parts: &mut [Vec<usize>; 3]) {
    let n = units.iter().map(Vec::len).sum::<usize>();
    let count = |share: f64| ((share * n as f64).round() as usize).min(n);
    let (valid, test) = (count(valid), count(test));
    let train = n.saturating_sub(valid + test);
    let mut before = 0;
    for unit in units {
        let part = if before < train {
            Part::Train
        } else if before < train + valid {
            Part::Valid
        } else {
            Part::Test
        };
        before += unit.len();
        parts[part as usize].extend(unit);
    }
}

fn by_time(data: &Dataset, open: Vec<usize>, timed: &Timed, parts: &mut [Vec<usize>; 3]) {
    let (mut early, late): (Vec<usize>, Vec<usize>) =
        open.into_iter().partition(|&row| timed.test_from.is_none_or(|from| data.time_of(row) < from));
    let late = late.into_iter().filter(|&row| timed.test_until.is_none_or(|until| data.time_of(row) < until));
    parts[Part::Test as usize].extend(late);
    // What the shares of validation and test are of is what no date has claimed.
    let test = if timed.test_from.is_some() { 0.0 } else { timed.test };
    if let Some(from) = timed.valid_from {
        let (train, valid) = early.into_iter().partition(|&row| data.time_of(row) < from);
        (early, parts[Part::Train as usize]) = (valid, train);
        let mut rest: [Vec<usize>; 3] = Default::default();
        fill(together(data, early), 1.0 - test, test, &mut rest);
        let [mut train, mut valid, mut test] = rest;
        parts[Part::Valid as usize].append(&mut train);
        parts[Part::Valid as usize].append(&mut valid);
        parts[Part::Test as usize].append(&mut test);
    } else {
        fill(together(data, early), timed.valid, test, parts);
    }
    let begins = |rows: &[usize]| rows.iter().map(|&row| data.time_of(row)).fold(f64::INFINITY, f64::min);
    let [valid, test] = [Part::Valid, Part::Test].map(|part| begins(&parts[part as usize]) - timed.gap);
    if timed.gap > 0.0 {
        parts[Part::Train as usize].retain(|&row| data.time_of(row) < valid.min(test));
        parts[Part::Valid as usize].retain(|&row| data.time_of(row) < test);
    }
}

/// What a user should know of the parts.
pub(super) fn notes(data: &Dataset, split: &Split, parts: &[Vec<usize>; 3]) -> Vec<String> {
    let Split::Timed(timed) = split else { return Vec::new() };
    let mut notes = Vec::new();
    if let (Some(from), true) = (timed.test_from, parts[Part::Test as usize].is_empty())
        && let Some(last) = (0..data.rows()).max_by(|a, b| data.time_of(*a).total_cmp(&data.time_of(*b)))
    {
        let from = if timed.dates { date(from) } else { from.to_string() };
        let last = data.moment(last);
        notes.push(format!(
            "the test begins at {from} (`test_from`), and the last row is of {last}: there is no row to judge by"
        ));
    }
    if timed.test_until.is_some() {
        return notes;
    }
    let unused = data.rows() - parts.iter().map(Vec::len).sum::<usize>();
    if unused > 0 {
        notes
            .push(format!("{} in the gap before validation or test, used for nothing", count(unused, "row")));
    }
    notes
}
