//! Sums of gradients, bin by bin.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::bins::Binned;

/// Below so many additions one thread is quicker than several.
const FEW: usize = 1 << 15;

/// What is known of some rows together: their number, the sum of their curvatures, the sums of their gradients.
pub(super) const COUNT: usize = 0;
pub(super) const CURVATURE: usize = 1;
pub(super) const GRADIENT: usize = 2;

/// Memory of histograms that are done with. One of many outputs is megabytes, and what the system has to clear for every leaf of every
/// tree takes longer than adding up.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare(Arc<Mutex<Vec<Vec<f64>>>>);

impl Spare {
    /// So many zeros.
    fn take(&self, len: usize) -> Vec<f64> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut sums = spare.unwrap_or_default();
        sums.clear();
        sums.resize(len, 0.0);
        sums
    }

    fn give(&self, sums: Vec<f64>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sums);
    }
}

impl Drop for Histogram {
    fn drop(&mut self) {
        self.spare.give(std::mem::take(&mut self.sums));
    }
}

/// For each of some columns and each of its bins the sums over the rows there.
///
/// A column's sums are added up by one thread in the order of rows, so that they do not depend on the number of threads.
#[derive(Debug)]
pub(super) struct Histogram {
    sums: Vec<f64>,
    /// Where the sums' memory came from and goes to.
    spare: Spare,
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
        let spare = table.spare().clone();
        let mut sums = spare.take(starts[columns.len()] * stride);
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
        Self { sums, spare, starts, stride }
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

/// Copies of the sums of a column with few bins.
const COPIES: usize = 4;

/// The most bins that are few.
const FEW_BINS: usize = 64;

/// Rows from which on copies pay.
const MANY: usize = 512;

fn fill(sums: &mut [f64], bins: &[u8], rows: &[u32], own: &[f64], stride: usize) {
    // One output is most frequent, and three numbers are added quicker if it is known that they are three.
    if stride == 3 {
        let (sums, _) = sums.as_chunks_mut::<3>();
        let (own, _) = own.as_chunks::<3>();
        if sums.len() <= FEW_BINS && rows.len() >= MANY {
            return fill_in_turn(sums, bins, rows, own);
        }
        for (&row, own) in rows.iter().zip(own) {
            add(&mut sums[usize::from(bins[row as usize])], own);
        }
        return;
    }
    for (&row, own) in rows.iter().zip(own.chunks_exact(stride)) {
        let at = usize::from(bins[row as usize]) * stride;
        sums[at..at + stride].iter_mut().zip(own).for_each(|(s, v)| *s += v);
    }
}

fn add(sum: &mut [f64; 3], own: &[f64; 3]) {
    sum.iter_mut().zip(own).for_each(|(s, v)| *s += v);
}

/// Where a column has few bins, rows that follow one another often have the same, and each would wait for the one before. So they go to
/// several copies in turn.
fn fill_in_turn(sums: &mut [[f64; 3]], bins: &[u8], rows: &[u32], own: &[[f64; 3]]) {
    let mut copies = [[[0.0; 3]; FEW_BINS]; COPIES];
    let (rows, last_rows) = rows.as_chunks::<COPIES>();
    let (own, last) = own.as_chunks::<COPIES>();
    let place = |row: u32| usize::from(bins[row as usize]) % FEW_BINS;
    for (rows, own) in rows.iter().zip(own) {
        for ((copy, &row), own) in copies.iter_mut().zip(rows).zip(own) {
            add(&mut copy[place(row)], own);
        }
    }
    for (&row, own) in last_rows.iter().zip(last) {
        add(&mut copies[0][place(row)], own);
    }
    for copy in &copies {
        sums.iter_mut().zip(copy).for_each(|(sum, own)| add(sum, own));
    }
}
