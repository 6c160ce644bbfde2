//! A file that grows by a line of JSON for each thing that is done: a command that was stopped goes on where it was.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::LearnError;

/// The file, open for this process alone.
///
/// ```
/// use regretless_learn::Journal;
/// # let dir = tempfile::tempdir()?;
/// # let dir = dir.path();
/// let journal = Journal::open(dir, "done.jsonl")?;
/// journal.add(&("l2", 0.25))?;
/// let done: Vec<(String, f64)> = journal.read()?;
/// assert_eq!(done, [("l2".to_owned(), 0.25)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens or begins a file in a folder, which is made if it is not there.
    pub fn open(dir: &Path, name: &str) -> Result<Self, LearnError> {
        if dir.exists() && !dir.is_dir() {
            return Err(LearnError::run(dir, "it is a file, not a folder", OTHER_FOLDER));
        }
        fs::create_dir_all(dir).map_err(|e| failed(dir, &e))?;
        let path = dir.join(name);
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(|e| failed(&path, &e))?;
        // A file system without locks does without.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            let hint = "wait for it, or choose another folder";
            return Err(LearnError::run(&path, "another command is writing here", hint));
        }
        Ok(Self { path, file: Mutex::new(file) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether nothing is done yet.
    pub fn is_empty(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|file| file.len() == 0)
    }

    /// What was done before.
    pub fn read<T: DeserializeOwned>(&self) -> Result<Vec<T>, LearnError> {
        let bytes = fs::read(&self.path).map_err(|e| failed(&self.path, &e))?;
        let text = String::from_utf8_lossy(&bytes);
        // A line that a kill cut short is done again.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            fs::write(&self.path, text[..whole].as_bytes()).map_err(|e| failed(&self.path, &e))?;
        }
        let lines = text[..whole].lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let parsed = lines.map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                let what = format!("line {}: {error}", number + 1);
                LearnError::run(&self.path, what, "delete the line, and what it was of is done again")
            })
        });
        parsed.collect()
    }

    /// Writes down what is done: one line, in one go.
    pub fn add<T: Serialize>(&self, done: &T) -> Result<(), LearnError> {
        let hint = "free some space; what is finished is kept";
        let failed = |e: String| LearnError::run(&self.path, e, hint);
        let line = serde_json::to_string(done).map_err(|e| failed(e.to_string()))? + "\n";
        let mut file = self.file.lock().map_err(|e| failed(e.to_string()))?;
        file.write_all(line.as_bytes()).and_then(|()| file.flush()).map_err(|e| failed(e.to_string()))
    }
}

const OTHER_FOLDER: &str = "choose another folder";

fn failed(path: &Path, error: &std::io::Error) -> LearnError {
    LearnError::run(path, error.to_string(), OTHER_FOLDER)
}
