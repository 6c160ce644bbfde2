//! Numbers in files: CSV and NPY, refused early when they are too large.

mod array;
mod cell;
mod lines;
mod npy;
mod open;
mod table;

pub use array::Array;
pub(crate) use cell::Allowed;
pub(crate) use open::read_text;
pub use table::ParameterTable;
