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
    /// By when rows are.
    Timed(Timed),
    /// Whole series at random by the seed; the shares of validation and test.
    Series {
        /// Share of validation.
        valid: f64,
        /// Share of test.
        test: f64,
    },
}

/// A split by when rows are: training first, test last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timed {
    /// When validation begins; by the share of what is before the test where there is none.
    pub valid_from: Option<f64>,
    /// The share of validation, where it has no beginning.
    pub valid: f64,
    /// When the test begins; by its share where there is none.
    pub test_from: Option<f64>,
    /// When the test ends, which is before the last row in a backtest only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_until: Option<f64>,
    /// The share of the test, where it has no beginning.
    pub test: f64,
    /// The time before validation and before the test of which no row is used: what a row knows of the days before it.
    pub gap: f64,
    /// Whether times are dates, counted in days since the beginning of 1970.
    pub dates: bool,
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
        /// In the order of the table, or of time where a column has it.
        Chronological = "chronological",
        /// Whole series at random by the seed.
        Series = "series",
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
