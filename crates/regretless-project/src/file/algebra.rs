//! A problem file in algebra as it is written (docs/algebra.md).

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::form::forms;
use super::value::{Columns, Selectors};
use super::{DataSection, PredictorSection, SurrogateSection, TrainingSection};

/// A decision problem in algebra: variables over index sets, rows and an objective as expressions.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "regretless problem file in algebra")]
pub struct AlgebraFile {
    /// A name for reports.
    #[serde(default)]
    pub problem: NameSection,
    /// Index sets by name.
    #[serde(default)]
    pub sets: BTreeMap<String, SetSection>,
    /// Numbers by name: fixed, known when the decision is taken, or predicted.
    #[serde(default)]
    pub quantities: BTreeMap<String, QuantitySection>,
    /// The variables by name.
    pub variables: BTreeMap<String, VariableSection>,
    /// What is maximised or minimised.
    #[serde(default)]
    pub objective: GoalSection,
    /// Rows that may be broken at a price.
    #[serde(default)]
    pub soft: Vec<SoftRowSection>,
    /// Rows that must hold.
    #[serde(default)]
    pub hard: Vec<HardRowSection>,
    /// How the problem is softened and smoothed for training.
    #[serde(default)]
    pub surrogate: SurrogateSection,
    /// The tables with features and truths.
    pub data: Option<DataSection>,
    /// The predictor that is trained.
    #[serde(default)]
    pub predictor: PredictorSection,
    /// How it is trained.
    #[serde(default)]
    pub training: TrainingSection,
}

/// A name for reports.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameSection {
    /// A name for reports.
    pub name: Option<String>,
}

/// A set: how many members, which ones, or a file that has them.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum SetSection {
    /// So many members, called 0, 1, …
    Count(f64),
    /// Whole numbers from the first to the last: `"1..24"`; with leading zeros as written, `"01..24"`.
    Range(String),
    /// The members; pairs and more are lists.
    Members(Vec<MemberSetting>),
    /// The members that a CSV file has.
    File(SetFile),
}

forms!(
    SetSection, "a number of members, a range \"1..24\", a list of names, or { file = \"arcs.csv\", key = \"arc\" }",
    number => SetSection::Count,
    word String => SetSection::Range,
    list => SetSection::Members,
    table SetFile => SetSection::File
);

/// A member: a name, a whole number, or a list of them.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum MemberSetting {
    /// A whole number.
    Number(f64),
    /// A name.
    Name(String),
    /// Several: a member of a set of pairs, triples, …
    Several(Vec<LabelSetting>),
}

forms!(
    MemberSetting, "a name, a whole number, or a list of names",
    number => MemberSetting::Number,
    word String => MemberSetting::Name,
    list => MemberSetting::Several
);

/// A part of a member: a name, or a whole number.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum LabelSetting {
    /// A whole number.
    Number(f64),
    /// A name.
    Name(String),
}

forms!(
    LabelSetting, "a name, or a whole number",
    number => LabelSetting::Number,
    word String => LabelSetting::Name
);

/// Members from a CSV file: what its key columns hold, each once, in the order of the file.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SetFile {
    /// The file, relative to the problem file.
    pub file: PathBuf,
    /// The column with the members, or several for a set of pairs. Default: the set's name.
    #[schemars(with = "Option<Columns>")]
    pub key: Option<Selectors>,
}

/// Variables of one name.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct VariableSection {
    /// The sets: `"hour"`, or with names for the indices `"u in unit, h in hour"`. Default: a single variable.
    #[serde(rename = "for")]
    pub for_: Option<String>,
    /// Lower bound, an expression in quantities; `-inf` for none. Default 0.
    pub lower: Option<Amount>,
    /// Upper bound. Default `inf`.
    pub upper: Option<Amount>,
    /// The value before the first member of a set, for `stored[h-1]`.
    pub before: Option<Amount>,
    /// The value after the last member of a set, for `stored[h+1]`.
    pub after: Option<Amount>,
    /// The last member comes before the first. Default false.
    #[serde(default)]
    pub cyclic: bool,
}

/// A number, or an expression.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum Amount {
    /// A number.
    Number(f64),
    /// An expression in quantities.
    Text(String),
}

forms!(
    Amount, "a number, or an expression such as \"capacity[u]\"",
    number => Amount::Number,
    word String => Amount::Text
);

/// Numbers of one name: one number, or a table with exactly one of `value`, `file`, `known` and `predict`.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum QuantitySection {
    /// One fixed number.
    Number(f64),
    /// Anything else.
    Table(QuantityTable),
}

forms!(
    QuantitySection, "a number, or a table such as { for = \"hour\", predict = \"price_*\" }",
    number => QuantitySection::Number,
    table QuantityTable => QuantitySection::Table
);

/// Exactly one of `value`, `file`, `known` and `predict`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct QuantityTable {
    /// The sets: `"hour"`, `"unit, hour"`. Default: a single number.
    #[serde(rename = "for")]
    pub for_: Option<String>,
    /// Fixed numbers: one for all, a list in the order of the members, or a table by name; nested for several sets.
    pub value: Option<ValueSetting>,
    /// Fixed numbers of a CSV file, found by its key columns.
    pub file: Option<PathBuf>,
    /// The key columns of the file. Default: those of the sets.
    #[schemars(with = "Option<Columns>")]
    pub key: Option<Selectors>,
    /// The column of the file with the numbers. Default: the quantity's name.
    pub column: Option<String>,
    /// Columns of the data that are known when the decision is taken; each `*` stands for a member's name.
    #[schemars(with = "Option<Columns>")]
    pub known: Option<Selectors>,
    /// Columns of the data that are predicted; each `*` stands for a member's name.
    #[schemars(with = "Option<Columns>")]
    pub predict: Option<Selectors>,
}

/// Fixed numbers over sets.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum ValueSetting {
    /// One for all members.
    Number(f64),
    /// In the order of the members.
    List(Vec<ValueSetting>),
    /// By the members' names.
    Table(BTreeMap<String, ValueSetting>),
}

forms!(
    ValueSetting, "a number, a list of numbers, or a table of numbers by name",
    number => ValueSetting::Number,
    list => ValueSetting::List,
    table BTreeMap<String, ValueSetting> => ValueSetting::Table
);

/// Exactly one of the two.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct GoalSection {
    /// A gain.
    pub maximize: Option<String>,
    /// A cost.
    pub minimize: Option<String>,
}

/// Rows that must hold.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct HardRowSection {
    /// A name for messages and tables. Default `hard0`, …
    pub name: Option<String>,
    /// One row for every member: `"h in hour"`, `"u in unit, h in hour if h != 0"`. Default: one row.
    #[serde(rename = "for")]
    pub for_: Option<String>,
    /// Two sides with `<=`, `>=` or `=` between them, or three: `"1 <= x <= 2"`.
    pub row: String,
}

/// Rows that may be broken: a unit above a limit costs `over`, one below it `under`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SoftRowSection {
    /// A name for messages and tables. Default `soft0`, …
    pub name: Option<String>,
    /// One row for every member. Default: one row.
    #[serde(rename = "for")]
    pub for_: Option<String>,
    /// Two sides with `<=`, `>=` or `=` between them, or three.
    pub row: String,
    /// The price of a unit by which a side of `<=` or `=` is above its limit, ≥ 0.
    pub over: Option<Amount>,
    /// The price of a unit by which a side of `>=` or `=` is below its limit, ≥ 0.
    pub under: Option<Amount>,
}
