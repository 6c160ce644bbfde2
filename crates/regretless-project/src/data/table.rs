//! The parameter table: one row an instance, columns by name.

use std::io::Read;
use std::path::Path;

use regretless_core::{Placement, Problem, ProblemError};

use super::chunk::{Selection, Wanted};
use super::frame::Frame;
use super::reader::TableReader;
use crate::columns::{Taken, Want, taken};
use crate::data_settings::Missing;
use crate::dataset::BESIDES;
use crate::error::{Place, Result, SpecError, Trouble};
use crate::{Limits, Parameters, Spec};

/// The predicted and known numbers of many instances, read from a table with a header.
#[derive(Clone, Debug)]
pub struct ParameterTable {
    /// The place of every row but for its number.
    place: Place,
    problem: Problem,
    placement: Placement,
    columns: Vec<String>,
    values: Vec<f64>,
    lines: Vec<u64>,
}

impl ParameterTable {
    /// Reads the columns that `spec` predicts from CSV, CSV packed with gzip or Parquet; others are not looked at.
    pub fn read(path: &Path, spec: &Spec, limits: &Limits) -> Result<Self> {
        Self::take(TableReader::open(path, limits)?, spec, limits, None)
    }

    /// The first rows of a table of history, at most `most`. Rows that lack a value are left out unless `data.missing` refuses such.
    pub(crate) fn read_first(path: &Path, spec: &Spec, most: usize) -> Result<Self> {
        Self::take(TableReader::open(path, spec.limits())?, spec, spec.limits(), Some(most.max(1)))
    }

    /// Reads CSV text; `path` is for messages.
    pub fn from_csv(reader: impl Read + Send, path: &Path, spec: &Spec, limits: &Limits) -> Result<Self> {
        Self::take(TableReader::from_csv(reader, path, limits)?, spec, limits, None)
    }

    /// Takes the columns that `spec` predicts from a table in memory; of a history as [`Self::read_first`].
    pub(crate) fn from_frame(frame: &Frame, spec: &Spec, first: Option<usize>) -> Result<Self> {
        Self::take(frame.reader(), spec, spec.limits(), first)
    }

    /// `first`: only so many rows, of the history that `[data]` names.
    fn take(mut reader: TableReader<'_>, spec: &Spec, limits: &Limits, first: Option<usize>) -> Result<Self> {
        let drops = first.is_some()
            && spec.data().is_some_and(|data| matches!(data.missing, Missing::Keep | Missing::Drop));
        let want = Want { features: false, targets: true };
        let chosen = taken(spec, reader.header(), want, &reader.place())?;
        let placed = spec.placed().resolve(spec.problem(), reader.header(), &reader.place())?;
        let wanted = |taken: &Taken<'_>| Wanted::number(taken.index, Some(taken.allowed), drops);
        reader.select_checked(Selection {
            columns: chosen.iter().map(wanted).collect(),
            entries: Some(limits.entries),
            besides: BESIDES,
            ..Selection::default()
        });
        let mut table = Self {
            place: reader.place_of(0, None),
            problem: spec.problem().clone(),
            placement: placed.placement,
            columns: chosen.iter().map(|taken| reader.header()[taken.index].clone()).collect(),
            values: Vec::new(),
            lines: Vec::new(),
        };
        let width = chosen.len().max(1);
        let left = |table: &Self| first.map_or(usize::MAX, |most| most - table.len().min(most));
        while left(&table) > 0 {
            if first.is_some() {
                reader.chunk_rows(left(&table));
            }
            let chunk = reader.next().map_err(|error| with_part(error, &chosen))?;
            let Some(mut chunk) = chunk else { break };
            if drops {
                for (row, line) in chunk.values.chunks_exact(width).zip(chunk.lines) {
                    if row.iter().all(|v| !v.is_nan()) {
                        table.values.extend(row);
                        table.lines.push(line);
                    }
                }
            } else {
                table.values.append(&mut chunk.values);
                table.lines.append(&mut chunk.lines);
            }
        }
        if table.is_empty() {
            let trouble = if drops {
                Trouble::Empty("no row of the table has a value in every column that is needed")
            } else {
                Trouble::Empty("the table has a header but no rows")
            };
            let place = reader.place_of(0, None).file().map(Path::to_owned).unwrap_or_default();
            return Err(SpecError::new(Place::File(place), trouble).hint("add a row for each instance"));
        }
        Ok(table)
    }

    /// Number of instances, at least 1.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Never true of a table that was read.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The columns in use: the predicted ones, then the known ones.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The line of the file that instance `row` stands on; its row, counted from 1, in files without lines.
    pub fn line(&self, row: usize) -> Option<u64> {
        self.lines.get(row).copied()
    }

    /// The parameters of instance `row`, counted from 0; `None` beyond the last.
    pub fn row(&self, row: usize) -> Option<Parameters> {
        self.lines.get(row)?;
        let width = self.columns.len();
        let values = &self.values[row * width..(row + 1) * width];
        let (quantities, known) = values.split_at(self.placement.width());
        Some(self.placement.parameters(&self.problem, quantities, known))
    }

    /// Prices of all instances that are negative, and count as 0.
    pub fn cut(&self) -> usize {
        let rows = self.values.chunks_exact(self.columns.len().max(1));
        let of = |values: &[f64]| {
            let (quantities, known) = values.split_at(self.placement.width());
            self.placement.cut(quantities, known)
        };
        rows.map(of).sum()
    }

    /// What the engine says of instance `row`, with the line it stands on.
    pub fn error(&self, row: usize, error: ProblemError) -> Box<SpecError> {
        let mut place = self.place.clone();
        if let (Some(at), Place::Cell { line: number, .. } | Place::Row { row: number, .. }) =
            (self.line(row), &mut place)
        {
            *number = at;
        }
        SpecError::new(place, Trouble::Problem(error))
    }
}

/// Says which part a bad cell belongs to.
fn with_part(error: Box<SpecError>, chosen: &[Taken<'_>]) -> Box<SpecError> {
    let part = error.place.column().and_then(|at| chosen.iter().find(|taken| taken.index == at));
    match part {
        Some(taken) => error.hint(taken.part.cell_hint()),
        None => error,
    }
}
