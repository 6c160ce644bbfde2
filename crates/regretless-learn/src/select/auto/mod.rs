//! `auto`: candidates side by side on the same folds, one of them chosen by what its decisions cost there, and trained on all rows.

mod bases;
mod candidates;
mod choice;
mod clock;
mod combine;
mod folds;
mod halving;
mod refit;
mod search;
mod sentence;
mod work;

use regretless_core::Method;

use self::candidates::{Idea, Step, distributions, forecasts, through, tuned};
use self::choice::Costs;
use self::folds::Fold;
use self::halving::Went;
use self::search::Search;
use self::sentence::{Said, sentence};
use super::choose::{Chosen, Gap, Tried};
use super::trainer::{Candidate, Trainer};
use crate::error::LearnError;
use crate::evaluate::judge::judge;
use crate::model::combination::Averaged;
use crate::settings::PredictorKind;
use crate::train::epoch::{Ended, Fitted};

/// Shares of all work that are spent after forecasts, distributions, decision losses and what is trained through scenarios.
const SHARES: [f64; 4] = [0.5, 0.65, 0.9, 1.0];

/// Searches, chooses, and trains what was chosen on all rows; and, to compare it with on a test part, the best forecast if another was
/// chosen.
pub(super) fn auto(trainer: &mut Trainer<'_>, seed: u64) -> Result<(Chosen, Vec<Candidate>), LearnError> {
    let mut search = Search::new(trainer, seed)?;
    match look(&mut search, seed)? {
        Went::Whole => {
            search.combine()?;
            search.chosen()
        }
        Went::Cut => search.chosen(),
        Went::Stopped => Ok((search.unfinished()?, Vec::new())),
    }
}

/// All waves of candidates.
fn look(search: &mut Search<'_, '_>, seed: u64) -> Result<Went, LearnError> {
    let task = search.task();
    let forecasts = search.add(forecasts(task, seed)?);
    // The constant and the first that learns.
    let went = search.race(&forecasts, forecasts.len().min(2), SHARES[0])?;
    if went != Went::Whole {
        return Ok(went);
    }
    search.may_be_cut();
    let all: Vec<usize> = (0..search.folds.len()).collect();
    let best_first = |search: &Search<'_, '_>, ideas: &[usize]| {
        let mut whole: Vec<usize> = ideas.iter().copied().filter(|&idea| search.is_whole(idea)).collect();
        whole.sort_by(|&a, &b| search.rank(a, b, &all));
        whole
    };
    let mut learned = best_first(search, &forecasts);
    learned.retain(|&idea| !search.ideas[idea].is_constant());
    let Some(&start) = learned.first() else { return Ok(Went::Whole) };
    let averaged = if task.has_scenarios() {
        let (bases, went) = search.bases(start, &learned)?;
        if went != Went::Whole {
            return Ok(went);
        }
        let ideas = distributions(search, &bases);
        search.add(ideas)
    } else {
        Vec::new()
    };
    let went = search.race(&averaged, 0, SHARES[1])?;
    if went != Went::Whole {
        return Ok(went);
    }
    // Penalties are the same in all folds.
    task.multipliers()?;
    let mut ideas = tuned(search, start, seed);
    let line = |&&idea: &&usize| search.ideas[idea].form.kind == PredictorKind::Linear;
    if let Some(&line) = learned.iter().find(line).filter(|&&line| line != start) {
        ideas.extend(tuned(search, line, seed));
    }
    let ideas = search.add(ideas);
    let went = search.race(&ideas, 0, SHARES[2])?;
    if went != Went::Whole {
        return Ok(went);
    }
    // One predictor can be tuned, and no mean of several.
    let one = |&&idea: &&usize| search.leads(idea) < 2;
    if let Some(&start) = best_first(search, &averaged).iter().find(one) {
        let ideas = through(search, start, seed);
        let ideas = search.add(ideas);
        return search.race(&ideas, 0, SHARES[3]);
    }
    Ok(Went::Whole)
}

impl Search<'_, '_> {
    /// The choice among the candidates that were judged on all folds.
    fn chosen(mut self) -> Result<(Chosen, Vec<Candidate>), LearnError> {
        let whole: Vec<usize> = (0..self.ideas.len()).filter(|&idea| self.is_whole(idea)).collect();
        let costs = self.costs(&whole);
        let all = |_: usize| true;
        let (own, best, reference) = (costs.choose(&all), costs.best(&all), costs.reference(&all));
        let regret = |place: usize| {
            let finite = costs.regrets[place].iter().filter(|r| r.is_finite());
            finite.clone().sum::<f64>() / finite.count() as f64
        };
        let name = |place: usize| self.ideas[whole[place]].name.as_str();
        let second =
            (whole.len() > 1).then(|| costs.lowest((0..whole.len()).filter(|&place| place != own), &all));
        let said = sentence(&Said {
            chosen: name(own),
            regret: regret(own),
            best: (name(best), regret(best)),
            reference: (name(reference), regret(reference)),
            second: second.and_then(|second| Some((name(second), costs.gap(second, own, &all)?))),
            plain: costs.plain[own],
            candidates: self.begun().count(),
            folds: self.folds.len(),
            rows: costs.folds.len(),
            gain: costs.honest(self.looked),
            left_out: &self.left_out,
            out_of_time: self.clock.cut.map(|_| self.out_of_time.as_slice()),
        });
        let idea = whole[own];
        if self.task().test().is_empty() {
            // What was decided out of fold is then looked at.
            for f in 0..self.folds.len() {
                let (task, rows) = (self.task(), self.folds[f].held.clone());
                let Some(held) = self.held[idea][f].as_mut() else { continue };
                held.judged = judge(task, &held.model, &rows)?;
            }
        }
        let candidate = self.whole(idea)?;
        // Rows out of fold are no test of what learned from them.
        let compared = !costs.plain[own] && !self.task().test().is_empty() && !self.trainer.interrupted();
        let others = if compared { vec![self.whole(whole[reference])?] } else { Vec::new() };
        let (tried, cut) = (self.tried(Some(idea)), self.clock.cut);
        Ok((Chosen { candidate, tried, sentence: said, cut }, others))
    }

    /// What there is when somebody asked for the end: the best of those that are known best, without the first fold.
    fn unfinished(mut self) -> Result<Chosen, LearnError> {
        // Folds are done in their order: those that most of are known are compared on the same.
        let done = |idea: usize| self.held[idea].iter().flatten().count();
        let most = (0..self.ideas.len()).map(done).max().unwrap_or(0);
        let folds: Vec<usize> = (0..most).collect();
        let known = (0..self.ideas.len()).filter(|&idea| most > 0 && done(idea) == most);
        let best = known.min_by(|&a, &b| self.rank(a, b, &folds));
        let (idea, fitted) = match (best, self.stopped.take()) {
            (Some(idea), _) => {
                let held = self.held[idea][0].as_ref();
                let fitted = held.map(|held| Fitted {
                    model: held.model.clone(),
                    history: Vec::new(),
                    ended: Ended::Interrupted,
                    best: held.best,
                    seconds: held.seconds,
                });
                (idea, fitted)
            }
            (None, Some((idea, fitted))) => (idea, fitted),
            (None, None) => (0, None),
        };
        let fitted = if let Some(fitted) = fitted {
            fitted
        } else {
            let first = &self.ideas[idea];
            let own = self.task().on(first.form, self.folds[0].rest.clone(), self.folds[0].valid.clone());
            let recipe = first.recipe().cloned();
            let recipe = recipe.unwrap_or_else(|| unreachable!("the first candidate is trained"));
            let model = own.untrained(&recipe)?;
            Fitted { model, history: Vec::new(), ended: Ended::Interrupted, best: 0, seconds: 0.0 }
        };
        let sentence =
            format!("stopped early: {} is the best so far, and nothing is chosen", self.ideas[idea].name);
        let mut candidate = self.candidate(idea, fitted);
        if candidate.valid.rows.is_empty() {
            candidate.valid = judge(self.task(), &candidate.fitted.model, self.task().valid())?;
        }
        let mut tried = self.tried(None);
        if tried.is_empty() {
            tried.push(Tried::of(&candidate));
        }
        Ok(Chosen { candidate, tried, sentence, cut: None })
    }

    /// A candidate once more, trained on all rows.
    fn whole(&mut self, idea: usize) -> Result<Candidate, LearnError> {
        let (fitted, lineage) = self.refit(idea)?;
        Ok(Candidate { lineage, ..self.candidate(idea, fitted) })
    }

    fn candidate(&self, idea: usize, fitted: Fitted) -> Candidate {
        let own = &self.ideas[idea];
        // The constant predictor is the same in every kind.
        let first = self.lead(idea);
        Candidate {
            name: own.name.clone(),
            k: own.recipe().filter(|r| r.method.is_some_and(Method::uses_surrogate)).map(|r| r.k.value()),
            constant: first.is_constant(),
            predictor: (self.task().is_open() && !first.is_constant()).then_some(first.form.kind),
            lineage: Vec::new(),
            fitted,
            valid: self.out_of_fold(idea),
        }
    }

    /// What the model of a candidate began as, of several together the first.
    fn lead(&self, idea: usize) -> &Idea {
        let first = &self.ideas[self.root(idea)];
        match &first.step {
            Step::Combine(_, members) => {
                let lead = members.iter().min_by_key(|&&member| self.leads(member));
                lead.map_or(first, |&lead| self.lead(lead))
            }
            _ => first,
        }
    }

    /// Where a candidate stands among several that are one model: the first is of one predictor that learned, if there is such.
    fn leads(&self, idea: usize) -> usize {
        let first = &self.ideas[self.root(idea)];
        match first.step {
            Step::Combine(..) => 2,
            _ => usize::from(first.is_constant()),
        }
    }

    /// What a candidate goes on from, and that from, to the first.
    fn root(&self, idea: usize) -> usize {
        let mut first = idea;
        while let Some(from) = self.ideas[first].from {
            first = from;
        }
        first
    }

    fn costs(&self, whole: &[usize]) -> Costs {
        let fold = |(f, fold): (usize, &Fold)| fold.held.iter().map(move |_| f).collect::<Vec<_>>();
        let regrets = |&idea: &usize| {
            self.held[idea].iter().flatten().flat_map(|held| held.judged.regrets()).collect::<Vec<f64>>()
        };
        Costs {
            folds: self.folds.iter().enumerate().flat_map(fold).collect(),
            regrets: whole.iter().map(regrets).collect(),
            plain: whole.iter().map(|&idea| self.ideas[idea].is_plain()).collect(),
            means: whole.iter().map(|&idea| self.is_mean(idea)).collect(),
        }
    }

    /// True for a mean of decisions, and for a distribution around a mean of predictions.
    fn is_mean(&self, idea: usize) -> bool {
        let own = &self.ideas[idea];
        match (&own.step, own.from) {
            (Step::Combine(averaged, _), _) => *averaged == Averaged::Decisions,
            (Step::Decide(_), Some(from)) => matches!(self.ideas[from].step, Step::Combine(..)),
            _ => false,
        }
    }

    /// All candidates that were begun.
    fn tried(&self, kept: Option<usize>) -> Vec<Tried> {
        self.begun().map(|idea| self.one_tried(idea, kept)).collect()
    }

    fn begun(&self) -> impl Iterator<Item = usize> {
        (0..self.ideas.len()).filter(|&idea| self.held[idea].iter().any(Option::is_some))
    }

    fn one_tried(&self, idea: usize, kept: Option<usize>) -> Tried {
        let held: Vec<_> = self.held[idea].iter().flatten().collect();
        let folds: Vec<usize> = (0..self.folds.len()).filter(|&f| self.held[idea][f].is_some()).collect();
        let gap = kept.filter(|&kept| kept != idea).and_then(|kept| self.gap(idea, kept, &folds));
        let middle = |mut numbers: Vec<usize>| {
            numbers.sort_unstable();
            numbers[numbers.len() / 2]
        };
        let recipe = self.ideas[idea].recipe();
        Tried {
            name: self.ideas[idea].name.clone(),
            k: recipe.filter(|r| r.method.is_some_and(Method::uses_surrogate)).map(|r| r.k.value()),
            valid: self.out_of_fold(idea).measures,
            ended: held[held.len() - 1].ended.clone(),
            epochs: middle(held.iter().map(|h| h.epochs).collect()),
            best: middle(held.iter().map(|h| h.best).collect()),
            seconds: held.iter().map(|h| h.seconds).sum(),
            folds: held.len(),
            work: held.iter().map(|h| h.work).sum(),
            by_fold: held.iter().map(|h| h.judged.measures.regret).collect(),
            gap: gap.map(|gap| Gap { mean: gap.mean, interval: gap.interval() }),
        }
    }
}
