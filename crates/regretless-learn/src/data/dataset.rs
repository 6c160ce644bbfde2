//! History: features, what was known, and the quantities that came true.

use regretless_core::{Placement, Problem};

use super::encoder::Encoder;
use super::kind::{self, Kind};
use super::levels;
use super::past::Past;
use super::series::Series;
use super::split;
use crate::content::Content;
use crate::data::suspicions;
use crate::settings::{Part, Split};

/// What the numbers of a dataset are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The features.
    pub features: Vec<String>,
    /// The targets; may be left empty.
    pub targets: Vec<String>,
    /// For a shared predictor the features of each variable, as positions in `features`; all of one length.
    pub per_variable: Option<Vec<Vec<usize>>>,
}

impl Names {
    /// Features `x0`, `x1`, ….
    pub fn numbered(features: usize) -> Self {
        Self { features: (0..features).map(|j| format!("x{j}")).collect(), ..Self::default() }
    }
}

/// Numbers of the problem that differ from row to row and are there when the decision is taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// What they are called.
    pub names: Vec<String>,
    /// The numbers, row-major.
    pub values: Vec<f64>,
}

/// A table of history in memory.
///
/// ```
/// use regretless_learn::{Dataset, Names};
/// // Three rows with two features and one target.
/// let data = Dataset::new(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], vec![1.0, 2.0, 3.0], 3, Names::numbered(2));
/// assert_eq!((data.rows(), data.width()), (3, 2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    /// Features, row-major; NaN where a cell holds no value.
    pub features: Vec<f64>,
    /// What the features hold; empty if all are numbers.
    pub kinds: Vec<Kind>,
    /// True quantities, row-major.
    pub targets: Vec<f64>,
    /// What is known of each row.
    pub known: Known,
    /// Decisions that others took, n numbers a row, NaN where there is none; empty where nobody has them.
    pub baseline: Known,
    /// What an account calls those who took them; `None` where nobody did.
    pub baseline_name: Option<String>,
    /// What they are called.
    pub names: Names,
    /// Columns of the table that nothing takes.
    pub unused: Vec<String>,
    /// Where each row stood before they were put into the order of time; empty if they are as they were.
    pub order: Vec<usize>,
    /// What a user should know: columns and rows that were left out.
    pub notes: Vec<String>,
    /// Rows that were left out because a value is missing.
    pub dropped: usize,
    /// Which part a row belongs to, where its source says.
    pub parts: Vec<Option<Part>>,
    /// The line of each row in its source; none for rows that have no lines.
    pub lines: Vec<u64>,
    /// The sources, each with the number of its first row.
    pub sources: Vec<(String, usize)>,
    /// Which series each row belongs to.
    pub series: Series,
    /// What else an account is told apart by: names of columns, and the group of each row.
    pub groups: Vec<(String, Series)>,
    /// When each row is: days since the beginning of 1970, or any number that rises with time. Empty if the order of the rows says it.
    pub times: Vec<f64>,
    /// Whether times are days.
    pub dates: bool,
    /// What is known of the past, if features are made of it: they are the last ones.
    pub past: Option<Past>,
    /// How much each row counts in training; empty if all count the same.
    pub weights: Vec<f64>,
}

impl Dataset {
    /// Rows that are in memory.
    pub fn new(features: Vec<f64>, targets: Vec<f64>, rows: usize, names: Names) -> Self {
        Self { features, targets, names, parts: vec![None; rows], ..Self::default() }
    }

    /// Says which part each row belongs to; how rows are split no longer matters.
    ///
    /// # Panics
    /// If there are not as many parts as rows.
    pub fn with_parts(mut self, parts: &[Part]) -> Self {
        assert_eq!(parts.len(), self.rows(), "a part for each row");
        self.parts = parts.iter().copied().map(Some).collect();
        if !self.order.is_empty() {
            self.parts = taken(&self.parts, 1, &self.order);
        }
        self
    }

    /// Says what is known of each row when it is decided for.
    pub fn with_known(mut self, known: Known) -> Self {
        self.known = known;
        self
    }

    /// Says how much each row counts in training, in the order in which they were given. Validation and test count every row once.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Self {
        self.weights = if self.order.is_empty() { weights } else { taken(&weights, 1, &self.order) };
        self
    }

    /// Says what the features hold.
    ///
    /// # Panics
    /// If there are not as many kinds as features.
    pub fn with_kinds(mut self, kinds: Vec<Kind>) -> Self {
        assert_eq!(kinds.len(), self.width(), "a kind for each feature");
        self.kinds = kinds;
        self
    }

    /// What each feature holds.
    pub fn kinds_of_features(&self) -> Vec<Kind> {
        if self.kinds.is_empty() { vec![Kind::Number; self.width()] } else { self.kinds.clone() }
    }

    /// When a row is; its number where the order of the rows says it.
    pub fn time_of(&self, row: usize) -> f64 {
        self.times.get(row).copied().unwrap_or(row as f64)
    }

    /// When a row is, for people.
    pub fn moment(&self, row: usize) -> String {
        self.moment_of(self.time_of(row))
    }

    /// A moment, for people.
    pub fn moment_of(&self, time: f64) -> String {
        if self.dates { kind::date(time) } else { time.to_string() }
    }

    /// What a user should know of parts that this split made: rows in no part, and a part that a date leaves empty.
    pub fn split_notes(&self, split: &Split, parts: &[Vec<usize>; 3]) -> Vec<String> {
        split::notes(self, split, parts)
    }

    /// Levels that the training rows of a split lack, and those that are too rare in it to be told apart, in words.
    pub fn level_notes(&self, parts: &[Vec<usize>; 3]) -> (Vec<String>, Vec<String>) {
        let encoder = Encoder::fit(&self.kinds, &self.features, &parts[0], false, true);
        let named = self.names.features.iter().zip(encoder.columns());
        let rare = named.filter_map(|(name, column)| levels::merged(name, column));
        (levels::strangers(self, parts), rare.collect())
    }

    /// All its numbers.
    pub(crate) fn content(&self) -> Content {
        let mut content =
            Content::default().numbers(&self.features).numbers(&self.targets).numbers(&self.weights);
        if !self.known.names.is_empty() {
            content = content.spelled(&self.known.names).numbers(&self.known.values);
        }
        // Tables of numbers have the hash they always had.
        if self.kinds.iter().any(|kind| *kind != Kind::Number) {
            content = content.spelled(&self.kinds);
        }
        if !self.series.is_empty() || !self.times.is_empty() {
            content = content.spelled(&self.series).numbers(&self.times);
        }
        content
    }

    /// What in the data makes training look better than it is, or say nothing, by name. `parts` are the rows for training,
    /// validation and test.
    pub fn warnings(&self, placement: &Placement, problem: &Problem, parts: &[Vec<usize>; 3]) -> Vec<String> {
        suspicions::all(self, placement, problem, parts)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.parts.len()
    }

    /// Number of features.
    pub fn width(&self) -> usize {
        self.names.features.len()
    }

    /// Source and line of a row, or its number where there is none.
    pub fn place(&self, row: usize) -> String {
        let Some(line) = self.lines.get(row) else {
            return format!("sample {}", self.order.get(row).unwrap_or(&row));
        };
        let source = self.sources.iter().rev().find(|(_, first)| *first <= row);
        let name = source.map_or_else(String::new, |(name, _)| format!("{name}, "));
        format!("{name}line {line}")
    }

    /// Rows of the training, validation and test part, each ascending. Rows of one time stay together.
    pub fn split(&self, split: &Split, seed: u64) -> [Vec<usize>; 3] {
        split::split(self, split, seed)
    }

    /// Puts the rows of each source into the order of time.
    pub fn in_time(mut self) -> Self {
        if self.times.is_empty() {
            return self;
        }
        let ends = self.sources.iter().skip(1).map(|(_, first)| *first).chain([self.rows()]);
        let mut order: Vec<usize> = (0..self.rows()).collect();
        let mut start = 0;
        for end in ends {
            order[start..end].sort_by(|a, b| self.times[*a].total_cmp(&self.times[*b]));
            start = end;
        }
        let (rows, known) = (self.rows(), self.known.names.len());
        let targets = self.targets.len() / rows.max(1);
        self.features = taken(&self.features, self.width(), &order);
        self.targets = taken(&self.targets, targets, &order);
        self.known.values = taken(&self.known.values, known, &order);
        let n = self.baseline.names.len();
        self.baseline.values = taken(&self.baseline.values, n, &order);
        self.parts = taken(&self.parts, 1, &order);
        self.times = taken(&self.times, 1, &order);
        if !self.lines.is_empty() {
            self.lines = taken(&self.lines, 1, &order);
        }
        if !self.weights.is_empty() {
            self.weights = taken(&self.weights, 1, &order);
        }
        self.series = self.series.taken(&order);
        let groups = std::mem::take(&mut self.groups).into_iter();
        self.groups = groups.map(|(name, of)| (name, of.taken(&order))).collect();
        if order.iter().enumerate().any(|(at, row)| at != *row) {
            self.order = order;
        }
        self
    }
}

/// Some rows of a row-major table.
fn taken<T: Copy>(table: &[T], width: usize, rows: &[usize]) -> Vec<T> {
    rows.iter().flat_map(|row| &table[row * width..(row + 1) * width]).copied().collect()
}
