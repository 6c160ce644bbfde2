//! What in a table makes training look better than it is, or say nothing.
//!
//! A feature that is an affine function of a target knows the answer; a constant target needs no predictor; a column that is
//! there twice counts twice; targets may be named for the entries they feed in another order; a part of a few rows cannot tell methods
//! apart. None of this is an error, all of it is said.

use regretless_core::problem::Named;
use regretless_core::{Parameter, Placement, Problem};

use crate::data::dataset::Dataset;
use crate::data::kind::Kind;

/// Validation rows below which no method is chosen over another.
pub const ENOUGH: usize = 10;

/// Rows that columns are compared on.
const PROBES: usize = 512;

/// Columns whose standardised values differ by less are the same up to how they were written down.
const SAME: f64 = 1e-5;

/// Names in a message; more are counted.
const NAMED: usize = 5;

/// A column of the table.
struct Column {
    name: String,
    /// Its place among the features, or among the targets after them.
    at: usize,
    mean: f64,
    deviation: f64,
    /// Standardised, with the sign that makes the first value that is not the mean positive.
    values: Vec<f64>,
}

/// Everything suspicious in the data of a task; `parts` are its rows for training, validation and test.
pub(crate) fn all(
    data: &Dataset,
    placement: &Placement,
    problem: &Problem,
    parts: &[Vec<usize>; 3],
) -> Vec<String> {
    let features: Vec<String> = data.names.features.clone();
    let targets = names(data, placement);
    let step = parts[0].len().div_ceil(PROBES).max(1);
    let rows: Vec<usize> = parts[0].iter().copied().step_by(step).collect();
    let mut out = Vec::new();
    // Any two rows lie on a line.
    if rows.len() > 2 {
        let mut columns = standardised(&data.features, &features, &rows, 0);
        // Numbers of levels and dates are no quantities.
        columns.retain(|c| data.kinds.get(c.at).is_none_or(|kind| *kind == Kind::Number));
        let mut truths = standardised(&data.targets, &targets, &rows, features.len());
        out.extend(constant(&truths));
        columns.retain(|c| c.deviation != 0.0);
        truths.retain(|c| c.deviation != 0.0);
        let mut found = gaps(data, &targets, &rows);
        columns.append(&mut truths);
        found.extend(pairs(columns, features.len()));
        out.extend(told(found));
    }
    out.extend(orders(&targets, placement, problem));
    out.extend(small(parts));
    out
}

/// The targets' names, or what they are where the data have none.
fn names(data: &Dataset, placement: &Placement) -> Vec<String> {
    if data.names.targets.len() == placement.width() {
        return data.names.targets.clone();
    }
    let name = |home: &Vec<(Parameter, usize)>| match home.first() {
        Some((kind, entry)) => format!("{}[{entry}]", kind.symbol()),
        None => String::new(),
    };
    placement.homes().iter().map(name).collect()
}

/// Parts whose targets are named for other entries than those they feed: targets that are listed are taken as they come.
fn orders(targets: &[String], placement: &Placement, problem: &Problem) -> Vec<String> {
    let (mut out, mut at) = (Vec::new(), 0);
    for part in placement.runs(problem) {
        let own = &targets[at..at + part.range.len()];
        at += part.range.len();
        let named = problem.named(part.parameter, part.range.clone(), own);
        if matches!(named, Named::All(order) if !order.iter().copied().eq(0..own.len())) {
            let names: Vec<&str> = own.iter().map(String::as_str).collect();
            out.push(format!(
                "the columns of {} are named for its entries in another order: {}. They are taken in the order they have: \
                 make it the one that is meant",
                part.parameter.symbol(),
                list(&names)
            ));
        }
    }
    out
}

fn standardised(table: &[f64], names: &[String], rows: &[usize], first: usize) -> Vec<Column> {
    let width = names.len();
    let column = |(j, name): (usize, &String)| {
        let mut values: Vec<f64> = rows.iter().map(|row| table[row * width + j]).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        // What rounding leaves of a constant is no spread.
        let deviation = if deviation > 1e-12 * largest { deviation } else { 0.0 };
        values.iter_mut().for_each(|v| *v = (*v - mean) / deviation);
        let sign = values.iter().find(|v| v.abs() > 0.1).map_or(1.0, |v| v.signum());
        values.iter_mut().for_each(|v| *v *= sign);
        Column { name: name.clone(), at: first + j, mean, deviation: sign * deviation, values }
    };
    let mut columns: Vec<Column> = names.iter().enumerate().map(column).collect();
    // A missing value has no spread to compare.
    columns.retain(|c| c.deviation.is_finite());
    columns
}

fn constant(targets: &[Column]) -> Option<String> {
    let names: Vec<&str> = targets.iter().filter(|c| c.deviation == 0.0).map(|c| c.name.as_str()).collect();
    let verb = if names.len() == 1 { "does" } else { "do" };
    let what = "there is nothing to predict";
    (!names.is_empty()).then(|| format!("{} {verb} not change in the training rows: {what}", list(&names)))
}

/// Two columns that say the same.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    /// The place of the first.
    at: usize,
    /// Whether the second is to be predicted and the first is not.
    leaks: bool,
    text: String,
}

/// Features that know a target, and columns that are there twice.
fn pairs(mut columns: Vec<Column>, features: usize) -> Vec<Pair> {
    let first = |c: &Column| c.values.first().copied().unwrap_or(0.0);
    columns.sort_by(|a, b| first(a).total_cmp(&first(b)).then(a.at.cmp(&b.at)));
    let same = |a: &Column, b: &Column| a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() <= SAME);
    let mut found = Vec::new();
    for (i, a) in columns.iter().enumerate() {
        for b in columns[i + 1..].iter().take_while(|b| first(b) - first(a) <= SAME).filter(|b| same(a, b)) {
            let (a, b) = if a.at <= b.at { (a, b) } else { (b, a) };
            let slope = b.deviation / a.deviation;
            let equal = (slope - 1.0).abs() <= SAME && (a.mean - b.mean).abs() <= SAME * b.deviation.abs();
            found.extend(pair([a.at, b.at], [&a.name, &b.name], equal, features));
        }
    }
    found
}

/// A pair of columns on one line, if it is worth a word: two truths that are affine functions of each other are none.
fn pair(at: [usize; 2], [a, b]: [&str; 2], equal: bool, features: usize) -> Option<Pair> {
    let leaks = at[0] < features && at[1] >= features;
    let text = match (leaks, equal) {
        (true, true) => format!("`{a}` equals `{b}`"),
        (true, false) => format!("`{a}` is an affine function of `{b}`"),
        (false, true) => format!("`{a}` and `{b}`"),
        (false, false) => return None,
    };
    Some(Pair { at: at[0], leaks, text })
}

/// [`pairs`] of the features that lack values in some rows, on the rows where both columns have one.
fn gaps(data: &Dataset, targets: &[String], rows: &[usize]) -> Vec<Pair> {
    let (width, features) = (targets.len(), data.width());
    let number = |j: &usize| data.kinds.get(*j).is_none_or(|kind| *kind == Kind::Number);
    let cell = |row: usize, j: usize| match j.checked_sub(features) {
        Some(k) => data.targets[row * width + k],
        None => data.features[row * features + j],
    };
    let name = |j: usize| match j.checked_sub(features) {
        Some(k) => targets[k].as_str(),
        None => data.names.features[j].as_str(),
    };
    let numbers: Vec<usize> = (0..features).filter(number).chain(features..features + width).collect();
    let lacks = |j: usize| rows.iter().any(|&row| cell(row, j).is_nan());
    let gappy: Vec<bool> = numbers.iter().map(|&j| lacks(j)).collect();
    let mut found = Vec::new();
    for (i, &a) in numbers.iter().enumerate() {
        for (&b, _) in numbers[i + 1..].iter().zip(&gappy[i + 1..]).filter(|(_, gap)| gappy[i] || **gap) {
            let both = rows.iter().map(|&row| [cell(row, a), cell(row, b)]);
            let equal = line(&both.filter(|[a, b]| !a.is_nan() && !b.is_nan()));
            found.extend(equal.and_then(|equal| pair([a, b], [name(a), name(b)], equal, features)));
        }
    }
    found
}

/// Whether enough points are all on one line that is neither level nor upright, and whether it is that of equals.
fn line(points: &(impl Iterator<Item = [f64; 2]> + Clone)) -> Option<bool> {
    let [x0, y0] = points.clone().next()?;
    let [x1, y1] = points.clone().take(ENOUGH).find(|[x, _]| *x != x0)?;
    let slope = (y1 - y0) / (x1 - x0);
    // The first points tell almost all that is on no line.
    let near = |[x, y]: [f64; 2], unit: f64| (y - y0 - slope * (x - x0)).abs() <= SAME * unit;
    let spread = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        points.fold(0.0_f64, |most, [_, y]| most.max((y - y0).abs()))
    };
    let unit = spread(&mut points.clone().take(ENOUGH));
    if slope == 0.0 || !points.clone().take(ENOUGH).all(|point| near(point, unit)) {
        return None;
    }
    let unit = spread(&mut points.clone());
    let count = points.clone().take(ENOUGH).count();
    let equal = (slope - 1.0).abs() <= SAME && (x0 - y0).abs() <= SAME * unit;
    (count == ENOUGH && points.clone().all(|point| near(point, unit))).then_some(equal)
}

/// All pairs in two sentences.
fn told(mut found: Vec<Pair>) -> Vec<String> {
    found.sort();
    let (leaks, twice): (Vec<Pair>, Vec<Pair>) = found.into_iter().partition(|pair| pair.leaks);
    let list = |pairs: Vec<Pair>| list_of(&pairs.into_iter().map(|pair| pair.text).collect::<Vec<_>>());
    let mut out = Vec::new();
    if !leaks.is_empty() {
        out.push(format!(
            "a feature tells what is to be predicted: {}; if it is not known when the decision is taken, leave it out",
            list(leaks)
        ));
    }
    if !twice.is_empty() {
        out.push(format!("columns are there twice: {}", list(twice)));
    }
    out
}

fn small(parts: &[Vec<usize>; 3]) -> Option<String> {
    let few = |rows: &Vec<usize>| !rows.is_empty() && rows.len() < ENOUGH;
    let named = parts.iter().zip(["training", "validation", "test"]).filter(|(rows, _)| few(rows));
    let texts: Vec<String> = named.map(|(rows, name)| format!("{} for {name}", count(rows.len()))).collect();
    let what = "too few to tell methods apart, and what is said about them is chance";
    (!texts.is_empty()).then(|| format!("{}: {what} (at least {ENOUGH} are needed)", texts.join(", ")))
}

fn count(rows: usize) -> String {
    if rows == 1 { "1 row".into() } else { format!("{rows} rows") }
}

fn list(names: &[&str]) -> String {
    list_of(&names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>())
}

fn list_of(texts: &[String]) -> String {
    let more = if texts.len() > NAMED { format!(" and {} more", texts.len() - NAMED) } else { String::new() };
    texts.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ") + &more
}
