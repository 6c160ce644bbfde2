//! What a report is made of: plain data, filled in by whoever ran the comparison.

use serde::{Deserialize, Serialize};

use crate::lossy;
use crate::study::Grid;

/// Everything a report shows. Only `title` and the table's rows are needed; a section without data is left out.
///
/// Values that are not finite are left out of the charts, with a note under the chart, and print as a dash in the table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The headline, usually the name of the problem.
    pub title: String,
    /// One sentence: what was chosen, over what, by how much.
    pub summary: String,
    /// Facts about the problem and the data, as (name, value).
    pub problem: Vec<(String, String)>,
    /// A few large figures as (name, value, what follows it in small print); those of the best method if there are none.
    pub headline: Vec<(String, String, String)>,
    /// Tables of preformatted cells above the comparison: what a reader looks for first.
    pub first: Vec<Sheet>,
    /// The comparison of the methods.
    pub table: Comparison,
    /// Tables of preformatted cells, between the comparison and the charts.
    pub sheets: Vec<Sheet>,
    /// What the charts draw.
    pub charts: Charts,
    /// The settings of the runs, in named groups of (key, value).
    pub settings: Vec<(String, Vec<(String, String)>)>,
    /// Remarks of the caller, printed before the explanations every report carries.
    pub notes: Vec<String>,
}

/// A table of preformatted cells with a heading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sheet {
    /// Its name in links; letters, digits and hyphens.
    pub name: String,
    /// The heading.
    pub title: String,
    /// What it shows, in a sentence; may be empty.
    pub lead: String,
    /// The table.
    pub grid: Grid,
}

/// The comparison table: one row a method, in the order they are to be shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// One row a method. The order decides the colours in all charts.
    pub rows: Vec<Row>,
    /// The unit of regret, such as `EUR a day`; empty when there is none.
    pub unit: String,
}

/// One method of the comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// The full id of the method.
    pub method: String,
    /// Mean regret on the test set, over instances and seeds.
    #[serde(deserialize_with = "lossy::value")]
    pub regret: f64,
    /// Standard deviation of the mean regret over seeds.
    pub std: Option<f64>,
    /// Bootstrap interval of the mean regret, 95 %.
    #[serde(deserialize_with = "lossy::pair")]
    pub interval: Option<(f64, f64)>,
    /// Regret divided by the absolute optimal value.
    pub relative: Option<f64>,
    /// Regret divided by that of the best two-stage method.
    pub ratio: Option<f64>,
    /// t-test: paired, two-sided, against the best two-stage method.
    pub p_two_stage: Option<f64>,
    /// t-test: paired, two-sided, against the best other method.
    pub p_value: Option<f64>,
    /// Wilcoxon signed-rank test: paired, two-sided, against the best other method.
    pub wilcoxon: Option<f64>,
    /// Mean of the worst tenth of the regrets.
    pub cvar90: Option<f64>,
    /// Of decisions at risk: what a pair of decision and threshold comes to, on average, and the share beyond its threshold.
    #[serde(deserialize_with = "lossy::pair")]
    pub at_risk: Option<(f64, f64)>,
    /// Largest violation of a hard row by a decision.
    pub violation: Option<f64>,
    /// Mean squared error of the predictions.
    pub mse: Option<f64>,
    /// Mean absolute error of the predictions.
    pub mae: Option<f64>,
    /// Share of training gradients that were exactly zero, from 0 to 1.
    pub zero_gradients: Option<f64>,
    /// Wall-clock seconds of training, one seed.
    #[serde(deserialize_with = "lossy::value")]
    pub seconds: f64,
    /// How many seeds the row is made of.
    pub seeds: usize,
    /// Whether this is the method of choice; at most one row should say so.
    pub best: bool,
    /// A remark on this row, shown under the table.
    pub note: Option<String>,
}

/// What the charts draw; each list that is empty leaves its chart out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Charts {
    /// The candidates of a search, in the order in which they were judged.
    pub search: Vec<Candidate>,
    /// Regret by epoch, one curve a method and seed.
    pub curves: Vec<Curve>,
    /// Test regrets by instance, one list a method.
    pub distributions: Vec<Distribution>,
    /// Predictions against what came true, one cloud a method.
    pub scatters: Vec<Scatter>,
    /// How often truths stayed within the quantiles of their forecasts, one curve a method that has scenarios.
    pub calibration: Vec<Calibrated>,
    /// The sharpness K against regret, one curve a method.
    pub sharpness: Vec<Sharpness>,
    /// How often constraints bind, one list a method.
    pub activity: Vec<Activity>,
}

/// A candidate of a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Candidate {
    /// What it is called.
    pub name: String,
    /// The work that judging it took.
    #[serde(deserialize_with = "lossy::value")]
    pub work: f64,
    /// What its decisions cost.
    #[serde(deserialize_with = "lossy::value")]
    pub regret: f64,
    /// The standard error of that.
    #[serde(deserialize_with = "lossy::value")]
    pub error: f64,
    /// True for the one that was kept.
    pub kept: bool,
}

/// Regret by epoch in one run. `train` and `valid` may each be empty, otherwise they are as long as `epochs`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Curve {
    /// The full id of the method.
    pub method: String,
    /// The seed of the run.
    pub seed: u64,
    /// The epochs measured, increasing.
    #[serde(deserialize_with = "lossy::values")]
    pub epochs: Vec<f64>,
    /// Training regret at those epochs.
    #[serde(deserialize_with = "lossy::values")]
    pub train: Vec<f64>,
    /// Validation regret at those epochs.
    #[serde(deserialize_with = "lossy::values")]
    pub valid: Vec<f64>,
}

/// The regrets of one method on the test set, one value an instance (and seed).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Distribution {
    /// The full id of the method.
    pub method: String,
    /// The regrets, in any order.
    #[serde(deserialize_with = "lossy::values")]
    pub regrets: Vec<f64>,
}

/// Predicted parameters against those that came true, with the regret of the decision each took part in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scatter {
    /// The full id of the method.
    pub method: String,
    /// What was predicted.
    #[serde(deserialize_with = "lossy::values")]
    pub predicted: Vec<f64>,
    /// What came true.
    #[serde(deserialize_with = "lossy::values")]
    pub realised: Vec<f64>,
    /// Regret of the decision the prediction took part in.
    #[serde(deserialize_with = "lossy::values")]
    pub cost: Vec<f64>,
    /// What is predicted, such as `price`; used on both axes.
    pub label: String,
}

/// How often truths stayed within the quantiles of their forecasts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Calibrated {
    /// The full id of the method.
    pub method: String,
    /// The level of each quantile, from 0 to 1.
    #[serde(deserialize_with = "lossy::values")]
    pub level: Vec<f64>,
    /// The share of truths that were not above it.
    #[serde(deserialize_with = "lossy::values")]
    pub share: Vec<f64>,
}

/// Regret against the surrogate's sharpness K.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sharpness {
    /// The full id of the method.
    pub method: String,
    /// The values of K tried.
    #[serde(deserialize_with = "lossy::values")]
    pub k: Vec<f64>,
    /// Mean regret at each K.
    #[serde(deserialize_with = "lossy::values")]
    pub regret: Vec<f64>,
    /// Standard deviation over seeds at each K, or empty.
    #[serde(deserialize_with = "lossy::values")]
    pub std: Vec<f64>,
}

/// How often the constraints bind under the decisions of one method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Activity {
    /// The full id of the method.
    pub method: String,
    /// One entry a constraint, the same constraints in the same order for every method.
    pub rows: Vec<RowActivity>,
}

/// The shares of test instances in which one constraint was slack, at its limit, or violated; they add up to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RowActivity {
    /// The name of the constraint.
    pub name: String,
    /// Share of instances with room left.
    #[serde(deserialize_with = "lossy::value")]
    pub slack: f64,
    /// Share of instances at the limit.
    #[serde(deserialize_with = "lossy::value")]
    pub limit: f64,
    /// Share of instances over the limit: a soft row that was paid for, or a hard one that was broken.
    #[serde(deserialize_with = "lossy::value")]
    pub violated: f64,
    /// Share of instances below a limit that has a price on that side; part of none of the others.
    #[serde(deserialize_with = "lossy::value")]
    pub short: f64,
}
