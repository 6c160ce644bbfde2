//! The last candidate: the best of the others together, all with the same weight.
//!
//! The best 2, 3 or 4 join, whichever is cheapest out of fold; none if the best alone is. A fold is decided by as many as the other
//! folds ask for, so that what the combination costs there is honest. Weights that are found out of fold follow noise: those of greedy
//! selection (Caruana, Niculescu-Mizil, Crew and Ksikes 2004), halfway to equal ones, cost more than the best alone on folds that they
//! did not see in four of six searches, equal ones of all four less in four of six.

use std::collections::HashMap;

use regretless_core::{Batch, Decision, Regret};

use super::candidates::Idea;
use super::search::{Held, Search};
use crate::error::LearnError;
use crate::evaluate::judge::{Judgement, judge};
use crate::evaluate::measures::Measures;
use crate::model::Model;
use crate::model::combination::{Averaged, Combination, Partner, mean};
use crate::select::training::card;
use crate::train::epoch::Ended;

/// The best so many candidates may join.
const MEMBERS: usize = 4;

impl Search<'_, '_> {
    /// Adds the combination of the best candidates, judged on all folds, if it is worth a try.
    pub(super) fn combine(&mut self) -> Result<(), LearnError> {
        let Some(averaged) = Averaged::on(self.task()) else { return Ok(()) };
        let members = self.members(averaged);
        if members.len() < 2 || self.trainer.asked() {
            return Ok(());
        }
        let rows = self.folds.iter().map(|fold| fold.held.len()).sum();
        // Decisions of each once more, or for the means of one, two and more predictions.
        let work = members.iter().map(|&idea| self.work.deciding(&self.fold_model(idea, 0), rows)).sum();
        if !self.work.suffices(work, 1.0) {
            self.left_out.push("a combination of the best".into());
            return Ok(());
        }
        self.work.spent += work;
        let mut table = Table::new(self, averaged, &members)?;
        let joined = table.joined(&|_| true)?;
        if joined.len() < 2 {
            return Ok(());
        }
        let held = (0..self.folds.len()).map(|f| {
            let joined = table.joined(&|other| other != f)?;
            let own = table.of_fold(f);
            let decisions = table.decided(&joined)?[own].to_vec();
            let models = joined.iter().map(|&k| (members[k], self.fold_model(members[k], f))).collect();
            let model = self.together(averaged, models);
            let rows = self.folds[f].held.clone();
            let predictions = model.predict(&self.task().features(&rows), rows.len());
            let measures = Measures::of(&decisions, &predictions, &self.task().targets(&rows));
            let judged = Judgement { rows, predictions, decisions, measures };
            let work = work / self.folds.len() as f64;
            Ok(Some(Held {
                model,
                judged,
                ended: Ended::Nothing,
                epochs: 0,
                best: 0,
                rates: Vec::new(),
                seconds: 0.0,
                work,
            }))
        });
        let held = held.collect::<Result<Vec<_>, LearnError>>()?;
        let members: Vec<usize> = joined.iter().map(|&k| members[k]).collect();
        let names: Vec<&str> = members.iter().map(|&idea| self.ideas[idea].name.as_str()).collect();
        let what = match averaged {
            Averaged::Predictions => "predictions",
            Averaged::Decisions => "decisions",
        };
        let name = format!("mean of the {what} of {}", listed(&names));
        self.ideas.push(Idea::together(name, averaged, members));
        self.held.push(held);
        Ok(())
    }

    /// The best candidates that are not relatives. Where predictions are averaged, points only.
    fn members(&self, averaged: Averaged) -> Vec<usize> {
        let folds: Vec<usize> = (0..self.folds.len()).collect();
        let point = |idea: usize| !self.fold_model(idea, 0).has_scenarios();
        let fits = |idea: &usize| self.is_whole(*idea) && (averaged == Averaged::Decisions || point(*idea));
        let mut whole: Vec<usize> = (0..self.ideas.len()).filter(fits).collect();
        whole.sort_by(|&a, &b| self.rank(a, b, &folds));
        let mut members: Vec<usize> = Vec::new();
        for idea in whole {
            let related = |&other: &usize| self.ideas[other].is_related(&self.ideas[idea]);
            if members.len() < MEMBERS && !members.iter().any(related) {
                members.push(idea);
            }
        }
        members
    }

    /// One model of several candidates', that of [`Search::lead`] with the others beside it.
    pub(super) fn together(&self, averaged: Averaged, mut models: Vec<(usize, Model)>) -> Model {
        models.sort_by_key(|(idea, _)| self.leads(*idea));
        let mut models = models.into_iter();
        let Some((_, mut first)) = models.next() else { unreachable!("somebody joins") };
        let partner = |(idea, model): (usize, Model)| {
            let (own, lead) = (&self.ideas[idea], self.lead(idea));
            let kind = (self.task().is_open() && !lead.is_constant()).then_some(lead.form.kind);
            let card = card(self.task(), &own.name, &model, lead.is_constant(), kind);
            Partner { weight: 1.0, card, model }
        };
        let partners: Vec<Partner> = models.map(partner).collect();
        first.combination = (!partners.is_empty()).then_some(Combination { averaged, weight: 1.0, partners });
        first
    }

    pub(super) fn fold_model(&self, idea: usize, f: usize) -> Model {
        let Some(held) = &self.held[idea][f] else { unreachable!("members are judged on all folds") };
        held.model.clone()
    }
}

pub(super) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// What the members said or did on all rows, fold after fold, and what comes of some of them together.
struct Table {
    averaged: Averaged,
    /// The fold of each row.
    folds: Vec<usize>,
    /// Predictions or decisions of each member, row after row.
    each: Vec<Vec<f64>>,
    regret: Regret,
    truths: Vec<f64>,
    known: Vec<f64>,
    ids: Vec<u64>,
    /// Some judged decisions: the optima of their truths are known.
    judged: Vec<Decision>,
    /// Decisions of some together.
    tried: HashMap<Vec<usize>, Vec<Decision>>,
}

impl Table {
    fn new(search: &Search<'_, '_>, averaged: Averaged, members: &[usize]) -> Result<Self, LearnError> {
        let task = search.task();
        let (mut each, mut judged) = (Vec::new(), Vec::new());
        for &idea in members {
            let (mut own, mut decisions) = (Vec::new(), Vec::new());
            for (f, held) in search.held[idea].iter().enumerate() {
                let Some(held) = held else { continue };
                match averaged {
                    Averaged::Predictions => own.extend_from_slice(&held.judged.predictions),
                    // Decisions were let go: they are many.
                    Averaged::Decisions => {
                        let again = judge(task, &held.model, &search.folds[f].held)?;
                        own.extend(again.decisions.iter().flat_map(|decision| {
                            let there = decision.trouble.is_none();
                            decision.x.iter().map(move |x| if there { *x } else { f64::NAN })
                        }));
                    }
                }
                decisions.extend(held.judged.decisions.iter().cloned());
            }
            each.push(own);
            judged = decisions;
        }
        let folds = search.folds.iter().enumerate();
        let folds: Vec<usize> = folds.flat_map(|(f, fold)| fold.held.iter().map(move |_| f)).collect();
        let rows: Vec<usize> = search.folds.iter().flat_map(|fold| fold.held.iter().copied()).collect();
        Ok(Self {
            averaged,
            folds,
            each,
            regret: task.regret(None)?,
            truths: task.targets(&rows),
            known: task.known(&rows),
            // A row may be held out once only.
            ids: rows.iter().map(|&row| row as u64).collect(),
            judged,
            tried: HashMap::new(),
        })
    }

    /// The rows of a fold.
    fn of_fold(&self, f: usize) -> std::ops::Range<usize> {
        let first = self.folds.iter().position(|fold| *fold == f).unwrap_or(0);
        first..first + self.folds.iter().filter(|fold| **fold == f).count()
    }

    /// The best so many that are cheapest together over some folds.
    fn joined(&mut self, used: &dyn Fn(usize) -> bool) -> Result<Vec<usize>, LearnError> {
        let mut best: (Vec<usize>, Option<Measures>) = (Vec::new(), None);
        for count in 1..=self.each.len() {
            let joined: Vec<usize> = (0..count).collect();
            self.decided(&joined)?;
            let own = self.tried[&joined].iter().zip(&self.folds).filter(|(_, f)| used(**f));
            let own: Vec<Decision> = own.map(|(decision, _)| decision.clone()).collect();
            let measures = Measures::of(&own, &[], &[]);
            if best.1.as_ref().is_none_or(|least| measures.rank(least).is_lt()) {
                best = (joined, Some(measures));
            }
        }
        Ok(best.0)
    }

    /// What some decide together.
    fn decided(&mut self, joined: &[usize]) -> Result<&[Decision], LearnError> {
        if !self.tried.contains_key(joined) {
            let weights = vec![1.0 / joined.len() as f64; joined.len()];
            let mean = mean(&weights, joined.iter().map(|&k| self.each[k].as_slice()));
            let (truths, known) = (&self.truths[..], &self.known[..]);
            let mut decisions = match self.averaged {
                Averaged::Decisions => self.regret.judge_beside(&mean, &self.judged, truths, known)?,
                Averaged::Predictions => {
                    let batch = Batch { predictions: &mean, truths, known, ids: &self.ids };
                    self.regret.evaluate(&batch)?
                }
            };
            decisions.iter_mut().for_each(|decision| decision.x = Vec::new());
            self.tried.insert(joined.to_vec(), decisions);
        }
        Ok(&self.tried[joined])
    }
}
