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

use crate::problem::{Instance, Problem, Shape, View};

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
        let shape = view.shape;
        let mut groups: BTreeMap<(u8, Vec<u64>), Vec<usize>> = BTreeMap::new();
        let mut at = 0;
        for (kind, (matrix, limits)) in (0_u8..).zip(view.rows()) {
            for (row, limit) in matrix.iter().zip(limits) {
                let some = row.iter().filter(|(_, a)| *a != 0.0);
                let mut key: Vec<u64> = some.flat_map(|(j, a)| [j as u64, a.to_bits()]).collect();
                let empty = key.is_empty();
                if kind != 1 {
                    // −0 and 0 are the same number.
                    key.push((limit + 0.0).to_bits());
                }
                if !empty {
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
    fn joined(&self, values: &[f64], join: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let mut out = values.to_vec();
        for (i, &first) in self.first.iter().enumerate() {
            if i != first {
                out[first] = join(out[first], values[i]);
            }
        }
        (0..out.len()).map(|i| out[self.first[i]]).collect()
    }
}

/// A problem whose hard rows are each stated once: what is read off its optima, multipliers at a degenerate vertex among
/// it, does not depend on how often a row was written down.
#[derive(Debug)]
pub(crate) struct Merged {
    pub(crate) problem: Problem,
    /// Where each stacked row of the original is among its own.
    place: Vec<usize>,
    /// True for the first row of each place.
    first: Vec<bool>,
}

impl Merged {
    /// The problem with its hard rows merged; as it is where instances bring rows of their own.
    pub(crate) fn of(problem: &Problem, instances: &[Instance<'_>]) -> Self {
        let shape = problem.shape();
        let fixed = |i: &Instance<'_>| i.A.is_none() && i.b.is_none() && i.B.is_none() && i.c.is_none();
        let own = || Self::new(problem.clone(), (0..shape.rows()).collect());
        let Some(Ok(view)) = instances.iter().all(fixed).then(|| problem.view(&Instance::default())) else {
            return own();
        };
        let found = Duplicates::of(&view);
        let soft = |i: usize| i < shape.soft;
        let mut stands: BTreeMap<usize, usize> = BTreeMap::new();
        let mut count = 0;
        let mut kept = vec![false; shape.rows()];
        for i in 0..shape.rows() {
            let first = if soft(i) { i } else { found.first[i] };
            if soft(i) || (found.share[i] > 0.0 && !stands.contains_key(&first)) {
                stands.insert(first, count);
                kept[i] = true;
                count += 1;
            }
        }
        if count == shape.rows() {
            return own();
        }
        let first = |i: usize| if soft(i) { i } else { found.first[i] };
        let place = (0..shape.rows()).map(|i| stands.get(&first(i)).copied().unwrap_or(0)).collect();
        let equal = shape.soft + shape.at_most;
        Self::new(problem.with_hard(&kept[shape.soft..equal], &kept[equal..shape.general()]), place)
    }

    fn new(problem: Problem, place: Vec<usize>) -> Self {
        let mut met = vec![false; place.len()];
        let first = place.iter().map(|&i| !std::mem::replace(&mut met[i], true)).collect();
        Self { problem, place, first }
    }

    /// Values of its rows for the rows of the original.
    pub(crate) fn spread(&self, values: &[f64]) -> Vec<f64> {
        self.place.iter().map(|&i| values[i]).collect()
    }

    /// True for the first row of each group.
    pub(crate) fn stands(&self, i: usize) -> bool {
        self.first[i]
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
    let (first, second, third) = (shape.soft, shape.soft + shape.at_most, shape.general());
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
    use crate::Matrix;

    #[test]
    fn the_tightest_has_all_of_the_penalty() {
        let rows = Matrix::from_rows(&[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [2.0, 1.0], [0.0, 0.0]]);
        let problem = Problem::maximize(2).at_most("a", rows, [4.0, 3.0, 3.0, 3.0, 1.0]).build().unwrap();
        let found = Duplicates::of(&problem.view(&Instance::default()).unwrap());
        assert_eq!(found.share[..5], [0.0, 0.5, 0.5, 1.0, 1.0]);
        assert_eq!(found.first[..5], [0, 0, 0, 3, 4]);
        let penalties = [1.0, 8.0, 2.0, 5.0, 6.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(found.shared(&penalties)[..5], [0.0, 4.0, 4.0, 5.0, 6.0]);
        let merged = Merged::of(&problem, &[Instance::default()]);
        assert_eq!(merged.problem.at_most().rhs, [3.0, 3.0, 1.0]);
        assert_eq!(merged.spread(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])[..6], [1.0, 1.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((0..5).map(|i| merged.stands(i)).collect::<Vec<_>>(), [true, false, false, true, true]);
    }
}
