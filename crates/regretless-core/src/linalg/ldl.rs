//! H = LDLᵀ of H = H₀ + Σ aᵣaᵣᵀ, put together and factored in one sweep over blocks of eight columns.
//!
//! A block looks to its left: the rows aᵣ and the finished columns of L enter it in the same form, `h[i][j] += p[i]·t[j]`,
//! with the sums in registers from the first to the last; then its eight columns are factored among themselves. At the sizes
//! of this engine (n of some hundreds at most) all of it stays in cache, and nothing is packed or copied.

#![allow(
    clippy::inline_always,
    reason = "a helper that is not inlined is not compiled for the wider vectors"
)]

use pulp::{Simd, WithSimd};

use crate::linalg::simd::{LANES, axpy};

/// The work; see [`crate::linalg::dense_ldl`] for the layout of `l`.
pub(crate) struct Ldl<'a> {
    /// The rows aᵣ, each padded with zeros to the length of `d`.
    pub(crate) rows: &'a [f64],
    /// H₀ from the diagonal down; L afterwards. What is above the diagonal is of no account before and zero afterwards.
    pub(crate) l: &'a mut [f64],
    /// D afterwards.
    pub(crate) d: &'a mut [f64],
    /// −D·(row of L) for the eight rows of a block.
    pub(crate) scratch: &'a mut Vec<[f64; LANES]>,
}

impl WithSimd for Ldl<'_> {
    /// False if H is not positive definite.
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Self { rows, l, d, scratch } = self;
        let size = d.len();
        let mut start = 0;
        for first in (0..size).step_by(LANES) {
            let height = size - first;
            let (done, rest) = l.split_at_mut(start);
            let block = &mut rest[..LANES * height];
            scratch.clear();
            for (k, column) in columns(done, size).enumerate() {
                let at = first - k / LANES * LANES;
                let mut row = [0.0; LANES];
                for (t, l) in row.iter_mut().zip(&column[at..at + LANES]) {
                    *t = -d[k] * l;
                }
                scratch.push(row);
            }
            let width = height / S::F64_LANES;
            // As many sums as there are registers for, less some for what is multiplied.
            let most = if S::REGISTER_COUNT >= 32 { 3 } else { 1 };
            let mut v = 0;
            while v < width {
                let tile = Tile { rows, size, done, left: scratch, first, v };
                match most.min(width - v) {
                    3 => tile.add::<S, 3>(simd, block),
                    2 => tile.add::<S, 2>(simd, block),
                    _ => tile.add::<S, 1>(simd, block),
                }
                v += most;
            }
            if !factor_block(simd, block, height, &mut d[first..first + LANES]) {
                return false;
            }
            start += LANES * height;
        }
        true
    }
}

/// The columns of finished blocks of a matrix of that size, each from its block's diagonal down.
#[inline(always)]
fn columns(done: &[f64], size: usize) -> impl Iterator<Item = &[f64]> {
    let mut rest = done;
    (0..size).map_while(move |k| {
        let height = size - k / LANES * LANES;
        let (column, after) = rest.split_at_checked(height)?;
        rest = after;
        Some(column)
    })
}

/// Some vectors of a block's eight columns, from the `v`-th down.
struct Tile<'a> {
    rows: &'a [f64],
    size: usize,
    done: &'a [f64],
    left: &'a [[f64; LANES]],
    first: usize,
    v: usize,
}

impl Tile<'_> {
    /// h[i][j] += p[i]·t[j] over all rows and all columns to the left.
    #[inline(always)]
    fn add<S: Simd, const V: usize>(&self, simd: S, block: &mut [f64]) {
        let (first, from, len) = (self.first, self.v * S::F64_LANES, V * S::F64_LANES);
        let height = self.size - first;
        let mut sums = [[simd.splat_f64s(0.0); LANES]; V];
        for row in self.rows.chunks_exact(self.size) {
            let (Some(t), Some(p)) = (row[first..].first_chunk(), row.get(first + from..first + from + len))
            else {
                return;
            };
            step(simd, &mut sums, S::as_simd_f64s(p).0, t);
        }
        for (k, (column, t)) in columns(self.done, self.size).zip(self.left).enumerate() {
            let at = first - k / LANES * LANES + from;
            step(simd, &mut sums, S::as_simd_f64s(&column[at..at + len]).0, t);
        }
        for (j, column) in block.chunks_exact_mut(height).enumerate() {
            for (h, sums) in S::as_mut_simd_f64s(&mut column[from..from + len]).0.iter_mut().zip(&sums) {
                *h = simd.add_f64s(*h, sums[j]);
            }
        }
    }
}

#[inline(always)]
fn step<S: Simd, const V: usize>(simd: S, sums: &mut [[S::f64s; LANES]; V], p: &[S::f64s], t: &[f64; LANES]) {
    let Some(p) = p.first_chunk::<V>() else { return };
    for j in 0..LANES {
        let t = simd.splat_f64s(t[j]);
        for i in 0..V {
            sums[i][j] = simd.mul_add_f64s(p[i], t, sums[i][j]);
        }
    }
}

/// Eight columns among themselves; false if a pivot is not positive.
#[inline(always)]
fn factor_block<S: Simd>(simd: S, block: &mut [f64], height: usize, d: &mut [f64]) -> bool {
    for j in 0..LANES {
        let (column, right) = block[j * height..].split_at_mut(height);
        let pivot = column[j];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        d[j] = pivot;
        let inverse = 1.0 / pivot;
        for (i, other) in (j + 1..LANES).zip(right.chunks_exact_mut(height)) {
            axpy(simd, -column[i] * inverse, column, other);
        }
        let by = simd.splat_f64s(inverse);
        for l in S::as_mut_simd_f64s(column).0 {
            *l = simd.mul_f64s(*l, by);
        }
        column[..=j].fill(0.0);
    }
    true
}
