//! CSV a line at a time.
//!
//! A record is a line: a line break inside quotes is refused. That keeps the line numbers of messages exact, whatever
//! the line endings and however many blank lines there are, and bounds what an unclosed quote can swallow.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::open::io_error;
use crate::error::{Place, Result, SpecError, Trouble};

/// A line of a million columns fits.
const LONGEST_LINE: u64 = 64 << 20;

/// The lines of a CSV file that are not blank, cut into cells.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    path: PathBuf,
    line: Vec<u8>,
    number: u64,
    cells: Option<usize>,
}

/// Some lines, not yet cut: one text, and for each line its number and where in the text it is.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) text: Vec<u8>,
    pub(super) lines: Vec<(u64, Range<usize>)>,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R, path: &Path) -> Self {
        Self {
            reader: BufReader::new(reader),
            path: path.to_owned(),
            line: Vec::new(),
            number: 0,
            cells: None,
        }
    }

    /// The number of the line that was read last.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// A line, or one of its cells counted from 0, as a place.
    pub(crate) fn place(&self, line: u64, cell: Option<(usize, Option<String>)>) -> Place {
        let column = cell.map(|(i, name)| (i + 1, name));
        Place::Cell { file: self.path.clone(), line, column }
    }

    /// The line that was read last, or one of its cells, as a place.
    pub(crate) fn here(&self, cell: Option<(usize, Option<String>)>) -> Place {
        self.place(self.number, cell)
    }

    fn bad(&self, what: &str) -> Box<SpecError> {
        SpecError::new(self.here(None), Trouble::Syntax(what.to_owned()))
    }

    /// The cells of the next line; each line must have as many as the first. `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Cow<'_, [u8]>>>> {
        let mut text = std::mem::take(&mut self.line);
        text.clear();
        let found = self.append(&mut text);
        self.line = text;
        if found?.is_none() {
            return Ok(None);
        }
        let mut cells = Vec::new();
        split(&self.line, b',', &mut cells).map_err(|what| self.bad(what))?;
        let expected = *self.cells.get_or_insert(cells.len());
        if cells.len() != expected {
            let trouble = Trouble::Ragged { expected, found: cells.len() };
            let place = Place::Cell { file: self.path.clone(), line: self.number, column: None };
            return Err(SpecError::new(place, trouble)
                .hint("give every line the same number of cells; a comma inside a cell needs quotes around the cell"));
        }
        Ok(Some(cells))
    }

    /// Up to `rows` further lines, and no more once they have so many bytes.
    pub(super) fn batch(&mut self, rows: usize, bytes: usize) -> Result<Batch> {
        let mut batch = Batch::default();
        while batch.lines.len() < rows && batch.text.len() < bytes {
            let Some(line) = self.append(&mut batch.text)? else { break };
            batch.lines.push((self.number, line));
        }
        Ok(batch)
    }

    /// Adds the next line that is not blank to a text; where it is there. `None` at the end.
    fn append(&mut self, text: &mut Vec<u8>) -> Result<Option<Range<usize>>> {
        let start = text.len();
        loop {
            text.truncate(start);
            let mut reader = self.reader.by_ref().take(LONGEST_LINE + 1);
            let read = reader.read_until(b'\n', text).map_err(|e| io_error(&self.path, e))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read as u64 > LONGEST_LINE {
                return Err(self.bad("the line is longer than 64 MiB"));
            }
            if self.number == 1 && text[start..].starts_with(b"\xEF\xBB\xBF") {
                text.drain(start..start + 3);
            }
            if !text[start..].trim_ascii().is_empty() {
                return Ok(Some(start..text.len()));
            }
        }
    }
}

/// Cuts a line at its commas, or what stands in their place; spaces around cells do not count, quotes protect commas.
pub(super) fn split<'a>(
    line: &'a [u8],
    separator: u8,
    cells: &mut Vec<Cow<'a, [u8]>>,
) -> std::result::Result<(), &'static str> {
    let ends = |text: &'a [u8]| text.trim_ascii_end();
    let starts = |text: &'a [u8]| {
        // A tab is a blank but where it separates.
        let blank = text.iter().take_while(|b| b.is_ascii_whitespace() && **b != separator).count();
        &text[blank..]
    };
    let mut rest = Some(line.strip_suffix(b"\n").unwrap_or(line));
    rest = rest.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    if separator == b',' {
        rest = rest.map(ends);
    }
    while let Some(text) = rest {
        let text = starts(text);
        let (cell, after) = if let Some(inside) = text.strip_prefix(b"\"") {
            quoted(inside)?
        } else {
            let end = text.iter().position(|&b| b == separator).unwrap_or(text.len());
            (Cow::Borrowed(ends(&text[..end])), &text[end..])
        };
        cells.push(cell);
        rest = match starts(after) {
            [] => None,
            [first, after @ ..] if *first == separator => Some(after),
            _ => return Err("there is text after a closing quote"),
        };
    }
    Ok(())
}

/// The text up to the closing quote, and what follows it; a doubled quote stands for one.
fn quoted(inside: &[u8]) -> std::result::Result<(Cow<'_, [u8]>, &[u8]), &'static str> {
    let mut text: Cow<'_, [u8]> = Cow::Borrowed(&[]);
    let mut from = 0;
    loop {
        let end =
            inside[from..].iter().position(|&b| b == b'"').ok_or("a quote is not closed on this line")?
                + from;
        if text.is_empty() {
            text = Cow::Borrowed(&inside[from..end]);
        } else {
            text.to_mut().extend(&inside[from..end]);
        }
        if inside.get(end + 1) != Some(&b'"') {
            return Ok((text, &inside[end + 1..]));
        }
        text.to_mut().push(b'"');
        from = end + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &str) -> std::result::Result<Vec<String>, &'static str> {
        let mut cells = Vec::new();
        split(line.as_bytes(), b',', &mut cells)?;
        Ok(cells.iter().map(|c| String::from_utf8(c.to_vec()).unwrap()).collect())
    }

    #[test]
    fn lines_are_cut_at_commas() {
        assert_eq!(cells("1, 2 ,3\r\n").unwrap(), ["1", "2", "3"]);
        assert_eq!(cells(",1,").unwrap(), ["", "1", ""]);
        assert_eq!(cells("\"a,b\" , \"say \"\"hi\"\"\",\"\"\"\"").unwrap(), ["a,b", "say \"hi\"", "\""]);
        assert_eq!(cells("\"\",x").unwrap(), ["", "x"]);
        let mut cells = Vec::new();
        split(b" 1;2,5 ;\t;\"a;b\"\r\n", b';', &mut cells).unwrap();
        assert_eq!(cells, [&b"1"[..], b"2,5", b"", b"a;b"]);
        cells.clear();
        split(b"1\t\t2\n", b'\t', &mut cells).unwrap();
        assert_eq!(cells, [&b"1"[..], b"", b"2"]);
        let cells = self::cells;
        assert!(cells("\"open").is_err());
        assert!(cells("\"a\"b,c").is_err());
    }

    #[test]
    fn line_numbers_are_those_of_an_editor() {
        let text = "\u{feff}a,b\r\n\r\n1,2\r\n   \n3,4";
        let mut lines = Lines::new(text.as_bytes(), Path::new("t.csv"));
        let mut seen = Vec::new();
        while let Some(cells) = lines.next().unwrap() {
            let first = String::from_utf8(cells[0].to_vec()).unwrap();
            seen.push((first, lines.number()));
        }
        assert_eq!(seen, [("a".into(), 1), ("1".into(), 3), ("3".into(), 5)]);
    }
}
