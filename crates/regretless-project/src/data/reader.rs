//! Tables of any format, a chunk of rows at a time.

mod beside;

use std::io::Read;
use std::path::{Path, PathBuf};

use beside::Beside;
pub(crate) use beside::FORECAST;

use super::cell::Guess;
use super::chunk::{Chunk, Selection, Wanted};
use super::csv::Csv;
use super::frame::{Frame, Rows};
use super::inflate::inflate;
use super::levels::Levels;
use super::open::{self, io_error};
#[cfg(feature = "parquet")]
use super::parquet::Parquet;
use crate::Limits;
use crate::error::{Place, Result, SpecError, Trouble, shorten};

/// The rows of a chunk unless its columns are many.
const ROWS: usize = 4096;

/// The rows of a group in tables that have no groups of their own.
const GROUP: usize = 65_536;

/// A table with named columns, read a chunk of rows at a time: CSV, CSV packed with gzip, or Parquet.
///
/// ```
/// use regretless_project::{Limits, TableReader};
/// let text = "day,temp,load\n1,20.5,3\n2,NA,4\n";
/// let mut table = TableReader::from_csv(text.as_bytes(), "history.csv".as_ref(), &Limits::default())?;
/// assert_eq!(table.header(), ["day", "temp", "load"]);
/// table.select(vec![2, 1]);
/// let chunk = table.next()?.unwrap();
/// assert_eq!((chunk.rows, chunk.values[0], chunk.lines[1]), (2, 3.0, 3));
/// assert!(chunk.values[3].is_nan());
/// assert!(table.next()?.is_none());
/// # Ok::<(), Box<regretless_project::SpecError>>(())
/// ```
pub struct TableReader<'a> {
    path: PathBuf,
    header: Vec<String>,
    source: Source<'a>,
    selection: Selection,
    most: usize,
    /// Entries and rows given out so far.
    given: (usize, usize),
    /// The number of the next group and the rows left of the one at hand, where the table is read group by group.
    groups: Option<(usize, usize)>,
    /// Columns of another table after the own ones.
    beside: Option<Beside<'a>>,
}

enum Source<'a> {
    Csv(Csv<'a>),
    Frame(Rows<'a>),
    #[cfg(feature = "parquet")]
    Parquet(Box<Parquet>),
}

impl TableReader<'static> {
    /// Opens a table; its first bytes tell the format.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self> {
        let opened = open::open(path, limits.table_bytes)?;
        let mut start = Vec::new();
        let mut file = opened.file;
        file.by_ref().take(4).read_to_end(&mut start).map_err(|e| io_error(path, e))?;
        let ends_in = |ending: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
        if start == b"PAR1" {
            return Self::parquet(file, opened.length, path, limits);
        }
        if ends_in("parquet") {
            let trouble = Trouble::Parquet("it does not begin as Parquet files do".to_owned());
            return Err(SpecError::new(Place::File(path.to_owned()), trouble));
        }
        if ends_in("gz") && !start.starts_with(b"\x1f\x8b") {
            let trouble = Trouble::Gzip("it does not begin as gzip files do");
            return Err(SpecError::new(Place::File(path.to_owned()), trouble)
                .hint("if it is plain CSV, name it so: .csv without .gz"));
        }
        Self::from_csv(std::io::Cursor::new(start).chain(file), path, limits)
    }

    #[cfg(feature = "parquet")]
    fn parquet(file: std::fs::File, length: Option<u64>, path: &Path, limits: &Limits) -> Result<Self> {
        if length.is_none() {
            let error = SpecError::new(Place::File(path.to_owned()), Trouble::NotAFile("a pipe"));
            return Err(error.hint("Parquet is read from regular files only: write it to one first"));
        }
        let (parquet, header) = Parquet::new(file, path, limits)?;
        Ok(Self::new(Source::Parquet(Box::new(parquet)), header, path))
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(_: std::fs::File, _: Option<u64>, path: &Path, _: &Limits) -> Result<Self> {
        let trouble = Trouble::Parquet("this build reads none".to_owned());
        Err(SpecError::new(Place::File(path.to_owned()), trouble)
            .hint("write the table as CSV, or build with the feature `parquet`"))
    }
}

impl<'a> TableReader<'a> {
    /// Reads CSV, plain or gzip; `path` is for messages.
    pub fn from_csv(reader: impl Read + Send + 'a, path: &Path, limits: &Limits) -> Result<Self> {
        let reader = inflate(reader, limits.table_bytes).map_err(|e| io_error(path, e))?;
        let (csv, header) = Csv::new(reader, path)?;
        Ok(Self::new(Source::Csv(csv), header, path))
    }

    /// Reads a table that is in memory.
    pub(super) fn from_frame(frame: &'a Frame) -> Self {
        Self::new(Source::Frame(Rows::of(frame)), frame.header().to_vec(), frame.name().as_ref())
    }

    fn new(source: Source<'a>, header: Vec<String>, path: &Path) -> Self {
        let selection = Selection::default();
        let path = path.to_owned();
        Self { path, header, source, selection, most: ROWS, given: (0, 0), groups: None, beside: None }
    }

    /// The columns' names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The header, as a place for messages.
    pub fn place(&self) -> Place {
        match &self.source {
            Source::Csv(csv) => csv.header_place(),
            Source::Frame(_) => Place::File(self.path.clone()),
            #[cfg(feature = "parquet")]
            Source::Parquet(_) => Place::File(self.path.clone()),
        }
    }

    /// A row by what [`Chunk::lines`] says of it, or one of its cells with the column counted from 0, as a place.
    pub fn place_of(&self, line: u64, column: Option<usize>) -> Place {
        let file = self.path.clone();
        let column = column.map(|i| (i + 1, self.header.get(i).map(|name| shorten(name))));
        match &self.source {
            Source::Csv(_) => Place::Cell { file, line, column },
            Source::Frame(_) => Place::Row { file, row: line, column },
            #[cfg(feature = "parquet")]
            Source::Parquet(_) => Place::Row { file, row: line, column },
        }
    }

    /// What the columns hold: in CSV as far as the first rows tell, in Parquet by their types.
    pub fn guesses(&self) -> Vec<Guess> {
        let own = match &self.source {
            Source::Csv(csv) => csv.guesses(),
            Source::Frame(rows) => rows.guesses(),
            #[cfg(feature = "parquet")]
            Source::Parquet(parquet) => parquet.guesses(),
        };
        let beside = self.beside.iter().flat_map(Beside::guesses);
        own.into_iter().chain(beside).collect()
    }

    /// The first cell that makes a text of a column that seems to hold numbers or dates otherwise, and where it is: in words.
    pub(crate) fn odd(&self, column: usize) -> Option<String> {
        if self.beside.as_ref().is_some_and(|beside| beside.is_theirs(column)) {
            return None;
        }
        let (line, cell) = match &self.source {
            Source::Csv(csv) => csv.odd(column)?,
            Source::Frame(rows) => rows.odd(column)?,
            #[cfg(feature = "parquet")]
            Source::Parquet(_) => return None,
        };
        let unit = if matches!(self.source, Source::Csv(_)) { "line" } else { "row" };
        Some(format!("`{cell}` in {unit} {line}"))
    }

    /// What is not as it is in most tables, in words.
    pub fn remark(&self) -> Option<&'static str> {
        let own = if let Source::Csv(csv) = &self.source { csv.remark() } else { None };
        own.or_else(|| self.beside.as_ref().and_then(Beside::remark))
    }

    /// The levels of the columns that are read as such.
    pub(crate) fn levels(&self) -> &[Levels] {
        &self.selection.levels
    }

    /// Chooses the columns of numbers to read, counted from 0; those beyond the header are left out. Cells without a value
    /// become NaN.
    pub fn select(&mut self, columns: Vec<usize>) {
        let there = columns.into_iter().filter(|&i| i < self.header.len());
        self.selection.columns = there.map(|index| Wanted::number(index, None, true)).collect();
    }

    /// Chooses the columns to read as text.
    pub fn select_texts(&mut self, columns: Vec<usize>) {
        self.selection.texts = columns.into_iter().filter(|&i| i < self.header.len()).collect();
    }

    /// Chooses columns with what they may hold.
    pub(crate) fn select_checked(&mut self, mut selection: Selection) {
        if let Some(beside) = &mut self.beside {
            beside.select(&mut selection);
        }
        self.selection = selection;
    }

    /// Says whether a row that cannot be used is one of many, and not the end.
    pub(crate) fn set_lenient(&mut self, lenient: bool) {
        self.selection.lenient = lenient;
        self.beside.iter_mut().for_each(|beside| beside.set_lenient(lenient));
    }

    /// Sets the most rows of a chunk, 4096 unless said; wide tables are read in smaller ones.
    pub fn chunk_rows(&mut self, rows: usize) {
        self.most = rows.max(1);
    }

    /// The next rows; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "an iterator could be asked again after an error")]
    pub fn next(&mut self) -> Result<Option<Chunk>> {
        let chunk = self.next_own()?;
        let Some(beside) = &mut self.beside else { return Ok(chunk) };
        let name = self.path.display().to_string();
        match chunk {
            Some(chunk) => beside.join(chunk, &name).map(Some),
            None if self.groups.is_none() => beside.end(&name).map(|()| None),
            None => Ok(None),
        }
    }

    fn next_own(&mut self) -> Result<Option<Chunk>> {
        let mut chunk = Chunk { texts: vec![Vec::new(); self.selection.texts.len()], ..Chunk::default() };
        let left = self.groups.map_or(usize::MAX, |(_, left)| left);
        let rows = self.within(self.selection.rows(self.most)).min(left);
        if rows == 0 {
            return Ok(None);
        }
        match &mut self.source {
            Source::Csv(csv) => csv.fill(&mut self.selection, &self.header, rows, &mut chunk)?,
            Source::Frame(frame) => frame.fill(&mut self.selection, &self.path, rows, &mut chunk)?,
            #[cfg(feature = "parquet")]
            Source::Parquet(parquet) => parquet.fill(&mut self.selection, &self.header, rows, &mut chunk)?,
        }
        let beside = self.selection.besides * chunk.rows;
        self.given = (self.given.0 + chunk.values.len() + beside, self.given.1 + chunk.rows);
        if let Some((_, left)) = &mut self.groups {
            *left -= chunk.rows;
        }
        if let Some(limit) = self.selection.entries
            && self.given.0.max(self.given.1) > limit
        {
            let trouble = Trouble::TooManyEntries { found: self.given.0.max(self.given.1), limit };
            return Err(SpecError::new(Place::File(self.path.clone()), trouble).hint("split the table"));
        }
        Ok((chunk.rows > 0).then_some(chunk))
    }

    /// Goes on to the next group of rows that is wanted, by its number counted from 0: a row group of a Parquet file, 65,536
    /// rows of any other. Gives its number and how many rows were left out on the way, which are not looked at; `None` and the
    /// rows at the end. From then on [`TableReader::next`] ends with the group.
    pub fn next_group(&mut self, wanted: &dyn Fn(usize) -> bool) -> Result<(Option<usize>, usize)> {
        let mut skipped = 0;
        loop {
            let (number, _) = self.groups.unwrap_or_default();
            let rows = match &mut self.source {
                Source::Csv(csv) => csv.has_more()?.then_some(GROUP),
                Source::Frame(frame) => (frame.ahead() > 0).then_some(GROUP),
                #[cfg(feature = "parquet")]
                Source::Parquet(parquet) => parquet.rows_ahead(),
            };
            let Some(rows) = rows else { return Ok((None, skipped)) };
            if rows > 0 && wanted(number) {
                self.groups = Some((number + 1, rows));
                return Ok((Some(number), skipped));
            }
            self.groups = Some((number + 1, 0));
            let left_out = match &mut self.source {
                Source::Csv(csv) => csv.skip(rows)?,
                Source::Frame(frame) => frame.skip(rows),
                #[cfg(feature = "parquet")]
                Source::Parquet(parquet) => {
                    parquet.skip_group();
                    rows
                }
            };
            if let Some(beside) = &mut self.beside {
                beside.skip(left_out)?;
            }
            skipped += left_out;
        }
    }

    /// At most `rows`, and at most one more than the limit on entries lets through.
    fn within(&self, rows: usize) -> usize {
        let Some(limit) = self.selection.entries else { return rows };
        let width = (self.selection.columns.len() + self.selection.besides).max(1);
        let left = limit.saturating_sub(self.given.0.max(self.given.1)) / width;
        rows.min(left + 1)
    }
}
