//! Successive halving: all candidates on the first folds, the better half on the others.

use std::cmp::Ordering;

use super::search::Search;
use crate::error::LearnError;

/// Folds that all candidates are judged on before any is dropped.
const FIRST: usize = 2;

impl Search<'_, '_> {
    /// Judges candidates on the folds, within a share of all work: on all of them if it suffices, on the first for all and on the others
    /// for the better half if it does not. `sure` of them, the first ones, are never dropped. False if somebody asked for the end.
    pub(super) fn race(&mut self, ideas: &[usize], sure: usize, share: f64) -> Result<bool, LearnError> {
        let count = self.folds.len();
        let first = FIRST.min(count);
        let all: f64 = ideas.iter().map(|&idea| self.expected(idea, count)).sum();
        let halves = !self.work.suffices(all, share) && count > first;
        let mut left: Vec<usize> = Vec::new();
        for (place, &idea) in ideas.iter().enumerate() {
            let folds = if halves { first } else { count };
            // The first of all come to little, and there has to be something.
            if place >= sure && halves && !self.work.suffices(self.expected(idea, first), share) {
                self.left_out.push(self.ideas[idea].name.clone());
                continue;
            }
            for f in 0..folds {
                if !self.judge(idea, f)? {
                    return Ok(false);
                }
            }
            left.push(idea);
        }
        if !halves {
            return Ok(true);
        }
        let looked: Vec<usize> = (0..first).collect();
        let kept = left.iter().filter(|idea| ideas[..sure].contains(idea)).count();
        let mut ranked: Vec<usize> = left.into_iter().filter(|idea| !ideas[..sure].contains(idea)).collect();
        ranked.sort_by(|&a, &b| self.rank(a, b, &looked));
        let half = (ranked.len() + kept).div_ceil(2).saturating_sub(kept).max(1);
        if ranked.len() > half {
            self.looked = first;
        }
        ranked.truncate(half);
        let going: Vec<usize> = ideas[..sure].iter().copied().chain(ranked).collect();
        for (place, idea) in going.into_iter().enumerate() {
            if place >= sure.max(1) && !self.work.suffices(self.expected(idea, count - first), share) {
                self.looked = first;
                continue;
            }
            for f in first..count {
                if !self.judge(idea, f)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The better first, over some folds; the simpler first of equals.
    pub(super) fn rank(&self, a: usize, b: usize, folds: &[usize]) -> Ordering {
        self.measures(a, folds).rank(&self.measures(b, folds)).then(a.cmp(&b))
    }

    /// The work of a candidate on so many folds, from what it took on those that are done.
    fn expected(&self, idea: usize, folds: usize) -> f64 {
        let done: Vec<f64> = self.held[idea].iter().flatten().map(|held| held.work).collect();
        if !done.is_empty() {
            return folds as f64 * done.iter().sum::<f64>() / done.len() as f64;
        }
        let idea = &self.ideas[idea];
        let rows = self.folds.iter().map(|fold| fold.train.len()).max().unwrap_or(0);
        let own = self.task();
        let Some(recipe) = idea.recipe() else { return 0.0 };
        let own = own.on(idea.kind, own.train().to_vec(), own.valid().to_vec());
        folds as f64 * self.work.expected(&own, recipe, rows)
    }
}
