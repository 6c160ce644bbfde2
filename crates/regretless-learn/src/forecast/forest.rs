//! A random forest whose leaves say which past outcomes matter (Meinshausen 2006; Bertsimas & Kallus 2020).
//!
//! ```text
//! π_s(ξ) = 1/T Σ_t 1{s and ξ share a leaf of tree t} / (outcomes in that leaf)
//! ```
//!
//! Trees are grown by squared errors of all quantities, in units of their deviations, each on a part of the outcomes drawn without
//! replacement and with most of the features.

use rayon::prelude::*;
use regretless_core::Law;

use super::spread::{packed, unpacked};
use super::{Source, WEIGHTS};
use crate::predictor::{Binned, Slopes, Trees};
use crate::random::stream;
use crate::settings::{ScenarioSource, TreeSettings};

/// Trees of a forest.
const TREES: usize = 200;

/// Share of the features of a tree: what is left out, is left out of the whole tree, so that a third would be too few.
const COLUMNS: f64 = 0.8;

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
    /// What the outcomes of each leaf count together, tree by tree.
    sizes: Vec<Vec<f64>>,
}

fn settings(rows: usize) -> TreeSettings {
    TreeSettings {
        depth: 24,
        leaves: (rows / 10).clamp(2, 256),
        min_rows: 5,
        rows: 0.632,
        columns: COLUMNS,
        l2: 0.0,
        ..TreeSettings::default()
    }
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
        let gradient: Vec<f64> = outcomes.iter().enumerate().map(slope).collect();
        let settings = settings(rows);
        let one = |t: usize| {
            let mut noise = stream(seed, u64::MAX - 1, t as u64);
            let mut tree = Trees::new(features, width, settings);
            let drawn = tree.sample(rows, &mut noise);
            let slopes = Slopes { gradient: &gradient, curvature: &weights, quantile: None };
            tree.grow(&table, drawn, slopes, 1.0, &mut noise);
            tree
        };
        let mut trees = Trees::new(features, width, settings);
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
            Self { outcomes, weights, width, features, trees, homes: homes.concat(), sizes: Vec::new() };
        forest.count();
        forest
    }

    fn count(&mut self) {
        let rows = self.weights.len();
        let size = |(tree, homes): (&std::sync::Arc<crate::predictor::Tree>, &[u32])| {
            let mut sizes = vec![0.0; tree.leaves()];
            homes.iter().zip(&self.weights).for_each(|(home, w)| sizes[*home as usize] += w);
            sizes
        };
        self.sizes = self.trees.trees().iter().zip(self.homes.chunks_exact(rows)).map(size).collect();
    }

    pub(super) fn read(
        features: usize,
        width: usize,
        numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
    ) -> Option<Self> {
        let (outcomes, weights) = super::weighted("outcomes", width, numbers)?;
        let trees = unpacked("forest", Trees::new(features, width, settings(weights.len())), numbers)?;
        let homes: Vec<u32> = numbers("homes")?.into_iter().map(|leaf| leaf as u32).collect();
        let rows = weights.len();
        let fits = homes.len() == trees.trees().len() * rows
            && homes
                .chunks_exact(rows)
                .zip(trees.trees())
                .all(|(homes, tree)| homes.iter().all(|leaf| (*leaf as usize) < tree.leaves()));
        let mut forest = Self { outcomes, weights, width, features, trees, homes, sizes: Vec::new() };
        fits.then(|| forest.count())?;
        Some(forest)
    }

    /// π of one instance.
    fn of(&self, row: &[f32]) -> Vec<f64> {
        let rows = self.weights.len();
        let mut shares = vec![0.0; rows];
        for ((tree, homes), sizes) in
            self.trees.trees().iter().zip(self.homes.chunks_exact(rows)).zip(&self.sizes)
        {
            let leaf = tree.leaf_of(row);
            if sizes[leaf] > 0.0 {
                let mates = homes.iter().zip(&mut shares).filter(|(home, _)| **home as usize == leaf);
                mates.for_each(|(_, share)| *share += 1.0 / sizes[leaf]);
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
