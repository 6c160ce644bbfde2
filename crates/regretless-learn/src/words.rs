//! Statuses in words.

use regretless_core::Status;

/// A status in one word.
pub fn status(status: &Status) -> &'static str {
    match status {
        Status::Optimal => "optimal",
        Status::Infeasible { .. } => "infeasible",
        Status::Unbounded { .. } => "unbounded",
        Status::NumericalTrouble => "numerical-trouble",
    }
}
