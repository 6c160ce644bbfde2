//! Vector kernels of the hot loop, compiled for the widest vectors the machine has; those of triangular factors are in
//! [`triangular`].
//!
//! Each kernel is written once over [`pulp::Simd`] and dispatched at run time to AVX-512, AVX2, NEON or plain code. The
//! order of every sum is fixed by the vector width alone, so that a result does not depend on the number of threads.

#![allow(
    clippy::inline_always,
    reason = "a helper that is not inlined is not compiled for the wider vectors"
)]

use pulp::{Arch, Simd, WithSimd};

/// Columns of a block of the factor, and the multiple to which its vectors are padded: one AVX-512 register.
pub(crate) const LANES: usize = 8;

/// n rounded up to whole lanes.
pub(crate) fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// Which vector instructions this machine has; detected once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel(Arch);

/// A method of [`Kernel`] whose body is compiled once for each instruction set and dispatched at run time.
macro_rules! kernel {
    ($(#[$meta:meta])* fn $name:ident<$s:ident>($simd:ident, $($arg:ident: $ty:ty),*) -> $out:ty $body:block) => {
        $(#[$meta])*
        pub(crate) fn $name<'a>(self, $($arg: $ty),*) -> $out {
            struct Op<'a> {
                $($arg: $ty,)*
                lifetime: std::marker::PhantomData<&'a ()>,
            }
            impl<'a> WithSimd for Op<'a> {
                type Output = $out;
                #[inline(always)]
                fn with_simd<$s: Simd>(self, $simd: $s) -> $out {
                    let Op { $($arg,)* lifetime: _ } = self;
                    $body
                }
            }
            self.0.dispatch(Op { $($arg,)* lifetime: std::marker::PhantomData })
        }
    };
}

// Below the macro, which it uses.
mod triangular;

impl Kernel {
    pub(crate) fn new() -> Self {
        Self(Arch::new())
    }

    /// Runs what is written for vectors of any width on the widest there are.
    pub(crate) fn run<W: WithSimd>(self, work: W) -> W::Output {
        self.0.dispatch(work)
    }

    kernel! {
        /// aᵀb
        fn dot<S>(simd, a: &'a [f64], b: &'a [f64]) -> f64 { dot(simd, a, b) }
    }

    kernel! {
        /// Σ pᵢ²rᵢ
        fn weighted_norm2<S>(simd, p: &'a [f64], r: &'a [f64]) -> f64 {
            let ((p, p_rest), (r, r_rest)) = (S::as_simd_f64s(p), S::as_simd_f64s(r));
            let mut sum = simd.splat_f64s(0.0);
            for (p, r) in p.iter().zip(r) {
                sum = simd.mul_add_f64s(simd.mul_f64s(*p, *p), *r, sum);
            }
            p_rest.iter().zip(r_rest).fold(simd.reduce_sum_f64s(sum), |sum, (p, r)| sum + p * p * r)
        }
    }

    kernel! {
        /// max |vᵢ|
        fn largest<S>(simd, v: &'a [f64]) -> f64 {
            let (head, rest) = S::as_simd_f64s(v);
            let most = head.iter().fold(simd.splat_f64s(0.0), |m, v| simd.max_f64s(m, simd.abs_f64s(*v)));
            rest.iter().fold(simd.reduce_max_f64s(most), |m, v| m.max(v.abs()))
        }
    }

    kernel! {
        /// outᵢ = max |aᵢⱼ| over rows of `n` entries.
        fn largest_of_rows<S>(simd, rows: &'a [f64], n: usize, out: &'a mut [f64]) -> () {
            for (out, row) in out.iter_mut().zip(rows.chunks_exact(n)) {
                let (head, rest) = S::as_simd_f64s(row);
                let most = head.iter().fold(simd.splat_f64s(0.0), |m, v| simd.max_f64s(m, simd.abs_f64s(*v)));
                *out = rest.iter().fold(simd.reduce_max_f64s(most), |m, v| m.max(v.abs()));
            }
        }
    }

    kernel! {
        /// y += s·x
        fn axpy<S>(simd, s: f64, x: &'a [f64], y: &'a mut [f64]) -> () { axpy(simd, s, x, y); }
    }

    kernel! {
        /// out = s·x, squares += out²
        fn scale<S>(simd, s: f64, x: &'a [f64], out: &'a mut [f64], squares: &'a mut [f64]) -> () {
            let n = x.len();
            let (x, x_rest) = S::as_simd_f64s(x);
            let (out, out_rest) = S::as_mut_simd_f64s(&mut out[..n]);
            let (squares, squares_rest) = S::as_mut_simd_f64s(&mut squares[..n]);
            let by = simd.splat_f64s(s);
            for ((x, out), square) in x.iter().zip(out).zip(squares) {
                *out = simd.mul_f64s(by, *x);
                *square = simd.mul_add_f64s(*out, *out, *square);
            }
            for ((x, out), square) in x_rest.iter().zip(out_rest).zip(squares_rest) {
                *out = s * x;
                *square += *out * *out;
            }
        }
    }

    kernel! {
        /// out = rows · x for row-major rows.
        fn matvec<S>(simd, rows: &'a [f64], x: &'a [f64], out: &'a mut [f64]) -> () {
            let n = x.len();
            let mut quads = rows.chunks_exact(4 * n);
            let mut outs = out.chunks_exact_mut(4);
            for (four, o) in (&mut quads).zip(&mut outs) {
                let rows = [&four[..n], &four[n..2 * n], &four[2 * n..3 * n], &four[3 * n..]];
                o.copy_from_slice(&dot4(simd, rows, x));
            }
            for (row, o) in quads.remainder().chunks_exact(n).zip(outs.into_remainder()) {
                *o = dot(simd, row, x);
            }
        }
    }

    kernel! {
        /// out += rowsᵀ · y for row-major rows, skipping zeros of y; four rows at a time share the loads of out.
        fn matvec_t<S>(simd, rows: &'a [f64], y: &'a [f64], out: &'a mut [f64]) -> () {
            let mut four = [(0.0, &rows[..0]); 4];
            let mut filled = 0;
            for (row, &s) in rows.chunks_exact(out.len()).zip(y) {
                if s != 0.0 {
                    four[filled] = (s, row);
                    filled += 1;
                    if filled == 4 {
                        axpy4(simd, four, out);
                        filled = 0;
                    }
                }
            }
            for (s, row) in &four[..filled] {
                axpy(simd, *s, row, out);
            }
        }
    }

    kernel! {
        /// For each row, the step that brings it to the end of its piece (∞ if it is not on its way); the smallest one.
        fn ratios<S>(_simd, row: RowMotion<'a>, tolerance: f64, steps: &'a mut [f64]) -> f64 {
            let m = steps.len();
            let (z, dz, up, down, reach) =
                (&row.z[..m], &row.dz[..m], &row.up[..m], &row.down[..m], &row.reach[..m]);
            for i in 0..m {
                let end = if dz[i] > 0.0 { up[i] } else { down[i] };
                let step = ((end - z[i]) / dz[i]).max(0.0);
                steps[i] = if dz[i].abs() > tolerance * reach[i] { step } else { f64::INFINITY };
            }
            let mut least = [f64::INFINITY; LANES];
            let (chunks, tail) = steps.as_chunks::<LANES>();
            for chunk in chunks {
                for (m, s) in least.iter_mut().zip(chunk) {
                    *m = if *s < *m { *s } else { *m };
                }
            }
            least.iter().chain(tail).fold(f64::INFINITY, |m, s| m.min(*s))
        }
    }

    /// The first row that reaches the end of its piece: `(step, row)`, or `None` if no row is on its way.
    ///
    /// Rows slower than `tolerance` times their size do not move. Ties go to the smallest row.
    pub(crate) fn first_crossing(
        self,
        rows: RowMotion<'_>,
        tolerance: f64,
        steps: &mut [f64],
    ) -> Option<(f64, usize)> {
        let smallest = self.ratios(rows, tolerance, steps);
        if smallest == f64::INFINITY {
            return None;
        }
        steps.iter().position(|s| *s == smallest).map(|i| (smallest, i))
    }
}

/// Where each row is, how fast it moves, its next breakpoints above and below (±∞ if none), its largest coefficient.
#[derive(Clone, Copy)]
pub(crate) struct RowMotion<'a> {
    pub(crate) z: &'a [f64],
    pub(crate) dz: &'a [f64],
    pub(crate) up: &'a [f64],
    pub(crate) down: &'a [f64],
    pub(crate) reach: &'a [f64],
}

/// y += s·x
#[inline(always)]
pub(crate) fn axpy<S: Simd>(simd: S, s: f64, x: &[f64], y: &mut [f64]) {
    let n = x.len().min(y.len());
    let ((x, x_rest), (y, y_rest)) = (S::as_simd_f64s(&x[..n]), S::as_mut_simd_f64s(&mut y[..n]));
    let by = simd.splat_f64s(s);
    for (y, x) in y.iter_mut().zip(x) {
        *y = simd.mul_add_f64s(by, *x, *y);
    }
    for (y, x) in y_rest.iter_mut().zip(x_rest) {
        *y += s * x;
    }
}

#[inline(always)]
fn axpy4<S: Simd>(simd: S, four: [(f64, &[f64]); 4], y: &mut [f64]) {
    let n = y.len();
    let by = four.map(|(s, _)| simd.splat_f64s(s));
    let rows = four.map(|(_, r)| S::as_simd_f64s(&r[..n]));
    let (y, y_rest) = S::as_mut_simd_f64s(y);
    let heads = rows.map(|(head, _)| &head[..y.len()]);
    for (i, y) in y.iter_mut().enumerate() {
        let sum = simd.mul_add_f64s(by[0], heads[0][i], *y);
        let other = simd.mul_f64s(by[1], heads[1][i]);
        let sum = simd.mul_add_f64s(by[2], heads[2][i], sum);
        *y = simd.add_f64s(sum, simd.mul_add_f64s(by[3], heads[3][i], other));
    }
    for (i, y) in y_rest.iter_mut().enumerate() {
        *y += (0..4).map(|r| four[r].0 * rows[r].1[i]).sum::<f64>();
    }
}

#[inline(always)]
pub(crate) fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (S::as_simd_f64s(&a[..n]), S::as_simd_f64s(&b[..n]));
    let mut sums = [simd.splat_f64s(0.0); 2];
    let (a2, b2) = (a.chunks_exact(2), b.chunks_exact(2));
    for (a, b) in a2.remainder().iter().zip(b2.remainder()) {
        sums[0] = simd.mul_add_f64s(*a, *b, sums[0]);
    }
    for (a, b) in a2.zip(b2) {
        sums[0] = simd.mul_add_f64s(a[0], b[0], sums[0]);
        sums[1] = simd.mul_add_f64s(a[1], b[1], sums[1]);
    }
    let sum = simd.reduce_sum_f64s(simd.add_f64s(sums[0], sums[1]));
    a_rest.iter().zip(b_rest).fold(sum, |sum, (a, b)| sum + a * b)
}

/// Four rows at once: the loads of x are shared and the four sums hide each other's latency. Loops and not closures
/// over the four: those are not always inlined.
#[inline(always)]
pub(crate) fn dot4<S: Simd>(simd: S, rows: [&[f64]; 4], x: &[f64]) -> [f64; 4] {
    let n = x.len();
    let (x, x_rest) = S::as_simd_f64s(x);
    let mut heads = [x; 4];
    for (head, row) in heads.iter_mut().zip(rows) {
        *head = &S::as_simd_f64s(&row[..n]).0[..x.len()];
    }
    let mut sums = [simd.splat_f64s(0.0); 4];
    for (i, x) in x.iter().enumerate() {
        for r in 0..4 {
            sums[r] = simd.mul_add_f64s(heads[r][i], *x, sums[r]);
        }
    }
    let mut out = [0.0; 4];
    for r in 0..4 {
        let rest = &rows[r][n - x_rest.len()..n];
        out[r] = rest.iter().zip(x_rest).fold(simd.reduce_sum_f64s(sums[r]), |sum, (a, x)| sum + a * x);
    }
    out
}
