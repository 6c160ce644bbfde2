//! The kernels of a unit lower triangular factor in blocks of columns; see [`crate::linalg::dense_ldl`] for the layout.

use pulp::{Simd, WithSimd};

use super::{Kernel, LANES};

/// 1 below the diagonal of a block, 0 elsewhere; one row a column.
static BELOW: [[f64; LANES]; LANES] = {
    let mut mask = [[0.0; LANES]; LANES];
    let mut j = 0;
    while j < LANES {
        let mut i = j + 1;
        while i < LANES {
            mask[j][i] = 1.0;
            i += 1;
        }
        j += 1;
    }
    mask
};

impl Kernel {
    kernel! {
        /// Solves L p = p in place.
        fn forward<S>(simd, l: &'a [f64], p: &'a mut [f64]) -> () {
            let (mut l, mut p) = (l, p);
            while let Some((head, tail)) = p.split_first_chunk_mut::<LANES>() {
                let (block, rest) = l.split_at(LANES * (LANES + tail.len()));
                let columns = block_columns::<S>(block, tail.len());
                for j in 0..LANES {
                    let column = columns[j].0;
                    for i in j + 1..LANES {
                        head[i] = (-head[j]).mul_add(column[i], head[i]);
                    }
                }
                // Rows of bounds have one non-zero: nothing flows from blocks before it.
                if *head != [0.0; LANES] {
                    let by = head.map(|h| simd.splat_f64s(-h));
                    for (c, p) in S::as_mut_simd_f64s(tail).0.iter_mut().enumerate() {
                        let mut even = *p;
                        let mut odd = simd.splat_f64s(0.0);
                        for j in (0..LANES).step_by(2) {
                            even = simd.mul_add_f64s(by[j], columns[j].1[c], even);
                            odd = simd.mul_add_f64s(by[j + 1], columns[j + 1].1[c], odd);
                        }
                        *p = simd.add_f64s(even, odd);
                    }
                }
                (l, p) = (rest, tail);
            }
        }
    }

    kernel! {
        /// Solves Lᵀ x = x in place.
        fn backward<S>(simd, l: &'a [f64], x: &'a mut [f64]) -> () {
            let mut l = l;
            for b in (0..x.len() / LANES).rev() {
                let (head, tail) = x[b * LANES..].split_at_mut(LANES);
                let (rest, block) = l.split_at(l.len() - LANES * (LANES + tail.len()));
                let columns = block_columns::<S>(block, tail.len());
                let mut sums = [simd.splat_f64s(0.0); LANES];
                for (c, x) in S::as_simd_f64s(tail).0.iter().enumerate() {
                    for j in 0..LANES {
                        sums[j] = simd.mul_add_f64s(columns[j].1[c], *x, sums[j]);
                    }
                }
                for j in 0..LANES {
                    head[j] -= simd.reduce_sum_f64s(sums[j]);
                }
                for j in (0..LANES).rev() {
                    for i in 0..j {
                        head[i] = (-columns[i].0[j]).mul_add(head[j], head[i]);
                    }
                }
                l = rest;
            }
        }
    }

    kernel! {
        /// βⱼ ← βⱼ/t_{j+1}, rⱼ ← rⱼ·t_j/t_{j+1} for the partial sums t of a rank-one change.
        fn divide<S>(_simd, before: &'a [f64], after: &'a [f64], beta: &'a mut [f64], r: &'a mut [f64]) -> () {
            for (((before, after), beta), r) in before.iter().zip(after).zip(beta).zip(r) {
                let inverse = 1.0 / after;
                *beta *= inverse;
                *r *= before * inverse;
            }
        }
    }

    kernel! {
        /// Changes the columns of L for a rank-one change of LDLᵀ: for each column j, `v −= p_j·l_j; l_j += β_j·v`.
        fn rank_one<S>(simd, l: &'a mut [f64], p: &'a [f64], beta: &'a [f64], v: &'a mut [f64]) -> () {
            let (mut l, mut v) = (l, v);
            for (p, beta) in p.as_chunks::<LANES>().0.iter().zip(beta.as_chunks::<LANES>().0) {
                let Some((head, tail)) = v.split_first_chunk_mut::<LANES>() else { break };
                let (block, rest) = l.split_at_mut(LANES * (LANES + tail.len()));
                if *p != [0.0; LANES] {
                    let columns = block_columns_mut::<S>(block, tail.len());
                    let (p, beta) = (p.map(|p| simd.splat_f64s(-p)), beta.map(|b| simd.splat_f64s(b)));
                    for (c, v) in S::as_mut_simd_f64s(head).0.iter_mut().enumerate() {
                        let mut w = *v;
                        for j in 0..LANES {
                            let l = &mut S::as_mut_simd_f64s(columns[j].0).0[c];
                            w = simd.mul_add_f64s(p[j], *l, w);
                            // Entries on and above the diagonal stay zero.
                            let below = simd.mul_f64s(w, S::as_simd_f64s(&BELOW[j]).0[c]);
                            *l = simd.mul_add_f64s(beta[j], below, *l);
                        }
                        *v = w;
                    }
                    for (c, v) in S::as_mut_simd_f64s(tail).0.iter_mut().enumerate() {
                        let mut w = *v;
                        for j in 0..LANES {
                            let l = &mut columns[j].1[c];
                            w = simd.mul_add_f64s(p[j], *l, w);
                            *l = simd.mul_add_f64s(beta[j], w, *l);
                        }
                        *v = w;
                    }
                }
                (l, v) = (rest, tail);
            }
        }
    }
}

/// The eight columns of a block, each as its diagonal stretch and what is below it.
#[inline(always)]
fn block_columns<S: Simd>(block: &[f64], below: usize) -> [(&[f64; LANES], &[S::f64s]); LANES] {
    let width = below / S::F64_LANES;
    // A loop, because `from_fn` is not inlined here.
    let mut columns = [(&BELOW[0], &S::as_simd_f64s(&[]).0[..0]); LANES];
    for (j, column) in columns.iter_mut().enumerate() {
        let stretch = &block[j * (LANES + below)..(j + 1) * (LANES + below)];
        let (diagonal, below) = stretch.split_first_chunk().expect("a column holds its diagonal stretch");
        *column = (diagonal, &S::as_simd_f64s(below).0[..width]);
    }
    columns
}

#[inline(always)]
fn block_columns_mut<S: Simd>(
    block: &mut [f64],
    below: usize,
) -> [(&mut [f64; LANES], &mut [S::f64s]); LANES] {
    let width = below / S::F64_LANES;
    let mut columns = block.chunks_exact_mut(LANES + below);
    std::array::from_fn(|_| {
        let column = columns.next().expect("a block has eight columns");
        let (diagonal, below) = column.split_first_chunk_mut().expect("a column holds its diagonal stretch");
        (diagonal, &mut S::as_mut_simd_f64s(below).0[..width])
    })
}
