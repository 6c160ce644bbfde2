//! A race over rungs: the first fold, the second, and all others. Who cannot win any more does not go on.
//!
//! After the first two rungs a candidate stays behind that is
//!
//! ```text
//! far       more than 2 standard errors worse than the best of all; a forecast that distributions may stand on also in its errors,
//!           and what costs no training only after the second fold, if it is worse in both
//! no gain   of those that go on from what is there: a standard error worse than the best that is simpler after the first fold, or
//!           the same, and no better than it after the second. To be chosen it has to be better by a standard error after all folds
//! ```
//!
//! and, where the work does not suffice for the folds that are left, the worse half, again and again.

use std::cmp::Ordering;
use std::ops::Range;

use super::choice::{Gap, ROUNDING};
use super::search::Search;
use crate::error::LearnError;

/// Folds after each of which candidates are dropped.
const LOOKS: usize = 2;
/// Standard errors behind the best that are seldom caught up with.
pub(super) const FAR: f64 = 2.0;

/// How a wave of candidates came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Went {
    /// All rungs are done.
    Whole,
    /// The time was up: what is known from earlier waves is chosen from.
    Cut,
    /// Somebody asked for the end.
    Stopped,
}

impl Search<'_, '_> {
    /// Judges a wave of candidates within a share of all work. `sure` of them, the first ones, are never dropped.
    pub(super) fn race(&mut self, ideas: &[usize], sure: usize, share: f64) -> Result<Went, LearnError> {
        let count = self.folds.len();
        let (sure, mut going) = (&ideas[..sure], ideas.to_vec());
        for rung in rungs(count) {
            if self.is_cut()? {
                self.not_known(&going);
                return Ok(Went::Cut);
            }
            let mut done = Vec::new();
            for &idea in &going {
                let begins = sure.contains(&idea) || self.suffices_to_begin(idea, rung.start, share);
                if !begins {
                    self.left_out.push(self.ideas[idea].name.clone());
                    continue;
                }
                for f in rung.clone() {
                    if !self.judge(idea, f)? {
                        let went = self.ends(ideas, &rung)?;
                        if went == Went::Cut {
                            self.not_known(&going);
                        }
                        return Ok(went);
                    }
                }
                done.push(idea);
            }
            going = if rung.end < count { self.still(&done, sure, ideas, rung.end, share) } else { done };
            self.rung_is_done();
        }
        Ok(Went::Whole)
    }

    /// Names the candidates that the time did not suffice for.
    fn not_known(&mut self, ideas: &[usize]) {
        let whole: Vec<String> = ideas.iter().map(|&idea| self.ideas[idea].name.clone()).collect();
        self.out_of_time.extend(whole);
    }

    /// Half of what is left is for the first fold: somebody has to come to the last.
    fn suffices_to_begin(&self, idea: usize, fold: usize, share: f64) -> bool {
        fold > 0 || {
            let left = share - self.work.spent / self.work.budget;
            self.work.suffices(self.expected(idea, 1), share - 0.5 * left.max(0.0))
        }
    }

    /// Who goes on after the first `done` folds.
    fn still(
        &mut self,
        ideas: &[usize],
        sure: &[usize],
        wave: &[usize],
        done: usize,
        share: f64,
    ) -> Vec<usize> {
        let folds: Vec<usize> = (0..done).collect();
        let known = |idea: &usize| folds.iter().all(|&f| self.held[*idea][f].is_some());
        let lowest = |among: &mut dyn Iterator<Item = usize>| {
            among.filter(known).min_by(|&a, &b| self.rank(a, b, &folds))
        };
        let all = lowest(&mut (0..self.ideas.len()));
        let simpler = lowest(&mut (0..self.ideas.len()).filter(|idea| !wave.contains(idea)));
        let least = self.errs_least(&folds);
        let hopeless = |idea: usize| {
            let far = all.and_then(|best| self.gap(idea, best, &folds));
            let gain = simpler.map(|best| (best, self.gap(idea, best, &folds)));
            let errs = least.is_none_or(|least| {
                let more = self.ideas[idea].is_plain().then(|| self.errs_more(idea, least, &folds)).flatten();
                more.is_none_or(|gap| gap.mean > FAR * gap.error)
            });
            // A distribution costs no training, and a season with a few dear days is no reason to leave it: it has to be far behind over both
            // folds, and behind in each.
            let often = self.ideas[idea].recipe().is_some()
                || done >= LOOKS
                    && all.is_some_and(|best| {
                        folds.iter().all(|f| self.rank(idea, best, &[*f]) == Ordering::Greater)
                    });
            errs && often && far.is_some_and(|gap| gap.mean > FAR * gap.error)
                || gain.is_some_and(|(best, gap)| {
                    let nothing = ROUNDING * self.measures(best, &folds).regret.abs();
                    match gap {
                        Some(gap) if done < LOOKS => gap.mean > gap.error || gap.mean.abs() <= nothing,
                        Some(gap) => gap.mean > -nothing,
                        None => false,
                    }
                })
        };
        let (kept, mut ranked): (Vec<usize>, Vec<usize>) = ideas.iter().partition(|idea| sure.contains(idea));
        if done <= LOOKS {
            ranked.retain(|&idea| !hopeless(idea));
        }
        let left = self.folds.len() - done;
        let work = |these: &[usize]| these.iter().map(|&idea| self.expected(idea, left)).sum::<f64>();
        ranked.sort_by(|&a, &b| self.rank(a, b, &folds));
        let fits = |ranked: &[usize]| self.work.suffices(work(&kept) + work(ranked), share);
        while !ranked.is_empty() && !fits(&ranked) && kept.len() + ranked.len() > 1 {
            ranked.truncate(ranked.len() / 2);
        }
        if kept.len() + ranked.len() < ideas.len() {
            self.looked = self.looked.max(done);
        }
        ideas.iter().copied().filter(|idea| kept.contains(idea) || ranked.contains(idea)).collect()
    }

    /// How much more the first costs, over some folds; of one that decides less nothing is known.
    pub(super) fn gap(&self, a: usize, b: usize, folds: &[usize]) -> Option<Gap> {
        let regrets = |idea: usize, f: usize| {
            self.held[idea][f].iter().flat_map(|held| held.judged.regrets()).collect()
        };
        let pairs = |&f: &usize| {
            let both: [Vec<f64>; 2] = [regrets(a, f), regrets(b, f)];
            let [a, b] = both;
            a.into_iter().zip(b).map(move |(a, b)| (f, a - b)).collect::<Vec<_>>()
        };
        Gap::of(&folds.iter().flat_map(pairs).collect::<Vec<_>>())
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
        let own = own.on(idea.form, own.train().to_vec(), own.valid().to_vec());
        folds as f64 * self.work.expected(&own, recipe, rows)
    }
}

/// The folds of each rung.
fn rungs(count: usize) -> impl Iterator<Item = Range<usize>> {
    let looks = LOOKS.min(count);
    (0..looks).map(|f| Range { start: f, end: f + 1 }).chain((looks < count).then_some(looks..count))
}
