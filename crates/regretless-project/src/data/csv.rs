//! CSV with a header as a table: lines one after the other, their cells on all threads.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::cell::{Guess, number, value};
use super::chunk::{Bad, Chunk, Selection};
use super::levels::Later;
use super::lines::{Batch, Lines, split};
use crate::error::{Place, Result, SpecError, Trouble, shorten};

/// Lines that are looked at to tell what columns hold.
const SAMPLE: usize = 100;

/// Bytes that they have at most, one line more or less.
const SAMPLE_BYTES: usize = 1 << 20;

/// Bytes of the lines that are cut together, one line more or less: lines may be long.
const BATCH_BYTES: usize = 16 << 20;

/// Lines that one thread cuts at a time.
const PIECE: usize = 256;

const RAGGED: &str =
    "give every line the same number of cells; a separator inside a cell needs quotes around the cell";

/// How cells are told apart and numbers written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    separator: u8,
    /// Whether numbers have a comma where others have a point.
    comma: bool,
}

pub(super) struct Csv<'a> {
    lines: Lines<Box<dyn Read + Send + 'a>>,
    /// The line of the header.
    first: u64,
    /// Cells of the header.
    width: usize,
    style: Style,
    /// Lines that were looked at and not given out yet, and how many were.
    ahead: (Batch, usize),
}

impl<'a> Csv<'a> {
    /// The table and its header.
    pub(super) fn new(reader: Box<dyn Read + Send + 'a>, path: &Path) -> Result<(Self, Vec<String>)> {
        let mut lines = Lines::new(reader, path);
        let (header, separator) = header(&mut lines, path)?;
        let first = lines.number();
        let ahead = (lines.batch(SAMPLE, SAMPLE_BYTES)?, 0);
        let style = Style { separator, comma: false };
        let mut csv = Self { lines, first, width: header.len(), style, ahead };
        csv.style.comma = csv.has_commas();
        Ok((csv, header))
    }

    /// The line of the header.
    pub(super) fn header_place(&self) -> Place {
        self.lines.place(self.first, None)
    }

    /// What is not as it is in most tables, in words.
    pub(super) fn remark(&self) -> Option<&'static str> {
        match self.style {
            Style { separator: b';', comma: true } => {
                Some("cells are separated by semicolons, and numbers have a decimal comma")
            }
            Style { separator: b';', .. } => Some("cells are separated by semicolons"),
            Style { separator: b'\t', comma: true } => {
                Some("cells are separated by tabs, and numbers have a decimal comma")
            }
            Style { separator: b'\t', .. } => Some("cells are separated by tabs"),
            Style { comma: true, .. } => Some("numbers in quotes have a decimal comma"),
            Style { .. } => None,
        }
    }

    /// The first lines that are as long as the header: their numbers and cells.
    fn sample(&self) -> Vec<(u64, Vec<Cow<'_, [u8]>>)> {
        let Batch { text, lines } = &self.ahead.0;
        let cut = |(line, range): &(u64, Range<usize>)| {
            let mut cells = Vec::new();
            split(&text[range.clone()], self.style.separator, &mut cells).ok()?;
            (cells.len() == self.width).then_some((*line, cells))
        };
        lines.iter().filter_map(cut).collect()
    }

    /// True if numbers have a comma for a point. In tables with semicolons one such cell tells; elsewhere three digits behind it may be
    /// thousands, and a point in another number says that commas are none.
    fn has_commas(&self) -> bool {
        let sample = self.sample();
        let comma = |cell: &[u8]| number(cell).is_err() && cell.contains(&b',') && value(cell, true).is_ok();
        let behind = |cell: &[u8]| cell.iter().rev().take_while(|b| **b != b',').count();
        let sure = |cell: &[u8]| comma(cell) && behind(cell) != 3;
        let point = |cell: &[u8]| cell.contains(&b'.') && number(cell).is_ok();
        let mut cells = sample.iter().flat_map(|(_, cells)| cells).map(AsRef::as_ref);
        match self.style.separator {
            b';' => cells.any(comma),
            _ => cells.clone().any(sure) && !cells.any(point),
        }
    }

    /// See [`TableReader::odd`](super::reader::TableReader::odd).
    pub(super) fn odd(&self, column: usize) -> Option<(u64, String)> {
        let sample = self.sample();
        let cell = Guess::odd(&sample.iter().map(|(_, cells)| cells[column].as_ref()), self.style.comma)?;
        let (line, cells) = &sample[cell];
        Some((*line, shorten(&String::from_utf8_lossy(&cells[column]))))
    }

    /// What the columns hold, as far as the first lines tell.
    pub(super) fn guesses(&self) -> Vec<Guess> {
        let sample = self.sample();
        let guess = |i: usize| Guess::of(sample.iter().map(|(_, cells)| cells[i].as_ref()), self.style.comma);
        (0..self.width).map(guess).collect()
    }

    /// Whether there are further rows.
    pub(super) fn has_more(&mut self) -> Result<bool> {
        if self.ahead.1 == self.ahead.0.lines.len() {
            self.ahead = (self.lines.batch(SAMPLE, SAMPLE_BYTES)?, 0);
        }
        Ok(!self.ahead.0.lines.is_empty())
    }

    /// Leaves out up to `rows` further rows; how many there were.
    pub(super) fn skip(&mut self, rows: usize) -> Result<usize> {
        let mut skipped = 0;
        while skipped < rows && self.has_more()? {
            let now = (self.ahead.0.lines.len() - self.ahead.1).min(rows - skipped);
            self.ahead.1 += now;
            skipped += now;
        }
        Ok(skipped)
    }

    /// Reads up to `rows` further rows.
    pub(super) fn fill(
        &mut self,
        selection: &mut Selection,
        header: &[String],
        rows: usize,
        chunk: &mut Chunk,
    ) -> Result<()> {
        if self.ahead.1 == self.ahead.0.lines.len() {
            self.ahead = (self.lines.batch(rows, BATCH_BYTES)?, 0);
        }
        let (Batch { text, lines }, from) = &self.ahead;
        let lines = &lines[*from..(from + rows).min(lines.len())];
        let (style, width) = (self.style, self.width);
        let cut = |lines: &[(u64, Range<usize>)]| cut(text, lines, style, width, selection);
        let pieces: Vec<Piece> = lines.par_chunks(PIECE).map(cut).collect();
        for Piece { mut values, texts, mut bad, later } in pieces {
            let first = chunk.rows;
            if !selection.lenient && !bad.is_empty() {
                let bad = bad.swap_remove(0);
                return Err(self.error(lines[first + bad.row].0, header, bad));
            }
            selection.settle(&mut values, &later);
            chunk.rows += values.len().checked_div(selection.columns.len()).unwrap_or(0).max(texts.0);
            chunk.values.append(&mut values);
            chunk.texts.iter_mut().zip(texts.1).for_each(|(all, mut own)| all.append(&mut own));
            chunk.bad.extend(bad.into_iter().map(|bad| Bad { row: first + bad.row, ..bad }));
        }
        chunk.lines.extend(lines.iter().map(|(line, _)| *line));
        self.ahead.1 += lines.len();
        Ok(())
    }

    fn error(&self, line: u64, header: &[String], bad: Bad) -> Box<SpecError> {
        let column = bad.column.map(|i| (i, Some(shorten(&header[i]))));
        let ragged = matches!(bad.trouble, Trouble::Ragged { .. });
        let error = SpecError::new(self.lines.place(line, column), bad.trouble);
        if ragged { error.hint(RAGGED) } else { error }
    }
}

/// The selected cells of some lines.
struct Piece {
    values: Vec<f64>,
    /// Rows, and the columns of text.
    texts: (usize, Vec<Vec<String>>),
    bad: Vec<Bad>,
    later: Vec<Later>,
}

/// The selected cells of some lines.
fn cut(
    text: &[u8],
    lines: &[(u64, Range<usize>)],
    Style { separator, comma }: Style,
    width: usize,
    selection: &Selection,
) -> Piece {
    let mut piece = Piece {
        values: Vec::with_capacity(lines.len() * selection.columns.len()),
        texts: (lines.len(), vec![Vec::with_capacity(lines.len()); selection.texts.len()]),
        bad: Vec::new(),
        later: selection.later(),
    };
    let mut cells: Vec<Cow<'_, [u8]>> = Vec::new();
    for (row, (_, range)) in lines.iter().enumerate() {
        cells.clear();
        let mut trouble = split(&text[range.clone()], separator, &mut cells)
            .err()
            .map(|what| (None, Trouble::Syntax(what.to_owned())));
        if trouble.is_none() && cells.len() != width {
            trouble = Some((None, Trouble::Ragged { expected: width, found: cells.len() }));
        }
        for wanted in &selection.columns {
            let cell = cells.get(wanted.index).map_or(&b""[..], |cell| cell);
            let found = match trouble {
                Some(_) => f64::NAN,
                None => {
                    wanted.text(cell, comma, &selection.levels, &mut piece.later).unwrap_or_else(|what| {
                        trouble = Some((Some(wanted.index), what));
                        f64::NAN
                    })
                }
            };
            piece.values.push(found);
        }
        for (texts, &i) in piece.texts.1.iter_mut().zip(&selection.texts) {
            texts.push(
                cells.get(i).map_or_else(String::new, |cell| String::from_utf8_lossy(cell).into_owned()),
            );
        }
        if let Some((column, trouble)) = trouble {
            piece.bad.push(Bad { row, column, trouble });
        }
    }
    piece
}

/// The names of the columns, and what stands between them: what is there most often, a comma if in doubt.
fn header<R: Read>(lines: &mut Lines<R>, path: &Path) -> Result<(Vec<String>, u8)> {
    const HINT: &str = "the first line names the columns, every further line is one instance";
    let Batch { text, lines: found } = lines.batch(1, 1)?;
    if found.is_empty() {
        return Err(
            SpecError::new(Place::File(path.to_owned()), Trouble::Empty("the file is empty")).hint(HINT)
        );
    }
    let cut = |separator: u8| {
        let mut cells = Vec::new();
        split(&text, separator, &mut cells).map(|()| cells)
    };
    let count = |separator: u8| cut(separator).map_or(0, |cells| cells.len());
    let separator = [b';', b'\t']
        .into_iter()
        .fold(b',', |best, next| if count(next) > count(best) { next } else { best });
    let cells =
        cut(separator).map_err(|what| SpecError::new(lines.here(None), Trouble::Syntax(what.to_owned())))?;
    let names: Vec<_> = cells.iter().map(|c| String::from_utf8(c.to_vec())).collect();
    let numbers = cells.iter().all(|c| number(c).is_ok());
    if let Some(i) = names.iter().position(std::result::Result::is_err) {
        let trouble = Trouble::Syntax("the name is not UTF-8 text".into());
        return Err(SpecError::new(lines.here(Some((i, None))), trouble));
    }
    if numbers {
        let trouble =
            Trouble::Syntax("the line has only numbers, but the first line of a table is its header".into());
        return Err(SpecError::new(lines.here(None), trouble).hint(HINT));
    }
    Ok((names.into_iter().flatten().collect(), separator))
}
