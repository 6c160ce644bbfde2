//! Writing an event file, and going on with one after an interruption.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::EventError;
use super::event::{head, scalar, version};
use super::record::{Record, Records, frame};

/// How the name of an event file begins.
const PREFIX: &str = "events.out.tfevents.";

/// Writes scalars that TensorBoard shows.
///
/// Writes are buffered: what is written shows after [`flush`](Self::flush), and at the latest when the writer
/// is dropped. A TensorBoard that is open while a file is resumed keeps its place in the file; start it again.
#[derive(Debug)]
pub struct EventWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl EventWriter {
    /// Starts a new file `events.out.tfevents.<unix>.<run>.<k>` in `dir`, which is made if need be; `wall_time`
    /// is in seconds since 1970, and k the first number from 0 that is free. Characters of `run` other than
    /// ASCII letters, digits, `-` and `_` become `_`.
    pub fn create(dir: &Path, run: &str, wall_time: f64) -> Result<Self, EventError> {
        fs::create_dir_all(dir).map_err(EventError::at(dir))?;
        let run: String = run
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' })
            .collect();
        let mut suffix = 0_u64;
        loop {
            let path = dir.join(format!("{PREFIX}{:010}.{run}.{suffix}", wall_time as u64));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    let mut writer = Self { path, file: BufWriter::new(file) };
                    writer.put(&version(wall_time))?;
                    // At once, so that the file can be resumed from its first moment.
                    writer.flush()?;
                    return Ok(writer);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => suffix += 1,
                Err(error) => return Err(EventError::at(&path)(error)),
            }
        }
    }

    /// Goes on with the file at `path` after all its events; a last record that was not written to its end is
    /// cut off.
    pub fn append(path: &Path) -> Result<Self, EventError> {
        Self::resume(path, u64::MAX)
    }

    /// Goes on with the file at `path` after step `last_step`: events of later steps are taken out, since they
    /// will be written again, and so is everything from the first record that is cut short or damaged.
    ///
    /// A file that does not begin with the version record is refused and left as it was.
    pub fn resume(path: &Path, last_step: u64) -> Result<Self, EventError> {
        let bytes = fs::read(path).map_err(EventError::at(path))?;
        let last_step = i64::try_from(last_step).unwrap_or(i64::MAX);
        let mut records = Records::of(&bytes).peekable();
        if !records.peek().is_some_and(|first| head(first.payload).is_some_and(|head| head.version)) {
            return Err(EventError::NotEvents { path: path.to_owned() });
        }
        // A whole record that is no event we can read stays: it is not ours to judge.
        let early = |record: &Record| head(record.payload).is_none_or(|head| head.step <= last_step);
        let mut end = 0;
        while let Some(record) = records.next_if(early) {
            end += record.whole.len();
        }
        // Empty if steps only ever grow. With several counters in one file, early events can follow late ones.
        let stragglers: Vec<u8> =
            records.filter(early).flat_map(|record| record.whole.iter().copied()).collect();

        let file = OpenOptions::new().append(true).open(path).map_err(EventError::at(path))?;
        if end < bytes.len() {
            file.set_len(end as u64).map_err(EventError::at(path))?;
        }
        let mut writer = Self { path: path.to_owned(), file: BufWriter::new(file) };
        writer.file.write_all(&stragglers).map_err(EventError::at(path))?;
        writer.flush()?;
        Ok(writer)
    }

    /// Writes one point of the curve `tag`. TensorBoard keeps values in single precision: one beyond its range
    /// becomes infinite; NaN and infinity are written as such, and shown as such.
    pub fn scalar(&mut self, tag: &str, step: u64, value: f64, wall_time: f64) -> Result<(), EventError> {
        self.put(&scalar(tag, step, value as f32, wall_time))
    }

    /// Hands all that was written to the operating system.
    pub fn flush(&mut self) -> Result<(), EventError> {
        self.file.flush().map_err(EventError::at(&self.path))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn put(&mut self, event: &[u8]) -> Result<(), EventError> {
        self.file.write_all(&frame(event)).map_err(EventError::at(&self.path))
    }
}

/// The event files in `dir`, oldest first (by the time in their names).
pub fn event_files(dir: &Path) -> Result<Vec<PathBuf>, EventError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(EventError::at(dir))? {
        let entry = entry.map_err(EventError::at(dir))?;
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}
