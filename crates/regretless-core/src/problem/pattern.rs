//! Which coefficients of a matrix are stored, and one row of them.
//!
//! Dense is one pattern, compressed sparse rows are another. Every flat slice of a matrix, be it an override, a prediction or
//! a gradient, has the values in *pattern order*: row after row, from left to right. What a sparse pattern leaves out is 0 and
//! stays 0; a 0 that is stored is a coefficient like any other and may be predicted.

use std::ops::Range;
use std::sync::Arc;

use crate::linalg::simd::Kernel;
use crate::linalg::sparse_ldl::Compressed;

/// Which coefficients of a matrix are stored. Cloning is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub(super) rows: usize,
    pub(super) cols: usize,
    /// `None`: all of them.
    pub(super) sparse: Option<Arc<Sparse>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sparse {
    /// Where each row's coefficients start, and where the last one's end.
    pub(super) starts: Vec<usize>,
    /// Ascending within a row.
    pub(super) columns: Vec<usize>,
}

impl Pattern {
    /// Every coefficient.
    pub fn dense(rows: usize, cols: usize) -> Self {
        Self { rows, cols, sparse: None }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored coefficients.
    pub fn entries(&self) -> usize {
        self.range(0..self.rows).len()
    }

    /// True if every coefficient is stored.
    pub fn is_dense(&self) -> bool {
        self.sparse.is_none()
    }

    /// The places of a sparse pattern.
    pub(crate) fn compressed(&self) -> Option<Compressed<'_>> {
        self.sparse.as_ref().map(|s| Compressed { starts: &s.starts, columns: &s.columns })
    }

    /// Where the coefficients of some rows are in pattern order.
    #[inline]
    pub fn range(&self, rows: Range<usize>) -> Range<usize> {
        match &self.sparse {
            None => rows.start * self.cols..rows.end * self.cols,
            Some(sparse) => sparse.starts[rows.start]..sparse.starts[rows.end],
        }
    }

    /// Row and column of the stored coefficient `entry`.
    pub fn place(&self, entry: usize) -> (usize, usize) {
        match &self.sparse {
            None => (entry / self.cols, entry % self.cols),
            Some(sparse) => {
                (sparse.starts.partition_point(|start| *start <= entry) - 1, sparse.columns[entry])
            }
        }
    }

    /// Row `i` of `values` in this pattern.
    #[inline]
    pub(crate) fn row<'a>(&'a self, values: &'a [f64], i: usize) -> Row<'a> {
        let range = self.range(i..i + 1);
        let columns = match &self.sparse {
            None => Columns::All,
            Some(sparse) => Columns::Some(&sparse.columns[range.clone()]),
        };
        Row { columns, values: &values[range] }
    }

    /// Row `i` of −(a·uᵀ + b·wᵀ), the form of every derivative in a matrix; nothing where `out` is empty.
    #[inline]
    pub(crate) fn pull(&self, i: usize, (a, u): (f64, &[f64]), (b, w): (f64, &[f64]), out: &mut [f64]) {
        let range = self.range(i..i + 1);
        let row = out.get_mut(range.clone()).unwrap_or_default();
        match &self.sparse {
            None => row.iter_mut().zip(u.iter().zip(w)).for_each(|(o, (u, w))| *o = -(a * u + b * w)),
            Some(s) => row.iter_mut().zip(&s.columns[range]).for_each(|(o, &j)| *o = -(a * u[j] + b * w[j])),
        }
    }

    /// Values of a symmetric pattern with `ridge` added to the diagonal.
    pub(crate) fn plus_diagonal(&self, values: &[f64], ridge: f64) -> Vec<f64> {
        let rows = (0..self.rows).flat_map(|i| self.row(values, i).iter().map(move |(j, q)| (i == j, q)));
        rows.map(|(diagonal, q)| q + if diagonal { ridge } else { 0.0 }).collect()
    }

    /// The same for every row, of −(uwᵀ + wuᵀ).
    pub(crate) fn pull_symmetric(&self, u: &[f64], w: &[f64], out: &mut [f64]) {
        (0..self.rows).for_each(|i| self.pull(i, (u[i], w), (w[i], u), out));
    }
}

/// The stored coefficients of one row.
///
/// ```
/// use regretless_core::Coefficients;
/// let rows = Coefficients::sparse(1, 4, [(0, 3, 2.0), (0, 1, 5.0)])?;
/// let row = rows.row(0);
/// assert_eq!(row.dot(&[1.0, 10.0, 1.0, 100.0]), 250.0);
/// assert_eq!(row.iter().collect::<Vec<_>>(), [(1, 5.0), (3, 2.0)]);
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    columns: Columns<'a>,
    values: &'a [f64],
}

#[derive(Clone, Copy, Debug)]
enum Columns<'a> {
    All,
    Some(&'a [usize]),
    One(usize),
}

impl<'a> Row<'a> {
    /// ±xⱼ, a bound's row.
    pub(super) fn unit(column: usize, value: &'a [f64; 1]) -> Self {
        Self { columns: Columns::One(column), values: value }
    }

    /// Column and value of every stored coefficient, from left to right.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let Self { columns, values } = *self;
        let column = move |k: usize| match columns {
            Columns::All => k,
            Columns::Some(columns) => columns[k],
            Columns::One(column) => column,
        };
        values.iter().enumerate().map(move |(k, value)| (column(k), *value))
    }

    /// The stored values.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// The coefficient of variable `j`, 0 where none is stored.
    pub fn get(&self, j: usize) -> f64 {
        let at = match self.columns {
            Columns::All => Some(j),
            Columns::Some(columns) => columns.binary_search(&j).ok(),
            Columns::One(column) => (column == j).then_some(0),
        };
        at.map_or(0.0, |at| self.values[at])
    }

    /// aᵀx
    #[inline]
    pub fn dot(&self, x: &[f64]) -> f64 {
        match self.columns {
            Columns::All => Kernel::new().dot(self.values, x),
            Columns::Some(columns) => columns.iter().zip(self.values).map(|(&j, a)| a * x[j]).sum(),
            Columns::One(j) => self.values[0] * x[j],
        }
    }

    /// |a|ᵀ|x|
    pub fn size(&self, x: &[f64]) -> f64 {
        self.iter().map(|(j, a)| (a * x[j]).abs()).sum()
    }

    /// out += s·a
    pub fn add_to(&self, s: f64, out: &mut [f64]) {
        match self.columns {
            Columns::All => Kernel::new().axpy(s, self.values, out),
            Columns::Some(columns) => columns.iter().zip(self.values).for_each(|(&j, a)| out[j] += s * a),
            Columns::One(j) => out[j] += s * self.values[0],
        }
    }

    /// The row with its zeros, n entries.
    pub fn to_vec(&self, n: usize) -> Vec<f64> {
        let mut out = vec![0.0; n];
        self.iter().for_each(|(j, a)| out[j] = a);
        out
    }
}
