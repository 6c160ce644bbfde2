//! The levels of a column: its texts, numbered as they come.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use regretless_learn::NEW;

use super::cell::is_missing;

/// Different texts of a column, at most: what has more names its rows.
pub(crate) const MOST: usize = 10_000;

/// New texts that are remembered by name.
const NAMED: usize = 10;

/// The levels that are known so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    places: HashMap<String, u32>,
    names: Vec<String>,
    /// Whether there will be no more: a model knows what it knows.
    fixed: bool,
    /// Texts that are new where there will be no more, and how often: the first ones by name.
    new: BTreeMap<String, usize>,
    strangers: usize,
}

impl Levels {
    /// Levels with these names, which may be blank; `fixed`: and no others.
    pub(crate) fn of(names: &[String], fixed: bool) -> Self {
        let places = names.iter().enumerate().filter(|(_, name)| !name.is_empty());
        let places = places.map(|(place, name)| (name.clone(), place as u32)).collect();
        Self { places, names: names.to_vec(), fixed, ..Self::default() }
    }

    /// The names in the order of their numbers.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// True if there are more levels than a column may have.
    pub(crate) fn is_full(&self) -> bool {
        self.names.len() > MOST
    }

    /// Cells of texts that were new where there will be no more, and the first of these texts.
    pub(crate) fn strangers(&self) -> (usize, Vec<&str>) {
        (self.strangers, self.new.keys().map(String::as_str).collect())
    }

    /// The number of a text that is known.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.places.get(text).copied()
    }

    /// A word for a missing value that was a level when a model was trained.
    pub(super) fn named<'a>(&self, cell: &'a [u8]) -> Option<Cow<'a, str>> {
        let text = std::str::from_utf8(cell.trim_ascii()).ok()?;
        (self.fixed && self.find(text).is_some()).then_some(Cow::Borrowed(text))
    }

    /// The cell of a text, which becomes a level if there may be more.
    pub(super) fn cell(&mut self, text: &str) -> f64 {
        if let Some(place) = self.find(text) {
            return f64::from(place);
        }
        if self.fixed || self.is_full() {
            self.stranger(text);
            return NEW;
        }
        let place = self.names.len() as u32;
        self.places.insert(text.to_owned(), place);
        self.names.push(text.to_owned());
        f64::from(place)
    }

    fn stranger(&mut self, text: &str) {
        self.strangers += 1;
        if self.new.len() < NAMED || self.new.contains_key(text) {
            *self.new.entry(text.to_owned()).or_insert(0) += 1;
        }
    }
}

/// Levels that a piece of a table has and its column had not yet, numbered below [`NEW`] until it is their turn.
#[derive(Debug, Default)]
pub(super) struct Later {
    places: HashMap<String, usize>,
    names: Vec<String>,
}

impl Later {
    /// The cell of a text.
    pub(super) fn cell(&mut self, known: &Levels, text: &str) -> f64 {
        if let Some(place) = known.find(text) {
            return f64::from(place);
        }
        let next = self.names.len();
        let place = *self.places.entry(text.to_owned()).or_insert(next);
        if place == next {
            self.names.push(text.to_owned());
        }
        NEW - 1.0 - place as f64
    }

    /// True if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The text of a cell that is one of them.
    pub(super) fn name(&self, cell: f64) -> Option<&str> {
        (cell < NEW).then(|| self.names[(NEW - 1.0 - cell) as usize].as_str())
    }
}

/// The text of a cell as a level, `None` if it holds none. A whole number is the same level however it is written.
pub(super) fn level(cell: &[u8]) -> Option<Cow<'_, str>> {
    if is_missing(cell) {
        return None;
    }
    let text = String::from_utf8_lossy(cell.trim_ascii());
    if let Some((whole, zeros)) = text.split_once('.') {
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        let number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if number && zeros.bytes().all(|b| b == b'0') {
            return Some(Cow::Owned(whole.to_owned()));
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_level() {
        for (cell, wanted) in [
            (" north ", Some("north")),
            ("", None),
            ("NA", None),
            ("n/a", None),
            ("-", None),
            ("north-", Some("north-")),
            ("2.0", Some("2")),
            ("2.", Some("2")),
            ("007", Some("007")),
            ("v2.0", Some("v2.0")),
            ("2.5", Some("2.5")),
        ] {
            assert_eq!(level(cell.as_bytes()).as_deref(), wanted, "{cell}");
        }
    }

    #[test]
    fn levels_are_numbered_as_they_come() {
        let mut levels = Levels::default();
        assert_eq!(["b", "a", "b"].map(|text| levels.cell(text)), [0.0, 1.0, 0.0]);
        let mut later = Later::default();
        let cells = ["c", "a", "d", "c"].map(|text| later.cell(&levels, text));
        assert_eq!(cells, [-2.0, 1.0, -3.0, -2.0]);
        assert_eq!((later.name(-3.0), later.name(1.0)), (Some("d"), None));
        let mut fixed = Levels::of(&["a".into(), String::new()], true);
        assert_eq!(["a", "", "x", "x"].map(|text| fixed.cell(text)), [0.0, NEW, NEW, NEW]);
        assert_eq!(fixed.strangers().0, 3);
        // What a model knows as a level stays one.
        let old = Levels::of(&["None".into()], true);
        assert_eq!((old.named(b" None "), fixed.named(b"None")), (Some("None".into()), None));
    }
}
