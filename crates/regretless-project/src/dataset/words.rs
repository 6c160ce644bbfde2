//! What is odd or wrong in a table, in words.

use regretless_learn::Kind;

use super::DataReader;
use crate::Spec;
use crate::coded::strangers;
use crate::columns::Columns;
use crate::data::{Bad, Levels, MOST_LEVELS, TableReader};
use crate::error::{Result, SpecError, Trouble, shorten};

impl DataReader<'_> {
    /// Columns that are read as text because of a few cells, and kinds of what is no feature, in words.
    pub fn oddities(&self) -> &[String] {
        &self.oddities
    }

    pub(super) fn odd(spec: &Spec, reader: &TableReader<'_>, columns: &Columns) -> Vec<String> {
        let data = spec.data();
        let stated = |name: &String| data.is_some_and(|data| data.states(name));
        let named = columns.features.iter().zip(&columns.feature_names).zip(&columns.kinds);
        let texts = named.filter(|((_, name), kind)| matches!(kind, Kind::Category(_)) && !stated(name));
        let one = |((&index, name), _): ((&usize, &String), &Kind)| {
            let (name, cell) = (shorten(name), reader.odd(index)?);
            Some(format!(
                "`{name}` is taken as text because of {cell}: empty it and its like if the column holds numbers, or say that \
                 it does not with kinds = {{ {name} = \"category\" }}"
            ))
        };
        let header = reader.header();
        let idle = data.iter().flat_map(|data| &data.kinds).filter_map(|(name, _)| {
            let index = header.iter().position(|column| column == name)?;
            let name = shorten(name);
            (!columns.features.contains(&index)).then(|| {
                format!("`data.kinds` says what `{name}` holds, which is no feature: it has no effect")
            })
        });
        texts.filter_map(one).chain(idle).collect()
    }

    /// Levels that the model does not know, in words, a line a column.
    pub fn strangers(&self) -> Vec<String> {
        let categories = self.columns.kinds.iter().zip(&self.columns.feature_names);
        let names = categories.filter(|(kind, _)| matches!(kind, Kind::Category(_))).map(|(_, name)| name);
        strangers(names, self.reader.levels())
    }

    /// What is wrong with a row, in a few words.
    pub(super) fn trouble(&self, bad: &Bad) -> String {
        match bad.column {
            Some(column) => format!("`{}`: {}", shorten(&self.reader.header()[column]), bad.trouble),
            None => bad.trouble.to_string(),
        }
    }

    /// A column that has as many levels as rows tells rows apart and nothing else.
    pub(super) fn refuse_levels(&self) -> Result<()> {
        let Some(full) = self.reader.levels().iter().position(Levels::is_full) else { return Ok(()) };
        let mut categories = self
            .columns
            .kinds
            .iter()
            .zip(&self.columns.feature_names)
            .filter(|(k, _)| matches!(k, Kind::Category(_)));
        let column = categories.nth(full).map(|(_, name)| shorten(name)).unwrap_or_default();
        let trouble = Trouble::TooManyLevels { column: column.clone(), most: MOST_LEVELS };
        Err(SpecError::new(self.file(), trouble).hint(format!(
            "it names rows or holds free text: set data.exclude = [\"{column}\"], or data.key where it is the name of the row"
        )))
    }

    /// Says what a bad cell was wanted for.
    pub(super) fn explain(&self, error: Box<SpecError>) -> Box<SpecError> {
        if self.reader.is_of_forecasts(&error.place) {
            return match error.problem {
                Trouble::Misfit(_) => error,
                _ => error.hint("the column is a forecast, and forecasts are finite numbers"),
            };
        }
        let Some(index) = error.place.column() else { return error };
        let mut placed = self.columns.targets.iter().chain(&self.columns.known);
        if let Some(i) = placed.position(|&t| t == index) {
            return error.hint(self.taken[i].cell_hint());
        }
        if self.columns.baseline.contains(&index) {
            return error
                .hint("`data.baseline` names the column: a decision that was taken, or an empty cell");
        }
        match error.problem {
            Trouble::NotANumber(_) => error.hint(
                "the column is a feature and seemed to hold numbers: say what it holds with data.kinds, as in \
                 kinds = { shop = \"category\" }, or add it to `data.exclude`",
            ),
            Trouble::NotADate(_) => error.hint(
                "the column is a feature and seemed to hold dates, such as 2018-06-01 or 2018-06-01T13:30: say what it \
                 holds with data.kinds, or add it to `data.exclude`",
            ),
            _ => error.hint("the column is a feature, and features are finite numbers"),
        }
    }
}
