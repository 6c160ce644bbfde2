//! One module a command.

mod backtest;
pub(crate) mod benchmark;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod decide;
pub(crate) mod evaluate;
pub(crate) mod new;
pub(crate) mod paper;
pub(crate) mod report;
pub(crate) mod schema;
pub(crate) mod solve;
pub(crate) mod study;
pub(crate) mod train;
