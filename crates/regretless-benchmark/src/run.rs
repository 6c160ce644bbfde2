//! Does what is not done yet.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use regretless_core::Batch;
use regretless_learn::{Executor, Interrupt, LearnError, Observer, Settings, Trainer, train, trial};

use crate::BenchmarkError;
use crate::contender::{Fit, How, name_of};
use crate::given;
use crate::plan::{Plan, Trial};
use crate::record::{self, Record, Results};
use crate::saa;
use crate::suite::{Question, Suite};

/// What a run tells while it works; called from several threads.
pub trait Progress: Sync {
    /// The trials ahead, and how many of them were done before.
    fn start(&self, trials: usize, done: usize) {
        let _ = (trials, done);
    }

    /// A trial is over.
    fn done(&self, record: &Record) {
        let _ = record;
    }
}

/// Says nothing.
impl Progress for () {}

/// Does the trials of a plan that have no result yet, and returns the records of the whole plan as far as they are there: an
/// interrupt leaves some out. The numbers do not depend on who does the work.
pub fn run(
    suites: &[Box<dyn Suite>],
    plan: &Plan,
    results: &Results,
    executor: &dyn Executor,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Vec<Record>, BenchmarkError> {
    let mut records: Vec<Option<Record>> =
        plan.trials.iter().map(|t| results.get(&t.hash).cloned()).collect();
    let open: Vec<usize> = (0..records.len()).filter(|&i| records[i].is_none()).collect();
    progress.start(records.len(), records.len() - open.len());
    let found: Mutex<Found> = Mutex::default();
    let trials: Vec<&Trial> = open.iter().map(|&i| &plan.trials[i]).collect();
    run_trials(suites, &trials, results.dir(), executor, interrupt, &|job, done| {
        let written = done.and_then(|record| results.add(&record).map(|()| record));
        let Ok(mut found) = found.lock() else { return false };
        match written {
            Ok(record) => {
                progress.done(&record);
                found.0.push((open[job], record));
                true
            }
            Err(error) => {
                found.1.get_or_insert(error);
                false
            }
        }
    })?;
    let (found, error) = found.into_inner().unwrap_or_default();
    if let Some(error) = error {
        return Err(error);
    }
    for (at, record) in found {
        records[at] = Some(record);
    }
    Ok(records.into_iter().flatten().collect())
}

/// Records by their place in the plan, and the first trouble.
type Found = (Vec<(usize, Record)>, Option<BenchmarkError>);

/// Does trials, several at a time: writes what each row cost into a folder, and tells `each` what came of them by their place in the
/// list. Where it returns `false` nothing more is begun; what an interrupt cut short is told to nobody.
pub fn run_trials(
    suites: &[Box<dyn Suite>],
    trials: &[&Trial],
    dir: &Path,
    executor: &dyn Executor,
    interrupt: &Interrupt,
    each: &(dyn Fn(usize, Result<Record, BenchmarkError>) -> bool + Sync),
) -> Result<(), BenchmarkError> {
    executor.run(trials.len(), &|job| {
        if interrupt.requested() {
            return false;
        }
        match one(suites[trials[job].suite].as_ref(), trials[job], dir, interrupt).transpose() {
            None => false,
            Some(done) => each(job, done),
        }
    })?;
    Ok(())
}

/// A contender in a cell; nothing if it was cut short.
fn one(
    suite: &dyn Suite,
    asked: &Trial,
    dir: &Path,
    interrupt: &Interrupt,
) -> Result<Option<Record>, BenchmarkError> {
    let question = suite.question(&asked.cell)?;
    let started = Instant::now();
    let (regrets, note) = match &asked.contender.how {
        How::Method(fit) => {
            let task = question.task(fit.settings(&question.settings, asked.cell.draw))?;
            let record = trial(&task, name_of(fit.method)?, asked.cell.draw, interrupt)?;
            (record.regrets, Some(record.sentence).filter(|sentence| !sentence.is_empty()))
        }
        How::Own => {
            let Some(task) = &question.own else {
                return Err(BenchmarkError::Settings {
                    what: format!("{} has no settings of its own", asked.cell),
                    hint: "this is a mistake in the program".into(),
                });
            };
            let record = trial(task, name_of(&asked.contender.name)?, asked.cell.draw, interrupt)?;
            (record.regrets, Some(record.sentence).filter(|sentence| !sentence.is_empty()))
        }
        How::ToFit(fit) => {
            let orders = predicted(&question, fit, asked.cell.draw, interrupt)?;
            (outright(&question, &saa::fitted(&question, orders))?, None)
        }
        How::Quantiles(fit) => {
            let orders = quantiles(&question, fit, asked.cell.draw, interrupt)?;
            (outright(&question, &saa::fitted(&question, orders))?, None)
        }
        How::Given(dir) => {
            let read = given::predictions(dir, &asked.cell, &asked.contender.name, &question)?;
            (outright(&question, &read)?, None)
        }
        How::Saa => (outright(&question, &saa::predictions(&question)?)?, None),
    };
    if interrupt.requested() {
        return Ok(None);
    }
    let record = Record {
        cell: asked.cell.clone(),
        contender: asked.contender.name.to_string(),
        values: question.values(&regrets),
        undecided: regrets.iter().filter(|r| !r.is_finite()).count(),
        seconds: started.elapsed().as_secs_f64(),
        note: note.filter(|_| asked.contender.is_auto()),
        hash: asked.hash.clone(),
    };
    record::write_costs(dir, &record, &question, &regrets)?;
    Ok(Some(record))
}

/// The regret of deciding for these predictions, row by row of the test part.
fn outright(question: &Question, predictions: &[f64]) -> Result<Vec<f64>, LearnError> {
    let task = question.task(Settings::default())?;
    let rows = task.test();
    let (truths, known) = (task.targets(rows), task.known(rows));
    let ids: Vec<u64> = rows.iter().map(|&r| r as u64).collect();
    let batch = Batch { predictions, truths: &truths, known: &known, ids: &ids };
    let decisions = task.regret(None)?.evaluate(&batch)?;
    Ok(decisions.iter().map(|d| if d.trouble.is_none() { d.regret } else { f64::NAN }).collect())
}

/// What a method predicts for the rows of the test part.
fn predicted(
    question: &Question,
    fit: &Fit,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Vec<f64>, BenchmarkError> {
    let task = question.task(fit.settings(&question.settings, seed))?;
    let mut quiet = Quiet(interrupt);
    let chosen = train(&mut Trainer::new(&task, None, &mut quiet)?, name_of(fit.method)?, seed)?;
    let rows = task.test();
    Ok(chosen.candidate.fitted.model.predict(&task.features(rows), rows.len()))
}

/// The same with a model of its own for each quantity, which learns to order that one.
fn quantiles(
    question: &Question,
    fit: &Fit,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Vec<f64>, BenchmarkError> {
    let width = question.sides.len();
    let alone = (0..width).map(|k| predicted(&question.alone(k)?, fit, seed, interrupt));
    let alone = alone.collect::<Result<Vec<_>, _>>()?;
    let rows = alone.first().map_or(0, Vec::len);
    Ok((0..rows).flat_map(|row| alone.iter().map(move |orders| orders[row])).collect())
}

struct Quiet<'a>(&'a Interrupt);

impl Observer for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.requested()
    }
}
