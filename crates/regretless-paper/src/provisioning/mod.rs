//! Resource provisioning: predict the load of eight regions over a day.
//!
//! The decision x shares one unit of supply among the regions so that in each of 24 hours the load it serves, Cx, is close to
//! a wanted d: `min over·max(Cx − d, 0) + under·max(d − Cx, 0)`, `1ᵀx = 1`, `x ≥ 0`. The loads C are predicted from the
//! calendar, the temperature and the loads of the day before.

mod application;
mod calendar;
mod features;
mod load;
mod network;
mod problem;
mod simulated;
mod windows;

pub use application::Provisioning;
pub use calendar::{Date, HOLIDAYS};
pub use features::{FEATURES, Hourly, HourlySettings};
pub use load::{Hour, Load, REGIONS};
pub use problem::{RATIOS, limits, problem};
pub use windows::{Parts, WINDOW, hours_of, loads, windows};
