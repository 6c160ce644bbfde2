//! The published data: folders of NumPy archives.

use std::fs::File;
use std::path::{Path, PathBuf};

use regretless_learn::fingerprint;
use regretless_spec::{Array, Limits, Part};
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
        let mut archive = Archive::open(&folder.history_file(first))?;
        folder.samples = archive.array("theta_train")?.rows;
        let mut all = Vec::new();
        for &seed in &folder.seeds {
            let mut archive = Archive::open(&folder.history_file(seed))?;
            let (theta, xi) = (archive.array("theta_train")?, archive.array("xi_train")?);
            if theta.rows != folder.samples {
                let what = format!(
                    "{} rows to train on, but {} in the first seed's file",
                    theta.rows, folder.samples
                );
                return Err(PaperError::file(&folder.history_file(seed), what, HINT));
            }
            all.extend(theta.values);
            all.extend(xi.values);
        }
        for &size in &folder.sizes {
            let lp = folder.lp(size)?;
            all.extend([lp.hard, lp.at_most, lp.soft, lp.limit, lp.over].concat());
        }
        folder.fingerprint = fingerprint(all);
        Ok(folder)
    }

    fn history_file(&self, seed: u64) -> PathBuf {
        self.path.join(format!("seed{seed}.npz"))
    }

    /// The problem of a size.
    pub fn lp(&self, size: Size) -> Result<Lp, PaperError> {
        let Size { n, hard, soft } = size;
        let mut archive = Archive::open(&self.path.join(format!("problem_{n}_{hard}_{soft}.npz")))?;
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
