//! The checked problem file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regretless_core::{Placement, Problem};
use regretless_learn::{PredictorSettings, Settings, SurrogateSettings, TrainingSettings};

use crate::algebra::{Expansion, Stated};
use crate::data::{ParameterTable, TableReader, read_text};
use crate::data_settings::{DataFiles, DataSettings};
use crate::error::{Place, Result};
use crate::file::{DataSection, PredictorSection, SurrogateSection, TrainingSection};
use crate::placed::{Placed, Quantities};
use crate::selection::{Kind, Selection};
use crate::{Instances, Limits, mps, resolve};

/// A checked problem file: the problem, what of it is predicted, and the settings.
#[derive(Clone, Debug)]
pub struct Spec {
    pub(crate) file: PathBuf,
    pub(crate) name: Option<String>,
    pub(crate) problem: Problem,
    /// What the objective has beside its terms: nothing but in models of others.
    pub(crate) constant: f64,
    /// What comes from the columns of a table.
    pub(crate) placed: Placed,
    /// The kinds of the hard blocks, in the order of the file.
    pub(crate) hard: Vec<HardKind>,
    pub(crate) data: Option<DataSettings>,
    pub(crate) settings: Settings,
    pub(crate) sections: Sections,
    /// The words of a problem in algebra.
    pub(crate) algebra: Option<Arc<Stated>>,
    pub(crate) limits: Limits,
}

/// The kind of a hard block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HardKind {
    AtMost,
    AtLeast,
    /// `at_least` and `at_most`.
    Range,
    Equals,
}

/// The settings as they are written, and the text they are from: other values pass the same checks.
#[derive(Clone, Debug)]
pub(crate) struct Sections {
    pub(crate) text: Arc<str>,
    pub(crate) surrogate: SurrogateSection,
    pub(crate) data: Option<DataSection>,
    pub(crate) predictor: PredictorSection,
    pub(crate) training: TrainingSection,
}

impl Spec {
    /// Reads and checks a problem file and the files it names, or an MPS, QPS or LP file that states all of a problem.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_within(path, &Limits::default())
    }

    /// [`Spec::read`] with other limits.
    pub fn read_within(path: impl AsRef<Path>, limits: &Limits) -> Result<Self> {
        let path = path.as_ref();
        if mps::is_model(path) {
            return resolve::model(mps::read(path, limits)?, path, limits);
        }
        let text = read_text(path, limits.problem_bytes)?;
        resolve::resolve(text, path, limits)
    }

    /// Checks a problem file's text, or that of an MPS or LP file. `path` tells which, is for messages, and for finding the files
    /// that the text names.
    pub fn parse(text: impl Into<Arc<str>>, path: impl AsRef<Path>, limits: &Limits) -> Result<Self> {
        let (text, path) = (text.into(), path.as_ref());
        if mps::is_model(path) {
            return resolve::model(mps::parse(&text, path, limits)?, path, limits);
        }
        resolve::resolve(text, path, limits)
    }

    /// The problem file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The problem's name, if the file gives one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The problem. Predicted parts hold placeholders: 0, and no bound for predicted bounds.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// What the objective has beside its terms; no decision depends on it.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// Names the columns that are meant, in place of patterns: those of a model, whatever order another table has them in.
    pub(crate) fn name_columns(&mut self, targets: &[String], known: &[String]) {
        let header: Vec<String> = targets.iter().chain(known).cloned().collect();
        let place = Place::File(self.file.clone());
        for part in &mut self.placed.selections {
            if let Ok(chosen) = part.select(&header, &place) {
                let chosen = part.ordered(chosen, &header, &self.problem);
                part.columns = chosen.into_iter().map(|i| header[i].clone()).collect();
            }
        }
    }

    /// What is predicted, in the order of the file; empty if nothing is.
    pub fn predicted(&self) -> Vec<&Selection> {
        self.placed.of_kind(Kind::Predicted)
    }

    /// What is known by row, in the order of the file.
    pub fn known(&self) -> Vec<&Selection> {
        self.placed.of_kind(Kind::Known)
    }

    /// What the problem takes from the columns of a table.
    pub fn placed(&self) -> &Placed {
        &self.placed
    }

    /// Which coefficients the named columns of a table are: quantities and known numbers, each in order.
    pub fn placement(&self, targets: &[String], known: &[String]) -> Result<Placement> {
        let header: Vec<String> = targets.iter().chain(known).cloned().collect();
        let place = Place::File(self.file.clone());
        Ok(self.placed.resolve(&self.problem, &header, &place)?.placement)
    }

    /// What is predicted and known by row, with names: those of the table of history where the file has patterns. `None` where
    /// all of it are whole parameters, or where names cannot be told without a table.
    pub fn quantities(&self) -> Result<Option<Quantities>> {
        if self.placed.is_plain() {
            return Ok(None);
        }
        let named = self.placed.selections.iter().flat_map(|part| &part.columns);
        let header: Vec<String> = if named.clone().any(|name| name.contains(['*', '?'])) {
            let table = self.history().map(|path| TableReader::open(path, &self.limits));
            let Some(Ok(table)) = table else { return Ok(None) };
            table.header().to_vec()
        } else {
            named.cloned().collect::<BTreeSet<_>>().into_iter().collect()
        };
        self.placed.quantities(&self.problem, &header, &Place::File(self.file.clone())).map(Some)
    }

    /// How a predictor is made and trained.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How the problem is softened and smoothed.
    pub fn surrogate(&self) -> &SurrogateSettings {
        &self.settings.surrogate
    }

    /// The predictor to train.
    pub fn predictor(&self) -> &PredictorSettings {
        &self.settings.predictor
    }

    /// How it is trained.
    pub fn training(&self) -> &TrainingSettings {
        &self.settings.training
    }

    /// Where the data are; `None` if the file does not say.
    pub fn data(&self) -> Option<&DataSettings> {
        self.data.as_ref()
    }

    /// What a problem in algebra expands to, with the numbers of the first instance if there is one; `None` for any other.
    pub fn expansion(&self, instances: Option<&Instances>) -> Option<Expansion> {
        let stated = self.algebra.as_ref()?;
        let first = instances.and_then(|instances| Some((instances.get(0).ok()?, instances.first())));
        Some(stated.statement.show(&self.problem, first.as_ref()))
    }

    /// How much of a file is read before it is refused.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reads the predicted and known columns from a table with a header and one row an instance: CSV, plain or gzip, or
    /// Parquet.
    pub fn read_parameters(&self, path: impl AsRef<Path>) -> Result<ParameterTable> {
        ParameterTable::read(path.as_ref(), self, &self.limits)
    }

    /// The table of history that `[data]` names: the one for all parts, or the one to train on.
    pub fn history(&self) -> Option<&Path> {
        match &self.data()?.files {
            DataFiles::One(file) | DataFiles::Parts { train: file, .. } => Some(file.as_path()),
            DataFiles::Memory => None,
        }
    }

    /// [`Spec::read_parameters`] of the first rows of [`Spec::history`], at most `most`; `None` if the file names no table.
    /// Rows that lack a value are left out unless `data.missing` refuses such.
    pub fn read_history(&self, most: usize) -> Result<Option<ParameterTable>> {
        self.history().map(|path| ParameterTable::read_first(path, self, most)).transpose()
    }
}
