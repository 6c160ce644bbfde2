//! A table that is in memory: a data frame of another language, say.

use std::path::Path;

use super::cell::{Guess, is_missing};
use super::chunk::{Bad, Chunk, Selection};
use super::reader::TableReader;
use crate::error::{Place, Result, SpecError, shorten};

/// A column of a table in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers; NaN where a cell holds none.
    Numbers(Vec<f64>),
    /// Text; empty where a cell holds none.
    Texts(Vec<String>),
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Texts(texts) => texts.len(),
        }
    }
}

/// A table in memory: named columns of one length.
///
/// ```
/// use regretless_project::{Column, Frame, Guess};
/// let day = Column::Texts(vec!["mon".into(), "tue".into()]);
/// let columns = vec![("day".into(), day), ("load".into(), Column::Numbers(vec![3.0, 4.0]))];
/// let frame = Frame::new("the frame", columns).unwrap();
/// let mut table = frame.reader();
/// assert_eq!(table.guesses(), [Guess::Text, Guess::Number]);
/// table.select(vec![1]);
/// assert_eq!(table.next()?.unwrap().values, [3.0, 4.0]);
/// # Ok::<(), Box<regretless_project::SpecError>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    name: String,
    header: Vec<String>,
    columns: Vec<Column>,
}

impl Frame {
    /// A table by its columns; `name` is what messages call it. `None` if columns differ in length.
    pub fn new(name: &str, columns: Vec<(String, Column)>) -> Option<Self> {
        let (header, columns): (Vec<String>, Vec<Column>) = columns.into_iter().unzip();
        let even = columns.windows(2).all(|pair| pair[0].len() == pair[1].len());
        even.then(|| Self { name: name.to_owned(), header, columns })
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns' names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The table as any other is read.
    pub fn reader(&self) -> TableReader<'_> {
        TableReader::from_frame(self)
    }
}

/// The rows of a frame that are still to be read.
pub(super) struct Rows<'a> {
    frame: &'a Frame,
    next: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn of(frame: &'a Frame) -> Self {
        Self { frame, next: 0 }
    }

    pub(super) fn guesses(&self) -> Vec<Guess> {
        let one = |column: &Column| match column {
            Column::Numbers(_) => Guess::Number,
            // All of it: a frame is here already, and text that is none in the end is no number.
            Column::Texts(texts) => match Guess::of(texts.iter().map(String::as_bytes), false) {
                Guess::Number if texts.iter().any(|text| !is_missing(text.as_bytes())) => Guess::Text,
                guess => guess,
            },
        };
        self.frame.columns.iter().map(one).collect()
    }

    /// See [`TableReader::odd`].
    pub(super) fn odd(&self, column: usize) -> Option<(u64, String)> {
        let Column::Texts(texts) = &self.frame.columns[column] else { return None };
        let cell = Guess::odd(&texts.iter().map(String::as_bytes), false)?;
        Some((cell as u64 + 1, shorten(&texts[cell])))
    }

    /// How many rows are left.
    pub(super) fn ahead(&self) -> usize {
        self.frame.columns.first().map_or(0, Column::len) - self.next
    }

    /// Leaves out up to `rows` rows, and says how many.
    pub(super) fn skip(&mut self, rows: usize) -> usize {
        let skipped = rows.min(self.ahead());
        self.next += skipped;
        skipped
    }

    /// Reads up to `rows` further rows.
    pub(super) fn fill(
        &mut self,
        selection: &mut Selection,
        path: &Path,
        rows: usize,
        chunk: &mut Chunk,
    ) -> Result<()> {
        let first = self.next;
        self.skip(rows);
        let mut later = selection.later();
        for i in first..self.next {
            let mut bad = None;
            for wanted in &selection.columns {
                let found = match &self.frame.columns[wanted.index] {
                    Column::Numbers(values) => wanted.of_number(values[i], &selection.levels, &mut later),
                    Column::Texts(texts) => {
                        wanted.text(texts[i].as_bytes(), false, &selection.levels, &mut later)
                    }
                };
                chunk.values.push(found.unwrap_or_else(|trouble| {
                    bad.get_or_insert((wanted.index, trouble));
                    f64::NAN
                }));
            }
            if let Some((column, trouble)) = bad {
                if !selection.lenient {
                    let name = self.frame.header.get(column).map(|name| shorten(name));
                    let place = Place::Row {
                        file: path.to_owned(),
                        row: i as u64 + 1,
                        column: Some((column + 1, name)),
                    };
                    return Err(SpecError::new(place, trouble));
                }
                chunk.bad.push(Bad { row: i - first, column: Some(column), trouble });
            }
            for (texts, &index) in chunk.texts.iter_mut().zip(&selection.texts) {
                texts.push(match &self.frame.columns[index] {
                    Column::Numbers(values) if values[i].is_nan() => String::new(),
                    Column::Numbers(values) => values[i].to_string(),
                    Column::Texts(cells) => cells[i].clone(),
                });
            }
            chunk.lines.push(i as u64 + 1);
        }
        selection.settle(&mut chunk.values, &later);
        chunk.rows = self.next - first;
        Ok(())
    }
}
