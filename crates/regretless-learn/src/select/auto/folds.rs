//! Folds: which rows each predictor is judged on, and which it learns from.
//!
//! ```text
//! random             what belongs together (a series, a time) is drawn into folds; a fold's predictors learn from all others
//! in order           blocks of neighbouring rows, where validation follows training in the table
//! in time            rolling: a fold's predictors learn from all that was before it, a gap apart; the first half is learned from only
//! ```
//!
//! What stops a training is a part of the rows that it does not learn from, never the fold itself.

use std::collections::BTreeMap;

use crate::error::LearnError;
use crate::random::order;
use crate::settings::Split;
use crate::task::Task;

/// The most folds.
const MOST: usize = 5;
/// Rows of a fold, at least, where there are so many.
const FEWEST: usize = 10;
/// Share of the rows to learn from that training is stopped by.
const STOPPING: f64 = 0.2;

/// Rows that are held out, and what is learned from without them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fold {
    pub(super) held: Vec<usize>,
    /// All that may be learned from, ascending.
    pub(super) rest: Vec<usize>,
    /// `rest` in two: to learn from, and to stop by.
    pub(super) train: Vec<usize>,
    pub(super) valid: Vec<usize>,
}

/// How rows are held out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Drawn,
    Blocks,
    Rolling,
}

/// The folds of the rows for training and validation.
pub(super) fn folds(task: &Task, seed: u64) -> Result<Vec<Fold>, LearnError> {
    let (way, units) = units(task, seed);
    let rows: usize = units.iter().map(Vec::len).sum();
    if units.len() < 2 {
        return Err(LearnError::Settings {
            what: format!("`auto` compares on rows that it leaves out, and {} a weight", counted(rows)),
            hint: "give more rows a weight, or choose a method".into(),
        });
    }
    let count = (rows / FEWEST).clamp(2, MOST).min(units.len());
    Ok(match way {
        Way::Rolling => {
            let cut = cut(&units, 2 * count);
            (cut.len() - count..cut.len()).map(|i| rolling(task, &cut[..=i])).collect()
        }
        Way::Drawn | Way::Blocks => {
            let cut = cut(&units, count);
            (0..cut.len()).map(|i| around(&cut, i)).collect()
        }
    })
}

fn counted(rows: usize) -> &'static str {
    if rows == 1 { "one row alone has" } else { "no row has" }
}

/// What stays together, in the order in which it is cut.
fn units(task: &Task, seed: u64) -> (Way, Vec<Vec<usize>>) {
    let (data, settings) = (task.data(), task.settings());
    let mut rows = [task.train(), task.valid()].concat();
    rows.retain(|row| task.counts(*row));
    rows.sort_unstable();
    let by = |key: &dyn Fn(usize) -> u64| {
        let mut all: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        rows.iter().for_each(|&row| all.entry(key(row)).or_default().push(row));
        all.into_values().collect::<Vec<_>>()
    };
    // Numbers in the order of the times.
    let time = |row: usize| {
        let bits = data.time_of(row).to_bits();
        if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
    };
    let series = matches!(settings.split, Split::Series { .. });
    let units = if series { by(&|row| data.series.of(row) as u64) } else { by(&time) };
    let last = task.train().iter().map(|row| time(*row)).max();
    let follows = !series && task.valid().iter().map(|row| time(*row)).min() > last;
    let timed =
        !data.times.is_empty() || matches!(settings.split, Split::Chronological { .. } | Split::Timed(_));
    let way = match (follows, timed) {
        (true, true) => Way::Rolling,
        (true, false) => Way::Blocks,
        (false, _) => Way::Drawn,
    };
    let needed = if way == Way::Rolling { 4 } else { 2 };
    if units.len() < needed {
        // Rows that are nearly all of one time or series have no folds but by chance.
        let order = order(rows.len(), seed, u64::MAX);
        return (Way::Drawn, order.into_iter().map(|at| vec![rows[at]]).collect());
    }
    if way != Way::Drawn {
        return (way, units);
    }
    let order = order(units.len(), seed, u64::MAX);
    (way, order.into_iter().map(|at| units[at].clone()).collect())
}

/// Units in parts of about the same number of rows, none empty.
fn cut(units: &[Vec<usize>], count: usize) -> Vec<Vec<Vec<usize>>> {
    let rows: usize = units.iter().map(Vec::len).sum();
    let mut parts: Vec<Vec<Vec<usize>>> = vec![Vec::new(); count.min(units.len())];
    let (mut before, last) = (0, parts.len() - 1);
    for unit in units {
        let middle = before + unit.len() / 2;
        parts[(middle * (last + 1) / rows.max(1)).min(last)].push(unit.clone());
        before += unit.len();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The last part held out, and all before it to learn from.
fn rolling(task: &Task, parts: &[Vec<Vec<usize>>]) -> Fold {
    let data = task.data();
    let gap = if let Split::Timed(timed) = task.settings().split { timed.gap } else { 0.0 };
    let begins = |rows: &[usize]| rows.iter().map(|&row| data.time_of(row)).fold(f64::INFINITY, f64::min);
    let before = |rows: Vec<usize>, from: f64| -> Vec<usize> {
        rows.into_iter().filter(|&row| data.time_of(row) < from - gap).collect()
    };
    let held = parts[parts.len() - 1].concat();
    let units = &parts[..parts.len() - 1].concat();
    let rest = before(units.concat(), begins(&held));
    let count = (STOPPING * units.len() as f64).ceil() as usize;
    let valid = before(units[units.len() - count..].concat(), begins(&held));
    let train = before(units[..units.len() - count].concat(), begins(&valid));
    // A gap as long as all that was before leaves nothing.
    let rest = if rest.is_empty() { units.concat() } else { rest };
    fold(held, rest, train, valid)
}

/// A part held out, and all others to learn from; training is stopped by those that follow it.
fn around(parts: &[Vec<Vec<usize>>], at: usize) -> Fold {
    let others: Vec<Vec<usize>> =
        (1..parts.len()).flat_map(|step| parts[(at + step) % parts.len()].clone()).collect();
    let rows: usize = others.iter().map(Vec::len).sum();
    let (mut valid, mut train) = (Vec::new(), Vec::new());
    for unit in &others {
        let stops = (valid.len() as f64) < STOPPING * rows as f64;
        if stops { valid.extend(unit) } else { train.extend(unit) }
    }
    fold(parts[at].concat(), others.concat(), train, valid)
}

fn fold(held: Vec<usize>, rest: Vec<usize>, train: Vec<usize>, valid: Vec<usize>) -> Fold {
    let sorted = |mut rows: Vec<usize>| {
        rows.sort_unstable();
        rows
    };
    let (held, rest) = (sorted(held), sorted(rest));
    let [train, valid] = [train, valid].map(|rows| if rows.is_empty() { rest.clone() } else { sorted(rows) });
    Fold { held, rest, train, valid }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use regretless_core::{Placement, Problem};

    use super::*;
    use crate::data::dataset::{Dataset, Names};
    use crate::data::series::Series;
    use crate::settings::Settings;

    fn task(times: Vec<f64>, series: &[usize], split: Split, rows: usize) -> Task {
        let problem = Problem::maximize(1).linear(vec![1.0]).upper(vec![1.0]).build().unwrap();
        let numbers: Vec<f64> = (0..rows).map(|i| i as f64).collect();
        let mut data = Dataset::new(numbers.clone(), numbers, rows, Names::numbered(1));
        data.times = times;
        let mut own = Series::default();
        series.iter().for_each(|s| own.push(&s.to_string()));
        data.series = own;
        let settings = Settings { split, ..Settings::default() };
        Task::new(problem, Placement::theta(1), data, settings).unwrap()
    }

    /// Every row of `rows` is held out once, and nothing that is held out is learned from.
    fn whole(folds: &[Fold], rows: usize) {
        let mut held: Vec<usize> = folds.iter().flat_map(|fold| fold.held.clone()).collect();
        held.sort_unstable();
        assert_eq!(held, (0..rows).collect::<Vec<_>>());
        for fold in folds {
            assert!(fold.rest.iter().all(|row| !fold.held.contains(row)));
            let mut both = [fold.train.clone(), fold.valid.clone()].concat();
            both.sort_unstable();
            assert_eq!(both, fold.rest);
        }
    }

    #[test]
    fn rows_at_random() {
        let folds = folds(&task(Vec::new(), &[], Split::Random { valid: 0.2, test: 0.0 }, 100), 3).unwrap();
        assert_eq!(folds.len(), 5);
        assert!(folds.iter().all(|fold| fold.held.len() == 20 && fold.valid.len() == 16));
        whole(&folds, 100);
    }

    #[test]
    fn series_are_whole() {
        let series: Vec<usize> = (0..120).map(|i| i % 12).collect();
        let folds =
            folds(&task(Vec::new(), &series, Split::Series { valid: 0.2, test: 0.0 }, 120), 1).unwrap();
        whole(&folds, 120);
        for fold in &folds {
            let of = |rows: &[usize]| rows.iter().map(|row| row % 12).collect::<BTreeSet<_>>();
            assert!(of(&fold.held).is_disjoint(&of(&fold.rest)));
            assert!(of(&fold.valid).is_disjoint(&of(&fold.train)));
        }
    }

    /// Two rows a day: learned from is only what was before, a gap apart, and no day is in two parts.
    #[test]
    fn time_runs_forward() {
        let days: Vec<f64> = (0..200).map(|i| f64::from(i / 2)).collect();
        let timed = crate::settings::Timed {
            valid_from: None,
            valid: 0.2,
            test_from: None,
            test_until: None,
            test: 0.0,
            gap: 3.0,
            dates: false,
        };
        let task = task(days.clone(), &[], Split::Timed(timed), 200);
        let folds = folds(&task, 0).unwrap();
        assert_eq!(folds.len(), 5);
        let held: usize = folds.iter().map(|fold| fold.held.len()).sum();
        assert!((90..=110).contains(&held), "{held}");
        for fold in &folds {
            let first = |rows: &[usize]| rows.iter().map(|&row| days[row]).fold(f64::INFINITY, f64::min);
            let last = |rows: &[usize]| rows.iter().map(|&row| days[row]).fold(0.0, f64::max);
            assert!(last(&fold.rest) < first(&fold.held) - 3.0);
            assert!(last(&fold.train) < first(&fold.valid) - 3.0);
            assert!(last(&fold.valid) < first(&fold.held) - 3.0);
        }
    }

    #[test]
    fn a_handful_of_rows() {
        for rows in [2, 3, 5] {
            let folds =
                folds(&task(Vec::new(), &[], Split::Random { valid: 0.4, test: 0.0 }, rows), 0).unwrap();
            assert_eq!(folds.len(), 2);
            assert!(folds.iter().all(|fold| !fold.train.is_empty() && !fold.valid.is_empty()));
        }
    }
}
