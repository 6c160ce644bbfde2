//! The problem file as it is written: what serde reads and what the JSON Schema describes.
//!
//! Nothing here is checked beyond types and key names; [`crate::Spec`] is the checked form.

mod algebra;
mod dataset;
mod form;
mod predictor;
mod schema;
mod settings;
mod training;
mod value;
mod visit;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

pub use algebra::{
    AlgebraFile, Amount, GoalSection, HardRowSection, LabelSetting, MemberSetting, NameSection,
    QuantitySection, QuantityTable, SetFile, SetSection, SoftRowSection, ValueSetting, VariableSection,
};
pub use dataset::{DataSection, KindName, KindSetting, MomentSetting, SplitSection};
pub use predictor::{PredictorSection, QuadraticSection};
pub use schema::json_schema;
pub use settings::{
    AutoWord, MultipliersSetting, RampSetting, RuleName, ScaledRule, SegmentsName, SharpnessSetting,
    SurrogateSection,
};
pub use training::{
    ClipSetting, ClipTable, MixSetting, NoneWord, PlateauName, PlateauSetting, RiskSection, ScenariosSection,
    ScheduleSetting, ScheduleWord, StopSetting, StopTable, StopWord, TrainingSection, WarmupSetting,
    WeightsSection,
};
pub(crate) use value::Written;
pub use value::{Cell, Factor, Numbers, RowCells, Rows, Selected, Selectors, Source, Variables, Vector};

/// A decision problem: `max θᵀx − xᵀQx − overᵀmax(Cx − d, 0) − underᵀmax(d − Cx, 0)` subject to hard rows and
/// bounds.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "regretless problem file")]
pub struct ProblemFile {
    /// Name, direction and variables.
    pub problem: ProblemSection,
    /// The linear and the quadratic term.
    #[serde(default)]
    pub objective: ObjectiveSection,
    /// Blocks of soft rows: limits that may be broken at a price.
    #[serde(default)]
    pub soft: Vec<SoftSection>,
    /// Rows of `problem.model` that are soft.
    #[serde(default)]
    pub soften: Vec<SoftenSection>,
    /// Numbers of `problem.model` that are columns of a table.
    #[serde(default)]
    pub replace: Vec<ReplaceSection>,
    /// Blocks of hard rows: limits that must hold.
    #[serde(default)]
    pub hard: Vec<HardSection>,
    /// Bounds of the variables.
    #[serde(default)]
    pub bounds: BoundsSection,
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

/// Name, direction and variables.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProblemSection {
    /// A name for reports.
    pub name: Option<String>,
    /// Whether the objective is a gain (`max`, the default) or a cost (`min`).
    pub sense: Option<SenseName>,
    /// The variables' names, or their number (then they are called `x0`, `x1`, …).
    pub variables: Option<Variables>,
    /// An MPS, QPS or LP file, packed with gzip or not, that states variables, objective, rows and bounds.
    pub model: Option<PathBuf>,
}

/// Whether the objective is a gain or a cost.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SenseName {
    /// The objective is a gain.
    #[default]
    Max,
    /// The objective is a cost.
    Min,
}

/// The objective's linear and quadratic term.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectiveSection {
    /// θ: gain (or cost, for `min`) of one unit of each variable. Default 0.
    pub linear: Option<Vector>,
    /// Q of the term xᵀQx, which is subtracted from a gain and added to a cost; symmetric positive
    /// semidefinite, n × n, no factor ½.
    pub quadratic: Option<Rows>,
    /// What the objective has beside its terms. No decision depends on it. Default 0.
    pub constant: Option<f64>,
}

/// Soft rows: a unit of `rows · x` above `limit` costs `over`, a unit below costs `under`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftSection {
    /// A name for messages and tables; must differ from the other blocks' names.
    pub name: Option<String>,
    /// C: one row a constraint, one column a variable. A single flat list is one row.
    pub rows: Rows,
    /// d: the limit of each row; one number serves all rows.
    pub limit: Vector,
    /// The price of a unit above the limit, ≥ 0; one number serves all rows.
    pub over: Vector,
    /// The price of a unit below the limit, ≥ 0. Default 0.
    pub under: Option<Vector>,
}

/// Rows of `problem.model` that may be broken: a unit above a row's upper limit costs `over`, one below its lower limit
/// `under`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftenSection {
    /// A name for messages and tables; must differ from the other blocks' names. Default `soft0`, …
    pub name: Option<String>,
    /// The rows' names in the model, or patterns.
    #[schemars(with = "value::Columns")]
    pub rows: Selectors,
    /// Other limits than the model's, one for each row.
    pub limit: Option<Vector>,
    /// The price of a unit above the upper limit, ≥ 0; one number serves all rows.
    pub over: Option<Vector>,
    /// The price of a unit below the lower limit, ≥ 0; one number serves all rows.
    pub under: Option<Vector>,
}

/// Numbers of `problem.model` that are predicted, or known when the decision is taken: limits of `rows`, a `cost` and bounds of
/// `variables`, or the coefficients of `variables` in `rows`. In the names of columns each `*` stands for the name of a row or a
/// variable.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceSection {
    /// Names of rows in the model, or patterns.
    #[schemars(with = "Option<value::Columns>")]
    pub rows: Option<Selectors>,
    /// Names of variables in the model, or patterns.
    #[schemars(with = "Option<value::Columns>")]
    pub variables: Option<Selectors>,
    /// The limit of each row.
    pub limit: Option<Selected>,
    /// The coefficients that the model has of these variables in these rows.
    pub coefficient: Option<Selected>,
    /// The cost (gain) of a unit of each variable.
    pub cost: Option<Selected>,
    /// The lower bound of each variable.
    pub lower: Option<Selected>,
    /// The upper bound of each variable.
    pub upper: Option<Selected>,
}

/// Hard rows: `rows · x ≤ at_most`, `rows · x ≥ at_least`, both (a range), or `rows · x = equals`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HardSection {
    /// A name for messages and tables; must differ from the other blocks' names.
    pub name: Option<String>,
    /// One row a constraint, one column a variable. A single flat list is one row.
    pub rows: Rows,
    /// b of `Ax ≤ b`; one number serves all rows.
    pub at_most: Option<Vector>,
    /// b of `Ax ≥ b`; one number serves all rows.
    pub at_least: Option<Vector>,
    /// c of `Bx = c`; one number serves all rows.
    pub equals: Option<Vector>,
}

/// Bounds of the variables; one number serves all variables.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundsSection {
    /// Lower bounds, `-inf` for none. Default 0.
    #[schemars(with = "Option<value::BoundSchema>")]
    pub lower: Option<Vector>,
    /// Upper bounds, `inf` for none. Default `inf`.
    #[schemars(with = "Option<value::BoundSchema>")]
    pub upper: Option<Vector>,
}
