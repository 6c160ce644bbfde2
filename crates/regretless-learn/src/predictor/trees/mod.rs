//! Gradient boosting over histograms (Friedman 2001; Ke et al. 2017), with leaves that move all outputs at once.
//!
//! A round fits one tree to the gradient of the loss in the outputs and adds a share of it. Where the loss comes from is not known
//! here: squared errors, quantiles and decision losses differ in their gradients only.

mod bins;
mod grow;
mod histogram;
mod running;
mod split;
mod tree;

use std::sync::Arc;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

pub use bins::Binned;
pub use grow::{Quantile, Slopes};
pub(crate) use running::Running;
pub use tree::Tree;

use self::tree::Node;
use super::{Predictor, Weights};
use crate::settings::TreeSettings;

/// Rows that one thread predicts at a time.
const CHUNK: usize = 1024;

/// An ensemble of trees, whose outputs are added up.
///
/// ```
/// use regretless_learn::{Binned, Predictor, Slopes, TreeSettings, Trees, stream};
/// // One step of least squares from 0: the gradient of ½(o − y)² is −y.
/// let (inputs, y) = ([1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 9.0, 9.0]);
/// let settings = TreeSettings { min_rows: 1, l2: 0.0, ..TreeSettings::default() };
/// let mut trees = Trees::new(1, 1, settings);
/// let slopes = Slopes { gradient: &y.map(|y| -y), curvature: &[1.0; 4], quantile: None };
/// trees.grow(&Binned::new(&inputs, 4, 1), vec![0, 1, 2, 3], slopes, 1.0, &mut stream(0, 0, 0));
/// assert_eq!(trees.predict(&[2.4, 2.6], 2), [5.0, 9.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Trees {
    inputs: usize,
    outputs: usize,
    settings: TreeSettings,
    grown: Vec<Arc<Tree>>,
}

impl Trees {
    /// No tree yet: outputs are 0.
    pub fn new(inputs: usize, outputs: usize, settings: TreeSettings) -> Self {
        Self { inputs, outputs, settings, grown: Vec::new() }
    }

    /// The trees, in the order in which they grew.
    pub fn trees(&self) -> &[Arc<Tree>] {
        &self.grown
    }

    /// How trees are grown.
    pub fn settings(&self) -> &TreeSettings {
        &self.settings
    }

    /// Draws the rows that a round looks at, ascending.
    pub fn sample(&self, rows: usize, noise: &mut ChaCha8Rng) -> Vec<u32> {
        draw(rows, self.settings.rows, noise).into_iter().map(|row| row as u32).collect()
    }

    /// One round: a tree over `rows` of a table, fitted to what `slopes` says of every row of the table.
    ///
    /// # Panics
    /// If the table has not as many columns as the predictor has inputs, or `slopes` not as many rows as the table.
    pub fn grow(
        &mut self,
        table: &Binned,
        rows: Vec<u32>,
        slopes: Slopes<'_>,
        rate: f64,
        noise: &mut ChaCha8Rng,
    ) {
        assert_eq!(table.features(), self.inputs, "a column for each input");
        assert_eq!(slopes.curvature.len(), table.rows(), "a curvature for each row");
        assert_eq!(slopes.gradient.len(), table.rows() * self.outputs, "a gradient for each output");
        let columns = draw(self.inputs, self.settings.columns, noise);
        self.grown.push(Arc::new(grow::grow(table, rows, slopes, &columns, &self.settings, rate)));
    }

    /// Adds the outputs of trees from the `first` on to `sums`, rows × outputs.
    pub fn add(&self, first: usize, inputs: &[f32], sums: &mut [f64]) {
        let add = |(block, sums): (usize, &mut [f64])| {
            let inputs = &inputs[block * CHUNK * self.inputs..];
            self.grown[first..].iter().for_each(|tree| tree.add(inputs, self.inputs, sums));
        };
        sums.par_chunks_mut((CHUNK * self.outputs).max(1)).enumerate().for_each(add);
    }

    /// All trees as matrices: nodes and leaves of each tree, nodes (feature, threshold, left child, where missing cells go), outputs
    /// of leaves. Counts are exact in single precision.
    pub(crate) fn weights(&self) -> Weights {
        let mut weights = Weights::default();
        let sizes = self.grown.iter().flat_map(|t| [t.nodes().len() as f32, t.leaves() as f32]).collect();
        let node = |n: &Node| [n.feature as f32, n.threshold, n.child as f32, n.missing as f32];
        let nodes: Vec<f32> = self.grown.iter().flat_map(|t| t.nodes().iter().flat_map(node)).collect();
        let leaves: Vec<f32> = self.grown.iter().flat_map(|t| t.values().iter().copied()).collect();
        weights.push(SIZES, [self.grown.len(), 2], sizes);
        weights.push(NODES, [nodes.len() / 4, 4], nodes);
        weights.push(LEAVES, [leaves.len() / self.outputs.max(1), self.outputs], leaves);
        weights
    }

    /// Takes trees from the matrices that [`Trees::weights`] gives; false if they are no trees for these inputs and outputs.
    pub(crate) fn restore(&mut self, sizes: &[f32], nodes: &[f32], leaves: &[f32]) -> bool {
        if leaves.iter().any(|v| !v.is_finite()) {
            return false;
        }
        let (mut nodes, mut leaves) = (nodes, leaves);
        let mut trees = Vec::new();
        for size in sizes.chunks_exact(2) {
            let count = (size[0] as usize).saturating_mul(4);
            let values = (size[1] as usize).saturating_mul(self.outputs);
            if count > nodes.len() || values > leaves.len() {
                return false;
            }
            let ((own, after), (own_leaves, after_leaves)) = (nodes.split_at(count), leaves.split_at(values));
            (nodes, leaves) = (after, after_leaves);
            let node = |n: &[f32]| Node {
                feature: n[0] as u32,
                threshold: n[1],
                child: n[2] as u32,
                missing: n[3] as u32,
            };
            let own = own.chunks_exact(4).map(node).collect();
            let Some(tree) = Tree::new(own, own_leaves.to_vec(), self.outputs, self.inputs) else {
                return false;
            };
            trees.push(Arc::new(tree));
        }
        self.grown = trees;
        sizes.len().is_multiple_of(2) && nodes.is_empty() && leaves.is_empty()
    }
}

/// The names of the matrices in files.
pub(crate) const SIZES: &str = "trees.sizes";
pub(crate) const NODES: &str = "trees.nodes";
pub(crate) const LEAVES: &str = "trees.leaves";

/// A share of the numbers below `n`, at least one if there is any, ascending.
fn draw(n: usize, share: f64, noise: &mut ChaCha8Rng) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    let count = ((share * n as f64).round() as usize).clamp(n.min(1), n);
    if count == n {
        return all;
    }
    let mut drawn = all.partial_shuffle(noise, count).0.to_vec();
    drawn.sort_unstable();
    drawn
}

impl Predictor for Trees {
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn predict(&self, inputs: &[f32], rows: usize) -> Vec<f32> {
        let mut sums = vec![0.0; rows * self.outputs];
        self.add(0, inputs, &mut sums);
        sums.into_iter().map(|s| s as f32).collect()
    }

    fn boosting(&self) -> Option<&Trees> {
        Some(self)
    }

    fn boosting_mut(&mut self) -> Option<&mut Trees> {
        Some(self)
    }
}
