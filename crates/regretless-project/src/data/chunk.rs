//! What is read of a table at a time, and what may stand in it.

use super::cell::Allowed;
use crate::error::Trouble;

/// Rows of a table: the selected columns of some consecutive ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// Rows in this chunk.
    pub rows: usize,
    /// The selected columns, row after row; NaN where a cell holds no value.
    pub values: Vec<f64>,
    /// The selected text columns, one list a column; empty where a cell holds no text.
    pub texts: Vec<Vec<String>>,
    /// The line that each row stands on, counted from 1; the row itself for formats without lines.
    pub lines: Vec<u64>,
}

/// The columns to read, and how many entries in all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    pub(crate) columns: Vec<Wanted>,
    pub(crate) texts: Vec<usize>,
    /// The most entries over all chunks, for who keeps them all.
    pub(crate) entries: Option<usize>,
}

/// A column of numbers: where it is and what it may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) index: usize,
    /// Which numbers; `None` for any.
    pub(crate) allowed: Option<Allowed>,
    /// Whether a cell may hold no value.
    pub(crate) missing: bool,
}

impl Selection {
    /// Rows of a chunk: few if the table is wide, so that a chunk takes megabytes and not gigabytes.
    pub(super) fn rows(&self, most: usize) -> usize {
        const ENTRIES: usize = 1 << 20;
        most.min(ENTRIES / (self.columns.len() + self.texts.len()).max(1)).max(1)
    }
}

impl Wanted {
    /// The number of a cell, NaN if it holds none and need not, or what is wrong with it.
    pub(super) fn check(self, cell: Result<f64, Trouble>) -> Result<f64, Trouble> {
        let empty = match &cell {
            Ok(v) => v.is_nan(),
            Err(Trouble::EmptyCell) => true,
            Err(Trouble::NotANumber(text)) => matches!(text.as_str(), "NA" | "N/A" | "null"),
            Err(_) => false,
        };
        if empty && self.missing {
            return Ok(f64::NAN);
        }
        let value = cell?;
        self.allowed.map_or(Ok(()), |allowed| allowed.check(value)).map(|()| value)
    }
}
