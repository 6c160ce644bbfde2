//! How large penalties of hard rows have to be: the paper's evidence looked at again, and the rules side by side.

mod draw;
pub mod eigen;
mod fit;
mod table;

pub use draw::{Distribution, Draw};
pub use fit::Quadratic;
pub use table::{MultiplierRow, rows};
