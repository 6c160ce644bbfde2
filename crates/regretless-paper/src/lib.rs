//! The paper's three applications and its tables, with our figures beside the published ones.
//!
//! An [`Application`] makes a task of each cell (a size, a number of samples) and seed. [`run`] trains every method on every
//! task and writes each training down as it finishes; [`rows`] makes the rows of the tables of them.

pub mod application;
mod error;
pub mod multipliers;
pub mod portfolio;
mod profile;
pub mod provisioning;
pub mod published;
pub mod random;
mod record;
mod rows;
mod study;
pub mod synthetic;

pub use application::{Application, Cell, Contender, Predictor};
pub use error::PaperError;
pub use profile::Profile;
pub use record::{Origin, Record, Results};
pub use rows::{Row, rows};
pub use study::{Plan, Progress, Trial, run, run_trials};
