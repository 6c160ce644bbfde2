//! The scoreboard: how good decisions are, by a protocol that is written down in `docs/quality.md` and not changed to please.
//!
//! A [`Cell`] is a task in one setting with one draw of its data; a [`Suite`] makes a [`Question`] of it. A [`Contender`] is what
//! decides. [`run`](fn@run) does what is not among the [`Results`] yet, one line for each; [`board`](fn@board) makes the [`Row`]s of
//! the tables of them. Nothing is chosen by what a test part says.

pub mod applied;
mod board;
mod contender;
mod error;
mod given;
mod late;
pub mod newsvendor;
pub mod paths;
mod plan;
mod published;
mod record;
mod run;
mod saa;
mod sheet;
mod suite;

pub use board::{Board, Row, Verdict, board};
pub use contender::{Contender, Fit, How};
pub use error::BenchmarkError;
pub use given::export;
pub use plan::{Plan, Trial, Wanted, plan};
pub use record::{Record, Results};
pub use run::{Progress, run, run_trials};
pub use suite::{Cell, Published, Question, Suite, suites};
