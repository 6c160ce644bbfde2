//! The folder of a study: its trials, and the result of each that is done as a file of its own. Whoever sees the folder can do
//! trials: nothing is locked, and a trial that is done twice gives the same result twice.
//!
//! ```text
//! plan.jsonl         what it is a study of, then one trial a line, each with its hash
//! results/HASH.json  what came of a trial
//! ```

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::FORMAT;
use crate::error::LearnError;
use crate::files;
use crate::settings::visible;

const PLAN: &str = "plan.jsonl";
const RESULTS: &str = "results";

/// A folder with a plan and results.
///
/// ```
/// use regretless_learn::StudyFolder;
/// # let dir = tempfile::tempdir()?;
/// # let dir = dir.path();
/// let trials = [("aa01".to_owned(), ("l2", 0)), ("ab02".to_owned(), ("l2", 1))];
/// let study = StudyFolder::plan(dir, "compare", &"about it", &trials)?;
/// let second = study.find("ab")?;
/// study.write(second, &0.25)?;
/// assert_eq!((study.missing(), study.result(second)?), (vec![0], Some(0.25)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StudyFolder {
    dir: PathBuf,
    kind: String,
    about: Value,
    trials: Vec<Planned<Value>>,
}

/// The first line of a plan.
#[derive(Serialize, Deserialize)]
struct Head<T> {
    format: u32,
    version: String,
    kind: String,
    about: T,
}

/// A line of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Planned<T> {
    trial: String,
    #[serde(rename = "do")]
    work: T,
}

/// A file of results.
#[derive(Serialize, Deserialize)]
struct Done<T> {
    format: u32,
    trial: String,
    result: T,
}

const AGAIN: &str = "plan the study again; what is done and still holds is kept";

impl StudyFolder {
    /// Refuses a folder that holds something else than a study: a plan would write over it.
    pub fn may_plan(dir: &Path) -> Result<(), LearnError> {
        let holds = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
        if holds && !dir.join(PLAN).is_file() {
            let what = "the folder is not empty, and no study is in it";
            return Err(LearnError::run(dir, what, "choose a new folder"));
        }
        Ok(())
    }

    /// Writes a plan: what it is about, and trials with their hashes. Results that are there stay.
    pub fn plan<A: Serialize, T: Serialize>(
        dir: &Path,
        kind: &str,
        about: &A,
        trials: &[(String, T)],
    ) -> Result<Self, LearnError> {
        if dir.exists() && !dir.is_dir() {
            return Err(LearnError::run(dir, "it is a file, not a folder", "choose another folder"));
        }
        let results = dir.join(RESULTS);
        fs::create_dir_all(&results).map_err(LearnError::io(&results))?;
        let path = dir.join(PLAN);
        let text = || -> serde_json::Result<String> {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let head = Head { format: FORMAT, version, kind: kind.to_owned(), about };
            let mut text = serde_json::to_string(&head)? + "\n";
            for (trial, work) in trials {
                text += &serde_json::to_string(&Planned { trial: trial.clone(), work })?;
                text.push('\n');
            }
            Ok(text)
        };
        let text = text().map_err(|e| LearnError::run(&path, e.to_string(), ""))?;
        files::write_apart(&path, text.as_bytes())?;
        Self::open(dir)
    }

    /// Opens a study that was planned.
    pub fn open(dir: &Path) -> Result<Self, LearnError> {
        let path = dir.join(PLAN);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                let what = if dir.is_dir() {
                    "this is not the folder of a study"
                } else {
                    "there is no such folder"
                };
                return Err(LearnError::run(dir, what, "plan a study first"));
            }
            Err(source) => return Err(LearnError::Io { path, source }),
        };
        let mut lines = text.lines();
        let bad = |what: String| LearnError::run(&path, what, AGAIN);
        let head: Value = serde_json::from_str(lines.next().unwrap_or_default())
            .map_err(|_| bad("this is not the plan of a study".into()))?;
        let version = head["version"].as_str().unwrap_or("an unknown version");
        if head["format"] != FORMAT || version != env!("CARGO_PKG_VERSION") {
            let here = env!("CARGO_PKG_VERSION");
            return Err(LearnError::run(
                &path,
                format!(
                    "the study was planned by version {}, this is {here}: their numbers are not mixed",
                    visible(version)
                ),
                "use that version for all of it, or plan the study again with this one",
            ));
        }
        let head: Head<Value> = serde_json::from_value(head).map_err(|e| bad(e.to_string()))?;
        let trial = |(i, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|e| bad(format!("line {}: {e}", i + 2)))
        };
        let trials: Vec<Planned<Value>> = lines.enumerate().map(trial).collect::<Result<_, _>>()?;
        // A hash becomes the name of a file.
        if let Some(odd) = trials.iter().find(|t| !t.trial.bytes().all(|b| b.is_ascii_hexdigit())) {
            return Err(bad(format!("`{}` is no hash", visible(&odd.trial))));
        }
        Ok(Self { dir: dir.to_owned(), kind: head.kind, about: head.about, trials })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The kind of study.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// What it is a study of.
    pub fn about<T: DeserializeOwned>(&self) -> Result<T, LearnError> {
        self.parse(&self.about)
    }

    /// What a trial is.
    pub fn work<T: DeserializeOwned>(&self, trial: usize) -> Result<T, LearnError> {
        self.parse(&self.trials[trial].work)
    }

    fn parse<T: DeserializeOwned>(&self, value: &Value) -> Result<T, LearnError> {
        T::deserialize(value).map_err(|e| LearnError::run(&self.dir.join(PLAN), e.to_string(), AGAIN))
    }

    /// Number of trials.
    pub fn len(&self) -> usize {
        self.trials.len()
    }

    /// True of a plan without trials.
    pub fn is_empty(&self) -> bool {
        self.trials.is_empty()
    }

    /// The hash of a trial.
    pub fn hash(&self, trial: usize) -> &str {
        &self.trials[trial].trial
    }

    /// A trial by its number, counted from 1, or by the beginning of its hash. Up to seven digits are a number.
    pub fn find(&self, text: &str) -> Result<usize, LearnError> {
        let unknown = |what: String| LearnError::Settings {
            what,
            hint: format!(
                "trials are numbers from 1 to {}, or beginnings of the hashes in {}",
                self.len(),
                self.dir.join(PLAN).display()
            )
            .into(),
        };
        let shown = visible(text);
        if text.len() < 8 && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            let number = text.parse::<usize>().unwrap_or(0);
            return match number.checked_sub(1).filter(|&i| i < self.len()) {
                Some(trial) => Ok(trial),
                None => Err(unknown(format!("there is no trial {shown}"))),
            };
        }
        let wanted = text.to_ascii_lowercase();
        let fits = |&i: &usize| !wanted.is_empty() && self.hash(i).starts_with(&wanted);
        let mut found = (0..self.len()).filter(fits);
        match (found.next(), found.count()) {
            (None, _) => Err(unknown(format!("there is no trial `{shown}`"))),
            (Some(trial), 0) => Ok(trial),
            (Some(_), more) => Err(unknown(format!("`{shown}` is the beginning of {} trials", more + 1))),
        }
    }

    fn path(&self, trial: usize) -> PathBuf {
        self.dir.join(RESULTS).join(format!("{}.json", self.hash(trial)))
    }

    /// True if a trial has a result.
    pub fn is_done(&self, trial: usize) -> bool {
        self.path(trial).is_file()
    }

    /// The trials without a result.
    pub fn missing(&self) -> Vec<usize> {
        (0..self.len()).filter(|&i| !self.is_done(i)).collect()
    }

    /// What came of a trial; `None` if it is not done.
    pub fn result<T: DeserializeOwned>(&self, trial: usize) -> Result<Option<T>, LearnError> {
        let path = self.path(trial);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(LearnError::Io { path, source }),
        };
        let damaged =
            |what: String| LearnError::run(&path, what, "delete the file, and the trial is done again");
        let done: Done<T> = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
        if done.format != FORMAT || done.trial != self.hash(trial) {
            return Err(damaged("it is of another trial".into()));
        }
        Ok(Some(done.result))
    }

    /// Writes down what came of a trial: the file is whole or not there.
    pub fn write<T: Serialize>(&self, trial: usize, result: &T) -> Result<(), LearnError> {
        let path = self.path(trial);
        let done = Done { format: FORMAT, trial: self.hash(trial).to_owned(), result };
        let text = serde_json::to_string(&done).map_err(|e| LearnError::run(&path, e.to_string(), ""))?;
        files::write_apart(&path, (text + "\n").as_bytes())
    }
}
