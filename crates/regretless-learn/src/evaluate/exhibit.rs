//! What a report shows of a judgement: bounded in size, whatever the data.

use regretless_core::{Problem, RowId};
use serde::{Deserialize, Serialize};

use crate::evaluate::judge::Judgement;
use crate::task::Task;

/// Points of a scatter, at most.
const POINTS: usize = 2000;
/// Regrets, at most.
const REGRETS: usize = 20_000;
/// Rows of a constraint table, at most; beyond that blocks stand for their rows.
const ROWS: usize = 24;

/// What a report shows of a model's decisions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exhibit {
    /// Regret of every instance, evenly thinned.
    pub regrets: Vec<f64>,
    /// Some predicted entries.
    #[serde(with = "crate::unknown::many")]
    pub predicted: Vec<f64>,
    /// What came true of them.
    #[serde(with = "crate::unknown::many")]
    pub realised: Vec<f64>,
    /// The regret of the decision each took part in.
    #[serde(with = "crate::unknown::many")]
    pub cost: Vec<f64>,
    /// What the rows were doing under the true parameters.
    pub activity: Vec<Activity>,
}

/// How often a row had slack, was at its limit, or was violated. Beyond a side that has no price a soft row has slack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// The row, or the block it belongs to.
    pub name: String,
    /// Share of instances with slack.
    pub slack: f64,
    /// Share at the limit.
    pub limit: f64,
    /// Share over the limit, where that has a price or is not allowed.
    pub violated: f64,
    /// Share below it, where that has a price; older runs counted it as `violated`.
    #[serde(default)]
    pub short: f64,
}

impl Exhibit {
    /// The exhibit of decisions on rows of a task.
    pub fn of(task: &Task, judgement: &Judgement) -> Self {
        let regrets = judgement.regrets();
        let truths = task.targets(&judgement.rows);
        let width = task.placement().width();
        let mut out = Self {
            regrets: thin(regrets.len(), REGRETS).map(|i| regrets[i]).filter(|r| r.is_finite()).collect(),
            ..Self::default()
        };
        for i in thin(truths.len(), POINTS) {
            if regrets[i / width].is_finite() {
                out.predicted.push(judgement.predictions[i]);
                out.realised.push(truths[i]);
                out.cost.push(regrets[i / width]);
            }
        }
        out.activity = activity(task, judgement, &truths);
        out
    }
}

/// At most `most` of the numbers below `len`, evenly spaced.
pub(crate) fn thin(len: usize, most: usize) -> impl Iterator<Item = usize> {
    let count = len.min(most);
    (0..count).map(move |i| i * len / count.max(1))
}

fn activity(task: &Task, judgement: &Judgement, truths: &[f64]) -> Vec<Activity> {
    let problem = task.problem();
    let shape = problem.shape();
    let width = task.placement().width();
    let ids: Vec<RowId> = (0..shape.soft + shape.at_most).map(|i| shape.row(i)).collect();
    let names: Vec<String> = ids.iter().map(|&id| name(problem, id, ids.len() > ROWS)).collect();
    let mut order: Vec<&String> = Vec::new();
    for name in &names {
        if !order.contains(&name) {
            order.push(name);
        }
    }
    let mut counts = vec![[0.0_f64; 4]; order.len()];
    for (r, decision) in judgement.decisions.iter().enumerate().filter(|(_, d)| d.trouble.is_none()) {
        let known = task.known(&judgement.rows[r..=r]);
        let truth = task.placement().parameters(problem, &truths[r * width..(r + 1) * width], &known);
        let instance = truth.instance();
        let Ok(view) = problem.view(&instance) else { continue };
        for (id, row_name) in ids.iter().zip(&names) {
            let limit = view.limit(*id);
            let z = view.row(*id).dot(&decision.x) - limit;
            let tolerance = 1e-6 * (1.0 + limit.abs());
            let (over, under) = match id {
                RowId::Soft(i) => (view.alpha[*i] > 0.0, view.under[*i] > 0.0),
                _ => (true, false),
            };
            let kind = match z {
                z if z.abs() <= tolerance => 1,
                z if z > 0.0 && over => 2,
                z if z < 0.0 && under => 3,
                _ => 0,
            };
            let at = order.iter().position(|n| *n == row_name).unwrap_or(0);
            counts[at][kind] += 1.0;
        }
    }
    let share = |(name, counts): (&&String, &[f64; 4])| {
        let all = counts.iter().sum::<f64>().max(1.0);
        Activity {
            name: (*name).clone(),
            slack: counts[0] / all,
            limit: counts[1] / all,
            violated: counts[2] / all,
            short: counts[3] / all,
        }
    };
    order.iter().zip(&counts).map(share).collect()
}

/// The row's name; with many rows that of its block.
fn name(problem: &Problem, id: RowId, block: bool) -> String {
    let full = problem.row_name(id);
    if block { full.split('[').next().unwrap_or_default().to_owned() } else { full }
}
