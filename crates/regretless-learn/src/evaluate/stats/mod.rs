//! What an evaluation says about a list of regrets, and whether two lists differ.
//!
//! [`Summary`], [`quantile`] and [`cvar`] describe one list, [`bootstrap_mean`] says how far its mean can be
//! trusted, [`bootstrap_blocks`] that of values which follow one another in time, [`paired_t`] and [`wilcoxon()`] compare two methods on the same instances, and [`holm()`] keeps the
//! error rate when several methods are compared at once. Conventions and values are those of NumPy and SciPy.

mod bootstrap;
mod error;
mod holm;
mod paired;
mod summary;
mod tail;
mod wilcoxon;

pub use bootstrap::{Resampled, bootstrap_blocks, bootstrap_mean};
pub use error::StatsError;
pub use holm::holm;
pub use paired::{PairedTest, paired_t};
pub use summary::{Summary, quantile};
pub use tail::cvar;
pub use wilcoxon::wilcoxon;
