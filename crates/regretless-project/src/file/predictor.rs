//! The `[predictor]` section as it is written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use regretless_learn::{
    Activation, Ensembles, Initial, Monotone, PredictorBase, PredictorKind, QuadraticForm, TargetTransform,
};

/// The predictor that is trained.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictorSection {
    /// The kind. Default `auto`: the method `auto` tries lines, trees and networks, all other methods train an `mlp`; with a key of
    /// networks `mlp`.
    pub kind: Option<PredictorKind>,
    /// Widths of the hidden layers of an `mlp`. Default [64, 64].
    pub layers: Option<Vec<usize>>,
    /// The function between layers. Default `relu`.
    pub activation: Option<Activation>,
    /// Whether hidden layers are normalised over the batch. Default false.
    pub batch_norm: Option<bool>,
    /// Share of hidden units that are left out in a training step. Default 0.
    pub dropout: Option<f64>,
    /// One network for all variables, each with its own features. Default false.
    #[serde(default)]
    pub shared: bool,
    /// Whether features and targets are taken to mean 0 and deviation 1 over the training rows. Default true.
    pub standardise: Option<bool>,
    /// What an untrained predictor predicts. Default `mean`.
    #[serde(default)]
    pub initial: Initial,
    /// The scale on which targets are predicted. Default `forecasts`.
    #[serde(default)]
    pub target_transform: TargetTransform,
    /// How a predicted Q is made.
    pub quadratic: Option<QuadraticSection>,
    /// The most splits on the way to a leaf of `trees`. Default 6.
    pub depth: Option<usize>,
    /// The most leaves of a tree. Default 31.
    pub leaves: Option<usize>,
    /// The fewest rows in a leaf. Default 20.
    pub min_rows: Option<usize>,
    /// Share of the rows that a round of boosting looks at. Default 0.8.
    pub rows: Option<f64>,
    /// Share of the features that a tree splits by. Default 1.
    pub columns: Option<f64>,
    /// Ridge of the leaves, in rows. Default 1.
    pub l2: Option<f64>,
    /// What trees, or the hidden layers of an `mlp`, stand on. Default `constant`.
    pub base: Option<PredictorBase>,
    /// One ensemble for all outputs, or one for each. Default `one`.
    pub ensembles: Option<Ensembles>,
    /// Features with which the outputs of trees only rise or only fall, by name.
    pub monotone: Option<BTreeMap<String, Monotone>>,
}

impl PredictorSection {
    /// The kind; what only networks have asks for one.
    pub fn kind(&self) -> PredictorKind {
        let network = self.layers.is_some()
            || self.activation.is_some()
            || self.batch_norm.is_some()
            || self.dropout.is_some();
        match self.kind.unwrap_or(PredictorKind::Auto) {
            PredictorKind::Auto if network => PredictorKind::Mlp,
            kind => kind,
        }
    }
}

/// How a predicted Q is made: embeddings of the variables, positive semidefinite by construction.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuadraticSection {
    /// Length of a variable's embedding. Default: the number of variables.
    pub embedding: Option<usize>,
    /// What is made of two embeddings. Default `gram`.
    #[serde(default)]
    pub form: QuadraticForm,
    /// Added to the diagonal. Default 0.001, for `cosine` 0.1.
    pub ridge: Option<f64>,
}
