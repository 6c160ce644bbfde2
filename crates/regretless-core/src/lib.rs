//! Soft-constrained LPs and QPs: their exact optimum, their surrogate optimum, and its gradient.
mod factor;
mod kernel;
mod linalg;
mod matrix;
mod newton;
mod path;
mod problem;
mod settle;
mod softened;
mod workspace;
pub use matrix::Matrix;
pub use problem::{Block, HardRows, Instance, Problem, ProblemBuilder, ProblemError, RowId, Sense, Shape, Soft, SoftRows, View};
pub use workspace::Work;
pub mod probe;
