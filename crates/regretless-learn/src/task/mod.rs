//! What a run learns from: the problem, the data in three parts, and what is known before training starts.

mod identity;
pub(crate) mod other;
mod solvable;
mod standard;

use std::fmt;
use std::sync::{Arc, OnceLock};

use regretless_core::problem::Role;
use regretless_core::{
    Instance, Multipliers, Parameters, Placement, Problem, Regret, RowValues, Scenarios,
    Sharpness as FittedK, Truths,
};

use self::standard::Standard;
use crate::data::dataset::Dataset;
use crate::data::encoder::Encoder;
use crate::data::levels;
use crate::data::scaler::Scaler;
use crate::data::transform::{Scale, Transform};
use crate::error::LearnError;
use crate::model::Model;
use crate::predictor::Predictor;
use crate::predictor::build::{self, Inputs};
use crate::select::recipe::Recipe;
use crate::settings::{MethodName, Part, PredictorKind, ScenarioSource, Settings, Sharpness};
use crate::train::sharpness;

/// Instances whose exact multipliers set the penalties of hard rows; more say little more.
const PROBES: usize = 256;

/// Makes an untrained predictor from a seed.
pub type PredictorSource = dyn Fn(u64) -> Box<dyn Predictor> + Send + Sync;

/// A problem with data to learn from.
pub struct Task {
    problem: Problem,
    placement: Placement,
    /// As they were given, and with K as the data want it.
    given: Settings,
    settings: Settings,
    data: Arc<Dataset>,
    /// Rows of the training, validation and test part, ascending.
    parts: [Vec<usize>; 3],
    standard: Standard,
    /// The true optimum of every row, lent to losses and evaluators.
    truths: Truths,
    multipliers: OnceLock<Multipliers>,
    /// K of each row where the data set it.
    sharpness: Option<FittedK>,
    /// The hash of the data, once somebody asked.
    hash: Arc<OnceLock<String>>,
    /// In place of the predictor that the settings describe.
    predictor: Option<Arc<PredictorSource>>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("variables", &self.problem.n())
            .field("rows", &self.data.rows())
            .finish_non_exhaustive()
    }
}

impl Task {
    /// Gets ready to learn the quantities that `placement` puts into a problem. The seed of `settings.training` splits at random where
    /// rows do not say which part they belong to.
    ///
    /// ```
    /// use regretless_core::{Placement, Matrix, Problem};
    /// use regretless_learn::{Dataset, Names, Settings, Silent, Trainer, Task, train};
    /// let problem = Problem::maximize(2)
    ///     .linear(vec![0.0, 0.0])
    ///     .at_most("budget", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
    ///     .build()?;
    /// let features: Vec<f64> = (0..50).map(|i| f64::from(i) / 50.0).collect();
    /// let targets = features.iter().flat_map(|x| [1.0 + x, 2.0 - x]).collect();
    /// let data = Dataset::new(features, targets, 50, Names::numbered(1));
    /// let mut settings = Settings::default();
    /// settings.predictor.kind = regretless_learn::PredictorKind::Linear;
    /// let task = Task::new(problem, Placement::theta(2), data, settings)?;
    /// let mut silent = Silent;
    /// let chosen = train(&mut Trainer::new(&task, None, &mut silent)?, "l2".parse()?, 0)?;
    /// assert!(chosen.candidate.valid.measures.regret < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        problem: Problem,
        placement: Placement,
        data: impl Into<Arc<Dataset>>,
        settings: Settings,
    ) -> Result<Self, LearnError> {
        Self::knowing(problem, placement, data.into(), settings, None)
    }

    /// The same data split by another seed; what is known of the true problems stays known.
    pub fn reseeded(&self, seed: u64) -> Result<Self, LearnError> {
        let mut settings = self.given.clone();
        settings.training.seed = seed;
        let (problem, data) = (self.problem.clone(), Arc::clone(&self.data));
        Self::knowing(problem, self.placement.clone(), data, settings, Some(&self.truths))
    }

    fn knowing(
        problem: Problem,
        placement: Placement,
        data: Arc<Dataset>,
        settings: Settings,
        known: Option<&Truths>,
    ) -> Result<Self, LearnError> {
        let mut parts = data.split(&settings.split, settings.training.seed);
        let mut notes = data.notes.clone();
        notes.extend(data.split_notes(&settings.split, &parts));
        notes.extend(levels::strangers(&data, &parts));
        solvable::check_weights(&data)?;
        solvable::check_known(&data, &placement)?;
        // A row that counts for nothing is none to learn from.
        parts[0].retain(|&row| data.weights.get(row).is_none_or(|w| *w > 0.0));
        let infeasible = settings.training.infeasible;
        let truths = known.map_or_else(|| Truths::new(&problem, &placement), |known| Ok(known.clone()))?;
        solvable::keep_solvable(&problem, &placement, &data, infeasible, &truths, &mut parts, &mut notes)?;
        for (part, name) in parts.iter().zip(["training", "validation"]) {
            if part.is_empty() {
                return Err(LearnError::Data {
                    what: format!("the {name} part has no rows"),
                    hint: "give more data, or split it otherwise".into(),
                });
            }
        }
        let warnings = data.warnings(&placement, &problem, &parts);
        let standard = Standard::of(&settings.predictor, &placement, &data, &parts[0]);
        let multipliers = OnceLock::new();
        let given = settings.clone();
        let (mut settings, mut sharpness) = (settings, None);
        if given.surrogate.sharpness == Sharpness::Auto {
            let found = sharpness::sharpness(&problem, &placement, &data, &parts[0]);
            settings.surrogate.set_k(found.k);
            sharpness = Some(found);
        }
        Ok(Self {
            problem,
            placement,
            given,
            settings,
            data,
            parts,
            standard,
            truths,
            multipliers,
            sharpness,
            hash: Arc::default(),
            predictor: None,
            notes,
            warnings,
        })
    }

    /// Predicts with predictors of the caller's own making instead of those the settings describe. They work in
    /// standardised units, or in the data's own with `standardise = false`.
    pub fn with_predictor(
        mut self,
        source: impl Fn(u64) -> Box<dyn Predictor> + Send + Sync + 'static,
    ) -> Self {
        self.predictor = Some(Arc::new(source));
        self
    }

    /// True if the features are the predictions.
    pub(crate) fn is_given(&self) -> bool {
        self.settings.predictor.kind == PredictorKind::Given
    }

    /// True if the caller brought predictors.
    pub(crate) fn has_own_predictor(&self) -> bool {
        self.predictor.is_some()
    }

    /// Softens hard rows with these penalties instead of those the rule of the settings would choose.
    pub fn with_multipliers(mut self, multipliers: Multipliers) -> Self {
        self.multipliers = OnceLock::from(multipliers);
        self
    }

    /// Rounds the surrogate's rows with these K instead of those the settings ask for.
    pub fn with_sharpness(mut self, sharpness: FittedK) -> Self {
        self.settings.surrogate.set_k(sharpness.k);
        self.sharpness = Some(sharpness);
        self
    }

    /// K of each row where the data set it; `None` where the settings give one for all.
    pub fn sharpness(&self) -> Option<&FittedK> {
        self.sharpness.as_ref()
    }

    /// How predictors are made and trained; K is one that fits the data where none was given.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Which coefficients of the problem the quantities and the known numbers are.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The data.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// What a user should know about the data: columns and rows that were left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What in the data makes training look better than it is, or say nothing: features that know a target, constant targets,
    /// columns that are there twice or in another order than the variables, parts too small to choose by.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Rows to train on.
    pub fn train(&self) -> &[usize] {
        &self.parts[0]
    }

    /// Rows to choose by.
    pub fn valid(&self) -> &[usize] {
        &self.parts[1]
    }

    /// Rows to judge by; may be empty.
    pub fn test(&self) -> &[usize] {
        &self.parts[2]
    }

    /// The rows of a part.
    pub fn part(&self, part: Part) -> &[usize] {
        &self.parts[part as usize]
    }

    /// How features become inputs.
    pub fn encoder(&self) -> &Encoder {
        &self.standard.features
    }

    /// Encoded features of some rows.
    pub fn inputs(&self, rows: &[usize]) -> Vec<f32> {
        gather(&self.standard.inputs, self.encoder().width(), rows)
    }

    /// Features of some rows as they are.
    pub fn features(&self, rows: &[usize]) -> Vec<f64> {
        gather(&self.data.features, self.data.width(), rows)
    }

    /// How much training rows count: 1 on average.
    pub fn weights(&self, rows: &[usize]) -> Vec<f64> {
        if !self.is_weighted() {
            return vec![1.0; rows.len()];
        }
        let all: f64 = self.train().iter().map(|&row| self.data.weights[row]).sum();
        let unit = self.train().len() as f64 / all;
        rows.iter().map(|&row| unit * self.data.weights[row]).collect()
    }

    /// True if some training rows count more than others.
    pub fn is_weighted(&self) -> bool {
        self.standard.weighted
    }

    /// What is known of some rows when they are decided for.
    pub fn known(&self, rows: &[usize]) -> Vec<f64> {
        gather(&self.data.known.values, self.placement.known(), rows)
    }

    /// True quantities of some rows.
    pub fn targets(&self, rows: &[usize]) -> Vec<f64> {
        gather(&self.data.targets, self.placement.width(), rows)
    }

    /// The true value of one target in a row.
    fn target(&self, row: usize, k: usize) -> f64 {
        self.data.targets[row * self.placement.width() + k]
    }

    /// The unit in which prediction losses measure each entry: its deviation over the training part, or 1 where nothing is
    /// standardised.
    pub fn units(&self) -> Vec<f64> {
        if !self.settings.predictor.standardise {
            return vec![1.0; self.placement.width()];
        }
        self.standard.statistics.deviation.iter().map(|d| if *d > 0.0 { *d } else { 1.0 }).collect()
    }

    /// Penalties of the hard rows, from the true parameters of training instances.
    pub fn multipliers(&self) -> Result<&Multipliers, LearnError> {
        if let Some(known) = self.multipliers.get() {
            return Ok(known);
        }
        let step = self.train().len().div_ceil(PROBES);
        let rows: Vec<usize> = self.train().iter().copied().step_by(step).collect();
        let truths = self.instances(&rows);
        let instances: Vec<Instance<'_>> = truths.iter().map(Parameters::instance).collect();
        let found = Multipliers::choose(self.problem(), &self.settings.surrogate.rule, &instances)?;
        Ok(self.multipliers.get_or_init(|| found))
    }

    /// What a unit of violation of each hard row costs, if predictions can cause any: then regret prices it.
    pub fn prices(&self) -> Result<Option<&RowValues>, LearnError> {
        if !self.placement.predicts_role(Role::Hard) {
            return Ok(None);
        }
        Ok(Some(&self.multipliers()?.values))
    }

    /// An evaluator of decisions on this task.
    pub fn regret(&self, scenarios: Option<Scenarios>) -> Result<Regret, LearnError> {
        let mut regret =
            Regret::new(self.problem(), &self.placement, scenarios)?.with_truths(&self.truths)?;
        if let Some(prices) = self.prices()? {
            regret.price_violations(prices)?;
        }
        Ok(regret)
    }

    /// What is known of the rows' true problems.
    pub fn truths(&self) -> &Truths {
        &self.truths
    }

    /// The true problems of some rows in the engine's form.
    pub fn instances(&self, rows: &[usize]) -> Vec<Parameters> {
        rows.iter().map(|&row| truth(self.problem(), &self.placement, &self.data, row)).collect()
    }

    /// The model of a recipe before training: it predicts the training mean.
    pub fn untrained(&self, recipe: &Recipe) -> Result<Model, LearnError> {
        let constant = recipe.method.is_none();
        let mean = self.standard.statistics.mean.clone();
        let names = &self.data.names;
        let seed = recipe.training.seed;
        let member = match &self.predictor {
            Some(source) if !constant => source(seed),
            _ => build::predictor(
                &self.settings.predictor,
                &self.problem,
                &self.placement,
                &Inputs { names, encoder: self.encoder() },
                &mean,
                constant,
                seed,
            )?,
        };
        let mut member = member;
        if let Some(trees) = member.boosting_mut() {
            trees.set_ensembles(recipe.ensembles);
        }
        // A constant predictor is the mean of everything, Q included.
        let Standard { features, targets, .. } = &self.standard;
        let mut targets = if constant { Scaler { mean, ..targets.clone() } } else { targets.clone() };
        let rescaled = recipe.scales.iter().enumerate().filter(|(_, scale)| **scale != Scale::None);
        for (k, scale) in rescaled.filter(|_| self.settings.predictor.standardise) {
            let there: Vec<f64> =
                self.train().iter().map(|&row| scale.forward(self.target(row, k))).collect();
            let own = Scaler::fit(&there, 1, 0..there.len());
            (targets.mean[k], targets.deviation[k]) = (own.mean[0], own.deviation[0]);
        }
        Ok(Model {
            members: vec![member],
            features: features.clone(),
            targets,
            transforms: recipe.scales.iter().map(|scale| Transform::plain(*scale)).collect(),
            source: None,
            risk: self.settings.training.risk,
            anchors: Vec::new(),
            anchors_known: Vec::new(),
            prices: self.prices()?.cloned(),
            past: None,
            combination: None,
        })
    }

    /// Refuses a method that cannot be trained on this task.
    pub fn check(&self, name: MethodName) -> Result<(), LearnError> {
        crate::select::choose::check(self, name)
    }

    /// True if what is predicted can have scenarios that change a decision: something else than hard rows and bounds, in which
    /// the objective is not linear.
    pub fn has_scenarios(&self) -> bool {
        let predicts = |role| self.placement.predicts_role(role);
        predicts(Role::Soft) && !predicts(Role::Hard)
    }

    /// True if scenarios of this source can change a decision. The mean of past outcomes is another prediction, so that they can
    /// wherever there is a mean.
    pub fn has_scenarios_of(&self, source: ScenarioSource) -> bool {
        // At risk more than the mean of θ matters.
        let changes = source.is_of_outcomes() || self.settings.training.risk.is_some();
        self.has_scenarios() || changes && !self.placement.predicts_role(Role::Hard)
    }
}

fn gather<T: Copy>(table: &[T], width: usize, rows: &[usize]) -> Vec<T> {
    rows.iter().flat_map(|&row| &table[row * width..(row + 1) * width]).copied().collect()
}

/// The true parameters of a row.
pub(crate) fn truth(problem: &Problem, placement: &Placement, data: &Dataset, row: usize) -> Parameters {
    let of = |table: &'_ [f64], width: usize| table[row * width..(row + 1) * width].to_vec();
    let quantities = of(&data.targets, placement.width());
    placement.parameters(problem, &quantities, &of(&data.known.values, placement.known()))
}
