//! Gradient boosting over histograms (Friedman 2001; Ke et al. 2017), with leaves that move all outputs at once.
//!
//! A round fits one tree to the gradient of the loss in the outputs and adds a share of it. Where the loss comes from is not known
//! here: squared errors, quantiles and decision losses differ in their gradients only.

mod bins;
mod grow;
mod histogram;
mod levels;
mod monotone;
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

use self::tree::{Node, Set};
use super::{Linear, Predictor, Weights};
use crate::settings::{Ensembles, Monotone, TreeSettings};

/// Rows that one thread predicts at a time.
const CHUNK: usize = 1024;

/// An ensemble of trees, whose outputs are added up, to those of a linear predictor if it stands on one.
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
    base: Option<Arc<Linear>>,
    /// The direction of each input; empty if none has one.
    monotone: Vec<Monotone>,
    grown: Vec<Arc<Tree>>,
}

impl Trees {
    /// No tree yet: outputs are 0.
    pub fn new(inputs: usize, outputs: usize, settings: TreeSettings) -> Self {
        Self { inputs, outputs, settings, base: None, monotone: Vec::new(), grown: Vec::new() }
    }

    /// The same on a linear predictor in place of 0.
    ///
    /// # Panics
    /// If it has not as many weights as inputs times outputs.
    pub fn on(mut self, base: Linear) -> Self {
        assert_eq!(base.weights.len(), self.inputs * self.outputs, "a weight for each input and output");
        self.base = Some(Arc::new(base));
        self
    }

    /// The same with outputs that rise or fall with some inputs.
    ///
    /// # Panics
    /// If there is not a direction for each input.
    pub fn with_directions(mut self, monotone: Vec<Monotone>) -> Self {
        assert_eq!(monotone.len(), self.inputs, "a direction for each input");
        self.monotone = if monotone.iter().all(|m| *m == Monotone::Free) { Vec::new() } else { monotone };
        self
    }

    /// The same with trees that move all outputs, or one each.
    pub(crate) fn set_ensembles(&mut self, ensembles: Ensembles) {
        self.settings.ensembles = ensembles;
    }

    /// What the trees stand on, if it is not 0.
    pub fn base(&self) -> Option<&Linear> {
        self.base.as_deref()
    }

    /// True if a tree moves one output and not all.
    pub fn is_apart(&self) -> bool {
        self.outputs > 1 && self.settings.ensembles == Ensembles::Each
            || self.grown.iter().any(|tree| tree.first() > 0)
    }

    /// True if a tree splits by the levels of a category.
    pub(crate) fn has_sets(&self) -> bool {
        self.grown.iter().any(|tree| !tree.sets().is_empty())
    }

    /// True if older versions would read it wrongly: on a base, or with trees of one output each.
    pub(crate) fn is_wide(&self) -> bool {
        self.base.is_some() || self.is_apart()
    }

    /// What splits by each input gained, together, over all trees: 1 in sum unless there is no split.
    pub fn importance(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.inputs];
        for tree in &self.grown {
            for (node, gain) in tree.nodes().iter().zip(tree.gains()) {
                if *gain > 0.0 {
                    sums[node.feature as usize] += f64::from(*gain);
                }
            }
        }
        let all: f64 = sums.iter().sum();
        sums.iter().map(|s| if all > 0.0 { s / all } else { 0.0 }).collect()
    }

    /// The trees, in the order in which they grew.
    pub fn trees(&self) -> &[Arc<Tree>] {
        &self.grown
    }

    /// Adds the trees of another ensemble to its own.
    pub(crate) fn take(&mut self, other: Self) {
        self.grown.extend(other.grown);
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
        let Self { settings, monotone, outputs, .. } = self;
        let grow = |rows: Vec<u32>, slopes: Slopes<'_>| {
            grow::grow(table, rows, slopes, &columns, monotone, settings, rate)
        };
        if settings.ensembles != Ensembles::Each || *outputs < 2 {
            let tree = grow(rows, slopes);
            self.grown.push(Arc::new(tree));
            return;
        }
        let one = |k: usize| {
            let column = |of: &[f64]| of.iter().skip(k).step_by(*outputs).copied().collect::<Vec<f64>>();
            let gradient = column(slopes.gradient);
            let short = slopes.quantile.map(|quantile| (quantile.level, column(quantile.short)));
            let quantile = short.as_ref().map(|(level, short)| Quantile { level: *level, short });
            let tree = grow(rows.clone(), Slopes { gradient: &gradient, quantile, ..slopes });
            let gains = tree.gains().to_vec();
            Arc::new(tree.noted(gains, k))
        };
        let trees: Vec<Arc<Tree>> = (0..*outputs).into_par_iter().map(one).collect();
        self.grown.extend(trees);
    }

    /// Outputs of rows before the first tree.
    fn start(&self, inputs: &[f32], rows: usize) -> Vec<f64> {
        let mut sums = vec![0.0; rows * self.outputs];
        if let Some(base) = &self.base {
            base.add(inputs, self.inputs, &mut sums);
        }
        sums
    }

    /// Adds the outputs of trees from the `first` on to `sums`, rows × outputs.
    pub fn add(&self, first: usize, inputs: &[f32], sums: &mut [f64]) {
        let add = |(block, sums): (usize, &mut [f64])| {
            let inputs = &inputs[block * CHUNK * self.inputs..];
            self.grown[first..].iter().for_each(|tree| tree.add(inputs, self.inputs, sums, self.outputs));
        };
        sums.par_chunks_mut((CHUNK * self.outputs).max(1)).enumerate().for_each(add);
    }

    /// All trees as matrices: nodes and leaves of each tree, nodes (feature, threshold, left child, where missing cells go), what each
    /// node gained, outputs of leaves; where a tree moves one output, which; where one splits a category, the tree and the levels that
    /// go left, 16 bits a number; and what they stand on. Counts are exact in single precision.
    pub(crate) fn weights(&self) -> Weights {
        let mut weights = Weights::default();
        let sizes = self.grown.iter().flat_map(|t| [t.nodes().len() as f32, t.leaves() as f32]).collect();
        let node = |n: &Node| [n.feature as f32, n.threshold, n.child as f32, n.missing as f32];
        let nodes: Vec<f32> = self.grown.iter().flat_map(|t| t.nodes().iter().flat_map(node)).collect();
        let leaves: Vec<f32> = self.grown.iter().flat_map(|t| t.values().iter().copied()).collect();
        let gains: Vec<f32> = self.grown.iter().flat_map(|t| t.gains().iter().copied()).collect();
        let width = if self.is_apart() { 1 } else { self.outputs };
        weights.push(SIZES, [self.grown.len(), 2], sizes);
        weights.push(NODES, [nodes.len() / 4, 4], nodes);
        weights.push(GAINS, [gains.len(), 1], gains);
        weights.push(LEAVES, [leaves.len() / width.max(1), width], leaves);
        if self.is_apart() {
            let moved = self.grown.iter().map(|t| t.first() as f32).collect();
            weights.push(MOVED, [self.grown.len(), 1], moved);
        }
        if self.has_sets() {
            let own = |(i, tree): (usize, &Arc<Tree>)| {
                let one = |set: &Set| std::iter::once(i as f32).chain(set.numbers()).collect::<Vec<f32>>();
                tree.sets().iter().flat_map(one).collect::<Vec<f32>>()
            };
            let sets: Vec<f32> = self.grown.iter().enumerate().flat_map(own).collect();
            weights.push(SETS, [sets.len() / WIDE, WIDE], sets);
        }
        if let Some(base) = &self.base {
            weights.push(BASE_WEIGHTS, [self.inputs, self.outputs], base.weights.clone());
            weights.push(BASE_BIASES, [1, self.outputs], base.biases.clone());
        }
        weights
    }

    /// Takes trees from the matrices that [`Trees::weights`] gives, by name; `None` if they are no trees for these inputs and outputs.
    /// What older files do not have is not missed: gains, which output is moved, sets of levels, and what trees stand on.
    pub(crate) fn restore(&mut self, matrix: impl Fn(&str) -> Option<Vec<f32>>) -> Option<()> {
        let (sizes, nodes, leaves) = (matrix(SIZES)?, matrix(NODES)?, matrix(LEAVES)?);
        let gains = matrix(GAINS).unwrap_or_else(|| vec![0.0; nodes.len() / 4]);
        let moved = matrix(MOVED);
        let sets = matrix(SETS).unwrap_or_default();
        if leaves.iter().chain(&gains).any(|v| !v.is_finite()) || gains.len() * 4 != nodes.len() {
            return None;
        }
        if let Some(weights) = matrix(BASE_WEIGHTS) {
            let biases = matrix(BASE_BIASES)?;
            let finite = weights.iter().chain(&biases).all(|v| v.is_finite());
            let fits = weights.len() == self.inputs * self.outputs && biases.len() == self.outputs;
            self.base = Some(Arc::new(Linear { weights, biases })).filter(|_| finite && fits);
            self.base.as_ref()?;
        }
        let width = if moved.is_some() { 1 } else { self.outputs };
        // What was chosen stays chosen for what grows on it.
        self.settings.ensembles = if moved.is_some() { Ensembles::Each } else { Ensembles::One };
        let (mut nodes, mut gains, mut leaves) = (&nodes[..], &gains[..], &leaves[..]);
        let mut trees = Vec::new();
        for (i, size) in sizes.chunks_exact(2).enumerate() {
            let first = match &moved {
                Some(moved) => Some(*moved.get(i)? as usize).filter(|k| *k < self.outputs)?,
                None => 0,
            };
            let count = (size[0] as usize).saturating_mul(4);
            let values = (size[1] as usize).saturating_mul(width);
            if count > nodes.len() || values > leaves.len() {
                return None;
            }
            let (own_gains, after_gains) = gains.split_at(count / 4);
            gains = after_gains;
            let ((own, after), (own_leaves, after_leaves)) = (nodes.split_at(count), leaves.split_at(values));
            (nodes, leaves) = (after, after_leaves);
            let node = |n: &[f32]| Node {
                feature: n[0] as u32,
                threshold: n[1],
                child: n[2] as u32,
                missing: n[3] as u32,
            };
            let own = own.chunks_exact(4).map(node).collect();
            let of_tree = sets.chunks_exact(WIDE).filter(|set| set[0] == i as f32);
            let sets = of_tree.map(|set| Set::of(&set[1..])).collect::<Option<Vec<Set>>>()?;
            let tree = Tree::new(own, sets, own_leaves.to_vec(), width, self.inputs)?;
            trees.push(Arc::new(tree.noted(own_gains.to_vec(), first)));
        }
        self.grown = trees;
        (sizes.len().is_multiple_of(2) && nodes.is_empty() && leaves.is_empty()).then_some(())
    }
}

/// The names of the matrices in files.
const SIZES: &str = "trees.sizes";
const NODES: &str = "trees.nodes";
const LEAVES: &str = "trees.leaves";
const GAINS: &str = "trees.gains";
const MOVED: &str = "trees.moved";
const SETS: &str = "trees.sets";
/// Numbers of a set: its tree and its levels.
const WIDE: usize = 17;
const BASE_WEIGHTS: &str = "base.weight";
const BASE_BIASES: &str = "base.bias";

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
        let mut sums = self.start(inputs, rows);
        self.add(0, inputs, &mut sums);
        sums.into_iter().map(|s| s as f32).collect()
    }

    fn stand_on(&mut self, line: &Linear) {
        self.base = Some(Arc::new(line.clone()));
    }

    fn boosting(&self) -> Option<&Trees> {
        Some(self)
    }

    fn boosting_mut(&mut self) -> Option<&mut Trees> {
        Some(self)
    }
}
