//! A vector or matrix from a CSV or NPY file.

use std::io::Read;
use std::path::Path;

use super::cell::{Allowed, number};
use super::lines::Lines;
use super::{npy, open};
use crate::Limits;
use crate::error::{Place, Result, SpecError, Trouble};

/// Numbers of a file in rows and columns, row-major.
///
/// ```
/// use regretless_project::{Array, Limits};
/// let text = "wheat,corn\n3.0,2.0\n";
/// let array = Array::from_csv(text.as_bytes(), "prices.csv".as_ref(), &Limits::default())?;
/// assert_eq!((array.rows, array.cols), (1, 2));
/// assert_eq!(array.values, [3.0, 2.0]);
/// # Ok::<(), Box<regretless_project::SpecError>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Rows; a one-dimensional NPY array is one row.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Entries, row after row. They may be infinite or NaN: whoever uses them knows what is allowed.
    pub values: Vec<f64>,
}

impl Array {
    /// Reads a file by the format its name tells: `.csv` or `.npy`.
    pub fn read(path: &Path, limits: &Limits) -> Result<Self> {
        Self::load(path, limits, None)
    }

    /// Reads a file whose numbers must all be `allowed`.
    pub(crate) fn read_checked(path: &Path, limits: &Limits, allowed: Allowed) -> Result<Self> {
        Self::load(path, limits, Some(allowed))
    }

    fn load(path: &Path, limits: &Limits, allowed: Option<Allowed>) -> Result<Self> {
        let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        let opened = open::open(path, limits.table_bytes)?;
        match ending.as_deref() {
            Some("csv") => Self::csv(opened.file.take(limits.table_bytes), path, limits, allowed),
            Some("npy") => match opened.length {
                Some(length) => Self::from_npy(opened.file, length, path, limits)?.checked(path, allowed),
                None => Err(SpecError::new(Place::File(path.to_owned()), Trouble::NotAFile("a pipe"))
                    .hint("NPY is read from regular files only: write it to one first")),
            },
            _ => {
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
                Err(SpecError::new(Place::File(path.to_owned()), Trouble::UnknownFormat(name))
                    .hint("rename the file after its format, or write it as CSV or with numpy.save"))
            }
        }
    }

    /// Reads CSV. The first line is a header if none of its cells is a number.
    pub fn from_csv(reader: impl Read, path: &Path, limits: &Limits) -> Result<Self> {
        Self::csv(reader, path, limits, None)
    }

    fn csv(reader: impl Read, path: &Path, limits: &Limits, allowed: Option<Allowed>) -> Result<Self> {
        let mut lines = Lines::new(reader, path);
        let mut array = Self { rows: 0, cols: 0, values: Vec::new() };
        let mut first = true;
        while let Some(cells) = lines.next()? {
            let header = first && cells.iter().all(|cell| number(cell).is_err());
            first = false;
            if header {
                continue;
            }
            array.rows += 1;
            array.cols = cells.len();
            let found = array.values.len() + cells.len();
            if found > limits.entries {
                let trouble = Trouble::TooManyEntries { found, limit: limits.entries };
                return Err(SpecError::new(Place::File(path.to_owned()), trouble));
            }
            let mut bad = None;
            for (i, cell) in cells.iter().enumerate() {
                match number(cell).and_then(|v| allowed.map_or(Ok(()), |a| a.check(v)).map(|()| v)) {
                    Ok(value) => array.values.push(value),
                    Err(trouble) => bad = bad.or(Some((i, trouble))),
                }
            }
            if let Some((i, trouble)) = bad {
                let unreadable = matches!(trouble, Trouble::NotANumber(_) | Trouble::EmptyCell);
                let error = SpecError::new(lines.here(Some((i, None))), trouble);
                return Err(if unreadable { error.hint(CELL_HINT) } else { error });
            }
        }
        if array.rows == 0 {
            return Err(SpecError::new(
                Place::File(path.to_owned()),
                Trouble::Empty("the file has no numbers"),
            ));
        }
        Ok(array)
    }

    /// Reads NPY, of which `length` bytes are there.
    pub fn from_npy(reader: impl Read, length: u64, path: &Path, limits: &Limits) -> Result<Self> {
        npy::read(reader, length, limits.entries).map_err(|trouble| {
            let unreadable = matches!(trouble, Trouble::Npy(_));
            let error = SpecError::new(Place::File(path.to_owned()), trouble);
            let hint = "write it with numpy.save(path, array.astype(\"<f8\")), one- or two-dimensional";
            if unreadable { error.hint(hint) } else { error }
        })
    }

    fn checked(self, path: &Path, allowed: Option<Allowed>) -> Result<Self> {
        for (i, &v) in self.values.iter().enumerate() {
            let Err(trouble) = allowed.map_or(Ok(()), |a| a.check(v)) else { continue };
            let place = Place::File(path.to_owned());
            let (row, col) = (i / self.cols, i % self.cols);
            return Err(SpecError::new(place, trouble)
                .hint(format!("it is the entry ({row}, {col}), counted from 0")));
        }
        Ok(self)
    }
}

const CELL_HINT: &str = "cells are numbers such as -1.5e3 with a decimal point, separated by commas; \
                         a first line without any number is taken as the header";

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str) -> Result<Array> {
        Array::from_csv(text.as_bytes(), Path::new("a.csv"), &Limits { entries: 8, ..Limits::default() })
    }

    #[test]
    fn with_and_without_header() {
        let plain = csv("1,2\n3,4\n").unwrap();
        assert_eq!((plain.rows, plain.cols), (2, 2));
        let named = csv("a,b\r\n1, 2\r\n3,4").unwrap();
        assert_eq!(named.values, [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn bad_files_name_line_and_column() {
        let message = |text| csv(text).unwrap_err().to_string();
        assert_eq!(message("a,b\n1,x\n"), "a.csv, line 2, column 2: `x` is not a number");
        assert_eq!(message("1,b\n1,2\n"), "a.csv, line 1, column 2: `b` is not a number");
        assert_eq!(message("1,2\n3\n"), "a.csv, line 2: 1 cell, but the lines before have 2");
        assert_eq!(message("1,2\n3,\n"), "a.csv, line 2, column 2: the cell is empty");
        assert_eq!(message("a,b\n"), "a.csv: the file has no numbers");
        assert_eq!(message(""), "a.csv: the file has no numbers");
        assert_eq!(message("1,2,3,4,5,6,7,8,9\n"), "a.csv: this would have 9 entries and the limit is 8");
    }
}
