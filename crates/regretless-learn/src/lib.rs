//! Train predictors on the decisions they cause.
//!
//! The way of the data: a [`Task`] is a problem file with its table of history, split and standardised. A [`Recipe`] says
//! how one predictor is trained; [`Fit`] trains it: features → [`Predictor`] → parameters → decision loss → gradient →
//! back through the predictor → optimiser. A [`Study`] trains several and [`train`] keeps one of them, [`compare`] sets
//! methods side by side, [`judge`] decides for rows whose truth is known, and a [`Run`] is the directory in which all of it
//! is written down. Same seed, same numbers, whatever the number of threads.

mod build;
mod checkpoint;
mod choose;
mod compare;
mod dataset;
mod decider;
mod epoch;
mod error;
mod exhibit;
mod files;
mod fit;
mod folds;
mod judge;
mod measures;
mod model;
mod model_file;
mod objective;
mod observer;
mod optimizer;
mod predictor;
mod progress;
mod random;
mod recipe;
mod regression;
mod run;
mod scale;
mod scaler;
pub mod stats;
mod study;
mod suspicions;
mod task;
pub mod tensorboard;
mod training;
mod transform;
mod unknown;

pub use choose::{Chosen, Tried, decision_methods, train};
pub use compare::{Comparison, Entry, Progress, Row, compare, default_methods, is_two_stage};
pub use dataset::{Dataset, fingerprint};
pub use decider::Decider;
pub use epoch::{Ended, Epoch, Fitted, Seconds};
pub use error::LearnError;
pub use exhibit::{Activity, Exhibit};
pub use fit::Fit;
pub use judge::{Judgement, judge};
pub use measures::{Measures, Tally};
pub use model::Model;
pub use model_file::ModelCard;
pub use objective::{Objective, Step};
pub use observer::{Interrupt, Observer, Silent};
pub use optimizer::{Optimizer, clip};
pub use predictor::{Constant, Embedding, Joint, Mlp, MlpShape, Predictor, Pullback, Shared, Weights};
pub use random::stream;
pub use recipe::Recipe;
pub use regretless_project::{Activation, Initial, QuadraticForm};
pub use run::{Environment, Run};
pub use scaler::Scaler;
pub use study::{Candidate, Study};
pub use suspicions::ENOUGH;
pub use task::{PredictorSource, Task, layout};
pub use training::{Outcome, train_new, train_on};
pub use transform::{Scale, Transform};
