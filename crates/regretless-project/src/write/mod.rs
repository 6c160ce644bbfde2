//! A checked problem written back: a problem file with every setting spelled out, and NPY files for what is large.

mod columns;
mod npy;
mod problem;
mod settings;
mod text;

use std::path::{Path, PathBuf};

use regretless_learn::LearnError;

pub(crate) use self::text::{Text, list, number, string};
use crate::Spec;
use crate::error::{Place, Result, SpecError, Trouble};

impl Spec {
    /// Writes the problem with every default spelled out to `dir/file_name`, and vectors and matrices of more than 64
    /// entries to NPY files beside it. Data files are named by absolute paths. Reading the file gives the same problem,
    /// predicted parts and settings. A problem in algebra keeps its words, with its tables written out; elsewhere sparse rows are written with their zeros, and predicted ones are refused.
    pub fn write(&self, dir: &Path, file_name: &str) -> Result<()> {
        let folder = Folder { dir };
        let mut text = Text::default();
        match &self.algebra {
            Some(stated) => crate::algebra::write(&stated.statement, &stated.file, &mut text),
            None => problem::write(self, &folder, &mut text)?,
        }
        settings::write(self, &mut text)?;
        if text.as_bytes().len() as u64 > self.limits.problem_bytes {
            let trouble =
                Trouble::TooLarge { found: text.as_bytes().len() as u64, limit: self.limits.problem_bytes };
            return Err(fail(dir.join(file_name), trouble)
                .hint("tables that a problem in algebra names are written into it"));
        }
        folder.put(file_name, text.as_bytes())
    }

    /// The statement of a problem in algebra by itself, in its own words and with its tables written out, without settings;
    /// `None` for any other problem.
    pub fn statement(&self) -> Option<String> {
        let stated = self.algebra.as_ref()?;
        let mut text = Text::default();
        crate::algebra::write(&stated.statement, &stated.file, &mut text);
        Some(String::from_utf8_lossy(text.as_bytes()).into_owned())
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
