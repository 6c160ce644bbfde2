//! Tables that come from Python.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use regretless_learn::{Dataset, Part};
use regretless_project::{Column, Frame};

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
