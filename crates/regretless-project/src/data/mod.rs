//! Numbers in files: CSV (plain or gzip), NPY and Parquet, refused early when they are too large.

mod array;
mod cell;
mod chunk;
mod csv;
mod frame;
mod inflate;
mod levels;
mod lines;
mod moment;
mod npy;
mod open;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_out;
mod reader;
mod table;

pub use array::Array;
pub(crate) use cell::Allowed;
pub use cell::Guess;
pub use chunk::Chunk;
pub(crate) use chunk::{Bad, Reads, Selection, Wanted};
pub use frame::{Column, Frame};
pub(crate) use inflate::inflate;
pub(crate) use levels::{Levels, MOST as MOST_LEVELS};
pub(crate) use moment::moment;
pub(crate) use open::{io_error, open, read_text};
#[cfg(feature = "parquet")]
pub use parquet_out::{OutColumn, ParquetOut};
pub(crate) use reader::FORECAST;
pub use reader::TableReader;
pub use table::ParameterTable;
