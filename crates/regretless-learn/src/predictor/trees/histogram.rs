//! Sums of gradients, bin by bin.

use rayon::prelude::*;

use super::bins::Binned;

/// Below so many additions one thread is quicker than several.
const FEW: usize = 1 << 15;

/// What is known of some rows together: their number, the sum of their curvatures, the sums of their gradients.
pub(super) const COUNT: usize = 0;
pub(super) const CURVATURE: usize = 1;
pub(super) const GRADIENT: usize = 2;

/// For each of some columns and each of its bins the sums over the rows there.
///
/// A column's sums are added up by one thread in the order of rows, so that they do not depend on the number of threads.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    sums: Vec<f64>,
    /// Where each column starts, in bins, and where the last one ends.
    starts: Vec<usize>,
    stride: usize,
}

impl Histogram {
    /// Adds up rows over columns of a table; `own` has the `stride` numbers of each of the rows.
    pub(super) fn new(table: &Binned, columns: &[usize], rows: &[u32], own: &[f64], stride: usize) -> Self {
        let mut starts = vec![0];
        let ends = columns.iter().scan(0, |end, &c| {
            *end += table.count(c);
            Some(*end)
        });
        starts.extend(ends);
        let mut sums = vec![0.0; starts[columns.len()] * stride];
        let mut parts = Vec::with_capacity(columns.len());
        let mut rest = sums.as_mut_slice();
        for &c in columns {
            let (part, after) = rest.split_at_mut(table.count(c) * stride);
            parts.push((part, table.bins(c)));
            rest = after;
        }
        let one = |(part, bins): &mut (&mut [f64], &[u8])| fill(part, bins, rows, own, stride);
        if own.len() * columns.len() < FEW {
            parts.iter_mut().for_each(one);
        } else {
            parts.par_iter_mut().for_each(one);
        }
        Self { sums, starts, stride }
    }

    /// What is left of these rows when the `other` ones go.
    pub(super) fn without(mut self, other: &Self) -> Self {
        self.sums.iter_mut().zip(&other.sums).for_each(|(s, o)| *s -= o);
        self
    }

    /// The sums in the bins of the i-th column.
    pub(super) fn column(&self, i: usize) -> &[f64] {
        &self.sums[self.starts[i] * self.stride..self.starts[i + 1] * self.stride]
    }

    /// True if looking at every bin is more than one thread should do.
    pub(super) fn is_large(&self) -> bool {
        self.sums.len() >= FEW
    }
}

fn fill(sums: &mut [f64], bins: &[u8], rows: &[u32], own: &[f64], stride: usize) {
    // One output is most frequent, and three numbers are added quicker if it is known that they are three.
    if stride == 3 {
        let (sums, _) = sums.as_chunks_mut::<3>();
        let (own, _) = own.as_chunks::<3>();
        for (&row, [n, h, g]) in rows.iter().zip(own) {
            let sum = &mut sums[usize::from(bins[row as usize])];
            sum[COUNT] += n;
            sum[CURVATURE] += h;
            sum[GRADIENT] += g;
        }
        return;
    }
    for (&row, own) in rows.iter().zip(own.chunks_exact(stride)) {
        let at = usize::from(bins[row as usize]) * stride;
        sums[at..at + stride].iter_mut().zip(own).for_each(|(s, v)| *s += v);
    }
}
