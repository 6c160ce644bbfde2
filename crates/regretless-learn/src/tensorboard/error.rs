//! Why an event file could not be used.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why an event file could not be used.
#[derive(Debug, Error)]
pub enum EventError {
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The file to resume does not begin as an event file does; it is left as it was.
    #[error("{}: not a TensorBoard event file (no \"brain.Event:2\" at its start)", path.display())]
    NotEvents {
        /// The file.
        path: PathBuf,
    },
}

impl EventError {
    /// For `map_err`: ties an I/O error to its path.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}
