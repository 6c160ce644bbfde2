//! Outputs of rows while trees are added.

use super::Trees;

/// The outputs of some rows, brought up to date tree by tree: the same numbers as predicted anew.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    inputs: Vec<f32>,
    sums: Vec<f64>,
    rows: usize,
    /// Trees that the sums have in them.
    trees: usize,
}

impl Running {
    /// Outputs of `rows` rows before the first tree.
    pub(crate) fn new(trees: &Trees, inputs: Vec<f32>, rows: usize) -> Self {
        let sums = trees.start(&inputs, rows);
        Self { inputs, sums, rows, trees: 0 }
    }

    /// The outputs of an ensemble that has grown since it was last seen, or of its first trees.
    pub(crate) fn outputs(&mut self, trees: &Trees) -> Vec<f32> {
        if trees.grown.len() < self.trees {
            self.sums = trees.start(&self.inputs, self.rows);
            self.trees = 0;
        }
        trees.add(self.trees, &self.inputs, &mut self.sums);
        self.trees = trees.grown.len();
        self.sums.iter().map(|s| *s as f32).collect()
    }
}
