//! One coefficient: read, checked, brought to its size.

use std::path::PathBuf;

use regretless_core::{Coefficients, Matrix};

use super::Context;
use super::places::Wanted;
use crate::data::{Allowed, Array};
use crate::error::{Place, Result, SpecError, Trouble, count, shorten};
use crate::file::{Cell, RowCells, Rows, Selected, Source, Vector};
use crate::key::Key;
use crate::suggest;

/// A vector whose size is not checked yet.
pub(super) enum VectorPart {
    /// One number for all entries.
    Scalar(f64),
    /// One number an entry, and the file they are from.
    Values(Vec<f64>, Option<PathBuf>),
    /// Numbers and columns side by side.
    Cells(Vec<Cell>),
    /// Columns.
    Columns(Selected),
}

/// A matrix whose number of rows is not checked yet.
pub(super) enum MatrixPart {
    /// Its entries, and the file they are from.
    Values(Matrix, Option<PathBuf>),
    /// What its rows hold, by variable; the rest is 0. Stored sparse if a row names its variables.
    Cells { rows: Vec<Vec<(usize, Cell)>>, sparse: bool },
    /// Columns.
    Columns(Selected),
}

impl Context<'_> {
    pub(super) fn vector(&self, key: &Key, written: &Vector, allowed: Allowed) -> Result<VectorPart> {
        match written {
            Vector::Scalar(v) => {
                allowed.check(*v).map_err(|trouble| self.fail(key, trouble))?;
                Ok(VectorPart::Scalar(*v))
            }
            Vector::List(cells) => {
                self.check_cells(key, cells, allowed)?;
                Ok(match numbers_of(cells) {
                    Some(values) => VectorPart::Values(values, None),
                    None => VectorPart::Cells(cells.clone()),
                })
            }
            Vector::From(Source::File(file)) => {
                let (path, array) = self.file(key, file, allowed)?;
                if array.rows != 1 && array.cols != 1 {
                    let found = format!("{} × {} numbers", array.rows, array.cols);
                    let trouble =
                        Trouble::Shape { expected: "a single row or column of numbers".to_owned(), found };
                    return Err(
                        SpecError::new(Place::File(path), trouble).hint(format!("it is read for `{key}`"))
                    );
                }
                Ok(VectorPart::Values(array.values, Some(path)))
            }
            Vector::From(Source::Columns(selected)) => {
                self.check_columns(key, selected)?;
                Ok(VectorPart::Columns(selected.clone()))
            }
        }
    }

    /// A matrix with one column a variable.
    pub(super) fn matrix(&self, key: &Key, written: &Rows, variables: &[String]) -> Result<MatrixPart> {
        let cols = variables.len();
        match written {
            Rows::Single(row) => {
                self.check_row(key, row, cols)?;
                match numbers_of(row) {
                    Some(values) => self.matrix_of(key, 1, cols, values),
                    None => Ok(MatrixPart::Cells { rows: vec![by_column(row)], sparse: false }),
                }
            }
            Rows::List(rows) => {
                let sparse = rows.iter().any(|row| matches!(row, RowCells::Named(_)));
                let room = if sparse { 0 } else { self.entries(key, rows.len(), cols)? };
                let mut values = Vec::with_capacity(room);
                let mut cells = Vec::new();
                for (i, row) in rows.iter().enumerate() {
                    let key = key.index(i);
                    match row {
                        RowCells::Dense(row) => {
                            self.check_row(&key, row, cols)?;
                            if let Some(row) = numbers_of(row).filter(|_| !sparse && cells.is_empty()) {
                                values.extend(row);
                            } else {
                                let before = values.chunks(cols.max(1));
                                let before = before.map(|row| row.iter().map(|v| Cell::Number(*v)));
                                let before = before.map(|row| by_column(&row.collect::<Vec<_>>()));
                                cells.extend(before.collect::<Vec<_>>());
                                values.clear();
                                cells.push(by_column(row));
                            }
                        }
                        RowCells::Named(row) => cells.push(self.by_name(&key, row, variables)?),
                    }
                }
                if cells.is_empty() {
                    return self.matrix_of(key, rows.len(), cols, values);
                }
                Ok(MatrixPart::Cells { rows: cells, sparse })
            }
            Rows::From(Source::File(file)) => {
                let (path, array) = self.file(key, file, Allowed::Finite)?;
                if array.cols != cols {
                    let expected = format!("{cols} columns, one for each variable");
                    let found = format!("{} × {} numbers", array.rows, array.cols);
                    let error = SpecError::new(Place::File(path), Trouble::Shape { expected, found });
                    return Err(error.hint(format!("it is read for `{key}`")));
                }
                let matrix = Matrix::from_vec(array.rows, array.cols, array.values);
                Ok(MatrixPart::Values(matrix.unwrap_or_else(|| Matrix::zeros(0, cols)), Some(path)))
            }
            Rows::From(Source::Columns(selected)) => {
                self.check_columns(key, selected)?;
                Ok(MatrixPart::Columns(selected.clone()))
            }
        }
    }

    /// A row by the names of variables.
    fn by_name(&self, key: &Key, row: &[(String, Cell)], variables: &[String]) -> Result<Vec<(usize, Cell)>> {
        let mut out: Vec<(usize, Cell)> = Vec::with_capacity(row.len());
        for (name, cell) in row {
            let at = key.key(name);
            let Some(j) = variables.iter().position(|variable| variable == name) else {
                let near = suggest::nearest(name, variables);
                let hint = near.map_or_else(
                    || "a row by names is { variable = number, … }".to_owned(),
                    |near| format!("did you mean `{}`?", shorten(near)),
                );
                let trouble = Trouble::Misfit(format!("there is no variable `{}`", shorten(name)));
                return Err(self.fail(&at, trouble).hint(hint));
            };
            self.check_cell(&at, cell, Allowed::Finite)?;
            out.push((j, cell.clone()));
        }
        Ok(out)
    }

    fn matrix_of(&self, key: &Key, rows: usize, cols: usize, values: Vec<f64>) -> Result<MatrixPart> {
        let matrix = Matrix::from_vec(rows, cols, values).filter(|m| m.rows() > 0);
        let matrix = matrix.ok_or_else(|| self.fail(key, Trouble::Empty("there are no rows here")))?;
        Ok(MatrixPart::Values(matrix, None))
    }

    fn check_row(&self, key: &Key, row: &[Cell], cols: usize) -> Result<()> {
        if row.len() != cols {
            let expected = format!("{}, one for each variable", numbers(cols));
            let error = self.fail(key, Trouble::Shape { expected, found: numbers(row.len()) });
            let more = if row.len() > cols { "; several rows are written as [[…], […]]" } else { "" };
            return Err(error.hint(format!("each row has {} here{more}", numbers(cols))));
        }
        self.check_cells(key, row, Allowed::Finite)
    }

    fn check_cells(&self, key: &Key, cells: &[Cell], allowed: Allowed) -> Result<()> {
        cells.iter().enumerate().try_for_each(|(i, cell)| self.check_cell(&key.index(i), cell, allowed))
    }

    fn check_cell(&self, key: &Key, cell: &Cell, allowed: Allowed) -> Result<()> {
        match cell {
            Cell::Number(v) => allowed.check(*v).map_err(|trouble| self.fail(key, trouble)),
            Cell::From(selected) => self.check_columns(key, selected),
        }
    }

    /// Every entry that is a column needs one, and no table has that many.
    fn many(&self, key: &Key, found: usize) -> Result<()> {
        let limit = self.limits.predicted;
        if found > limit {
            let error = self.fail(key, Trouble::TooManyEntries { found, limit });
            return Err(error.hint("every predicted entry is a column of the table: predict a smaller part"));
        }
        Ok(())
    }

    fn check_columns(&self, key: &Key, selected: &Selected) -> Result<()> {
        let columns = &selected.columns;
        if columns.iter().any(String::is_empty) || columns.is_empty() {
            let word = selected.kind.word();
            let trouble = Trouble::Misfit(format!("`{word}` names no column"));
            return Err(self
                .fail(&key.key(word), trouble)
                .hint("name columns or a pattern such as \"price_*\""));
        }
        Ok(())
    }

    fn file(&self, key: &Key, file: &std::path::Path, allowed: Allowed) -> Result<(PathBuf, Array)> {
        let path = self.neighbour(file);
        let array =
            Array::read_checked(&path, self.limits, allowed).map_err(|error| match error.problem {
                // The name is what is wrong: it stands in the problem file.
                Trouble::NotFound => self
                    .fail(&key.key("file"), Trouble::NotFound)
                    .hint(format!("looked for {}: names are relative to the problem file", path.display())),
                _ => error,
            })?;
        Ok((path, array))
    }
}

impl VectorPart {
    /// The number of entries, if the part tells it.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::Values(values, _) => Some(values.len()),
            Self::Cells(cells) => Some(cells.len()),
            // Names and no patterns: as many as there are.
            Self::Columns(Selected { columns, .. }) => {
                columns.iter().all(|name| !name.contains(['*', '?'])).then_some(columns.len())
            }
            Self::Scalar(_) => None,
        }
    }

    /// `len` values, and what of them are columns; those hold `placeholder`.
    pub(super) fn sized(
        self,
        ctx: &Context<'_>,
        key: &Key,
        len: usize,
        why: &str,
        placeholder: f64,
    ) -> Result<(Vec<f64>, Vec<Wanted>)> {
        let misfit = |found: usize, file: Option<PathBuf>| {
            let trouble =
                Trouble::Shape { expected: format!("{}, {why}", numbers(len)), found: numbers(found) };
            Err(ctx.misfit(key, file, trouble))
        };
        match self {
            Self::Scalar(v) => Ok((vec![v; len], Vec::new())),
            Self::Columns(from) => {
                ctx.many(key, len)?;
                let places = (0..len).map(|i| (i, 0)).collect();
                Ok((
                    vec![placeholder; len],
                    vec![Wanted { key: key.clone(), places, from, shape: None, whole: true }],
                ))
            }
            Self::Values(values, _) if values.len() == len => Ok((values, Vec::new())),
            Self::Values(values, file) => misfit(values.len(), file),
            Self::Cells(cells) if cells.len() == len => {
                let mut wanted = Vec::new();
                let value = |(i, cell): (usize, Cell)| match cell {
                    Cell::Number(v) => v,
                    Cell::From(from) => {
                        wanted.push(Wanted::one(key.index(i), (i, 0), from));
                        placeholder
                    }
                };
                Ok((cells.into_iter().enumerate().map(value).collect(), wanted))
            }
            Self::Cells(cells) => misfit(cells.len(), None),
        }
    }
}

impl MatrixPart {
    /// The number of rows, if the part tells it.
    pub(super) fn rows(&self) -> Option<usize> {
        match self {
            Self::Values(matrix, _) => Some(matrix.rows()),
            Self::Cells { rows, .. } => Some(rows.len()),
            Self::Columns(_) => None,
        }
    }

    /// A matrix of that size, and what of it are columns; it is 0 there.
    pub(super) fn sized(
        self,
        ctx: &Context<'_>,
        key: &Key,
        rows: usize,
        cols: usize,
    ) -> Result<(Coefficients, Vec<Wanted>)> {
        let misfit = |found: usize, file: Option<PathBuf>| {
            let trouble = Trouble::Shape { expected: count(rows, "row"), found: count(found, "row") };
            Err(ctx.misfit(key, file, trouble))
        };
        match self {
            Self::Columns(from) => {
                ctx.many(key, rows.saturating_mul(cols))?;
                let places = (0..rows * cols).map(|k| (k / cols, k % cols)).collect();
                let wanted =
                    Wanted { key: key.clone(), places, from, shape: Some((rows, cols)), whole: true };
                Ok((Matrix::zeros(rows, cols).into(), vec![wanted]))
            }
            Self::Values(matrix, _) if matrix.rows() == rows => Ok((matrix.into(), Vec::new())),
            Self::Values(matrix, file) => misfit(matrix.rows(), file),
            Self::Cells { rows: cells, sparse } if cells.len() == rows => {
                let (mut entries, mut wanted) = (Vec::new(), Vec::new());
                for (i, row) in cells.into_iter().enumerate() {
                    for (j, cell) in row {
                        entries.push(match cell {
                            Cell::Number(v) => (i, j, v),
                            Cell::From(from) => {
                                wanted.push(Wanted::one(key.index(i).index(j), (i, j), from));
                                (i, j, 0.0)
                            }
                        });
                    }
                }
                if sparse {
                    let placed = |i: usize, j: usize| wanted.iter().any(|w| w.places == [(i, j)]);
                    entries.retain(|&(i, j, v)| v != 0.0 || placed(i, j));
                    let stored = Coefficients::sparse(rows, cols, entries);
                    return Ok((stored.map_err(|error| ctx.fail(key, error.into()))?, wanted));
                }
                let mut matrix = Matrix::zeros(rows, cols);
                entries.into_iter().for_each(|(i, j, v)| matrix[(i, j)] = v);
                Ok((matrix.into(), wanted))
            }
            Self::Cells { rows: cells, .. } => misfit(cells.len(), None),
        }
    }
}

/// The cells of a row by variable.
fn by_column(row: &[Cell]) -> Vec<(usize, Cell)> {
    row.iter().cloned().enumerate().collect()
}

/// The cells as numbers, if they all are.
fn numbers_of(cells: &[Cell]) -> Option<Vec<f64>> {
    let number = |cell: &Cell| match cell {
        Cell::Number(v) => Some(*v),
        Cell::From(_) => None,
    };
    cells.iter().map(number).collect()
}

impl Context<'_> {
    /// A size that does not fit, at the file the values are from or at the key.
    fn misfit(&self, key: &Key, file: Option<PathBuf>, trouble: Trouble) -> Box<SpecError> {
        match file {
            Some(path) => SpecError::new(Place::File(path), trouble).hint(format!("it is read for `{key}`")),
            None => self.fail(key, trouble),
        }
    }
}

fn numbers(n: usize) -> String {
    count(n, "number")
}
