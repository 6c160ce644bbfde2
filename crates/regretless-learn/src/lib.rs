//! Train predictors on the decisions they cause.
//!
//! The way of the data: a [`Task`] is a problem with a [`Dataset`] of history, split and standardised, and [`Settings`]. A
//! [`Recipe`] says how one predictor is trained; [`Fit`] trains it: features → [`Predictor`] → parameters → decision loss →
//! gradient → back through the predictor → optimiser. A [`Trainer`] trains several and [`train`] keeps one of them, [`compare`]
//! sets methods side by side, [`judge`] decides for rows whose truth is known, and [`Stages`] is where a training is written
//! down so that it can be taken up again. Same seed, same numbers, whatever the number of threads. Nothing here knows of
//! problem files, options or how anything is shown.

mod boosting;
mod build;
mod checkpoint;
mod choose;
mod content;
mod dataset;
mod dataset_file;
mod decider;
mod epoch;
mod error;
mod exhibit;
mod files;
mod fit;
mod folds;
mod judge;
mod lesson;
mod measures;
mod model;
mod model_file;
mod numbers;
mod objective;
mod observer;
mod optimizer;
mod predictor;
mod progress;
mod random;
mod recipe;
mod regression;
mod scale;
mod scaler;
mod settings;
mod shard;
mod stages;
pub mod stats;
mod study;
mod suspicions;
mod task;
pub mod tensorboard;
mod trainer;
mod training;
mod transform;
pub mod unknown;

pub use choose::{Chosen, Tried, decision_methods, train};
pub use content::Content;
pub use dataset::{Dataset, Known, Names};
pub use decider::Decider;
pub use epoch::{Ended, Epoch, Fitted, Seconds};
pub use error::{Hint, LearnError, Setting};
pub use exhibit::{Activity, Exhibit};
pub use files::{write as write_whole, write_apart};
pub use fit::Fit;
pub use judge::{Judgement, judge};
pub use measures::{Measures, Tally};
pub use model::Model;
pub use model_file::ModelCard;
pub use numbers::{count, four, order, six, some_of};
pub use objective::{Objective, Step};
pub use observer::{Interrupt, Observer, Silent};
pub use optimizer::{Optimizer, clip};
pub use predictor::{
    Binned, Constant, Copied, Descend, DescentCopied, Embedding, Given, Joint, Linear, Mlp, MlpShape,
    Predictor, Pullback, Quantile, Shared, Slopes, Tree, Trees, Weights,
};
pub use random::stream;
pub use recipe::Recipe;
pub use scaler::Scaler;
pub use settings::{
    Activation, Base, Clip, Ensembles, ErrorWeights, Infeasible, Initial, Keep, MethodError, MethodName, Mix,
    Monotone, OptimizerKind, Part, PredictorKind, PredictorSettings, QuadraticForm, QuadraticSettings, Ramp,
    Regression, ScenarioSource, Scenarios, Schedule, Settings, Sharpness, Split, SplitKind, Stop,
    SurrogateSettings, TargetTransform, TrainingSettings, TreeBase, TreeSettings, Warmup, visible,
};
pub use shard::{Shard, ShardError};
pub use stages::Stages;
pub use study::{
    Comparison, Executor, Journal, Progress, Record, Row, StudyFolder, Threads, Trial, compare,
    default_methods, is_two_stage, plan, run, tasks, trial,
};
pub use suspicions::ENOUGH;
pub use task::{PredictorSource, Task};
pub use trainer::{Candidate, Trainer};
pub use training::{Outcome, train_task};
pub use transform::{Scale, Transform};
