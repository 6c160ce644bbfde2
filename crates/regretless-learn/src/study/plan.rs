//! The trainings that a comparison is made of.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::executor::Executor;
use super::record::{FORMAT, Record, trial};
use crate::content::Content;
use crate::error::LearnError;
use crate::select::choose;
use crate::settings::{Base, MethodName};
use crate::task::Task;
use crate::train::observer::Interrupt;

/// A method with a seed: the unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The method.
    pub method: MethodName,
    /// The seed, which also splits at random where the settings say so.
    pub seed: u64,
}

impl Trial {
    /// The hash of everything that decides what comes of it: problem, data, settings ([`Task::content`]), method, seed, and the
    /// version of this program.
    pub fn hash(&self, content: &str) -> String {
        let version = Content::default().text(env!("CARGO_PKG_VERSION")).spelled(&FORMAT);
        version.text(content).text(&self.method.to_string()).spelled(&self.seed).hash()
    }
}

/// The trials of a comparison: every method with every seed, seed by seed, the constant predictor among them. What cannot be
/// trained is refused before anything is.
pub fn plan(task: &Task, methods: &[MethodName], seeds: &[u64]) -> Result<Vec<Trial>, LearnError> {
    if seeds.is_empty() {
        return Err(LearnError::Settings {
            what: "no seeds to train with".into(),
            hint: "give at least one seed".into(),
        });
    }
    let mut all: Vec<MethodName> = Vec::new();
    let constant = MethodName::from(Base::Constant);
    let added = (!methods.contains(&constant)).then_some(&constant);
    for name in added.into_iter().chain(methods) {
        if !all.contains(name) {
            choose::check(task, *name)?;
            all.push(*name);
        }
    }
    let of = |&seed: &u64| all.iter().map(move |&method| Trial { method, seed });
    Ok(seeds.iter().flat_map(of).collect())
}

/// The task of each seed. What is known of the true problems is shared.
pub fn tasks(task: &Task, trials: &[Trial]) -> Result<BTreeMap<u64, Task>, LearnError> {
    let mut tasks = BTreeMap::new();
    for trial in trials {
        if let Entry::Vacant(place) = tasks.entry(trial.seed) {
            place.insert(task.reseeded(trial.seed)?);
        }
    }
    Ok(tasks)
}

/// Does the trials that are still `wanted` when their turn comes on the [tasks] of their seeds, several at a time, and tells
/// `each` what came of them by their place in the list. Where it returns `false` nothing more is begun. What an interrupt cut
/// short is told to nobody. The numbers do not depend on who does the work.
pub fn run(
    tasks: &BTreeMap<u64, Task>,
    trials: &[Trial],
    executor: &dyn Executor,
    interrupt: &Interrupt,
    wanted: &(dyn Fn(usize) -> bool + Sync),
    each: &(dyn Fn(usize, Result<Record, LearnError>) -> bool + Sync),
) -> Result<(), LearnError> {
    executor.run(trials.len(), &|i| {
        if !wanted(i) {
            return true;
        }
        let Trial { method, seed } = trials[i];
        let Some(task) = tasks.get(&seed).filter(|_| !interrupt.requested()) else { return false };
        let done = trial(task, method, seed, interrupt);
        !interrupt.requested() && each(i, done)
    })
}
