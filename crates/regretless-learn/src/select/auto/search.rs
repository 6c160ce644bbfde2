//! Candidates trained and judged fold by fold.

use regretless_core::Decision;

use super::candidates::{Idea, Step};
use super::clock::Clock;
use super::folds::{Fold, folds};
use super::work::Work;
use crate::error::LearnError;
use crate::evaluate::judge::{Judgement, judge};
use crate::evaluate::measures::Measures;
use crate::forecast;
use crate::forecast::errors::Errors;
use crate::model::Model;
use crate::regression;
use crate::select::recipe::Recipe;
use crate::select::trainer::Trainer;
use crate::settings::ScenarioSource;
use crate::task::Task;
use crate::task::other::Form;
use crate::train::epoch::{Ended, Fitted};

/// A candidate without a fold: what it learned from the rest, and what it did on the fold.
pub(super) struct Held {
    pub(super) model: Model,
    pub(super) judged: Judgement,
    pub(super) ended: Ended,
    /// Epochs trained, and the one that was kept.
    pub(super) epochs: usize,
    pub(super) best: usize,
    /// The learning rates of the epochs behind what was kept.
    pub(super) rates: Vec<f64>,
    pub(super) seconds: f64,
    pub(super) work: f64,
}

/// All that was tried so far.
pub(super) struct Search<'t, 'a> {
    pub(super) trainer: &'t mut Trainer<'a>,
    pub(super) folds: Vec<Fold>,
    pub(super) ideas: Vec<Idea>,
    /// By candidate and fold.
    pub(super) held: Vec<Vec<Option<Held>>>,
    pub(super) work: Work,
    /// Candidates that the work did not suffice for.
    pub(super) left_out: Vec<String>,
    /// Candidates that the time did not suffice for.
    pub(super) out_of_time: Vec<String>,
    /// Folds by which candidates were dropped before all folds were done.
    pub(super) looked: usize,
    /// What was being trained when somebody asked for the end.
    pub(super) stopped: Option<(usize, Option<Fitted>)>,
    pub(super) clock: Clock,
}

impl<'t, 'a> Search<'t, 'a> {
    pub(super) fn new(trainer: &'t mut Trainer<'a>, seed: u64) -> Result<Self, LearnError> {
        let task = trainer.task();
        // What prices violations is the same in all folds.
        task.prices()?;
        let (folds, work) = (folds(task, seed)?, Work::of(task));
        let clock = Clock::new(trainer)?;
        Ok(Self {
            trainer,
            folds,
            ideas: Vec::new(),
            held: Vec::new(),
            work,
            left_out: Vec::new(),
            out_of_time: Vec::new(),
            looked: 0,
            stopped: None,
            clock,
        })
    }

    pub(super) fn task(&self) -> &'a Task {
        self.trainer.task()
    }

    /// Adds candidates; their numbers.
    pub(super) fn add(&mut self, ideas: Vec<Idea>) -> Vec<usize> {
        let first = self.ideas.len();
        self.held.extend(ideas.iter().map(|_| self.folds.iter().map(|_| None).collect::<Vec<_>>()));
        self.ideas.extend(ideas);
        (first..self.ideas.len()).collect()
    }

    /// True if the candidate was judged on all folds.
    pub(super) fn is_whole(&self, idea: usize) -> bool {
        self.held[idea].iter().all(Option::is_some)
    }

    /// What the candidate comes to over the folds that are done, by which others are ranked.
    pub(super) fn measures(&self, idea: usize, folds: &[usize]) -> Measures {
        let done = folds.iter().filter_map(|&f| self.held[idea][f].as_ref());
        let decisions: Vec<Decision> = done.flat_map(|held| held.judged.decisions.iter().cloned()).collect();
        Measures::of(&decisions, &[], &[])
    }

    /// Judges a candidate without a fold; false if somebody asked for the end.
    pub(super) fn judge(&mut self, idea: usize, f: usize) -> Result<bool, LearnError> {
        if self.held[idea][f].is_some() {
            return Ok(true);
        }
        // A training looks for itself, and one that is read is no work.
        let looks = self.ideas[idea].recipe().is_none();
        if self.stopped.is_some() || looks && self.trainer.interrupted() {
            self.stopped.get_or_insert((idea, None));
            return Ok(false);
        }
        let task = self.task();
        let Idea { form, from, step, name } = self.ideas[idea].clone();
        let start = match (&step, from) {
            (Step::Fit(recipe), Some(from)) => {
                let Some(start) = self.start(from, f, recipe, &name)? else {
                    self.stopped = Some((idea, None));
                    return Ok(false);
                };
                Some(start)
            }
            _ => from.and_then(|from| self.held[from][f].as_ref()).map(|held| held.model.clone()),
        };
        let fold = &self.folds[f];
        let (model, ended, epochs, best, rates, seconds, work) = match step {
            Step::Fit(recipe) => {
                let number = format!("{name}, fold {}/{}", f + 1, self.folds.len());
                let recipe = Recipe { name: number, ..*recipe };
                // One scale for all of a fold: what stops goes on from what did not need to.
                let own = task.on_scale_of(&fold.rest, form, fold.train.clone(), fold.valid.clone());
                let own = if stops(&own, &recipe) {
                    own
                } else {
                    task.on(form, fold.rest.clone(), fold.valid.clone())
                };
                let fitted = self.trainer.fit(&own, &recipe, start.as_ref())?;
                if fitted.ended == Ended::Interrupted {
                    self.stopped = Some((idea, Some(fitted)));
                    return Ok(false);
                }
                let epochs = fitted.history.last().map_or(0, |e| e.epoch);
                let work = self.work.training(&own, &recipe, epochs);
                let rates = fitted.rates();
                (fitted.model, fitted.ended, epochs, fitted.best, rates, fitted.seconds, work)
            }
            Step::Decide(source) => {
                let Some(mut model) = start else { return Ok(false) };
                let from = from.unwrap_or_default();
                model.source = Some(self.source(&model, form, from, source, Some(f))?);
                (model, Ended::Nothing, 0, 0, Vec::new(), 0.0, 0.0)
            }
            Step::Combine(averaged, members) => {
                let models = members.iter().map(|&one| (one, self.fold_model(one, f))).collect();
                (self.together(averaged, models), Ended::Nothing, 0, 0, Vec::new(), 0.0, 0.0)
            }
        };
        let mut judged = judge(task, &model, &fold.held)?;
        // Decisions are many and not looked at again.
        judged.decisions.iter_mut().for_each(|decision| decision.x = Vec::new());
        let work = work + self.work.deciding(&model, fold.held.len());
        self.work.spent += work;
        self.held[idea][f] = Some(Held { model, judged, ended, epochs, best, rates, seconds, work });
        Ok(true)
    }

    /// What a training goes on from: the candidate without the fold, and, if rows stop the training, without these, too. Who knows them
    /// already is right there, and every step from it looks like a step back. `None` if somebody asked for the end.
    fn start(
        &mut self,
        from: usize,
        f: usize,
        recipe: &Recipe,
        name: &str,
    ) -> Result<Option<Model>, LearnError> {
        let there = self.held[from][f].as_ref().map(|held| held.model.clone());
        let (task, fold) = (self.task(), &self.folds[f]);
        let first = self.root(from);
        let Idea { form, step, .. } = self.ideas[first].clone();
        let own = task.on_scale_of(&fold.rest, form, fold.train.clone(), fold.valid.clone());
        let knows = matches!(&step, Step::Fit(first) if first.method.is_some() && !stops(&own, first));
        let (Step::Fit(first_recipe), true) = (step, knows && stops(&own, recipe)) else { return Ok(there) };
        // What is between is a distribution around it, or nothing.
        let between = (from != first).then(|| self.ideas[from].step.clone());
        if !matches!(between, None | Some(Step::Decide(_))) {
            return Ok(there);
        }
        let number = format!("start of {name}, fold {}/{}", f + 1, self.folds.len());
        let fitted = self.trainer.fit(&own, &Recipe { name: number, ..*first_recipe }, None)?;
        if fitted.ended == Ended::Interrupted {
            return Ok(None);
        }
        let mut model = fitted.model;
        if let Some(Step::Decide(source)) = between {
            model.source = Some(self.source(&model, form, first, source, Some(f))?);
        }
        Ok(Some(model))
    }

    /// Scenarios for a model that learned from all folds but one, or from all.
    pub(super) fn source(
        &self,
        model: &Model,
        form: Form,
        from: usize,
        source: ScenarioSource,
        without: Option<usize>,
    ) -> Result<Box<dyn forecast::Source>, LearnError> {
        let task = self.task();
        let seed = task.settings().training.seed;
        if source.is_of_outcomes() {
            let rest = match without {
                Some(f) => self.folds[f].rest.clone(),
                None => self.all_rows(),
            };
            let own = task.on(form, rest, task.valid().to_vec());
            return forecast::from_outcomes(&own, source, model, seed);
        }
        Ok(forecast::from_errors(task, source, model, &self.errors(from, without), seed))
    }

    /// What a candidate gets wrong, each row of a predictor that did not learn from it.
    fn errors(&self, from: usize, without: Option<usize>) -> Errors {
        let task = self.task();
        let width = task.placement().width();
        let (mut rows, mut folds, mut residuals) = (Vec::new(), Vec::new(), Vec::new());
        let others = self.held[from].iter().enumerate().filter(|(g, _)| Some(*g) != without);
        for (number, held) in others.filter_map(|(_, held)| held.as_ref()).enumerate() {
            let truths = task.targets(&held.judged.rows);
            let pairs = truths.chunks_exact(width).zip(held.judged.predictions.chunks_exact(width));
            for (&row, (truth, predicted)) in held.judged.rows.iter().zip(pairs) {
                if task.data().weights.get(row).is_none_or(|w| *w > 0.0) {
                    rows.push(row);
                    folds.push(number);
                    residuals.extend(truth.iter().zip(predicted).map(|(t, p)| t - p));
                }
            }
        }
        Errors { weights: task.weights(&rows), rows, folds, residuals }
    }

    /// The rows for training and validation, ascending.
    pub(super) fn all_rows(&self) -> Vec<usize> {
        let mut rows = [self.task().train(), self.task().valid()].concat();
        rows.sort_unstable();
        rows
    }

    /// Everything a candidate did out of fold, row by row.
    pub(super) fn out_of_fold(&self, idea: usize) -> Judgement {
        let task = self.task();
        let width = task.placement().width();
        let mut all: Vec<(usize, &[f64], &Decision)> = Vec::new();
        for held in self.held[idea].iter().flatten() {
            let Judgement { rows, predictions, decisions, .. } = &held.judged;
            let each = rows.iter().zip(predictions.chunks_exact(width)).zip(decisions);
            all.extend(each.map(|((row, predicted), decision)| (*row, predicted, decision)));
        }
        all.sort_by_key(|(row, ..)| *row);
        let rows: Vec<usize> = all.iter().map(|(row, ..)| *row).collect();
        let predictions: Vec<f64> =
            all.iter().flat_map(|(_, predicted, _)| predicted.iter().copied()).collect();
        let decisions: Vec<Decision> = all.into_iter().map(|(.., decision)| decision.clone()).collect();
        let measures = Measures::of(&decisions, &predictions, &task.targets(&rows));
        Judgement { rows, predictions, decisions, measures }
    }
}

/// True if rows are needed that a training is stopped by: a regression, a mean and what is given know no epochs.
fn stops(task: &Task, recipe: &Recipe) -> bool {
    let regression = regression::applies(task, recipe) && regression::level(recipe).is_none();
    recipe.method.is_some() && !regression && !task.is_given()
}
