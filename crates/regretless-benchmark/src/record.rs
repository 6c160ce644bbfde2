//! What a contender came to in a cell: a line of `results.jsonl`, and a table of what each row cost.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use regretless_learn::{Journal, write_whole};
use serde::{Deserialize, Serialize};

use crate::BenchmarkError;
use crate::suite::{Cell, Question};

/// What a contender came to in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// Who decided.
    pub contender: String,
    /// What it is compared by: one number, or one a block of rows; see [`Question::values`].
    #[serde(with = "regretless_learn::unknown::many")]
    pub values: Vec<f64>,
    /// Rows without a decision, which count as unknown.
    pub undecided: usize,
    /// Seconds.
    pub seconds: f64,
    /// What there is to say, such as what `auto` chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Changes with everything that decides what comes of it.
    pub hash: String,
}

impl Record {
    /// The mean of its values.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }
}

/// The folder of results.
#[derive(Debug)]
pub struct Results {
    dir: PathBuf,
    journal: Journal,
    known: BTreeMap<String, Record>,
}

impl Results {
    /// Opens or begins a folder.
    pub fn open(dir: &Path) -> Result<Self, BenchmarkError> {
        let journal = Journal::open(dir, "results.jsonl")?;
        let known = journal.read()?.into_iter().map(|r: Record| (r.hash.clone(), r)).collect();
        Ok(Self { dir: dir.to_owned(), journal, known })
    }

    /// What is known of a trial.
    pub(crate) fn get(&self, hash: &str) -> Option<&Record> {
        self.known.get(hash)
    }

    /// Where it is.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes down what a contender came to: the line that says it is done.
    pub(crate) fn add(&self, record: &Record) -> Result<(), BenchmarkError> {
        Ok(self.journal.add(record)?)
    }
}

/// Writes what each row cost.
pub(crate) fn write_costs(
    dir: &Path,
    record: &Record,
    question: &Question,
    regrets: &[f64],
) -> Result<(), BenchmarkError> {
    let Cell { suite, setting, draw } = &record.cell;
    let dir = dir.join("costs").join(suite).join(slug(setting)).join(draw.to_string());
    let refused = |e: std::io::Error| BenchmarkError::file(&dir, e.to_string(), "free some space");
    std::fs::create_dir_all(&dir).map_err(refused)?;
    let mut text = String::from("row,block,regret,worth\n");
    for (row, (regret, worth)) in regrets.iter().zip(&question.worth).enumerate() {
        let block = question.blocks.get(row).copied().unwrap_or(0);
        let _ = writeln!(text, "{row},{block},{regret},{worth}");
    }
    write_whole(&dir.join(format!("{}.csv", slug(&record.contender))), text.as_bytes())?;
    Ok(())
}

/// A name as that of a file.
pub(crate) fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "+.".contains(c) { c } else { '-' };
    name.chars().map(plain).collect()
}
