//! Exact solves: one instance or thousands, cold or from where an id was solved last.

pub(crate) mod active_set;
pub(crate) mod batch;
pub(crate) mod codec;
pub(crate) mod crossover;
pub(crate) mod exact;
pub(crate) mod exact_solver;
pub(crate) mod optimum;
pub(crate) mod oracle;
pub(crate) mod pace;
pub(crate) mod par;
pub(crate) mod redundant;
pub(crate) mod store;
pub(crate) mod vertices;

pub use codec::SavedError;
pub use exact_solver::{Exact, ExactSolver};
pub use optimum::{Optimum, Status};
pub use oracle::Oracle;
pub use pace::Pace;
pub use par::Par;
pub use store::Store;
