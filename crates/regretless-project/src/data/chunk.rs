//! What is read of a table at a time, and what may stand in it.

use regretless_learn::NEW;

use super::cell::{self, Allowed};
use super::levels::{Later, Levels, level};
use super::moment::moment;
use crate::error::{Trouble, shorten};

/// Rows of a table: the selected columns of some consecutive ones.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Rows in this chunk.
    pub rows: usize,
    /// The selected columns, row after row; NaN where a cell holds no value.
    pub values: Vec<f64>,
    /// The selected text columns, one list a column; empty where a cell holds no text.
    pub texts: Vec<Vec<String>>,
    /// The line that each row stands on, counted from 1; the row itself for formats without lines.
    pub lines: Vec<u64>,
    /// What is wrong with which rows, ascending.
    pub(crate) bad: Vec<Bad>,
}

/// A row that cannot be used: it has a cell that holds something else than it should, or is no row.
#[derive(Debug)]
pub(crate) struct Bad {
    /// The row of the chunk.
    pub(crate) row: usize,
    /// The column, if one is to blame.
    pub(crate) column: Option<usize>,
    pub(crate) trouble: Trouble,
}

/// The columns to read, and how many entries in all.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) columns: Vec<Wanted>,
    pub(crate) texts: Vec<usize>,
    /// The levels of the columns that have some.
    pub(crate) levels: Vec<Levels>,
    /// The most entries over all chunks, for who keeps them all.
    pub(crate) entries: Option<usize>,
    /// What a row takes beside its columns, as entries.
    pub(crate) besides: usize,
    /// Whether a row that cannot be used is one of many, and not the end.
    pub(crate) lenient: bool,
}

/// A column that is read: where it is and what its cells are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) index: usize,
    pub(crate) reads: Reads,
}

/// What the cells of a column are read as.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reads {
    /// Numbers.
    Number {
        /// Which ones; `None` for any.
        allowed: Option<Allowed>,
        /// Whether a cell may hold no value.
        missing: bool,
    },
    /// The numbers of levels, those of one of the columns that have some.
    Level(usize),
    /// Seconds since the beginning of 1970.
    Moment,
}

impl Selection {
    /// Rows of a chunk: few if the table is wide, so that a chunk takes megabytes and not gigabytes.
    pub(super) fn rows(&self, most: usize) -> usize {
        const ENTRIES: usize = 1 << 20;
        most.min(ENTRIES / (self.columns.len() + self.texts.len()).max(1)).max(1)
    }

    /// What a piece of the table needs for levels that are new in it.
    pub(super) fn later(&self) -> Vec<Later> {
        self.levels.iter().map(|_| Later::default()).collect()
    }

    /// Gives levels that were new in a piece their numbers, in the order of the rows.
    pub(super) fn settle(&mut self, values: &mut [f64], later: &[Later]) {
        let width = self.columns.len();
        let own = self.columns.iter().enumerate();
        for (j, l) in own.filter_map(|(j, wanted)| Some((j, wanted.level()?))) {
            if later[l].is_empty() {
                continue;
            }
            for cell in values.iter_mut().skip(j).step_by(width) {
                if let Some(name) = later[l].name(*cell) {
                    *cell = self.levels[l].cell(name);
                }
            }
        }
    }
}

impl Wanted {
    /// A column of numbers.
    pub(crate) fn number(index: usize, allowed: Option<Allowed>, missing: bool) -> Self {
        Self { index, reads: Reads::Number { allowed, missing } }
    }

    fn level(self) -> Option<usize> {
        if let Reads::Level(l) = self.reads { Some(l) } else { None }
    }

    /// The number of a cell, NaN if it holds none and need not, or what is wrong with it.
    pub(super) fn check(self, cell: Result<f64, Trouble>) -> Result<f64, Trouble> {
        let Reads::Number { allowed, missing } = self.reads else { return cell };
        let empty = match &cell {
            Ok(v) => v.is_nan(),
            Err(Trouble::EmptyCell) => true,
            Err(Trouble::NotANumber(text)) => cell::is_missing(text.as_bytes()),
            Err(_) => false,
        };
        if empty && missing {
            return Ok(f64::NAN);
        }
        let value = cell?;
        allowed.map_or(Ok(()), |allowed| allowed.check(value)).map(|()| value)
    }

    /// What a cell of text is; with `comma` numbers have one for a point.
    pub(super) fn text(
        self,
        text: &[u8],
        comma: bool,
        levels: &[Levels],
        later: &mut [Later],
    ) -> Result<f64, Trouble> {
        match self.reads {
            Reads::Number { .. } => self.check(cell::value(text, comma)),
            Reads::Level(l) => {
                let name = level(text).or_else(|| levels[l].named(text));
                Ok(name.map_or(f64::NAN, |name| later[l].cell(&levels[l], &name)))
            }
            Reads::Moment if cell::is_missing(text) => Ok(f64::NAN),
            Reads::Moment => moment(text)
                .ok_or_else(|| Trouble::NotADate(shorten(&String::from_utf8_lossy(text.trim_ascii())))),
        }
    }

    /// What a cell is that holds a number.
    pub(super) fn of_number(
        self,
        value: f64,
        levels: &[Levels],
        later: &mut [Later],
    ) -> Result<f64, Trouble> {
        match self.reads {
            Reads::Number { .. } => self.check(Ok(value)),
            _ if value.is_nan() => Ok(value),
            Reads::Level(l) => Ok(later[l].cell(&levels[l], &value.to_string())),
            Reads::Moment => Err(Trouble::NotADate(value.to_string())),
        }
    }
}

// Cells of levels that are new in a piece are below this until they have their numbers.
const _: () = assert!(NEW < 0.0);
