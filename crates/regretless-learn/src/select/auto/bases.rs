//! What distributions stand on.
//!
//! A forecast with scenarios decides the better the less it errs, whatever its point would cost: where a unit short costs a hundred times
//! one too many, the cheapest point is the one that is furthest above the truth. So forecasts are compared there by
//!
//! ```text
//! eᵢ = Σₖ ((yᵢₖ − ŷᵢₖ)/uₖ)²      of row i out of fold, uₖ the deviation of quantity k
//! ```
//!
//! The best of every form is one to stand on, unless it errs more than the best of all by more than two standard errors, and so is the mean
//! of the best two, three, … of these, whichever errs least: its errors are smaller than those of its members, and so are its scenarios.

use super::candidates::mean_of;
use super::choice::Gap;
use super::halving::{FAR, Went};
use super::search::Search;
use crate::error::LearnError;
use crate::evaluate::judge::Judgement;
use crate::model::combination::{Averaged, mean};

impl Search<'_, '_> {
    /// eᵢ on a fold of a candidate, or of the mean of several.
    pub(super) fn misses(&self, members: &[usize], f: usize) -> Vec<f64> {
        let task = self.task();
        let (units, width) = (task.units(), task.placement().width().max(1));
        let each: Option<Vec<&Judgement>> =
            members.iter().map(|&idea| self.held[idea][f].as_ref().map(|held| &held.judged)).collect();
        let Some(each) = each else { return Vec::new() };
        let weights = vec![1.0 / each.len() as f64; each.len()];
        let predicted = mean(&weights, each.iter().map(|judged| judged.predictions.as_slice()));
        let truths = task.targets(&self.folds[f].held);
        let miss = |(truth, predicted): (&[f64], &[f64])| {
            let each = truth.iter().zip(predicted).zip(&units);
            each.map(|((y, f), u)| ((y - f) / u).powi(2)).sum()
        };
        truths.chunks_exact(width).zip(predicted.chunks_exact(width)).map(miss).collect()
    }

    /// The forecast that errs least over some folds, where distributions can stand on it.
    pub(super) fn errs_least(&self, folds: &[usize]) -> Option<usize> {
        if !self.task().has_scenarios() {
            return None;
        }
        let known = |idea: &usize| {
            let done = folds.iter().all(|&f| self.held[*idea][f].is_some());
            done && self.ideas[*idea].is_plain() && !self.ideas[*idea].is_constant()
        };
        let ranked = (0..self.ideas.len()).filter(known).map(|idea| (self.miss(&[idea], folds), idea));
        ranked.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, idea)| idea)
    }

    /// How much more the first errs, over some folds.
    pub(super) fn errs_more(&self, a: usize, b: usize, folds: &[usize]) -> Option<Gap> {
        let pairs = |&f: &usize| {
            let (a, b) = (self.misses(&[a], f), self.misses(&[b], f));
            a.into_iter().zip(b).map(|(a, b)| (f, a - b)).collect::<Vec<_>>()
        };
        Gap::of(&folds.iter().flat_map(pairs).collect::<Vec<_>>())
    }

    /// The mean of eᵢ over some folds.
    fn miss(&self, members: &[usize], folds: &[usize]) -> f64 {
        let all: Vec<f64> = folds.iter().flat_map(|&f| self.misses(members, f)).collect();
        all.iter().sum::<f64>() / all.len() as f64
    }

    /// What distributions stand on, simplest first: the forecast that decides best, those of each form that err least, and a mean of these.
    pub(super) fn bases(
        &mut self,
        start: usize,
        forecasts: &[usize],
    ) -> Result<(Vec<usize>, Went), LearnError> {
        let all: Vec<usize> = (0..self.folds.len()).collect();
        let mut by_miss: Vec<(f64, usize)> = forecasts
            .iter()
            .map(|&idea| (self.miss(&[idea], &all), idea))
            .filter(|(miss, _)| miss.is_finite())
            .collect();
        by_miss.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut best: Vec<usize> = Vec::new();
        for (_, idea) in by_miss {
            if best.iter().all(|&other| self.ideas[other].form != self.ideas[idea].form) {
                best.push(idea);
            }
        }
        let least = best.first().copied();
        let is_far = |idea: usize| {
            let more = least.and_then(|least| self.errs_more(idea, least, &all));
            more.is_some_and(|gap| gap.mean > FAR * gap.error)
        };
        best.retain(|&idea| !is_far(idea));
        let mut bases = [best.as_slice(), &[start]].concat();
        bases.sort_unstable();
        bases.dedup();
        let counts = if Averaged::on(self.task()).is_some() { 1..=best.len() } else { 1..=1 };
        let miss = |count: usize| self.miss(&best[..count], &all);
        let count = counts.min_by(|&a, &b| miss(a).total_cmp(&miss(b)));
        let Some(count) = count.filter(|count| *count > 1) else { return Ok((bases, Went::Whole)) };
        let together = mean_of(self, &best[..count]);
        let together = self.add(vec![together]);
        let went = self.race(&together, 1, 1.0)?;
        bases.extend(together);
        Ok((bases, went))
    }
}
