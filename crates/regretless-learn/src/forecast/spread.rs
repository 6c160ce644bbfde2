//! The spread of each quantity as a function of the features.
//!
//! ```text
//! σ(ξ) = exp(f(ξ)),     f fitted to the size of residuals: Σ f(ξᵢ) + |rᵢ|·exp(−f(ξᵢ)) → min        (Laplace's likelihood)
//! ```
//!
//! f begins as the regression of log|r|, with |r| floored at 1 % of its median, and is then scored: in f the likelihood has the
//! gradient 1 − |r|/σ and the expected curvature 1, so that a step of Fisher's method is one more regression, of f + |r|/σ − 1.
//! Trees grow by the same gradient. A quantity whose spread is not told out of fold better than by one number has one number.

use rayon::prelude::*;

use super::errors::Errors;
use crate::data::encoder::Encoder;
use crate::evaluate::stats::Summary;
use crate::predictor::{Binned, Descend, Linear, Mlp, MlpShape, Predictor, Pullback, Slopes, Trees, Weights};
use crate::random::stream;
use crate::regression::design::Design;
use crate::regression::ridge::Ridges;
use crate::settings::TreeSettings;

/// Regressions after that of the logarithm.
const SCORINGS: usize = 4;

/// The most trees; how many there are is chosen out of fold.
const ROUNDS: usize = 100;

/// f beyond what training rows had is taken seriously up to so much.
const BEYOND: f64 = 0.7;

/// Squares of features are looked at where there are no more of them.
const SQUARES: usize = 256;

/// The spread of each quantity.
#[derive(Clone, Debug)]
pub struct Spread {
    shape: Shape,
    /// The range of f for each quantity.
    low: Vec<f64>,
    high: Vec<f64>,
}

/// What f is.
#[derive(Clone, Debug)]
enum Shape {
    /// Linear in the features and their squares.
    Line(Mlp),
    Trees(Trees),
}

impl Spread {
    /// Fits the spread of residuals, and says what fits without a row's fold make of it, rows × width.
    pub(super) fn fit(
        inputs: &[f32],
        encoder: &Encoder,
        errors: &Errors,
        trees: bool,
        seed: u64,
    ) -> (Self, Vec<f64>) {
        let rows = errors.rows.len();
        let sizes = sizes(errors);
        let width = sizes.len() / rows.max(1);
        let (shape, unseen) = if trees {
            grow(inputs, &encoder.levels(), &sizes, errors, seed)
        } else {
            draw(inputs, &encoder.indicators(), &sizes, errors)
        };
        let column = |k: usize| unseen.iter().skip(k).step_by(width);
        let least = |k| column(k).fold(f64::INFINITY, |a, b| a.min(*b));
        let most = |k| column(k).fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let low = (0..width).map(|k| least(k) - BEYOND).collect();
        let high = (0..width).map(|k| most(k) + BEYOND).collect();
        (Self { shape, low, high }, unseen.into_iter().map(f64::exp).collect())
    }

    /// Quantities.
    pub fn width(&self) -> usize {
        self.low.len()
    }

    /// σ of rows of inputs, rows × width.
    pub fn of(&self, inputs: &[f32], rows: usize) -> Vec<f64> {
        self.told(inputs, rows).into_iter().map(|(spread, _)| spread).collect()
    }

    fn outputs(&self, inputs: &[f32], rows: usize) -> Vec<f32> {
        match &self.shape {
            Shape::Line(line) => line.predict(&expanded(inputs, rows), rows),
            Shape::Trees(trees) => trees.predict(inputs, rows),
        }
    }

    /// σ of rows of inputs, each with its derivative by the output behind it.
    pub(crate) fn told(&self, inputs: &[f32], rows: usize) -> Vec<(f64, f64)> {
        self.read_out(&self.outputs(inputs, rows)).collect()
    }

    fn read_out<'a>(&'a self, outputs: &'a [f32]) -> impl Iterator<Item = (f64, f64)> + 'a {
        outputs.iter().enumerate().map(|(i, o)| {
            let (k, f) = (i % self.width(), f64::from(*o));
            let kept = f.max(self.low[k]).min(self.high[k]);
            (kept.exp(), if kept == f { kept.exp() } else { 0.0 })
        })
    }

    /// What is learned; none of trees.
    pub(crate) fn weights(&self) -> Option<&Weights> {
        let Shape::Line(line) = &self.shape else { return None };
        line.weights().first().copied()
    }

    /// [`Spread::weights`], to change.
    pub(crate) fn weights_mut(&mut self) -> Option<&mut Weights> {
        let Shape::Line(line) = &mut self.shape else { return None };
        line.weights_mut().into_iter().next()
    }

    /// Outputs in training, and the way back to the weights; `None` of trees.
    pub(crate) fn train(&mut self, inputs: &[f32], rows: usize) -> Option<(Vec<f32>, Pullback<'_>)> {
        let Shape::Line(line) = &mut self.shape else { return None };
        // A line draws nothing.
        Some(line.train(&expanded(inputs, rows), rows, &mut stream(0, 0, 0)))
    }

    pub(super) fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        let wide = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
        let mut numbers = vec![("spread.low", self.low.clone()), ("spread.high", self.high.clone())];
        match &self.shape {
            Shape::Line(_) => numbers.extend(self.weights().map(|w| ("spread.line", wide(w.values())))),
            Shape::Trees(trees) => numbers.extend(packed("spread.trees", trees)),
        }
        numbers
    }

    pub(super) fn read(
        features: usize,
        width: usize,
        numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
    ) -> Option<Self> {
        let (low, high) = (numbers("spread.low")?, numbers("spread.high")?);
        let shape = if let Some(values) = numbers("spread.line") {
            let mut line = line(features, width);
            let own = line.weights_mut().into_iter().next().filter(|own| own.len() == values.len())?;
            own.values_mut().iter_mut().zip(&values).for_each(|(w, v)| *w = *v as f32);
            Shape::Line(line)
        } else {
            Shape::Trees(unpacked("spread.trees", Trees::new(features, width, trees()), numbers)?)
        };
        (low.len() == width && high.len() == width).then_some(Self { shape, low, high })
    }
}

/// |r|, floored at 1 % of its median: the logarithm of a residual that happens to be 0 says nothing.
fn sizes(errors: &Errors) -> Vec<f64> {
    let rows = errors.rows.len().max(1);
    let width = errors.residuals.len() / rows;
    let mut sizes: Vec<f64> = errors.residuals.iter().map(|r| r.abs()).collect();
    for k in 0..width {
        let mut column: Vec<f64> = sizes.iter().skip(k).step_by(width).copied().collect();
        let (_, median, _) = column.select_nth_unstable_by(rows / 2, f64::total_cmp);
        let floor = (0.01 * *median).max(f64::MIN_POSITIVE.sqrt());
        sizes.iter_mut().skip(k).step_by(width).for_each(|s| *s = s.max(floor));
    }
    sizes
}

/// −log of the likelihood of a size, but for what does not depend on f.
fn surprise(f: f64, size: f64) -> f64 {
    f + size * (-f).exp()
}

/// The features and their squares, missing ones at their mean.
fn expanded(inputs: &[f32], rows: usize) -> Vec<f32> {
    let features = inputs.len() / rows.max(1);
    let there = |x: &f32| if x.is_nan() { 0.0 } else { *x };
    let squares = if features <= SQUARES { features } else { 0 };
    let row = |r: usize| {
        let own = &inputs[r * features..(r + 1) * features];
        own.iter()
            .map(there)
            .chain(own[..squares].iter().map(move |x| there(x) * there(x) - 1.0))
            .collect::<Vec<_>>()
    };
    (0..rows).flat_map(row).collect()
}

/// Weights of the inputs, and a level.
type Line = (Vec<f64>, f64);

fn line(features: usize, width: usize) -> Mlp {
    let inputs = if features <= SQUARES { 2 * features } else { features };
    Mlp::new(&MlpShape { inputs, hidden: Vec::new(), outputs: width, ..MlpShape::default() }, 0)
}

/// f of one quantity over all rows, from a fit to those that are `kept`: weights of the inputs and a level.
fn line_of(design: &Design, ridges: &Ridges<'_>, inputs: &[f64], sizes: &[f64]) -> Line {
    let width = inputs.len() / sizes.len().max(1);
    let value = |(weights, level): &Line, i: usize| {
        level + weights.iter().zip(&inputs[i * width..]).map(|(w, x)| w * x).sum::<f64>()
    };
    let fit = |y: &[f64]| {
        let found = ridges.fit(y);
        design.weights(&found.along, found.level)
    };
    let logs: Vec<f64> = sizes.iter().map(|s| s.ln()).collect();
    let mut found = fit(&logs);
    // Half of all errors are larger than their median: the level is that of the mean size from here on.
    let ratio =
        (0..sizes.len()).map(|i| sizes[i] * (-value(&found, i)).exp()).sum::<f64>() / sizes.len() as f64;
    found.1 += ratio.ln();
    for _ in 0..SCORINGS {
        let scored = |i: usize| {
            let f = value(&found, i);
            // A step of Newton's from far away may not be taken at its word.
            f + (sizes[i] * (-f).exp() - 1.0).min(5.0)
        };
        found = fit(&(0..sizes.len()).map(scored).collect::<Vec<_>>());
    }
    found
}

/// Lines for all quantities, and what those of the other folds say of each row.
fn draw(inputs: &[f32], indicators: &[bool], sizes: &[f64], errors: &Errors) -> (Shape, Vec<f64>) {
    let rows = errors.rows.len();
    let width = sizes.len() / rows.max(1);
    let wide: Vec<f64> = expanded(inputs, rows).into_iter().map(f64::from).collect();
    let (features, columns) = (indicators.len(), wide.len() / rows.max(1));
    let scaled: Vec<bool> = indicators.iter().cycle().take(columns).copied().collect();
    let folds = 1 + errors.folds.iter().copied().max().unwrap_or(0);
    // The last is all of them.
    let fits: Vec<Option<Vec<Line>>> = (0..=folds)
        .into_par_iter()
        .map(|fold| {
            let kept: Vec<usize> = (0..rows).filter(|&i| errors.folds[i] != fold).collect();
            let own: Vec<f64> =
                kept.iter().flat_map(|&i| wide[i * columns..(i + 1) * columns].iter().copied()).collect();
            let sum: f64 = kept.iter().map(|&i| errors.weights[i]).sum();
            let weight: Vec<f64> =
                kept.iter().map(|&i| errors.weights[i] * kept.len() as f64 / sum).collect();
            let design = Design::scaled(&own, &weight, &scaled)?;
            let ridges = Ridges::new(&design);
            let one = |k: usize| {
                let sizes: Vec<f64> = kept.iter().map(|&i| sizes[i * width + k]).collect();
                line_of(&design, &ridges, &own, &sizes)
            };
            Some((0..width).into_par_iter().map(one).collect())
        })
        .collect();
    let level = |k: usize, fold: usize| {
        let kept = (0..rows).filter(|&i| errors.folds[i] != fold);
        let (sum, count) = kept.fold((0.0, 0.0), |(sum, count), i| (sum + sizes[i * width + k], count + 1.0));
        (sum / f64::max(count, 1.0)).ln()
    };
    let mut unseen = vec![0.0; sizes.len()];
    let mut line = line(features, width);
    let (mut weights, mut biases) = (vec![0.0_f32; columns * width], vec![0.0_f32; width]);
    for k in 0..width {
        let levels: Vec<f64> = (0..=folds).map(|fold| level(k, fold)).collect();
        let told = |i: usize| {
            let (weights, level) = &fits[errors.folds[i]].as_ref()?[k];
            Some(level + weights.iter().zip(&wide[i * columns..]).map(|(w, x)| w * x).sum::<f64>())
        };
        let told: Option<Vec<f64>> = (0..rows).map(told).collect();
        let plain: Vec<f64> = (0..rows).map(|i| levels[errors.folds[i]]).collect();
        let own = |i: usize| sizes[i * width + k];
        let gains = told.as_ref().map(|told| {
            (0..rows).map(|i| surprise(plain[i], own(i)) - surprise(told[i], own(i))).collect::<Vec<f64>>()
        });
        let better = gains.is_some_and(|gains| {
            let error = |s: &Summary| s.std.unwrap_or(f64::INFINITY) / (s.count as f64).sqrt();
            Summary::of(&gains).is_ok_and(|s| s.mean > error(&s))
        });
        let (kept, (own, level)) = match (told, &fits[folds]) {
            (Some(told), Some(all)) if better => (told, all[k].clone()),
            _ => (plain, (vec![0.0; columns], levels[folds])),
        };
        kept.iter().enumerate().for_each(|(i, f)| unseen[i * width + k] = *f);
        own.iter().enumerate().for_each(|(j, w)| weights[j * width + k] = *w as f32);
        biases[k] = level as f32;
    }
    for part in line.weights_mut() {
        part.set("output.weight", &weights);
        part.set("output.bias", &biases);
    }
    (Shape::Line(line), unseen)
}

/// Trees, the rows they did not grow on, and what each number of them says of these.
type Grown = (Trees, Vec<usize>, Vec<Vec<f64>>);

/// How trees of spreads grow.
fn trees() -> TreeSettings {
    TreeSettings { depth: 4, leaves: 12, min_rows: 40, rows: 0.7, l2: 5.0, ..TreeSettings::default() }
}

/// Trees for all quantities, and what those of the other folds say of each row.
fn grow(inputs: &[f32], levels: &[usize], sizes: &[f64], errors: &Errors, seed: u64) -> (Shape, Vec<f64>) {
    let rows = errors.rows.len();
    let width = sizes.len() / rows.max(1);
    let folds = 1 + errors.folds.iter().copied().max().unwrap_or(0);
    let features = levels.len();
    let start = |kept: &[usize]| -> Vec<f32> {
        let mean =
            |k: usize| kept.iter().map(|&i| sizes[i * width + k]).sum::<f64>() / kept.len().max(1) as f64;
        (0..width).map(|k| mean(k).ln() as f32).collect()
    };
    // What each number of trees says of the rows of a fold, and what it is surprised by.
    let boosted = |fold: usize, rounds: usize| -> Grown {
        let (kept, out): (Vec<usize>, Vec<usize>) = (0..rows).partition(|&i| errors.folds[i] != fold);
        let of = |rows: &[usize]| -> Vec<f32> {
            rows.iter().flat_map(|&i| inputs[i * features..(i + 1) * features].iter().copied()).collect()
        };
        let (own, others) = (of(&kept), of(&out));
        let base = Linear { weights: vec![0.0; features * width], biases: start(&kept) };
        let mut grown = Trees::new(features, width, trees()).on(base);
        let table = Binned::with_levels(&own, kept.len(), levels);
        let mut f: Vec<f64> = grown.predict(&own, kept.len()).into_iter().map(f64::from).collect();
        let mut told: Vec<f64> = grown.predict(&others, out.len()).into_iter().map(f64::from).collect();
        let mut path = vec![told.clone()];
        let weight: Vec<f64> = kept.iter().map(|&i| errors.weights[i]).collect();
        for round in 0..rounds {
            let mut noise = stream(seed, fold as u64, round as u64);
            let slope = |(at, f): (usize, &f64)| {
                let i = kept[at / width];
                weight[at / width] * (1.0 - (sizes[i * width + at % width] * (-f).exp()).min(6.0))
            };
            let gradient: Vec<f64> = f.iter().enumerate().map(slope).collect();
            let drawn = grown.sample(kept.len(), &mut noise);
            let slopes = Slopes { gradient: &gradient, curvature: &weight, quantile: None };
            grown.grow(&table, drawn, slopes, TreeSettings::RATE, &mut noise);
            grown.add(round, &own, &mut f);
            grown.add(round, &others, &mut told);
            path.push(told.clone());
        }
        (grown, out, path)
    };
    let apart: Vec<Grown> = (0..folds).into_par_iter().map(|fold| boosted(fold, ROUNDS)).collect();
    let surprised = |round: usize| -> f64 {
        let one = |(_, out, path): &Grown| -> f64 {
            let each = path[round].iter().enumerate();
            each.map(|(at, f)| surprise(*f, sizes[out[at / width] * width + at % width])).sum()
        };
        apart.iter().map(one).sum()
    };
    let surprises: Vec<f64> = (0..=ROUNDS).map(surprised).collect();
    let best = (0..=ROUNDS).min_by(|&a, &b| surprises[a].total_cmp(&surprises[b])).unwrap_or(0);
    let mut unseen = vec![0.0; sizes.len()];
    for (_, out, path) in &apart {
        for (at, f) in path[best].iter().enumerate() {
            unseen[out[at / width] * width + at % width] = *f;
        }
    }
    let (all, _, _) = boosted(folds, best);
    (Shape::Trees(all), unseen)
}

/// Trees as numbers for a file: how many numbers each of their matrices has, then the matrices.
pub(super) fn packed(name: &'static str, trees: &Trees) -> Vec<(&'static str, Vec<f64>)> {
    let weights = trees.weights();
    let mut all: Vec<f64> = vec![NAMES.len() as f64];
    let matrices: Vec<Vec<f32>> = NAMES
        .iter()
        .map(|name| weights.iter().find(|(own, ..)| own == name).map_or(Vec::new(), |(_, _, v)| v.to_vec()))
        .collect();
    all.extend(matrices.iter().map(|m| m.len() as f64));
    all.extend(matrices.iter().flatten().map(|v| f64::from(*v)));
    vec![(name, all)]
}

/// The inverse of [`packed`].
pub(super) fn unpacked(
    name: &str,
    mut trees: Trees,
    numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
) -> Option<Trees> {
    let all = numbers(name)?;
    let count = *all.first()? as usize;
    let lengths: Vec<usize> = all.get(1..=count)?.iter().map(|n| *n as usize).collect();
    let mut rest = all.get(1 + count..)?;
    let mut matrices = Vec::new();
    for length in &lengths {
        let (own, after) = rest.split_at_checked(*length)?;
        matrices.push(own.iter().map(|v| *v as f32).collect::<Vec<f32>>());
        rest = after;
    }
    let matrix = |name: &str| {
        let at = NAMES.iter().position(|own| *own == name)?;
        // An ensemble may be empty; sets and a base that are empty are none.
        matrices.get(at).filter(|m| at < OTHERS || !m.is_empty()).cloned()
    };
    trees.restore(matrix).map(|()| trees)
}

/// Where the matrices begin that not all trees have.
const OTHERS: usize = 4;

/// The matrices of trees.
const NAMES: [&str; 7] =
    ["trees.sizes", "trees.nodes", "trees.leaves", "trees.gains", "trees.sets", "base.weight", "base.bias"];
