//! Features in bins: what histograms are made over.

use rayon::prelude::*;

use super::histogram::Spare;

/// Edges between bins, at most: with the bin of missing cells a bin fits a byte.
const EDGES: usize = 254;

/// Values that quantiles are taken of, at most; more say little more.
const PROBES: usize = 200_000;

/// A table of features, column by column, each value as the number of its bin.
///
/// A value x is in the first bin whose upper edge is not below it. Where a column has few values the edges lie in the middle between
/// neighbours, so that each value has a bin of its own; else between quantiles. A category has a bin for each of its levels, in no
/// order. Missing cells (NaN) have the bin after the last.
///
/// ```
/// use regretless_learn::Binned;
/// let table = Binned::new(&[1.0, f32::NAN, 3.0, 1.0], 4, 1);
/// assert_eq!(table.edges(0), [2.0]);
/// assert_eq!(table.bins(0), [0, 2, 1, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct Binned {
    rows: usize,
    columns: Vec<Column>,
    /// Memory of histograms over it, from one tree to the next.
    spare: Spare,
}

#[derive(Clone, Debug)]
struct Column {
    edges: Vec<f32>,
    bins: Vec<u8>,
    /// Levels of a category; 0 for numbers.
    levels: usize,
}

impl Binned {
    /// Bins a row-major table of `rows` rows and `features` columns of numbers.
    pub fn new(inputs: &[f32], rows: usize, features: usize) -> Self {
        Self::with_levels(inputs, rows, &vec![0; features])
    }

    /// Bins a row-major table of `rows` rows. For each column that is a category `levels` has how many there are, at most 254, and the
    /// column their numbers; 0 for columns of numbers.
    pub fn with_levels(inputs: &[f32], rows: usize, levels: &[usize]) -> Self {
        let features = levels.len();
        let column = |j: usize| {
            let values = inputs.iter().skip(j).step_by(features).copied();
            let levels = levels[j].min(EDGES);
            if levels > 0 {
                let bin = |x: f32| if x.is_nan() { levels as u8 } else { (x as usize).min(levels - 1) as u8 };
                return Column { edges: Vec::new(), bins: values.map(bin).collect(), levels };
            }
            let values: Vec<f32> = values.collect();
            let edges = edges(&values);
            let bins = values.iter().map(|x| bin(&edges, *x)).collect();
            Column { edges, bins, levels: 0 }
        };
        Self { rows, columns: (0..features).into_par_iter().map(column).collect(), spare: Spare::default() }
    }

    /// Memory of histograms that are done with.
    pub(super) fn spare(&self) -> &Spare {
        &self.spare
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn features(&self) -> usize {
        self.columns.len()
    }

    /// The edges between the bins of a column, ascending.
    pub fn edges(&self, column: usize) -> &[f32] {
        &self.columns[column].edges
    }

    /// The bin of each row.
    pub fn bins(&self, column: usize) -> &[u8] {
        &self.columns[column].bins
    }

    /// True if the bins of a column are levels, in no order.
    pub(super) fn is_category(&self, column: usize) -> bool {
        self.columns[column].levels > 0
    }

    /// Bins of a column, that of missing cells, the last one, included.
    pub(super) fn count(&self, column: usize) -> usize {
        let Column { edges, levels, .. } = &self.columns[column];
        if *levels > 0 { levels + 1 } else { edges.len() + 2 }
    }
}

fn bin(edges: &[f32], x: f32) -> u8 {
    if x.is_nan() { (edges.len() + 1) as u8 } else { edges.partition_point(|e| *e < x) as u8 }
}

fn edges(values: &[f32]) -> Vec<f32> {
    let step = values.len().div_ceil(PROBES).max(1);
    let mut sorted: Vec<f32> = values.iter().step_by(step).copied().filter(|x| !x.is_nan()).collect();
    sorted.sort_unstable_by(f32::total_cmp);
    let mut distinct = sorted.clone();
    distinct.dedup();
    if distinct.len() <= EDGES + 1 {
        return distinct.windows(2).map(|pair| middle(pair[0], pair[1])).collect();
    }
    let cut = |i: usize| {
        let at = i * sorted.len() / (EDGES + 1);
        // The next larger value, so that equal ones stay together.
        let above = distinct.partition_point(|x| *x <= sorted[at]);
        (above < distinct.len()).then(|| middle(distinct[above - 1], distinct[above]))
    };
    let mut edges: Vec<f32> = (1..=EDGES).filter_map(cut).collect();
    edges.dedup();
    edges
}

/// A number from `a` on and below `b`.
fn middle(a: f32, b: f32) -> f32 {
    let middle = f64::midpoint(f64::from(a), f64::from(b)) as f32;
    if middle >= a && middle < b { middle } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_single_precision_stay_apart() {
        let (a, b) = (1.0_f32, 1.0_f32 + f32::EPSILON);
        let table = Binned::new(&[b, a, a, b], 4, 1);
        assert_eq!(table.bins(0), [1, 0, 0, 1]);
    }

    #[test]
    fn many_values_share_bins_evenly() {
        let values: Vec<f32> = (0..10_000).map(|i| ((i * 7919) % 10_000) as f32).collect();
        let table = Binned::new(&values, values.len(), 1);
        let mut counts = [0_usize; 256];
        table.bins(0).iter().for_each(|b| counts[usize::from(*b)] += 1);
        assert_eq!(table.edges(0).len(), EDGES);
        assert!(counts[..=EDGES].iter().all(|c| (38..=41).contains(c)), "{counts:?}");
        assert_eq!(counts[EDGES + 1], 0, "nothing is missing");
    }

    #[test]
    fn a_bin_says_what_the_edges_say() {
        let values = [0.5, -1.0, f32::NAN, 7.0, 0.5, f32::INFINITY, f32::NEG_INFINITY];
        let table = Binned::new(&values, values.len(), 1);
        for (x, bin) in values.iter().zip(table.bins(0)).filter(|(x, _)| !x.is_nan()) {
            for (i, edge) in table.edges(0).iter().enumerate() {
                assert_eq!(x <= edge, usize::from(*bin) <= i, "{x} {edge}");
            }
        }
    }
}
