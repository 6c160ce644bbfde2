//! A random forest whose leaves say which past outcomes matter (Meinshausen 2006; Bertsimas & Kallus 2020).
//!
//! ```text
//! π_s(ξ) = 1/T Σ_t 1{s and ξ share a leaf of tree t} / (outcomes in that leaf)
//! ```
//!
//! Trees are grown by squared errors of all quantities, in units of their deviations, each on a part of the outcomes drawn without
//! replacement. All features are there for each: what is left out of a tree is left out of all of its splits, and a tree without one that
//! matters is a poor one (`bench/learning/forest.py`). Many quantities are looked at along a few directions drawn at random, which keep
//! distances (Johnson & Lindenstrauss 1984): a tree's sums over bins would take a number for each.

use rand::RngExt;
use rayon::prelude::*;
use regretless_core::Law;

use super::spread::{packed, unpacked};
use super::{Source, WEIGHTS};
use crate::predictor::{Binned, Slopes, Trees};
use crate::random::stream;
use crate::settings::{ScenarioSource, TreeSettings};

/// Trees of a forest.
const TREES: usize = 200;

/// Directions that more quantities are looked at along.
const DIRECTIONS: usize = 16;

/// Past outcomes, weighted by the leaves they share with an instance.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    outcomes: Vec<f64>,
    /// How much each counts by itself.
    weights: Vec<f64>,
    width: usize,
    features: usize,
    trees: Trees,
    /// The leaf of each outcome in each tree, trees × outcomes.
    homes: Vec<u32>,
    /// Who lives where, tree by tree.
    leaves: Vec<Leaves>,
}

/// The outcomes of a tree's leaves: who is asked for weights goes through those in one leaf, not through all.
#[derive(Clone, Debug)]
struct Leaves {
    /// Outcomes, leaf after leaf.
    members: Vec<u32>,
    /// Where in `members` each leaf begins; then their number.
    starts: Vec<usize>,
    /// What the outcomes of each leaf count together.
    sizes: Vec<f64>,
}

impl Leaves {
    fn of(homes: &[u32], weights: &[f64], leaves: usize) -> Self {
        let mut members: Vec<u32> = (0..homes.len() as u32).collect();
        members.sort_by_key(|&s| homes[s as usize]);
        let start = |leaf: usize| members.partition_point(|&s| (homes[s as usize] as usize) < leaf);
        let starts = (0..=leaves).map(start).collect();
        let mut sizes = vec![0.0; leaves];
        homes.iter().zip(weights).for_each(|(home, w)| sizes[*home as usize] += w);
        Self { members, starts, sizes }
    }

    fn members(&self, leaf: usize) -> &[u32] {
        &self.members[self.starts[leaf]..self.starts[leaf + 1]]
    }
}

/// A tree is grown with the share of the outcomes that a bootstrap sample has. All of them count in its leaves, so that 3 that it was grown
/// with are about 5 that count there, as many as are usual in a forest's leaves. Their size alone ends a tree.
fn settings(rows: usize) -> TreeSettings {
    const FEWEST: usize = 3;
    TreeSettings {
        depth: 24,
        leaves: (rows / FEWEST).max(2),
        min_rows: FEWEST,
        rows: 0.632,
        l2: 0.0,
        ..TreeSettings::default()
    }
}

/// Rows of numbers along directions drawn at random, so that squared lengths stay what they are on average; few numbers as they are.
fn along(table: Vec<f64>, width: usize, seed: u64) -> Vec<f64> {
    if width <= DIRECTIONS {
        return table;
    }
    let mut noise = stream(seed, u64::MAX - 1, u64::MAX);
    let mut sign = || if noise.random::<bool>() { 1.0 } else { -1.0 };
    let scale = 1.0 / (DIRECTIONS as f64).sqrt();
    let directions: Vec<Vec<f64>> =
        (0..DIRECTIONS).map(|_| (0..width).map(|_| scale * sign()).collect()).collect();
    let dot = |row: &[f64], own: &[f64]| row.iter().zip(own).map(|(a, b)| a * b).sum::<f64>();
    table.chunks_exact(width).flat_map(|row| directions.iter().map(move |own| dot(row, own))).collect()
}

impl Forest {
    pub(super) fn grow(
        inputs: &[f32],
        levels: &[usize],
        outcomes: Vec<f64>,
        weights: Vec<f64>,
        deviation: &[f64],
        seed: u64,
    ) -> Self {
        let (rows, width) = (weights.len(), deviation.len());
        let features = levels.len();
        let table = Binned::with_levels(inputs, rows, levels);
        let unit = |k: usize| if deviation[k] > 0.0 { 1.0 / deviation[k] } else { 0.0 };
        let all: f64 = weights.iter().sum();
        let mean = |k: usize| (0..rows).map(|i| weights[i] * outcomes[i * width + k]).sum::<f64>() / all;
        let means: Vec<f64> = (0..width).map(mean).collect();
        let slope =
            |(at, y): (usize, &f64)| -weights[at / width] * (y - means[at % width]) * unit(at % width);
        let gradient = along(outcomes.iter().enumerate().map(slope).collect(), width, seed);
        let outputs = width.min(DIRECTIONS);
        let settings = settings(rows);
        let one = |t: usize| {
            let mut noise = stream(seed, u64::MAX - 1, t as u64);
            let mut tree = Trees::new(features, outputs, settings);
            let drawn = tree.sample(rows, &mut noise);
            let slopes = Slopes { gradient: &gradient, curvature: &weights, quantile: None };
            tree.grow(&table, drawn, slopes, 1.0, &mut noise);
            tree
        };
        let mut trees = Trees::new(features, outputs, settings);
        let grown: Vec<Trees> = (0..TREES).into_par_iter().map(one).collect();
        grown.into_iter().for_each(|tree| trees.take(tree));
        Self::housed(trees, inputs, outcomes, weights, width, features)
    }

    /// Sends every outcome down every tree.
    fn housed(
        trees: Trees,
        inputs: &[f32],
        outcomes: Vec<f64>,
        weights: Vec<f64>,
        width: usize,
        features: usize,
    ) -> Self {
        let rows = weights.len();
        let home = |t: usize| {
            (0..rows)
                .map(|i| trees.trees()[t].leaf_of(&inputs[i * features..(i + 1) * features]) as u32)
                .collect()
        };
        let homes: Vec<Vec<u32>> = (0..trees.trees().len()).into_par_iter().map(home).collect();
        let mut forest =
            Self { outcomes, weights, width, features, trees, homes: homes.concat(), leaves: Vec::new() };
        forest.count();
        forest
    }

    fn count(&mut self) {
        let rows = self.weights.len();
        let trees = self.trees.trees().iter().zip(self.homes.chunks_exact(rows));
        self.leaves = trees.map(|(tree, homes)| Leaves::of(homes, &self.weights, tree.leaves())).collect();
    }

    pub(super) fn read(
        features: usize,
        width: usize,
        numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
    ) -> Option<Self> {
        let (outcomes, weights) = super::weighted("outcomes", width, numbers)?;
        let of =
            |outputs| unpacked("forest", Trees::new(features, outputs, settings(weights.len())), numbers);
        // Trees of older files have an output for each quantity.
        let trees = of(width.min(DIRECTIONS)).or_else(|| of(width))?;
        let homes: Vec<u32> = numbers("homes")?.into_iter().map(|leaf| leaf as u32).collect();
        let rows = weights.len();
        let fits = homes.len() == trees.trees().len() * rows
            && homes
                .chunks_exact(rows)
                .zip(trees.trees())
                .all(|(homes, tree)| homes.iter().all(|leaf| (*leaf as usize) < tree.leaves()));
        let mut forest = Self { outcomes, weights, width, features, trees, homes, leaves: Vec::new() };
        fits.then(|| forest.count())?;
        Some(forest)
    }

    /// π of one instance.
    fn of(&self, row: &[f32]) -> Vec<f64> {
        let mut shares = vec![0.0; self.weights.len()];
        for (tree, leaves) in self.trees.trees().iter().zip(&self.leaves) {
            let leaf = tree.leaf_of(row);
            if leaves.sizes[leaf] > 0.0 {
                let share = 1.0 / leaves.sizes[leaf];
                leaves.members(leaf).iter().for_each(|&s| shares[s as usize] += share);
            }
        }
        shares.iter_mut().zip(&self.weights).for_each(|(share, w)| *share *= w);
        shares
    }
}

impl Source for Forest {
    fn source(&self) -> ScenarioSource {
        ScenarioSource::Forest
    }

    fn law(&self) -> Law {
        Law::Outcomes { outcomes: self.outcomes.clone() }
    }

    fn seen(&self, _: &[f64], inputs: &[f32], rows: usize) -> Vec<f64> {
        let row = |r: usize| self.of(&inputs[r * self.features..(r + 1) * self.features]);
        (0..rows).into_par_iter().flat_map_iter(row).collect()
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mut numbers = vec![("outcomes", self.outcomes.clone()), (WEIGHTS, self.weights.clone())];
        numbers.push(("homes", self.homes.iter().map(|leaf| f64::from(*leaf)).collect()));
        numbers.extend(packed("forest", &self.trees));
        numbers
    }

    fn outcomes(&self) -> usize {
        self.outcomes.len() / self.width.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many quantities that all follow one feature: the leaves part it, and a file keeps them, be it with an output for each.
    #[test]
    fn many_quantities_are_looked_at_along_a_few_directions() {
        let mut rng = stream(5, 0, 0);
        let (rows, features, width) = (200, 2, 60);
        let inputs: Vec<f32> = (0..rows * features).map(|_| rng.random_range(-1.0..1.0)).collect();
        let outcome =
            |x: &[f32]| (0..width).map(|k| f64::from(x[0] > 0.0) * f64::from(k as u32 % 7)).collect();
        let outcomes: Vec<f64> = inputs.chunks(features).flat_map::<Vec<f64>, _>(outcome).collect();
        let forest = Forest::grow(&inputs, &[0; 2], outcomes, vec![1.0; rows], &vec![1.0; width], 7);
        for probe in [[0.5, -0.4], [-0.5, 0.7]] {
            let shares = forest.seen(&[], &probe, 1);
            let alike = shares.iter().zip(inputs.chunks(features)).filter(|(_, x)| x[0] * probe[0] > 0.0);
            assert!(alike.map(|(share, _)| share).sum::<f64>() / shares.iter().sum::<f64>() > 0.95);
        }
        let numbers = forest.numbers();
        let find = |name: &str| numbers.iter().find(|(own, _)| *own == name).map(|(_, v)| v.clone());
        let read = Forest::read(features, width, &find).unwrap();
        assert_eq!(read.seen(&[], &[0.3, 0.1], 1), forest.seen(&[], &[0.3, 0.1], 1));
        let wide = Trees::new(features, width, settings(rows));
        assert!(unpacked("forest", wide, &find).is_none(), "its trees have fewer outputs");
    }

    /// π as it is defined: for each tree and outcome, whether both are in one leaf, and what the outcomes there count together.
    #[test]
    fn weights_are_shared_leaves() {
        let mut rng = stream(4, 0, 0);
        let (rows, features) = (120, 3);
        let inputs: Vec<f32> = (0..rows * features).map(|_| rng.random_range(-1.0..1.0)).collect();
        let outcomes: Vec<f64> = inputs.chunks(features).map(|x| f64::from(x[0] * x[1])).collect();
        let weights: Vec<f64> = (0..rows).map(|i| [1.0, 0.5, 2.0][i % 3]).collect();
        let forest = Forest::grow(&inputs, &[0; 3], outcomes.clone(), weights.clone(), &[0.4], 7);
        let row = |i: usize| &inputs[i * features..(i + 1) * features];
        for probe in [[0.1, -0.4, 0.9], [-0.8, 0.7, f32::NAN]] {
            let mut wanted = vec![0.0; rows];
            for tree in forest.trees.trees() {
                let mates: Vec<usize> =
                    (0..rows).filter(|&i| tree.leaf_of(row(i)) == tree.leaf_of(&probe)).collect();
                let size: f64 = mates.iter().map(|&i| weights[i]).sum();
                mates.iter().for_each(|&i| wanted[i] += weights[i] / size / TREES as f64);
            }
            assert!((wanted.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let forecast = forest.law().forecast(&forest.seen(&[], &probe, 1), 1);
            for (found, wanted) in forecast.weights().iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
            }
        }
    }
}
