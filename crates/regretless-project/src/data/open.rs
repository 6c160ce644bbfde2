//! Opening files: what is no file, not there or too large is refused before it is read.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use crate::error::{Place, Result, SpecError, Trouble};

/// An open file and its length; pipes have none that is known.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) length: Option<u64>,
}

fn fail(path: &Path, trouble: Trouble) -> Box<SpecError> {
    SpecError::new(Place::File(path.to_owned()), trouble)
}

/// Turns what the system says into what the user can act on.
pub(crate) fn io_error(path: &Path, error: std::io::Error) -> Box<SpecError> {
    match error.kind() {
        ErrorKind::NotFound => fail(path, Trouble::NotFound),
        ErrorKind::IsADirectory => fail(path, Trouble::NotAFile("a folder")),
        // What `inflate::Inflated` says of compressed files; plain ones give none of these.
        ErrorKind::FileTooLarge => fail(path, Trouble::Inflates(error.to_string()))
            .hint("keep only the rows and columns that are needed, or split the file"),
        ErrorKind::UnexpectedEof => fail(path, Trouble::Gzip("it is cut off, or something follows its end")),
        ErrorKind::InvalidData | ErrorKind::InvalidInput => fail(path, Trouble::Gzip("its data are damaged")),
        _ => fail(path, Trouble::Unreadable(error)),
    }
}

/// Opens a regular file or a pipe of at most `limit` bytes.
pub(crate) fn open(path: &Path, limit: u64) -> Result<Opened> {
    // Asked before opening: opening a pipe or a device can block or have effects.
    let meta = std::fs::metadata(path).map_err(|e| io_error(path, e))?;
    let kind = meta.file_type();
    if kind.is_dir() {
        let error = fail(path, Trouble::NotAFile("a folder"));
        let inside = path.join("problem.toml");
        return Err(if inside.is_file() {
            error.hint(format!("did you mean {}?", inside.display()))
        } else {
            error
        });
    }
    if kind.is_file() && meta.len() > limit {
        let error = fail(path, Trouble::TooLarge { found: meta.len(), limit });
        return Err(error.hint("keep only the rows and columns that are needed, or split the file"));
    }
    if !kind.is_file() && !is_pipe(kind) {
        return Err(fail(path, Trouble::NotAFile("a device")));
    }
    let file = File::open(path).map_err(|e| io_error(path, e))?;
    Ok(Opened { file, length: kind.is_file().then_some(meta.len()) })
}

#[cfg(unix)]
fn is_pipe(kind: std::fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_: std::fs::FileType) -> bool {
    false
}

/// Reads a text of at most `limit` bytes.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<Arc<str>> {
    const MOVE: &str = "a problem file is for small numbers of numbers: move large vectors and matrices to an \
                        NPY or CSV file and write { file = \"name.npy\" } in their place";
    let opened = open(path, limit).map_err(|e| match e.problem {
        Trouble::TooLarge { .. } => e.hint(MOVE),
        _ => e,
    })?;
    let mut bytes = Vec::new();
    let mut reader = opened.file.take(limit + 1);
    reader.read_to_end(&mut bytes).map_err(|e| io_error(path, e))?;
    if bytes.len() as u64 > limit {
        return Err(fail(path, Trouble::TooLarge { found: bytes.len() as u64, limit }).hint(MOVE));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(e) => Err(fail(path, Trouble::NotUtf8(e.utf8_error().valid_up_to()))
            .hint("save the file as UTF-8; numbers in NPY files are named with { file = \"name.npy\" }")),
    }
}
