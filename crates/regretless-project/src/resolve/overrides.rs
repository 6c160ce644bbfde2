//! Settings from options, in place of those of the problem file.

use std::path::PathBuf;

use super::{Context, check_settings};
use crate::Spec;
use crate::error::Result;
use crate::file::{MixSetting, PredictorSection, SharpnessSetting};
use crate::key::Key;
use regretless_learn::{PredictorKind, Warmup};

/// Settings that take the place of those of the problem file; what is `None` stays.
///
/// They pass the same checks, and a message names the option: `--epochs` for `epochs`, `--learning-rate` for
/// `learning_rate`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// `training.method`.
    pub method: Option<String>,
    /// `training.epochs`.
    pub epochs: Option<usize>,
    /// `training.batch`.
    pub batch: Option<usize>,
    /// `training.learning_rate`.
    pub learning_rate: Option<f64>,
    /// `training.warmup`.
    pub warmup: Option<Warmup>,
    /// `training.mix`, a fixed weight.
    pub mix: Option<f64>,
    /// `training.seed`.
    pub seed: Option<u64>,
    /// `surrogate.k`: one value, or several to choose from.
    pub k: Option<Vec<f64>>,
    /// `predictor.layers`.
    pub layers: Option<Vec<usize>>,
    /// `data.file`: one table for all parts, in place of whatever the section names.
    pub data: Option<PathBuf>,
    /// `data.forecasts`: made elsewhere, in place of a predictor and of features.
    pub forecasts: Option<PathBuf>,
    /// `data.features`: the columns that were resolved, to be written down; nothing without `[data]`.
    pub features: Option<Vec<String>>,
    /// `data.groups`: the columns by which an account is told apart; nothing without `[data]`.
    pub groups: Option<Vec<String>>,
    /// `data.baseline`: the columns with decisions that others took; nothing without `[data]`.
    pub baseline: Option<Vec<String>>,
}

impl Spec {
    /// The problem with other settings.
    pub fn with_overrides(mut self, overrides: Overrides) -> Result<Self> {
        let mut options = Vec::new();
        let training = &mut self.sections.training;
        let mut set = |section: &str, key: &str, option: &'static str| {
            options.push((Key::new(section).key(key), option));
        };
        if let Some(method) = overrides.method {
            training.method = Some(method);
            set("training", "method", "--method");
        }
        if let Some(epochs) = overrides.epochs {
            training.epochs = Some(epochs);
            set("training", "epochs", "--epochs");
        }
        if let Some(batch) = overrides.batch {
            training.batch = Some(batch);
            set("training", "batch", "--batch");
        }
        if let Some(rate) = overrides.learning_rate {
            training.learning_rate = Some(rate);
            set("training", "learning_rate", "--learning-rate");
        }
        if let Some(warmup) = overrides.warmup {
            training.warmup = Some(warmup.into());
            set("training", "warmup", "--warmup");
        }
        if let Some(mix) = overrides.mix {
            training.mix = Some(MixSetting::Fixed(mix));
            set("training", "mix", "--mix");
        }
        if let Some(seed) = overrides.seed {
            training.seed = seed;
            set("training", "seed", "--seed");
        }
        if let Some(k) = overrides.k {
            self.sections.surrogate.k = Some(match *k {
                [k] => SharpnessSetting::Fixed(k),
                _ => SharpnessSetting::Grid(k),
            });
            set("surrogate", "k", "--k");
        }
        if let Some(layers) = overrides.layers {
            self.sections.predictor.layers = Some(layers);
            set("predictor", "layers", "--layers");
        }
        if let Some(file) = overrides.data {
            let data = self.sections.data.get_or_insert_default();
            (data.train, data.valid, data.test, data.memory) = (None, None, None, false);
            // The problem file's folder is not where the option was given.
            data.file = Some(std::path::absolute(&file).unwrap_or(file));
            set("data", "file", "--data");
        }
        if let Some(file) = overrides.forecasts {
            let data = self.sections.data.get_or_insert_default();
            data.features = None;
            data.forecasts = Some(std::path::absolute(&file).unwrap_or(file));
            let kind = Some(PredictorKind::Given);
            self.sections.predictor = PredictorSection { kind, ..PredictorSection::default() };
            set("data", "forecasts", "--forecasts");
        }
        if let (Some(features), Some(data)) = (overrides.features, &mut self.sections.data) {
            data.features = Some(crate::file::Selectors(features));
            set("data", "features", "--features");
        }
        if let (Some(groups), Some(data)) = (overrides.groups, &mut self.sections.data) {
            data.groups = crate::file::Selectors(groups);
            set("data", "groups", "--groups");
        }
        if let (Some(baseline), Some(data)) = (overrides.baseline, &mut self.sections.data) {
            data.baseline = crate::file::Selectors(baseline);
            set("data", "baseline", "--baseline");
        }
        let ctx = Context {
            text: self.sections.text.clone(),
            path: Some(&self.file),
            limits: &self.limits,
            options,
        };
        (self.settings, self.data) = check_settings(&ctx, &self.sections, &self.problem, &self.placed)?;
        Ok(self)
    }
}
