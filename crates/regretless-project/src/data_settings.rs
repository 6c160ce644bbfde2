//! Where the data are and how they are used.

use std::path::PathBuf;

use regretless_learn::{DatePart, words};
use serde::Serialize;

use crate::selection::matches;

/// The `[data]` section, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataSettings {
    /// The tables.
    pub files: DataFiles,
    /// The table of forecasts beside the one table, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecasts: Option<PathBuf>,
    /// Names and patterns of the feature columns; `None` for every column that is nothing else.
    pub features: Option<Vec<String>>,
    /// Names and patterns of columns that are no features.
    pub exclude: Vec<String>,
    /// The column that names the rows.
    pub key: Option<String>,
    /// What happens to cells without a value.
    pub missing: Missing,
    /// What columns hold, by name or pattern, where it is not what they seem to hold.
    pub kinds: Vec<(String, ColumnKind)>,
    /// The columns that together name the series a row belongs to; none if all rows are of one.
    pub series: Vec<String>,
    /// The column that says when a row is; without one the order of the table says it.
    pub time: Option<String>,
    /// The time from one row of a series to the next; `None` for the least step of the table.
    pub period: Option<f64>,
    /// How many periods before a row the newest value is known.
    pub delay: u32,
    /// The columns by which an account is told apart, besides the series.
    pub groups: Vec<String>,
    /// The columns with decisions that others took, by name or pattern; none if there are no such.
    pub baseline: Vec<String>,
}

impl DataSettings {
    /// What the section says of columns, in its own words, without the tables and their split.
    pub fn of_columns(&self) -> serde_json::Value {
        let kind = |kind: &ColumnKind| match kind {
            ColumnKind::Number => serde_json::json!("number"),
            ColumnKind::Category => serde_json::json!("category"),
            ColumnKind::Date(parts) => parts.iter().map(|part| part.word()).collect(),
        };
        let kinds: serde_json::Map<_, _> =
            self.kinds.iter().map(|(name, own)| (name.clone(), kind(own))).collect();
        serde_json::json!({
            "features": self.features,
            "exclude": self.exclude,
            "key": self.key,
            "missing": self.missing.word(),
            "kinds": kinds,
            "series": self.series,
            "time": self.time,
            "period": self.period,
            "delay": self.delay,
            "groups": self.groups,
            "baseline": self.baseline,
        })
    }

    /// True if somebody says what this column holds.
    pub(crate) fn states(&self, column: &str) -> bool {
        let named = self.kinds.iter().any(|(selector, _)| selector == column || matches(selector, column));
        named || self.series.iter().any(|name| name == column)
    }
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Numbers, booleans among them.
    Number,
    /// Levels, in no order.
    Category,
    /// Dates, of which these parts are looked at.
    Date(Vec<DatePart>),
}

/// The tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DataFiles {
    /// One table for all parts.
    One(PathBuf),
    /// A table a part.
    Parts {
        /// To train on.
        train: PathBuf,
        /// To choose by; split from `train` if there is none.
        valid: Option<PathBuf>,
        /// To judge by.
        test: Option<PathBuf>,
    },
    /// None: the rows were in memory.
    Memory,
}

words! {
    /// What happens to cells without a value.
    Missing {
        /// Features are taken as missing: trees learn where such rows go, all else takes the mean of the training rows. Rows without a
        /// truth or a known number are left out.
        #[default]
        Keep = "keep",
        /// The table is refused.
        Refuse = "refuse",
        /// Rows with such cells are left out.
        Drop = "drop",
        /// Features are taken as missing, as with `keep`; a table that lacks a truth is refused.
        Mean = "mean",
    }
}
