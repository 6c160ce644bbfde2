//! Rows that are stated twice.
//!
//! The softened problem prices every row, so that a hard row stated g times would be g times as dear as one, and its
//! smoothed hinge g times as steep: what is learned would depend on how often a row was written down. Identical hard rows
//! therefore share the penalty of one; of at-most rows with the same coefficients the tightest has all of it:
//!
//! ```text
//! Σ_{i ∈ group} (β/g)·S(aᵀx − b) = β·S(aᵀx − b)        b' > b: aᵀx ≤ b' says nothing new
//! ```
//!
//! Each row stays a row of its own, with its own multiplier and gradient: those of g identical rows add up to those of
//! one. Prices of soft rows add up by themselves, as the problem says.

use std::collections::BTreeMap;

use crate::problem::{Shape, View};

/// Which stacked rows are the same.
#[derive(Clone, Debug)]
pub(crate) struct Duplicates {
    /// The first row of each row's group: rows of one kind with the same coefficients, and of soft rows and equalities also
    /// the same limit.
    pub(crate) first: Vec<usize>,
    /// How much of one row each row is: 1/g, or 0 for an at-most row that another one makes redundant.
    pub(crate) share: Vec<f64>,
}

impl Duplicates {
    /// Looks through the rows of a view. Rows without coefficients are left alone.
    pub(crate) fn of(view: &View<'_>) -> Self {
        let (shape, n) = (view.shape, view.shape.n);
        let mut groups: BTreeMap<(u8, Vec<u64>), Vec<usize>> = BTreeMap::new();
        let kinds = [(0_u8, view.C, view.d), (1, view.A, view.b), (2, view.B, view.c)];
        let mut at = 0;
        for (kind, matrix, limits) in kinds {
            for (row, limit) in matrix.chunks_exact(n).zip(limits) {
                // −0 and 0 are the same number.
                let mut key: Vec<u64> = row.iter().map(|a| (a + 0.0).to_bits()).collect();
                if kind != 1 {
                    key.push((limit + 0.0).to_bits());
                }
                if row.iter().any(|a| *a != 0.0) {
                    groups.entry((kind, key)).or_default().push(at);
                }
                at += 1;
            }
        }
        let mut out = Self { first: (0..shape.rows()).collect(), share: vec![1.0; shape.rows()] };
        for group in groups.values().filter(|group| group.len() > 1) {
            let limit = |i: usize| view.b.get(i.wrapping_sub(shape.soft)).copied().unwrap_or(0.0);
            let at_most = |i: usize| (shape.soft..shape.soft + shape.at_most).contains(&i);
            let tightest = group.iter().map(|&i| limit(i)).fold(f64::INFINITY, f64::min);
            let kept = |i: usize| !at_most(i) || limit(i) <= tightest;
            let count = group.iter().filter(|&&i| kept(i)).count();
            for &i in group {
                out.first[i] = group[0];
                out.share[i] = if kept(i) { 1.0 / count as f64 } else { 0.0 };
            }
        }
        out
    }

    /// Penalties of the stacked rows with each group's dearest shared out.
    pub(crate) fn shared(&self, penalties: &[f64]) -> Vec<f64> {
        let dearest = self.joined(penalties, f64::max);
        dearest.iter().zip(&self.share).map(|(p, share)| p * share).collect()
    }

    /// For every row, `join` over the values of its group.
    pub(crate) fn joined(&self, values: &[f64], join: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let mut out = values.to_vec();
        for (i, &first) in self.first.iter().enumerate() {
            if i != first {
                out[first] = join(out[first], values[i]);
            }
        }
        (0..out.len()).map(|i| out[self.first[i]]).collect()
    }

    /// True for the row that stands for its group.
    pub(crate) fn stands(&self, i: usize) -> bool {
        self.first[i] == i
    }
}

/// Penalties of an instance that gives rows of its own: hard rows that may be predicted are each a row of their own, with
/// the penalty of their own.
pub(crate) fn unmerged(
    shape: Shape,
    shared: &[f64],
    penalties: &[f64],
    at_most: bool,
    equal: bool,
) -> Vec<f64> {
    let mut out = shared.to_vec();
    let (first, second, third) = (shape.soft, shape.soft + shape.at_most, shape.dense());
    if at_most {
        out[first..second].copy_from_slice(&penalties[first..second]);
    }
    if equal {
        out[second..third].copy_from_slice(&penalties[second..third]);
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail loudly")]
mod tests {
    use super::*;
    use crate::{Instance, Matrix, Problem};

    #[test]
    fn the_tightest_has_all_of_the_penalty() {
        let rows = Matrix::from_rows(&[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [2.0, 1.0], [0.0, 0.0]]);
        let problem = Problem::maximize(2).at_most("a", rows, [4.0, 3.0, 3.0, 3.0, 1.0]).build().unwrap();
        let found = Duplicates::of(&problem.view(&Instance::default()).unwrap());
        assert_eq!(found.share[..5], [0.0, 0.5, 0.5, 1.0, 1.0]);
        assert_eq!(found.first[..5], [0, 0, 0, 3, 4]);
        let penalties = [1.0, 8.0, 2.0, 5.0, 6.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(found.shared(&penalties)[..5], [0.0, 4.0, 4.0, 5.0, 6.0]);
        assert_eq!(found.joined(&penalties, |a, b| a + b)[..5], [11.0, 11.0, 11.0, 5.0, 6.0]);
    }
}
