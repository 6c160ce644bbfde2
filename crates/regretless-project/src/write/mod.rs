//! A checked problem written back: a problem file with every setting spelled out, and NPY files for what is large.

mod npy;
mod problem;
mod settings;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

use self::text::Text;
use crate::Spec;
use crate::error::{Place, Result, SpecError, Trouble};

impl Spec {
    /// Writes the problem with every default spelled out to `dir/file_name`, and vectors and matrices of more than 64
    /// entries to NPY files beside it. Data files are named by absolute paths. Reading the file gives the same problem,
    /// predicted parts and settings.
    pub fn write(&self, dir: &Path, file_name: &str) -> Result<()> {
        let folder = Folder { dir };
        let mut text = Text::default();
        problem::write(self, &folder, &mut text)?;
        settings::write(self, &mut text)?;
        folder.put(file_name, text.as_bytes())
    }
}

/// The folder that is written to.
struct Folder<'a> {
    dir: &'a Path,
}

impl Folder<'_> {
    /// Writes a file under another name first: it is there whole or not at all.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.dir.join(name);
        let half = self.dir.join(format!(".{name}.part"));
        let done = fs::write(&half, bytes).and_then(|()| fs::rename(&half, &path));
        done.map_err(|error| {
            // It may be there or not; there is nothing more to do about it.
            let _ = fs::remove_file(&half);
            fail(path, Trouble::Unwritable(error))
        })
    }
}

fn fail(path: PathBuf, trouble: Trouble) -> Box<SpecError> {
    SpecError::new(Place::File(path), trouble)
}
