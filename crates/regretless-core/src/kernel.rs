//! Vector kernels of the hot loop, compiled for the widest vectors the machine has.
//!
//! Each kernel is a plain loop inside [`pulp::Arch::dispatch`]: the compiler vectorises the same source for AVX-512,
//! AVX2 or NEON. Sums run over fixed lanes, so that a result does not depend on how many threads are running.

use pulp::{Arch, Simd, WithSimd};

const LANES: usize = 8;

/// Which vector instructions this machine has; detected once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel(Arch);

/// A method of [`Kernel`] whose body is compiled once for each instruction set and dispatched at run time.
/// (A closure would do, but closures are not inlined into the dispatched function and so not vectorised.)
macro_rules! kernel {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty $body:block) => {
        $(#[$meta])*
        pub(crate) fn $name<'a>(self, $($arg: $ty),*) -> $out {
            struct Op<'a> {
                $($arg: $ty,)*
                lifetime: std::marker::PhantomData<&'a ()>,
            }
            impl<'a> WithSimd for Op<'a> {
                type Output = $out;
                #[inline(always)]
                fn with_simd<S: Simd>(self, _: S) -> $out {
                    let Op { $($arg,)* lifetime: _ } = self;
                    $body
                }
            }
            self.0.dispatch(Op { $($arg,)* lifetime: std::marker::PhantomData })
        }
    };
}

impl Kernel {
    pub(crate) fn new() -> Self {
        Self(Arch::new())
    }

    kernel! {
        /// aᵀb
        fn dot(a: &'a [f64], b: &'a [f64]) -> f64 { dot(a, b) }
    }

    kernel! {
        /// y += s·x
        fn axpy(s: f64, x: &'a [f64], y: &'a mut [f64]) -> () { axpy(s, x, y); }
    }

    kernel! {
        /// out = rows · x for row-major rows.
        fn matvec(rows: &'a [f64], x: &'a [f64], out: &'a mut [f64]) -> () {
            let n = x.len();
            let mut quads = rows.chunks_exact(4 * n);
            let mut outs = out.chunks_exact_mut(4);
            for (four, o) in (&mut quads).zip(&mut outs) {
                o.copy_from_slice(&dot4(four, x));
            }
            for (row, o) in quads.remainder().chunks_exact(n).zip(outs.into_remainder()) {
                *o = dot(row, x);
            }
        }
    }

    kernel! {
        /// out += rowsᵀ · y for row-major rows, skipping zeros of y.
        fn matvec_t(rows: &'a [f64], y: &'a [f64], out: &'a mut [f64]) -> () {
            for (row, &s) in rows.chunks_exact(out.len()).zip(y) {
                if s != 0.0 {
                    axpy(s, row, out);
                }
            }
        }
    }

    kernel! {
        /// Solves L p = p in place; L unit lower, packed by columns without its diagonal.
        fn forward(l: &'a [f64], p: &'a mut [f64]) -> () {
            let mut l = l;
            let mut p = p;
            while let [head, tail @ ..] = p {
                let (col, rest) = l.split_at(tail.len());
                // Rows of bounds have one non-zero: skip the columns before it.
                if *head != 0.0 {
                    axpy(-*head, col, tail);
                }
                (l, p) = (rest, tail);
            }
        }
    }

    kernel! {
        /// Solves Lᵀ x = x in place.
        fn backward(l: &'a [f64], x: &'a mut [f64]) -> () {
            let mut l = l;
            for k in (0..x.len()).rev() {
                let (rest, col) = l.split_at(l.len() - (x.len() - k - 1));
                x[k] -= dot(col, &x[k + 1..]);
                l = rest;
            }
        }
    }

    kernel! {
        /// Changes the columns of L for a rank-one change of LDLᵀ: for each column j, `v −= p_j·l_j; l_j += β_j·v`.
        fn rank_one(l: &'a mut [f64], p: &'a [f64], beta: &'a [f64], v: &'a mut [f64]) -> () {
            let mut l = l;
            let mut v = v;
            for (&p, &beta) in p.iter().zip(beta) {
                let Some((_, tail)) = v.split_first_mut() else { break };
                let (col, rest) = l.split_at_mut(tail.len());
                if p != 0.0 {
                    for (l, v) in col.iter_mut().zip(tail.iter_mut()) {
                        *v = (-p).mul_add(*l, *v);
                        *l = beta.mul_add(*v, *l);
                    }
                }
                (l, v) = (rest, tail);
            }
        }
    }

    kernel! {
        /// For each row, the step that brings it to the end of its piece (∞ if it is not on its way); the smallest one.
        fn ratios(
            row: RowMotion<'a>, tolerance: f64, steps: &'a mut [f64]
        ) -> f64 {
            let m = steps.len();
            let (z, dz, up, down, reach) = (&row.z[..m], &row.dz[..m], &row.up[..m], &row.down[..m], &row.reach[..m]);
            for i in 0..m {
                let end = if dz[i] > 0.0 { up[i] } else { down[i] };
                let step = ((end - z[i]) / dz[i]).max(0.0);
                steps[i] = if dz[i].abs() > tolerance * reach[i] { step } else { f64::INFINITY };
            }
            let mut least = [f64::INFINITY; LANES];
            let chunks = steps.chunks_exact(LANES);
            let tail = chunks.remainder();
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

#[inline(always)]
fn axpy(s: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = s.mul_add(*x, *y);
    }
}

#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut acc = [[0.0_f64; LANES]; 2];
    let (a2, b2) = (a.chunks_exact(2 * LANES), b.chunks_exact(2 * LANES));
    let (ar, br) = (a2.remainder(), b2.remainder());
    for (a, b) in a2.zip(b2) {
        for k in 0..LANES {
            acc[0][k] = a[k].mul_add(b[k], acc[0][k]);
            acc[1][k] = a[LANES + k].mul_add(b[LANES + k], acc[1][k]);
        }
    }
    let (a1, b1) = (ar.chunks_exact(LANES), br.chunks_exact(LANES));
    let (at, bt) = (a1.remainder(), b1.remainder());
    for (a, b) in a1.zip(b1) {
        for k in 0..LANES {
            acc[0][k] = a[k].mul_add(b[k], acc[0][k]);
        }
    }
    let mut tail = 0.0;
    for (a, b) in at.iter().zip(bt) {
        tail = a.mul_add(*b, tail);
    }
    for k in 0..LANES {
        acc[0][k] += acc[1][k];
    }
    reduce(acc[0]) + tail
}

/// Four rows at once: the loads of x are shared and the four sums hide each other's latency.
#[inline(always)]
fn dot4(rows: &[f64], x: &[f64]) -> [f64; 4] {
    let n = x.len();
    let (r0, r) = rows.split_at(n);
    let (r1, r) = r.split_at(n);
    let (r2, r3) = r.split_at(n);
    let r3 = &r3[..n];
    let mut acc = [[0.0_f64; LANES]; 4];
    let full = n - n % LANES;
    let mut i = 0;
    while i < full {
        let (x, r0, r1) = (&x[i..i + LANES], &r0[i..i + LANES], &r1[i..i + LANES]);
        let (r2, r3) = (&r2[i..i + LANES], &r3[i..i + LANES]);
        for k in 0..LANES {
            acc[0][k] = r0[k].mul_add(x[k], acc[0][k]);
            acc[1][k] = r1[k].mul_add(x[k], acc[1][k]);
            acc[2][k] = r2[k].mul_add(x[k], acc[2][k]);
            acc[3][k] = r3[k].mul_add(x[k], acc[3][k]);
        }
        i += LANES;
    }
    let mut out = acc.map(reduce);
    for i in full..n {
        out[0] = r0[i].mul_add(x[i], out[0]);
        out[1] = r1[i].mul_add(x[i], out[1]);
        out[2] = r2[i].mul_add(x[i], out[2]);
        out[3] = r3[i].mul_add(x[i], out[3]);
    }
    out
}

#[inline(always)]
fn reduce(a: [f64; LANES]) -> f64 {
    ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}
