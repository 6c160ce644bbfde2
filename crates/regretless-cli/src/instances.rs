//! The instances a command works on: the rows of a table, or the problem as it stands.

use std::path::Path;

use regretless_core::ProblemError;
use regretless_spec::{ParameterTable, Parameters, Spec};

use crate::error::CliError;
use crate::output::count;

/// The instances of a problem.
pub(crate) struct Instances {
    file: String,
    table: Option<ParameterTable>,
}

impl Instances {
    /// The rows of `table`, or the one instance of a problem that predicts nothing. `option` is the option that names the
    /// table.
    pub(crate) fn new(spec: &Spec, table: Option<&Path>, option: &'static str) -> Result<Self, CliError> {
        let predicts = !spec.predicted().is_empty();
        let file = spec.file().display().to_string();
        match table {
            None if predicts => Err(CliError::needs_parameters(spec, option)),
            None => Ok(Self { file, table: None }),
            Some(_) if !predicts => Err(CliError::NothingPredicted { file, option }),
            Some(path) => {
                let table = spec.read_parameters(path)?;
                Ok(Self { file: path.display().to_string(), table: Some(table) })
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.table.as_ref().map_or(1, ParameterTable::len)
    }

    /// The row of the table that instance `i` is, if there is a table.
    pub(crate) fn row(&self, i: usize) -> Option<usize> {
        self.table.as_ref().map(|_| i)
    }

    /// The parameters of instance `i`.
    pub(crate) fn get(&self, i: usize) -> Result<Parameters, CliError> {
        let Some(table) = &self.table else { return Ok(Parameters::default()) };
        table.row(i).ok_or_else(|| CliError::NoSuchRow {
            row: i,
            file: self.file.clone(),
            rows: count(table.len(), "row"),
        })
    }

    /// What the engine refused in instance `i`.
    pub(crate) fn refused(&self, i: usize, source: ProblemError) -> CliError {
        match &self.table {
            Some(table) => table.error(i, source).into(),
            None => CliError::Problem { file: self.file.clone(), source },
        }
    }
}
