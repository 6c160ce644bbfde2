//! From columns as written to selections and placed terms.

use super::Context;
use crate::Parameter;
use crate::error::{Result, Trouble, count};
use crate::file::{Factor, Numbers, Selected};
use crate::key::Key;
use crate::placed::{Pick, Placed, PlacedTerm};
use crate::selection::{Kind, Selection};

/// Entries of a part that are columns.
pub(super) struct Wanted {
    pub(super) key: Key,
    /// Row and column of each, within the part; a vector has one column.
    pub(super) places: Vec<(usize, usize)>,
    pub(super) from: Selected,
    /// Rows and columns of a matrix that is columns as a whole.
    pub(super) shape: Option<(usize, usize)>,
    /// True if they are all of the part.
    pub(super) whole: bool,
}

impl Wanted {
    /// A single entry.
    pub(super) fn one(key: Key, place: (usize, usize), from: Selected) -> Self {
        Self { key, places: vec![place], from, shape: None, whole: false }
    }
}

/// Where a part stands among the stacked rows of its kind, and whether it stands there negated.
#[derive(Clone, Copy)]
pub(super) struct Stand {
    pub(super) parameter: Parameter,
    pub(super) first: usize,
    pub(super) sign: f64,
}

impl Stand {
    pub(super) fn at(parameter: Parameter, first: usize) -> Self {
        Self { parameter, first, sign: 1.0 }
    }
}

impl Context<'_> {
    /// Puts the columns of a part where it stands.
    pub(super) fn place(&self, placed: &mut Placed, wanted: Vec<Wanted>, stands: &[Stand]) -> Result<()> {
        for Wanted { key, places, from, shape, whole } in wanted {
            let rows = places.last().map_or(0, |place| place.0 + 1);
            let home = stands.first().filter(|_| whole).map(|stand| {
                let first = stand.first;
                (stand.parameter, first..first + rows)
            });
            let select = |key: String, kind, columns, count, matrix| {
                let home = home.clone();
                Selection { key, kind, columns, count, matrix, home }
            };
            let len = places.len();
            let selection = placed.select(select(key.to_string(), from.kind, from.columns, len, shape));
            let (mut factors, mut by) = (vec![1.0; len], None);
            match from.factor {
                None => {}
                Some(Factor::Fixed(fixed)) => factors = self.spread(&key.key("factor"), fixed, len)?,
                Some(Factor::Known(columns)) => {
                    let single = matches!(&columns[..], [name] if !name.contains(['*', '?']));
                    let count = if single { 1 } else { len };
                    let key = format!("{key}.factor");
                    let own = Selection { home: None, ..select(key, Kind::Known, columns, count, None) };
                    let selection = placed.select(own);
                    by = Some((selection, !single));
                }
            }
            let shifts = from.shift.map(|shift| self.spread(&key.key("shift"), shift, len)).transpose()?;
            for stand in stands {
                for (at, &(row, col)) in places.iter().enumerate() {
                    let (row, sign) = (stand.first + row, stand.sign);
                    let term = PlacedTerm {
                        parameter: stand.parameter,
                        row,
                        col,
                        factor: sign * factors[at],
                        by: by.map(|(selection, each)| Pick { selection, at: if each { at } else { 0 } }),
                        of: Some(Pick { selection, at }),
                    };
                    placed.terms.push(term);
                    if let Some(shift) = shifts.as_ref().map(|shifts| shifts[at]) {
                        placed.terms.push(PlacedTerm { factor: sign * shift, by: None, of: None, ..term });
                    }
                }
            }
        }
        Ok(())
    }

    /// One finite number an entry.
    pub(super) fn spread(&self, key: &Key, written: Numbers, len: usize) -> Result<Vec<f64>> {
        let values = match written {
            Numbers::One(v) => vec![v; len],
            Numbers::List(values) => values,
        };
        if values.len() != len {
            let (expected, found) = (count(len, "number"), count(values.len(), "number"));
            return Err(self.fail(key, Trouble::Shape { expected, found }));
        }
        if let Some(v) = values.iter().find(|v| !v.is_finite()) {
            return Err(self.fail(key, Trouble::NotFinite(*v)));
        }
        Ok(values)
    }
}
