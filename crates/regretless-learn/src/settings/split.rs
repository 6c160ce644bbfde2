//! How rows are split into parts.

use serde::Serialize;

use super::words::words;

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

impl Default for Split {
    fn default() -> Self {
        Self::Random { valid: 0.2, test: 0.2 }
    }
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
