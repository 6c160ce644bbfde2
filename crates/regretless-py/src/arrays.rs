//! Arrays of parameters as the engine takes them, without a copy.

use std::ops::Range;

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use regretless_core::problem::Shape;
use regretless_core::{Instance, Parameter, RowValues};

use crate::error;

/// Overridden parameters as Python passes them: name and array, a row an instance or one row for all.
pub(crate) type Given<'py> = Vec<(String, PyReadonlyArray2<'py, f64>)>;

/// Ids of samples as Python has them.
#[derive(FromPyObject)]
pub(crate) enum Ids<'py> {
    Signed(PyReadonlyArray1<'py, i64>),
    Unsigned(PyReadonlyArray1<'py, u64>),
}

impl Ids<'_> {
    /// One for each instance, none below 0.
    pub(crate) fn of(&self, rows: usize) -> PyResult<Vec<u64>> {
        let ids: Option<Vec<u64>> = match self {
            Self::Signed(ids) => ids.as_array().iter().map(|&id| u64::try_from(id).ok()).collect(),
            Self::Unsigned(ids) => Some(ids.as_array().to_vec()),
        };
        let ids = ids.ok_or_else(|| error::problem("ids are whole numbers from 0 on"))?;
        if ids.len() != rows {
            return Err(error::problem(format!("ids have the shape ({},), expected ({rows},)", ids.len())));
        }
        Ok(ids)
    }
}

/// The parameter with a symbol of the documentation.
pub(crate) fn parameter(symbol: &str) -> PyResult<Parameter> {
    let found = Parameter::ALL.into_iter().find(|p| p.symbol() == symbol);
    found.ok_or_else(|| error::problem(format!("there is no parameter `{symbol}`")))
}

/// The numbers of an array in the order of its rows.
pub(crate) fn flat<'a>(what: &str, array: &'a PyReadonlyArray2<'_, f64>) -> PyResult<&'a [f64]> {
    // `as_slice` takes the order of Fortran, too.
    let rows = array.as_slice().ok().filter(|_| array.is_c_contiguous());
    rows.ok_or_else(|| error::problem(format!("{what} is not C-contiguous")))
}

/// Parameters of a batch.
pub(crate) struct Overrides<'a> {
    /// Numbers and how many lie between an instance and the next.
    parts: Vec<(Parameter, &'a [f64], usize)>,
    rows: usize,
}

impl<'a> Overrides<'a> {
    /// Looks through what Python passed; every array has `rows` rows or one.
    pub(crate) fn of(given: &'a Given<'_>, rows: usize) -> PyResult<Self> {
        let part = |(symbol, array): &'a (String, PyReadonlyArray2<'_, f64>)| {
            let own = array.as_array().nrows();
            if own != rows && own != 1 {
                return Err(error::problem(format!("{symbol} has {own} instances, expected {rows}")));
            }
            // One row for all is the same slice for every instance.
            let stride = if own == rows { array.as_array().ncols() } else { 0 };
            Ok((parameter(symbol)?, flat(symbol, array)?, stride))
        };
        Ok(Self { parts: given.iter().map(part).collect::<PyResult<_>>()?, rows })
    }

    /// How many instances there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Some of the instances.
    pub(crate) fn instances(&self, range: Range<usize>) -> Vec<Instance<'a>> {
        range.map(|row| self.instance(row)).collect()
    }

    fn instance(&self, row: usize) -> Instance<'a> {
        let mut instance = Instance::default();
        for &(parameter, values, stride) in &self.parts {
            let own = if stride == 0 { values } else { &values[row * stride..(row + 1) * stride] };
            *instance.get_mut(parameter) = Some(own);
        }
        instance
    }
}

/// Rows of equal length as an array.
pub(crate) fn table(
    py: Python<'_>,
    rows: usize,
    width: usize,
    values: Vec<f64>,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let array = Array2::from_shape_vec((rows, width), values);
    Ok(array.map_err(|e| error::raise("InternalError", e))?.into_pyarray(py))
}

/// The five kinds of rows with the number of each.
pub(crate) fn kinds(shape: Shape) -> [(&'static str, usize); 5] {
    let (soft, at_most, equal, n) = (shape.soft, shape.at_most, shape.equal, shape.n);
    [("soft", soft), ("at_most", at_most), ("equal", equal), ("lower", n), ("upper", n)]
}

/// The numbers of one kind of rows.
pub(crate) fn of_kind<'a>(values: &'a RowValues, kind: &str) -> &'a [f64] {
    match kind {
        "soft" => &values.soft,
        "at_most" => &values.at_most,
        "equal" => &values.equal,
        "lower" => &values.lower,
        _ => &values.upper,
    }
}
