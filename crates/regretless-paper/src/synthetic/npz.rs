//! The published data: folders of NumPy archives.

use std::fs::File;
use std::path::{Path, PathBuf};

use regretless_learn::{Content, Part};
use regretless_project::{Array, Limits};
use zip::ZipArchive;

use super::{History, Lp, Size};
use crate::PaperError;

const HINT: &str = "a folder of published data holds problem_N_HARD_SOFT.npz (A, b, C, d, alpha) and seedSSSS.npz (xi_train, \
                    theta_train, xi_valid, theta_valid, xi_test, theta_test)";

/// A folder of published data: problems by size, histories by seed.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    /// The sizes it has problems for.
    pub sizes: Vec<Size>,
    /// The seeds it has data for, ascending.
    pub seeds: Vec<u64>,
    /// Rows to train on.
    pub samples: usize,
    /// Changes with the data.
    pub(super) fingerprint: String,
}

impl Folder {
    /// Looks at what a folder has.
    pub fn open(path: &Path) -> Result<Self, PaperError> {
        let failed = |e: std::io::Error| PaperError::file(path, e.to_string(), HINT);
        let (mut sizes, mut seeds) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(".npz") else { continue };
            if let Some(size) = stem.strip_prefix("problem_") {
                sizes.extend(size.replace('_', ",").parse::<Size>());
            } else if let Some(Ok(seed)) = stem.strip_prefix("seed").map(str::parse::<u64>) {
                // A copy such as seed02006.npz is no seed of its own.
                seeds.extend((stem == format!("seed{seed}")).then_some(seed));
            }
        }
        sizes.sort_by_key(|s| (s.n, s.hard, s.soft));
        seeds.sort_unstable();
        let (Some(_), Some(&first)) = (sizes.first(), seeds.first()) else {
            let lacks = if sizes.is_empty() { "problem_*.npz" } else { "seed*.npz" };
            return Err(PaperError::file(path, format!("the folder has no {lacks}"), HINT));
        };
        let mut folder = Self { path: path.to_owned(), sizes, seeds, samples: 0, fingerprint: String::new() };
        // All of it is read now: a bad file is found before the first training, and results of other data are not taken up.
        let n = folder.sizes[0].n;
        if let Some(other) = folder.sizes.iter().find(|size| size.n != n) {
            let what =
                format!("there are problems of {n} and of {} variables, and one history a seed", other.n);
            return Err(PaperError::file(
                path,
                what,
                "keep the problems of one number of variables in a folder",
            ));
        }
        let mut marks = Content::default();
        for &seed in &folder.seeds {
            let history = folder.history(n, seed)?;
            let samples = history.parts.iter().filter(|part| **part == Part::Train).count();
            if seed == first {
                folder.samples = samples;
            } else if samples != folder.samples {
                let what =
                    format!("{samples} rows to train on, but {} in the first seed's file", folder.samples);
                return Err(PaperError::file(&folder.history_file(seed), what, HINT));
            }
            marks = marks.numbers(&history.features).numbers(&history.targets);
        }
        for &size in &folder.sizes {
            let lp = folder.lp(size)?;
            marks = [lp.hard, lp.at_most, lp.soft, lp.limit, lp.over]
                .iter()
                .fold(marks, |m, part| m.numbers(part));
        }
        folder.fingerprint = marks.hash();
        Ok(folder)
    }

    fn history_file(&self, seed: u64) -> PathBuf {
        self.path.join(format!("seed{seed}.npz"))
    }

    pub(super) fn problem_file(&self, Size { n, hard, soft }: Size) -> PathBuf {
        self.path.join(format!("problem_{n}_{hard}_{soft}.npz"))
    }

    /// The problem of a size.
    pub fn lp(&self, size: Size) -> Result<Lp, PaperError> {
        let Size { n, hard, soft } = size;
        let mut archive = Archive::open(&self.problem_file(size))?;
        let mut lp = Lp {
            size,
            hard: archive.shaped("A", hard, n)?,
            at_most: archive.shaped("b", 1, hard)?,
            soft: Vec::new(),
            limit: Vec::new(),
            over: Vec::new(),
        };
        if soft > 0 {
            lp.soft = archive.shaped("C", soft, n)?;
            lp.limit = archive.shaped("d", 1, soft)?;
            lp.over = archive.shaped("alpha", 1, soft)?;
        }
        Ok(lp)
    }

    /// The data of a seed for problems of n variables.
    pub fn history(&self, n: usize, seed: u64) -> Result<History, PaperError> {
        let path = self.history_file(seed);
        let mut archive = Archive::open(&path)?;
        let mut history = History { features: Vec::new(), targets: Vec::new(), parts: Vec::new() };
        for (part, name) in [(Part::Train, "train"), (Part::Valid, "valid"), (Part::Test, "test")] {
            let (xi, theta) =
                (archive.array(&format!("xi_{name}"))?, archive.array(&format!("theta_{name}"))?);
            if xi.rows != theta.rows || theta.cols != n || xi.cols != 2 * n {
                let what = format!(
                    "xi_{name} is {} × {} and theta_{name} is {} × {}, but the problem has {n} variables",
                    xi.rows, xi.cols, theta.rows, theta.cols
                );
                return Err(PaperError::file(&path, what, HINT));
            }
            history.parts.extend(std::iter::repeat_n(part, xi.rows));
            history.features.extend(xi.values);
            history.targets.extend(theta.values);
        }
        Ok(history)
    }
}

/// A NumPy archive: a ZIP file of NPY arrays.
struct Archive {
    path: PathBuf,
    zip: ZipArchive<File>,
}

impl Archive {
    fn open(path: &Path) -> Result<Self, PaperError> {
        let file = File::open(path).map_err(|e| PaperError::file(path, e.to_string(), HINT))?;
        let zip = ZipArchive::new(file).map_err(|e| PaperError::file(path, e.to_string(), HINT))?;
        Ok(Self { path: path.to_owned(), zip })
    }

    fn array(&mut self, name: &str) -> Result<Array, PaperError> {
        let entry = self
            .zip
            .by_name(&format!("{name}.npy"))
            .map_err(|_| PaperError::file(&self.path, format!("there is no array `{name}`"), HINT))?;
        let length = entry.size();
        let array = Array::from_npy(entry, length, &self.path, &Limits::default())?;
        if let Some(bad) = array.values.iter().find(|v| !v.is_finite()) {
            return Err(PaperError::file(&self.path, format!("`{name}` holds {bad}"), HINT));
        }
        Ok(array)
    }

    fn shaped(&mut self, name: &str, rows: usize, cols: usize) -> Result<Vec<f64>, PaperError> {
        let array = self.array(name)?;
        if (array.rows, array.cols) != (rows, cols) {
            let what = format!("`{name}` is {} × {} instead of {rows} × {cols}", array.rows, array.cols);
            return Err(PaperError::file(&self.path, what, HINT));
        }
        Ok(array.values)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;

    type Arrays<'a> = &'a [(&'a str, usize, usize, f64)];

    /// An archive of arrays that hold one number throughout.
    fn write(path: &Path, arrays: Arrays<'_>) {
        let mut zip = ZipWriter::new(File::create(path).unwrap());
        for &(name, rows, cols, value) in arrays {
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            zip.start_file(format!("{name}.npy"), options).unwrap();
            let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
            let header = format!("{header:<117}\n");
            zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
            zip.write_all(&u16::try_from(header.len()).unwrap().to_le_bytes()).unwrap();
            zip.write_all(header.as_bytes()).unwrap();
            zip.write_all(&value.to_le_bytes().repeat(rows * cols)).unwrap();
        }
        zip.finish().unwrap();
    }

    fn history(path: &Path, test: f64) {
        let arrays = [
            ("xi_train", 5, 4, 1.0),
            ("theta_train", 5, 2, 1.0),
            ("xi_valid", 3, 4, 1.0),
            ("theta_valid", 3, 2, 1.0),
            ("xi_test", 4, 4, 1.0),
            ("theta_test", 4, 2, test),
        ];
        write(path, &arrays);
    }

    #[test]
    fn all_of_a_folder_is_looked_at_when_it_is_opened() {
        let dir = std::env::temp_dir().join(format!("regretless-npz-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        write(&dir.join("problem_2_1_0.npz"), &[("A", 1, 2, 1.0), ("b", 1, 1, 1.0)]);
        history(&dir.join("seed1.npz"), 1.0);
        history(&dir.join("seed2.npz"), 1.0);
        let before = Folder::open(&dir).unwrap();
        assert_eq!((before.samples, &before.seeds[..]), (5, &[1, 2][..]));
        // Other truths to judge by are other data.
        history(&dir.join("seed2.npz"), 2.0);
        assert_ne!(Folder::open(&dir).unwrap().fingerprint, before.fingerprint);
        history(&dir.join("seed2.npz"), f64::NAN);
        let message = Folder::open(&dir).unwrap_err().to_string();
        assert!(message.contains("seed2.npz") && message.contains("`theta_test` holds NaN"), "{message}");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
