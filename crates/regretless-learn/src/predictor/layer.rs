//! The layers of a network and where their numbers lie.

use std::ops::Range;

use super::dense;

/// One layer among the flat weights: its weight, its bias and, if it is normalised, its gains and shifts, one after the other.
/// Its running means and variances lie among the buffers.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    inputs: usize,
    units: usize,
    pub(super) weight: Range<usize>,
    pub(super) bias: Range<usize>,
    pub(super) norm: Option<Norm>,
}

/// Where batch normalisation has its numbers.
#[derive(Clone, Debug)]
pub(super) struct Norm {
    /// Gains, then shifts.
    pub(super) weights: Range<usize>,
    /// Means, then variances.
    pub(super) statistics: Range<usize>,
}

/// The hidden layers in order, and the last one, which is linear.
pub(super) fn layers(
    inputs: usize,
    hidden: &[usize],
    outputs: usize,
    batch_norm: bool,
) -> (Vec<Layer>, Layer) {
    let (mut weights, mut statistics) = (0, 0);
    let take = |from: &mut usize, count: usize| {
        *from += count;
        *from - count..*from
    };
    let mut layer = |inputs: usize, units: usize, normed: bool| Layer {
        inputs,
        units,
        weight: take(&mut weights, inputs * units),
        bias: take(&mut weights, units),
        norm: normed.then(|| Norm {
            weights: take(&mut weights, 2 * units),
            statistics: take(&mut statistics, 2 * units),
        }),
    };
    let mut inputs = inputs;
    let mut all = Vec::new();
    for &units in hidden {
        all.push(layer(inputs, units, batch_norm));
        inputs = units;
    }
    (all, layer(inputs, outputs, false))
}

impl Layer {
    pub(super) fn sizes(&self, rows: usize) -> dense::Sizes {
        [rows, self.inputs, self.units]
    }

    /// What its units make of `x`, before normalisation and activation.
    pub(super) fn dense(&self, x: &[f32], rows: usize, weights: &[f32], z: &mut Vec<f32>) {
        dense::forward(x, &weights[self.weight.clone()], &weights[self.bias.clone()], z, self.sizes(rows));
    }
}
