//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::LearnError;

/// Writes a file under a temporary name, flushes it to the disk and renames it: a reader never sees half of it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), LearnError> {
    through(".partial", path, bytes)
}

/// [`write()`] where others may write the same file at the same time, on this machine or another: the last one stays.
pub fn write_apart(path: &Path, bytes: &[u8]) -> Result<(), LearnError> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    through(&format!(".{}-{since}.partial", std::process::id()), path, bytes)
}

fn through(ending: &str, path: &Path, bytes: &[u8]) -> Result<(), LearnError> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(ending);
    let partial = path.with_file_name(name);
    let written = File::create(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_data()
    });
    let renamed = written.and_then(|()| fs::rename(&partial, path));
    renamed.map_err(|source| {
        // A full disk should not keep the half that did fit.
        let _ = fs::remove_file(&partial);
        LearnError::Io { path: path.to_owned(), source }
    })
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, LearnError> {
    fs::read(path).map_err(LearnError::io(path))
}
