//! The engine: one instance's rows with their multiplier laws, and the ways to its optimum.
//!
//! A parametric active-set method (a *homotopy*): from a solved θ₀ the optimum is followed to the new θ, piece by piece
//! (`path`). Where that fails `newton` is asked, then [`reference`](mod@reference) (`fallback` is the order of asking).

pub(crate) mod accuracy;
pub(crate) mod capped;
pub(crate) mod clock;
pub(crate) mod fallback;
pub(crate) mod hinges;
pub(crate) mod interior_point;
pub(crate) mod newton;
pub(crate) mod path;
pub(crate) mod penalty;
pub(crate) mod pieces;
pub(crate) mod pinv;
pub(crate) mod pivot;
pub(crate) mod pool;
pub mod reference;
pub(crate) mod regularise;
pub(crate) mod residual;
pub(crate) mod rows;
pub(crate) mod scaling;
pub(crate) mod simd;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod terms;
pub(crate) mod tolerance;
pub(crate) mod workspace;

pub use accuracy::Accuracy;
pub use clock::Nanos;
pub use rows::Piece;
pub use status::{Link, SurrogateStatus};
pub use stop::{Progress, Stop};
pub use workspace::Work;
