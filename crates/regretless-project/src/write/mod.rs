//! A checked problem written back: a problem file with every setting spelled out, and NPY files for what is large.

mod columns;
mod npy;
mod problem;
mod settings;
mod text;

use std::path::{Path, PathBuf};

use regretless_learn::LearnError;

use self::text::Text;
use crate::Spec;
use crate::error::{Place, Result, SpecError, Trouble};

impl Spec {
    /// Writes the problem with every default spelled out to `dir/file_name`, and vectors and matrices of more than 64
    /// entries to NPY files beside it. Data files are named by absolute paths. Reading the file gives the same problem,
    /// predicted parts and settings; sparse rows are written with their zeros, and predicted ones are refused.
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
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.dir.join(name);
        regretless_learn::write_whole(&path, bytes).map_err(|error| match error {
            LearnError::Io { path, source } => fail(path, Trouble::Unwritable(source)),
            other => fail(path, Trouble::Misfit(other.to_string())),
        })
    }
}

fn fail(path: PathBuf, trouble: Trouble) -> Box<SpecError> {
    SpecError::new(Place::File(path), trouble)
}
