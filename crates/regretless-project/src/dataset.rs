//! Features and truths of a table, a chunk of rows at a time.

use std::path::Path;

use crate::columns::{Columns, Taken, Want, taken};
use crate::data::{Allowed, Chunk, Selection, TableReader, Wanted};
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use regretless_learn::Part;

use crate::data_settings::Missing;
use crate::{Limits, Spec};

/// Rows without a value that a message names.
const NAMED: usize = 10;

/// Rows of a dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataChunk {
    /// Rows in this chunk; 0 if all were dropped.
    pub rows: usize,
    /// The features, row after row; NaN where a cell holds no value and its column's mean is to take its place.
    pub features: Vec<f64>,
    /// The truths of the predicted parts, row after row.
    pub targets: Vec<f64>,
    /// What is known of each row, row after row.
    pub known: Vec<f64>,
    /// The line that each row stands on, counted from 1; the row itself for formats without lines.
    pub lines: Vec<u64>,
    /// The number of each row in the table, counted from 0; rows that were left out count, too.
    pub numbers: Vec<usize>,
    /// What names each row, if there is such a column.
    pub keys: Option<Vec<String>>,
    /// The part each row belongs to, if a column tells.
    pub parts: Option<Vec<Part>>,
    /// Rows of this chunk that were left out because a value is missing.
    pub dropped: usize,
}

/// A table of features and truths, checked while it is read.
///
/// ```no_run
/// use regretless_project::{DataReader, Spec, Want};
/// let spec = Spec::read("problem.toml")?;
/// let mut data = DataReader::open(&spec, "history.csv".as_ref(), Want { features: true, targets: true })?;
/// while let Some(chunk) = data.next()? {
///     assert_eq!(chunk.features.len(), chunk.rows * data.columns().features.len());
/// }
/// # Ok::<(), Box<regretless_project::SpecError>>(())
/// ```
pub struct DataReader<'a> {
    reader: TableReader<'a>,
    columns: Columns,
    /// The part that each target and each known column belongs to.
    taken: Vec<crate::Selection>,
    missing: Missing,
    /// Rows met and rows kept.
    seen: (usize, usize),
    done: bool,
    /// Whether the table is read group by group.
    grouped: bool,
}

impl DataReader<'static> {
    /// Opens a table that is read a chunk at a time and never kept, so that it may be of any length.
    pub fn stream(spec: &Spec, path: &Path, want: Want) -> Result<Self> {
        let limits = Limits { table_bytes: u64::MAX, ..*spec.limits() };
        Self::new(spec, TableReader::open(path, &limits)?, want)
    }

    /// Opens a table and finds its columns.
    pub fn open(spec: &Spec, path: &Path, want: Want) -> Result<Self> {
        Self::new(spec, TableReader::open(path, spec.limits())?, want)
    }
}

impl<'a> DataReader<'a> {
    /// Finds the columns of a table of which nothing has been read.
    pub fn new(spec: &Spec, mut reader: TableReader<'a>, want: Want) -> Result<Self> {
        let textual = reader.textual()?;
        let columns = Columns::resolve(spec, reader.header(), &textual, want, &reader.place())?;
        let parts = taken(spec, reader.header(), want, &reader.place())?;
        let feature = |&index: &usize| Wanted { index, allowed: Some(Allowed::Finite), missing: true };
        let target =
            |taken: &Taken<'_>| Wanted { index: taken.index, allowed: Some(taken.allowed), missing: true };
        let wanted = columns.features.iter().map(feature).chain(parts.iter().map(target)).collect();
        let texts = columns.key.into_iter().chain(columns.split).collect();
        reader.select_checked(Selection { columns: wanted, texts, entries: None });
        let taken = parts.into_iter().map(|taken| taken.part.clone()).collect();
        let missing = spec.data().map_or(Missing::Refuse, |data| data.missing);
        Ok(Self { reader, columns, taken, missing, seen: (0, 0), done: false, grouped: false })
    }

    /// The columns in use.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Refuses a table in which other columns are known than those a model was trained with.
    pub fn expect_known(&self, names: &[String]) -> Result<()> {
        if self.columns.known_names == names {
            return Ok(());
        }
        let (own, there) = (names.join(", "), self.columns.known_names.join(", "));
        let what = format!("the model knows the columns {own} of a row, and here they are {there}");
        Err(SpecError::new(self.file(), Trouble::Misfit(what)))
    }

    /// A row by what [`DataChunk::lines`] says of it, as a place for messages.
    pub fn place_of(&self, line: u64) -> Place {
        self.reader.place_of(line, None)
    }

    /// The next rows; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "an iterator could be asked again after an error")]
    pub fn next(&mut self) -> Result<Option<DataChunk>> {
        let Some(chunk) = self.reader.next().map_err(|error| self.explain(error))? else {
            if self.grouped {
                return Ok(None);
            }
            return self.end().map(|()| None);
        };
        let out = self.take(chunk)?;
        self.seen = (self.seen.0 + out.rows + out.dropped, self.seen.1 + out.rows);
        Ok(Some(out))
    }

    /// Goes on to the next group of rows that is wanted, see [`TableReader::next_group`]; `None` at the end.
    pub fn next_group(&mut self, wanted: &dyn Fn(usize) -> bool) -> Result<Option<usize>> {
        self.grouped = true;
        let (group, skipped) = self.reader.next_group(wanted)?;
        self.seen = (self.seen.0 + skipped, self.seen.1 + skipped);
        if group.is_none() {
            self.end()?;
        }
        Ok(group)
    }

    /// A table without a row that can be used is refused once.
    fn end(&mut self) -> Result<()> {
        if self.seen.1 > 0 || std::mem::replace(&mut self.done, true) {
            return Ok(());
        }
        let (trouble, hint) = if self.seen.0 == 0 {
            (Trouble::Empty("the table has a header but no rows"), "add a row for each instance")
        } else {
            (
                Trouble::Empty("every row of the table lacks a value, and `missing = \"drop\"` leaves none"),
                "add the column that is empty to `data.exclude`",
            )
        };
        Err(SpecError::new(self.file(), trouble).hint(hint))
    }

    fn file(&self) -> Place {
        let place = self.reader.place();
        Place::File(place.file().map(Path::to_owned).unwrap_or_default())
    }

    fn take(&mut self, mut chunk: Chunk) -> Result<DataChunk> {
        let (features, targets) = (self.columns.features.len(), self.columns.targets.len());
        let width = features + targets + self.columns.known.len();
        let mut texts = std::mem::take(&mut chunk.texts).into_iter();
        let keys = self.columns.key.and_then(|_| texts.next());
        let parts = self.columns.split.and_then(|_| texts.next());
        let mut out = DataChunk {
            keys: keys.as_ref().map(|_| Vec::new()),
            parts: parts.as_ref().map(|_| Vec::new()),
            ..DataChunk::default()
        };
        for i in 0..chunk.rows {
            let row = &chunk.values[i * width..(i + 1) * width];
            let empty = |values: &[f64]| values.iter().any(|v| v.is_nan());
            let lacks = match self.missing {
                Missing::Refuse | Missing::Drop => empty(row),
                Missing::Mean => empty(&row[features..]),
            };
            if lacks && self.missing == Missing::Drop {
                out.dropped += 1;
                continue;
            }
            if lacks {
                chunk.texts = keys.into_iter().collect();
                return Err(self.refuse(chunk));
            }
            out.features.extend_from_slice(&row[..features]);
            out.targets.extend_from_slice(&row[features..features + targets]);
            out.known.extend_from_slice(&row[features + targets..]);
            out.lines.push(chunk.lines[i]);
            out.numbers.push(self.seen.0 + i);
            out.rows += 1;
            if let (Some(out), Some(keys)) = (&mut out.keys, &keys) {
                out.push(keys[i].clone());
            }
            if let (Some(out), Some(parts)) = (&mut out.parts, &parts) {
                out.push(self.part(&parts[i], chunk.lines[i])?);
            }
        }
        Ok(out)
    }

    fn part(&self, word: &str, line: u64) -> Result<Part> {
        let part = Part::ALL.iter().find(|part| part.word() == word.trim());
        part.copied().ok_or_else(|| {
            let place = self.reader.place_of(line, self.columns.split);
            SpecError::new(place, Trouble::Part(shorten(word)))
                .hint("`data.split` names this column: every row of it is one of the three words")
        })
    }

    /// Names the first rows without a value and counts all of them, to the end of the table.
    fn refuse(&mut self, first: Chunk) -> Box<SpecError> {
        let features = self.columns.features.len();
        let placed: Vec<usize> = self.columns.targets.iter().chain(&self.columns.known).copied().collect();
        let width = features + placed.len();
        let from = if self.missing == Missing::Mean { features } else { 0 };
        let (mut rows, mut named) = (0, Vec::new());
        let mut next = Some(first);
        while let Some(chunk) = next {
            for i in 0..chunk.rows {
                let row = &chunk.values[i * width..(i + 1) * width];
                let Some(j) = (from..width).find(|&j| row[j].is_nan()) else { continue };
                rows += 1;
                if rows <= NAMED {
                    let index = if j < features { self.columns.features[j] } else { placed[j - features] };
                    let key = self.columns.key.and_then(|_| chunk.texts.first()).map(|keys| keys[i].as_str());
                    named.push(self.name_row(chunk.lines[i], key, index));
                }
            }
            // What is wrong further down is told when this is mended.
            next = self.reader.next().ok().flatten();
        }
        if rows > NAMED {
            named.push("…".to_owned());
        }
        let hint = match self.missing {
            Missing::Mean => "a truth cannot be filled in: give the value, or set data.missing = \"drop\"",
            _ => {
                "fill the cells, set data.missing = \"drop\" to leave such rows out, or \"mean\" to give features \
                 the mean of their column"
            }
        };
        SpecError::new(self.file(), Trouble::Missing { rows, first: named }).hint(hint)
    }

    fn name_row(&self, line: u64, key: Option<&str>, index: usize) -> String {
        let unit = if matches!(self.reader.place_of(line, None), Place::Row { .. }) { "row" } else { "line" };
        let key = key.map_or_else(String::new, |key| format!(" ({})", shorten(key)));
        format!("{unit} {line}{key} `{}`", shorten(&self.reader.header()[index]))
    }

    /// Says what a bad cell was wanted for.
    fn explain(&self, error: Box<SpecError>) -> Box<SpecError> {
        let Some(index) = error.place.column() else { return error };
        let mut placed = self.columns.targets.iter().chain(&self.columns.known);
        if let Some(i) = placed.position(|&t| t == index) {
            return error.hint(self.taken[i].cell_hint());
        }
        match error.problem {
            Trouble::NotANumber(_) => {
                error.hint("the column is a feature: encode it as numbers, or add it to `data.exclude`")
            }
            _ => error.hint("the column is a feature, and features are finite numbers"),
        }
    }
}
