//! Many trainings: what is done ([`trial`]), what is written down ([`Record`], [`Journal`]), who does it ([`Executor`]), and methods
//! side by side ([`compare`](fn@compare)), in one process or over the files of a [`StudyFolder`].

mod compare;
mod executor;
mod folder;
mod journal;
mod plan;
mod record;
mod table;

pub use compare::{Progress, compare, compare_origins, default_methods};
pub use executor::{Executor, Threads};
pub use folder::StudyFolder;
pub use journal::Journal;
pub use plan::{Trial, plan, run, tasks};
pub use record::{Record, trial};
pub use table::{Comparison, Row, is_two_stage};
