//! An error and its place.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

pub use crate::trouble::Trouble;
pub(crate) use regretless_learn::{count, visible as shorten};

/// Short for results whose error is a boxed [`SpecError`].
pub type Result<T> = std::result::Result<T, Box<SpecError>>;

/// Bad input: where, what, and what to do about it.
///
/// The display form is one line, `file:line:column: key: what is wrong`; the hint is kept apart so that a
/// front end can set it off.
#[derive(Debug, Error)]
#[error("{place}: {problem}")]
pub struct SpecError {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub problem: Trouble,
    /// What to do.
    pub hint: Option<String>,
}

impl SpecError {
    pub(crate) fn new(place: Place, problem: Trouble) -> Box<Self> {
        Box::new(Self { place, problem, hint: None })
    }

    pub(crate) fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hint = Some(hint.into());
        self
    }
}

/// Why a project cannot be read, trained or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// A problem file or a table.
    #[error("{0}")]
    Spec(#[from] Box<SpecError>),
    /// Learning.
    #[error("{0}")]
    Learn(#[from] regretless_learn::LearnError),
    /// A page that cannot be written.
    #[error("{0}")]
    Report(#[from] regretless_report::ReportError),
    /// A run directory or one of its files.
    #[error("{}: {trouble}", path.display())]
    Run {
        /// The directory or file.
        path: PathBuf,
        /// What is wrong with it.
        trouble: RunTrouble,
    },
    /// Predicted parts and no values for them.
    #[error("{file} {parts}, and no values are given")]
    NeedsParameters {
        /// The problem file.
        file: String,
        /// What is predicted and what is known by row, in words.
        parts: String,
        /// What a table must hold, a line each.
        needs: String,
    },
    /// A table and nothing that is predicted.
    #[error("{file} predicts nothing, so the table would not be used")]
    NothingPredicted {
        /// The problem file.
        file: String,
    },
    /// A row that the table does not have.
    #[error("row {row} does not exist: {file} has {rows}, counted from 0")]
    NoSuchRow {
        /// The row.
        row: usize,
        /// The table.
        file: String,
        /// How many it has.
        rows: String,
    },
    /// What the engine refused.
    #[error("{file}: {source}")]
    Problem {
        /// The problem file.
        file: String,
        /// What it said.
        source: regretless_core::ProblemError,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

impl ProjectError {
    pub(crate) fn needs_parameters(spec: &crate::Spec) -> Self {
        let keys = |all: Vec<&crate::Selection>| {
            all.iter().map(|part| format!("`{}`", part.key)).collect::<Vec<_>>().join(", ")
        };
        let (predicted, known) = (keys(spec.predicted()), keys(spec.known()));
        let parts = match (predicted.is_empty(), known.is_empty()) {
            (_, true) => format!("predicts {predicted}"),
            (true, false) => format!("knows {known} by row"),
            (false, false) => format!("predicts {predicted} and knows {known} by row"),
        };
        let needs: Vec<_> = spec.placed().selections.iter().map(|p| format!("  {}", p.needs())).collect();
        Self::NeedsParameters { file: spec.file().display().to_string(), parts, needs: needs.join("\n") }
    }

    pub(crate) fn run(path: &Path, trouble: RunTrouble) -> Self {
        Self::Run { path: path.to_owned(), trouble }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// What is wrong with a run directory.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunTrouble {
    /// A new run needs a directory of its own.
    #[error("the directory is not empty")]
    NotEmpty {
        /// True if a run is in it.
        resumable: bool,
    },
    /// Something else is in it.
    #[error("this is not a run directory")]
    NotARun,
    /// There is nothing.
    #[error("there is no such directory")]
    NoDirectory,
    /// Another version wrote it.
    #[error("the run has {}, this program reads format {read}", found.map_or_else(|| "an unknown format".to_owned(), |f| format!("format {f}")))]
    Format {
        /// The format it has.
        found: Option<u64>,
        /// The format that is read.
        read: u32,
    },
    /// Training did not come to an end.
    #[error("the run has no model yet")]
    NoModel,
    /// Another process holds it.
    #[error("another process is working on this run")]
    Busy,
    /// A file that is not what it should be.
    #[error("the file cannot be read: {0}")]
    Unreadable(String),
    /// A file that cannot be made.
    #[error("the file cannot be written: {0}")]
    Unwritable(String),
}

/// Where the trouble is.
#[derive(Clone, Debug)]
pub enum Place {
    /// A file as a whole.
    File(PathBuf),
    /// A place in a problem file.
    Key {
        /// The problem file.
        file: PathBuf,
        /// The key, such as `soft[0].limit`; `None` if the text is not TOML.
        key: Option<String>,
        /// The bytes of `text` concerned.
        span: Option<Range<usize>>,
        /// The problem file's text, to quote from.
        text: Arc<str>,
    },
    /// A line or cell of a table.
    Cell {
        /// The table.
        file: PathBuf,
        /// Line, counted from 1 as editors do.
        line: u64,
        /// Column, counted from 1, and its name where the table has a header.
        column: Option<(usize, Option<String>)>,
    },
    /// A row or cell of a table without lines.
    Row {
        /// The table.
        file: PathBuf,
        /// Row, counted from 1.
        row: u64,
        /// Column, counted from 1, and its name.
        column: Option<(usize, Option<String>)>,
    },
    /// An option that overrides the problem file, such as `--epochs`.
    Option(&'static str),
    /// A setting that comes from no file, such as `training.epochs`.
    Setting(String),
}

impl Place {
    /// The file concerned.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(file) | Self::Key { file, .. } | Self::Cell { file, .. } | Self::Row { file, .. } => {
                Some(file)
            }
            Self::Option(_) | Self::Setting(_) => None,
        }
    }

    /// The key concerned, if the place is in a problem file.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Key { key, .. } => key.as_deref(),
            Self::Setting(key) => Some(key),
            _ => None,
        }
    }

    /// The column of a table, counted from 0.
    pub(crate) fn column(&self) -> Option<usize> {
        match self {
            Self::Cell { column, .. } | Self::Row { column, .. } => column.as_ref().map(|(i, _)| i - 1),
            _ => None,
        }
    }

    /// Line and column in the text, counted from 1; the column is in characters.
    pub fn position(&self) -> Option<(u64, usize)> {
        match self {
            Self::Key { span: Some(span), text, .. } => Some(line_column(text, span.start)),
            Self::Cell { line, column, .. } => Some((*line, column.as_ref().map_or(1, |c| c.0))),
            _ => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = self.file() {
            write!(f, "{}", file.display())?;
        }
        match self {
            Self::File(_) => Ok(()),
            Self::Option(option) => f.write_str(option),
            Self::Setting(key) => f.write_str(key),
            Self::Key { key, .. } => {
                if let Some((line, column)) = self.position() {
                    write!(f, ":{line}:{column}")?;
                }
                key.as_ref().map_or(Ok(()), |key| write!(f, ": {key}"))
            }
            Self::Cell { line: number, column, .. } | Self::Row { row: number, column, .. } => {
                let unit = if matches!(self, Self::Row { .. }) { "row" } else { "line" };
                write!(f, ", {unit} {number}")?;
                match column {
                    Some((i, Some(name))) => write!(f, ", column {i} (`{name}`)"),
                    Some((i, None)) => write!(f, ", column {i}"),
                    None => Ok(()),
                }
            }
        }
    }
}

fn line_column(text: &str, offset: usize) -> (u64, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let (line, last) = before.split(|&b| b == b'\n').enumerate().last().unwrap_or((0, &[]));
    // Bytes that are not continuation bytes are characters.
    let column = last.iter().filter(|&&b| b & 0xC0 != 0x80).count() + 1;
    (line as u64 + 1, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        assert_eq!(line_column("a\nθ = 1", 5), (2, 3));
        assert_eq!(line_column("", 9), (1, 1));
    }
}
