//! One coefficient: read, checked, brought to its size.

use std::path::PathBuf;

use regretless_core::Matrix;

use super::Context;
use crate::data::{Allowed, Array};
use crate::error::{Place, Result, SpecError, Trouble, count};
use crate::file::{Rows, Source, Vector};
use crate::key::Key;

/// A vector whose size is not checked yet.
pub(super) enum VectorPart {
    /// One number for all entries.
    Scalar(f64),
    /// One number an entry, and the file they are from.
    Values(Vec<f64>, Option<PathBuf>),
    /// Predicted from these columns.
    Predicted(Vec<String>),
}

/// A matrix whose number of rows is not checked yet.
pub(super) enum MatrixPart {
    /// Its entries, and the file they are from.
    Values(Matrix, Option<PathBuf>),
    /// Predicted from these columns.
    Predicted(Vec<String>),
}

impl Context<'_> {
    pub(super) fn vector(&self, key: &Key, written: &Vector, allowed: Allowed) -> Result<VectorPart> {
        match written {
            Vector::Scalar(v) => {
                allowed.check(*v).map_err(|trouble| self.fail(key, trouble))?;
                Ok(VectorPart::Scalar(*v))
            }
            Vector::List(values) => {
                self.check_all(key, values, allowed)?;
                Ok(VectorPart::Values(values.clone(), None))
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
            Vector::From(Source::Predict(columns)) => {
                self.check_columns(key, columns)?;
                Ok(VectorPart::Predicted(columns.clone()))
            }
        }
    }

    /// A matrix with `cols` columns, one a variable.
    pub(super) fn matrix(&self, key: &Key, written: &Rows, cols: usize) -> Result<MatrixPart> {
        match written {
            Rows::Single(row) => {
                self.check_row(key, row, cols)?;
                self.matrix_of(key, 1, cols, row.clone())
            }
            Rows::List(rows) => {
                let mut values = Vec::with_capacity(self.entries(key, rows.len(), cols)?);
                for (i, row) in rows.iter().enumerate() {
                    self.check_row(&key.index(i), row, cols)?;
                    values.extend_from_slice(row);
                }
                self.matrix_of(key, rows.len(), cols, values)
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
            Rows::From(Source::Predict(columns)) => {
                self.check_columns(key, columns)?;
                Ok(MatrixPart::Predicted(columns.clone()))
            }
        }
    }

    fn matrix_of(&self, key: &Key, rows: usize, cols: usize, values: Vec<f64>) -> Result<MatrixPart> {
        let matrix = Matrix::from_vec(rows, cols, values).filter(|m| m.rows() > 0);
        let matrix = matrix.ok_or_else(|| self.fail(key, Trouble::Empty("there are no rows here")))?;
        Ok(MatrixPart::Values(matrix, None))
    }

    fn check_row(&self, key: &Key, row: &[f64], cols: usize) -> Result<()> {
        if row.len() != cols {
            let expected = format!("{}, one for each variable", numbers(cols));
            let error = self.fail(key, Trouble::Shape { expected, found: numbers(row.len()) });
            let more = if row.len() > cols { "; several rows are written as [[…], […]]" } else { "" };
            return Err(error.hint(format!("each row has {} here{more}", numbers(cols))));
        }
        self.check_all(key, row, Allowed::Finite)
    }

    fn check_all(&self, key: &Key, values: &[f64], allowed: Allowed) -> Result<()> {
        for (i, &v) in values.iter().enumerate() {
            allowed.check(v).map_err(|trouble| self.fail(&key.index(i), trouble))?;
        }
        Ok(())
    }

    /// Every predicted entry needs a column, and no table has that many.
    fn predicted(&self, key: &Key, found: usize) -> Result<()> {
        let limit = self.limits.predicted;
        if found > limit {
            let error = self.fail(key, Trouble::TooManyEntries { found, limit });
            return Err(error.hint("every predicted entry is a column of the table: predict a smaller part"));
        }
        Ok(())
    }

    fn check_columns(&self, key: &Key, columns: &[String]) -> Result<()> {
        if columns.iter().any(String::is_empty) || columns.is_empty() {
            let trouble = Trouble::Empty("`predict` names no column");
            return Err(self
                .fail(&key.key("predict"), trouble)
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
            // Names and no patterns: as many as there are.
            Self::Predicted(columns) => {
                columns.iter().all(|name| !name.contains(['*', '?'])).then_some(columns.len())
            }
            Self::Scalar(_) => None,
        }
    }

    /// `len` values, and the columns if they are predicted; those hold `placeholder`.
    pub(super) fn sized(
        self,
        ctx: &Context<'_>,
        key: &Key,
        len: usize,
        why: &str,
        placeholder: f64,
    ) -> Result<(Vec<f64>, Option<Vec<String>>)> {
        match self {
            Self::Scalar(v) => Ok((vec![v; len], None)),
            Self::Predicted(columns) => {
                ctx.predicted(key, len)?;
                Ok((vec![placeholder; len], Some(columns)))
            }
            Self::Values(values, _) if values.len() == len => Ok((values, None)),
            Self::Values(values, file) => {
                let trouble = Trouble::Shape {
                    expected: format!("{}, {why}", numbers(len)),
                    found: numbers(values.len()),
                };
                Err(ctx.misfit(key, file, trouble))
            }
        }
    }
}

impl MatrixPart {
    /// The number of rows, if the part tells it.
    pub(super) fn rows(&self) -> Option<usize> {
        match self {
            Self::Values(matrix, _) => Some(matrix.rows()),
            Self::Predicted(_) => None,
        }
    }

    /// A matrix of that size, and the columns if it is predicted; it is 0 then.
    pub(super) fn sized(
        self,
        ctx: &Context<'_>,
        key: &Key,
        rows: usize,
        cols: usize,
    ) -> Result<(Matrix, Option<Vec<String>>)> {
        match self {
            Self::Predicted(columns) => {
                ctx.predicted(key, rows.saturating_mul(cols))?;
                Ok((Matrix::zeros(rows, cols), Some(columns)))
            }
            Self::Values(matrix, _) if matrix.rows() == rows => Ok((matrix, None)),
            Self::Values(matrix, file) => {
                let trouble =
                    Trouble::Shape { expected: count(rows, "row"), found: count(matrix.rows(), "row") };
                Err(ctx.misfit(key, file, trouble))
            }
        }
    }
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
