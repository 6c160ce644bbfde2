//! What is learned from: tables in memory, what their columns hold and become, and what in them looks wrong.

pub(crate) mod dataset;
pub(crate) mod dataset_file;
pub(crate) mod encoder;
pub(crate) mod kind;
pub(crate) mod levels;
pub(crate) mod origins;
pub(crate) mod past;
pub(crate) mod scaler;
pub(crate) mod series;
pub(crate) mod split;
pub(crate) mod suspicions;
pub(crate) mod transform;
