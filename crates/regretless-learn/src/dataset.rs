//! History: features and the parameters that came true.

use std::path::{Path, PathBuf};

use regretless_core::Layout;
use regretless_project::{Columns, DataFiles, DataReader, Part, Spec, Split, Want};

use crate::error::LearnError;
use crate::random::order;
use crate::suspicions;

/// A text that changes with the numbers (FNV-1a over all bits): data are told apart by it.
///
/// ```
/// use regretless_learn::fingerprint;
/// assert_ne!(fingerprint([1.0, 2.0]), fingerprint([2.0, 1.0]));
/// ```
pub fn fingerprint(values: impl IntoIterator<Item = f64>) -> String {
    let step = |hash: u64, value: f64| (hash ^ value.to_bits()).wrapping_mul(0x0100_0000_01B3);
    format!("{:016x}", values.into_iter().fold(0xCBF2_9CE4_8422_2325, step))
}

/// A table of history in memory.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    /// Features, row-major; NaN where a missing cell gets the training mean.
    pub features: Vec<f64>,
    /// True parameters, row-major.
    pub targets: Vec<f64>,
    /// The columns they came from.
    pub columns: Columns,
    /// What a user should know: columns and rows that were left out.
    pub notes: Vec<String>,
    /// Rows that were left out because a value is missing.
    pub dropped: usize,
    /// The line of each row in its file; none for rows that were in memory.
    lines: Vec<u64>,
    /// Which part a row belongs to, where a file or a column says.
    parts: Vec<Option<Part>>,
    /// The files, each with the number of its first row.
    files: Vec<(PathBuf, usize)>,
}

impl Dataset {
    /// Rows that are in memory already, as if they were read from `file`; `columns` names them.
    pub fn in_memory(
        features: Vec<f64>,
        targets: Vec<f64>,
        rows: usize,
        columns: Columns,
        file: &Path,
    ) -> Self {
        Self {
            features,
            targets,
            columns,
            notes: Vec::new(),
            dropped: 0,
            lines: Vec::new(),
            parts: vec![None; rows],
            files: vec![(file.to_owned(), 0)],
        }
    }

    /// Says which part each row belongs to; the problem file's `split` no longer matters.
    ///
    /// # Panics
    /// If there are not as many parts as rows.
    pub fn with_parts(mut self, parts: &[Part]) -> Self {
        assert_eq!(parts.len(), self.rows(), "a part for each row");
        self.parts = parts.iter().copied().map(Some).collect();
        self
    }

    /// Reads the files that a problem file names in its section `[data]`.
    pub fn read(spec: &Spec) -> Result<Self, LearnError> {
        let Some(data) = spec.data() else {
            return Err(LearnError::Data {
                what: format!("{} names no data to learn from", spec.file().display()),
                hint: "add a section\n  [data]\n  file = \"history.csv\"\nwith a table that holds the features and the \
                       true values of what is predicted, or name the table with --data"
                    .into(),
            });
        };
        let mut all = Self::default();
        match &data.files {
            DataFiles::One(file) => all.add(spec, file, None)?,
            DataFiles::Parts { train, valid, test } => {
                all.add(spec, train, Some(Part::Train))?;
                for (file, part) in [(valid, Part::Valid), (test, Part::Test)] {
                    if let Some(file) = file {
                        all.add(spec, file, Some(part))?;
                    }
                }
            }
        }
        Ok(all)
    }

    /// Reads one file as the dataset of an evaluation: all of it is test.
    pub fn read_test(spec: &Spec, file: &Path) -> Result<Self, LearnError> {
        let mut all = Self::default();
        all.add(spec, file, Some(Part::Test))?;
        Ok(all)
    }

    fn add(&mut self, spec: &Spec, file: &Path, part: Option<Part>) -> Result<(), LearnError> {
        let mut reader = DataReader::open(spec, file, Want { features: true, targets: true })?;
        let first = self.rows();
        if first == 0 {
            self.columns = reader.columns().clone();
            if !self.columns.skipped.is_empty() {
                let skipped = self.columns.skipped.join(", ");
                self.notes.push(format!("columns of text are no features: {skipped}"));
            }
        } else if self.columns.feature_names != reader.columns().feature_names {
            return Err(LearnError::Data {
                what: format!(
                    "{} has other feature columns than {}",
                    file.display(),
                    self.files[0].0.display()
                ),
                hint: "name them with `features` in the section [data]".into(),
            });
        }
        self.files.push((file.to_owned(), first));
        let mut dropped = 0;
        while let Some(chunk) = reader.next()? {
            self.features.extend(&chunk.features);
            self.targets.extend(&chunk.targets);
            self.lines.extend(&chunk.lines);
            match chunk.parts {
                Some(parts) if part.is_none() => self.parts.extend(parts.into_iter().map(Some)),
                _ => self.parts.extend(std::iter::repeat_n(part, chunk.rows)),
            }
            dropped += chunk.dropped;
        }
        self.dropped += dropped;
        if dropped > 0 {
            self.notes.push(format!("{}: left out {dropped} rows with a missing value", file.display()));
        }
        Ok(())
    }

    pub(crate) fn fingerprint(&self) -> String {
        fingerprint(self.features.iter().chain(&self.targets).copied())
    }

    /// What in the data makes training look better than it is, or say nothing, by name. `parts` are the rows for training,
    /// validation and test.
    pub fn warnings(&self, layout: &Layout, parts: &[Vec<usize>; 3]) -> Vec<String> {
        suspicions::all(self, layout, parts)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.parts.len()
    }

    /// Number of features.
    pub fn width(&self) -> usize {
        self.columns.feature_names.len()
    }

    /// File and line of a row, or its number where there is no file.
    pub fn place(&self, row: usize) -> String {
        let Some(line) = self.lines.get(row) else { return format!("sample {row}") };
        let file = self.files.iter().rev().find(|(_, first)| *first <= row);
        let name = file.map_or_else(String::new, |(file, _)| format!("{}, ", file.display()));
        format!("{name}line {line}")
    }

    /// Rows of the training, validation and test part, each ascending.
    pub fn split(&self, spec: &Spec, seed: u64) -> Result<[Vec<usize>; 3], LearnError> {
        let mut parts: [Vec<usize>; 3] = Default::default();
        let mut open = Vec::new();
        for (row, part) in self.parts.iter().enumerate() {
            match part {
                Some(part) => parts[*part as usize].push(row),
                None => open.push(row),
            }
        }
        let shares = spec.data().map(|d| d.split.clone());
        // Files of their own for training but not for validation: validation comes out of training.
        if open.is_empty()
            && parts[Part::Valid as usize].is_empty()
            && !matches!(shares, Some(Split::Column(_)))
        {
            open = std::mem::take(&mut parts[Part::Train as usize]);
        }
        let (kind_random, valid, mut test) = match shares {
            Some(Split::Chronological { valid, test }) => (false, valid, test),
            Some(Split::Random { valid, test }) => (true, valid, test),
            Some(Split::Column(_)) | None => (true, 0.2, 0.2),
        };
        if !parts[Part::Test as usize].is_empty() || self.files.len() > 1 {
            test = 0.0;
        }
        let n = open.len();
        let order = if kind_random { order(n, seed, u64::MAX) } else { (0..n).collect() };
        let count = |share: f64| ((share * n as f64).round() as usize).min(n);
        let (valid, test) = (count(valid), count(test));
        let train = n.saturating_sub(valid + test);
        for (i, &at) in order.iter().enumerate() {
            let part = if i < train {
                Part::Train
            } else if i < train + valid {
                Part::Valid
            } else {
                Part::Test
            };
            parts[part as usize].push(open[at]);
        }
        parts.iter_mut().for_each(|p| p.sort_unstable());
        Ok(parts)
    }
}
