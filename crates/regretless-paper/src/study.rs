//! Runs the trainings of an application: cells × seeds × methods × K.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use regretless_core::{Batch, Regret};
use regretless_learn::{
    Base, Content, Ended, Epoch, Executor, Fit, Interrupt, LearnError, Observer, Recipe, Task, Trainer,
    judge, train,
};

use crate::PaperError;
use crate::application::{Application, Cell, Contender, Predictor};
use crate::record::{Key, Origin, Record, Results};

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

/// A contender with its K, in whatever cell and with whatever seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) contender: Contender,
    pub(crate) k: Option<f64>,
}

/// One training.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The cell.
    pub cell: Cell,
    /// The seed.
    pub seed: u64,
    pub(crate) entry: Entry,
}

impl Trial {
    /// The id of the method or baseline.
    pub fn method(&self) -> String {
        self.entry.contender.id()
    }

    /// Sharpness, where the method has one.
    pub fn k(&self) -> Option<f64> {
        self.entry.k
    }

    /// The hash of everything that decides what comes of it, the version of this program among it.
    pub fn hash(&self, application: &dyn Application) -> String {
        let content = Content::default().text(env!("CARGO_PKG_VERSION")).spelled(&Origin::of(application));
        content.spelled(&self.key()).hash()
    }

    fn key(&self) -> Key {
        (self.cell.clone(), self.method(), self.entry.k.map(f64::to_bits), self.seed)
    }
}

impl Plan {
    /// What is trained in a cell. A network's `l2` is stopped on its decisions anyway.
    pub(crate) fn entries(&self, cell: &Cell) -> Vec<Entry> {
        let says_something = |contender: &&Contender| {
            cell.predictor == Predictor::Linear || !matches!(contender, Contender::Method(m) if m.stopped)
        };
        let of = |&contender: &Contender| -> Vec<Entry> {
            if contender.has_sharpness() {
                return self.grid.iter().map(|&k| Entry { contender, k: Some(k) }).collect();
            }
            vec![Entry { contender, k: None }]
        };
        self.contenders.iter().filter(says_something).flat_map(of).collect()
    }

    /// Every training. Seeds come first, so that early results cover all cells.
    pub fn trials(&self) -> Vec<Trial> {
        let mut all = Vec::new();
        for &seed in &self.seeds {
            for cell in &self.cells {
                let trial = |entry| Trial { cell: cell.clone(), seed, entry };
                all.extend(self.entries(cell).into_iter().map(trial));
            }
        }
        all
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
    let mut open: Vec<Trial> = Vec::new();
    let mut records: BTreeMap<Key, Record> = BTreeMap::new();
    let (mut work, mut done) = (0, 0);
    for trial in plan.trials() {
        let (key, cost) = (trial.key(), cost(application, &trial));
        work += cost;
        match results.get(&key) {
            Some(known) => {
                done += cost;
                records.insert(key, known.clone());
            }
            None => open.push(trial),
        }
    }
    progress.start(work, done);
    let shared: Mutex<(BTreeMap<Key, Record>, Option<PaperError>)> = Mutex::new((records, None));
    run_trials(application, plan, &open, executor, interrupt, &|i, record| {
        let written = record.and_then(|record| results.add(&record).map(|()| record));
        if let Ok(record) = &written {
            progress.done(record, cost(application, &open[i]));
        }
        let Ok(mut shared) = shared.lock() else { return false };
        match written {
            Ok(record) => {
                shared.0.insert(record.key(), record);
                true
            }
            Err(error) => {
                shared.1.get_or_insert(error);
                false
            }
        }
    })?;
    let (records, error) = shared.into_inner().unwrap_or_default();
    match error {
        Some(error) => Err(error),
        None => Ok(records.into_values().collect()),
    }
}

/// Does trials of a plan, several at a time, and tells `each` what came of them by their place in the list. Where it returns
/// `false` nothing more is begun; what an interrupt cut short is told to nobody.
pub fn run_trials(
    application: &dyn Application,
    plan: &Plan,
    trials: &[Trial],
    executor: &dyn Executor,
    interrupt: &Interrupt,
    each: &(dyn Fn(usize, Result<Record, PaperError>) -> bool + Sync),
) -> Result<(), PaperError> {
    // Trainings of one cell and seed share a task.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, trial) in trials.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if (&trials[group[0]].cell, trials[group[0]].seed) == (&trial.cell, trial.seed) => {
                group.push(i);
            }
            _ => groups.push(vec![i]),
        }
    }
    executor.run(groups.len(), &|g| {
        let group = &groups[g];
        if interrupt.requested() {
            return false;
        }
        let task = match ready(application, plan, &trials[group[0]]) {
            Ok(task) => task,
            Err(error) => return each(group[0], Err(error)),
        };
        group.iter().all(|&i| match one_of(application, plan, &trials[i], &task, interrupt) {
            // What an interrupt cut short is no result.
            Ok(None) => false,
            Ok(Some(_)) if interrupt.requested() => false,
            Ok(Some(record)) => each(i, Ok(record)),
            Err(error) => each(i, Err(error)),
        })
    })?;
    Ok(())
}

/// The task of a cell and seed. What does not fit is refused before anything is trained.
fn ready(application: &dyn Application, plan: &Plan, trial: &Trial) -> Result<Task, PaperError> {
    let task = application.task(&trial.cell, &plan.grid, trial.seed)?;
    for contender in &plan.contenders {
        if let Contender::Method(name) = contender {
            task.check(*name)?;
        }
    }
    Ok(task)
}

fn one_of(
    application: &dyn Application,
    plan: &Plan,
    trial: &Trial,
    task: &Task,
    interrupt: &Interrupt,
) -> Result<Option<Record>, PaperError> {
    let Trial { cell, seed, entry } = trial;
    // What `auto` tries is the application's, whatever K the others are trained with: its results have no K to tell
    // them apart by.
    let own = match entry.contender {
        Contender::Method(name) if name.base == Base::Auto && plan.grid != application.grid() => {
            Some(application.task(cell, &application.grid(), *seed)?)
        }
        _ => None,
    };
    one(application, cell, own.as_ref().unwrap_or(task), *entry, *seed, interrupt)
}

fn cost(application: &dyn Application, trial: &Trial) -> u64 {
    let unit = application.work(&trial.cell).max(1);
    match trial.entry.contender {
        Contender::Baseline(_) => 1,
        // Two predictors, and every decision method that fits on top of them.
        Contender::Method(name) if name.base == Base::Auto => 10 * unit,
        Contender::Method(name) if name.base == Base::Constant => 1,
        Contender::Method(_) => unit,
    }
}

fn one(
    application: &dyn Application,
    cell: &Cell,
    task: &Task,
    trial: Entry,
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
        let (truths, known) = (task.targets(rows), task.known(rows));
        let batch = Batch { predictions: &predictions, truths: &truths, known: &known, ids: &ids };
        let decisions = regret.evaluate(&batch)?;
        let regrets: Vec<f64> = decisions.iter().filter(|d| d.trouble.is_none()).map(|d| d.regret).collect();
        self.curve.push(regrets.iter().sum::<f64>() / regrets.len().max(1) as f64);
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.interrupt.requested()
    }
}
