//! Random draws and the tables made of them.

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of features only, for `decide`.
pub(super) const NEW: usize = 20;

/// Random numbers, the same in every run.
pub(super) struct Draw(ChaCha8Rng);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(super) fn uniform(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.0.random::<f64>()
    }

    /// A standard normal number, by Box and Muller.
    pub(super) fn normal(&mut self) -> f64 {
        let (radius, angle): (f64, f64) = (self.0.random(), self.0.random());
        (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// The next value of a series that forgets: standard normal in the long run.
    pub(super) fn drift(&mut self, last: f64, memory: f64) -> f64 {
        memory * last + (1.0 - memory * memory).sqrt() * self.normal()
    }
}

/// A CSV table in the making: a key that counts the rows, then numbers.
pub(super) struct Table {
    text: String,
    next: usize,
}

impl Table {
    /// A table whose key counts from `first`.
    pub(super) fn new(key: &str, first: usize, columns: &[String]) -> Self {
        Self { text: format!("{key},{}\n", columns.join(",")), next: first }
    }

    /// Adds a row, the numbers with `digits` digits after the point.
    pub(super) fn push(&mut self, values: impl IntoIterator<Item = f64>, digits: usize) {
        let _ = write!(self.text, "{}", self.next);
        for value in values {
            // Adding zero makes a zero of a negative one.
            let _ = write!(self.text, ",{:.digits$}", value + 0.0);
        }
        self.text.push('\n');
        self.next += 1;
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// `history.csv` with features and truth, and `new.csv` with the features of the rows that follow. `row` draws a row's
/// features and truth.
pub(super) fn history_and_new(
    key: &str,
    rows: usize,
    digits: usize,
    features: &[String],
    truth: &[String],
    mut row: impl FnMut() -> (Vec<f64>, Vec<f64>),
) -> Vec<(&'static str, String)> {
    let mut history = Table::new(key, 1, &[features, truth].concat());
    for _ in 0..rows {
        let (features, truth) = row();
        history.push(features.into_iter().chain(truth), digits);
    }
    let mut new = Table::new(key, rows + 1, features);
    for _ in 0..NEW {
        new.push(row().0, digits);
    }
    vec![("history.csv", history.into_text()), ("new.csv", new.into_text())]
}

/// Names that begin with `prefix`.
pub(super) fn named(prefix: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{prefix}{name}")).collect()
}
