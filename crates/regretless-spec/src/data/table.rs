//! The parameter table: one row an instance, columns by name.

use std::io::Read;
use std::path::{Path, PathBuf};

use regretless_core::{Problem, ProblemError};

use super::cell::{Allowed, number};
use super::lines::Lines;
use super::open;
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::{Limits, Parameter, Parameters, Predicted, Spec};

/// The predicted parameters of many instances, read from a CSV file with a header.
#[derive(Clone, Debug)]
pub struct ParameterTable {
    file: PathBuf,
    problem: Problem,
    predicted: Vec<Predicted>,
    columns: Vec<String>,
    values: Vec<f64>,
    lines: Vec<u64>,
}

/// A column to read: where it is, what it is called, which part it serves.
struct Column<'a> {
    index: usize,
    name: String,
    part: &'a Predicted,
}

impl ParameterTable {
    /// Reads the columns that `spec` predicts; others are not looked at.
    pub fn read(path: &Path, spec: &Spec, limits: &Limits) -> Result<Self> {
        let opened = open::open(path, limits.table_bytes)?;
        Self::from_csv(opened.file.take(limits.table_bytes), path, spec, limits)
    }

    /// Reads CSV text; `path` is for messages.
    pub fn from_csv(reader: impl Read, path: &Path, spec: &Spec, limits: &Limits) -> Result<Self> {
        let mut lines = Lines::new(reader, path);
        let header = header(&mut lines, path)?;
        let place = lines.place(None);
        let mut columns = Vec::new();
        for part in spec.predicted() {
            let mut chosen = part.select(&header, &place)?;
            // One entry a variable: names beat the order of the table.
            if matches!(part.parameter, Parameter::Linear | Parameter::Lower | Parameter::Upper) {
                chosen = part.by_variable(chosen, &header, spec.problem().variables());
            }
            for index in chosen {
                columns.push(Column { index, name: header[index].clone(), part });
            }
        }
        let mut table = Self {
            file: path.to_owned(),
            problem: spec.problem().clone(),
            predicted: spec.predicted().to_vec(),
            columns: columns.iter().map(|c| c.name.clone()).collect(),
            values: Vec::new(),
            lines: Vec::new(),
        };
        table.read_rows(&mut lines, &columns, limits)?;
        if table.is_empty() {
            let trouble = Trouble::Empty("the table has a header but no rows");
            return Err(
                SpecError::new(Place::File(path.to_owned()), trouble).hint("add a row for each instance")
            );
        }
        Ok(table)
    }

    fn read_rows<R: Read>(
        &mut self,
        lines: &mut Lines<R>,
        columns: &[Column<'_>],
        limits: &Limits,
    ) -> Result<()> {
        loop {
            let Some(cells) = lines.next()? else { return Ok(()) };
            let found = self.values.len() + columns.len().max(1);
            if found.max(self.lines.len()) > limits.entries {
                let trouble = Trouble::TooManyEntries { found, limit: limits.entries };
                return Err(SpecError::new(Place::File(self.file.clone()), trouble).hint("split the table"));
            }
            let mut bad = None;
            for column in columns {
                let value = number(&cells[column.index]);
                match value.and_then(|v| Allowed::of(column.part.parameter).check(v).map(|()| v)) {
                    Ok(value) => self.values.push(value),
                    Err(trouble) => {
                        bad = Some((column, trouble));
                        break;
                    }
                }
            }
            if let Some((column, trouble)) = bad {
                let place = lines.place(Some((column.index, Some(shorten(&column.name)))));
                let hint = format!("the column is an entry of the predicted `{}`", column.part.key);
                return Err(SpecError::new(place, trouble).hint(hint));
            }
            self.lines.push(lines.number());
        }
    }

    /// Number of instances, at least 1.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Never true of a table that was read.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The columns in use: those of the first predicted part, then those of the next.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The line of the file that instance `row` stands on.
    pub fn line(&self, row: usize) -> Option<u64> {
        self.lines.get(row).copied()
    }

    /// The parameters of instance `row`, counted from 0; `None` beyond the last.
    pub fn row(&self, row: usize) -> Option<Parameters> {
        self.lines.get(row)?;
        let width = self.columns.len();
        let mut values = &self.values[row * width..(row + 1) * width];
        let mut parameters = Parameters::default();
        for part in &self.predicted {
            let (own, rest) = values.split_at(part.range.len());
            parameters.get_mut(part.parameter, &self.problem)[part.range.clone()].copy_from_slice(own);
            values = rest;
        }
        Some(parameters)
    }

    /// What the engine says of instance `row`, with the line it stands on.
    pub fn error(&self, row: usize, error: ProblemError) -> Box<SpecError> {
        let place = match self.line(row) {
            Some(line) => Place::Cell { file: self.file.clone(), line, column: None },
            None => Place::File(self.file.clone()),
        };
        SpecError::new(place, Trouble::Problem(error))
    }
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
        return Err(SpecError::new(
            lines.place(Some((i, None))),
            Trouble::Syntax("the name is not UTF-8 text".into()),
        ));
    }
    if numbers {
        let trouble =
            Trouble::Syntax("the line has only numbers, but the first line of a table is its header".into());
        return Err(SpecError::new(lines.place(None), trouble).hint(HINT));
    }
    Ok(names.into_iter().flatten().collect())
}
