//! Rows of a table, sorted by what they are for.

use regretless_learn::Part;

/// Rows of a dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataChunk {
    /// Rows in this chunk; 0 if all were dropped.
    pub rows: usize,
    /// The features, row after row, as their kinds say; NaN where a cell holds no value.
    pub features: Vec<f64>,
    /// The truths of the predicted parts, row after row.
    pub targets: Vec<f64>,
    /// What is known of each row, row after row.
    pub known: Vec<f64>,
    /// Decisions that others took, row after row, NaN where there is none; empty where no column has them.
    pub baseline: Vec<f64>,
    /// The line that each row stands on, counted from 1; the row itself for formats without lines.
    pub lines: Vec<u64>,
    /// The number of each row in the table, counted from 0; rows that were left out count, too.
    pub numbers: Vec<usize>,
    /// What names each row, if there is such a column.
    pub keys: Option<Vec<String>>,
    /// The part each row belongs to, if a column tells.
    pub parts: Option<Vec<Part>>,
    /// The series each row belongs to, if columns tell.
    pub series: Option<Vec<String>>,
    /// What an account tells the rows apart by, one list for each of [`Columns::groups`](super::Columns::groups).
    pub groups: Vec<Vec<String>>,
    /// When each row is, if a column tells.
    pub times: Vec<f64>,
    /// Why a row cannot be decided for, where no row is left out; all its numbers are NaN then.
    pub troubles: Vec<Option<String>>,
    /// Rows with truths that a model cannot decide for: their lines, and why. They are in nothing else here.
    pub undecided: Vec<(u64, String)>,
    /// Cells that say what a decision is for, one list for each of [`DataReader::labels`](super::DataReader::labels).
    pub labels: Vec<Vec<String>>,
    /// Rows of this chunk that were left out because a value is missing.
    pub dropped: usize,
}
