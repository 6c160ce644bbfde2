//! One training and what it came to: a line of `results.jsonl`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regretless_learn::{Journal, write_whole};
use serde::{Deserialize, Serialize};

use crate::PaperError;
use crate::application::{Application, Cell};
use crate::profile::Profile;

/// What one training with one seed came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// The method's full id.
    pub method: String,
    /// Sharpness, where the method has one.
    pub k: Option<f64>,
    /// The seed.
    pub seed: u64,
    /// Mean regret on the test part.
    #[serde(with = "regretless_learn::unknown")]
    pub regret: f64,
    /// Mean regret on the validation part: what K is chosen by.
    #[serde(with = "regretless_learn::unknown")]
    pub valid: f64,
    /// Regret over the mean absolute optimal value.
    #[serde(with = "regretless_learn::unknown")]
    pub relative: f64,
    /// Mean squared error of the predictions on the test part.
    #[serde(with = "regretless_learn::unknown")]
    pub mse: f64,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch whose predictor was kept.
    pub kept: usize,
    /// Seconds.
    pub seconds: f64,
    /// Regret by epoch, on the test part where it was followed, otherwise on validation; epoch 0 is the start.
    #[serde(with = "regretless_learn::unknown::many")]
    pub curve: Vec<f64>,
    /// What there is to say, such as what `auto` chose or that training diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

const OTHER_FOLDER: &str = "choose another folder with --out";

/// What tells trainings apart.
pub(crate) type Key = (Cell, String, Option<u64>, u64);

impl Record {
    pub(crate) fn key(&self) -> Key {
        (self.cell.clone(), self.method.clone(), self.k.map(f64::to_bits), self.seed)
    }
}

/// What a folder of results was made with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    application: String,
    profile: Profile,
    settings: BTreeMap<String, String>,
}

impl Origin {
    /// What decides the numbers of an application besides cells, seeds and methods.
    pub fn of(application: &dyn Application) -> Self {
        Self {
            application: application.id().word().to_owned(),
            profile: application.profile(),
            settings: application.settings().into_iter().collect(),
        }
    }

    /// What `wanted` has otherwise, in words.
    pub fn difference(&self, wanted: &Self) -> String {
        if self.application != wanted.application {
            return format!(
                "the results in this folder are of `{}`, not of `{}`",
                self.application, wanted.application
            );
        }
        if self.profile != wanted.profile {
            return format!(
                "the results in this folder are of the {} profile, not of {}",
                self.profile, wanted.profile
            );
        }
        let differs = |(key, value): &(&String, &String)| wanted.settings.get(*key) != Some(*value);
        match self.settings.iter().find(differs) {
            Some((key, _)) if key == "fingerprint" => {
                "the results in this folder were made with other data".into()
            }
            Some((key, there)) => {
                let here = wanted.settings.get(key).map_or("nothing", String::as_str);
                format!(
                    "the results in this folder were made with another `{key}`: “{there}” there, “{here}” here"
                )
            }
            None => "the results in this folder were made with other settings".into(),
        }
    }
}

/// The folder of a study: trainings are written down one by one as they finish, and not done again.
#[derive(Debug)]
pub struct Results {
    journal: Journal,
    known: BTreeMap<Key, Record>,
}

impl Results {
    /// Opens or begins a folder of results. One that was made with other settings is refused.
    pub fn open(dir: &Path, application: &dyn Application) -> Result<Self, PaperError> {
        let origin = Origin::of(application);
        let about = dir.join("study.json");
        let journal = Journal::open(dir, "results.jsonl")?;
        // What was begun and has no result yet may be begun anew.
        let empty = journal.is_empty();
        match fs::read_to_string(&about) {
            Ok(text) if !empty => {
                let found: Option<Origin> = serde_json::from_str(&text).ok();
                let Some(found) = found else {
                    return Err(PaperError::file(
                        &about,
                        "it does not say what the results here are",
                        OTHER_FOLDER,
                    ));
                };
                if found != origin {
                    let what = found.difference(&origin);
                    let hint = format!("go on with what it names, or {OTHER_FOLDER}");
                    return Err(PaperError::file(&about, what, hint));
                }
            }
            Err(_) if !empty => {
                let what = "results without a study.json that says what they are";
                return Err(PaperError::file(journal.path(), what, OTHER_FOLDER));
            }
            _ => {
                let text = serde_json::to_string_pretty(&origin)
                    .map_err(|e| PaperError::file(&about, e.to_string(), OTHER_FOLDER))?;
                write_whole(&about, (text + "\n").as_bytes())?;
            }
        }
        let known = journal.read()?.into_iter().map(|record: Record| (record.key(), record)).collect();
        Ok(Self { journal, known })
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Record> {
        self.known.get(key)
    }

    /// Takes back a folder that was begun for nothing.
    pub fn discard_if_empty(self) {
        if self.journal.is_empty() {
            let path = self.journal.path();
            let _ = fs::remove_file(path);
            let _ = fs::remove_file(path.with_file_name("study.json"));
            // Of a folder with other things in it nothing else is touched.
            let _ = path.parent().map(fs::remove_dir);
        }
    }

    /// Writes a training down.
    pub(crate) fn add(&self, record: &Record) -> Result<(), PaperError> {
        Ok(self.journal.add(record)?)
    }
}
