//! One tree: flat arrays, and rows that walk down them side by side.

/// Rows that walk together: what one waits for, the others use.
const BLOCK: usize = 64;

/// A regression tree whose leaves move all outputs of a row, or one of them.
///
/// Nodes lie in one array, the two children of a node beside each other and after it. A leaf is its own left child, so that rows
/// which arrived early wait there and no step needs to ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The leaf that a node is, numbered in the order of nodes.
    leaf: Vec<u32>,
    /// What each split gained; 0 for leaves.
    gains: Vec<f32>,
    /// Leaves × outputs.
    values: Vec<f32>,
    outputs: usize,
    /// The first output of a row that it moves.
    first: usize,
    depth: usize,
}

/// x goes left if x ≤ threshold; where it is missing, as `missing` says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) feature: u32,
    pub(super) threshold: f32,
    /// The left child; the right one is the next.
    pub(super) child: u32,
    /// 1 if missing cells go right.
    pub(super) missing: u32,
}

impl Node {
    /// The node at place `at` that splits no more.
    pub(super) fn leaf(at: usize) -> Self {
        Self { feature: 0, threshold: f32::INFINITY, child: at as u32, missing: 0 }
    }
}

impl Tree {
    /// A tree of these nodes, with the outputs of its leaves in the order of nodes. `None` if they make no tree over `features`
    /// features.
    pub(super) fn new(nodes: Vec<Node>, values: Vec<f32>, outputs: usize, features: usize) -> Option<Self> {
        let mut depths = vec![None; nodes.len()];
        *depths.first_mut()? = Some(0);
        let mut leaf = vec![0; nodes.len()];
        let mut leaves = 0;
        for (i, node) in nodes.iter().enumerate() {
            let depth: usize = depths[i]?;
            let child = node.child as usize;
            if child == i {
                leaf[i] = leaves as u32;
                leaves += 1;
                if node.threshold != f32::INFINITY || node.missing != 0 || node.feature != 0 {
                    return None;
                }
                continue;
            }
            let fine = child > i && child + 1 < nodes.len() && (node.feature as usize) < features;
            if !fine || node.missing > 1 || node.threshold.is_nan() {
                return None;
            }
            for below in [child, child + 1] {
                // A node has one parent.
                if depths[below].replace(depth + 1).is_some() {
                    return None;
                }
            }
        }
        let depth = depths.into_iter().flatten().max()?;
        let gains = vec![0.0; nodes.len()];
        let fits = values.len() == leaves * outputs;
        fits.then_some(Self { nodes, leaf, gains, values, outputs, first: 0, depth })
    }

    /// The tree with what its splits gained, node by node, as one that moves outputs from the `first` on.
    pub(super) fn noted(mut self, gains: Vec<f32>, first: usize) -> Self {
        self.gains = gains;
        self.first = first;
        self
    }

    /// What each node's split gained; 0 for leaves.
    pub(super) fn gains(&self) -> &[f32] {
        &self.gains
    }

    /// The first output of a row that it moves.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Outputs of the leaves, in the order of nodes.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.values.len() / self.outputs.max(1)
    }

    /// The most splits on the way to a leaf.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Adds the outputs of rows with `features` inputs each to `sums`, `width` a row.
    pub(super) fn add(&self, inputs: &[f32], features: usize, sums: &mut [f64], width: usize) {
        let own = self.outputs;
        let mut at = [0_u32; BLOCK];
        for (block, sums) in sums.chunks_mut(BLOCK * width).enumerate() {
            let rows = sums.len() / width;
            let at = &mut at[..rows];
            at.fill(0);
            let first = block * BLOCK * features;
            for _ in 0..self.depth {
                for (row, at) in inputs[first..].chunks_exact(features.max(1)).zip(&mut *at) {
                    let node = &self.nodes[*at as usize];
                    let x = row[node.feature as usize];
                    let missing = u32::from(x.is_nan()) & node.missing;
                    *at = node.child + (u32::from(x > node.threshold) | missing);
                }
            }
            for (sums, at) in sums.chunks_exact_mut(width).zip(at) {
                let leaf = self.leaf[*at as usize] as usize * own;
                for (s, v) in sums[self.first..].iter_mut().zip(&self.values[leaf..leaf + own]) {
                    *s += f64::from(*v);
                }
            }
        }
    }
}
