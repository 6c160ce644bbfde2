//! Errors as scenarios: as likely each, or by series, or recent ones more likely, where that tells errors out of fold better.
//!
//! ```text
//! F_g(r) = λ_g·F̂_g(r) + (1 − λ_g)·F̂((r − m_g)/s_g),     λ_g = n_g/(n_g + κ)
//! ```
//!
//! F̂_g are the errors of series g, F̂ those of all series less their own mean m and over their own size s, so that a series of few rows
//! has the shape of the others at its own place and size. m_g and s_g count ten rows of all series beside those of their own. κ, and
//! whether there are series at all, is chosen by the pinball loss at 2, 10, 50, 90 and 98 %; so is how fast the past is forgotten, by
//! errors of later folds told from those of earlier ones.

use std::collections::BTreeMap;

use rayon::prelude::*;
use regretless_core::Law;

use super::errors::Errors;
use super::series::Named;
use super::{WEIGHTS, rows_of, spaced, weighted};
use crate::evaluate::stats::Summary;

/// Rows of all series that count beside those of one in its mean and size.
const SHARED: f64 = 10.0;

/// κ: rows that a series needs to be told half by its own errors. The last knows place and size alone.
const NEEDED: [f64; 3] = [30.0, 300.0, f64::INFINITY];

/// Errors of all series that stand beside those of one.
const BESIDE: usize = 1_000;

/// Numbers of all series together.
const NUMBERS: usize = 4_000_000;

/// Shares of the time that errors span after which one counts half.
const FORGOTTEN: [f64; 2] = [0.5, 0.125];

/// Standard errors that a gain has to exceed. Several ways are tried: where nothing is to be gained, the best of them exceeds one in every
/// sixth sample, two in every twentieth, three in every hundredth.
const SURE: f64 = 3.0;

/// Levels whose quantiles are looked at.
const LEVELS: [f64; 5] = [0.02, 0.1, 0.5, 0.9, 0.98];

/// Scenarios that instances share, or those of their series.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    /// Series × S × width; those of one that nobody knows are the last.
    pub(super) atoms: Vec<f64>,
    /// Series × S.
    weights: Vec<f64>,
    series: Option<Named>,
}

/// Errors to make scenarios of.
pub(super) struct Sample<'a> {
    pub(super) errors: &'a Errors,
    /// Errors, or these over their spreads, rows × width.
    pub(super) atoms: &'a [f64],
    /// What an atom of each row is multiplied with, rows × width; nothing for 1.
    pub(super) spreads: &'a [f64],
    /// When each row is.
    pub(super) times: Vec<f64>,
    /// The series there may be, and that of each row.
    pub(super) series: Option<(Named, Vec<usize>)>,
    pub(super) width: usize,
}

/// Weighted numbers.
type Marginal = Vec<(f64, f64)>;

impl Sample<'_> {
    fn rows(&self) -> usize {
        self.errors.rows.len()
    }

    /// How much rows count, a half after each `half`.
    fn weights(&self, kept: &[usize], half: Option<f64>) -> Vec<f64> {
        let last = kept.iter().fold(f64::NEG_INFINITY, |last, i| last.max(self.times[*i]));
        let aged = |i: &usize| half.map_or(1.0, |half| (-(last - self.times[*i]) / half).exp2());
        kept.iter().map(|i| self.errors.weights[*i] * aged(i)).collect()
    }

    /// What is known of each of `count` series by the rows that are `kept`.
    fn place(&self, kept: &[usize], weights: &[f64], groups: &[usize], count: usize) -> Vec<Place> {
        let all = |k: usize| {
            let sum: f64 = weights.iter().sum();
            let mean = total(kept.iter().zip(weights).map(|(i, w)| w * self.atoms[i * self.width + k])) / sum;
            let size =
                kept.iter().zip(weights).map(|(i, w)| w * (self.atoms[i * self.width + k] - mean).abs());
            (mean, total(size) / sum)
        };
        let shared: Vec<(f64, f64)> = (0..self.width).map(all).collect();
        let mut own: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
        kept.iter().zip(weights).for_each(|(&i, &w)| own[groups[i]].push((i, w)));
        let one = |rows: Vec<(usize, f64)>| {
            let sum = total(rows.iter().map(|(_, w)| *w));
            let squares = total(rows.iter().map(|(_, w)| w * w));
            // As many rows of one weight tell as much.
            let rows_worth = if squares > 0.0 { sum * sum / squares } else { 0.0 };
            let unit = if sum > 0.0 { rows_worth / sum } else { 0.0 };
            let (mut mean, mut size) = (Vec::new(), Vec::new());
            for (k, (all_mean, all_size)) in shared.iter().enumerate() {
                let at = |i: usize| self.atoms[i * self.width + k];
                let m = (unit * total(rows.iter().map(|(i, w)| w * at(*i))) + SHARED * all_mean)
                    / (rows_worth + SHARED);
                let s = (unit * total(rows.iter().map(|(i, w)| w * (at(*i) - m).abs())) + SHARED * all_size)
                    / (rows_worth + SHARED);
                mean.push(m);
                // Errors that are all 0 have no size to divide by.
                size.push(if s > 0.0 { s } else { 1.0 });
            }
            Place { rows, rows_worth, mean, size }
        };
        own.into_iter().map(one).collect()
    }

    /// Losses of the rows of a fold, told from the rows that are `kept`: by series if there is a κ.
    fn losses(
        &self,
        fold: usize,
        kept: &[usize],
        half: Option<f64>,
        needed: Option<f64>,
    ) -> Vec<(usize, f64)> {
        let width = self.width;
        let weights = self.weights(kept, half);
        let single = vec![0; self.rows()];
        let (groups, count) = match &self.series {
            Some((named, groups)) if needed.is_some() => (groups, named.count()),
            _ => (&single, 1),
        };
        let places = self.place(kept, &weights, groups, count);
        let beside: Vec<usize> = spaced(kept.len(), BESIDE).collect();
        let told = |place: &Place| -> Vec<[f64; 5]> {
            let share = needed.map_or(1.0, |needed| place.share(needed));
            let own_sum = total(place.rows.iter().map(|(_, w)| *w));
            let other_sum = total(beside.iter().map(|b| weights[*b]));
            let one = |k: usize| {
                let own = place.rows.iter().map(|(i, w)| (self.atoms[i * width + k], share * w / own_sum));
                let mut all: Marginal = if share > 0.0 { own.collect() } else { Vec::new() };
                if share < 1.0 {
                    all.extend(beside.iter().map(|b| {
                        let i = kept[*b];
                        let from = &places[groups[i]];
                        let standard = (self.atoms[i * width + k] - from.mean[k]) / from.size[k];
                        (place.mean[k] + place.size[k] * standard, (1.0 - share) * weights[*b] / other_sum)
                    }));
                }
                quantiles(all)
            };
            (0..width).map(one).collect()
        };
        let each: Vec<Vec<[f64; 5]>> = places.iter().map(told).collect();
        let sizes = &self.place(kept, &weights, &single, 1)[0].size;
        let loss = |i: usize| {
            let one = |k: usize| {
                let at = i * width + k;
                let unit = self.spreads.get(at).copied().unwrap_or(1.0) / sizes[k];
                let pinball = |(level, q): (&f64, &f64)| {
                    let short = self.atoms[at] - q;
                    short * (level - f64::from(u8::from(short < 0.0)))
                };
                unit * total(LEVELS.iter().zip(&each[groups[i]][k]).map(pinball))
            };
            (i, total((0..width).map(one)))
        };
        (0..self.rows()).filter(|i| self.errors.folds[*i] == fold).map(loss).collect()
    }

    /// The mean gain of one way over another, and whether it exceeds its errors over moments and over folds: rows of one moment are one,
    /// and what is told for a fold is told for all its rows at once.
    fn gain(&self, plain: &[(usize, f64)], other: &[(usize, f64)]) -> (f64, bool) {
        let (mut moments, mut folds): (BTreeMap<u64, f64>, BTreeMap<usize, (f64, f64)>) = Default::default();
        for ((i, a), (_, b)) in plain.iter().zip(other) {
            let weight = self.errors.weights[*i];
            *moments.entry(self.times[*i].to_bits()).or_default() += weight * (a - b);
            let (sum, all) = folds.entry(self.errors.folds[*i]).or_default();
            (*sum, *all) = (*sum + weight * (a - b), *all + weight);
        }
        let sure = |gains: &[f64]| {
            let Ok(found) = Summary::of(gains) else { return (0.0, false) };
            let error = found.std.unwrap_or(f64::INFINITY) / (found.count as f64).sqrt();
            (found.mean, found.mean > SURE * error)
        };
        let (mean, over_moments) = sure(&moments.into_values().collect::<Vec<f64>>());
        let means: Vec<f64> =
            folds.into_values().filter(|(_, all)| *all > 0.0).map(|(sum, all)| sum / all).collect();
        (mean, over_moments && sure(&means).1)
    }

    /// The best of several ways, if it gains beyond its error over none of them.
    fn best<T: Copy + Sync>(&self, ways: &[T], losses: impl Fn(Option<T>) -> Vec<(usize, f64)>) -> Option<T> {
        let plain = losses(None);
        let found = ways.iter().map(|&way| (way, self.gain(&plain, &losses(Some(way)))));
        let best = found.max_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b));
        best.filter(|(_, (_, sure))| *sure).map(|(way, _)| way)
    }

    fn folds(&self) -> usize {
        1 + self.errors.folds.iter().copied().max().unwrap_or(0)
    }

    /// κ, if there are series whose errors differ.
    fn needed(&self) -> Option<f64> {
        let (named, groups) = self.series.as_ref()?;
        // One that nobody knows has no errors of its own.
        if groups.iter().any(|group| *group >= named.count()) {
            return None;
        }
        self.best(&NEEDED, |needed| {
            let one = |fold: usize| {
                let kept: Vec<usize> = (0..self.rows()).filter(|i| self.errors.folds[*i] != fold).collect();
                self.losses(fold, &kept, None, needed)
            };
            (0..self.folds()).into_par_iter().flat_map_iter(one).collect()
        })
    }

    /// The time after which an error counts half, if folds follow one another and the past is worth less.
    fn half(&self, needed: Option<f64>) -> Option<f64> {
        let mut spans = vec![(f64::INFINITY, f64::NEG_INFINITY); self.folds()];
        for (fold, time) in self.errors.folds.iter().zip(&self.times) {
            spans[*fold] = (spans[*fold].0.min(*time), spans[*fold].1.max(*time));
        }
        if spans.len() < 3 || spans.windows(2).any(|pair| pair[1].0 < pair[0].1) {
            return None;
        }
        let span = spans[spans.len() - 1].1 - spans[0].0;
        self.best(&FORGOTTEN.map(|share| share * span), |half| {
            let one = |fold: usize| {
                let kept: Vec<usize> = (0..self.rows()).filter(|i| self.errors.folds[*i] < fold).collect();
                self.losses(fold, &kept, half, needed)
            };
            (1..spans.len()).into_par_iter().flat_map_iter(one).collect()
        })
    }
}

/// What is known of the errors of a series.
struct Place {
    /// Its rows and how much they count.
    rows: Vec<(usize, f64)>,
    /// Rows of one weight that would tell as much.
    rows_worth: f64,
    mean: Vec<f64>,
    size: Vec<f64>,
}

impl Place {
    /// λ
    fn share(&self, needed: f64) -> f64 {
        if needed.is_infinite() { 0.0 } else { self.rows_worth / (self.rows_worth + needed) }
    }
}

fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.sum()
}

/// The quantiles of a distribution.
fn quantiles(mut all: Marginal) -> [f64; 5] {
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let sum = total(all.iter().map(|(_, w)| *w));
    let (mut at, mut below) = (0, 0.0);
    LEVELS.map(|level| {
        while at + 1 < all.len() && below + all[at].1 < level * sum {
            below += all[at].1;
            at += 1;
        }
        all.get(at).map_or(0.0, |(value, _)| *value)
    })
}

impl Pool {
    /// At most `most` scenarios of an instance. Errors of one row stay together.
    pub(super) fn fit(sample: &Sample<'_>, most: usize) -> Self {
        let needed = sample.needed();
        let half = sample.half(needed);
        let (rows, width) = (sample.rows(), sample.width);
        let all: Vec<usize> = (0..rows).collect();
        let weights = sample.weights(&all, half);
        let Some(((named, groups), needed)) = sample.series.as_ref().zip(needed) else {
            let kept = || spaced(rows, most);
            return Self {
                atoms: rows_of(sample.atoms, width, kept()),
                weights: kept().map(|i| weights[i]).collect(),
                series: None,
            };
        };
        let count = named.count();
        let places = sample.place(&all, &weights, groups, count);
        let room = most.min(NUMBERS / ((count + 1) * width)).max(2);
        let longest = places.iter().map(|place| place.rows.len()).max().unwrap_or(0);
        let beside: Vec<usize> = spaced(rows, BESIDE.min(room.div_ceil(2))).collect();
        let own = if needed.is_infinite() { 0 } else { longest.min(room - beside.len().min(room)) };
        let (mut atoms, mut shares) = (Vec::new(), Vec::new());
        let other_sum = total(beside.iter().map(|i| weights[*i]));
        for place in &places {
            let kept: Vec<(usize, f64)> = spaced(place.rows.len(), own).map(|i| place.rows[i]).collect();
            let share = if kept.is_empty() { 0.0 } else { place.share(needed) };
            let own_sum = total(kept.iter().map(|(_, w)| *w));
            atoms.extend(rows_of(sample.atoms, width, kept.iter().map(|(i, _)| *i)));
            shares.extend(kept.iter().map(|(_, w)| share * w / own_sum));
            for &i in &beside {
                let from = &places[groups[i]];
                atoms.extend((0..width).map(|k| {
                    let standard = (sample.atoms[i * width + k] - from.mean[k]) / from.size[k];
                    place.mean[k] + place.size[k] * standard
                }));
                shares.push((1.0 - share) * weights[i] / other_sum);
            }
            // All series have as many scenarios; those that are not there count for nothing.
            let missing = own - kept.len();
            atoms.extend(std::iter::repeat_n(0.0, missing * width));
            shares.extend(std::iter::repeat_n(0.0, missing));
        }
        // What a new series has: the errors of all.
        let plain: Vec<usize> = spaced(rows, own + beside.len()).collect();
        let missing = own + beside.len() - plain.len();
        let sum = total(plain.iter().map(|i| weights[*i]));
        atoms.extend(rows_of(sample.atoms, width, plain.iter().copied()));
        atoms.extend(std::iter::repeat_n(0.0, missing * width));
        shares.extend(plain.iter().map(|i| weights[*i] / sum));
        shares.extend(std::iter::repeat_n(0.0, missing));
        Self { atoms, weights: shares, series: Some(named.clone()) }
    }

    /// A law of its own for each series, or one for all.
    pub(super) fn law(&self, width: usize, law: impl Fn(Vec<f64>, Vec<f64>) -> Law) -> Law {
        let Some(named) = &self.series else { return law(self.atoms.clone(), self.weights.clone()) };
        let count = self.weights.len() / (named.count() + 1);
        let each = self.atoms.chunks_exact(count * width).zip(self.weights.chunks_exact(count));
        Law::Groups(each.map(|(atoms, weights)| law(atoms.to_vec(), weights.to_vec())).collect())
    }

    /// The numbers of the series of rows, if they have laws of their own.
    pub(super) fn groups(&self, inputs: &[f32], rows: usize) -> Option<Vec<usize>> {
        self.series.as_ref().map(|named| named.groups(inputs, rows))
    }

    /// What a file keeps, the atoms under this name; weights where they differ, or always.
    pub(super) fn numbers(&self, name: &'static str, always: bool) -> Vec<(&'static str, Vec<f64>)> {
        let mut numbers = vec![(name, self.atoms.clone())];
        if always || self.weights.windows(2).any(|pair| pair[0] != pair[1]) {
            numbers.push((WEIGHTS, self.weights.clone()));
        }
        numbers.extend(self.series.iter().flat_map(Named::numbers));
        numbers
    }

    pub(super) fn read(
        name: &str,
        features: usize,
        width: usize,
        numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
    ) -> Option<Self> {
        let (atoms, weights) = weighted(name, width, numbers)?;
        let series = match Named::read(features, numbers) {
            Some(read) => Some(read.filter(|named| weights.len().is_multiple_of(named.count() + 1))?),
            None => None,
        };
        Some(Self { atoms, weights, series })
    }
}
