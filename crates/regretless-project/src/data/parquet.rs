//! Parquet as a table: flat columns of numbers, booleans, dates and text, a chunk of rows at a time.

mod cells;

use std::collections::BTreeMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;

use self::cells::{Cell, Meaning, cells};
use super::cell::Guess;
use super::chunk::{Bad, Chunk, Selection};
use crate::Limits;
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::trouble::size;

pub(super) struct Parquet {
    reader: SerializedFileReader<File>,
    path: PathBuf,
    table_bytes: u64,
    /// The next row group to open.
    group: usize,
    open: Option<Group>,
    /// Rows given out.
    row: u64,
}

/// The selected columns of a row group.
struct Group {
    columns: Vec<(usize, ColumnReader)>,
    left: usize,
}

impl Parquet {
    /// The table and its header.
    pub(super) fn new(file: File, path: &Path, limits: &Limits) -> Result<(Self, Vec<String>)> {
        let reader = caught(path, || SerializedFileReader::new(file))?;
        let columns = reader.metadata().file_metadata().schema_descr().columns();
        let header: Vec<_> = columns.iter().map(|column| column.path().string()).collect();
        if header.is_empty() {
            return Err(fail(path, Trouble::Parquet("it has no columns".to_owned())));
        }
        let (path, table_bytes) = (path.to_owned(), limits.table_bytes);
        Ok((Self { reader, path, table_bytes, group: 0, open: None, row: 0 }, header))
    }

    /// What the columns hold, by their types.
    pub(super) fn guesses(&self) -> Vec<Guess> {
        let columns = self.reader.metadata().file_metadata().schema_descr().columns();
        columns.iter().map(|column| Meaning::of(column).guess()).collect()
    }

    /// Reads up to `rows` further rows, not beyond the row group at hand.
    pub(super) fn fill(
        &mut self,
        selection: &mut Selection,
        header: &[String],
        rows: usize,
        chunk: &mut Chunk,
    ) -> Result<()> {
        while self.open.as_ref().is_none_or(|group| group.left == 0) {
            if self.group == self.reader.num_row_groups() {
                return Ok(());
            }
            self.open = Some(self.next_group(selection)?);
        }
        let Some(group) = &mut self.open else { return Ok(()) };
        let rows = rows.min(group.left);
        let width = selection.columns.len();
        chunk.values.resize(rows * width, f64::NAN);
        let mut bad: BTreeMap<usize, (usize, Trouble)> = BTreeMap::new();
        let mut later = selection.later();
        for (j, (index, reader)) in group.columns.iter_mut().enumerate() {
            let column = self.reader.metadata().file_metadata().schema_descr().column(*index);
            let meaning = Meaning::of(&column);
            let read = caught(&self.path, || cells(reader, column.max_def_level(), rows))?;
            if let Some(wanted) = selection.columns.get(j) {
                for (i, cell) in read.iter().enumerate() {
                    match meaning.read(cell, *wanted, &selection.levels, &mut later) {
                        Ok(value) => chunk.values[i * width + j] = value,
                        Err(trouble) => {
                            bad.entry(i).or_insert((*index, trouble));
                            if !selection.lenient {
                                break;
                            }
                        }
                    }
                }
            } else {
                chunk.texts[j - width].extend(read.iter().map(|cell: &Cell| meaning.text(cell)));
            }
        }
        selection.settle(&mut chunk.values, &later);
        if !selection.lenient
            && let Some((i, (index, trouble))) = bad.pop_first()
        {
            let column = Some((index + 1, Some(shorten(&header[index]))));
            let place = Place::Row { file: self.path.clone(), row: self.row + i as u64 + 1, column };
            return Err(SpecError::new(place, trouble));
        }
        let told = |(row, (column, trouble))| Bad { row, column: Some(column), trouble };
        chunk.bad.extend(bad.into_iter().map(told));
        chunk.rows = rows;
        chunk.lines.extend((1..=rows as u64).map(|i| self.row + i));
        self.row += rows as u64;
        group.left -= rows;
        Ok(())
    }

    /// Rows of the row group that comes next; `None` after the last.
    pub(super) fn rows_ahead(&self) -> Option<usize> {
        let more = self.group < self.reader.num_row_groups();
        more.then(|| usize::try_from(self.reader.metadata().row_group(self.group).num_rows()).unwrap_or(0))
    }

    /// Leaves out the row group that comes next, and what is left of the one at hand.
    pub(super) fn skip_group(&mut self) {
        let left = self.open.take().map_or(0, |group| group.left);
        self.row += (left + self.rows_ahead().unwrap_or(0)) as u64;
        self.group += 1;
    }

    fn next_group(&mut self, selection: &Selection) -> Result<Group> {
        let wanted: Vec<usize> =
            selection.columns.iter().map(|c| c.index).chain(selection.texts.iter().copied()).collect();
        let metadata = self.reader.metadata().row_group(self.group);
        let bad = |what: String| fail(&self.path, Trouble::Parquet(what));
        for &i in &wanted {
            self.check_column(&metadata.column(i).column_descr_ptr())?;
            let bytes = u64::try_from(metadata.column(i).uncompressed_size());
            let bytes = bytes.map_err(|_| bad("it states a negative size".to_owned()))?;
            if bytes > self.table_bytes {
                let text = format!(
                    "unpacked, a column has {}, and the limit is {}",
                    size(bytes),
                    size(self.table_bytes)
                );
                return Err(fail(&self.path, Trouble::Inflates(text)));
            }
        }
        let left = usize::try_from(metadata.num_rows());
        let left = left.map_err(|_| bad("it states a negative number of rows".to_owned()))?;
        let columns = caught(&self.path, || {
            let group = self.reader.get_row_group(self.group)?;
            wanted.iter().map(|&i| Ok((i, group.get_column_reader(i)?))).collect()
        })?;
        self.group += 1;
        Ok(Group { columns, left })
    }

    fn check_column(&self, column: &ColumnDescPtr) -> Result<()> {
        if column.max_rep_level() == 0 {
            return Ok(());
        }
        let name = shorten(&column.path().string());
        let trouble =
            Trouble::Parquet(format!("the column `{name}` holds lists, and only single values are read"));
        Err(fail(&self.path, trouble).hint("spread the list over columns of their own"))
    }
}

fn fail(path: &Path, trouble: Trouble) -> Box<SpecError> {
    SpecError::new(Place::File(path.to_owned()), trouble)
}

/// What the library says of a codec that is not built in.
const NOT_BUILT_IN: &str = "Disabled feature at compile time:";

/// What the Parquet library says; it panics on some damaged files, and that is no more than one of its errors.
fn caught<T>(path: &Path, f: impl FnOnce() -> std::result::Result<T, ParquetError>) -> Result<T> {
    let what = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => {
            let said = error.to_string();
            if let Some((_, codec)) = said.split_once(NOT_BUILT_IN) {
                let what = format!("it is packed with {}, which is not read", shorten(codec.trim()));
                let error = fail(path, Trouble::Parquet(what));
                return Err(error.hint("write it with snappy, zstd or gzip, or not packed"));
            }
            shorten(&said)
        }
        Err(_) => "its data are damaged".to_owned(),
    };
    Err(fail(path, Trouble::Parquet(what)).hint("the file may be cut off or damaged: write it again"))
}

#[cfg(test)]
mod tests;
