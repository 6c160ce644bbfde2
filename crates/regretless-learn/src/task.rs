//! What a run learns from: the problem, the data in three parts, and what is known before training starts.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use regretless_core::problem::Role;
use regretless_core::{
    Instance, Multipliers, Parameter, Parameters, Placement, Problem, Regret, RowValues, Scenarios, Sense,
    Sharpness as FittedK, Truths,
};

use crate::build;
use crate::content::Content;
use crate::dataset::Dataset;
use crate::error::{Hint, LearnError};
use crate::model::Model;
use crate::predictor::Predictor;
use crate::recipe::Recipe;
use crate::scale;
use crate::scaler::Scaler;
use crate::settings::{Infeasible, MethodName, Part, PredictorKind, PredictorSettings, Settings, Sharpness};
use crate::transform::{Scale, Transform};

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
    /// In place of the predictor that the settings describe.
    predictor: Option<Arc<PredictorSource>>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

/// Statistics of the training part.
struct Standard {
    features: Scaler,
    /// Of the targets, and as the predictor's outputs are read.
    statistics: Scaler,
    targets: Scaler,
    /// Standardised features of all rows.
    inputs: Vec<f32>,
    /// True if some rows count more than others.
    weighted: bool,
}

impl Standard {
    fn of(settings: &PredictorSettings, placement: &Placement, data: &Dataset, train: &[usize]) -> Self {
        let width = placement.width();
        let mut statistics = Scaler::fit(&data.targets, width, train.iter().copied());
        let mut weights = train.iter().filter_map(|&row| data.weights.get(row));
        let first = weights.next();
        let weighted = weights.any(|weight| Some(weight) != first);
        if weighted {
            let all: f64 = train.iter().map(|&row| data.weights[row]).sum();
            let mean = |k: usize| -> f64 {
                train.iter().map(|&row| data.weights[row] * data.targets[row * width + k]).sum::<f64>() / all
            };
            statistics.mean = (0..width).map(mean).collect();
        }
        let (features, mut targets) = if settings.standardise && settings.kind != PredictorKind::Given {
            (Scaler::fit(&data.features, data.width(), train.iter().copied()), statistics.clone())
        } else {
            (Scaler::identity(data.width()), Scaler::identity(width))
        };
        // An embedding's outputs are the entries of Q themselves.
        if settings.quadratic.is_some() {
            for k in build::quadratic_entries(placement) {
                (targets.mean[k], targets.deviation[k]) = (0.0, 1.0);
            }
        }
        let inputs = features.inputs(&data.features, settings.kind == PredictorKind::Trees);
        Self { features, statistics, targets, inputs, weighted }
    }
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
        check_weights(&data)?;
        check_known(&data, &placement)?;
        // A row that counts for nothing is none to learn from.
        parts[0].retain(|&row| data.weights.get(row).is_none_or(|w| *w > 0.0));
        let mut notes = data.notes.clone();
        let infeasible = settings.training.infeasible;
        let truths = known.map_or_else(|| Truths::new(&problem, &placement), |known| Ok(known.clone()))?;
        keep_solvable(&problem, &placement, &data, infeasible, &truths, &mut parts, &mut notes)?;
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
            let found = scale::sharpness(&problem, &placement, &data, &parts[0]);
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
            predictor: None,
            notes,
            warnings,
        })
    }

    /// The task of learning without some of the training rows. Penalties and K stay those of all of them.
    pub(crate) fn without(&self, rows: &[usize]) -> Self {
        let left_out: BTreeSet<usize> = rows.iter().copied().collect();
        let mut parts = self.parts.clone();
        parts[0].retain(|row| !left_out.contains(row));
        Self {
            problem: self.problem.clone(),
            placement: self.placement.clone(),
            given: self.given.clone(),
            settings: self.settings.clone(),
            data: Arc::clone(&self.data),
            standard: Standard::of(&self.settings.predictor, &self.placement, &self.data, &parts[0]),
            parts,
            truths: self.truths.clone(),
            multipliers: self.multipliers.clone(),
            sharpness: self.sharpness.clone(),
            predictor: self.predictor.clone(),
            notes: Vec::new(),
            warnings: Vec::new(),
        }
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

    /// What a recipe on this data is known by: a run goes on only with the same.
    pub(crate) fn identity(&self, recipe: &Recipe) -> String {
        let settings = &self.settings.surrogate;
        let (segments, smoothing) = (settings.options.segments, settings.options.smoothing);
        let problem = self.problem();
        let stated = Parameter::ALL
            .into_iter()
            .fold(Content::default(), |stated, p| stated.spelled(&p.pattern(problem)).numbers(p.of(problem)));
        let predictor = &self.settings.predictor;
        let trees = if predictor.kind == PredictorKind::Trees {
            format!(", {:?}", predictor.trees)
        } else {
            String::new()
        };
        format!(
            "{recipe:?}, {segments:?} {smoothing} {:?}, problem {}, data {}{trees}",
            settings.rule,
            stated.hash(),
            self.data.content().hash()
        )
    }

    /// The hashes of problem and settings, and of the data: all that decides what a method and a seed come to here.
    pub fn content(&self) -> [String; 2] {
        let mut settings = self.given.clone();
        // They are the trial's own.
        (settings.training.seed, settings.training.method) = (0, MethodName::default());
        let problem = self.problem();
        let mut stated = Content::default().spelled(&settings);
        // Runs of entries are spelled as ever: studies go on.
        stated = if self.placement.is_plain() {
            let (parts, width) = (self.placement.runs(problem), self.placement.width());
            stated.text(&format!("Layout {{ parts: {parts:?}, width: {width} }}"))
        } else {
            let placement = &self.placement;
            stated.spelled(&(placement.width(), placement.known(), placement.terms()))
        };
        stated = stated.spelled(&problem.sense());
        stated = stated.spelled(&problem.variables());
        let blocks = [&problem.soft().blocks, &problem.at_most().blocks, &problem.equal().blocks];
        stated = stated.spelled(&blocks);
        for parameter in Parameter::ALL {
            // Placed entries hold placeholders.
            let placed: BTreeSet<usize> = self.placement.places(parameter).collect();
            let own = |i: &usize| !placed.contains(i);
            let values = parameter.of(problem);
            let mut known: Vec<usize> = (0..values.len()).filter(own).collect();
            if let Some(pattern) = parameter.pattern(problem) {
                // Zeros say nothing, stored or not.
                known.retain(|&i| values[i] != 0.0);
                stated = stated.spelled(&known.iter().map(|&i| pattern.place(i)).collect::<Vec<_>>());
            }
            stated = stated.numbers(&known.iter().map(|&i| values[i]).collect::<Vec<_>>());
        }
        let data = self.data.content().spelled(&self.data.names).spelled(&self.data.parts);
        [stated.hash(), data.hash()]
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

    /// Standardised features of some rows.
    pub fn inputs(&self, rows: &[usize]) -> Vec<f32> {
        gather(&self.standard.inputs, self.data.width(), rows)
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
                names,
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
            residuals: Vec::new(),
            anchors: Vec::new(),
            anchors_known: Vec::new(),
            prices: self.prices()?.cloned(),
        })
    }

    /// Refuses a method that cannot be trained on this task.
    pub fn check(&self, name: MethodName) -> Result<(), LearnError> {
        crate::choose::check(self, name)
    }

    /// True if what is predicted can have scenarios: something else than hard rows and bounds. Scenarios count the same each, so
    /// there are none of rows that do not.
    pub fn has_scenarios(&self) -> bool {
        let predicts = |role| self.placement.predicts_role(role);
        predicts(Role::Soft) && !predicts(Role::Hard) && !self.is_weighted()
    }
}

/// Prices that are negative under the true numbers, in words.
fn negative(placement: &Placement, targets: &[f64], known: &[f64], rows: usize) -> Option<String> {
    let (width, by) = (placement.width(), placement.known());
    let of = |i: usize| placement.cut(&targets[i * width..(i + 1) * width], &known[i * by..(i + 1) * by]);
    let cut: usize = (0..rows).map(of).sum();
    (cut > 0).then(|| format!("{cut} prices of {rows} rows come out negative and count as 0"))
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

fn check_known(data: &Dataset, placement: &Placement) -> Result<(), LearnError> {
    let (expected, found) = (data.rows() * placement.known(), data.known.values.len());
    if expected == found {
        return Ok(());
    }
    Err(LearnError::Data {
        what: format!("{found} known numbers for {} rows of {} each", data.rows(), placement.known()),
        hint: "give every row what is known of it".into(),
    })
}

fn check_weights(data: &Dataset) -> Result<(), LearnError> {
    if data.weights.is_empty() {
        return Ok(());
    }
    let trouble = if data.weights.len() != data.rows() {
        format!("{} weights for {} rows", data.weights.len(), data.rows())
    } else if let Some(row) = data.weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        format!("the weight of {} is {}", data.place(row), data.weights[row])
    } else {
        return Ok(());
    };
    Err(LearnError::Data {
        what: trouble,
        hint: "a weight is a finite number from 0 on, one for each row".into(),
    })
}

/// Solves every row's true problem once. Rows without an optimum fail or are left out, as the user chose.
fn keep_solvable(
    problem: &Problem,
    placement: &Placement,
    data: &Dataset,
    infeasible: Infeasible,
    truths: &Truths,
    parts: &mut [Vec<usize>; 3],
    notes: &mut Vec<String>,
) -> Result<(), LearnError> {
    let mut rows: Vec<usize> = parts.iter().flatten().copied().collect();
    rows.sort_unstable();
    let targets = gather(&data.targets, placement.width(), &rows);
    let known = gather(&data.known.values, placement.known(), &rows);
    let values = truths.optima(&targets, &known)?;
    notes.extend(negative(placement, &targets, &known, rows.len()));
    let why = |row: usize, value: f64| {
        let truth = truth(problem, placement, data, row);
        let refused = problem.view(&truth.instance()).err().map(|e| e.to_string());
        let sign = if problem.sense() == Sense::Max { 1.0 } else { -1.0 };
        refused.unwrap_or_else(|| match sign * value {
            f64::INFINITY => "unbounded".into(),
            f64::NEG_INFINITY => "infeasible".into(),
            _ => "numerical trouble".into(),
        })
    };
    let bad: Vec<(usize, f64)> =
        rows.iter().copied().zip(values).filter(|(_, value)| !value.is_finite()).collect();
    if bad.is_empty() {
        return Ok(());
    }
    let first = bad.iter().take(5).map(|&(row, value)| format!("{}: {}", data.place(row), why(row, value)));
    let more = if bad.len() > 5 { format!("; and {} more", bad.len() - 5) } else { String::new() };
    let list = format!("{}{more}", first.collect::<Vec<_>>().join("; "));
    let count = format!("{} of {} instances", bad.len(), rows.len());
    if infeasible == Infeasible::Fail {
        return Err(LearnError::Data {
            what: format!("{count} have no optimum under their true parameters: {list}"),
            hint: Hint::set(
                "mend these rows, or leave them out with {}",
                "training",
                "infeasible",
                "\"skip\"",
            ),
        });
    }
    notes.push(format!("left out {count} that have no optimum: {list}"));
    let bad: BTreeSet<usize> = bad.into_iter().map(|(row, _)| row).collect();
    for part in parts {
        part.retain(|row| !bad.contains(row));
    }
    Ok(())
}
