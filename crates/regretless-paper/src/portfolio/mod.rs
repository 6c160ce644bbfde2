//! Portfolio selection: predict the returns and the risk of equities.
//!
//! [`Prices`] are read or simulated, a [`Panel`] has the features and the returns to come of every equity on every date,
//! and [`Constraints`] with [`similarity`] and [`problem`](fn@problem) state the decision that is taken each day.

mod application;
mod calendar;
mod panel;
mod prices;
mod problem;
mod quotes;
mod simulated;
mod squashed;

pub use application::Portfolio;
pub use panel::{FEATURES, NEXT, Panel};
pub use prices::{MISADJUSTED, Prices};
pub use problem::{Constraints, problem, similarity};
