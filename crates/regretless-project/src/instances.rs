//! The instances a command works on: the rows of a table, or the problem as it stands.

use std::path::Path;

use regretless_core::{Parameters, ProblemError};
use regretless_learn::count;

use crate::error::ProjectError;
use crate::{Frame, ParameterTable, Spec};

/// Rows of the history that are read where nobody asked for them: it may be long.
const HISTORY: usize = 1000;

/// The instances of a problem.
#[derive(Debug)]
pub struct Instances {
    file: String,
    table: Option<ParameterTable>,
    /// True if nobody named the table but the problem file.
    by_default: bool,
}

impl Instances {
    /// The rows of `table`, or the one instance of a problem that takes nothing from a table.
    pub fn new(spec: &Spec, table: Option<&Path>) -> Result<Self, ProjectError> {
        let takes = !spec.placed().is_empty();
        let file = spec.file().display().to_string();
        match table {
            None if takes => Err(ProjectError::needs_parameters(spec)),
            None => Ok(Self { file, table: None, by_default: false }),
            Some(_) if !takes => Err(ProjectError::NothingPredicted { file }),
            Some(path) => {
                let table = spec.read_parameters(path)?;
                Ok(Self { file: path.display().to_string(), table: Some(table), by_default: false })
            }
        }
    }

    /// The first rows of a table of history in place of that which the problem file names.
    pub fn of_history(spec: &Spec, path: &Path) -> Result<Self, ProjectError> {
        let table = ParameterTable::read_first(path, spec, HISTORY)?;
        Ok(Self { file: path.display().to_string(), table: Some(table), by_default: false })
    }

    /// The rows of a table in memory.
    pub fn of_frame(spec: &Spec, frame: &Frame) -> Result<Self, ProjectError> {
        if spec.placed().is_empty() {
            return Err(ProjectError::NothingPredicted { file: spec.file().display().to_string() });
        }
        let table = Some(ParameterTable::from_frame(frame, spec, spec.data().is_some().then_some(HISTORY))?);
        Ok(Self { file: frame.name().to_owned(), table, by_default: false })
    }

    /// The first rows of the table that the problem file's `[data]` section names; `None` if it names none.
    pub fn history(spec: &Spec) -> Result<Option<Self>, ProjectError> {
        let table = spec.read_history(HISTORY).map_err(|mut error| {
            error.hint.get_or_insert_with(|| "`[data]` of the problem file names this table".to_owned());
            error
        })?;
        let file = spec.history().map(|path| path.display().to_string()).unwrap_or_default();
        Ok(table.map(|table| Self { file, table: Some(table), by_default: true }))
    }

    /// The table in words, if nobody named it but the problem file.
    pub fn default_table(&self) -> Option<String> {
        let rows = match self.len() {
            HISTORY => format!("its first {HISTORY} rows"),
            rows => count(rows, "row"),
        };
        self.by_default.then(|| format!("{}, named by `[data]`: {rows}", self.file))
    }

    /// The first instance in words.
    pub(crate) fn first(&self) -> String {
        match &self.table {
            Some(_) => format!("the first row of {}", self.file),
            None => "all numbers fixed".to_owned(),
        }
    }

    /// How many.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.table.as_ref().map_or(1, ParameterTable::len)
    }

    /// Prices that are negative in the table, and count as 0.
    pub fn cut(&self) -> usize {
        self.table.as_ref().map_or(0, ParameterTable::cut)
    }

    /// The row of the table that instance `i` is, if there is a table.
    pub fn row(&self, i: usize) -> Option<usize> {
        self.table.as_ref().map(|_| i)
    }

    /// The parameters of instance `i`.
    pub fn get(&self, i: usize) -> Result<Parameters, ProjectError> {
        let Some(table) = &self.table else { return Ok(Parameters::default()) };
        table.row(i).ok_or_else(|| ProjectError::NoSuchRow {
            row: i,
            file: self.file.clone(),
            rows: count(table.len(), "row"),
        })
    }

    /// What the engine refused in instance `i`.
    pub fn refused(&self, i: usize, source: ProblemError) -> ProjectError {
        match &self.table {
            Some(table) => table.error(i, source).into(),
            None => ProjectError::Problem { file: self.file.clone(), source },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail loudly")]
mod tests {
    use super::*;

    #[test]
    fn history_is_read_where_nobody_names_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p.toml");
        let text = "[problem]\nvariables = 1\n[objective]\nlinear = { predict = \"a\" }\n";
        std::fs::write(&file, text).unwrap();
        assert!(Instances::history(&Spec::read(&file).unwrap()).unwrap().is_none());
        std::fs::write(&file, format!("{text}[data]\nfile = \"h.csv\"\n")).unwrap();
        let spec = Spec::read(&file).unwrap();
        let ProjectError::Spec(error) = Instances::history(&spec).err().unwrap() else {
            panic!("another error")
        };
        assert!(error.hint.unwrap().contains("names this table"));
        for (rows, said) in [(3, "h.csv, named by `[data]`: 3 rows"), (1500, "`[data]`: its first 1000 rows")]
        {
            std::fs::write(folder.path().join("h.csv"), format!("a\n{}", "1\n".repeat(rows))).unwrap();
            let instances = Instances::history(&spec).unwrap().unwrap();
            assert_eq!(instances.len(), rows.min(1000));
            assert!(instances.default_table().unwrap().ends_with(said));
        }
        let named = Instances::new(&spec, Some(&folder.path().join("h.csv"))).unwrap();
        assert_eq!((named.len(), named.default_table()), (1500, None));
    }
}
