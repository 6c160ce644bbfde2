//! The `[data]` section as it is written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::value::{Columns, Selectors};
use regretless_learn::{DatePart, SplitKind, words};

use crate::data_settings::Missing;

/// The tables with features and truths: one row an instance.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataSection {
    /// One table for training, validation and test: CSV, CSV packed with gzip, or Parquet.
    pub file: Option<PathBuf>,
    /// A table with forecasts of what is predicted, made elsewhere: a line for each row of `file`, in its order. Goes with
    /// `predictor.kind = "given"`.
    pub forecasts: Option<PathBuf>,
    /// The table to train on, if the parts have tables of their own.
    pub train: Option<PathBuf>,
    /// The table to choose by. Default: split from `train`.
    pub valid: Option<PathBuf>,
    /// The table to judge by. Default: none.
    pub test: Option<PathBuf>,
    /// True in place of tables where the rows were in memory: what is trained again is given a table.
    #[serde(default)]
    pub memory: bool,
    /// Feature columns by name or pattern, and features of the past such as `lag(demand, 1, 7)` and `mean(demand, 28)`; with a shared predictor `{variable}` stands for a variable's name. Default:
    /// every column that is neither predicted nor `key` nor the column of `split`.
    #[schemars(with = "Option<Columns>")]
    pub features: Option<Selectors>,
    /// Columns that are no features, by name or pattern.
    #[serde(default)]
    #[schemars(with = "Option<Columns>")]
    pub exclude: Selectors,
    /// The column that names the rows in messages and in the output.
    pub key: Option<String>,
    /// What happens to cells without a value. Default `keep`.
    #[serde(default)]
    pub missing: Missing,
    /// What columns hold, by name or pattern: `number`, `category`, `date`, or a list of the parts of a date. Default: what they
    /// seem to hold.
    #[serde(default)]
    pub kinds: BTreeMap<String, KindSetting>,
    /// The columns that together name the series a row belongs to. Default: all rows are of one.
    #[serde(default)]
    #[schemars(with = "Option<Columns>")]
    pub series: Selectors,
    /// The column that says when a row is: dates, or numbers that rise. Default: the order of the table says it.
    pub time: Option<String>,
    /// The time from one row of a series to the next, which `lag` and `mean` count in; days where `time` is a date. Default: the least
    /// step of the table.
    pub period: Option<f64>,
    /// How many periods before a row the newest value is known when its decision is taken. Default 1.
    pub delay: Option<u32>,
    /// The columns by which what the decisions cost is told apart, besides periods and series: a region, a planner. They are features as
    /// any other column. Default: none.
    #[serde(default)]
    #[schemars(with = "Option<Columns>")]
    pub groups: Selectors,
    /// The columns with decisions that others took, one a variable, by name or pattern: what the model's are compared with. They are
    /// no features. Default: none.
    #[serde(default)]
    #[schemars(with = "Option<Columns>")]
    pub baseline: Selectors,
    /// How rows are split. Default: at random, a fifth each for validation and test.
    #[serde(default)]
    pub split: SplitSection,
}

/// What a column holds.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq)]
#[schemars(untagged)]
pub enum KindSetting {
    /// In a word.
    Word(KindName),
    /// A date, of which these parts are looked at.
    Parts(Vec<DatePart>),
}

words! {
    /// What a column holds, in a word.
    KindName {
        /// Numbers, booleans among them.
        #[default]
        Number = "number",
        /// Levels, in no order: text, or numbers that name something.
        Category = "category",
        /// Dates, with or without a time.
        Date = "date",
    }
}

/// How rows are split into training, validation and test.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SplitSection {
    /// At random by the seed, in the order of the table or of `time`, or whole series at random. Default `random`, and
    /// `chronological` where there is a `time`.
    pub kind: Option<SplitKind>,
    /// Share of validation. Default 0.2.
    pub valid: Option<f64>,
    /// Share of test. Default 0.2.
    pub test: Option<f64>,
    /// A column with `train`, `valid` and `test`, instead of shares.
    pub column: Option<String>,
    /// When validation begins, instead of its share.
    pub valid_from: Option<MomentSetting>,
    /// When the test begins, instead of its share.
    pub test_from: Option<MomentSetting>,
    /// The time before validation and before the test of which no row is used; days where `time` is a date.
    pub gap: Option<f64>,
}

/// A moment.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(untagged)]
pub enum MomentSetting {
    /// Of a `time` in numbers.
    Number(f64),
    /// A date as TOML has them.
    Date(#[schemars(with = "String")] toml::value::Datetime),
    /// A date in text.
    Text(String),
}
