//! What is learned from: tables in memory, the scale of their columns, and what in them looks wrong.

pub(crate) mod dataset;
pub(crate) mod dataset_file;
pub(crate) mod scaler;
pub(crate) mod suspicions;
pub(crate) mod transform;
