//! Sums over the rows of an answer, several rows at a time.

#![allow(
    clippy::inline_always,
    reason = "a helper that is not inlined is not compiled for the wider vectors"
)]

use pulp::{Simd, WithSimd};

use crate::linalg::simd::Kernel;

/// Rows with excess z, multiplier λ ∈ [−under, over] and a limit: an entry of each slice a row. A side without a cap is hard.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) z: &'a [f64],
    pub(crate) lambda: &'a [f64],
    pub(crate) over: &'a [f64],
    pub(crate) under: &'a [f64],
    pub(crate) limit: &'a [f64],
}

/// Sums over rows, with φ(z) = over·z above the limit, −under·z below it, and 0 on a hard side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Terms {
    /// Σ φ
    pub(crate) cost: f64,
    /// Σ (φ − λz)
    pub(crate) signed: f64,
    /// Σ |φ − λz|
    pub(crate) absolute: f64,
    /// The largest violation of a hard side, over 1 + |limit|.
    pub(crate) violation: f64,
}

impl Rows<'_> {
    pub(crate) fn terms(self, kernel: Kernel) -> Terms {
        kernel.run(self)
    }

    /// True if row `i` has no cap on the side where it is.
    pub(crate) fn is_hard_side(self, i: usize) -> bool {
        let cap = if self.z[i] > 0.0 { self.over[i] } else { self.under[i] };
        cap == f64::INFINITY
    }
}

impl WithSimd for Rows<'_> {
    type Output = Terms;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Terms {
        let m = self.z.len();
        let slices = [self.z, self.lambda, self.over, self.under, self.limit];
        let mut heads = [&[][..]; 5];
        let mut tails = [simd.splat_f64s(0.0); 5];
        for i in 0..5 {
            let (head, tail) = S::as_simd_f64s(&slices[i][..m]);
            // The last lanes are filled with rows of nothing.
            (heads[i], tails[i]) = (head, simd.partial_load_f64s(tail));
        }
        let mut sums = [simd.splat_f64s(0.0); 4];
        for i in 0..heads[0].len() {
            add(simd, &mut sums, [heads[0][i], heads[1][i], heads[2][i], heads[3][i], heads[4][i]]);
        }
        add(simd, &mut sums, tails);
        Terms {
            cost: simd.reduce_sum_f64s(sums[0]),
            signed: simd.reduce_sum_f64s(sums[1]),
            absolute: simd.reduce_sum_f64s(sums[2]),
            violation: simd.reduce_max_f64s(sums[3]),
        }
    }
}

/// Adds one row a lane.
#[inline(always)]
fn add<S: Simd>(simd: S, sums: &mut [S::f64s; 4], [z, lambda, over, under, limit]: [S::f64s; 5]) {
    let (zero, one, infinity) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0), simd.splat_f64s(f64::INFINITY));
    let cap = simd.select_f64s(simd.greater_than_f64s(z, zero), over, under);
    let (out, hard) = (simd.abs_f64s(z), simd.equal_f64s(cap, infinity));
    let cost = simd.select_f64s(hard, zero, simd.mul_f64s(cap, out));
    let share = simd.div_f64s(out, simd.add_f64s(one, simd.abs_f64s(limit)));
    let term = simd.sub_f64s(cost, simd.mul_f64s(lambda, z));
    sums[0] = simd.add_f64s(sums[0], cost);
    sums[1] = simd.add_f64s(sums[1], term);
    sums[2] = simd.add_f64s(sums[2], simd.abs_f64s(term));
    sums[3] = simd.max_f64s(sums[3], simd.select_f64s(hard, share, zero));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For every number of rows, so that every last lane is filled: the sums are those of one row after the other.
    #[test]
    fn sums_over_lanes_are_sums_over_rows() {
        let row = |i: usize| {
            let over = [f64::INFINITY, 2.0, 0.0][i % 3];
            let under = [0.0, f64::INFINITY, 0.5, 0.0][i % 4];
            // Whole numbers: sums in any order are equal.
            ((i * 7 % 11) as f64 - 5.0, (i % 5) as f64, over, under, 2.0 * i as f64)
        };
        for m in 0..40 {
            let slice =
                |of: fn((f64, f64, f64, f64, f64)) -> f64| (0..m).map(|i| of(row(i))).collect::<Vec<_>>();
            let (z, lambda, limit) = (slice(|r| r.0), slice(|r| r.1), slice(|r| r.4));
            let (over, under) = (slice(|r| r.2), slice(|r| r.3));
            let rows = Rows { z: &z, lambda: &lambda, over: &over, under: &under, limit: &limit };
            let terms = rows.terms(Kernel::new());
            let mut expected = Terms::default();
            for (i, (z, lambda, over, under, limit)) in (0..m).map(|i| (i, row(i))) {
                let cap = if z > 0.0 { over } else { under };
                assert_eq!(rows.is_hard_side(i), cap.is_infinite());
                let cost = if cap.is_infinite() { 0.0 } else { cap * z.abs() };
                if cap.is_infinite() {
                    expected.violation = expected.violation.max(z.abs() / (1.0 + limit));
                }
                expected.cost += cost;
                expected.signed += cost - lambda * z;
                expected.absolute += (cost - lambda * z).abs();
            }
            assert_eq!(terms, expected, "{m}");
        }
    }

    /// No sum forgets a row that is no number, wherever it is.
    #[test]
    fn nan_stays() {
        let limit = [1.0; 21];
        for at in 0..21 {
            for cap in [0.0, 1.0, f64::INFINITY] {
                let mut z = [-1.0; 21];
                z[at] = f64::NAN;
                let (lambda, caps) = ([0.0; 21], [cap; 21]);
                let rows = Rows { z: &z, lambda: &lambda, over: &caps, under: &caps, limit: &limit };
                let terms = rows.terms(Kernel::new());
                assert!(terms.signed.is_nan() && terms.absolute.is_nan(), "{at} {cap}");
            }
        }
    }
}
