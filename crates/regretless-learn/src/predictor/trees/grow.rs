//! Growing one tree: the leaf with the most to gain is split first.

use std::ops::Range;

use super::bins::Binned;
use super::histogram::{COUNT, CURVATURE, GRADIENT, Histogram};
use super::monotone::Bounds;
use super::split::{self, Split};
use super::tree::{BY_SET, Node, Tree};
use crate::settings::{Monotone, TreeSettings};

/// What a tree is fitted to.
#[derive(Clone, Copy, Debug)]
pub struct Slopes<'a> {
    /// Derivatives of each row's loss in its outputs, rows × outputs.
    pub gradient: &'a [f64],
    /// The second derivative of each row's loss, one for all of its outputs; 1 where there is none.
    pub curvature: &'a [f64],
    /// Where the loss is that of a quantile, what the outputs are short of the truth, rows × outputs.
    pub quantile: Option<Quantile<'a>>,
}

/// A leaf of a quantile's loss moves to the quantile of what its rows are short of: their gradients say on which side of the truth they
/// are, not how far.
#[derive(Clone, Copy, Debug)]
pub struct Quantile<'a> {
    /// The level τ, from 0 to 1.
    pub level: f64,
    /// True − predicted, rows × outputs.
    pub short: &'a [f64],
}

/// A leaf that may be split.
struct Leaf {
    node: usize,
    rows: Range<usize>,
    depth: usize,
    total: Vec<f64>,
    /// What its steps lie between, where outputs rise or fall with a feature.
    bounds: Option<Bounds>,
    /// `None` if it will not be split.
    open: Option<(Histogram, Split)>,
}

/// The leaf whose split gains most.
fn most(leaves: &[Leaf]) -> Option<usize> {
    let gain = |i: &usize| leaves[*i].open.as_ref().map(|(_, split)| split.gain);
    let open = (0..leaves.len()).filter(|i| leaves[*i].open.is_some());
    open.reduce(|a, b| if gain(&b) > gain(&a) { b } else { a })
}

/// Grows a tree over `rows` of a table. A leaf moves its rows by
///
/// ```text
/// −rate·G/(H + λ)
/// ```
///
/// with G and H the sums of their gradients and curvatures, where half the sum of squared errors would have its minimum if rate = 1,
/// λ = 0; of a quantile's loss as [`Quantile`] says. `monotone` has the direction of each column; it is empty if none has one.
pub(super) fn grow(
    table: &Binned,
    mut rows: Vec<u32>,
    slopes: Slopes<'_>,
    columns: &[usize],
    monotone: &[Monotone],
    settings: &TreeSettings,
    rate: f64,
) -> Tree {
    let outputs = slopes.gradient.len() / slopes.curvature.len().max(1);
    let grower = Grower { table, columns, monotone, slopes, outputs, settings };
    let total = grower.total(&rows);
    let bounds = (!monotone.is_empty()).then(|| Bounds::none(outputs));
    let open = grower.open(&rows, 0, &total, bounds.as_ref(), None);
    let (mut nodes, mut sets, mut gains) = (vec![Node::leaf(0)], Vec::new(), vec![0.0]);
    let mut leaves = vec![Leaf { node: 0, rows: 0..rows.len(), depth: 0, total, bounds, open }];
    // Where there cannot be too many leaves, their order does not matter, and the last one first keeps few histograms.
    let limited = rows.len() / settings.min_rows.max(1) > settings.leaves;
    while leaves.len() < settings.leaves {
        let next = if limited { most(&leaves) } else { leaves.iter().rposition(|leaf| leaf.open.is_some()) };
        let Some(next) = next else { break };
        let Leaf { node, rows: range, depth, total, bounds, open } = leaves.swap_remove(next);
        let Some((histogram, split)) = open else { break };
        let middle = range.start + partition(&mut rows[range.clone()], table, &split);
        let right: Vec<f64> = total.iter().zip(&split.left).map(|(t, l)| t - l).collect();
        let parts = [range.start..middle, middle..range.end];
        let mut within = [None, None];
        if let Some(bounds) = &bounds {
            let direction = monotone[split.column];
            let left = grower.steps(&rows[parts[0].clone()], &split.left, Some(bounds));
            let right = grower.steps(&rows[parts[1].clone()], &right, Some(bounds));
            if !direction.allows(&left, &right) {
                // Quantiles may be in another order than gradients say.
                leaves.push(Leaf {
                    node,
                    rows: range,
                    depth,
                    total,
                    bounds: Some(bounds.clone()),
                    open: None,
                });
                continue;
            }
            within = bounds.halves(direction, &left, &right).map(Some);
        }
        let child = nodes.len();
        let (threshold, by_set) = match split.set {
            Some(set) => {
                sets.push(set);
                ((sets.len() - 1) as f32, BY_SET)
            }
            None => (table.edges(split.column)[usize::from(split.bin)], 0),
        };
        nodes[node] = Node {
            feature: split.column as u32,
            threshold,
            child: child as u32,
            missing: u32::from(split.missing) | by_set,
        };
        nodes.extend([Node::leaf(child), Node::leaf(child + 1)]);
        gains[node] = split.gain as f32;
        gains.extend([0.0; 2]);
        let totals = [split.left, right];
        // The smaller side is added up, the other one is what is left.
        let small = usize::from(parts[0].len() > parts[1].len());
        let last = leaves.len() + 2 >= settings.leaves;
        let mut open = [None, None];
        if !last && grower.may_split(depth + 1, &totals[1 - small]) {
            let own = grower.histogram(&rows[parts[small].clone()]);
            let rest = histogram.without(&own);
            for (side, known) in [(1 - small, rest), (small, own)] {
                open[side] = grower.open(&[], depth + 1, &totals[side], within[side].as_ref(), Some(known));
            }
        }
        let sides = parts.into_iter().zip(totals).zip(open).zip(within).enumerate();
        for (i, (((rows, total), open), bounds)) in sides {
            leaves.push(Leaf { node: child + i, rows, depth: depth + 1, total, bounds, open });
        }
    }
    leaves.sort_unstable_by_key(|leaf| leaf.node);
    let steps = |leaf: &Leaf| grower.steps(&rows[leaf.rows.clone()], &leaf.total, leaf.bounds.as_ref());
    let values = leaves.iter().flat_map(steps).map(|step| (rate * step) as f32).collect();
    Tree::new(nodes, sets, values, outputs, table.features())
        .unwrap_or_else(|| unreachable!("children follow parents"))
        .noted(gains, 0)
}

impl Quantile<'_> {
    /// The quantile of output `k` over some rows, each as often as its curvature says: where the sum of their losses is smallest, in
    /// the middle if that is between two rows.
    fn of(&self, rows: &[u32], k: usize, slopes: Slopes<'_>) -> f64 {
        let outputs = slopes.gradient.len() / slopes.curvature.len().max(1);
        let one = |&row: &u32| (self.short[row as usize * outputs + k], slopes.curvature[row as usize]);
        let mut short: Vec<(f64, f64)> = rows.iter().map(one).collect();
        if short.iter().all(|(_, weight)| *weight == 1.0) {
            return middle(&mut short, self.level);
        }
        short.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let wanted = self.level * short.iter().map(|(_, weight)| weight).sum::<f64>();
        let mut so_far = 0.0;
        for (i, &(value, weight)) in short.iter().enumerate() {
            so_far += weight;
            if so_far == wanted && i + 1 < short.len() {
                return f64::midpoint(value, short[i + 1].0);
            }
            if so_far >= wanted {
                return value;
            }
        }
        // What rounding leaves of the last row.
        short.last().map_or(0.0, |(value, _)| *value)
    }
}

/// [`Quantile::of`] rows that count once each, without sorting them.
fn middle(short: &mut [(f64, f64)], level: f64) -> f64 {
    let wanted = level * short.len() as f64;
    let Some(at) = short.len().checked_sub(1).map(|last| (wanted.ceil() as usize).clamp(1, last + 1) - 1)
    else {
        return 0.0;
    };
    let (_, (value, _), above) = short.select_nth_unstable_by(at, |a, b| a.0.total_cmp(&b.0));
    let next = above.iter().map(|(next, _)| *next).reduce(f64::min);
    match next {
        Some(next) if (at + 1) as f64 == wanted => f64::midpoint(*value, next),
        _ => *value,
    }
}

struct Grower<'a> {
    table: &'a Binned,
    columns: &'a [usize],
    monotone: &'a [Monotone],
    slopes: Slopes<'a>,
    outputs: usize,
    settings: &'a TreeSettings,
}

impl Grower<'_> {
    fn stride(&self) -> usize {
        GRADIENT + self.outputs
    }

    fn gradient(&self, row: u32) -> &[f64] {
        let at = row as usize * self.outputs;
        &self.slopes.gradient[at..at + self.outputs]
    }

    fn total(&self, rows: &[u32]) -> Vec<f64> {
        let mut total = vec![0.0; self.stride()];
        total[COUNT] = rows.len() as f64;
        for &row in rows {
            total[CURVATURE] += self.slopes.curvature[row as usize];
            total[GRADIENT..].iter_mut().zip(self.gradient(row)).for_each(|(t, g)| *t += g);
        }
        total
    }

    fn histogram(&self, rows: &[u32]) -> Histogram {
        let mut own = Vec::with_capacity(rows.len() * self.stride());
        let Slopes { gradient, curvature, .. } = self.slopes;
        if self.outputs == 1 {
            // One number is no slice to copy.
            own.extend(rows.iter().flat_map(|&row| [1.0, curvature[row as usize], gradient[row as usize]]));
        } else {
            for &row in rows {
                own.extend([1.0, curvature[row as usize]]);
                own.extend(self.gradient(row));
            }
        }
        Histogram::new(self.table, self.columns, rows, &own, self.stride())
    }

    /// How far rows with these sums go in each output, before the learning rate.
    fn steps(&self, rows: &[u32], total: &[f64], bounds: Option<&Bounds>) -> Vec<f64> {
        let below = total[CURVATURE] + self.settings.l2;
        let step = |k: usize| {
            let step = match self.slopes.quantile {
                _ if below == 0.0 => 0.0,
                Some(quantile) => quantile.of(rows, k, self.slopes) * total[CURVATURE] / below,
                None => -total[GRADIENT + k] / below,
            };
            bounds.map_or(step, |bounds| bounds.keep(k, step))
        };
        (0..self.outputs).map(step).collect()
    }

    fn may_split(&self, depth: usize, total: &[f64]) -> bool {
        depth < self.settings.depth && total[COUNT] >= 2.0 * self.settings.min_rows.max(1) as f64
    }

    /// The histogram of a leaf and its best split, if it may be split; the histogram is added up unless it is known.
    fn open(
        &self,
        rows: &[u32],
        depth: usize,
        total: &[f64],
        bounds: Option<&Bounds>,
        known: Option<Histogram>,
    ) -> Option<(Histogram, Split)> {
        if !self.may_split(depth, total) {
            return None;
        }
        let histogram = known.unwrap_or_else(|| self.histogram(rows));
        let Self { table, columns, settings, monotone, .. } = *self;
        let split = split::best(table, columns, &histogram, total, settings, bounds, monotone)?;
        Some((histogram, split))
    }
}

/// Rows that go left first, both sides in their order; returns how many go left.
fn partition(rows: &mut [u32], table: &Binned, split: &Split) -> usize {
    let bins = table.bins(split.column);
    let missing = (table.count(split.column) - 1) as u8;
    let left = |row: u32| match bins[row as usize] {
        bin if bin == missing => !split.missing,
        bin => split.set.map_or(bin <= split.bin, |set| set.has(bin)),
    };
    let mut right = Vec::new();
    let mut kept = 0;
    for i in 0..rows.len() {
        let row = rows[i];
        if left(row) {
            rows[kept] = row;
            kept += 1;
        } else {
            right.push(row);
        }
    }
    rows[kept..].copy_from_slice(&right);
    kept
}
