//! Soft-constrained LPs and QPs: their exact optimum, their surrogate optimum, and its gradient.
mod batch;
mod clock;
mod exact;
mod factor;
mod gradient;
mod kernel;
mod linalg;
mod matrix;
mod multipliers;
mod newton;
mod optimum;
mod oracle;
mod path;
mod pool;
mod problem;
mod pseudo;
pub mod reference;
mod settle;
mod softened;
mod solution;
mod store;
mod surrogate;
mod workspace;
pub use clock::Nanos;
pub use gradient::Gradients;
pub use matrix::Matrix;
pub use multipliers::{Certificate, MultiplierError, Multipliers, Refusal, Rule};
pub use optimum::{Link, Optimum, RowValues, Status};
pub use oracle::Oracle;
pub use problem::{
    Block, HardRows, Instance, Problem, ProblemBuilder, ProblemError, RowId, Sense, Shape, Soft, SoftRows,
    View,
};
pub use softened::Piece;
pub use solution::{Solution, SurrogateStatus};
pub use store::Store;
pub use surrogate::{Segments, Surrogate, SurrogateOptions};
pub use workspace::Work;
