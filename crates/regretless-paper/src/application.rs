//! What the three applications have in common.

use regretless_core::{Method, Multipliers, Parameters, RowValues, Rule, Segments};
use regretless_learn::{Base, LearnError, MethodName, Model, PredictorKind, PredictorSettings, Recipe, Task};
use serde::{Deserialize, Serialize};

use crate::PaperError;
use crate::profile::Profile;
use crate::published;

/// A cell of a table: an application at one size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cell {
    /// `80,80,40` for the LP, the number of equities, the ratio α₁/α₂.
    pub size: String,
    /// Rows to train on, where that is part of the cell.
    pub samples: Option<usize>,
    /// The predictor.
    pub predictor: Predictor,
}

/// The predictor of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Predictor {
    /// The network of the application.
    #[default]
    Mlp,
    /// Linear in the features: misspecified on purpose.
    Linear,
}

impl Predictor {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mlp => "mlp",
            Self::Linear => "linear",
        }
    }
}

/// A row of a table: a training method, or a baseline that is the application's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contender {
    /// A training method.
    Method(MethodName),
    /// A baseline without training, such as `mean-per-hour`.
    Baseline(&'static str),
}

impl Contender {
    /// Reads a name; `surrogate` means `surrogate-vertex` in the published profile and `surrogate-smooth` otherwise.
    pub fn read(text: &str, profile: Profile, baselines: &[&'static str]) -> Result<Self, PaperError> {
        if let Some(baseline) = baselines.iter().find(|name| **name == text) {
            return Ok(Self::Baseline(baseline));
        }
        let mut name: MethodName = text.parse().map_err(|error: regretless_learn::MethodError| {
            let words: Vec<&str> =
                Base::all().map(Base::word).chain(baselines.iter().copied()).collect();
            let hint = format!(
                "the methods are {}; those of the decision may end in `+l2`, `l1`, `l2` and `weighted-l1` in `+stopped`, all in `+scenarios`",
                words.join(", ")
            );
            PaperError::settings(error.to_string(), hint)
        })?;
        let segments = match profile {
            Profile::Published => Segments::Vertex,
            Profile::Sound => Segments::Smooth,
        };
        name.base = name.base.loss(segments).map_or(name.base, Base::Loss);
        Ok(Self::Method(name))
    }

    /// True if it is trained once for every K.
    pub fn has_sharpness(self) -> bool {
        let Self::Method(name) = self else { return false };
        matches!(name.base, Base::Loss(method) if method.uses_surrogate())
    }

    /// Its id in tables.
    pub fn id(self) -> String {
        match self {
            Self::Method(name) => name.to_string(),
            Self::Baseline(name) => name.to_owned(),
        }
    }
}

/// Plain methods as contenders.
pub(crate) fn methods(bases: &[Method]) -> Vec<Contender> {
    bases.iter().map(|&base| Contender::Method(base.into())).collect()
}

/// A predictor with these hidden layers, or none.
pub(crate) fn predictor(kind: Predictor, layers: &[usize]) -> PredictorSettings {
    let (kind, layers) = match kind {
        Predictor::Mlp => (PredictorKind::Mlp, layers.to_vec()),
        Predictor::Linear => (PredictorKind::Linear, Vec::new()),
    };
    PredictorSettings { kind, layers, ..PredictorSettings::default() }
}

/// A task whose hard rows are softened with the given penalties.
pub(crate) fn with_penalties(task: Task, penalties: RowValues) -> Result<Task, PaperError> {
    let truths = task.instances(&task.train()[..1]);
    let instances: Vec<_> = truths.iter().map(Parameters::instance).collect();
    let multipliers = Multipliers::choose(task.problem(), &Rule::PerRow(penalties), &instances)
        .map_err(LearnError::from)?;
    Ok(task.with_multipliers(multipliers))
}

/// One of the paper's applications, under one profile.
pub trait Application: Sync {
    /// Which of the three.
    fn id(&self) -> published::Application;

    /// How it is run.
    fn profile(&self) -> Profile;

    /// What decides its numbers besides cells, seeds and methods: results under other settings are not mixed with these.
    fn settings(&self) -> Vec<(String, String)>;

    /// All its cells.
    fn cells(&self) -> Vec<Cell>;

    /// The sizes that a text names: one, or several where sizes have no commas of their own.
    fn sizes(&self, text: &str) -> Result<Vec<String>, PaperError>;

    /// Refuses a cell that cannot be run.
    fn check(&self, cell: &Cell) -> Result<(), PaperError>;

    /// A few cells that take minutes.
    fn quick(&self) -> Vec<Cell>;

    /// Its seeds: the first so many.
    fn seeds(&self, count: usize) -> Vec<u64>;

    /// The values of K.
    fn grid(&self) -> Vec<f64>;

    /// The methods and baselines compared.
    fn contenders(&self) -> Vec<Contender>;

    /// Names of the baselines.
    fn baselines(&self) -> &'static [&'static str] {
        &[]
    }

    /// What a cell learns from with a seed; K is tried at each value of `grid`.
    fn task(&self, cell: &Cell, grid: &[f64], seed: u64) -> Result<Task, PaperError>;

    /// The model of a baseline.
    fn baseline(&self, name: &str, cell: &Cell, task: &Task) -> Result<Model, PaperError> {
        let _ = (cell, task);
        Err(PaperError::settings(format!("there is no baseline `{name}` here"), ""))
    }

    /// Whether the test regret is followed epoch by epoch.
    fn follows_test(&self) -> bool {
        false
    }

    /// Settings that are a method's own in this application.
    fn tune(&self, recipe: &mut Recipe) {
        let _ = recipe;
    }

    /// How much work a training of a cell is, beside one of another cell.
    fn work(&self, cell: &Cell) -> u64;

    /// Regret as it is shown: the portfolio's in percent.
    fn unit(&self) -> f64 {
        1.0
    }
}
