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
    /// Levels that go left, of nodes that split a category.
    sets: Vec<Set>,
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

/// Some of the levels of a category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Set([u64; 4]);

impl Set {
    /// Levels are below 256.
    pub(super) fn has(&self, level: u8) -> bool {
        self.0[usize::from(level >> 6)] >> (level & 63) & 1 == 1
    }

    pub(super) fn add(&mut self, level: u8) {
        self.0[usize::from(level >> 6)] |= 1 << (level & 63);
    }

    /// As numbers that are exact in single precision: 16 of 16 bits.
    pub(super) fn numbers(&self) -> [f32; 16] {
        std::array::from_fn(|i| f32::from((self.0[i / 4] >> (16 * (i % 4))) as u16))
    }

    /// From such numbers; `None` if they are none.
    pub(super) fn of(numbers: &[f32]) -> Option<Self> {
        let mut set = Self::default();
        for (i, &number) in numbers.iter().enumerate() {
            let bits = number as u16;
            *set.0.get_mut(i / 4)? |= u64::from(bits) << (16 * (i % 4));
            (f32::from(bits) == number).then_some(())?;
        }
        Some(set)
    }
}

/// x goes left if x ≤ threshold, or if it is one of a set of levels; where it is missing, as `missing` says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) feature: u32,
    /// The place of the set, where there is one.
    pub(super) threshold: f32,
    /// The left child; the right one is the next.
    pub(super) child: u32,
    /// 1 if missing cells go right, and 2 more if the node splits a category.
    pub(super) missing: u32,
}

/// Says of a node that it splits a category.
pub(super) const BY_SET: u32 = 2;

impl Node {
    /// The node at place `at` that splits no more.
    pub(super) fn leaf(at: usize) -> Self {
        Self { feature: 0, threshold: f32::INFINITY, child: at as u32, missing: 0 }
    }
}

impl Tree {
    /// A tree of these nodes, with the outputs of its leaves in the order of nodes. `None` if they make no tree over `features`
    /// features.
    pub(super) fn new(
        nodes: Vec<Node>,
        sets: Vec<Set>,
        values: Vec<f32>,
        outputs: usize,
        features: usize,
    ) -> Option<Self> {
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
            let by_set = node.missing & BY_SET != 0;
            let known = !by_set || (0.0..sets.len() as f32).contains(&node.threshold);
            if !fine || !known || node.missing > 3 || node.threshold.is_nan() {
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
        fits.then_some(Self { nodes, sets, leaf, gains, values, outputs, first: 0, depth })
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

    /// Levels that go left, of nodes that split a category.
    pub(super) fn sets(&self) -> &[Set] {
        &self.sets
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

    /// Where a level goes.
    fn is_right(&self, node: &Node, x: f32) -> bool {
        if x.is_nan() { node.missing & 1 == 1 } else { !self.sets[node.threshold as usize].has(x as u8) }
    }

    /// The leaf that a row arrives at, numbered in the order of nodes.
    pub fn leaf_of(&self, row: &[f32]) -> usize {
        let mut at = 0;
        loop {
            let node = &self.nodes[at];
            if node.child as usize == at {
                return self.leaf[at] as usize;
            }
            let x = row[node.feature as usize];
            let right = if node.missing & BY_SET != 0 {
                self.is_right(node, x)
            } else {
                x > node.threshold || x.is_nan() && node.missing == 1
            };
            at = node.child as usize + usize::from(right);
        }
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
                    if node.missing & BY_SET != 0 {
                        *at = node.child + u32::from(self.is_right(node, x));
                        continue;
                    }
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
