//! Many trainings: what is done ([`trial`]), what is written down ([`Record`], [`Journal`]), who does it ([`Executor`]), and methods
//! side by side ([`compare`](fn@compare)).

mod compare;
mod executor;
mod journal;
mod record;

pub use compare::{Comparison, Progress, Row, compare, default_methods, is_two_stage};
pub use executor::{Executor, Threads};
pub use journal::Journal;
pub use record::{Record, trial};
