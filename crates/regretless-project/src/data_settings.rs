//! Where the data are and how they are used.

use std::path::PathBuf;

use regretless_learn::words;
use serde::Serialize;

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
        /// The table is refused.
        #[default]
        Refuse = "refuse",
        /// Rows with such cells are left out.
        Drop = "drop",
        /// Features get the column's mean over the training rows; targets are refused.
        Mean = "mean",
    }
}
