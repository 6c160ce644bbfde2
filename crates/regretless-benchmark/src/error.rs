//! What can go wrong, with what to do about it.

use std::path::{Path, PathBuf};

use regretless_learn::LearnError;
use regretless_paper::PaperError;
use thiserror::Error;

/// Why something could not be measured. The display form is one line; [`BenchmarkError::hint`] says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchmarkError {
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
    /// An application of the paper that cannot be had.
    #[error(transparent)]
    Paper(#[from] PaperError),
    /// Training that cannot be done.
    #[error(transparent)]
    Learn(#[from] LearnError),
}

impl BenchmarkError {
    pub(crate) fn file(path: &Path, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), what: what.into(), hint: hint.into() }
    }

    /// What to do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File { hint, .. } | Self::Settings { hint, .. } => Some(hint.clone()),
            Self::Paper(error) => error.hint(),
            Self::Learn(error) => error.hint().map(|hint| hint.to_string()),
        }
    }
}
