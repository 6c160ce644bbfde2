//! A square choice of the columns of [A, −I], factored, for the simplex method.
//!
//! ```text
//! B = LU E₁ … E_k       Eₖ: the column that took a place, in terms of the basis it came to
//! ```
//!
//! Columns with one row left are taken first, again and again: a basis that is triangular but for its order, such as a tree of a
//! network, has no L and no fill. What is left is factored column by column (Gilbert & Peierls 1988), with pivots of at least a
//! tenth of the largest, in rows that few others have. Columns that depend on those before are passed over.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A pivot is at least this share of the largest candidate.
const THRESHOLD: f64 = 0.1;
/// Below this share of a column's largest entry what is left of it is rounding: the column depends on those before.
const DEPENDENT: f64 = 1e-9;
/// A factor with so many times the entries of its columns is none to go on with.
const FILL: usize = 20;
/// Changes after which the basis is factored anew.
const FULL: usize = 64;

/// Sparse vectors one after the other.
#[derive(Clone, Debug)]
struct Packed {
    starts: Vec<usize>,
    places: Vec<usize>,
    values: Vec<f64>,
}

impl Default for Packed {
    fn default() -> Self {
        Self { starts: vec![0], places: Vec::new(), values: Vec::new() }
    }
}

impl Packed {
    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn put(&mut self, place: usize, value: f64) {
        self.places.push(place);
        self.values.push(value);
    }

    /// Ends the vector that was put together last.
    fn end(&mut self) {
        self.starts.push(self.places.len());
    }

    fn clear(&mut self) {
        self.starts.truncate(1);
        self.places.clear();
        self.values.clear();
    }

    #[inline]
    fn get(&self, k: usize) -> impl DoubleEndedIterator<Item = (usize, f64)> + '_ {
        let range = self.starts[k]..self.starts[k + 1];
        self.places[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// By entries instead of vectors: those of place `i` come to vector `to(i)`.
    fn transposed(&self, count: usize, to: impl Fn(usize) -> usize) -> Self {
        let mut starts = vec![0; count + 1];
        self.places.iter().for_each(|i| starts[to(*i) + 1] += 1);
        (0..count).for_each(|k| starts[k + 1] += starts[k]);
        let mut next = starts.clone();
        let (mut places, mut values) = (vec![0; self.places.len()], vec![0.0; self.places.len()]);
        for k in 0..self.len() {
            for (i, a) in self.get(k) {
                let at = &mut next[to(i)];
                (places[*at], values[*at]) = (k, a);
                *at += 1;
            }
        }
        Self { starts, places, values }
    }

    #[inline]
    fn dot(&self, k: usize, x: &[f64]) -> f64 {
        self.get(k).map(|(i, a)| a * x[i]).sum()
    }
}

/// [A, −I] by columns, and A by rows.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) n: usize,
    pub(crate) m: usize,
    by_column: Packed,
    by_row: Packed,
}

impl Columns {
    /// Of rows given by their entries.
    pub(crate) fn new<R: Iterator<Item = (usize, f64)>>(n: usize, rows: impl Iterator<Item = R>) -> Self {
        let mut by_row = Packed::default();
        for row in rows {
            row.filter(|(_, a)| *a != 0.0).for_each(|(j, a)| by_row.put(j, a));
            by_row.end();
        }
        let m = by_row.len();
        Self { n, m, by_column: by_row.transposed(n, |j| j), by_row }
    }

    /// The entries of column `v`; n + i is the i-th of −I.
    #[inline]
    pub(crate) fn column(&self, v: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let own = v.checked_sub(self.n);
        let stored = own.is_none().then(|| self.by_column.get(v));
        stored.into_iter().flatten().chain(own.map(|i| (i, -1.0)))
    }

    /// The entries of row `i` of A.
    #[inline]
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.by_row.get(i)
    }
}

/// The factored basis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Basis {
    /// The column in each place.
    pub(crate) head: Vec<usize>,
    /// Row and value of each pivot; places are in the order of the pivots.
    rows: Vec<usize>,
    pivots: Vec<f64>,
    /// Columns of U above their pivots, by rows; and rows of U right of theirs, by places.
    upper: Packed,
    across: Packed,
    /// Rows whose multiples are taken from others, and these.
    from: Vec<usize>,
    lower: Packed,
    /// Places that changed, the pivots they did with, and what else their columns have.
    changed: Vec<usize>,
    by: Vec<f64>,
    etas: Packed,
}

impl Basis {
    /// Factors `wanted` columns in order of preference, until there is one for each row; false if there are too few that are
    /// independent, or one of the first `must` is not among them.
    pub(crate) fn factor(&mut self, of: &Columns, wanted: &[usize], must: usize) -> bool {
        let m = of.m;
        if wanted.len() < m || must > m {
            return false;
        }
        self.clear();
        let (order, counts) = self.peel(of, &wanted[..m]);
        let mut pivoted = vec![false; m];
        self.rows.iter().for_each(|&i| pivoted[i] = true);
        let mut column = Column::new(m);
        let most = FILL * (m + wanted[..m].iter().map(|v| of.column(*v).count()).sum::<usize>());
        let later = wanted[m..].iter().map(|v| (*v, false));
        for (v, must) in order.into_iter().map(|at| (wanted[at], at < must)).chain(later) {
            if self.head.len() == m {
                break;
            }
            let largest = column.read(of.column(v), &self.from, &self.lower);
            let left = || column.entries().filter(|(i, _)| !pivoted[*i]);
            let most_left = left().fold(0.0_f64, |m, (_, a)| m.max(a.abs()));
            if most_left <= DEPENDENT * largest || !most_left.is_finite() {
                if must {
                    return false;
                }
                column.clear();
                continue;
            }
            let large = left().filter(|(_, a)| a.abs() >= THRESHOLD * most_left);
            let Some((row, pivot)) = large.min_by_key(|(i, _)| counts[*i]) else { return false };
            pivoted[row] = true;
            let before = self.lower.places.len();
            for (i, a) in column.entries().filter(|(i, _)| *i != row) {
                if pivoted[i] {
                    self.upper.put(i, a);
                } else {
                    self.lower.put(i, a / pivot);
                }
            }
            if self.lower.places.len() > before {
                column.step[row] = self.from.len();
                self.from.push(row);
                self.lower.end();
            }
            column.clear();
            self.take(v, row, pivot);
            if self.upper.places.len() + self.lower.places.len() > most {
                return false;
            }
        }
        self.turn_upper();
        self.head.len() == m
    }

    /// U by rows.
    fn turn_upper(&mut self) {
        let Self { rows, upper, across, .. } = self;
        let mut place = vec![0; rows.len()];
        rows.iter().enumerate().for_each(|(k, i)| place[*i] = k);
        *across = upper.transposed(rows.len(), |i| place[i]);
    }

    fn clear(&mut self) {
        self.head.clear();
        self.rows.clear();
        self.pivots.clear();
        self.from.clear();
        self.upper.clear();
        self.lower.clear();
        self.forget_changes();
    }

    fn forget_changes(&mut self) {
        self.changed.clear();
        self.by.clear();
        self.etas.clear();
    }

    fn take(&mut self, column: usize, row: usize, pivot: f64) {
        self.upper.end();
        self.head.push(column);
        self.rows.push(row);
        self.pivots.push(pivot);
    }

    /// Takes columns with one row left, again and again. Returns the places of the others, fewest entries first, and in how many
    /// columns each row is.
    fn peel(&mut self, of: &Columns, wanted: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let m = of.m;
        let (mut left, mut counts, mut starts) = (vec![0_usize; m], vec![0_usize; m], vec![0_usize; m + 1]);
        for (at, &v) in wanted.iter().enumerate() {
            for (i, _) in of.column(v) {
                left[at] += 1;
                starts[i + 1] += 1;
            }
        }
        counts.copy_from_slice(&starts[1..]);
        for i in 0..m {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut across) = (starts.clone(), vec![0_usize; starts[m]]);
        for (at, &v) in wanted.iter().enumerate() {
            for (i, _) in of.column(v) {
                across[next[i]] = at;
                next[i] += 1;
            }
        }
        let mut pivoted = vec![false; m];
        let mut queue: Vec<usize> = (0..m).filter(|at| left[*at] == 1).collect();
        let (mut done, mut taken) = (0, vec![false; m]);
        while done < queue.len() {
            let at = queue[done];
            done += 1;
            let v = wanted[at];
            let Some((row, pivot)) = of.column(v).find(|(i, _)| !pivoted[*i]) else { continue };
            (pivoted[row], taken[at]) = (true, true);
            for (i, a) in of.column(v).filter(|(i, _)| *i != row) {
                self.upper.put(i, a);
            }
            self.take(v, row, pivot);
            for &other in &across[starts[row]..starts[row + 1]] {
                left[other] -= 1;
                if left[other] == 1 {
                    queue.push(other);
                }
            }
        }
        let mut rest: Vec<usize> = (0..m).filter(|at| !taken[*at]).collect();
        rest.sort_by_key(|at| left[*at]);
        (rest, counts)
    }

    /// Memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let packed = [&self.upper, &self.across, &self.lower, &self.etas];
        let entries: usize = packed.iter().map(|p| 2 * p.places.len() + p.starts.len()).sum();
        size_of::<f64>() * (entries + 3 * self.head.len())
    }

    /// True if the basis has changed so often that it should be factored anew.
    pub(crate) fn is_spent(&self) -> bool {
        self.changed.len() >= FULL
    }

    /// True if the basis has changed since it was factored.
    pub(crate) fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// y = B⁻¹w by places, from w by rows, which is used up.
    pub(crate) fn solve(&self, w: &mut [f64], y: &mut [f64]) {
        for (k, &from) in self.from.iter().enumerate() {
            let a = w[from];
            if a != 0.0 {
                self.lower.get(k).for_each(|(i, l)| w[i] -= l * a);
            }
        }
        for k in (0..self.rows.len()).rev() {
            let a = w[self.rows[k]];
            y[k] = 0.0;
            if a != 0.0 {
                let a = a / self.pivots[k];
                y[k] = a;
                self.upper.get(k).for_each(|(i, u)| w[i] -= u * a);
            }
        }
        for (k, (&at, by)) in self.changed.iter().zip(&self.by).enumerate() {
            if y[at] != 0.0 {
                let a = y[at] / by;
                y[at] = a;
                self.etas.get(k).for_each(|(i, e)| y[i] -= e * a);
            }
        }
    }

    /// π = B⁻ᵀc by rows, from c by places, which is used up.
    pub(crate) fn solve_transposed(&self, c: &mut [f64], pi: &mut [f64]) {
        for (k, (&at, by)) in self.changed.iter().zip(&self.by).enumerate().rev() {
            c[at] = (c[at] - self.etas.dot(k, c)) / by;
        }
        for (k, &row) in self.rows.iter().enumerate() {
            pi[row] = 0.0;
            if c[k] != 0.0 {
                let a = c[k] / self.pivots[k];
                pi[row] = a;
                self.across.get(k).for_each(|(at, u)| c[at] -= u * a);
            }
        }
        for (k, &from) in self.from.iter().enumerate().rev() {
            pi[from] -= self.lower.dot(k, pi);
        }
    }

    /// Column `v` takes a place; `alpha` is what B⁻¹ times it has in which places.
    pub(crate) fn replace(&mut self, place: usize, v: usize, alpha: &[(usize, f64)]) {
        for &(i, a) in alpha {
            if i == place {
                self.by.push(a);
            } else {
                self.etas.put(i, a);
            }
        }
        self.etas.end();
        self.changed.push(place);
        self.head[place] = v;
    }
}

/// A column while it is factored.
struct Column {
    values: Vec<f64>,
    /// Rows that have, or had, an entry.
    rows: Vec<usize>,
    is_in: Vec<bool>,
    /// The step of L that a row is the source of, if any.
    step: Vec<usize>,
    due: BinaryHeap<Reverse<usize>>,
}

impl Column {
    fn new(m: usize) -> Self {
        let (values, rows, is_in) = (vec![0.0; m], Vec::new(), vec![false; m]);
        Self { values, rows, is_in, step: vec![usize::MAX; m], due: BinaryHeap::new() }
    }

    fn touch(&mut self, i: usize) {
        if !std::mem::replace(&mut self.is_in[i], true) {
            self.rows.push(i);
            if self.step[i] != usize::MAX {
                self.due.push(Reverse(self.step[i]));
            }
        }
    }

    /// Takes up a column, and the steps of L that meet it, in their order. Returns its largest entry.
    fn read(&mut self, of: impl Iterator<Item = (usize, f64)>, from: &[usize], lower: &Packed) -> f64 {
        let mut largest = 0.0_f64;
        for (i, a) in of {
            self.touch(i);
            self.values[i] = a;
            largest = largest.max(a.abs());
        }
        while let Some(Reverse(k)) = self.due.pop() {
            let a = self.values[from[k]];
            if a != 0.0 {
                for (i, l) in lower.get(k) {
                    self.touch(i);
                    self.values[i] -= l * a;
                }
            }
        }
        largest
    }

    fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.rows.iter().map(|i| (*i, self.values[*i])).filter(|(_, a)| *a != 0.0)
    }

    fn clear(&mut self) {
        for i in self.rows.drain(..) {
            (self.values[i], self.is_in[i]) = (0.0, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, the same everywhere.
    fn noise(k: usize) -> f64 {
        ((k as f64 + 1.0) * 0.754_877_666_246_693).fract() - 0.5
    }

    /// ‖Bx − b‖ and ‖Bᵀπ − c‖ of a factored basis.
    fn residuals(basis: &Basis, of: &Columns) -> f64 {
        let m = of.m;
        let b: Vec<f64> = (0..m).map(|i| noise(3 * i)).collect();
        let (mut w, mut y) = (b.clone(), vec![0.0; m]);
        basis.solve(&mut w, &mut y);
        let mut left = b.clone();
        for (k, &v) in basis.head.iter().enumerate() {
            of.column(v).for_each(|(i, a)| left[i] -= a * y[k]);
        }
        let (mut c, mut pi) = (b.clone(), vec![0.0; m]);
        basis.solve_transposed(&mut c, &mut pi);
        for (k, &v) in basis.head.iter().enumerate() {
            let along: f64 = of.column(v).map(|(i, a)| a * pi[i]).sum();
            left.push(b[k] - along);
        }
        left.iter().fold(0.0, |m, r| m.max(r.abs()))
    }

    /// A factor solves with its columns and their transposes, after many of them were exchanged too.
    #[test]
    fn a_basis_solves_and_follows_changes() {
        for size in [1, 4, 12, 40] {
            let n = 3 * size;
            let entry = |i: usize, j: usize| {
                if (i * 7 + j * 5).is_multiple_of(4) { noise(i * n + j) + 0.1 } else { 0.0 }
            };
            let of = Columns::new(n, (0..size).map(|i| (0..n).map(move |j| (j, entry(i, j)))));
            let mut basis = Basis::default();
            // Twice the first column: the second is passed over.
            let mut wanted: Vec<usize> = vec![0];
            wanted.extend((0..n + size).filter(|v| *v > 0));
            assert!(basis.factor(&of, &wanted, 0));
            assert!(residuals(&basis, &of) < 1e-9, "{size}");
            let (mut w, mut alpha) = (vec![0.0; size], vec![0.0; size]);
            for v in 0..n + size {
                if basis.head.contains(&v) || basis.is_spent() {
                    continue;
                }
                w.fill(0.0);
                of.column(v).for_each(|(i, a)| w[i] = a);
                basis.solve(&mut w, &mut alpha);
                let largest = (0..size).max_by(|a, b| alpha[*a].abs().total_cmp(&alpha[*b].abs()));
                let Some(place) = largest.filter(|p| alpha[*p].abs() > 0.05) else { continue };
                let entries: Vec<(usize, f64)> = alpha.iter().copied().enumerate().collect();
                basis.replace(place, v, &entries);
                assert!(residuals(&basis, &of) < 1e-7, "{size}");
            }
            assert!(size < 4 || basis.has_changed());
        }
    }

    /// Columns that have to be there and depend on each other are no basis; of a tree none is filled.
    #[test]
    fn dependent_columns_are_no_basis_and_trees_do_not_fill() {
        // A chain of nodes: arc j goes from j to j + 1.
        let m = 30;
        let chain = (0..m)
            .map(|i| [(i > 0).then(|| (i - 1, 1.0)), (i + 1 < m).then_some((i, -1.0))].into_iter().flatten());
        let of = Columns::new(m - 1, chain);
        let (arcs, root) = (0..m - 1, m - 1);
        let tree: Vec<usize> = arcs.clone().chain([root]).collect();
        let mut basis = Basis::default();
        assert!(basis.factor(&of, &tree, m));
        assert_eq!(basis.lower.len(), 0);
        assert!(residuals(&basis, &of) < 1e-12);
        // All flow rows and two logicals fewer than needed: the arcs alone do not do.
        assert!(!basis.factor(&of, &arcs.collect::<Vec<_>>(), 0));
        let twice = Columns::new(
            2,
            [[(0, 1.0), (1, 2.0)], [(0, 2.0), (1, 4.0)]].into_iter().map(<[_; 2]>::into_iter),
        );
        assert!(!basis.factor(&twice, &[0, 1, 2, 3], 2));
        assert!(basis.factor(&twice, &[0, 1, 2, 3], 1));
        assert_eq!(basis.head.iter().filter(|v| **v == 1).count(), 0);
    }
}
