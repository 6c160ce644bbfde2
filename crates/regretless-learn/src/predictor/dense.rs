//! A dense layer. Matrices are row-major, with a row for each instance.

use std::hint::black_box;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::{Arch, Simd, WithSimd};

/// Instances, inputs and units.
pub(super) type Sizes = [usize; 3];

/// Y = XW + 1bᵀ, in place of what `y` holds.
pub(super) fn forward(x: &[f32], weight: &[f32], bias: &[f32], y: &mut Vec<f32>, sizes: Sizes) {
    y.clear();
    (0..sizes[0]).for_each(|_| y.extend_from_slice(bias));
    add(x, weight, y, sizes);
}

/// Y + XW.
pub(super) fn add(x: &[f32], weight: &[f32], y: &mut [f32], [rows, inputs, units]: Sizes) {
    let x = MatRef::from_row_major_slice(x, rows, inputs);
    let weight = MatRef::from_row_major_slice(weight, inputs, units);
    product(MatMut::from_row_major_slice_mut(y, rows, units), Accum::Add, x, weight);
}

/// ∂L/∂W = XᵀG with G = ∂L/∂Y, in place of what `gradient` holds. That of b is [`column_sums`] of G.
pub(super) fn weight_gradient(g: &[f32], x: &[f32], gradient: &mut [f32], [rows, inputs, units]: Sizes) {
    let x = MatRef::from_row_major_slice(x, rows, inputs);
    let g = MatRef::from_row_major_slice(g, rows, units);
    let gradient = MatMut::from_row_major_slice_mut(gradient, inputs, units);
    product(gradient, Accum::Replace, x.transpose(), g);
}

/// ∂L/∂X = GWᵀ with G = ∂L/∂Y, in place of what `gradient` holds.
pub(super) fn input_gradient(
    g: &[f32],
    weight: &[f32],
    gradient: &mut Vec<f32>,
    [rows, inputs, units]: Sizes,
) {
    gradient.resize(rows * inputs, 0.0);
    let g = MatRef::from_row_major_slice(g, rows, units);
    let weight = MatRef::from_row_major_slice(weight, inputs, units);
    let gradient = MatMut::from_row_major_slice_mut(gradient, rows, inputs);
    product(gradient, Accum::Replace, g, weight.transpose());
}

/// Gᵀ1, added to what `sums` holds.
pub(super) fn column_sums(g: &[f32], sums: &mut [f32]) {
    for row in g.chunks_exact(sums.len().max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += v);
    }
}

/// On one thread: no number may depend on how many there are.
fn product(out: MatMut<'_, f32>, accum: Accum, a: MatRef<'_, f32>, b: MatRef<'_, f32>) {
    matmul(out, accum, a, b, 1.0, Par::Seq);
    Arch::new().dispatch(CleanUpper);
}

/// Clears the upper halves of the vector registers.
///
/// The AVX-512 kernels behind faer's product return without `vzeroupper` (private-gemm-x86 0.1.22), and on some processors all
/// code for narrow vectors then runs slowly until somebody does it: `tanh` took 38 ns in place of 11 on a Zen 4. A function
/// that is compiled for wide vectors and uses them ends with it.
struct CleanUpper;

impl WithSimd for CleanUpper {
    type Output = ();

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "what is not inlined is not compiled for the wider vectors")]
    fn with_simd<S: Simd>(self, simd: S) {
        black_box(simd.splat_f32s(0.0));
    }
}
