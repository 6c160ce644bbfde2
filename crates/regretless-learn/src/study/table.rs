//! From trainings to a table: the same rows for all methods, paired tests.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

use super::plan::{Trial, tasks};
use super::record::{Record, judged_rows};
use crate::data::suspicions::ENOUGH;
use crate::error::LearnError;
use crate::evaluate::account::Account;
use crate::evaluate::measures::RiskMeasures;
use crate::evaluate::stats::{Summary, bootstrap_mean, paired_t, wilcoxon};
use crate::numbers::count;
use crate::select::choose;
use crate::settings::MethodName;
use crate::task::Task;
use crate::train::epoch::Ended;

/// A method over all seeds: a row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The method's full id.
    pub method: String,
    /// Mean regret over seeds.
    pub regret: f64,
    /// The mean gain or cost of a decision; `None` if it is not known of all its trainings.
    pub achieved: Option<f64>,
    /// What a decision is worth in place of one of the baseline, on average: above 0 the method is better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advantage: Option<f64>,
    /// Standard deviation over seeds.
    pub std: Option<f64>,
    /// Bootstrap 95 % interval of the mean over all test instances.
    pub interval: Option<(f64, f64)>,
    /// Regret over the mean absolute optimal value.
    pub relative: f64,
    /// Regret over that of the best two-stage method.
    pub ratio: Option<f64>,
    /// Paired t-test against the best two-stage method, two-sided; `None` for that method itself.
    pub p_two_stage: Option<f64>,
    /// Paired t-test against the best other method, two-sided.
    pub p_value: Option<f64>,
    /// Wilcoxon's signed-rank test against the best other method, two-sided.
    pub wilcoxon: Option<f64>,
    /// What was promised at risk and what came of it, mean over seeds; `None` of methods that decide without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskMeasures>,
    /// Mean regret of the worst tenth of instances.
    pub cvar90: f64,
    /// Largest violation of a hard row.
    pub violation: f64,
    /// Mean squared error of the predictions.
    pub mse: f64,
    /// Mean absolute error of the predictions.
    pub mae: f64,
    /// Share of zero gradients over all epochs; `None` where nothing was trained.
    pub zero_gradients: Option<f64>,
    /// Mean seconds a seed.
    pub seconds: f64,
    /// Seeds.
    pub seeds: usize,
    /// True for the lowest regret.
    pub best: bool,
    /// Instances without a decision.
    pub undecided: usize,
    /// What else there is to say.
    pub note: Option<String>,
}

impl Row {
    /// The better one first: what decides fewer rows is no better, whatever the rest of them cost.
    pub fn rank(&self, other: &Self) -> Ordering {
        self.undecided.cmp(&other.undecided).then(self.regret.total_cmp(&other.regret))
    }
}

/// Methods side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The table, in the order of the methods.
    pub rows: Vec<Row>,
    /// Every training.
    pub records: Vec<Record>,
    /// What the tests pair: seeds or instances.
    pub paired: &'static str,
    /// The part that was judged on.
    pub judged: &'static str,
    /// What a user should know about the data.
    pub notes: Vec<String>,
    /// What a user should not trust unseen.
    pub warnings: Vec<String>,
}

/// True for methods that look at predictions only.
pub fn is_two_stage(method: &str) -> bool {
    method.parse::<MethodName>().is_ok_and(|name| name.is_two_stage())
}

impl Comparison {
    /// The table of the trainings that are there. Seeds that lack one are left out: rows must rest on the same data. So are
    /// methods without any training, which a warning names.
    pub fn of(task: &Task, trials: &[Trial], records: Vec<Record>) -> Result<Self, LearnError> {
        let name = |trial: &Trial| choose::full_name(task.settings(), trial.method);
        let there = |trial: &&Trial| records.iter().any(|record| record.method == name(trial));
        let (kept, lost): (Vec<&Trial>, Vec<&Trial>) = trials.iter().partition(there);
        let kept: Vec<Trial> = kept.into_iter().copied().collect();
        let mut lost: Vec<String> = lost.into_iter().map(name).collect();
        lost.dedup();
        let mut all = Self::on(&tasks(task, trials)?, &kept, records);
        lost.sort();
        lost.dedup();
        if !lost.is_empty() {
            all.warnings.push(format!(
                "no training of {} is there: {}",
                count(lost.len(), "method"),
                lost.join(", ")
            ));
        }
        Ok(all)
    }

    pub(super) fn on(tasks: &BTreeMap<u64, Task>, trials: &[Trial], records: Vec<Record>) -> Self {
        let mut seeds: Vec<u64> = trials.iter().map(|trial| trial.seed).collect();
        seeds.dedup();
        let methods = trials.len() / seeds.len().max(1);
        let complete = |seed: &u64| records.iter().filter(|e| e.seed == *seed).count() == methods;
        let whole: Vec<u64> = seeds.iter().copied().filter(complete).collect();
        let records: Vec<Record> = records.into_iter().filter(|e| whole.contains(&e.seed)).collect();
        let all: Vec<&Task> = seeds.iter().filter_map(|seed| tasks.get(seed)).collect();
        let first = all.first();
        // Seeds that judge the same rows are no draws of the world: what varies between rows is then what there is to test by.
        let same_rows = all.iter().all(|t| Some(judged_rows(t)) == first.map(|first| judged_rows(first)));
        let paired = if whole.len() >= 3 && !same_rows { "seeds" } else { "instances" };
        Self {
            rows: rows(&records, paired, same_rows),
            records,
            paired,
            judged: if first.is_some_and(|first| first.test().is_empty()) { "validation" } else { "test" },
            notes: first.map(|first| first.notes().to_vec()).unwrap_or_default(),
            warnings: first.map(|first| first.warnings().to_vec()).unwrap_or_default(),
        }
    }
}

/// Each row's regret, mean over the seeds.
fn over_seeds(records: &[&Record]) -> Vec<f64> {
    let each: Vec<Vec<f64>> = records.iter().map(|e| e.regrets.clone()).collect();
    // Origins of a comparison that was stopped may have more rows or fewer.
    let rows = each.iter().map(Vec::len).min().unwrap_or(0);
    (0..rows).map(|i| each.iter().map(|r| r[i]).sum::<f64>() / each.len() as f64).collect()
}

fn rows(records: &[Record], paired: &str, same_rows: bool) -> Vec<Row> {
    let mut methods: Vec<&str> = Vec::new();
    for record in records {
        if !methods.contains(&record.method.as_str()) {
            methods.push(&record.method);
        }
    }
    let of = |method: &str| records.iter().filter(|e| e.method == method).collect::<Vec<_>>();
    // Regrets of the rows of each seed; over all seeds where they judge the same rows.
    let samples: Vec<Vec<Vec<f64>>> = methods
        .iter()
        .map(|m| match paired {
            "seeds" => of(m).iter().map(|e| e.regrets.clone()).collect(),
            _ if same_rows => vec![over_seeds(&of(m))],
            _ => of(m).iter().map(|e| e.regrets.clone()).collect(),
        })
        .collect();
    let mut rows: Vec<Row> = methods.iter().map(|m| row(m, &of(m))).collect();
    let lowest = |among: &dyn Fn(&Row) -> bool| {
        let candidates = (0..rows.len()).filter(|&i| among(&rows[i]));
        candidates.min_by(|&i, &j| rows[i].rank(&rows[j]))
    };
    let best = lowest(&|_| true);
    let two_stage = lowest(&|r| is_two_stage(&r.method));
    let rivals: Vec<Option<usize>> = (0..rows.len())
        .map(|i| {
            let name = rows[i].method.clone();
            lowest(&|r| r.method != name)
        })
        .collect();
    let pairs = |i: usize, j: usize| -> (Vec<f64>, Vec<f64>) {
        // Of rows that both decide: what others cost is another comparison.
        let both = |(a, b): (&Vec<f64>, &Vec<f64>)| -> Vec<(f64, f64)> {
            let both = a.iter().copied().zip(b.iter().copied());
            both.filter(|(a, b)| a.is_finite() && b.is_finite()).collect()
        };
        let seeds = samples[i].iter().zip(&samples[j]).map(both);
        let (a, b): (Vec<f64>, Vec<f64>) = if paired == "seeds" {
            seeds.filter_map(|rows| mean_pair(&rows)).unzip()
        } else {
            seeds.flatten().unzip()
        };
        // A test over a handful of instances says nothing, however many seeds look at them.
        let judged = records.first().map_or(0, |e| e.regrets.len());
        if judged < ENOUGH || paired != "seeds" && a.len() < ENOUGH {
            (Vec::new(), Vec::new())
        } else {
            (a, b)
        }
    };
    // Means over different rows have no ratio.
    let reference = two_stage.map(|t| (rows[t].regret, rows[t].undecided)).filter(|(r, _)| *r > 0.0);
    for (i, rival) in rivals.into_iter().enumerate() {
        rows[i].best = Some(i) == best;
        let ratio = reference.filter(|(_, undecided)| rows[i].undecided == *undecided);
        rows[i].ratio = ratio.map(|(r, _)| rows[i].regret / r).filter(|r| r.is_finite());
        if let Some(t) = two_stage.filter(|&t| t != i) {
            let (a, b) = pairs(i, t);
            rows[i].p_two_stage = paired_t(&a, &b).map(|t| t.p_value);
        }
        if let Some(rival) = rival {
            let (a, b) = pairs(i, rival);
            rows[i].p_value = paired_t(&a, &b).map(|t| t.p_value);
            rows[i].wilcoxon = wilcoxon(&a, &b).map(|t| t.p_value);
        }
    }
    rows
}

/// The mean of both over the same rows; `None` of no rows.
fn mean_pair(rows: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = rows.len() as f64;
    let sum = rows.iter().fold((0.0, 0.0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    (!rows.is_empty()).then_some((sum.0 / count, sum.1 / count))
}

fn row(method: &str, records: &[&Record]) -> Row {
    let mean = |value: &dyn Fn(&Record) -> f64| {
        records.iter().map(|e| value(e)).sum::<f64>() / records.len().max(1) as f64
    };
    let measures = |e: &Record| e.measures.clone();
    let regrets: Vec<f64> = records.iter().map(|e| measures(e).regret).collect();
    let all: Vec<f64> =
        records.iter().flat_map(|e| e.regrets.iter().copied()).filter(|r| r.is_finite()).collect();
    let trained: Vec<f64> =
        records.iter().flat_map(|e| e.history.iter().skip(1).map(|h| h.zero_gradients)).collect();
    // Of all trainings or of none.
    let told = |value: &dyn Fn(&Account) -> Option<f64>| {
        let each: Option<Vec<f64>> =
            records.iter().map(|e| e.account.as_ref().and_then(value).filter(|v| v.is_finite())).collect();
        each.and_then(|each| Summary::of(&each).ok()).map(|summary| summary.mean)
    };
    let diverged = records.iter().filter(|e| e.ended == Ended::Diverged).count();
    let undecided = records.iter().map(|e| measures(e).undecided).sum();
    let mut notes = Vec::new();
    if diverged > 0 {
        notes.push(format!(
            "diverged with {diverged} of {} seeds; the best epoch before is shown",
            records.len()
        ));
    }
    let violated = mean(&|e| measures(e).violated);
    if violated > 0.0 {
        let share = 100.0 * violated;
        notes.push(format!(
            "{share:.1} % of decisions break a hard row, at a price that is part of the regret"
        ));
    }
    if undecided > 0 {
        notes.push(format!("{} without a decision", count(undecided, "instance")));
    }
    Row {
        method: method.to_owned(),
        regret: mean(&|e| measures(e).regret),
        achieved: told(&|account| Some(account.achieved.mean)),
        advantage: told(&|account| account.against.first().map(|rival| rival.advantage)),
        std: Summary::of(&regrets).ok().and_then(|s| s.std),
        interval: bootstrap_mean(&all, 0.95, 2000, 0).ok(),
        relative: mean(&|e| measures(e).relative),
        ratio: None,
        p_two_stage: None,
        p_value: None,
        wilcoxon: None,
        risk: records.iter().all(|e| e.measures.risk.is_some()).then(|| {
            let of = |value: fn(RiskMeasures) -> f64| mean(&|e| e.measures.risk.map_or(f64::NAN, value));
            RiskMeasures {
                promised: of(|risk| risk.promised),
                score: of(|risk| risk.score),
                regret: of(|risk| risk.regret),
                beyond: of(|risk| risk.beyond),
            }
        }),
        cvar90: mean(&|e| measures(e).cvar90),
        violation: records.iter().map(|e| measures(e).violation).fold(0.0, f64::max),
        mse: mean(&|e| measures(e).mse),
        mae: mean(&|e| measures(e).mae),
        zero_gradients: Summary::of(&trained).ok().map(|s| s.mean),
        seconds: mean(&|e| e.seconds),
        seeds: records.len(),
        best: false,
        undecided,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}
