//! Features and truths of a table, a chunk of rows at a time.

mod chunk;
mod lacking;
mod rows;
mod words;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use regretless_learn::{Kind, ModelCard, Past, PredictorKind};

pub use self::chunk::DataChunk;
use self::lacking::Lacking;
use crate::columns::{Columns, Taken, Want, Wonted, taken};
use crate::data::{Allowed, Levels, Reads, Selection, TableReader, Wanted};
use crate::data_settings::Missing;
use crate::error::{Place, Result, SpecError, Trouble};
use crate::{Limits, Spec};

/// What a row of history takes beside its numbers, as numbers: its line, time, part and series.
pub(crate) const BESIDES: usize = 4;

/// A table of features and truths, checked while it is read.
///
/// ```no_run
/// use regretless_project::{DataReader, Spec, Want};
/// let spec = Spec::read("problem.toml")?;
/// let mut data = DataReader::open(&spec, "history.csv".as_ref(), Want { features: true, targets: true })?;
/// while let Some(chunk) = data.next()? {
///     assert_eq!(chunk.features.len(), chunk.rows * data.columns().features.len());
/// }
/// # Ok::<(), Box<regretless_project::SpecError>>(())
/// ```
pub struct DataReader<'a> {
    reader: TableReader<'a>,
    columns: Columns,
    /// The part that each target and each known column belongs to.
    taken: Vec<crate::Selection>,
    lacking: Lacking,
    /// What features of the past are made of.
    past: Option<Arc<Past>>,
    oddities: Vec<String>,
    /// Rows met and rows kept.
    seen: (usize, usize),
    done: bool,
    /// Whether the table is read group by group.
    grouped: bool,
}

impl DataReader<'static> {
    /// Opens a table for a model: a chunk at a time, never kept, so that it may be of any length. Features are those of the model, by
    /// name. Without truths to judge by no row is left out: one that cannot be decided for says why.
    pub fn stream(spec: &Spec, path: &Path, want: Want, card: &ModelCard) -> Result<Self> {
        let limits = Limits { table_bytes: u64::MAX, ..*spec.limits() };
        Self::of_model(spec, TableReader::open(path, &limits)?, want, card)
    }

    /// [`DataReader::stream`] of a table with forecasts beside it.
    pub fn with_forecasts(
        spec: &Spec,
        path: &Path,
        forecasts: &Path,
        want: Want,
        card: &ModelCard,
    ) -> Result<Self> {
        let limits = Limits { table_bytes: u64::MAX, ..*spec.limits() };
        let table = TableReader::open(path, &limits)?;
        let key = spec.data().and_then(|data| data.key.as_deref());
        Self::of_model(spec, table.with_forecasts(TableReader::open(forecasts, &limits)?, key), want, card)
    }

    /// Opens a table and finds its columns.
    pub fn open(spec: &Spec, path: &Path, want: Want) -> Result<Self> {
        Self::new(spec, TableReader::open(path, spec.limits())?, want)
    }
}

impl<'a> DataReader<'a> {
    /// Finds the columns of a table of which nothing has been read.
    pub fn new(spec: &Spec, reader: TableReader<'a>, want: Want) -> Result<Self> {
        Self::wonted(spec, reader, want, None)
    }

    /// A table for a model, see [`DataReader::stream`].
    pub fn of_model(spec: &Spec, reader: TableReader<'a>, want: Want, card: &ModelCard) -> Result<Self> {
        let kinds = card.kinds();
        let wonted = Wonted { names: &card.features, kinds: &kinds, lags: card.lags.as_ref(), fixed: true };
        let mut data = Self::wonted(spec, reader, want, Some(wonted))?;
        data.expect_known(&card.known)?;
        data.lacking.decides = true;
        data.lacking.every = !want.targets;
        data.reader.set_lenient(data.lacking.every);
        Ok(data)
    }

    /// The same with features that are known: those of a model, or of another table.
    pub(crate) fn wonted(
        spec: &Spec,
        mut reader: TableReader<'a>,
        want: Want,
        wonted: Option<Wonted<'_>>,
    ) -> Result<Self> {
        let guesses = reader.guesses();
        let columns = Columns::find(spec, reader.header(), &guesses, want, &reader.place(), wonted)?;
        let parts = taken(spec, reader.header(), want, &reader.place())?;
        let oddities = if wonted.is_none() { Self::odd(spec, &reader, &columns) } else { Vec::new() };
        let mut levels = Vec::new();
        let feature = |(&index, kind): (&usize, &Kind)| match kind {
            Kind::Number => Wanted::number(index, Some(Allowed::Finite), true),
            Kind::Date(_) => Wanted { index, reads: Reads::Moment },
            Kind::Category(names) => {
                levels.push(Levels::of(names, wonted.is_some_and(|wonted| wonted.fixed)));
                Wanted { index, reads: Reads::Level(levels.len() - 1) }
            }
        };
        let target = |taken: &Taken<'_>| Wanted::number(taken.index, Some(taken.allowed), true);
        let mut wanted: Vec<Wanted> = columns.features.iter().zip(&columns.kinds).map(feature).collect();
        wanted.extend(parts.iter().map(target));
        wanted.extend(columns.time.map(|(index, dates)| {
            if dates {
                Wanted { index, reads: Reads::Moment }
            } else {
                Wanted::number(index, Some(Allowed::Finite), true)
            }
        }));
        let number = |&index: &usize| Wanted::number(index, Some(Allowed::Finite), true);
        wanted.extend(columns.baseline.iter().map(number));
        let texts = columns.key.into_iter().chain(columns.split);
        let more = columns.series.iter().chain(&columns.labels).chain(&columns.groups);
        let texts = texts.chain(more.copied()).collect();
        // What decides keeps nothing.
        let entries = wonted.is_none_or(|wonted| !wonted.fixed).then_some(spec.limits().entries);
        reader.select_checked(Selection {
            columns: wanted,
            texts,
            levels,
            entries,
            besides: BESIDES,
            ..Selection::default()
        });
        let taken = parts.into_iter().map(|taken| taken.part.clone()).collect();
        let missing = spec.data().map_or(Missing::default(), |data| data.missing);
        let predictor = spec.predictor();
        let takes = matches!(missing, Missing::Keep | Missing::Mean)
            && predictor.kind != PredictorKind::Given
            && (predictor.standardise || predictor.kind == PredictorKind::Trees);
        let lacking = Lacking {
            missing,
            takes,
            decides: false,
            every: false,
            gaps: vec![0; columns.feature_names.len()],
            dropped: BTreeMap::new(),
        };
        Ok(Self {
            lacking,
            past: None,
            oddities,
            reader,
            columns,
            taken,
            seen: (0, 0),
            done: false,
            grouped: false,
        })
    }

    /// Says what is known of the past: that of a model, or of all that is learned from. Without it features of the past are missing.
    pub fn knowing(mut self, past: Option<Arc<Past>>) -> Self {
        self.past = past;
        self
    }

    /// What the features hold, with the levels that were met so far.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut levels = self.reader.levels().iter();
        let kind = |kind: &Kind| match kind {
            Kind::Category(_) => {
                Kind::Category(levels.next().map_or_else(Vec::new, |levels| levels.names().to_vec()))
            }
            other => other.clone(),
        };
        self.columns.kinds.iter().map(kind).collect()
    }

    /// What is not as it is in most tables, in words.
    pub fn remark(&self) -> Option<&'static str> {
        self.reader.remark()
    }

    /// The columns that tell a reader of decisions what they are for, see [`DataChunk::labels`].
    pub fn labels(&self) -> Vec<String> {
        self.columns.labels.iter().map(|&index| self.reader.header()[index].clone()).collect()
    }

    /// The columns in use.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Refuses a table in which other columns are known than those a model was trained with.
    pub fn expect_known(&self, names: &[String]) -> Result<()> {
        if self.columns.known_names == names {
            return Ok(());
        }
        let (own, there) = (names.join(", "), self.columns.known_names.join(", "));
        let what = format!("the model knows the columns {own} of a row, and here they are {there}");
        Err(SpecError::new(self.file(), Trouble::Misfit(what)))
    }

    /// A row by what [`DataChunk::lines`] says of it, as a place for messages.
    pub fn place_of(&self, line: u64) -> Place {
        self.reader.place_of(line, None)
    }

    /// The next rows; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "an iterator could be asked again after an error")]
    pub fn next(&mut self) -> Result<Option<DataChunk>> {
        let Some(chunk) = self.reader.next().map_err(|error| self.explain(error))? else {
            if self.grouped {
                return Ok(None);
            }
            return self.end().map(|()| None);
        };
        let out = self.take(chunk)?;
        let used = out.rows + out.undecided.len();
        self.seen = (self.seen.0 + used + out.dropped, self.seen.1 + used);
        Ok(Some(out))
    }

    /// Goes on to the next group of rows that is wanted, see [`TableReader::next_group`]; `None` at the end.
    pub fn next_group(&mut self, wanted: &dyn Fn(usize) -> bool) -> Result<Option<usize>> {
        self.grouped = true;
        let (group, skipped) = self.reader.next_group(wanted)?;
        self.seen = (self.seen.0 + skipped, self.seen.1 + skipped);
        if group.is_none() {
            self.end()?;
        }
        Ok(group)
    }

    /// A table without a row that can be used is refused once.
    fn end(&mut self) -> Result<()> {
        if self.seen.1 > 0 || std::mem::replace(&mut self.done, true) {
            return Ok(());
        }
        let (trouble, hint) = if self.seen.0 == 0 {
            (Trouble::Empty("the table has a header but no rows"), "add a row for each instance")
        } else {
            (
                Trouble::Empty("every row of the table lacks a value that is needed, and none is left"),
                "add the column that is empty to `data.exclude`",
            )
        };
        Err(SpecError::new(self.file(), trouble).hint(hint))
    }

    fn file(&self) -> Place {
        let place = self.reader.place();
        Place::File(place.file().map(Path::to_owned).unwrap_or_default())
    }

    /// The columns of numbers in the order in which they are read: features, then what the problem takes, then the time.
    fn read(&self) -> Vec<usize> {
        let Columns { features, targets, known, time, .. } = &self.columns;
        let time = time.iter().map(|(index, _)| index);
        features.iter().chain(targets).chain(known).chain(time).copied().collect()
    }
}
