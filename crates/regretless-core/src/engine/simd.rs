//! Vector code that knows the pieces of rows.

#![allow(clippy::inline_always, reason = "what is not inlined is not compiled for the wider vectors")]

use pulp::{Simd, WithSimd};

use crate::engine::rows::Piece;
use crate::linalg::simd::{Kernel, dot, dot4};

impl Kernel {
    /// out = rows · x for the rows off their quadratic piece, 0 for those on it.
    pub(crate) fn matvec_off(self, rows: &[f64], piece: &[Piece], x: &[f64], out: &mut [f64]) {
        self.run(MatvecOff { rows, piece, x, out });
    }
}

struct MatvecOff<'a> {
    rows: &'a [f64],
    piece: &'a [Piece],
    x: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for MatvecOff<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, piece, x, out } = self;
        let n = x.len();
        let row = |i: usize| &rows[i * n..(i + 1) * n];
        out.fill(0.0);
        let mut four = [0; 4];
        let mut filled = 0;
        for (i, piece) in piece.iter().enumerate() {
            if *piece != Piece::On {
                four[filled] = i;
                filled += 1;
                if filled == 4 {
                    let [a, b, c, d] = four;
                    [out[a], out[b], out[c], out[d]] = dot4(simd, [row(a), row(b), row(c), row(d)], x);
                    filled = 0;
                }
            }
        }
        for &i in &four[..filled] {
            out[i] = dot(simd, row(i), x);
        }
    }
}
