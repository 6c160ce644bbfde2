//! One module a command.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod schema;
pub(crate) mod solve;
