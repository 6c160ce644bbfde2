//! What can go wrong with learning.

use std::fmt;
use std::path::{Path, PathBuf};

use regretless_core::{LossError, MultiplierError, ProblemError, ScenarioError};
use thiserror::Error;

/// Why a run cannot go on. The display form is one line; [`LearnError::hint`] says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LearnError {
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
        hint: Hint,
    },
    /// Data that cannot be learned from.
    #[error("{what}")]
    Data {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: Hint,
    },
    /// A file of a training that cannot be used.
    #[error("{}: {what}", path.display())]
    Run {
        /// The file.
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
    pub fn hint(&self) -> Option<Hint> {
        let hint = match self {
            Self::Settings { hint, .. } | Self::Data { hint, .. } => hint.clone(),
            Self::Run { hint, .. } => hint.clone().into(),
            Self::Diverged { .. } => {
                "lower `learning_rate`, clip harder, or mix with L2 (add `+l2` to the method)".into()
            }
            _ => return None,
        };
        Some(hint).filter(|hint| !hint.text.is_empty())
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn run(path: &Path, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Run { path: path.to_owned(), what: what.into(), hint: hint.into() }
    }
}

/// A setting that would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Where it belongs: `training`, `predictor`, …
    pub section: &'static str,
    /// Its name.
    pub key: &'static str,
    /// The value, as JSON and TOML write it.
    pub value: &'static str,
}

/// What to do about an error. Where a setting would help, each face says in its own words how it is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// With `{}` where the setting goes.
    text: String,
    setting: Option<Setting>,
}

impl Hint {
    /// A hint that names a setting; `{}` in the text stands for it.
    pub(crate) fn set(text: &str, section: &'static str, key: &'static str, value: &'static str) -> Self {
        Self { text: text.to_owned(), setting: Some(Setting { section, key, value }) }
    }

    /// The hint, with `told` saying how a setting is set.
    ///
    /// ```
    /// let hint = regretless_learn::Hint::from("give more data");
    /// assert_eq!(hint.tell(|s| format!("{}={}", s.key, s.value)), "give more data");
    /// ```
    pub fn tell(&self, told: impl Fn(&Setting) -> String) -> String {
        self.setting.as_ref().map_or_else(|| self.text.clone(), |s| self.text.replace("{}", &told(s)))
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tell(|Setting { key, value, .. }| format!("`{key} = {value}`")))
    }
}

impl<T: Into<String>> From<T> for Hint {
    fn from(text: T) -> Self {
        Self { text: text.into(), setting: None }
    }
}
