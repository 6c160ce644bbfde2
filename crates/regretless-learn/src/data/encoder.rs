//! From the columns of a table to the inputs of a predictor.
//!
//! A number is standardised. A level of a category has an indicator of its own where enough training rows have it; the rare ones, new
//! ones and cells without a value are at the mean, 0. All indicators of a column are in one unit,
//!
//! ```text
//! xₗ = (1{level = l} − pₗ)/u,   u² = Σ pₗ(1 − pₗ),   pₗ the share of the training rows that have level l
//! ```
//!
//! so that a column has the variance 1 in sum, however many levels it has: it weighs as much as one number, a network sees no large
//! values where a level is rare, and a ridge λ takes nₗ/(nₗ + λu²) of the effect of a level with nₗ rows: the fewer, the less. Trees
//! take a category as the number of its level and find the set of levels to split by themselves.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::kind::{DatePart, Kind};
use super::scaler::Scaler;

/// Training rows that a level has at least to be told from the others.
const LEAST: usize = 5;

/// Levels of a column that are told apart at most, the most frequent ones: with the others and missing cells they fit the bins of trees.
const MOST: usize = 250;

/// Rows that one thread encodes at a time.
const CHUNK: usize = 2048;

/// What becomes of a feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// One input.
    Number,
    /// An indicator for each kept level, or one input with its number among them.
    Category {
        /// Their names; those that no training row has are blank.
        levels: Vec<String>,
        /// The levels that are told apart, the most frequent first.
        kept: Vec<u32>,
    },
    /// The parts of a date, each a number or, of those that come again, the values with an indicator.
    Date(Vec<(DatePart, Vec<u32>)>),
}

/// Encodes rows of features as it was fitted on the training rows.
///
/// ```
/// use regretless_learn::{Encoder, Kind};
/// let kinds = [Kind::Number, Kind::Category(vec!["north".into(), "south".into()])];
/// let cells: Vec<f64> = (0..20).flat_map(|i| [f64::from(i), f64::from(i % 2)]).collect();
/// let rows: Vec<usize> = (0..20).collect();
/// let encoder = Encoder::fit(&kinds, &cells, &rows, true, false);
/// assert_eq!(encoder.width(), 3);
/// // A new shop and a missing number are at the mean.
/// assert_eq!(encoder.inputs(&[f64::NAN, -1.0]), [0.0, 0.0, 0.0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoder {
    /// One for each feature.
    columns: Vec<Encoding>,
    /// What is taken off each input and what it is divided by.
    scaler: Scaler,
    /// Whether categories are numbers of levels, and missing cells stay missing: for trees.
    native: bool,
    /// For each category the place of each of its levels among those that are told apart.
    places: Vec<Vec<Option<u32>>>,
}

impl Encoder {
    /// Fits to the training rows of a row-major table with these kinds of columns. `standardise`: numbers are taken to mean 0 and
    /// deviation 1. `native`: for trees.
    pub fn fit(kinds: &[Kind], cells: &[f64], rows: &[usize], standardise: bool, native: bool) -> Self {
        let width = kinds.len();
        let column = |j: usize| rows.iter().map(move |row| cells[row * width + j]);
        let columns = kinds.iter().enumerate().map(|(j, kind)| match kind {
            Kind::Number => Encoding::Number,
            Kind::Category(levels) => {
                let counts = count(column(j), levels.len());
                let name = |(level, name): (usize, &String)| {
                    if counts[level] > 0 { name.clone() } else { String::new() }
                };
                let levels = levels.iter().enumerate().map(name).collect();
                Encoding::Category { kept: frequent(&counts, kinds[j].names()), levels }
            }
            Kind::Date(parts) => {
                let values = |part: DatePart| {
                    // Hours and months: below 32.
                    let counts = count(column(j).map(|at| part.of(at)), 32);
                    let mut kept = frequent(&counts, &[]);
                    kept.sort_unstable();
                    kept
                };
                let one = |&part: &DatePart| {
                    let indicated = part.is_cyclic() && !native;
                    (part, if indicated { values(part) } else { Vec::new() })
                };
                Encoding::Date(parts.iter().map(one).collect())
            }
        });
        let mut encoder = Self::of(columns.collect(), Scaler::default(), native);
        encoder.scaler = encoder.scale(cells, rows, standardise);
        encoder
    }

    fn of(columns: Vec<Encoding>, scaler: Scaler, native: bool) -> Self {
        let places = columns.iter().map(|column| {
            let Encoding::Category { levels, kept } = column else { return Vec::new() };
            let mut places = vec![None; levels.len()];
            kept.iter().enumerate().for_each(|(place, &level)| places[level as usize] = Some(place as u32));
            places
        });
        Self { places: places.collect(), columns, scaler, native }
    }

    /// An encoder of these columns as it was fitted; `None` if the scaler is not one of its inputs.
    pub fn new(columns: Vec<Encoding>, scaler: Scaler, native: bool) -> Option<Self> {
        let fine = |column: &Encoding| match column {
            Encoding::Category { levels, kept } => {
                kept.len() <= MOST && kept.iter().all(|l| (*l as usize) < levels.len())
            }
            Encoding::Number | Encoding::Date(_) => true,
        };
        let inputs = columns.iter().map(|column| column.inputs(native)).sum::<usize>();
        let fits = scaler.mean.len() == inputs && scaler.deviation.len() == inputs;
        (fits && columns.iter().all(fine)).then(|| Self::of(columns, scaler, native))
    }

    /// Numbers as they are.
    pub fn identity(features: usize) -> Self {
        Self::of(vec![Encoding::Number; features], Scaler::identity(features), false)
    }

    /// What becomes of each feature.
    pub fn columns(&self) -> &[Encoding] {
        &self.columns
    }

    /// True if every feature is a number.
    pub fn is_plain(&self) -> bool {
        self.columns.iter().all(|column| *column == Encoding::Number)
    }

    /// What is taken off each input and what it is divided by.
    pub fn scaler(&self) -> &Scaler {
        &self.scaler
    }

    /// Number of inputs.
    pub fn width(&self) -> usize {
        self.scaler.mean.len()
    }

    /// The kinds of the features, with the levels that training rows had.
    pub fn kinds(&self) -> Vec<Kind> {
        self.columns.iter().map(Encoding::kind).collect()
    }

    /// The feature that each input is made of.
    pub fn features(&self) -> Vec<usize> {
        let own = |(j, column): (usize, &Encoding)| std::iter::repeat_n(j, column.inputs(self.native));
        self.columns.iter().enumerate().flat_map(own).collect()
    }

    /// For each input that is the number of a level, how many there are; the last one is of those that are not told apart. 0 for all
    /// other inputs.
    pub fn levels(&self) -> Vec<usize> {
        let own = |column: &Encoding| match column {
            Encoding::Category { kept, .. } if self.native => vec![kept.len() + 1],
            _ => vec![0; column.inputs(self.native)],
        };
        self.columns.iter().flat_map(own).collect()
    }

    /// True for each input whose unit is that of its column: regressions take it as it is.
    pub(crate) fn indicators(&self) -> Vec<bool> {
        let own = |column: &Encoding| match column {
            Encoding::Number => vec![false],
            Encoding::Category { .. } => vec![!self.native; column.inputs(self.native)],
            Encoding::Date(parts) => {
                parts.iter().flat_map(|(_, kept)| vec![!kept.is_empty(); kept.len().max(1)]).collect()
            }
        };
        self.columns.iter().flat_map(own).collect()
    }

    /// Inputs of rows of features, row-major: missing cells at the mean or, for trees, missing.
    pub fn inputs(&self, cells: &[f64]) -> Vec<f32> {
        self.encode(cells, |native, _, x| if x.is_nan() && !native { 0.0 } else { x as f32 })
    }

    /// [`Encoder::inputs`] with all digits, for lines: missing cells and numbers of levels are 0.
    pub(crate) fn standardised(&self, cells: &[f64]) -> Vec<f64> {
        let levels = self.levels();
        self.encode(cells, |_, j, x| if x.is_nan() || levels[j] > 0 { 0.0 } else { x })
    }

    fn encode<T: Copy + Default + Send>(
        &self,
        cells: &[f64],
        finish: impl Fn(bool, usize, f64) -> T + Sync,
    ) -> Vec<T> {
        let (from, to) = (self.columns.len().max(1), self.width());
        let mut out = vec![T::default(); cells.len() / from * to];
        let rows = |(cells, out): (&[f64], &mut [T])| {
            let mut row = vec![0.0; to];
            for (cells, out) in cells.chunks_exact(from).zip(out.chunks_exact_mut(to.max(1))) {
                self.raw(cells, &mut row);
                for (j, (out, raw)) in out.iter_mut().zip(&row).enumerate() {
                    let (mean, deviation) = (self.scaler.mean[j], self.scaler.deviation[j]);
                    // What did not change in training says nothing.
                    let x = if raw.is_nan() {
                        f64::NAN
                    } else if deviation == 0.0 {
                        0.0
                    } else {
                        (raw - mean) / deviation
                    };
                    *out = finish(self.native, j, x);
                }
            }
        };
        cells.par_chunks(CHUNK * from).zip(out.par_chunks_mut((CHUNK * to).max(1))).for_each(rows);
        out
    }

    /// The inputs of a row before they are scaled; NaN where nothing is known.
    fn raw(&self, cells: &[f64], out: &mut [f64]) {
        let mut rest = out;
        for ((column, places), &cell) in self.columns.iter().zip(&self.places).zip(cells) {
            // A cell that is no level is negative or NaN.
            let place = || if cell >= 0.0 { places.get(cell as usize).copied().flatten() } else { None };
            let (own, after) = std::mem::take(&mut rest).split_at_mut(column.inputs(self.native));
            match column {
                Encoding::Number => own[0] = cell,
                Encoding::Category { kept, .. } if self.native => {
                    own[0] =
                        if cell.is_nan() { cell } else { f64::from(place().unwrap_or(kept.len() as u32)) };
                }
                Encoding::Category { .. } => indicate(place(), own),
                Encoding::Date(parts) => {
                    let mut own = own;
                    for (part, kept) in parts {
                        let (these, others) = std::mem::take(&mut own).split_at_mut(kept.len().max(1));
                        let value = part.of(cell);
                        if kept.is_empty() {
                            these[0] = value;
                        } else {
                            let place = kept.iter().position(|kept| f64::from(*kept) == value);
                            indicate(place.map(|place| place as u32), these);
                        }
                        own = others;
                    }
                }
            }
            rest = after;
        }
    }

    /// Means and deviations of the inputs over some rows.
    fn scale(&self, cells: &[f64], rows: &[usize], standardise: bool) -> Scaler {
        let (from, levels, indicators) = (self.columns.len(), self.levels(), self.indicators());
        let to = indicators.len();
        let mut scaler = Scaler::identity(to);
        if standardise || indicators.iter().any(|i| *i) {
            let mut raw = vec![0.0; rows.len() * to];
            for (row, out) in rows.iter().zip(raw.chunks_exact_mut(to.max(1))) {
                self.raw(&cells[row * from..(row + 1) * from], out);
            }
            scaler = Scaler::fit(&raw, to, 0..rows.len());
            self.share_units(&raw, &mut scaler);
        }
        for j in (0..to).filter(|&j| levels[j] > 0 || !standardise && !indicators[j]) {
            (scaler.mean[j], scaler.deviation[j]) = (0.0, 1.0);
        }
        scaler
    }

    /// The indicators of a column have one unit, u.
    fn share_units(&self, raw: &[f64], scaler: &mut Scaler) {
        let (to, mut at) = (scaler.mean.len(), 0);
        let count = (raw.len() / to.max(1)).max(1) as f64;
        let mut block = |width: usize, indicated: bool| {
            let own = at..at + width;
            at += width;
            if !indicated {
                return;
            }
            for j in own.clone() {
                // Over all rows: those that are at the mean have none of these levels.
                let there = raw.iter().skip(j).step_by(to).filter(|v| **v == 1.0).count() as f64;
                scaler.mean[j] = there / count;
            }
            let unit = own.clone().map(|j| scaler.mean[j] * (1.0 - scaler.mean[j])).sum::<f64>().sqrt();
            scaler.deviation[own].fill(unit);
        };
        for column in &self.columns {
            match column {
                Encoding::Date(parts) => {
                    parts.iter().for_each(|(_, kept)| block(kept.len().max(1), !kept.is_empty()));
                }
                Encoding::Category { .. } => block(column.inputs(self.native), !self.native),
                Encoding::Number => block(1, false),
            }
        }
    }
}

impl Kind {
    fn names(&self) -> &[String] {
        if let Self::Category(levels) = self { levels } else { &[] }
    }
}

impl Encoding {
    /// What the feature holds, with the levels that training rows had.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Number => Kind::Number,
            Self::Category { levels, .. } => Kind::Category(levels.clone()),
            Self::Date(parts) => Kind::Date(parts.iter().map(|(part, _)| *part).collect()),
        }
    }

    /// How many inputs it becomes; `native`: of trees.
    pub(crate) fn inputs(&self, native: bool) -> usize {
        match self {
            Self::Number => 1,
            Self::Category { .. } if native => 1,
            Self::Category { kept, .. } => kept.len(),
            Self::Date(parts) => parts.iter().map(|(_, kept)| kept.len().max(1)).sum(),
        }
    }
}

/// 1 for the level at hand and 0 for the others; unknown where it is none of them.
fn indicate(place: Option<u32>, out: &mut [f64]) {
    match place {
        Some(place) => {
            out.fill(0.0);
            out[place as usize] = 1.0;
        }
        None => out.fill(f64::NAN),
    }
}

/// How often each of so many levels is there.
fn count(cells: impl Iterator<Item = f64>, levels: usize) -> Vec<usize> {
    let mut counts = vec![0; levels];
    for cell in cells.filter(|cell| *cell >= 0.0) {
        if let Some(count) = counts.get_mut(cell as usize) {
            *count += 1;
        }
    }
    counts
}

/// The levels that are told apart, the most frequent first, equals by name: the order of the table does not matter.
fn frequent(counts: &[usize], names: &[String]) -> Vec<u32> {
    let mut kept: Vec<usize> = (0..counts.len()).filter(|&level| counts[level] >= LEAST).collect();
    kept.sort_by(|&a, &b| counts[b].cmp(&counts[a]).then_with(|| names.get(a).cmp(&names.get(b))));
    kept.truncate(MOST);
    kept.into_iter().map(|level| level as u32).collect()
}
