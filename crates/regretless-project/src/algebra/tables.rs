//! Files with named keys: a column or more that name the member, and one with the number.

use std::path::Path;

use crate::data::{Allowed, Selection, TableReader, Wanted};
use crate::error::{Place, Result, SpecError, Trouble};
use crate::key::Key;
use crate::resolve::Context;
use crate::selection::no_column;

/// A row of the file.
pub(super) struct Record {
    /// What the key columns hold.
    pub(super) keys: Vec<String>,
    /// The number; `None` if none is read.
    pub(super) value: Option<f64>,
    /// Where the row is.
    pub(super) place: Place,
}

/// Reads the key columns, and one with numbers, of a file that `key` names; at most `limit` rows.
pub(super) fn records(
    ctx: &Context<'_>,
    key: &Key,
    file: &Path,
    keys: &[String],
    value: Option<&str>,
    mut each: impl FnMut(Record) -> Result<()>,
) -> Result<()> {
    let path = ctx.neighbour(file);
    let mut table = TableReader::open(&path, ctx.limits).map_err(|error| match error.problem {
        Trouble::NotFound => ctx
            .fail(&key.key("file"), Trouble::NotFound)
            .hint(format!("looked for {}: names are relative to the problem file", path.display())),
        _ => error,
    })?;
    let column = |name: &str| {
        let header = table.header();
        let mut found = (0..header.len()).filter(|&i| header[i] == name);
        match (found.next(), found.next()) {
            (Some(i), None) => Ok(i),
            (None, _) => Err(no_column(name, header, &table.place(), &format!("`{key}` names it"))),
            _ => Err(SpecError::new(table.place(), Trouble::AmbiguousColumn(crate::error::shorten(name)))),
        }
    };
    let texts = keys.iter().map(|name| column(name)).collect::<Result<Vec<_>>>()?;
    let wanted = |index| Wanted::number(index, Some(Allowed::Finite), false);
    let columns: Vec<Wanted> = value.map(&column).transpose()?.map(wanted).into_iter().collect();
    table.select_checked(Selection {
        columns,
        texts,
        entries: Some(ctx.limits.terms),
        ..Selection::default()
    });
    while let Some(chunk) = table.next()? {
        for row in 0..chunk.rows {
            let place = table.place_of(chunk.lines[row], None);
            let keys = chunk.texts.iter().map(|texts| texts[row].clone()).collect();
            each(Record { keys, value: chunk.values.get(row).copied(), place })?;
        }
    }
    Ok(())
}
