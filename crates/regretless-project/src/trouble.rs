//! What can be wrong with a problem file or a table.

use regretless_core::ProblemError;
use thiserror::Error;

use crate::error::count;

/// What is wrong.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Trouble {
    /// No such file.
    #[error("there is no such file")]
    NotFound,
    /// A folder or device where a file is expected.
    #[error("this is {0}, not a file")]
    NotAFile(&'static str),
    /// The system refused.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// A file beyond the limit.
    #[error("the file has {} and the limit is {}", size(*found), size(*limit))]
    TooLarge {
        /// Bytes found.
        found: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// More entries than allowed.
    #[error("this would have {found} entries and the limit is {limit}")]
    TooManyEntries {
        /// Entries asked for; saturates.
        found: usize,
        /// Entries allowed.
        limit: usize,
    },
    /// More variables than allowed.
    #[error("{found} variables, and the limit is {limit}")]
    TooManyVariables {
        /// Variables asked for.
        found: u64,
        /// Variables allowed.
        limit: usize,
    },
    /// The bytes are not text.
    #[error("the file is not UTF-8 text: the first bad byte is at offset {0}")]
    NotUtf8(usize),
    /// Nothing in the file, or no rows in the table.
    #[error("{0}")]
    Empty(&'static str),
    /// Not TOML, or a value of the wrong type.
    #[error("{0}")]
    Syntax(String),
    /// A key that does not exist.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// The keys there are.
        known: Vec<String>,
    },
    /// A key that must be there.
    #[error("the key `{0}` is missing")]
    MissingKey(String),
    /// Two keys of which exactly one must be there.
    #[error("{0}")]
    OneOf(&'static str),
    /// A vector or matrix of the wrong size.
    #[error("expected {expected}, found {found}")]
    Shape {
        /// What the problem needs here.
        expected: String,
        /// What there is.
        found: String,
    },
    /// The number of rows of a block cannot be told.
    #[error("the number of rows of this block is not known")]
    RowsUnknown,
    /// NaN or an infinity.
    #[error("{0} is not allowed here, only finite numbers are")]
    NotFinite(f64),
    /// An infinity that leaves a variable without any value.
    #[error("a bound of {0} on this side leaves the variable no value")]
    WrongInfinity(f64),
    /// A negative price of a soft row.
    #[error("the price {0} is negative, and prices of soft rows are 0 or more")]
    Negative(f64),
    /// Lower bound above the upper one.
    #[error("the lower bound {lower} of `{variable}` is above its upper bound {upper}")]
    BoundsCrossed {
        /// The variable.
        variable: String,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The same name twice.
    #[error("the name `{0}` is used twice")]
    DuplicateName(String),
    /// An empty name or one with control characters.
    #[error("{0:?} cannot be a name")]
    BadName(String),
    /// A setting outside its range.
    #[error("{value} is out of range: {expected}")]
    Setting {
        /// The value.
        value: f64,
        /// The range.
        expected: &'static str,
    },
    /// A cell that is not a number.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// A cell that is no date.
    #[error("`{0}` is not a date")]
    NotADate(String),
    /// An empty cell.
    #[error("the cell is empty")]
    EmptyCell,
    /// A line with another number of cells than the first one.
    #[error("{}, but the lines before have {expected}", count(*found, "cell"))]
    Ragged {
        /// Cells of the lines before.
        expected: usize,
        /// Cells of this line.
        found: usize,
    },
    /// Not an NPY file that is understood.
    #[error("not a readable NPY file: {0}")]
    Npy(String),
    /// A compressed file that unpacks to more than allowed.
    #[error("{0}")]
    Inflates(String),
    /// Not a gzip file that can be unpacked.
    #[error("not a readable gzip file: {0}")]
    Gzip(&'static str),
    /// Not a Parquet file that is understood.
    #[error("not a readable Parquet file: {0}")]
    Parquet(String),
    /// Cells of a table that hold nothing where something is needed.
    #[error("{} of the table {} no value in a column that is used: {}", count(*rows, "row"), if *rows == 1 { "has" } else { "have" }, first.join(", "))]
    Missing {
        /// Rows concerned, in the whole table.
        rows: usize,
        /// The first of them, in words.
        first: Vec<String>,
    },
    /// A column with more different texts than a category has.
    #[error("the column `{column}` has more than {most} different texts")]
    TooManyLevels {
        /// The column.
        column: String,
        /// The limit.
        most: usize,
    },
    /// A column of a split with another word than `train`, `valid` and `test`.
    #[error("`{0}` is none of `train`, `valid` and `test`")]
    Part(String),
    /// A predicted column among the features.
    #[error("the column `{0}` is predicted, so it cannot be a feature")]
    Leak(String),
    /// A setting that does not go with another one, or a word that is not known.
    #[error("{0}")]
    Misfit(String),
    /// A file that cannot be written.
    #[error("cannot be written: {0}")]
    Unwritable(std::io::Error),
    /// A file whose name does not tell its format.
    #[error("the name `{0}` ends neither in .csv nor in .npy")]
    UnknownFormat(String),
    /// A selector that no column fits.
    #[error("no column of the table fits `{0}`")]
    NoColumn(String),
    /// A column that is in the table twice.
    #[error("the table has the column `{0}` twice")]
    AmbiguousColumn(String),
    /// A column that is selected twice.
    #[error("the column `{0}` is selected twice")]
    RepeatedColumn(String),
    /// Another number of columns than the part has entries.
    #[error("`{key}` needs {} ({shape}), but {selectors} selects {found}", count(*expected, "column"))]
    ColumnCount {
        /// The predicted part.
        key: String,
        /// Entries of the part.
        expected: usize,
        /// Columns selected.
        found: usize,
        /// The part's shape in words.
        shape: String,
        /// The selectors in words.
        selectors: String,
    },
    /// An expression of a problem in algebra that is not understood, or says what the engine has no form for.
    #[error("{0}")]
    Algebra(String),
    /// What the engine says of the whole problem or of one instance.
    #[error("{0}")]
    Problem(#[from] ProblemError),
}

/// A size for people.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
    let unit = UNITS.len().min(1 + bytes.checked_ilog2().unwrap_or(0) as usize / 10) - 1;
    let value = bytes as f64 / f64::from(1_u32 << (10 * unit as u32));
    if value.fract() == 0.0 {
        format!("{value} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        assert_eq!(size(0), "0 bytes");
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(16 << 20), "16 MiB");
        assert_eq!(size(3 << 29), "1.5 GiB");
        assert_eq!(size(u64::MAX), "17179869184 GiB");
    }
}
