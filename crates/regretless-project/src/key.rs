//! Keys of a problem file, and where they stand in its text.
//!
//! Values carry no positions: when something is wrong the text is parsed once more and the key looked up.
//! Good files pay nothing, and a matrix of numbers stays a matrix of numbers.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A path into a problem file, such as `soft[0].rows[1][2]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(usize),
}

impl Step {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Index(_) => None,
        }
    }
}

impl Key {
    /// A top-level key.
    pub(crate) fn new(name: &str) -> Self {
        Self::default().key(name)
    }

    /// A key below this one.
    pub(crate) fn key(&self, name: &str) -> Self {
        self.with(Step::Name(name.to_owned()))
    }

    /// An element of this array, counted from 0.
    pub(crate) fn index(&self, i: usize) -> Self {
        self.with(Step::Index(i))
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// The last name on the path.
    pub(crate) fn last_name(&self) -> &str {
        self.0.iter().rev().find_map(Step::name).unwrap_or("")
    }

    /// The bytes of this key's value in `text`, or of the nearest enclosing value that is there.
    pub(crate) fn span(&self, text: &str) -> Option<Range<usize>> {
        let table = DeTable::parse(text).ok()?;
        let mut span = None;
        let mut here: Option<&Spanned<DeValue<'_>>> = None;
        for step in &self.0 {
            let table = match here {
                None => Some(table.get_ref()),
                Some(value) => value.get_ref().as_table(),
            };
            let next = match step {
                Step::Name(name) => table.and_then(|t| t.get(name.as_str())),
                Step::Index(i) => here.and_then(|v| v.get_ref().as_array()).and_then(|a| a.get(*i)),
            };
            let Some(next) = next else { break };
            span = Some(next.span());
            here = Some(next);
        }
        span
    }

    /// The key whose value covers `place` most closely.
    pub(crate) fn at(text: &str, place: &Range<usize>) -> Self {
        let mut key = Self::default();
        if let Ok(table) = DeTable::parse(text) {
            descend_table(table.get_ref(), place, &mut key);
        }
        key
    }

    /// True if this is `other` or a key below it.
    pub(crate) fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// True if no step was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn covers(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn descend_table(table: &DeTable<'_>, place: &Range<usize>, key: &mut Key) {
    for (name, value) in table {
        let step = Step::Name(name.get_ref().to_string());
        if covers(&name.span(), place) {
            return key.0.push(step);
        }
        // The span of a `[table]` is its header only, so its values are looked at in any case.
        let depth = key.0.len();
        key.0.push(step);
        descend_value(value, place, key);
        if key.0.len() > depth + 1 || covers(&value.span(), place) {
            return;
        }
        key.0.truncate(depth);
    }
}

fn descend_value(value: &Spanned<DeValue<'_>>, place: &Range<usize>, key: &mut Key) {
    match value.get_ref() {
        DeValue::Table(table) => descend_table(table, place, key),
        DeValue::Array(array) => {
            for (i, element) in array.iter().enumerate() {
                let depth = key.0.len();
                key.0.push(Step::Index(i));
                descend_value(element, place, key);
                if key.0.len() > depth + 1 || covers(&element.span(), place) {
                    return;
                }
                key.0.truncate(depth);
            }
        }
        _ => {}
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Name(name) if i == 0 => write!(f, "{}", crate::error::shorten(name))?,
                Step::Name(name) => write!(f, ".{}", crate::error::shorten(name))?,
                Step::Index(i) => write!(f, "[{i}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[a]\nb = [[1, 2], [3, 4]]\n[[soft]]\nx = 1\n[[soft]]\nx = { y = 7 }\n";

    fn value_at(key: &Key) -> &'static str {
        &TEXT[key.span(TEXT).unwrap()]
    }

    #[test]
    fn keys_are_found_in_the_text_and_back() {
        let key = Key::new("a").key("b").index(1).index(0);
        assert_eq!(key.to_string(), "a.b[1][0]");
        assert_eq!(value_at(&key), "3");
        assert_eq!(Key::at(TEXT, &key.span(TEXT).unwrap()), key);
        let key = Key::new("soft").index(1).key("x").key("y");
        assert_eq!(value_at(&key), "7");
        assert_eq!(Key::at(TEXT, &key.span(TEXT).unwrap()), key);
        assert_eq!(key.last_name(), "y");
    }

    #[test]
    fn a_missing_key_gives_the_nearest_one_above() {
        assert_eq!(value_at(&Key::new("a").key("b").index(1).index(9)), "[3, 4]");
        assert_eq!(value_at(&Key::new("soft").index(0).key("z")), "[[soft]]");
        assert_eq!(Key::new("nothing").span(TEXT), None);
    }
}
