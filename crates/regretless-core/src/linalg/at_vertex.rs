//! H⁻¹ where exactly n rows are on their slopes: those of a vertex, whose basis is factored.
//!
//! With the columns of [A, −I](x, s) = 0 in the basis B or on the kink of one row each, H = C'ᵀWC' over these rows, C' is square,
//! and H⁻¹b = C'⁻¹W⁻¹C'⁻ᵀb takes one solve with Bᵀ and one with B:
//!
//! ```text
//! Bᵀπ = b_B      r = (b, 0) − [A, −I]ᵀπ      v = r/w off the basis      B v_B = −N v_N
//! ```
//!
//! Nothing is squared and nothing shifted: it has the digits of the basis.

use std::sync::Arc;

use crate::linalg::basis::{Basis, Columns};

/// The factor of H at a vertex.
#[derive(Clone, Debug)]
pub(crate) struct AtVertex {
    columns: Arc<Columns>,
    basis: Basis,
    /// Columns on kinks, with the 1/w of the row.
    kinks: Vec<(usize, f64)>,
    /// D of x = Dx̂, for columns that are scaled.
    units: Vec<f64>,
}

impl AtVertex {
    /// Of a basis, the columns off it with the weights of their rows, and the units of the variables (none: all 1).
    pub(crate) fn new(
        columns: Arc<Columns>,
        basis: Basis,
        kinks: impl Iterator<Item = (usize, f64)>,
        units: Vec<f64>,
    ) -> Self {
        Self { columns, basis, kinks: kinks.map(|(v, w)| (v, 1.0 / w)).collect(), units }
    }

    /// Memory, in bytes; the columns are shared.
    pub(crate) fn bytes(&self) -> usize {
        self.basis.bytes() + 2 * size_of::<f64>() * self.kinks.len()
    }

    /// b = H⁻¹b; what is behind n entries is left alone.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        let Self { columns, basis, kinks, units } = self;
        let (n, m) = (columns.n, columns.m);
        b.iter_mut().zip(units).for_each(|(b, d)| *b *= d);
        let pull = |v: usize| if v < n { b[v] } else { 0.0 };
        let mut places: Vec<f64> = basis.head.iter().map(|v| pull(*v)).collect();
        let (mut rows, mut out) = (vec![0.0; m], vec![0.0; n]);
        basis.solve_transposed(&mut places, &mut rows);
        let pi = rows.clone();
        rows.fill(0.0);
        for &(v, soft) in kinks {
            let along: f64 = columns.column(v).map(|(i, a)| a * pi[i]).sum();
            let value = soft * (pull(v) - along);
            if value != 0.0 {
                columns.column(v).for_each(|(i, a)| rows[i] -= a * value);
            }
            if v < n {
                out[v] = value;
            }
        }
        basis.solve(&mut rows, &mut places);
        for (v, value) in basis.head.iter().zip(&places).filter(|(v, _)| **v < n) {
            out[*v] = *value;
        }
        b[..n].copy_from_slice(&out);
        b.iter_mut().zip(units).for_each(|(b, d)| *b *= d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, the same everywhere.
    fn noise(k: usize) -> f64 {
        ((k as f64 + 1.0) * 0.754_877_666_246_693).fract() - 0.5
    }

    /// H put together from the rows that hold the vertex, times what a solve makes of b, is b.
    #[test]
    fn solves_are_those_of_the_rows_that_hold_the_vertex() {
        let (n, m) = (9, 5);
        let entry = |i: usize, j: usize| if (i + 2 * j).is_multiple_of(3) { 0.0 } else { noise(i * n + j) };
        let columns = Arc::new(Columns::new(n, (0..m).map(|i| (0..n).map(move |j| (j, entry(i, j))))));
        let mut basis = Basis::default();
        // Two activities stay on their kinks, with some variables.
        let wanted = [0, 3, n + 1, 5, n + 4, 7, 1, 2, 4, 6, 8];
        assert!(basis.factor(&columns, &wanted, 0));
        let off: Vec<usize> = (0..n + m).filter(|v| !basis.head.contains(v)).collect();
        assert!(off.len() == n && off.iter().any(|v| *v >= n));
        let units: Vec<f64> = (0..n).map(|j| if j % 2 == 0 { 1.0 } else { 4.0 }).collect();
        let weight = |v: usize| [1.0, 10.0, 100.0, 1e3][v % 4];
        let at = AtVertex::new(columns, basis, off.iter().map(|v| (*v, weight(*v))), units.clone());
        let b: Vec<f64> = (0..n).map(|j| noise(7 * j)).collect();
        let mut x = b.clone();
        at.solve(&mut x);
        let mut left = b;
        for v in off {
            // The row in the units of x.
            let row = |j: usize| {
                let own = if v < n { f64::from(u8::from(j == v)) } else { entry(v - n, j) };
                own / units[j]
            };
            let along: f64 = (0..n).map(|j| row(j) * x[j]).sum();
            (0..n).for_each(|j| left[j] -= weight(v) * along * row(j));
        }
        assert!(left.iter().all(|r| r.abs() < 1e-9), "{left:?}");
    }
}
