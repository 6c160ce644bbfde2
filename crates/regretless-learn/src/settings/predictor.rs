//! The predictor that is trained.

use std::collections::BTreeMap;

use serde::Serialize;

use super::words::words;

/// The `[predictor]` section, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictorSettings {
    /// The kind.
    pub kind: PredictorKind,
    /// Widths of the hidden layers of an `mlp`.
    pub layers: Vec<usize>,
    /// The function between layers.
    pub activation: Activation,
    /// Whether hidden layers are normalised over the batch.
    pub batch_norm: bool,
    /// Share of hidden units that are left out in a training step.
    pub dropout: f64,
    /// One network for all variables, each with its own features.
    pub shared: bool,
    /// Whether features and targets are taken to mean 0 and deviation 1 over the training rows.
    pub standardise: bool,
    /// What an untrained predictor predicts.
    pub initial: Initial,
    /// The scale on which targets are predicted.
    pub target_transform: TargetTransform,
    /// How a predicted Q is made; `None` if Q is known.
    pub quadratic: Option<QuadraticSettings>,
    /// What trees, or the hidden layers of an `mlp`, stand on.
    pub base: PredictorBase,
    /// How trees are grown.
    pub trees: TreeSettings,
    /// Features with which the outputs of trees only rise or only fall, by name.
    pub monotone: BTreeMap<String, Monotone>,
}

impl Default for PredictorSettings {
    fn default() -> Self {
        Self {
            kind: PredictorKind::Mlp,
            layers: vec![64, 64],
            activation: Activation::Relu,
            batch_norm: false,
            dropout: 0.0,
            shared: false,
            standardise: true,
            initial: Initial::Mean,
            target_transform: TargetTransform::Forecasts,
            quadratic: None,
            base: PredictorBase::Constant,
            trees: TreeSettings::default(),
            monotone: BTreeMap::new(),
        }
    }
}

impl PredictorSettings {
    /// True if what is trained stands on a line.
    pub fn stands_on_a_line(&self) -> bool {
        // What is left open is a network but for `auto`, which names its kinds.
        let kinds = [PredictorKind::Auto, PredictorKind::Mlp, PredictorKind::Trees];
        self.base == PredictorBase::Linear && kinds.contains(&self.kind)
    }
}

words! {
    /// A kind of predictor.
    PredictorKind {
        /// Left open: the method `auto` tries lines, trees and networks, all other methods train an `mlp`.
        Auto = "auto",
        /// The same prediction whatever the features.
        Constant = "constant",
        /// Linear in the features.
        Linear = "linear",
        /// A network with hidden layers.
        #[default]
        Mlp = "mlp",
        /// Boosted trees; a round takes the place of an epoch.
        Trees = "trees",
        /// Forecasts made elsewhere: the features are the predictions.
        Given = "given",
    }
}

/// How the trees of an ensemble are grown. How many of them and with which share each is added are the epochs and the learning rate
/// of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TreeSettings {
    /// The most splits on the way to a leaf.
    pub depth: usize,
    /// The most leaves of a tree.
    pub leaves: usize,
    /// The fewest rows in a leaf.
    pub min_rows: usize,
    /// Share of the rows that a round looks at.
    pub rows: f64,
    /// Share of the features that a tree splits by.
    pub columns: f64,
    /// What is added to a leaf's sum of curvatures, where a row of squared errors has 1.
    pub l2: f64,
    /// Which outputs a tree moves.
    pub ensembles: Ensembles,
}

impl TreeSettings {
    /// The learning rate that trees usually have.
    pub const RATE: f64 = 0.1;
}

impl Default for TreeSettings {
    fn default() -> Self {
        Self {
            depth: 6,
            leaves: 31,
            min_rows: 20,
            rows: 0.8,
            columns: 1.0,
            l2: 1.0,
            ensembles: Ensembles::One,
        }
    }
}

words! {
    /// The scale on which targets are predicted.
    TargetTransform {
        /// Forecasts (`l2`, `l1`, `weighted-l1`) choose it by their decisions; all else predicts targets as they are.
        #[default]
        Forecasts = "forecasts",
        /// Every method chooses it by its decisions.
        Auto = "auto",
        /// Their own.
        None = "none",
        /// Their logarithms.
        Log = "log",
        /// Their square roots.
        Root = "root",
    }
}

words! {
    /// What trees, or the hidden layers of a network, stand on: what they give is added to it.
    PredictorBase {
        /// The training mean.
        #[default]
        Constant = "constant",
        /// A line that begins as the ridge regression that a linear `l2` is. Under trees it stays; beside a network it learns on.
        Linear = "linear",
    }
}

words! {
    /// Which outputs a tree moves.
    Ensembles {
        /// All: one ensemble, whose leaves hold a number for each output.
        #[default]
        One = "one",
        /// One of them: an ensemble for each output.
        Each = "each",
        /// Whichever decides better on validation.
        Auto = "auto",
    }
}

words! {
    /// How outputs change with a feature.
    Monotone {
        /// In any way.
        #[default]
        Free = "free",
        /// They do not fall when it rises.
        Increasing = "increasing",
        /// They do not rise when it rises.
        Decreasing = "decreasing",
    }
}

words! {
    /// What an untrained predictor predicts.
    Initial {
        /// The mean of the training rows: the last layer starts at 0, Q at its mean.
        #[default]
        Mean = "mean",
        /// Random numbers: every layer starts as PyTorch's do, embeddings are normal.
        Random = "random",
    }
}

words! {
    /// The function between the layers of a network.
    Activation {
        /// max(z, 0).
        #[default]
        Relu = "relu",
        /// z, or z/100 below 0.
        LeakyRelu = "leaky-relu",
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// 1/(1 + exp(−z)).
        Sigmoid = "sigmoid",
        /// z times the normal distribution function.
        Gelu = "gelu",
    }
}

words! {
    /// How embeddings of the variables make a positive semidefinite Q.
    QuadraticForm {
        /// Inner products of the embeddings.
        #[default]
        Gram = "gram",
        /// Cosines between the embeddings.
        Cosine = "cosine",
    }
}

/// How a predicted Q is made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QuadraticSettings {
    /// Length of a variable's embedding.
    pub embedding: usize,
    /// What is made of two embeddings.
    pub form: QuadraticForm,
    /// Added to the diagonal.
    pub ridge: f64,
}
