//! Rows that lack something: what becomes of them, and how they are told.

use std::collections::BTreeMap;

use regretless_learn::{count, some_of};

use super::DataReader;
use crate::data::Chunk;
use crate::data_settings::Missing;
use crate::error::{Place, SpecError, Trouble, shorten};

/// Rows without a value that a message names.
const NAMED: usize = 10;

/// What becomes of rows that lack something.
pub(super) struct Lacking {
    pub(super) missing: Missing,
    /// Whether the predictor takes features that are missing.
    pub(super) takes: bool,
    /// Whether a model decides, which has to know what its features look back at.
    pub(super) decides: bool,
    /// Whether no row is left out.
    pub(super) every: bool,
    /// Rows that lack a feature and are used all the same, feature by feature.
    pub(super) gaps: Vec<usize>,
    /// Rows that were left out, by the first column that they lack.
    pub(super) dropped: BTreeMap<usize, usize>,
}

impl DataReader<'_> {
    /// Rows that lack features and were used all the same, in words.
    pub fn gaps(&self) -> Option<String> {
        let named = self.columns.feature_names.iter().zip(&self.lacking.gaps).filter(|(_, gaps)| **gaps > 0);
        let told: Vec<String> = named.map(|(name, gaps)| format!("{} ({gaps})", shorten(name))).collect();
        (!told.is_empty()).then(|| format!("rows without a value, taken as missing: {}", some_of(&told)))
    }

    /// Rows that were left out, by the column that they lack, in words.
    pub fn dropped(&self) -> Option<String> {
        let rows: usize = self.lacking.dropped.values().sum();
        let one = |(&index, rows): (&usize, &usize)| {
            let past = index.checked_sub(self.reader.header().len()).map(|l| self.columns.features.len() + l);
            let name = match past {
                Some(feature) => &self.columns.feature_names[feature],
                None => &self.reader.header()[index],
            };
            format!("{} ({rows})", shorten(name))
        };
        let told: Vec<String> = self.lacking.dropped.iter().map(one).collect();
        (rows > 0).then(|| format!("left out {} without a value in {}", count(rows, "row"), some_of(&told)))
    }

    /// The columns that a row lacks and needs.
    pub(super) fn lacked(&self, row: &[f64]) -> impl Iterator<Item = usize> {
        let from = if self.lacking.takes { self.columns.features.len() } else { 0 };
        self.read().into_iter().zip(row).skip(from).filter(|(_, v)| v.is_nan()).map(|(index, _)| index)
    }

    /// [`Self::lacked`] in words.
    pub(super) fn lacking(&self, row: &[f64]) -> String {
        let names: Vec<String> =
            self.lacked(row).map(|index| shorten(&self.reader.header()[index])).collect();
        let more =
            if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
        format!("missing {}{more}", names[..names.len().min(NAMED)].join(", "))
    }

    /// Names the first rows without a value and counts all of them, to the end of the table.
    pub(super) fn refuse(&mut self, first: Chunk) -> Box<SpecError> {
        let read = self.read();
        let (own, width) = (read.len(), read.len() + self.columns.baseline.len());
        let from = if self.lacking.takes { self.columns.features.len() } else { 0 };
        let (mut rows, mut named) = (0, Vec::new());
        let mut next = Some(first);
        while let Some(chunk) = next {
            for i in 0..chunk.rows {
                let row = &chunk.values[i * width..(i + 1) * width];
                let Some(j) = (from..own).find(|&j| row[j].is_nan()) else { continue };
                rows += 1;
                if rows <= NAMED {
                    let index = read[j];
                    let key = self.columns.key.and_then(|_| chunk.texts.first()).map(|keys| keys[i].as_str());
                    named.push(self.name_row(chunk.lines[i], key, index));
                }
            }
            // What is wrong further down is told when this is mended.
            next = self.reader.next().ok().flatten();
        }
        if rows > NAMED {
            named.push("…".to_owned());
        }
        let hint = match self.lacking.missing {
            Missing::Mean => "a truth cannot be filled in: give the value, or set data.missing = \"drop\"",
            _ => {
                "fill the cells, set data.missing = \"drop\" to leave such rows out, or \"keep\" to take features as \
                 missing"
            }
        };
        SpecError::new(self.file(), Trouble::Missing { rows, first: named }).hint(hint)
    }

    fn name_row(&self, line: u64, key: Option<&str>, index: usize) -> String {
        let unit = if matches!(self.reader.place_of(line, None), Place::Row { .. }) { "row" } else { "line" };
        let key = key.map_or_else(String::new, |key| format!(" ({})", shorten(key)));
        format!("{unit} {line}{key} `{}`", shorten(&self.reader.header()[index]))
    }
}
