//! What can be wrong with a stated problem.

use thiserror::Error;

/// Bad input. Every message names the part, what was expected and what was found.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ProblemError {
    /// No variables.
    #[error("the problem has no variables: give it at least one")]
    Empty,
    /// A vector or matrix of the wrong size.
    #[error("{what} has {found} entries, expected {expected}")]
    Length {
        /// The part, such as `linear term` or ``d of block `water` ``.
        what: String,
        /// Entries expected.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// A matrix of the wrong shape.
    #[error("{what} is {} × {}, expected {} × {}", found.0, found.1, expected.0, expected.1)]
    Shape {
        /// The part.
        what: String,
        /// Rows and columns expected.
        expected: (usize, usize),
        /// Rows and columns found.
        found: (usize, usize),
    },
    /// A coefficient outside its matrix.
    #[error(
        "a coefficient is stated for row {row}, column {col} of a matrix that is {rows} × {cols}; both count from 0"
    )]
    OutOfRange {
        /// Its row.
        row: usize,
        /// Its column.
        col: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        cols: usize,
    },
    /// A coefficient with two values.
    #[error(
        "the coefficient of row {row}, column {col} is stated twice: give their sum if that is what you mean"
    )]
    StatedTwice {
        /// Its row.
        row: usize,
        /// Its column.
        col: usize,
    },
    /// NaN or an infinity where a number is needed.
    #[error("{what} has the entry {value} at position {index}: only finite numbers are allowed")]
    NotFinite {
        /// The part.
        what: String,
        /// Position; of a matrix, in pattern order.
        index: usize,
        /// The value found.
        value: f64,
    },
    /// A soft row with a negative price would reward violations without bound.
    #[error("{what} has the negative price {value} at row {index}: prices of soft rows are ≥ 0")]
    NegativePrice {
        /// The part.
        what: String,
        /// The row.
        index: usize,
        /// The value found.
        value: f64,
    },
    /// A lower bound above the upper one.
    #[error("variable {variable} has lower bound {lower} above its upper bound {upper}")]
    BoundsCrossed {
        /// Name of the variable.
        variable: String,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// Q is not symmetric.
    #[error(
        "Q is not symmetric: entry ({row}, {col}) is {upper}, entry ({col}, {row}) is {lower}; \
         pass (Q + Qᵀ)/2 if that is what you mean"
    )]
    NotSymmetric {
        /// Row of the entry above the diagonal.
        row: usize,
        /// Its column.
        col: usize,
        /// Entry above the diagonal.
        upper: f64,
        /// Entry below the diagonal.
        lower: f64,
    },
    /// Q is not positive semidefinite, so the problem is not concave.
    #[error(
        "Q is not positive semidefinite: its most negative eigenvalue is {}; adding {} to its diagonal would make it so",
        short(*eigenvalue), short(-eigenvalue)
    )]
    NotConvex {
        /// The most negative eigenvalue.
        eigenvalue: f64,
    },
    /// Two blocks or two variables share a name.
    #[error("the name `{name}` is used twice: names of {what} must differ")]
    DuplicateName {
        /// `row blocks` or `variables`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An override of a part that the problem does not have.
    #[error("{what} is overridden, but the problem has none")]
    NothingToOverride {
        /// The part.
        what: String,
    },
    /// A predicted quantity that no coefficient depends on.
    #[error("quantity {quantity} is predicted and has no place in the problem")]
    Unplaced {
        /// Its number.
        quantity: usize,
    },
    /// Placed numbers that could make Q indefinite.
    #[error(
        "{what} is not positive semidefinite: {why}. Into Q numbers enter as weights of positive semidefinite matrices, or as all of \
         its entries"
    )]
    Curvature {
        /// The part.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// Neither the problem nor the instance has a θ.
    #[error(
        "the linear term theta was never given: neither the problem nor the instance states it; give zeros if there is none"
    )]
    NoTheta,
    /// More memory than there is.
    #[error("{what} takes {}, and {} of memory are free: {hint}", bytes(*need), bytes(*free))]
    TooLarge {
        /// What would have to be kept.
        what: String,
        /// Bytes it takes.
        need: u64,
        /// Bytes there are.
        free: u64,
        /// What would help.
        hint: &'static str,
    },
    /// Memory for something did not suffice, or indices.
    #[error("there is not enough memory for {what}")]
    OutOfMemory {
        /// What it was for.
        what: &'static str,
    },
    /// A setting outside its range.
    #[error("{what} is {value}: {expected}")]
    Setting {
        /// The setting.
        what: String,
        /// The value found.
        value: f64,
        /// The range.
        expected: &'static str,
    },
}

/// A size in memory, to three digits.
fn bytes(size: u64) -> String {
    let size = size as f64;
    let (unit, name) = if size >= 1e9 { (1e9, "GB") } else { (1e6, "MB") };
    let value = size / unit;
    format!("{value:.*} {name}", if value < 10.0 { 2 } else { 0 })
}

/// Six digits, in the plain form where that is readable.
fn short(value: f64) -> String {
    let size = value.abs();
    if (1e-4..1e6).contains(&size) {
        let digits = 5 - size.log10().floor() as i32;
        let text = format!("{value:.*}", digits.max(0) as usize);
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    format!("{value:.5e}")
}
