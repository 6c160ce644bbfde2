//! Coefficients as they are written: a literal, a file, or columns that are predicted or known.

use std::path::PathBuf;

use schemars::JsonSchema;

use crate::selection::Kind;

/// A vector: one number for all entries, a list, a file, or columns.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum Vector {
    /// One number for all entries.
    Scalar(f64),
    /// One number an entry; some of them may be columns.
    List(Vec<Cell>),
    /// From elsewhere.
    From(Source),
}

/// One entry of a list.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A column.
    From(Selected),
}

/// A matrix: a list of rows, one flat row, a file, or columns.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum Rows {
    /// A single row written flat.
    Single(Vec<Cell>),
    /// One list a row, or one table with the variables that are in it.
    List(Vec<RowCells>),
    /// From elsewhere.
    From(Source),
}

/// One row of a matrix.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum RowCells {
    /// One entry a variable.
    Dense(Vec<Cell>),
    /// Entries by the names of variables: `{ wheat = 2.0, corn = 1.0 }`; the others are 0.
    #[schemars(with = "std::collections::BTreeMap<String, Cell>")]
    Named(Vec<(String, Cell)>),
}

/// Where the numbers of a coefficient come from if not from the problem file itself.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum Source {
    /// `{ file = "theta.csv" }`: a CSV or NPY file, relative to the problem file.
    File(#[schemars(with = "FileTable")] PathBuf),
    /// Columns of a table.
    Columns(Selected),
}

/// `{ predict = "price_*" }` or `{ known = "stock" }`: columns of a table with one row an instance, each times `factor` plus
/// `shift`.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    /// Predicted, or known when the decision is taken.
    pub kind: Kind,
    /// Columns by name or pattern (`*` any text, `?` any one character).
    pub columns: Vec<String>,
    /// Default 1.
    pub factor: Option<Factor>,
    /// Default 0.
    pub shift: Option<Numbers>,
}

impl Selected {
    /// Columns as they are.
    pub fn plain(kind: Kind, columns: Vec<String>) -> Self {
        Self { kind, columns, factor: None, shift: None }
    }
}

/// One number for all entries, or one an entry.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum Numbers {
    /// One for all.
    One(f64),
    /// One an entry.
    List(Vec<f64>),
}

/// A factor: fixed, or known by row.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum Factor {
    /// Fixed.
    Fixed(Numbers),
    /// `{ known = "column" }`: one column for all entries, or one an entry.
    Known(#[schemars(with = "KnownTable")] Vec<String>),
}

/// A coefficient that holds columns, as it is written back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Written {
    Vector(Vector),
    Rows(Rows),
}

/// What the schema says of columns.
#[derive(JsonSchema)]
#[schemars(untagged, rename = "Selected")]
#[expect(dead_code, reason = "only describes the schema")]
enum SelectedSchema {
    /// Columns that are predicted.
    Predict(PredictTable),
    /// Columns that are known when the decision is taken.
    Known(KnownColumns),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only describes the schema")]
struct PredictTable {
    /// Columns by name or pattern (`*` any text, `?` any one character).
    predict: Columns,
    /// A factor, fixed or known by row. Default 1.
    factor: Option<Factor>,
    /// What is added. Default 0.
    shift: Option<Numbers>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only describes the schema")]
struct KnownColumns {
    /// Columns by name or pattern (`*` any text, `?` any one character).
    known: Columns,
    /// A factor, fixed or known by row. Default 1.
    factor: Option<Factor>,
    /// What is added. Default 0.
    shift: Option<Numbers>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only describes the schema")]
struct KnownTable {
    /// Columns by name or pattern.
    known: Columns,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only describes the schema")]
struct FileTable {
    /// A CSV or NPY file, relative to the problem file.
    file: PathBuf,
}

impl JsonSchema for Selected {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        SelectedSchema::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        SelectedSchema::json_schema(generator)
    }
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
    List(Vec<BoundCell>),
    /// From elsewhere.
    From(Source),
}

/// One bound.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only describes the schema")]
pub(super) enum BoundCell {
    /// A number.
    Number(BoundNumber),
    /// A column.
    From(Selected),
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
