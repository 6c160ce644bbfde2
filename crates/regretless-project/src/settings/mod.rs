//! Settings of data, predictor and training: checked, with every default filled in.

mod dataset;
mod method;
mod predictor;
mod training;
mod words;

pub use dataset::{DataFiles, DataSettings, Missing, Part, Split, SplitKind};
pub use method::{Method, MethodError, MethodName};
pub use predictor::{
    Activation, Initial, PredictorKind, PredictorSettings, QuadraticForm, QuadraticSettings,
};
pub use training::{
    Clip, Infeasible, Keep, Mix, Optimizer, Ramp, Regression, ScenarioSource, Scenarios, Schedule, Sharpness,
    Stop, TrainingSettings, Weights,
};
