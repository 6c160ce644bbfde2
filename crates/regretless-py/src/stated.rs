//! What Python makes a `Problem` from: the statement of a problem file, and what of it is predicted and known.

use std::collections::BTreeSet;
use std::ops::Range;

use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless_core::problem::{Block, Pattern};
use regretless_core::{Coefficients, Sense};
use regretless_learn::Split;
use regretless_project::{Kind, Parameter, Spec};

use crate::arrays::table;
use crate::error;
use crate::loss::{GivenTerm, told_terms};

type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Rows<'py> = (String, Bound<'py, PyAny>, Vector<'py>);

/// Rows and columns of entries, for Python.
pub(crate) type Places<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// A predicted part: symbol, the entries of the parameter from and to, its columns by name or pattern.
pub(crate) type Part = (&'static str, usize, usize, Vec<String>);

/// What is predicted and known that is no parameter as a whole: columns, those of a key together, and terms.
type Told = (Vec<Vec<String>>, Vec<Vec<String>>, Vec<GivenTerm>);

/// The state of a problem file's problem, its name, what it predicts in the order of the targets, and how, where that is not
/// parameters as a whole. Then the parameters that hold placeholders, the words of a problem in algebra, and what `[data]` says of
/// columns, as JSON.
pub(crate) type Stated<'py> = (
    Bound<'py, PyDict>,
    Option<String>,
    Vec<Part>,
    Option<Told>,
    BTreeSet<&'static str>,
    Option<String>,
    Option<String>,
);

pub(crate) fn stated<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Stated<'py>> {
    let told = spec.quantities().map_err(|e| error::spec(&e))?;
    let told = told.map(|q| (q.predicted, q.known, told_terms(q.placement.terms())));
    let placed = spec.placed().terms.iter().map(|term| term.parameter.symbol()).collect();
    let (name, words) = (spec.name().map(str::to_owned), spec.statement());
    let data = spec.data().map(|data| {
        let mut told = data.of_columns();
        if let (Split::Column(split), Some(exclude)) =
            (&spec.settings().split, told["exclude"].as_array_mut())
        {
            exclude.push(split.clone().into());
        }
        told.to_string()
    });
    Ok((state(py, spec)?, name, parts(spec), told, placed, words, data))
}

/// What is predicted as a whole, and entry by entry where it is not.
pub(crate) fn parts(spec: &Spec) -> Vec<Part> {
    let problem = spec.problem();
    let mut all = Vec::new();
    for (at, part) in spec.placed().selections.iter().enumerate().filter(|(_, p)| p.kind == Kind::Predicted) {
        let range = |parameter: Parameter, rows: Range<usize>| {
            let entries = parameter.pattern(problem).map_or(rows.clone(), |p| p.range(rows.clone()));
            (parameter.symbol(), entries.start, entries.end, part.columns.clone())
        };
        match &part.home {
            Some((parameter, rows)) => all.push(range(*parameter, rows.clone())),
            None => all.extend(
                spec.placed()
                    .parameters(at)
                    .into_iter()
                    .map(|parameter| (parameter.symbol(), 0, 0, part.columns.clone())),
            ),
        }
    }
    all
}

/// Row and column of some entries; `first` is the row that counts as 0.
pub(crate) fn places<'py>(
    py: Python<'py>,
    pattern: &Pattern,
    entries: Range<usize>,
    first: usize,
) -> Places<'py> {
    let (rows, columns): (Vec<_>, Vec<_>) = entries.map(|e| pattern.place(e)).unzip();
    let array = |part: Vec<usize>, first: usize| {
        let whole = |i: &usize| i64::try_from(i - first).unwrap_or(i64::MAX);
        part.iter().map(whole).collect::<Vec<_>>().to_pyarray(py)
    };
    (array(rows, first), array(columns, 0))
}

/// Some rows of a matrix: an array, or height, width, rows, columns and values of a sparse one.
fn matrix<'py>(py: Python<'py>, of: &Coefficients, rows: Range<usize>) -> PyResult<Bound<'py, PyAny>> {
    let (n, pattern) = (of.cols(), of.pattern());
    let entries = pattern.range(rows.clone());
    let values = &of.as_slice()[entries.clone()];
    if pattern.is_dense() {
        return Ok(table(py, rows.len(), n, values.to_vec())?.into_any());
    }
    let (at, columns) = places(py, pattern, entries, rows.start);
    Ok((rows.len(), n, at, columns, values.to_pyarray(py)).into_pyobject(py)?.into_any())
}

fn rows<'py>(
    py: Python<'py>,
    of: &Coefficients,
    blocks: &[Block],
    side: impl Fn(&Block) -> Vector<'py>,
) -> PyResult<Vec<Rows<'py>>> {
    let one = |block: &Block| Ok((block.name.clone(), matrix(py, of, block.rows.clone())?, side(block)));
    blocks.iter().map(one).collect()
}

/// What `Problem` is made from. θ is left out if all of it comes from columns.
fn state<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Bound<'py, PyDict>> {
    let problem = spec.problem();
    let linear = spec.placed().terms.iter().filter(|term| term.parameter == Parameter::Linear);
    let placed: BTreeSet<usize> = linear.map(|term| term.row).collect();
    let out = PyDict::new(py);
    out.set_item("n", problem.n())?;
    out.set_item("sense", if problem.sense() == Sense::Max { "max" } else { "min" })?;
    out.set_item("variables", problem.variables())?;
    let fixed = problem.states_theta() && placed.len() < problem.n();
    out.set_item("theta", fixed.then(|| problem.theta().to_pyarray(py)))?;
    out.set_item("Q", problem.Q().map(|q| matrix(py, q, 0..q.rows())).transpose()?)?;
    let soft = problem.soft();
    let part = |values: &[f64], block: &Block| values[block.rows.clone()].to_pyarray(py);
    let blocks: Vec<_> = rows(py, &soft.C, &soft.blocks, |block| part(&soft.d, block))?
        .into_iter()
        .zip(&soft.blocks)
        .map(|((name, matrix, limits), block)| {
            (name, matrix, limits, part(&soft.alpha, block), part(&soft.under, block))
        })
        .collect();
    out.set_item("soft", blocks)?;
    for (kind, hard) in [("at_most", problem.at_most()), ("equal", problem.equal())] {
        out.set_item(kind, rows(py, &hard.rows, &hard.blocks, |block| part(&hard.rhs, block))?)?;
    }
    out.set_item("lower", problem.lower().to_pyarray(py))?;
    out.set_item("upper", problem.upper().to_pyarray(py))?;
    Ok(out)
}
