//! Coefficients as they are written: a literal, a file or predicted columns.

use std::path::PathBuf;

use schemars::JsonSchema;

/// A vector: one number for all entries, a list of numbers, a file, or predicted columns.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum Vector {
    /// One number for all entries.
    Scalar(f64),
    /// One number an entry.
    List(Vec<f64>),
    /// From elsewhere.
    From(Source),
}

/// A matrix: a list of rows, one flat row, a file, or predicted columns.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum Rows {
    /// A single row written flat.
    Single(Vec<f64>),
    /// One list a row.
    List(Vec<Vec<f64>>),
    /// From elsewhere.
    From(Source),
}

/// Where the numbers of a coefficient come from if not from the problem file itself.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq)]
#[schemars(rename_all = "lowercase")]
pub enum Source {
    /// `{ file = "theta.csv" }`: a CSV or NPY file, relative to the problem file.
    File(PathBuf),
    /// `{ predict = "price_*" }`: columns of the parameter table by name or pattern (`*` any text, `?` any one
    /// character).
    Predict(#[schemars(with = "Columns")] Vec<String>),
}

/// The variables: their names or their number.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq)]
#[schemars(untagged)]
pub enum Variables {
    /// How many.
    Count(u64),
    /// Their names.
    Names(Vec<String>),
}

/// Column names and patterns: one, or a list of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selectors(pub Vec<String>);

/// Columns of the parameter table, by name or pattern.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only describes the schema")]
pub(super) enum Columns {
    /// A column name or pattern.
    One(String),
    /// Column names and patterns.
    Many(Vec<String>),
}

/// Bounds: one number for all variables, a list, a file, or predicted columns.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only describes the schema")]
pub(super) enum BoundSchema {
    /// One bound for all variables.
    Scalar(BoundNumber),
    /// One bound a variable.
    List(Vec<BoundNumber>),
    /// From elsewhere.
    From(Source),
}

/// A number, or an infinity; TOML's own `inf` and `-inf` do as well.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only describes the schema")]
pub(super) enum BoundNumber {
    Number(f64),
    Infinity(Infinity),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only describes the schema")]
pub(super) enum Infinity {
    #[schemars(rename = "inf")]
    Plus,
    #[schemars(rename = "-inf")]
    Minus,
}
