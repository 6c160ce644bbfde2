//! K where nobody gives one: it follows the scale of the rows.
//!
//! The surrogate rounds every hinge over 1/(2K) units of its row. Far wider than the amounts by which rows are missed, it is
//! another problem's; far narrower, its gradient sees as little as that of the original. So
//!
//! ```text
//! K = SHARP / mean |Cx − d|        over soft rows and hard inequalities of one instance at the decision for another
//! K = SHARP / mean |x − l|, |u − x|    for bounds, which are in the units of x and not of the rows
//! ```
//!
//! The decision for another instance stands for one on an imperfect forecast: at its own optimum a row is often met exactly.
//! Rows that are always met exactly have no distance; theirs is then a share of the terms of the row, |a|ᵀ|x| + |b|.

use std::ops::Range;

use crate::engine::tolerance::MET;
use crate::problem::duplicates::{Duplicates, Merged};
use crate::problem::{Instance, Problem, Row, RowValues, Shape, View};
use crate::solve::oracle::Oracle;
use crate::surrogate::SurrogateOptions;

/// How sharp, in the rows' own scale. `docs/training.md` has the measurements behind it.
const SHARP: f64 = 5.0;

/// The distance of rows that are always met exactly, as a share of their terms.
const SHARE: f64 = 0.1;

/// K of every row, fitted to instances of a problem.
///
/// ```
/// use regretless_core::{Instance, Matrix, Problem, Sharpness};
/// let problem = Problem::maximize(2)
///     .at_most("budget", Matrix::from_rows(&[[1.0, 2.0]]), [4.0])
///     .upper([3.0, 3.0])
///     .build()?;
/// let instances = [Instance::theta(&[1.0, 1.0]), Instance::theta(&[1.0, 3.0])];
/// let fitted = Sharpness::fit(&problem, &instances);
/// // The same rows in other units: K follows, bounds stay what they are.
/// let cents = Problem::maximize(2)
///     .at_most("budget", Matrix::from_rows(&[[100.0, 200.0]]), [400.0])
///     .upper([3.0, 3.0])
///     .build()?;
/// let scaled = Sharpness::fit(&cents, &instances);
/// assert!((fitted.k / scaled.k - 100.0).abs() < 1e-9);
/// assert!((fitted.rows.upper[0] - scaled.rows.upper[0]).abs() < 1e-9);
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sharpness {
    /// K of soft and hard rows, or of the bounds where there are no rows.
    pub k: f64,
    /// K of every row.
    pub rows: RowValues,
}

impl Sharpness {
    /// Instances that are looked at; more say little more.
    pub const PROBES: usize = 64;

    /// One K for rows and one for bounds. Instances without an optimum say nothing; where nothing has a scale, it is taken
    /// to be 1.
    pub fn fit(problem: &Problem, instances: &[Instance<'_>]) -> Self {
        Scales::of(problem, instances).by_kind()
    }

    /// A K for every row, by its own distance.
    pub fn fit_each(problem: &Problem, instances: &[Instance<'_>]) -> Self {
        Scales::of(problem, instances).by_row()
    }

    /// Settings of a surrogate with this K.
    pub fn options(&self) -> SurrogateOptions {
        SurrogateOptions { k_rows: Some(self.rows.clone()), ..SurrogateOptions::with_k(self.k) }
    }
}

/// Sums of distances and terms of the stacked rows, over the instances.
struct Scales {
    shape: Shape,
    miss: Vec<f64>,
    terms: Vec<f64>,
    weight: Vec<f64>,
}

impl Scales {
    fn of(problem: &Problem, instances: &[Instance<'_>]) -> Self {
        let step = instances.len().div_ceil(Sharpness::PROBES).max(1);
        let probes: Vec<Instance<'_>> = instances.iter().copied().step_by(step).collect();
        let shape = problem.shape();
        let zeros = vec![0.0; shape.rows()];
        let mut out = Self { shape, miss: zeros.clone(), terms: zeros.clone(), weight: zeros };
        let merged = Merged::of(&problem.or_zero_theta(), &probes);
        for (i, optimum) in Oracle::new(&merged.problem).solve_batch(&probes).into_iter().enumerate() {
            // What the problem refuses or cannot solve is not for K to say.
            let (Ok(optimum), Ok(view)) = (optimum, problem.view(&probes[(i + 1) % probes.len()])) else {
                continue;
            };
            if optimum.is_optimal() && optimum.x.iter().all(|x| x.is_finite()) {
                out.add(&view, &optimum.x);
            }
        }
        out
    }

    fn add(&mut self, view: &View<'_>, x: &[f64]) {
        let (n, share) = (self.shape.n, Duplicates::of(view).share);
        let rows = view.rows().into_iter().flat_map(|(rows, limits)| rows.iter().zip(limits));
        // A row without coefficients is as far from its limit as ever.
        let some = |row: &Row<'_>| row.values().iter().any(|a| *a != 0.0);
        for (i, (row, limit)) in rows.enumerate().filter(|(_, (row, _))| some(row)) {
            self.count(i, row.dot(x) - limit, row.size(x) + limit.abs(), share[i]);
        }
        for (at, bounds) in [(self.shape.general(), view.lower), (self.shape.general() + n, view.upper)] {
            for (j, (x, bound)) in x.iter().zip(bounds).enumerate().filter(|(_, (_, b))| b.is_finite()) {
                self.count(at + j, x - bound, x.abs() + bound.abs(), 1.0);
            }
        }
    }

    fn count(&mut self, row: usize, miss: f64, terms: f64, weight: f64) {
        self.miss[row] += weight * miss.abs();
        self.terms[row] += weight * terms;
        self.weight[row] += weight;
    }

    /// The mean distance of some rows; of those that are always met, a share of their terms.
    fn scale(&self, rows: &Range<usize>) -> Option<f64> {
        let sum = |of: &[f64]| of[rows.clone()].iter().sum::<f64>();
        let (miss, terms, weight) = (sum(&self.miss), sum(&self.terms), sum(&self.weight));
        let scale = if miss > MET * terms { miss } else { SHARE * terms } / weight;
        (scale.is_normal() && scale > 0.0).then_some(scale)
    }

    fn by_kind(&self) -> Sharpness {
        let shape = self.shape;
        let inequalities = shape.soft + shape.at_most;
        // An equality has no distance; it counts where there is nothing else.
        let rows = self.scale(&(0..inequalities)).or_else(|| self.scale(&(inequalities..shape.general())));
        let bounds = self.scale(&(shape.general()..shape.rows()));
        let k = |own: Option<f64>, other: Option<f64>| SHARP / own.or(other).unwrap_or(1.0);
        let (k_rows, k_bounds) = (k(rows, bounds), k(bounds, rows));
        let mut all = RowValues::constant(shape, k_rows);
        (all.lower, all.upper) = (vec![k_bounds; shape.n], vec![k_bounds; shape.n]);
        Sharpness { k: if shape.general() > 0 { k_rows } else { k_bounds }, rows: all }
    }

    fn by_row(&self) -> Sharpness {
        let kind = self.by_kind();
        let each = kind.rows.stacked().into_iter().enumerate();
        let each: Vec<f64> =
            each.map(|(i, k)| self.scale(&(i..i + 1)).map_or(k, |scale| SHARP / scale)).collect();
        Sharpness { k: kind.k, rows: RowValues::from_stacked(self.shape, &each) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail loudly")]
mod tests {
    use super::*;
    use crate::{Matrix, Soft};

    /// One good: a unit more than demand costs 1, one less 5; there is room for 20.
    fn found(scale: f64, demands: &[f64]) -> Sharpness {
        let one = || Matrix::from_rows(&[[scale]]);
        let problem = Problem::maximize(1)
            .linear([-1e-3])
            .soft("demand", Soft::both(one(), [0.0], [1.0 / scale], [5.0 / scale]))
            .at_most("room", one(), [20.0 * scale])
            .build()
            .unwrap();
        let limits: Vec<[f64; 1]> = demands.iter().map(|d| [d * scale]).collect();
        let instances: Vec<Instance<'_>> =
            limits.iter().map(|d| Instance { d: Some(d), ..Instance::default() }).collect();
        Sharpness::fit(&problem, &instances)
    }

    /// Orders meet demand, 10 and 14. Demand is then missed by 4 and 4, the room of 20 by 10 and 6: 6 on average. The bound
    /// is 10 and 14 away.
    #[test]
    fn k_is_the_inverse_of_the_rows_scale() {
        for scale in [1.0, 1e3, 1e-3, 0.7] {
            let k = found(scale, &[10.0, 14.0]);
            assert!((k.k * scale - 5.0 / 6.0).abs() < 1e-9, "{scale}: {k:?}");
            assert!((k.rows.lower[0] - 5.0 / 12.0).abs() < 1e-9, "{scale}: {k:?}");
        }
    }

    /// A row that is always met exactly is measured by its terms: 20 + 20.
    #[test]
    fn rows_that_are_always_met_have_the_scale_of_their_terms() {
        assert!((found(1.0, &[20.0, 20.0]).k - 5.0 / 4.0).abs() < 1e-9);
    }

    #[test]
    fn without_a_scale_k_is_five() {
        assert_eq!(found(1.0, &[]).k, 5.0);
    }
}
