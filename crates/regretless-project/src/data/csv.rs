//! CSV with a header as a table.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Read;
use std::path::Path;

use super::cell::{number, value};
use super::chunk::{Chunk, Selection};
use super::lines::Lines;
use crate::error::{Place, Result, SpecError, Trouble, shorten};

/// Lines that are looked at to tell numbers from text.
const SAMPLE: usize = 100;

pub(super) struct Csv<'a> {
    lines: Lines<Box<dyn Read + Send + 'a>>,
    /// The line of the header.
    first: u64,
    /// Lines that were looked at and not given out yet, with their numbers.
    ahead: VecDeque<(u64, Vec<Vec<u8>>)>,
}

impl<'a> Csv<'a> {
    /// The table and its header.
    pub(super) fn new(reader: Box<dyn Read + Send + 'a>, path: &Path) -> Result<(Self, Vec<String>)> {
        let mut lines = Lines::new(reader, path);
        let header = header(&mut lines, path)?;
        let first = lines.number();
        Ok((Self { lines, first, ahead: VecDeque::new() }, header))
    }

    /// The line of the header.
    pub(super) fn header_place(&self) -> Place {
        self.lines.place(self.first, None)
    }

    /// Which of `width` columns hold text that is no number, as far as the first lines tell.
    pub(super) fn textual(&mut self, width: usize) -> Result<Vec<bool>> {
        let mut bytes = 0;
        while self.ahead.len() < SAMPLE && bytes < 1 << 20 {
            let Some(cells) = self.lines.next()? else { break };
            let cells: Vec<_> = cells.into_iter().map(Cow::into_owned).collect();
            bytes += cells.iter().map(|cell| cell.len() + size_of::<Vec<u8>>()).sum::<usize>();
            self.ahead.push_back((self.lines.number(), cells));
        }
        let text = |i: usize| {
            let mut cells = self.ahead.iter().filter_map(|(_, cells)| value(&cells[i]).err());
            cells.any(|e| matches!(e, Trouble::NotANumber(t) if !matches!(t.as_str(), "NA" | "N/A" | "null")))
        };
        Ok((0..width).map(text).collect())
    }

    /// Whether there are further rows.
    pub(super) fn has_more(&mut self) -> Result<bool> {
        if self.ahead.is_empty()
            && let Some(cells) = self.lines.next()?
        {
            let cells = cells.into_iter().map(Cow::into_owned).collect();
            self.ahead.push_back((self.lines.number(), cells));
        }
        Ok(!self.ahead.is_empty())
    }

    /// Leaves out up to `rows` further rows; how many there were.
    pub(super) fn skip(&mut self, rows: usize) -> Result<usize> {
        for skipped in 0..rows {
            if self.ahead.pop_front().is_none() && self.lines.next()?.is_none() {
                return Ok(skipped);
            }
        }
        Ok(rows)
    }

    /// Reads up to `rows` further rows.
    pub(super) fn fill(
        &mut self,
        selection: &Selection,
        header: &[String],
        rows: usize,
        chunk: &mut Chunk,
    ) -> Result<()> {
        while chunk.rows < rows {
            let (line, bad) = if let Some((line, cells)) = self.ahead.pop_front() {
                (line, push(selection, &cells, chunk))
            } else {
                let Some(cells) = self.lines.next()? else { return Ok(()) };
                let bad = push(selection, &cells, chunk);
                (self.lines.number(), bad)
            };
            if let Some((i, trouble)) = bad {
                return Err(SpecError::new(
                    self.lines.place(line, Some((i, Some(shorten(&header[i]))))),
                    trouble,
                ));
            }
            chunk.lines.push(line);
        }
        Ok(())
    }
}

/// Adds a row; the first bad cell, if there is one.
fn push(selection: &Selection, cells: &[impl AsRef<[u8]>], chunk: &mut Chunk) -> Option<(usize, Trouble)> {
    for column in &selection.columns {
        match column.check(value(cells[column.index].as_ref())) {
            Ok(value) => chunk.values.push(value),
            Err(trouble) => return Some((column.index, trouble)),
        }
    }
    for (texts, &i) in chunk.texts.iter_mut().zip(&selection.texts) {
        texts.push(String::from_utf8_lossy(cells[i].as_ref()).into_owned());
    }
    chunk.rows += 1;
    None
}

fn header<R: Read>(lines: &mut Lines<R>, path: &Path) -> Result<Vec<String>> {
    const HINT: &str = "the first line names the columns, every further line is one instance";
    let Some(cells) = lines.next()? else {
        return Err(
            SpecError::new(Place::File(path.to_owned()), Trouble::Empty("the file is empty")).hint(HINT)
        );
    };
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
    Ok(names.into_iter().flatten().collect())
}
