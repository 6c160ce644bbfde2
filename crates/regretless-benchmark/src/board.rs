//! From records to the rows of the scoreboard.

use std::collections::BTreeMap;

use regretless_learn::stats::{Resampled, Summary, bootstrap_blocks, holm, paired_t};
use serde::Serialize;

use crate::contender::{Contender, How};
use crate::plan::Plan;
use crate::record::Record;
use crate::suite::{Published, Suite};

/// A contender in a setting, over all draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The suite.
    pub suite: String,
    /// The setting.
    pub setting: String,
    /// Who decided.
    pub contender: String,
    /// Whether it is a two-stage baseline.
    pub two_stage: bool,
    /// The mean over what is paired.
    pub mean: f64,
    /// Its standard error.
    pub error: Option<f64>,
    /// Draws, or blocks of rows, that the mean is over.
    pub paired: usize,
    /// The best two-stage contender of the setting, unless it is this one.
    pub against: Option<String>,
    /// The mean difference to it; below 0 for less regret.
    pub difference: Option<f64>,
    /// Its standard error.
    pub difference_error: Option<f64>,
    /// Paired test, two-sided: Student's over draws, a block bootstrap over days.
    pub p: Option<f64>,
    /// The same by Holm's rule over all settings that this contender is in.
    pub holm: Option<f64>,
    /// Rows without a decision, over all draws.
    pub undecided: usize,
    /// Mean seconds a draw.
    pub seconds: f64,
    /// The lowest mean of its setting.
    pub best: bool,
}

/// `auto` beside the best of our other contenders in a setting. That one is picked on the rows that are judged, which is kind to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The suite.
    pub suite: String,
    /// The setting.
    pub setting: String,
    /// The mean of `auto`.
    pub auto: f64,
    /// The best other contender.
    pub best: String,
    /// Its mean.
    pub mean: f64,
    /// The mean difference, `auto` less the best.
    pub difference: f64,
    /// Its standard error.
    pub error: Option<f64>,
}

/// The scoreboard.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Board {
    /// All rows.
    pub rows: Vec<Row>,
    /// `auto` in each setting.
    pub verdicts: Vec<Verdict>,
    /// Figures of others, by suite and setting.
    pub published: BTreeMap<String, Vec<Published>>,
    /// Trials that are not done yet.
    pub left: usize,
}

/// The key of a setting's published figures.
pub(crate) fn key(suite: &str, setting: &str) -> String {
    format!("{suite} {setting}")
}

/// One contender in one setting: the value of each draw and block.
struct Column<'a> {
    contender: &'a Contender,
    records: Vec<&'a Record>,
    values: Vec<f64>,
}

/// Makes the scoreboard of records. Rows must rest on the same data: draws that some contender of the plan lacks are left out.
pub fn board(suites: &[Box<dyn Suite>], plan: &Plan, records: &[Record]) -> Board {
    let mut board = Board { left: plan.trials.len() - records.len(), ..Board::default() };
    for (place, setting, contenders) in &plan.settings {
        let suite = suites[*place].as_ref();
        let columns = columns(suite, setting, contenders, records);
        if columns.is_empty() {
            continue;
        }
        board.published.insert(key(suite.id(), setting), suite.published(setting));
        board.rows.extend(rows(suite, setting, &columns));
        board.verdicts.extend(verdict(suite, setting, &columns));
    }
    adjust(&mut board.rows);
    board
}

fn columns<'a>(
    suite: &dyn Suite,
    setting: &str,
    contenders: &'a [Contender],
    records: &'a [Record],
) -> Vec<Column<'a>> {
    let mut found: BTreeMap<(&str, u64), &Record> = BTreeMap::new();
    for record in records.iter().filter(|r| r.cell.suite == suite.id() && r.cell.setting == setting) {
        found.insert((&record.contender, record.cell.draw), record);
    }
    let mut draws: Vec<u64> = found.keys().map(|(_, draw)| *draw).collect();
    draws.sort_unstable();
    draws.dedup();
    draws.retain(|draw| contenders.iter().all(|c| found.contains_key(&(&*c.name, *draw))));
    if draws.is_empty() {
        return Vec::new();
    }
    let column = |contender: &'a Contender| {
        let records: Vec<&Record> = draws.iter().map(|draw| found[&(&*contender.name, *draw)]).collect();
        let values = records.iter().flat_map(|r| r.values.iter().copied()).collect();
        Column { contender, records, values }
    };
    contenders.iter().map(column).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn error(values: &[f64]) -> Option<f64> {
    let std = Summary::of(values).ok()?.std?;
    Some(std / (values.len() as f64).sqrt())
}

/// Neighbouring days that are resampled together: what they have in common is over after two weeks.
const BLOCK: usize = 14;

/// Lists that are drawn.
const RESAMPLES: usize = 4_000;

/// What is known of the mean of values by day, which are not independent; `None` for values by draw.
fn over_days(column: &Column<'_>, values: &[f64]) -> Option<Resampled> {
    let days = column.records.iter().any(|record| record.values.len() > 1);
    days.then(|| bootstrap_blocks(values, BLOCK, RESAMPLES, 0).ok().flatten()).flatten()
}

/// The standard error of the mean of values of a column.
fn error_of(column: &Column<'_>, values: &[f64]) -> Option<f64> {
    over_days(column, values).map(|found| found.error).or_else(|| error(values))
}

/// The column with the lowest mean among some.
fn best<'a>(columns: &'a [Column<'a>], among: impl Fn(&Contender) -> bool) -> Option<usize> {
    let candidates = (0..columns.len()).filter(|&i| among(columns[i].contender));
    candidates.min_by(|&i, &j| mean(&columns[i].values).total_cmp(&mean(&columns[j].values)))
}

fn difference(a: &Column<'_>, b: &Column<'_>) -> Vec<f64> {
    a.values.iter().zip(&b.values).map(|(a, b)| a - b).collect()
}

fn rows(suite: &dyn Suite, setting: &str, columns: &[Column<'_>]) -> Vec<Row> {
    let lowest = best(columns, |_| true);
    let two_stage = best(columns, |c| c.two_stage);
    let row = |(i, column): (usize, &Column<'_>)| {
        let other = two_stage.filter(|&t| t != i).map(|t| &columns[t]);
        let differences = other.map(|other| difference(column, other));
        let days = differences.as_deref().and_then(|own| over_days(column, own)).map(|found| found.p_value);
        let test =
            || other.and_then(|other| paired_t(&column.values, &other.values)).map(|test| test.p_value);
        Row {
            suite: suite.id().into(),
            setting: setting.into(),
            contender: column.contender.name.to_string(),
            two_stage: column.contender.two_stage,
            mean: mean(&column.values),
            error: error_of(column, &column.values),
            paired: column.values.len(),
            against: other.map(|other| other.contender.name.to_string()),
            difference: differences.as_deref().map(mean),
            difference_error: differences.as_deref().and_then(|own| error_of(column, own)),
            p: days.or_else(test),
            holm: None,
            undecided: column.records.iter().map(|r| r.undecided).sum(),
            seconds: mean(&column.records.iter().map(|r| r.seconds).collect::<Vec<_>>()),
            best: lowest == Some(i),
        }
    };
    columns.iter().enumerate().map(row).collect()
}

fn verdict(suite: &dyn Suite, setting: &str, columns: &[Column<'_>]) -> Option<Verdict> {
    let auto = columns.iter().find(|c| c.contender.is_auto())?;
    // Forecasts of others are what it is compared with elsewhere.
    let ours = |c: &Contender| !c.is_auto() && !matches!(c.how, How::Given(_));
    let best = &columns[best(columns, ours)?];
    let differences = difference(auto, best);
    Some(Verdict {
        suite: suite.id().into(),
        setting: setting.into(),
        auto: mean(&auto.values),
        best: best.contender.name.to_string(),
        mean: mean(&best.values),
        difference: mean(&differences),
        error: error_of(auto, &differences),
    })
}

/// Holm's rule over all settings, contender by contender.
fn adjust(rows: &mut [Row]) {
    let mut by_contender: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate().filter(|(_, row)| row.p.is_some()) {
        by_contender.entry(row.contender.clone()).or_default().push(i);
    }
    for places in by_contender.values() {
        let ps: Vec<f64> = places.iter().map(|&i| rows[i].p.unwrap_or(f64::NAN)).collect();
        for (&i, adjusted) in places.iter().zip(holm(&ps)) {
            rows[i].holm = Some(adjusted).filter(|p| p.is_finite());
        }
    }
}

impl Board {
    /// Figures of others for a setting.
    pub fn published_for(&self, suite: &str, setting: &str) -> &[Published] {
        self.published.get(&key(suite, setting)).map_or(&[], Vec::as_slice)
    }

    /// What `auto` came to over all settings, in sentences; `None` where it was not among the contenders.
    pub fn sentences(&self) -> Option<String> {
        if self.verdicts.is_empty() {
            return None;
        }
        // Where there is one draw nothing is known of its error.
        let tested = self.verdicts.iter().filter_map(|v| Some(v.difference <= v.error?));
        let tested: Vec<bool> = tested.collect();
        let within = tested.iter().filter(|within| **within).count();
        let autos: Vec<&Row> =
            self.rows.iter().filter(|row| row.contender == "auto" && row.holm.is_some()).collect();
        let behind = autos
            .iter()
            .filter(|row| row.difference.is_some_and(|d| d > 0.0) && row.holm.is_some_and(|p| p < 0.05));
        let beside = self.beside().map_or_else(String::new, |ratio| {
            format!(", and its mean is {:+.1} % beside that contender's", 100.0 * (ratio - 1.0))
        });
        Some(format!(
            "auto is within one paired standard error of the best of our other contenders in {within} of {} settings with \
             several draws or days{beside}. It is significantly behind the best two-stage contender (Holm's rule, 5 %) in {} of {}.",
            tested.len(),
            behind.count(),
            autos.len()
        ))
    }

    /// The mean of `auto` over all settings of a suite as a multiple of that of the best others, on the average of suites: settings
    /// where regret is next to nothing weigh next to nothing.
    fn beside(&self) -> Option<f64> {
        let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for verdict in self.verdicts.iter().filter(|v| v.difference.is_finite()) {
            let sum = sums.entry(&verdict.suite).or_default();
            sum.0 += verdict.auto;
            sum.1 += verdict.mean;
        }
        let ratios: Vec<f64> = sums.values().filter(|(_, best)| *best > 0.0).map(|(a, b)| a / b).collect();
        (!ratios.is_empty()).then(|| mean(&ratios))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::Paths;
    use crate::plan::{Wanted, plan};

    fn record(contender: &str, draw: u64, value: f64) -> Record {
        let cell = crate::Cell { suite: "paths".into(), setting: "n=100 degree=8 noise=0.5".into(), draw };
        let (contender, hash) = (contender.into(), String::new());
        Record { cell, contender, values: vec![value], undecided: 0, seconds: 1.0, note: None, hash }
    }

    #[test]
    fn differences_are_paired_over_whole_draws() {
        let suites: Vec<Box<dyn Suite>> = vec![Box::new(Paths::default())];
        let wanted = Wanted {
            only: vec!["n=100 degree=8 noise=0.5".into()],
            contenders: ["linear l2", "constant", "auto"].map(String::from).to_vec(),
            draws: Some(4),
            ..Wanted::default()
        };
        let plan = plan(&suites, &wanted).unwrap();
        let mut records = Vec::new();
        for (draw, values) in [[9.0, 5.0, 4.0], [8.0, 6.0, 4.5], [10.0, 4.0, 4.2]].iter().enumerate() {
            let draw = 1000 + draw as u64;
            for (name, value) in ["constant", "linear l2", "auto"].iter().zip(values) {
                records.push(record(name, draw, *value));
            }
        }
        // A draw without `auto` counts for nobody.
        records.push(record("linear l2", 1003, 1e6));
        let board = board(&suites, &plan, &records);
        assert_eq!(board.left, 2);
        let of = |name: &str| board.rows.iter().find(|r| r.contender == name).unwrap();
        let (l2, auto) = (of("linear l2"), of("auto"));
        assert!(l2.against.is_none() && (l2.mean - 5.0).abs() < 1e-12 && l2.paired == 3);
        // Differences −1, −1.5, 0.2: mean −0.7667, deviation 0.8737 by hand, t = −1.5199, p = 0.2679 with 2 degrees of freedom.
        assert_eq!(auto.against.as_deref(), Some("linear l2"));
        assert!((auto.difference.unwrap() + 2.3 / 3.0).abs() < 1e-12);
        assert!((auto.difference_error.unwrap() - 0.504_424_9).abs() < 1e-6);
        assert!((auto.p.unwrap() - 0.267_9).abs() < 1e-3, "{:?}", auto.p);
        assert_eq!(auto.holm, auto.p);
        assert!(auto.best && !l2.best);
        let verdict = &board.verdicts[0];
        assert_eq!((verdict.best.as_str(), verdict.mean), ("linear l2", 5.0));
        let said = board.sentences().unwrap();
        assert!(
            said.contains("in 1 of 1 settings") && said.contains("-15.3 %") && said.ends_with("in 0 of 1.")
        );
    }

    /// Days of which each week has the same difference are as good as one: the error is that of blocks.
    #[test]
    fn days_are_not_independent() {
        let suites: Vec<Box<dyn Suite>> = vec![Box::new(Paths::default())];
        let wanted = Wanted {
            only: vec!["n=100 degree=8 noise=0.5".into()],
            contenders: ["linear l2", "auto"].map(String::from).to_vec(),
            draws: Some(1),
            ..Wanted::default()
        };
        let plan = plan(&suites, &wanted).unwrap();
        let by_day = |name: &str, value: &dyn Fn(usize) -> f64| Record {
            values: (0..140).map(value).collect(),
            ..record(name, 1000, 0.0)
        };
        let gap = |day: usize| f64::from(u8::from((day / 14).is_multiple_of(2))) - 0.4;
        let records = [by_day("linear l2", &|_| 5.0), by_day("auto", &|day| 5.0 + gap(day))];
        let board = board(&suites, &plan, &records);
        // Of two contenders the other one is the best two-stage.
        let auto = board.rows.iter().find(|row| row.contender == "auto").unwrap();
        let independent = error(&(0..140).map(gap).collect::<Vec<_>>()).unwrap();
        assert!(auto.difference_error.unwrap() > 2.0 * independent);
        // 140 independent days would have p = 0.02.
        assert!(auto.p.unwrap() > 0.1, "{:?}", auto.p);
    }
}
