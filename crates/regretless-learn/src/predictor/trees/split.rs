//! The best cut of some rows in two.

use rayon::prelude::*;

use super::bins::Binned;
use super::histogram::{COUNT, CURVATURE, GRADIENT, Histogram};
use super::levels;
use super::monotone::Bounds;
use super::tree::Set;
use crate::settings::{Monotone, TreeSettings};

/// Gains below this share of what the halves are worth are rounding.
pub(super) const ROUNDING: f64 = 1e-12;

/// Rows of bins up to `bin` of a column go left, or those of a set of levels.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) gain: f64,
    pub(super) column: usize,
    pub(super) bin: u8,
    /// The levels that go left, of a category.
    pub(super) set: Option<Set>,
    /// True if missing cells go right.
    pub(super) missing: bool,
    /// Sums of the rows that go left.
    pub(super) left: Vec<f64>,
}

/// What a split has to keep to where outputs rise or fall with a feature.
#[derive(Clone, Copy)]
struct Limits<'a> {
    bounds: &'a Bounds,
    direction: Monotone,
}

/// The split with the largest gain
///
/// ```text
/// |G_left|²/(H_left + λ) + |G_right|²/(H_right + λ) − |G|²/(H + λ)
/// ```
///
/// with G the sums of gradients over a side, a number for each output, and H those of curvatures; the first of equals. With `bounds`
/// sides are worth what their bounded steps are, and splits against a feature's direction are none.
pub(super) fn best(
    table: &Binned,
    columns: &[usize],
    histogram: &Histogram,
    total: &[f64],
    settings: &TreeSettings,
    bounds: Option<&Bounds>,
    monotone: &[Monotone],
) -> Option<Split> {
    let one = |i: usize| {
        let direction = monotone.get(columns[i]).copied().unwrap_or_default();
        let limits = bounds.map(|bounds| Limits { bounds, direction });
        let (column, sums) = (columns[i], histogram.column(i));
        if table.is_category(column) {
            return levels::scan(column, sums, total, settings, limits.map(|limits| limits.bounds));
        }
        scan(table, column, sums, total, settings, limits)
    };
    let found: Vec<Option<Split>> = if histogram.is_large() {
        (0..columns.len()).into_par_iter().map(one).collect()
    } else {
        (0..columns.len()).map(one).collect()
    };
    found.into_iter().flatten().reduce(|best, next| if next.gain > best.gain { next } else { best })
}

/// The best split by one column.
fn scan(
    table: &Binned,
    column: usize,
    sums: &[f64],
    total: &[f64],
    settings: &TreeSettings,
    limits: Option<Limits<'_>>,
) -> Option<Split> {
    let stride = total.len();
    let edges = table.edges(column).len();
    let least = settings.min_rows.max(1) as f64;
    let whole = match limits {
        None => worth(squares(&total[GRADIENT..]), total[CURVATURE], settings.l2),
        Some(Limits { bounds, .. }) => bounds.worth(total, settings.l2),
    };
    let missing = &sums[(edges + 1) * stride..];
    let some_missing = missing[COUNT] > 0.0;
    let mut best: Option<(f64, usize, bool)> = None;
    // Missing cells on the right, then on the left.
    for right in [true, false] {
        if !right && !some_missing {
            break;
        }
        let mut left = if right { vec![0.0; stride] } else { missing.to_vec() };
        for (bin, own) in sums.chunks_exact(stride).take(edges).enumerate() {
            if own[COUNT] == 0.0 {
                continue;
            }
            left.iter_mut().zip(own).for_each(|(l, o)| *l += o);
            if left[COUNT] < least {
                continue;
            }
            if total[COUNT] - left[COUNT] < least {
                break;
            }
            let halves = match limits {
                None => {
                    let (ours, theirs) = both(&left[GRADIENT..], &total[GRADIENT..]);
                    worth(ours, left[CURVATURE], settings.l2)
                        + worth(theirs, total[CURVATURE] - left[CURVATURE], settings.l2)
                }
                Some(Limits { bounds, direction }) => {
                    let right: Vec<f64> = total.iter().zip(&left).map(|(t, l)| t - l).collect();
                    let steps = [&left, &right].map(|side| bounds.steps(side, settings.l2));
                    if !direction.allows(&steps[0], &steps[1]) {
                        continue;
                    }
                    bounds.worth(&left, settings.l2) + bounds.worth(&right, settings.l2)
                }
            };
            let gain = halves - whole;
            if gain > ROUNDING * halves && best.is_none_or(|(most, ..)| gain > most) {
                best = Some((gain, bin, right));
            }
        }
    }
    let (gain, bin, right) = best?;
    let mut left = if right { vec![0.0; stride] } else { missing.to_vec() };
    for own in sums.chunks_exact(stride).take(bin + 1) {
        left.iter_mut().zip(own).for_each(|(l, o)| *l += o);
    }
    // Where nothing is missing, what may be missing later goes with the larger side.
    let missing = if some_missing { right } else { 2.0 * left[COUNT] < total[COUNT] };
    Some(Split { gain, column, bin: bin as u8, set: None, missing, left })
}

pub(super) fn worth(squares: f64, curvature: f64, l2: f64) -> f64 {
    let below = curvature + l2;
    if below > 0.0 { squares / below } else { 0.0 }
}

pub(super) fn squares(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum()
}

/// Sums of squares of a part and of the rest, four lanes at a time.
pub(super) fn both(part: &[f64], total: &[f64]) -> (f64, f64) {
    let (parts, part_rest) = part.as_chunks::<4>();
    let (totals, total_rest) = total.as_chunks::<4>();
    let (mut own, mut rest) = ([0.0; 4], [0.0; 4]);
    for (p, t) in parts.iter().zip(totals) {
        for i in 0..4 {
            own[i] += p[i] * p[i];
            let r = t[i] - p[i];
            rest[i] += r * r;
        }
    }
    let (mut ours, mut theirs) = (own.iter().sum::<f64>(), rest.iter().sum::<f64>());
    for (p, t) in part_rest.iter().zip(total_rest) {
        ours += p * p;
        theirs += (t - p) * (t - p);
    }
    (ours, theirs)
}
