//! An error and its place.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

pub use crate::trouble::Trouble;

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
}

impl Place {
    /// The file concerned.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(file) | Self::Key { file, .. } | Self::Cell { file, .. } | Self::Row { file, .. } => {
                Some(file)
            }
            Self::Option(_) => None,
        }
    }

    /// The key concerned, if the place is in a problem file.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Key { key, .. } => key.as_deref(),
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

/// Text from a file, cut to a length that fits a message and without characters that command a terminal.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 160;
    let cut = if text.chars().nth(MOST).is_some() { "…" } else { "" };
    let visible = text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c });
    visible.take(MOST).chain(cut.chars()).collect()
}

/// `1 row`, `2 rows`.
pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_files_cannot_command_a_terminal() {
        assert_eq!(shorten("a\u{1b}[31m"), "a\u{fffd}[31m");
        assert_eq!(shorten(&"é".repeat(1000)).chars().count(), 161);
    }

    #[test]
    fn positions_count_characters() {
        assert_eq!(line_column("a\nθ = 1", 5), (2, 3));
        assert_eq!(line_column("", 9), (1, 1));
    }
}
