//! The compiled half of the Python package `regretless`: arrays in, arrays out, nothing decided here.
//!
//! Python owns shapes, names and documentation (`python/regretless`); this crate takes C-contiguous `float64` arrays with one row
//! an instance, works without the interpreter's lock, and returns arrays.

// Arguments that come from Python are owned: that is how they are taken over.
#![allow(clippy::needless_pass_by_value)]

mod arrays;
mod compare;
mod data;
mod error;
mod judge;
mod learner;
mod loss;
mod multipliers;
mod problem;
mod project;
mod run;
mod sharpness;
mod stated;
mod study;
mod surrogate;

use pyo3::prelude::*;

#[pymodule]
mod _regretless {
    #[pymodule_export]
    use crate::compare::Comparison;
    #[pymodule_export]
    use crate::data::Data;
    #[pymodule_export]
    use crate::data::read_table;
    #[pymodule_export]
    use crate::judge::Judge;
    #[pymodule_export]
    use crate::learner::Learner;
    #[pymodule_export]
    use crate::loss::{Loss, methods, mix, placed};
    #[pymodule_export]
    use crate::multipliers::multipliers;
    #[pymodule_export]
    use crate::problem::Problem;
    #[pymodule_export]
    use crate::project::{Project, read_run, report};
    #[pymodule_export]
    use crate::sharpness::sharpness;
    #[pymodule_export]
    use crate::study::Study;
    #[pymodule_export]
    use crate::surrogate::{Solutions, Surrogate};
    #[pymodule_export]
    #[allow(non_upper_case_globals)] // Python's name for it.
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
