//! Where the data are and how they are used.

use std::path::PathBuf;

use serde::Serialize;

use super::words::words;

/// The `[data]` section, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataSettings {
    /// The tables.
    pub files: DataFiles,
    /// Names and patterns of the feature columns; `None` for every column that is nothing else.
    pub features: Option<Vec<String>>,
    /// Names and patterns of columns that are no features.
    pub exclude: Vec<String>,
    /// The column that names the rows.
    pub key: Option<String>,
    /// What happens to cells without a value.
    pub missing: Missing,
    /// How rows are split into parts.
    pub split: Split,
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
}

/// How rows are split into parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// At random by the seed; the shares of validation and test.
    Random {
        /// Share of validation.
        valid: f64,
        /// Share of test.
        test: f64,
    },
    /// In the order of the table: training first, test last.
    Chronological {
        /// Share of validation.
        valid: f64,
        /// Share of test.
        test: f64,
    },
    /// By a column with `train`, `valid` and `test`.
    Column(String),
}

words! {
    /// How rows are split if no column tells.
    SplitKind {
        /// At random by the seed.
        #[default]
        Random = "random",
        /// In the order of the table.
        Chronological = "chronological",
    }
}

words! {
    /// What happens to cells without a value.
    Missing {
        /// The table is refused.
        #[default]
        Refuse = "refuse",
        /// Rows with such cells are left out.
        Drop = "drop",
        /// Features get the column's mean over the training rows; targets are refused.
        Mean = "mean",
    }
}

words! {
    /// The part a row belongs to.
    Part {
        /// To train on.
        #[default]
        Train = "train",
        /// To choose by.
        Valid = "valid",
        /// To judge by.
        Test = "test",
    }
}
