//! What can go wrong, with what to do about it.

use std::path::{Path, PathBuf};

use regretless_spec::SpecError;
use thiserror::Error;

/// Why an application could not be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PaperError {
    /// A file or folder that cannot be used.
    #[error("{}: {what}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// A wish that cannot be fulfilled.
    #[error("{what}")]
    Settings {
        /// What is wrong.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// A table that cannot be read.
    #[error(transparent)]
    Table(#[from] Box<SpecError>),
}

impl PaperError {
    pub(crate) fn file(path: &Path, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), what: what.into(), hint: hint.into() }
    }
}
