//! Which series rows belong to: a shop, a product, a line of a long table.

use std::collections::BTreeMap;

/// The series of each row.
///
/// ```
/// use regretless_learn::Series;
/// let mut series = Series::default();
/// ["north", "south", "north"].into_iter().for_each(|name| series.push(name));
/// assert_eq!((series.of(2), series.names()), (0, &["north".to_owned(), "south".to_owned()][..]));
/// // Without series all rows are of one.
/// assert_eq!(Series::default().of(7), 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    names: Vec<String>,
    places: BTreeMap<String, usize>,
    of: Vec<usize>,
}

impl Series {
    /// The series of the next row.
    pub fn push(&mut self, name: &str) {
        let place = self.find(name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.places.insert(name.to_owned(), self.names.len() - 1);
            self.names.len() - 1
        });
        self.of.push(place);
    }

    /// The number of a row's series, 0 where all rows are of one.
    pub fn of(&self, row: usize) -> usize {
        self.of.get(row).copied().unwrap_or(0)
    }

    /// The names of the series by their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// True if rows say nothing of series.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The series of some rows; numbers stay.
    pub(crate) fn taken(mut self, rows: &[usize]) -> Self {
        if !self.of.is_empty() {
            self.of = rows.iter().map(|&row| self.of[row]).collect();
        }
        self
    }

    /// The number of a series by its name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }
}
