//! A comparison as a folder that many processes work on, on one machine or on many.
//!
//! ```text
//! problem.toml       the problem with every setting spelled out; large parts lie beside it
//! plan.jsonl         the trials, one a line, each with its hash
//! results/HASH.json  what came of a trial
//! rows.safetensors   the data, if they were in memory
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use regretless_learn::{
    Comparison, Dataset, Executor, Interrupt, LearnError, MethodName, Record, StudyFolder, Task, Trial,
    default_methods, plan, run, tasks,
};
use serde::{Deserialize, Serialize};

use crate::Spec;
use crate::error::ProjectError;

const PROBLEM: &str = "problem.toml";
const ROWS: &str = "rows.safetensors";

/// A comparison that was planned.
#[derive(Debug)]
pub struct Study {
    folder: StudyFolder,
    about: About,
    spec: Spec,
    task: Task,
    trials: Vec<Trial>,
}

/// What the study is of.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    /// The problem file it was planned from.
    file: PathBuf,
    /// Hashes of problem and settings, and of the data.
    problem: String,
    data: String,
    /// Whether the data are in the folder.
    rows: bool,
}

#[derive(Serialize, Deserialize)]
struct Work {
    method: String,
    seed: u64,
}

/// The methods that names stand for; without any, those that say something about the problem, and its own.
pub fn methods_of(task: &Task, names: &[String]) -> Result<Vec<MethodName>, regretless_learn::MethodError> {
    if !names.is_empty() {
        return names.iter().map(|name| name.trim().parse()).collect();
    }
    Ok(default_methods(task))
}

impl Study {
    /// The kind of a study's folder that is a comparison.
    pub const KIND: &str = "compare";

    /// Writes down the trials of a comparison; results that are there and still hold are kept. Data that no file of the problem
    /// names are `in_memory`, and go into the folder.
    pub fn plan(
        dir: &Path,
        spec: &Spec,
        task: &Task,
        in_memory: bool,
        methods: &[MethodName],
        seeds: &[u64],
    ) -> Result<Self, ProjectError> {
        let trials = plan(task, methods, seeds)?;
        StudyFolder::may_plan(dir)?;
        if !dir.exists() {
            fs::create_dir_all(dir).map_err(ProjectError::io(dir))?;
        }
        // The plan comes last: a folder that has one is a study.
        spec.write(dir, PROBLEM)?;
        if in_memory {
            task.data().write(&dir.join(ROWS))?;
        }
        let [problem, data] = task.content();
        let about = About { file: spec.file().to_owned(), problem, data, rows: in_memory };
        let content = about.content();
        let work = |trial: &Trial| {
            (trial.hash(&content), Work { method: trial.method.to_string(), seed: trial.seed })
        };
        StudyFolder::plan(dir, Self::KIND, &about, &trials.iter().map(work).collect::<Vec<_>>())?;
        Self::open(dir)
    }

    /// Opens a comparison that was planned. What changed since is refused.
    pub fn open(dir: &Path) -> Result<Self, ProjectError> {
        let folder = StudyFolder::open(dir)?;
        if folder.kind() != Self::KIND {
            let what = format!("this is a study of another kind: {}", folder.kind());
            return Err(refused(dir, what, "choose another folder"));
        }
        let about: About = folder.about()?;
        let spec = Spec::read(dir.join(PROBLEM))?;
        let rows = dir.join(ROWS);
        let data = if about.rows { Dataset::read(&rows)? } else { spec.read_data()? };
        let task = spec.task_of(data)?;
        let [problem, data] = task.content();
        for (there, here, what) in [(&about.problem, problem, "the problem"), (&about.data, data, "the data")]
        {
            if *there != here {
                let table = if about.rows { Some(rows.as_path()) } else { spec.history() };
                let table = table.filter(|_| what == "the data");
                let path = table.map_or_else(|| dir.join(PROBLEM), Path::to_owned);
                let hint = "bring back what was there, or plan the study again; what is done and still holds is kept";
                return Err(refused(&path, format!("{what} changed since the study was planned"), hint));
            }
        }
        let trial = |i: usize| -> Result<Trial, ProjectError> {
            let Work { method, seed } = folder.work(i)?;
            let bad = |e: regretless_learn::MethodError| refused(dir, e.to_string(), "plan the study again");
            Ok(Trial { method: method.parse().map_err(bad)?, seed })
        };
        let trials = (0..folder.len()).map(trial).collect::<Result<_, _>>()?;
        Ok(Self { folder, about, spec, task, trials })
    }

    /// The folder with its trials and results.
    pub fn folder(&self) -> &StudyFolder {
        &self.folder
    }

    /// The problem file it was planned from.
    pub fn file(&self) -> &Path {
        &self.about.file
    }

    /// The problem as it was planned.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// What is learned from.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// A trial.
    pub fn trial(&self, i: usize) -> Trial {
        self.trials[i]
    }

    /// Does those of the trials that are not done, and writes each result down as it comes; `each` is told what came of them.
    /// A trial that fails does not keep the others from being done.
    pub fn run(
        &self,
        trials: &[usize],
        executor: &dyn Executor,
        interrupt: &Interrupt,
        each: &(dyn Fn(usize, Result<&Record, LearnError>) + Sync),
    ) -> Result<(), ProjectError> {
        let mut open: Vec<usize> = trials.iter().copied().filter(|&i| !self.folder.is_done(i)).collect();
        open.sort_unstable();
        open.dedup();
        // Others may be at it too: each begins elsewhere, and what is done meanwhile is not done again.
        let elsewhere = std::process::id() as usize % open.len().max(1);
        open.rotate_left(elsewhere);
        let work: Vec<Trial> = open.iter().map(|&i| self.trials[i]).collect();
        let wanted = |at: usize| !self.folder.is_done(open[at]);
        run(&tasks(&self.task, &work)?, &work, executor, interrupt, &wanted, &|at, done| {
            let i = open[at];
            let written = done.and_then(|record| self.folder.write(i, &record).map(|()| record));
            // Where one cannot be written down, the next cannot either.
            let lost = matches!(&written, Err(LearnError::Io { .. }));
            match written {
                Ok(record) => each(i, Ok(&record)),
                Err(error) => each(i, Err(error)),
            }
            !lost
        })?;
        Ok(())
    }

    /// The table of what is done.
    pub fn table(&self) -> Result<Comparison, ProjectError> {
        let mut records: Vec<Record> = Vec::new();
        for i in 0..self.folder.len() {
            records.extend(self.folder.result(i)?);
        }
        Ok(Comparison::of(&self.task, &self.trials, records)?)
    }
}

impl About {
    fn content(&self) -> String {
        format!("{}{}", self.problem, self.data)
    }
}

fn refused(path: &Path, what: impl Into<String>, hint: impl Into<String>) -> ProjectError {
    LearnError::Run { path: path.to_owned(), what: what.into(), hint: hint.into() }.into()
}
