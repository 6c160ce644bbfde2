//! Coefficients of matrices: a pattern with values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::ProblemError;
use super::pattern::{Pattern, Row, Sparse};
use crate::linalg::matrix::Matrix;
use crate::linalg::simd::Kernel;

/// Coefficients of a block of rows, or of a quadratic term. A [`Matrix`] has them all; [`Coefficients::sparse`] those that
/// are stated.
///
/// ```
/// use regretless_core::{Coefficients, Instance, Problem};
/// // 3x₀ ≤ 6 and x₁ + 2x₂ ≤ 4, by their coefficients alone.
/// let rows = Coefficients::sparse(2, 3, [(0, 0, 3.0), (1, 2, 2.0), (1, 1, 1.0)])?;
/// assert_eq!(rows.as_slice(), [3.0, 1.0, 2.0]); // pattern order
/// let problem = Problem::maximize(3).linear([1.0; 3]).at_most("machines", rows, [6.0, 4.0]).build()?;
/// // An instance gives values for what is stored, and gradients come for that.
/// let view = problem.view(&Instance { A: Some(&[3.0, 1.0, 5.0]), ..Instance::default() })?;
/// assert_eq!(view.violation(&[2.0, 0.0, 1.0]), 1.0);
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficients {
    pattern: Pattern,
    values: Vec<f64>,
}

impl From<Matrix> for Coefficients {
    fn from(matrix: Matrix) -> Self {
        let pattern = Pattern::dense(matrix.rows(), matrix.cols());
        Self { pattern, values: matrix.into_vec() }
    }
}

impl Coefficients {
    /// A sparse pattern with values, from (row, column, value) in any order. One stated twice is refused: it would have two
    /// places in a prediction.
    pub fn sparse(
        rows: usize,
        cols: usize,
        entries: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, ProblemError> {
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_by_key(|&(i, j, _)| (i, j));
        if let Some(&(row, col, _)) = entries.iter().find(|&&(i, j, _)| i >= rows || j >= cols) {
            return Err(ProblemError::OutOfRange { row, col, rows, cols });
        }
        let same = |pair: &&[(usize, usize, f64)]| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1);
        if let Some(&[(row, col, _), _]) = entries.windows(2).find(same) {
            return Err(ProblemError::StatedTwice { row, col });
        }
        Ok(Self::stored(rows, cols, &entries))
    }

    /// Of entries in pattern order.
    fn stored(rows: usize, cols: usize, entries: &[(usize, usize, f64)]) -> Self {
        let starts = (0..=rows).map(|i| entries.partition_point(|e| e.0 < i)).collect();
        let columns = entries.iter().map(|e| e.1).collect();
        let sparse = Some(Arc::new(Sparse { starts, columns }));
        Self { pattern: Pattern { rows, cols, sparse }, values: entries.iter().map(|e| e.2).collect() }
    }

    /// No rows yet.
    pub(crate) fn empty(cols: usize) -> Self {
        Self { pattern: Pattern::dense(0, cols), values: Vec::new() }
    }

    /// No rows yet, and a sparse pattern for those that come.
    pub(crate) fn compressed(cols: usize) -> Self {
        Self::stored(0, cols, &[])
    }

    /// Appends a row of a sparse pattern, entries from left to right.
    pub(crate) fn push(&mut self, entries: impl Iterator<Item = (usize, f64)>) {
        let Some(sparse) = &mut self.pattern.sparse else { return };
        let sparse = Arc::make_mut(sparse);
        for (j, value) in entries {
            sparse.columns.push(j);
            self.values.push(value);
        }
        sparse.starts.push(sparse.columns.len());
        self.pattern.rows += 1;
    }

    /// All entries of a dense pattern anew, as many rows as they come to.
    pub(crate) fn refill(&mut self, fill: impl FnOnce(&mut Vec<f64>)) {
        self.values.clear();
        fill(&mut self.values);
        self.pattern = Pattern::dense(self.values.len() / self.pattern.cols, self.pattern.cols);
    }

    /// The stored values of row `i`, to change.
    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [f64] {
        let range = self.pattern.range(i..i + 1);
        &mut self.values[range]
    }

    /// Multiplies each entry by what `scale` says of its row and column.
    pub(crate) fn scale(&mut self, scale: impl Fn(usize, usize) -> f64) {
        let Self { pattern, values } = self;
        for i in 0..pattern.rows {
            let range = pattern.range(i..i + 1);
            match &pattern.sparse {
                None => values[range].iter_mut().enumerate().for_each(|(j, a)| *a *= scale(i, j)),
                Some(sparse) => {
                    let columns = &sparse.columns[range.clone()];
                    values[range].iter_mut().zip(columns).for_each(|(a, j)| *a *= scale(i, *j));
                }
            }
        }
    }

    /// Which coefficients are stored.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.pattern.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.pattern.cols
    }

    /// The stored values, in pattern order.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// With its values lent.
    pub fn view(&self) -> CoefficientsRef<'_> {
        CoefficientsRef { pattern: &self.pattern, values: &self.values }
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> Row<'_> {
        self.view().row(i)
    }

    /// Appends some rows of `other`, which has as many columns. Dense stays dense as long as all that comes is dense.
    pub(crate) fn append(&mut self, other: &Self, rows: impl IntoIterator<Item = usize>) {
        for i in rows {
            if !other.pattern.is_dense() && self.pattern.is_dense() {
                let columns = (0..self.rows()).flat_map(|_| 0..self.cols()).collect();
                let starts = (0..=self.rows()).map(|i| i * self.cols()).collect();
                self.pattern.sparse = Some(Arc::new(Sparse { starts, columns }));
            }
            let row = other.row(i);
            self.values.extend_from_slice(row.values());
            self.pattern.rows += 1;
            if let Some(sparse) = &mut self.pattern.sparse {
                let sparse = Arc::make_mut(sparse);
                sparse.columns.extend(row.iter().map(|(j, _)| j));
                sparse.starts.push(sparse.columns.len());
            }
        }
    }

    /// Q with `ridge` added to its diagonal, which a quadratic term always stores.
    pub(crate) fn plus_diagonal(mut self, ridge: f64) -> Self {
        self.values = self.pattern.plus_diagonal(&self.values, ridge);
        self
    }

    /// (Q + Qᵀ)/2. A sparse pattern takes in the mirror image of every entry, and the diagonal.
    pub(super) fn symmetric(&self) -> Self {
        let n = self.rows();
        if self.pattern.is_dense() {
            let q = &self.values;
            return Matrix::from_fn(n, n, |i, j| f64::midpoint(q[i * n + j], q[j * n + i])).into();
        }
        let mut sums: BTreeMap<(usize, usize), f64> = (0..n).map(|i| ((i, i), 0.0)).collect();
        for (i, row) in self.view().iter().enumerate() {
            for (j, value) in row.iter() {
                *sums.entry((i, j)).or_default() += 0.5 * value;
                *sums.entry((j, i)).or_default() += 0.5 * value;
            }
        }
        let entries: Vec<_> = sums.into_iter().map(|((i, j), value)| (i, j, value)).collect();
        Self::stored(n, n, &entries)
    }
}

/// A pattern with lent values: those of a problem, or of one instance.
#[derive(Clone, Copy, Debug)]
pub struct CoefficientsRef<'a> {
    pub(crate) pattern: &'a Pattern,
    pub(crate) values: &'a [f64],
}

impl<'a> CoefficientsRef<'a> {
    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'a> {
        self.pattern.row(self.values, i)
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'a>> + Clone + use<'a> {
        let own = *self;
        (0..own.pattern.rows).map(move |i| own.row(i))
    }

    /// All entries, row after row, zeros included; lent where the pattern is dense.
    pub fn dense(&self) -> Cow<'a, [f64]> {
        if self.pattern.is_dense() {
            return Cow::Borrowed(self.values);
        }
        let mut out = vec![0.0; self.pattern.rows * self.pattern.cols];
        self.iter().zip(out.chunks_exact_mut(self.pattern.cols)).for_each(|(row, out)| row.add_to(1.0, out));
        Cow::Owned(out)
    }

    /// out = Mx
    pub(crate) fn apply(&self, kernel: Kernel, x: &[f64], out: &mut [f64]) {
        if self.pattern.is_dense() {
            return kernel.matvec(self.values, x, out);
        }
        out.iter_mut().zip(self.iter()).for_each(|(o, row)| *o = row.dot(x));
    }

    /// out += Mᵀy
    pub(crate) fn apply_t(&self, kernel: Kernel, y: &[f64], out: &mut [f64]) {
        if self.pattern.is_dense() {
            return kernel.matvec_t(self.values, y, out);
        }
        y.iter().zip(self.iter()).for_each(|(y, row)| row.add_to(*y, out));
    }
}
