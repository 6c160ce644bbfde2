//! Train predictors on the decisions they cause.
//!
//! The way of the data: a [`Task`] is a problem with a [`Dataset`] of history, split and standardised, and [`Settings`]. A
//! [`Recipe`] says how one predictor is trained; [`Fit`] trains it: features → [`Predictor`] → parameters → decision loss →
//! gradient → back through the predictor → optimiser. A [`Trainer`] trains several and [`train`] keeps one of them, [`compare`]
//! sets methods side by side, [`judge`] decides for rows whose truth is known, and [`Stages`] is where a training is written
//! down so that it can be taken up again. Same seed, same numbers, whatever the number of threads. Nothing here knows of
//! problem files, options or how anything is shown.

mod content;
mod data;
mod error;
mod evaluate;
mod files;
mod forecast;
mod model;
mod numbers;
mod predictor;
mod random;
mod regression;
mod select;
mod settings;
mod shard;
mod study;
mod task;
pub mod tensorboard;
mod train;
pub mod unknown;

pub use content::Content;
pub use data::dataset::{Dataset, Known, Names};
pub use data::encoder::{Encoder, Encoding};
pub use data::kind::{DatePart, Kind, NEW, civil, days};
pub use data::past::{Lag, Lags, Look, Past, Twice};
pub use data::scaler::Scaler;
pub use data::series::Series;
pub use data::suspicions::ENOUGH;
pub use data::transform::{Scale, Transform};
pub use error::{Hint, LearnError, Setting};
pub use evaluate::account::{
    Account, Audited, Auditor, Bound, Group, Grouping, HardRow, Importance, Money, QuantityError, Rival,
    Side, SoftRow, Worth,
};
pub use evaluate::calibration::Calibration;
pub use evaluate::exhibit::{Activity, Exhibit};
pub use evaluate::judge::{Judgement, judge};
pub use evaluate::measures::{Measures, RiskMeasures, Tally};
pub use evaluate::stats;
pub use files::{write as write_whole, write_apart};
pub use forecast::Source as ScenarioMaker;
pub use model::Model;
pub use model::combination::{Averaged, Combination, Partner};
pub use model::decider::Decider;
pub use model::file::ModelCard;
pub use numbers::{count, four, order, six, some_of};
pub use predictor::{
    Binned, Constant, Copied, Descend, DescentCopied, Embedding, Given, Joint, Linear, Mlp, MlpShape,
    Predictor, Pullback, Quantile, Shared, Slopes, Tree, Trees, Weights,
};
pub use random::stream;
pub use select::choose::{Chosen, Gap, Tried, decision_methods, train};
pub use select::recipe::Recipe;
pub use select::trainer::{Candidate, Trainer};
pub use select::training::{Outcome, Trained, train_task};
pub use settings::{
    Activation, Base, Clip, Ensembles, ErrorWeights, Infeasible, Initial, Keep, MethodError, MethodName, Mix,
    Monotone, OptimizerKind, Part, PredictorBase, PredictorKind, PredictorSettings, QuadraticForm,
    QuadraticSettings, Ramp, Regression, RiskSettings, ScenarioSource, Scenarios, Schedule, Settings,
    Sharpness, Split, SplitKind, Stop, SurrogateSettings, TargetTransform, Timed, TrainingSettings,
    TreeSettings, Warmup, visible,
};
pub use shard::{Shard, ShardError};
pub use study::{
    Comparison, Executor, Journal, Progress, Record, Row, StudyFolder, Threads, Trial, compare,
    compare_origins, default_methods, is_two_stage, plan, run, tasks, trial,
};
pub use task::{PredictorSource, Task};
pub use train::epoch::{Ended, Epoch, Fitted, Seconds};
pub use train::fit::Fit;
pub use train::objective::{Objective, Step};
pub use train::observer::{Interrupt, Observer, Silent};
pub use train::optimizer::{Optimizer, clip};
pub use train::stages::Stages;
