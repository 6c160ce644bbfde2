//! Small tables of text: plain CSV without quotes, packed with gzip or in a zip archive.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use zip::ZipArchive;

use crate::BenchmarkError;

/// The most bytes a table unpacks to.
const MOST: u64 = 1 << 28;

/// A table.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    path: PathBuf,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    /// Reads a `.csv`, `.csv.gz` or `.zip` with one table.
    pub(crate) fn read(path: &Path) -> Result<Self, BenchmarkError> {
        let hint = "docs/quality.md says which files a benchmark reads";
        let refused = |what: String| BenchmarkError::file(path, what, hint);
        let file = File::open(path).map_err(|e| refused(e.to_string()))?;
        let mut text = String::new();
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let read = match ending {
            "gz" => GzDecoder::new(file).take(MOST).read_to_string(&mut text),
            "zip" => {
                let mut archive = ZipArchive::new(file).map_err(|e| refused(e.to_string()))?;
                let entry = archive.by_index(0).map_err(|e| refused(e.to_string()))?;
                entry.take(MOST).read_to_string(&mut text)
            }
            _ => file.take(MOST).read_to_string(&mut text),
        };
        read.map_err(|e| refused(e.to_string()))?;
        let cut = |line: &str| line.trim_end_matches('\r').split(',').map(str::to_owned).collect();
        let mut lines = text.lines();
        let header: Vec<String> = lines.next().map(cut).unwrap_or_default();
        let rows: Vec<Vec<String>> = lines.filter(|line| !line.is_empty()).map(cut).collect();
        if let Some(row) = rows.iter().position(|row| row.len() != header.len()) {
            let what =
                format!("line {}: {} cells, and the header has {}", row + 2, rows[row].len(), header.len());
            return Err(refused(what));
        }
        Ok(Self { path: path.to_owned(), header, rows })
    }

    /// What is wrong with it.
    pub(crate) fn refused(&self, what: impl Into<String>, hint: &str) -> BenchmarkError {
        BenchmarkError::file(&self.path, what, hint)
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// A column as it is written.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&str>, BenchmarkError> {
        let Some(at) = self.header.iter().position(|head| head == name) else {
            let hint = format!("it has {}", self.header.join(", "));
            return Err(BenchmarkError::file(&self.path, format!("no column `{name}`"), hint));
        };
        Ok(self.rows.iter().map(|row| row[at].as_str()).collect())
    }

    /// A column of numbers; `True` and `False` are 1 and 0.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f64>, BenchmarkError> {
        let number = |(row, text): (usize, &str)| {
            let value = match text {
                "True" => Some(1.0),
                "False" => Some(0.0),
                _ => text.parse::<f64>().ok().filter(|v| v.is_finite()),
            };
            value.ok_or_else(|| {
                let what = format!("line {}, column {name}: `{text}` is no number", row + 2);
                BenchmarkError::file(&self.path, what, "give a number")
            })
        };
        self.texts(name)?.into_iter().enumerate().map(number).collect()
    }
}
