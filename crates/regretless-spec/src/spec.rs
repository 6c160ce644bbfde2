//! The checked problem file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use regretless_core::{Problem, Rule, SurrogateOptions};

use crate::data::{ParameterTable, read_text};
use crate::error::Result;
use crate::{Limits, Predicted, resolve};

/// A checked problem file: the problem, what of it is predicted, and the settings.
#[derive(Clone, Debug)]
pub struct Spec {
    pub(crate) file: PathBuf,
    pub(crate) name: Option<String>,
    pub(crate) problem: Problem,
    pub(crate) predicted: Vec<Predicted>,
    pub(crate) surrogate: SurrogateSettings,
    pub(crate) limits: Limits,
}

/// How the problem is softened and smoothed.
#[derive(Clone, Debug)]
pub struct SurrogateSettings {
    /// Sharpness and segments.
    pub options: SurrogateOptions,
    /// How the penalties of hard rows are found.
    pub rule: Rule,
}

impl Spec {
    /// Reads and checks a problem file and the files it names.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_within(path, &Limits::default())
    }

    /// [`Spec::read`] with other limits.
    pub fn read_within(path: impl AsRef<Path>, limits: &Limits) -> Result<Self> {
        let path = path.as_ref();
        let text = read_text(path, limits.problem_bytes)?;
        resolve::resolve(text, path, limits)
    }

    /// Checks a problem file's text. `path` is for messages and for finding the files the text names.
    pub fn parse(text: impl Into<Arc<str>>, path: impl AsRef<Path>, limits: &Limits) -> Result<Self> {
        resolve::resolve(text.into(), path.as_ref(), limits)
    }

    /// The problem file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The problem's name, if the file gives one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The problem. Predicted parts hold placeholders: 0, and no bound for predicted bounds.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The predicted parts, in the order of the file; empty if everything is known.
    pub fn predicted(&self) -> &[Predicted] {
        &self.predicted
    }

    /// How the problem is softened and smoothed.
    pub fn surrogate(&self) -> &SurrogateSettings {
        &self.surrogate
    }

    /// Reads the predicted parts' columns from a CSV file with a header and one row an instance.
    pub fn read_parameters(&self, path: impl AsRef<Path>) -> Result<ParameterTable> {
        ParameterTable::read(path.as_ref(), self, &self.limits)
    }
}
