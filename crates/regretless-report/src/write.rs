//! Onto the disk: first everything under temporary names, then the renames.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where a report was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The page.
    pub html: PathBuf,
    /// The charts, in the order of the page.
    pub charts: Vec<PathBuf>,
}

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file or folder could not be made, or an old chart not removed.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `create`, `write`, `rename` or `remove`.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Writes these files, by their names relative to `dir`, so that no reader ever sees half of one.
fn all(dir: &Path, files: &[(PathBuf, String)]) -> Result<(), ReportError> {
    let mut pending = Pending(Vec::new());
    for (name, text) in files {
        let path = dir.join(name);
        let folder = path.parent().unwrap_or(dir);
        fs::create_dir_all(folder).map_err(|e| error("create", folder, e))?;
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = folder.join(format!(".{file}.{}.tmp", std::process::id()));
        pending.0.push((temporary.clone(), path));
        let write = || -> std::io::Result<()> {
            let mut file = fs::File::create(&temporary)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|e| error("write", &temporary, e))?;
    }
    for (temporary, path) in &pending.0 {
        fs::rename(temporary, path).map_err(|e| error("rename", path, e))?;
    }
    pending.0.clear();
    Ok(())
}

/// Writes a page and its charts, each given as (name without ending, SVG), into a folder.
pub(crate) fn page(
    dir: &Path,
    name: &str,
    html: String,
    svgs: Vec<(String, String)>,
) -> Result<Paths, ReportError> {
    let mut files: Vec<(PathBuf, String)> =
        svgs.into_iter().map(|(name, svg)| (Path::new("charts").join(format!("{name}.svg")), svg)).collect();
    let charts = files.iter().map(|(name, _)| dir.join(name)).collect();
    files.push((name.into(), html));
    all(dir, &files)?;
    Ok(Paths { html: dir.join(name), charts })
}

/// Removes those of these files that are there.
pub(crate) fn remove(paths: impl Iterator<Item = PathBuf>) -> Result<(), ReportError> {
    for path in paths {
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(error("remove", &path, e)),
            _ => {}
        }
    }
    Ok(())
}

fn error(action: &'static str, path: &Path, source: std::io::Error) -> ReportError {
    ReportError::Io { action, path: path.to_owned(), source }
}

/// Temporary files with the names they are meant for; what is left when it goes is removed.
struct Pending(Vec<(PathBuf, PathBuf)>);

impl Drop for Pending {
    fn drop(&mut self) {
        for (temporary, _) in &self.0 {
            let _ = fs::remove_file(temporary);
        }
    }
}
