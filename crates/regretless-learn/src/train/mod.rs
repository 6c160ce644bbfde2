//! One predictor trained: gradients of an objective, steps down or rounds of trees, epochs, checkpoints.

pub(crate) mod boosting;
pub(crate) mod checkpoint;
pub(crate) mod epoch;
pub(crate) mod fit;
pub(crate) mod lesson;
pub(crate) mod objective;
pub(crate) mod observer;
pub(crate) mod optimizer;
pub(crate) mod progress;
pub(crate) mod recorder;
pub(crate) mod sharpness;
pub(crate) mod stages;
