//! How a predictor is trained.

use regretless_core::{Risk, ScenarioError};
use serde::{Deserialize, Serialize};

use super::method::MethodName;
use super::predictor::TreeSettings;
use super::words::words;

/// The `[training]` section, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrainingSettings {
    /// The method.
    pub method: MethodName,
    /// The most epochs.
    pub epochs: usize,
    /// Instances a step.
    pub batch: usize,
    /// The optimiser.
    pub optimizer: OptimizerKind,
    /// Its learning rate.
    pub learning_rate: f64,
    /// Momentum of `sgd`, 0 for the others.
    pub momentum: f64,
    /// Decay of the weights.
    pub weight_decay: f64,
    /// How the learning rate changes.
    pub schedule: Schedule,
    /// How gradients are clipped.
    pub clip: Clip,
    /// How many times the batch's median an instance's gradient may be.
    pub bound: f64,
    /// When training stops early.
    pub stop: Stop,
    /// Which epoch's predictor is kept.
    pub keep: Keep,
    /// How a linear predictor is fitted to a loss of the forecast.
    pub regression: Regression,
    /// What comes before the method.
    pub warmup: Warmup,
    /// Weight of L2 in methods with `+l2`.
    pub mix: Mix,
    /// The two sides of `weighted-l1`.
    pub weights: ErrorWeights,
    /// Ridge of `df`.
    pub ridge: f64,
    /// What happens to instances without an optimum.
    pub infeasible: Infeasible,
    /// Seed of everything random.
    pub seed: u64,
    /// Scenarios of methods with `+scenarios`.
    pub scenarios: Scenarios,
    /// How much the worst of them count; `None` for their mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskSettings>,
}

impl TrainingSettings {
    /// The same with the rate that trees usually have, and as it usually falls.
    #[must_use]
    pub fn of_trees(self) -> Self {
        Self { learning_rate: TreeSettings::RATE, schedule: Schedule::Auto, ..self }
    }
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self {
            method: MethodName::default(),
            epochs: 200,
            batch: 32,
            optimizer: OptimizerKind::Adam,
            learning_rate: OptimizerKind::Adam.usual_rate(),
            momentum: 0.0,
            weight_decay: 0.0,
            schedule: Schedule::Constant,
            clip: Clip::Norm(1.0),
            bound: 10.0,
            stop: Stop::Patience(30),
            keep: Keep::Best,
            regression: Regression::Exact,
            warmup: Warmup::Epochs(0),
            mix: Mix::Fixed(0.5),
            weights: ErrorWeights { over: 1.0, under: 1.0 },
            ridge: 0.1,
            infeasible: Infeasible::Fail,
            seed: 0,
            scenarios: Scenarios { source: ScenarioSource::Residuals, count: None },
            risk: None,
        }
    }
}

words! {
    /// An optimiser.
    OptimizerKind {
        /// Adam.
        #[default]
        Adam = "adam",
        /// AdaGrad.
        AdaGrad = "adagrad",
        /// Stochastic gradient descent.
        Sgd = "sgd",
    }
}

impl OptimizerKind {
    /// The learning rate unless somebody says otherwise.
    pub fn usual_rate(self) -> f64 {
        if self == Self::Adam { 3e-3 } else { 1e-2 }
    }
}

words! {
    /// Which epoch's predictor is kept.
    Keep {
        /// The one with the lowest validation regret.
        #[default]
        Best = "best",
        /// The last one.
        Last = "last",
    }
}

words! {
    /// How a linear predictor is fitted to a loss of the forecast (`l1`, `l2`, `weighted-l1`).
    Regression {
        /// As a regression: to the optimum, whatever optimiser, epochs and patience say.
        #[default]
        Exact = "exact",
        /// Step by step, like every other predictor.
        Descent = "descent",
    }
}

words! {
    /// What happens to training instances that have no optimum.
    Infeasible {
        /// Training is refused.
        #[default]
        Fail = "fail",
        /// They are left out.
        Skip = "skip",
    }
}

words! {
    /// Where scenarios come from.
    ScenarioSource {
        /// The prediction plus residuals of training instances, each of a predictor that did not learn from it.
        #[default]
        Residuals = "residuals",
        /// The same residuals in units of a spread that is predicted for each instance.
        Scaled = "scaled",
        /// Past outcomes of the instances whose features are nearest.
        Neighbours = "neighbours",
        /// Past outcomes, by how often they share a leaf of a random forest.
        Forest = "forest",
        /// The members of an ensemble.
        Ensemble = "ensemble",
    }
}

impl ScenarioSource {
    /// True if they are errors of the predictor on rows that it did not learn from.
    pub fn is_of_errors(self) -> bool {
        matches!(self, Self::Residuals | Self::Scaled)
    }

    /// True if they are past outcomes: their mean is another prediction.
    pub fn is_of_outcomes(self) -> bool {
        matches!(self, Self::Neighbours | Self::Forest)
    }
}

impl Scenarios {
    /// Members of an ensemble.
    pub fn members(&self) -> usize {
        self.count.unwrap_or(10)
    }
}

/// How much the worst scenarios count for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RiskSettings {
    /// The level of CVaR.
    pub cvar: f64,
    /// Its weight beside the mean, up to 1.
    pub weight: f64,
}

impl RiskSettings {
    /// The risk; refuses numbers that are none.
    pub fn risk(self) -> Result<Risk, ScenarioError> {
        Risk::mixed(self.cvar, self.weight)
    }
}

/// What comes before a method: squared errors.
///
/// ```
/// use regretless_learn::Warmup;
/// assert_eq!("auto".parse(), Ok(Warmup::Auto));
/// assert_eq!("20".parse(), Ok(Warmup::Epochs(20)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Warmup {
    /// So many epochs of L2.
    Epochs(usize),
    /// All of an `l2`: the method starts where that one ends.
    Auto,
}

impl Warmup {
    /// Epochs of L2 in the training of the method itself.
    pub fn epochs(self) -> usize {
        match self {
            Self::Epochs(epochs) => epochs,
            Self::Auto => 0,
        }
    }
}

impl std::str::FromStr for Warmup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Epochs).map_err(|_| "a number of epochs, or `auto`".to_owned()),
        }
    }
}

/// How the learning rate changes over the epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Not at all.
    #[default]
    Constant,
    /// As trees want it: [`Schedule::FALLING`] for losses without curvature, otherwise not at all.
    Auto,
    /// Multiplied with `factor` after more than `patience` epochs without improvement.
    Plateau {
        /// The factor, between 0 and 1.
        factor: f64,
        /// Epochs without improvement.
        patience: usize,
        /// True if the next epoch goes on from the best one so far, and not from the last.
        back: bool,
    },
}

impl Schedule {
    /// Steps along a subgradient do not shorten near the best point: where a rate got nowhere, go back and on with half of it.
    pub const FALLING: Self = Self::Plateau { factor: 0.5, patience: 10, back: true };
}

/// How gradients are clipped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clip {
    /// Not at all.
    None,
    /// Scaled down to this norm.
    Norm(f64),
    /// Every entry cut to this size.
    Value(f64),
}

/// When training stops before the last epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// Never.
    Never,
    /// After so many epochs without improvement on validation.
    Patience(usize),
    /// From epoch 8, when the last four epochs are no better than the four before.
    Paper,
}

/// The weight of L2 in a mixed loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mix {
    /// The same in every epoch.
    Fixed(f64),
    /// From one weight to another.
    Annealed(Ramp),
}

/// A value that changes over epochs and then stays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ramp {
    /// The value in the first epoch.
    pub from: f64,
    /// The value at the end of the way.
    pub to: f64,
    /// Epochs the way takes.
    pub epochs: usize,
}

/// The sharpness K of the surrogate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharpness {
    /// To fit the data: the learner finds a value before it trains.
    Auto,
    /// One value.
    Fixed(f64),
    /// Several values; the best on validation is kept.
    Grid(Vec<f64>),
    /// From one value to another, by the same factor an epoch.
    Annealed(Ramp),
}

impl Sharpness {
    /// The only value, the first of a grid, the last of a way; 5 where there are no data to fit.
    pub fn value(&self) -> f64 {
        match self {
            Self::Auto => 5.0,
            Self::Fixed(k) => *k,
            Self::Grid(ks) => ks.first().copied().unwrap_or(5.0),
            Self::Annealed(ramp) => ramp.to,
        }
    }

    /// The value in an epoch, counted from 0; of a grid the first.
    ///
    /// ```
    /// use regretless_learn::{Ramp, Sharpness};
    /// let k = Sharpness::Annealed(Ramp { from: 1.0, to: 100.0, epochs: 2 });
    /// assert_eq!([0, 1, 2, 3].map(|epoch| k.at(epoch).round()), [1.0, 10.0, 100.0, 100.0]);
    /// ```
    pub fn at(&self, epoch: usize) -> f64 {
        match self {
            Self::Annealed(r) if epoch < r.epochs => {
                r.from * (r.to / r.from).powf(epoch as f64 / r.epochs as f64)
            }
            _ => self.value(),
        }
    }
}

impl Mix {
    /// The weight in an epoch, counted from 0; on the way it changes by the same amount an epoch.
    ///
    /// ```
    /// use regretless_learn::{Mix, Ramp};
    /// let mix = Mix::Annealed(Ramp { from: 1.0, to: 0.0, epochs: 2 });
    /// assert_eq!([0, 1, 2, 3].map(|epoch| mix.at(epoch)), [1.0, 0.5, 0.0, 0.0]);
    /// ```
    pub fn at(&self, epoch: usize) -> f64 {
        match self {
            Self::Fixed(weight) => *weight,
            Self::Annealed(r) if epoch < r.epochs => {
                r.from + (r.to - r.from) * (epoch as f64 / r.epochs as f64)
            }
            Self::Annealed(ramp) => ramp.to,
        }
    }
}

/// The weights of `weighted-l1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorWeights {
    /// Of a unit predicted above the truth.
    pub over: f64,
    /// Of a unit predicted below the truth.
    pub under: f64,
}

/// The scenarios of methods with `+scenarios`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Scenarios {
    /// Where they come from.
    pub source: ScenarioSource,
    /// The most residuals or past outcomes, evenly spaced over the training rows; members of an ensemble.
    pub count: Option<usize>,
}
