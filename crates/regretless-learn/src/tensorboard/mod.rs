//! Scalars for TensorBoard: an event file is a sequence of TFRecords (`record.rs`), each an `Event` message
//! (`event.rs`), guarded by CRC-32C (`crc32c.rs`).

mod crc32c;
mod error;
mod event;
mod record;
mod writer;

pub use error::EventError;
pub use writer::{EventWriter, event_files};
