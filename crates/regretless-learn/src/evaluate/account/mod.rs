//! What decisions brought or cost, in the objective's own units: in total, by period and by series, against others who decided the
//! same rows, and row by row of the problem.
//!
//! ```text
//! achieved    F(x; truth), what a decision came to
//! regret      what it fell short of the best one
//! advantage   regret of another decision less that of the model's: what the model is worth in its place
//! ```

mod auditor;
mod groups;
mod periods;
mod rows;
mod sums;
mod worth;

use serde::{Deserialize, Serialize};

pub use self::auditor::{Audited, Auditor};
pub use self::rows::{Bound, HardRow, Side, SoftRow};
pub use self::worth::{Importance, Worth};

/// What decisions came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// `gain` if more is better, `cost` if less is.
    pub objective: String,
    /// What the model's decisions achieved.
    pub achieved: Money,
    /// Others who decided the same rows.
    pub against: Vec<Rival>,
    /// How long a period is, in a word; none without dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<String>,
    /// By period, in the order of time.
    pub periods: Vec<Group>,
    /// By series, those with the most regret first; those beyond the first two hundred as one.
    pub series: Vec<Group>,
    /// By what the user names: a region, a planner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Grouping>,
    /// What the soft rows came to.
    pub soft: Vec<SoftRow>,
    /// How often hard rows were at their limit or broken.
    pub hard: Vec<HardRow>,
    /// The bounds that decisions were at.
    pub bounds: Vec<Bound>,
    /// The errors of the predictions, by quantity.
    pub errors: Vec<QuantityError>,
    /// What the features are worth to decisions, where somebody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
}

/// Sums over the rows with a decision and an optimum to compare it with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Money {
    /// Rows.
    pub decisions: usize,
    /// The mean objective achieved.
    #[serde(with = "crate::unknown")]
    pub mean: f64,
    /// The objective achieved, all rows together.
    pub total: f64,
    /// What the best decisions would have achieved, all rows together.
    pub optimal: f64,
    /// Regret, all rows together.
    pub regret: f64,
}

/// Another who decided, on the rows that both decided.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rival {
    /// `constant`, a method, or the columns with the decisions.
    pub name: String,
    /// Rows that both decided.
    pub decisions: usize,
    /// Its mean objective.
    #[serde(with = "crate::unknown")]
    pub mean: f64,
    /// The mean objective of the model on the same rows.
    #[serde(with = "crate::unknown")]
    pub own: f64,
    /// What a decision of the model is worth in place of its own, on average: above 0 the model is better.
    #[serde(with = "crate::unknown")]
    pub advantage: f64,
    /// The standard error of that mean, rows taken as independent.
    #[serde(with = "crate::unknown")]
    pub standard_error: f64,
    /// The advantage, all rows together.
    pub total: f64,
    /// The share of its decisions that break a hard row or a bound, which is not priced unless such are predicted.
    #[serde(with = "crate::unknown")]
    pub violated: f64,
}

/// What decisions of a period or a series came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The period or the series.
    pub name: String,
    /// Rows.
    pub decisions: usize,
    /// The objective achieved.
    pub total: f64,
    /// Regret.
    pub regret: f64,
    /// The advantage over each rival, in the order of [`Account::against`].
    pub advantage: Vec<f64>,
}

/// The groups of a column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grouping {
    /// The column.
    pub by: String,
    /// Its groups, as [`Account::series`] has the series.
    pub groups: Vec<Group>,
}

/// How far the predictions of a quantity were off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuantityError {
    /// The column.
    pub name: String,
    /// The mean of what came true.
    #[serde(with = "crate::unknown")]
    pub mean: f64,
    /// Mean error: above 0 too much was predicted.
    #[serde(with = "crate::unknown")]
    pub bias: f64,
    /// Mean absolute error.
    #[serde(with = "crate::unknown")]
    pub mae: f64,
    /// Root of the mean squared error.
    #[serde(with = "crate::unknown")]
    pub rmse: f64,
}
