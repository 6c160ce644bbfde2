//! Methods side by side: several seeds each, the same rows for all, paired tests.

use std::collections::BTreeMap;
use std::sync::Mutex;

use regretless_core::Method;

use super::executor::Executor;
use super::plan::{Trial, plan, run, tasks};
use super::record::Record;
use super::table::Comparison;
use crate::error::LearnError;
use crate::select::choose;
use crate::settings::{Base, MethodName, ScenarioSource};
use crate::task::Task;
use crate::train::observer::Interrupt;

/// The methods compared unless the user says which: all that say something about this problem, and that of the settings.
pub fn default_methods(task: &Task) -> Vec<MethodName> {
    let mut names: Vec<MethodName> = vec![Base::Constant.into(), Method::L2.into()];
    // Of forecasts as they are `l1` is the same.
    if !task.is_given() {
        names.insert(1, Method::L1.into());
    }
    if choose::stops_apart(task) {
        names.push(MethodName { stopped: true, ..Method::L2.into() });
    }
    names.extend(choose::decision_methods(task));
    if task.has_scenarios_of(ScenarioSource::Residuals) {
        let through = |source| MethodName { scenarios: true, source, ..Method::L2.into() };
        names.extend([through(None), through(Some(ScenarioSource::Scaled))]);
    }
    // It chooses by the mean.
    if task.settings().training.risk.is_none() {
        names.push(Base::Auto.into());
    }
    let own = task.settings().training.method;
    if !names.contains(&own) {
        names.push(own);
    }
    names
}

/// What a comparison tells while it works; called from several threads.
pub trait Progress: Sync {
    /// Trainings begin: this many.
    fn start(&self, trials: usize) {
        let _ = trials;
    }

    /// A training is over.
    fn done(&self, record: &Record) {
        let _ = record;
    }
}

/// Says nothing.
impl Progress for () {}

/// [Plans](plan) trials, [does](super::run) them and makes the [table](Comparison::of): every method with every seed, judged on the
/// same rows. The first that fails ends it.
pub fn compare(
    task: &Task,
    methods: &[MethodName],
    seeds: &[u64],
    executor: &dyn Executor,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Comparison, LearnError> {
    let trials = plan(task, methods, seeds)?;
    compare_on(&tasks(task, &trials)?, &trials, executor, progress, interrupt)
}

/// Every method on rolling origins: each [split](crate::Dataset::origins) has a seed of its own, from that of its settings on, and
/// what tests pair are the origins.
pub fn compare_origins(
    origins: Vec<Task>,
    methods: &[MethodName],
    executor: &dyn Executor,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Comparison, LearnError> {
    let seeds: Vec<u64> = origins.iter().map(|task| task.settings().training.seed).collect();
    let tasks: BTreeMap<u64, Task> = seeds.iter().copied().zip(origins).collect();
    let Some(first) = tasks.values().next() else { return Ok(Comparison::on(&tasks, &[], Vec::new())) };
    let trials = plan(first, methods, &seeds)?;
    let mut found = compare_on(&tasks, &trials, executor, progress, interrupt)?;
    if found.paired == "seeds" {
        found.paired = "origins";
    }
    Ok(found)
}

/// Does trials on the tasks of their seeds.
fn compare_on(
    tasks: &BTreeMap<u64, Task>,
    trials: &[Trial],
    executor: &dyn Executor,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Comparison, LearnError> {
    progress.start(trials.len());
    let results: Mutex<BTreeMap<usize, Result<Record, LearnError>>> = Mutex::new(BTreeMap::new());
    run(tasks, trials, executor, interrupt, &|_| true, &|i, record| {
        if let Ok(record) = &record {
            progress.done(record);
        }
        let fine = record.is_ok();
        if let Ok(mut results) = results.lock() {
            results.insert(i, record);
        }
        fine
    })?;
    let results = results.into_inner().unwrap_or_default();
    let records = results.into_values().collect::<Result<_, _>>()?;
    Ok(Comparison::on(tasks, trials, records))
}
