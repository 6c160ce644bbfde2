//! What can go wrong with learning.

use std::path::{Path, PathBuf};

use regretless_core::{LossError, MultiplierError, ProblemError, ScenarioError};
use regretless_project::SpecError;
use thiserror::Error;

/// Why a run cannot go on. The display form is one line; [`LearnError::hint`] says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A problem file or a table.
    #[error("{0}")]
    Spec(#[from] Box<SpecError>),
    /// A loss that does not fit the problem, or bad input to it.
    #[error("{0}")]
    Loss(#[from] LossError),
    /// Scenarios that do not fit the problem.
    #[error("{0}")]
    Scenarios(#[from] ScenarioError),
    /// What the engine refused.
    #[error("{0}")]
    Problem(#[from] ProblemError),
    /// No multipliers for the hard rows.
    #[error("{0}")]
    Multipliers(#[from] MultiplierError),
    /// The settings ask for something that cannot be done.
    #[error("{what}")]
    Settings {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// Data that cannot be learned from.
    #[error("{what}")]
    Data {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A run directory or one of its files.
    #[error("{}: {what}", path.display())]
    Run {
        /// The directory or file.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// An event file that cannot be written.
    #[error("{0}")]
    Events(#[from] crate::tensorboard::EventError),
    /// Training ran away before anything usable was found.
    #[error("`{method}` diverged in epoch {epoch}: {what}")]
    Diverged {
        /// The method.
        method: String,
        /// The epoch.
        epoch: usize,
        /// What ran away.
        what: String,
    },
}

impl LearnError {
    /// What to do, if there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Spec(e) => e.hint.clone(),
            Self::Settings { hint, .. } | Self::Data { hint, .. } | Self::Run { hint, .. } => {
                Some(hint.clone()).filter(|h| !h.is_empty())
            }
            Self::Diverged { .. } => Some(
                "lower `learning_rate`, clip harder, or mix with L2 (add `+l2` to the method)".to_owned(),
            ),
            _ => None,
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn run(path: &Path, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Run { path: path.to_owned(), what: what.into(), hint: hint.into() }
    }
}
