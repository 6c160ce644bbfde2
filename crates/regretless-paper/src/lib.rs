//! The paper's three applications and its tables, with our figures beside the published ones.

mod error;
pub mod portfolio;
pub mod provisioning;
mod random;

pub use error::PaperError;
