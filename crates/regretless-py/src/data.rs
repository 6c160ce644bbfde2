//! Tables that come from Python.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use regretless_learn::{Dataset, Part};
use regretless_project::{Column, Frame, Guess, Limits, SpecError, TableReader};

use crate::error;

/// A column of a frame.
#[derive(FromPyObject)]
pub(crate) enum Cells<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Texts(Vec<String>),
}

/// A frame as Python passes it: names and columns.
pub(crate) type Columns<'py> = Vec<(String, Cells<'py>)>;

/// The frame as a table.
pub(crate) fn frame(columns: Columns<'_>) -> PyResult<Frame> {
    let column = |cells| match cells {
        Cells::Numbers(values) => Column::Numbers(PyReadonlyArray1::as_array(&values).to_vec()),
        Cells::Texts(texts) => Column::Texts(texts),
    };
    let columns = columns.into_iter().map(|(name, cells)| (name, column(cells))).collect();
    let uneven = "the columns of the frame differ in length";
    Frame::new("the frame", columns).ok_or_else(|| error::raise("ProjectError", uneven))
}

/// The columns of a table in a file (CSV, CSV.gz, Parquet): numbers, NaN where there is none, and text.
#[pyfunction]
pub(crate) fn read_table(py: Python<'_>, path: PathBuf) -> PyResult<Vec<(String, Py<PyAny>)>> {
    let (header, is_number, numbers, texts) = py.detach(|| columns_of(&path)).map_err(|e| error::spec(&e))?;
    let (mut numbers, mut texts) = (numbers.into_iter(), texts.into_iter());
    let column = |number: bool| -> PyResult<Py<PyAny>> {
        Ok(if number {
            numbers.next().unwrap_or_default().into_pyarray(py).into_any().unbind()
        } else {
            texts.next().unwrap_or_default().into_pyobject(py)?.into_any().unbind()
        })
    };
    let columns: PyResult<Vec<Py<PyAny>>> = is_number.into_iter().map(column).collect();
    Ok(header.into_iter().zip(columns?).collect())
}

/// Names, whether each is a column of numbers, and the columns of numbers and of text.
type Read = (Vec<String>, Vec<bool>, Vec<Vec<f64>>, Vec<Vec<String>>);

fn columns_of(path: &std::path::Path) -> Result<Read, Box<SpecError>> {
    let mut table = TableReader::open(path, &Limits::default())?;
    let is_number: Vec<bool> = table.guesses().iter().map(|guess| *guess == Guess::Number).collect();
    let of = |wanted: bool| (0..is_number.len()).filter(|&i| is_number[i] == wanted).collect::<Vec<usize>>();
    let mut numbers = vec![Vec::new(); of(true).len()];
    let mut texts = vec![Vec::new(); of(false).len()];
    table.select(of(true));
    table.select_texts(of(false));
    while let Some(chunk) = table.next()? {
        for row in chunk.values.chunks_exact(numbers.len().max(1)) {
            numbers.iter_mut().zip(row).for_each(|(own, v)| own.push(*v));
        }
        texts.iter_mut().zip(chunk.texts).for_each(|(own, more)| own.extend(more));
    }
    Ok((table.header().to_vec(), is_number, numbers, texts))
}

/// Rows of history, ready for whatever learns of them.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Data {
    pub(crate) inner: Arc<Dataset>,
}

#[pymethods]
impl Data {
    /// Rows.
    fn __len__(&self) -> usize {
        self.inner.rows()
    }

    /// Names of the features.
    #[getter]
    fn features(&self) -> Vec<String> {
        self.inner.names.features.clone()
    }

    /// The same rows with how much each counts in training.
    fn with_weights(&self, weights: PyReadonlyArray1<'_, f64>) -> Self {
        let data = Dataset::clone(&self.inner).with_weights(weights.as_array().to_vec());
        Self { inner: Arc::new(data) }
    }

    /// The same rows with their parts: `train`, `valid` or `test`.
    fn with_parts(&self, parts: Vec<String>) -> PyResult<Self> {
        let part = |word: &String| Part::ALL.iter().copied().find(|part| part.word() == word);
        let parts: Option<Vec<Part>> = parts.iter().map(part).collect();
        let parts = parts.filter(|parts| parts.len() == self.inner.rows());
        let parts = parts.ok_or_else(|| error::raise("TrainingError", "a part for each row is expected"))?;
        let data = Dataset::clone(&self.inner).with_parts(&parts);
        Ok(Self { inner: Arc::new(data) })
    }
}
