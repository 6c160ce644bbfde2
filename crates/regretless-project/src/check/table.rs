//! All that `train` needs of the data: features, columns left out and why, missing cells, the split, and what looks suspicious.

use std::collections::BTreeSet;

use crate::{Columns, Missing, Spec};
use regretless_learn::{Dataset, Given, Kind, Lag, PredictorKind, Split};

use super::{Finding, Table, Verdict, placement};
use regretless_learn::count;
use regretless_learn::some_of;

/// Looks through the data as `train` would. A problem file without `[data]` is not there to be learned from: its tables hold
/// parameters.
pub(super) fn run(spec: &Spec, table: Table<'_>) -> Vec<Finding> {
    if spec.predicted().is_empty() || spec.data().is_none() {
        return Vec::new();
    }
    let (data, columns, header) = match table.read(spec) {
        Ok(read) => read,
        Err(error) => return vec![Finding::failed("features", error.to_string())],
    };
    let mut findings = placement::run(spec, &data);
    findings.push(features(&data));
    findings.extend(lags(&data));
    findings.extend(given(spec, &data));
    findings.extend(baseline(spec, &columns, &data));
    findings.extend(left_out(&header, &columns));
    findings.push(missing(spec, &data));
    let parts = data.split(&spec.settings().split, spec.training().seed);
    findings.push(split(spec, &data, &parts));
    let suspicious = match spec.placement(&data.names.targets, &data.known.names) {
        Ok(placement) => data.warnings(&placement, spec.problem(), &parts),
        Err(error) => return vec![Finding::failed("features", error.to_string())],
    };
    let warning = |detail| Finding { check: "table", verdict: Verdict::Warning, detail };
    findings
        .extend(data.split_notes(&spec.settings().split, &parts).into_iter().chain(suspicious).map(warning));
    let (strangers, rare) = data.level_notes(&parts);
    let notes = data.notes.iter().chain(&strangers).chain(&rare);
    findings.extend(notes.map(|note| Finding::ok("table", note.clone())));
    findings
}

fn features(data: &Dataset) -> Finding {
    let one = |(name, kind): (&String, &Kind)| match kind {
        Kind::Number => name.clone(),
        Kind::Category(levels) => format!("{name} ({})", count(levels.len(), "level")),
        Kind::Date(parts) => {
            format!("{name} ({})", parts.iter().map(|part| part.word()).collect::<Vec<_>>().join(", "))
        }
    };
    let all: Vec<String> = data.names.features.iter().zip(data.kinds_of_features().iter()).map(one).collect();
    match all.len() {
        0 => Finding::ok("features", "none: the predictor is constant"),
        n => Finding::ok("features", format!("{}: {}", count(n, "column"), some_of(&all))),
    }
}

/// What features of the past know.
fn lags(data: &Dataset) -> Option<Finding> {
    let lags = data.past.as_ref()?.lags();
    let unit = |periods: u32| {
        let time = f64::from(periods) * lags.period.unwrap_or(f64::NAN);
        if lags.dates { count_of(time, "day") } else { format!("{time} of `{}`", lags.time) }
    };
    let first = data.width() - lags.features.len();
    let one = |(l, lag): (usize, &Lag)| {
        let cells = (0..data.rows()).map(|row| data.features[row * data.width() + first + l]);
        let lacks = cells.filter(|v| v.is_nan()).count();
        let when = match lag.periods(lags.delay) {
            (near, far) if near == far => format!("{} before", unit(near)),
            (near, far) => format!("from {} to {} before", unit(far), unit(near)),
        };
        format!("{} knows {} {when}, {} without", lag.name(), lag.column, count(lacks, "row"))
    };
    let told: Vec<String> = lags.features.iter().enumerate().map(one).collect();
    Some(Finding::ok("lags", format!("the period is {}; {}", unit(1), told.join("; "))))
}

/// Which target each forecast made elsewhere is of.
fn given(spec: &Spec, data: &Dataset) -> Option<Finding> {
    let (names, targets) = (&data.names.features, &data.names.targets);
    let each = Given::of_each(names, targets.len());
    if spec.predictor().kind != PredictorKind::Given || each.len() != targets.len() {
        return None;
    }
    let one = |((name, places), target): (&(&str, Vec<usize>), &String)| match places.len() {
        1 => format!("{name} is {target}"),
        n => format!("{name} ({}) is {target}", count(n, "column")),
    };
    let told: Vec<String> = each.iter().zip(targets).map(one).collect();
    Some(Finding::ok("given", some_of(&told)))
}

/// Whose decision each column of others is.
fn baseline(spec: &Spec, columns: &Columns, data: &Dataset) -> Option<Finding> {
    let names = &columns.baseline_names;
    if names.is_empty() {
        return None;
    }
    let one = |(variable, column): (&String, &String)| format!("{variable} is {column}");
    let told: Vec<String> = spec.problem().variables().iter().zip(names).map(one).collect();
    let rows = data.baseline.values.chunks(names.len());
    let empty = rows.filter(|row| row.iter().any(|v| v.is_nan())).count();
    let gaps = if empty == 0 { String::new() } else { format!("; {} without", count(empty, "row")) };
    Some(Finding::ok("baseline", format!("{}{gaps}", some_of(&told))))
}

fn count_of(n: f64, what: &str) -> String {
    match n {
        1.0 => format!("1 {what}"),
        whole if whole == whole.round() => format!("{whole} {what}s"),
        part => format!("{} {what}s", regretless_learn::four(part)),
    }
}

/// Columns of the table that are neither features nor predicted.
fn left_out(header: &[String], columns: &Columns) -> Option<Finding> {
    let Columns { features, targets, known, baseline, .. } = columns;
    let used: BTreeSet<usize> =
        features.iter().chain(targets).chain(known).chain(baseline).copied().collect();
    let mut reasons: [(&str, Vec<String>); 5] = [
        ("text", Vec::new()),
        ("the key of rows", Vec::new()),
        ("the split", Vec::new()),
        ("the time", Vec::new()),
        ("excluded or not named in `data.features`", Vec::new()),
    ];
    for (i, name) in header.iter().enumerate().filter(|(i, _)| !used.contains(i)) {
        let reason = if columns.skipped.contains(name) {
            0
        } else if columns.key == Some(i) {
            1
        } else if columns.split == Some(i) {
            2
        } else if columns.time.is_some_and(|(index, _)| index == i) {
            3
        } else {
            4
        };
        reasons[reason].1.push(name.clone());
    }
    let told: Vec<String> = reasons
        .iter()
        .filter(|(_, all)| !all.is_empty())
        .map(|(why, all)| format!("{} ({why})", some_of(all)))
        .collect();
    (!told.is_empty()).then(|| Finding::ok("left out", told.join("; ")))
}

fn missing(spec: &Spec, data: &Dataset) -> Finding {
    let empty = data.features.iter().filter(|v| v.is_nan()).count();
    let detail = match spec.data().map(|d| d.missing) {
        Some(Missing::Drop) if data.dropped > 0 => {
            format!("{} left out, `missing = \"drop\"`", count(data.dropped, "row"))
        }
        _ if empty > 0 || data.dropped > 0 => {
            let cells = format!("{} of features taken as missing", count(empty, "cell"));
            let rows = format!("{} left out, see below", count(data.dropped, "row"));
            let told = [(empty, cells), (data.dropped, rows)];
            told.into_iter()
                .filter(|(found, _)| *found > 0)
                .map(|(_, text)| text)
                .collect::<Vec<_>>()
                .join(", ")
        }
        _ => "no cell is empty".to_owned(),
    };
    Finding::ok("missing", detail)
}

fn split(spec: &Spec, data: &Dataset, parts: &[Vec<usize>; 3]) -> Finding {
    let how = match &spec.settings().split {
        Split::Chronological { .. } if spec.data().is_some_and(|data| data.time.is_some()) => {
            "in the order of time"
        }
        Split::Chronological { .. } => "in the order of the table",
        Split::Random { .. } => "at random, by the seed",
        Split::Column(_) => "by a column",
        Split::Timed(_) => "in the order of time",
        Split::Series { .. } => "whole series at random, by the seed",
    };
    let [train, valid, test] = parts.each_ref().map(Vec::len);
    let rows = parts.iter().zip(["training", "validation", "test"]).filter(|(rows, _)| !rows.is_empty());
    let spans: Vec<String> = rows.map(|(rows, name)| format!("{name} {}", span(data, rows))).collect();
    let when = if data.times.is_empty() { String::new() } else { format!(": {}", spans.join(", ")) };
    let detail = format!("{train} rows for training, {valid} for validation, {test} for test, {how}{when}");
    Finding::judged("split", train > 0 && valid > 0, detail)
}

/// From when to when some rows are.
fn span(data: &Dataset, rows: &[usize]) -> String {
    let by_time = |a: &&usize, b: &&usize| data.time_of(**a).total_cmp(&data.time_of(**b));
    let ends = [rows.iter().min_by(by_time), rows.iter().max_by(by_time)];
    ends.into_iter().flatten().map(|&row| data.moment(row)).collect::<Vec<_>>().join(" to ")
}
