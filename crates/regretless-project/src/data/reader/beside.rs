//! Two tables side by side, line by line: forecasts made elsewhere beside what is known and what came true.

use super::{Guess, TableReader, Wanted};
use crate::data::chunk::{Chunk, Selection};
use crate::error::{Place, Result, SpecError, Trouble, shorten};

/// What columns of forecasts are called, before their own names.
pub(crate) const FORECAST: &str = "forecast of ";

/// The columns of a second table.
pub(super) struct Beside<'a> {
    table: Box<TableReader<'a>>,
    /// Columns of the first table.
    from: usize,
    /// The column that names the rows, in both.
    key: Option<(usize, usize)>,
    /// Of each selected column, whether it is one of the second table.
    theirs: Vec<bool>,
}

impl<'a> TableReader<'a> {
    /// The table with the columns of forecasts after its own, called `forecast of …`. They have a line for each of its rows, in its order;
    /// where both have the column `key` that names the rows, the names are the same.
    pub(crate) fn with_forecasts(mut self, forecasts: TableReader<'a>, key: Option<&str>) -> Self {
        let place = |table: &TableReader<'_>| table.header.iter().position(|name| Some(name.as_str()) == key);
        let key = place(&self).zip(place(&forecasts));
        let from = self.header.len();
        self.header.extend(forecasts.header.iter().map(|name| format!("{FORECAST}{name}")));
        self.beside = Some(Beside { table: Box::new(forecasts), from, key, theirs: Vec::new() });
        self
    }

    /// True for places in the table of forecasts.
    pub(crate) fn is_of_forecasts(&self, place: &Place) -> bool {
        let own = self.path.as_path();
        self.beside
            .as_ref()
            .is_some_and(|beside| place.file() == Some(&beside.table.path) && own != beside.table.path)
    }
}

impl Beside<'_> {
    /// Columns that the first table does not have hold numbers.
    pub(super) fn guesses(&self) -> Vec<Guess> {
        vec![Guess::Number; self.table.header.len()]
    }

    pub(super) fn is_theirs(&self, column: usize) -> bool {
        column >= self.from
    }

    pub(super) fn remark(&self) -> Option<&'static str> {
        self.table.remark()
    }

    /// Takes its columns out of a selection.
    pub(super) fn select(&mut self, selection: &mut Selection) {
        let (from, wanted) = (self.from, std::mem::take(&mut selection.columns));
        self.theirs = wanted.iter().map(|wanted| wanted.index >= from).collect();
        let (theirs, own): (Vec<Wanted>, Vec<Wanted>) = wanted.into_iter().partition(|w| w.index >= from);
        selection.columns = own;
        selection.besides += theirs.len();
        let columns = theirs.into_iter().map(|w| Wanted { index: w.index - from, ..w }).collect();
        let mut texts = Vec::new();
        if let Some((own, there)) = self.key {
            selection.texts.push(own);
            texts.push(there);
        }
        self.table.select_checked(Selection { columns, texts, ..Selection::default() });
    }

    pub(super) fn set_lenient(&mut self, lenient: bool) {
        self.table.set_lenient(lenient);
    }

    /// Leaves out some rows.
    pub(super) fn skip(&mut self, mut rows: usize) -> Result<()> {
        while rows > 0 {
            self.table.chunk_rows(rows);
            let Some(chunk) = self.table.next()? else { return Ok(()) };
            rows -= chunk.rows;
        }
        Ok(())
    }

    /// Puts the cells of its next lines beside those of the first table.
    pub(super) fn join(&mut self, mut chunk: Chunk, table: &str) -> Result<Chunk> {
        let keys = self.key.and_then(|_| chunk.texts.pop());
        let width = self.theirs.iter().filter(|theirs| **theirs).count();
        let own = self.theirs.len() - width;
        let mut values = Vec::with_capacity(chunk.rows * self.theirs.len());
        let mut done = 0;
        while done < chunk.rows {
            self.table.chunk_rows(chunk.rows - done);
            let Some(next) = self.table.next()? else {
                let what = format!("there is no forecast for row {} of {table}", self.table.given.1 + 1);
                return Err(misfit(Place::File(self.table.path.clone()), what));
            };
            if let (Some(keys), Some(theirs)) = (&keys, next.texts.first()) {
                let differ = (0..next.rows).find(|&i| keys[done + i].trim() != theirs[i].trim());
                if let Some(i) = differ {
                    let place = self.table.place_of(next.lines[i], self.key.map(|(_, there)| there));
                    let (here, there) = (shorten(theirs[i].trim()), shorten(keys[done + i].trim()));
                    return Err(misfit(
                        place,
                        format!("the forecast is for `{here}`, and that row of {table} is `{there}`"),
                    ));
                }
            }
            for i in 0..next.rows {
                let mut mine = chunk.values[(done + i) * own..(done + i + 1) * own].iter();
                let mut other = next.values[i * width..(i + 1) * width].iter();
                let take = |theirs: &bool| if *theirs { other.next() } else { mine.next() };
                values.extend(self.theirs.iter().filter_map(take));
            }
            for mut bad in next.bad {
                bad.row += done;
                bad.column = bad.column.map(|column| column + self.from);
                // One trouble a row is enough.
                if !chunk.bad.iter().any(|known| known.row == bad.row) {
                    chunk.bad.push(bad);
                }
            }
            done += next.rows;
        }
        chunk.bad.sort_by_key(|bad| bad.row);
        chunk.values = values;
        Ok(chunk)
    }

    /// Refuses forecasts of rows that are not there.
    pub(super) fn end(&mut self, table: &str) -> Result<()> {
        self.table.chunk_rows(1);
        let Some(next) = self.table.next()? else { return Ok(()) };
        let place = self.table.place_of(next.lines[0], None);
        Err(misfit(
            place,
            format!("{table} has only {} rows, and there are more forecasts", self.table.given.1 - 1),
        ))
    }
}

fn misfit(place: Place, what: String) -> Box<SpecError> {
    SpecError::new(place, Trouble::Misfit(what)).hint(
        "forecasts have a line for each row of the table, in its order; a column with the names of rows (data.key) in both shows which is \
         which",
    )
}
