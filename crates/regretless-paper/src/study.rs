//! Runs the trainings of an application: cells × seeds × methods × K.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use regretless_core::Regret;
use regretless_learn::{
    Base, Ended, Epoch, Executor, Fit, Interrupt, LearnError, Observer, Recipe, Task, Trainer, judge, train,
};

use crate::PaperError;
use crate::application::{Application, Cell, Contender, Predictor};
use crate::record::{Key, Record, Results};

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cells.
    pub cells: Vec<Cell>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Methods and baselines.
    pub contenders: Vec<Contender>,
    /// The values of K that methods with a sharpness are trained with.
    pub grid: Vec<f64>,
}

/// What a study tells while it works; called from several threads.
pub trait Progress: Sync {
    /// The work ahead, and how much of it was done before.
    fn start(&self, work: u64, done: u64) {
        let _ = (work, done);
    }

    /// A training is over; it was this much work.
    fn done(&self, record: &Record, work: u64) {
        let _ = (record, work);
    }
}

/// Says nothing.
impl Progress for () {}

/// One training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trial {
    pub(crate) contender: Contender,
    pub(crate) k: Option<f64>,
}

impl Plan {
    /// What is trained in a cell. A network's `l2` is stopped on its decisions anyway.
    pub(crate) fn trials(&self, cell: &Cell) -> Vec<Trial> {
        let says_something = |contender: &&Contender| {
            cell.predictor == Predictor::Linear || !matches!(contender, Contender::Method(m) if m.stopped)
        };
        let of = |&contender: &Contender| -> Vec<Trial> {
            if contender.has_sharpness() {
                return self.grid.iter().map(|&k| Trial { contender, k: Some(k) }).collect();
            }
            vec![Trial { contender, k: None }]
        };
        self.contenders.iter().filter(says_something).flat_map(of).collect()
    }

    fn key(trial: &Trial, cell: &Cell, seed: u64) -> Key {
        (cell.clone(), trial.contender.id(), trial.k.map(f64::to_bits), seed)
    }
}

/// Runs what is not among the results yet, and returns the records of the whole plan, as far as
/// they are there: an interrupt leaves some out. The numbers do not depend on who does the work.
pub fn run(
    application: &dyn Application,
    plan: &Plan,
    results: &Results,
    executor: &dyn Executor,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Vec<Record>, PaperError> {
    // Trainings of one cell and seed share a task. Seeds come first, so that early results cover all cells.
    let mut groups: Vec<(&Cell, u64, Vec<Trial>)> = Vec::new();
    let mut records: BTreeMap<Key, Record> = BTreeMap::new();
    let (mut work, mut done) = (0, 0);
    for &seed in &plan.seeds {
        for cell in &plan.cells {
            let mut open = Vec::new();
            for trial in &plan.trials(cell) {
                let key = Plan::key(trial, cell, seed);
                let cost = cost(application, cell, trial);
                work += cost;
                match results.get(&key) {
                    Some(known) => {
                        done += cost;
                        records.insert(key, known.clone());
                    }
                    None => open.push(*trial),
                }
            }
            if !open.is_empty() {
                groups.push((cell, seed, open));
            }
        }
    }
    progress.start(work, done);
    let shared: Mutex<(BTreeMap<Key, Record>, Option<PaperError>)> = Mutex::new((records, None));
    executor.run(groups.len(), &|i| {
        let (cell, seed, open) = &groups[i];
        let each = |record: Record, trial: &Trial| -> Result<(), PaperError> {
            results.add(&record)?;
            progress.done(&record, cost(application, cell, trial));
            if let Ok(mut shared) = shared.lock() {
                shared.0.insert(record.key(), record);
            }
            Ok(())
        };
        let Err(error) = group(application, plan, cell, *seed, open, interrupt, &each) else { return true };
        if let Ok(mut shared) = shared.lock() {
            shared.1.get_or_insert(error);
        }
        false
    })?;
    let (records, error) = shared.into_inner().unwrap_or_default();
    match error {
        Some(error) => Err(error),
        None => Ok(records.into_values().collect()),
    }
}

fn cost(application: &dyn Application, cell: &Cell, trial: &Trial) -> u64 {
    let unit = application.work(cell).max(1);
    match trial.contender {
        Contender::Baseline(_) => 1,
        // Two predictors, and every decision method that fits on top of them.
        Contender::Method(name) if name.base == Base::Auto => 10 * unit,
        Contender::Method(name) if name.base == Base::Constant => 1,
        Contender::Method(_) => unit,
    }
}

/// The trainings of one cell and seed.
fn group(
    application: &dyn Application,
    plan: &Plan,
    cell: &Cell,
    seed: u64,
    trials: &[Trial],
    interrupt: &Interrupt,
    each: &dyn Fn(Record, &Trial) -> Result<(), PaperError>,
) -> Result<(), PaperError> {
    if interrupt.requested() {
        return Ok(());
    }
    let task = application.task(cell, &plan.grid, seed)?;
    // What does not fit is refused before anything is trained.
    for contender in &plan.contenders {
        if let Contender::Method(name) = contender {
            task.check(*name)?;
        }
    }
    for trial in trials {
        // What `auto` tries is the application's, whatever K the others are trained with: its results have no K to tell
        // them apart by.
        let own = match trial.contender {
            Contender::Method(name) if name.base == Base::Auto && plan.grid != application.grid() => {
                Some(application.task(cell, &application.grid(), seed)?)
            }
            _ => None,
        };
        let record = one(application, cell, own.as_ref().unwrap_or(&task), *trial, seed, interrupt)?;
        // What an interrupt cut short is no result.
        let Some(record) = record.filter(|_| !interrupt.requested()) else { return Ok(()) };
        each(record, trial)?;
    }
    Ok(())
}

fn one(
    application: &dyn Application,
    cell: &Cell,
    task: &Task,
    trial: Trial,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Option<Record>, PaperError> {
    let started = Instant::now();
    let mut follower = Follower {
        regret: if application.follows_test() { Some(task.regret(None)?) } else { None },
        curve: Vec::new(),
        interrupt,
    };
    let (model, valid, fitted, note) = match trial.contender {
        Contender::Baseline(name) => {
            let model = application.baseline(name, cell, task)?;
            let valid = judge(task, &model, task.valid())?.measures.regret;
            (model, valid, None, None)
        }
        Contender::Method(name) => {
            let mut trainer = Trainer::new(task, None, &mut follower)?;
            let (candidate, note) = if name.base == Base::Auto {
                let chosen = train(&mut trainer, name, seed)?;
                (chosen.candidate, Some(chosen.sentence))
            } else {
                let recipes = Recipe::of(task.settings(), name, seed);
                let wanted = recipes.into_iter().find(|r| trial.k.is_none_or(|k| r.k.value() == k));
                let Some(mut recipe) = wanted else {
                    let what = format!("{} with K = {:?} is not among what is tried", name, trial.k);
                    return Err(PaperError::settings(what, "use another --k"));
                };
                application.tune(&mut recipe);
                (trainer.candidate(&recipe, None)?, None)
            };
            let diverged = candidate.fitted.ended == Ended::Diverged;
            let note = note.or_else(|| diverged.then(|| "diverged; the best epoch before is used".into()));
            let valid = candidate.valid.measures.regret;
            (candidate.fitted.model.clone(), valid, Some(candidate.fitted), note)
        }
    };
    if interrupt.requested() {
        return Ok(None);
    }
    let measures = judge(task, &model, task.test())?.measures;
    let history = fitted.as_ref().map(|f| f.history.as_slice()).unwrap_or_default();
    let curve = if follower.curve.is_empty() || trial.contender.id() == "auto" {
        history.iter().map(|e| e.valid.regret).collect()
    } else {
        follower.curve
    };
    Ok(Some(Record {
        cell: cell.clone(),
        method: trial.contender.id(),
        k: trial.k,
        seed,
        regret: measures.regret,
        valid,
        relative: measures.relative,
        mse: measures.mse,
        epochs: history.last().map_or(0, |e| e.epoch),
        kept: fitted.as_ref().map_or(0, |f| f.best),
        seconds: started.elapsed().as_secs_f64(),
        curve,
        note,
    }))
}

/// Follows the test regret epoch by epoch; nothing is chosen by it.
struct Follower<'a> {
    regret: Option<Regret>,
    curve: Vec<f64>,
    interrupt: &'a Interrupt,
}

impl Observer for Follower<'_> {
    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        // A new stage of `auto` or of scenarios: its curve is its own.
        if epoch.epoch == 0 {
            self.curve.clear();
        }
        Ok(())
    }

    fn checkpoint(&mut self, fit: &mut Fit<'_>) -> Result<(), LearnError> {
        let Some(regret) = &mut self.regret else { return Ok(()) };
        let (task, model) = (fit.task(), fit.model());
        let rows = task.test();
        let predictions = model.predict(&task.features(rows), rows.len());
        let ids: Vec<u64> = rows.iter().map(|&r| r as u64).collect();
        let decisions = regret.evaluate(&predictions, &task.targets(rows), &ids)?;
        let regrets: Vec<f64> = decisions.iter().filter(|d| d.trouble.is_none()).map(|d| d.regret).collect();
        self.curve.push(regrets.iter().sum::<f64>() / regrets.len().max(1) as f64);
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.interrupt.requested()
    }
}
