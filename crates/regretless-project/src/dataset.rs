//! Features and truths of a table, a chunk of rows at a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::coded::strangers;
use crate::columns::{Columns, Taken, Want, Wonted, taken};
use crate::data::{Allowed, Bad, Chunk, Levels, MOST_LEVELS, Reads, Selection, TableReader, Wanted};
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use regretless_learn::{Kind, ModelCard, Part, Past, PredictorKind, count, some_of};

use crate::data_settings::Missing;
use crate::{Limits, Spec, lags};

/// Rows without a value that a message names.
const NAMED: usize = 10;

/// What a row of history takes beside its numbers, as numbers: its line, time, part and series.
pub(crate) const BESIDES: usize = 4;

/// Rows of a dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataChunk {
    /// Rows in this chunk; 0 if all were dropped.
    pub rows: usize,
    /// The features, row after row, as their kinds say; NaN where a cell holds no value.
    pub features: Vec<f64>,
    /// The truths of the predicted parts, row after row.
    pub targets: Vec<f64>,
    /// What is known of each row, row after row.
    pub known: Vec<f64>,
    /// Decisions that others took, row after row, NaN where there is none; empty where no column has them.
    pub baseline: Vec<f64>,
    /// The line that each row stands on, counted from 1; the row itself for formats without lines.
    pub lines: Vec<u64>,
    /// The number of each row in the table, counted from 0; rows that were left out count, too.
    pub numbers: Vec<usize>,
    /// What names each row, if there is such a column.
    pub keys: Option<Vec<String>>,
    /// The part each row belongs to, if a column tells.
    pub parts: Option<Vec<Part>>,
    /// The series each row belongs to, if columns tell.
    pub series: Option<Vec<String>>,
    /// What an account tells the rows apart by, one list for each of [`Columns::groups`].
    pub groups: Vec<Vec<String>>,
    /// When each row is, if a column tells.
    pub times: Vec<f64>,
    /// Why a row cannot be decided for, where no row is left out; all its numbers are NaN then.
    pub troubles: Vec<Option<String>>,
    /// Rows with truths that a model cannot decide for: their lines, and why. They are in nothing else here.
    pub undecided: Vec<(u64, String)>,
    /// Cells that say what a decision is for, one list for each of [`DataReader::labels`].
    pub labels: Vec<Vec<String>>,
    /// Rows of this chunk that were left out because a value is missing.
    pub dropped: usize,
}

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

/// What becomes of rows that lack something.
struct Lacking {
    missing: Missing,
    /// Whether the predictor takes features that are missing.
    takes: bool,
    /// Whether a model decides, which has to know what its features look back at.
    decides: bool,
    /// Whether no row is left out.
    every: bool,
    /// Rows that lack a feature and are used all the same, feature by feature.
    gaps: Vec<usize>,
    /// Rows that were left out, by the first column that they lack.
    dropped: BTreeMap<usize, usize>,
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

    /// Columns that are read as text because of a few cells, in words.
    pub fn oddities(&self) -> &[String] {
        &self.oddities
    }

    fn odd(spec: &Spec, reader: &TableReader<'_>, columns: &Columns) -> Vec<String> {
        let data = spec.data();
        let stated = |name: &String| data.is_some_and(|data| data.states(name));
        let named = columns.features.iter().zip(&columns.feature_names).zip(&columns.kinds);
        let texts = named.filter(|((_, name), kind)| matches!(kind, Kind::Category(_)) && !stated(name));
        let one = |((&index, name), _): ((&usize, &String), &Kind)| {
            let (name, cell) = (shorten(name), reader.odd(index)?);
            Some(format!(
                "`{name}` is taken as text because of {cell}: empty it and its like if the column holds numbers, or say that \
                 it does not with kinds = {{ {name} = \"category\" }}"
            ))
        };
        texts.filter_map(one).collect()
    }

    /// Levels that the model does not know, in words, a line a column.
    pub fn strangers(&self) -> Vec<String> {
        let categories = self.columns.kinds.iter().zip(&self.columns.feature_names);
        let names = categories.filter(|(kind, _)| matches!(kind, Kind::Category(_))).map(|(_, name)| name);
        strangers(names, self.reader.levels())
    }

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

    fn take(&mut self, mut chunk: Chunk) -> Result<DataChunk> {
        self.refuse_levels()?;
        let (features, targets) = (self.columns.features.len(), self.columns.targets.len());
        let known = self.columns.known.len();
        // Decisions of others come last, and no row needs them.
        let own = self.read().len();
        let width = own + self.columns.baseline.len();
        let mut texts = std::mem::take(&mut chunk.texts).into_iter();
        let keys = self.columns.key.and_then(|_| texts.next());
        let parts = self.columns.split.and_then(|_| texts.next());
        let series: Vec<Vec<String>> = texts.by_ref().take(self.columns.series.len()).collect();
        let labels: Vec<Vec<String>> = texts.by_ref().take(self.columns.labels.len()).collect();
        let groups: Vec<Vec<String>> = texts.collect();
        let mut bad = std::mem::take(&mut chunk.bad).into_iter().peekable();
        let mut out = DataChunk {
            keys: keys.as_ref().map(|_| Vec::new()),
            parts: parts.as_ref().map(|_| Vec::new()),
            series: (!series.is_empty()).then(Vec::new),
            labels: vec![Vec::new(); labels.len()],
            groups: vec![Vec::new(); groups.len()],
            ..DataChunk::default()
        };
        for i in 0..chunk.rows {
            let (row, taken) = chunk.values[i * width..(i + 1) * width].split_at(own);
            let must = if self.lacking.takes { &row[features..] } else { row };
            let lacks = must.iter().any(|v| v.is_nan());
            let named = series.iter().map(|own| own[i].as_str()).collect::<Vec<_>>().join(" / ");
            let looked = self.look(&named, row);
            let past = || looked.iter().copied();
            // Nobody fills in what was before a table began.
            let short = !self.lacking.takes && past().any(f64::is_nan);
            let trouble = bad.next_if(|bad| bad.row == i).map(|bad| self.trouble(&bad));
            let trouble = trouble.or_else(|| lacks.then(|| self.lacking(row)));
            let beyond = || if self.lacking.decides { self.beyond(&named, row, &looked) } else { None };
            if self.lacking.every {
                let trouble = trouble.or_else(beyond);
                let value = |v: f64| if trouble.is_some() { f64::NAN } else { v };
                out.features.extend(row[..features].iter().copied().chain(past()).map(value));
                out.known
                    .extend(row[features + targets..features + targets + known].iter().copied().map(value));
                out.troubles.push(trouble);
            } else if !lacks && let Some(why) = beyond() {
                out.undecided.push((chunk.lines[i], why));
                continue;
            } else if lacks && matches!(self.lacking.missing, Missing::Keep | Missing::Drop)
                || !lacks && short
            {
                out.dropped += 1;
                let first = self.lacked(row).next().or_else(|| {
                    let of = past().position(f64::is_nan)?;
                    Some(self.reader.header().len() + of)
                });
                *self.lacking.dropped.entry(first.unwrap_or_default()).or_insert(0) += 1;
                continue;
            } else if lacks {
                chunk.texts = keys.into_iter().collect();
                return Err(self.refuse(chunk));
            } else {
                out.features.extend(row[..features].iter().copied().chain(past()));
                out.targets.extend_from_slice(&row[features..features + targets]);
                out.known.extend_from_slice(&row[features + targets..features + targets + known]);
            }
            if !lacks && !out.troubles.last().is_some_and(Option::is_some) {
                let cells = row[..features].iter().copied().chain(past());
                let gaps = self.lacking.gaps.iter_mut().zip(cells).filter(|(_, v)| v.is_nan());
                gaps.for_each(|(gap, _)| *gap += 1);
            }
            // Days, as people count them.
            out.times.extend(row[features + targets + known..].iter().map(|at| at / self.unit()));
            out.baseline.extend_from_slice(taken);
            out.lines.push(chunk.lines[i]);
            out.numbers.push(self.seen.0 + i);
            out.rows += 1;
            if let (Some(out), Some(keys)) = (&mut out.keys, &keys) {
                out.push(keys[i].clone());
            }
            if let Some(out) = &mut out.series {
                out.push(named);
            }
            let told = out.labels.iter_mut().zip(&labels).chain(out.groups.iter_mut().zip(&groups));
            told.for_each(|(out, own)| out.push(own[i].clone()));
            if let (Some(out), Some(parts)) = (&mut out.parts, &parts) {
                out.push(self.part(&parts[i], chunk.lines[i])?);
            }
        }
        Ok(out)
    }

    /// What the time of a row is divided by.
    fn unit(&self) -> f64 {
        if self.columns.time.is_some_and(|(_, dates)| dates) { 86_400.0 } else { 1.0 }
    }

    /// The features of the past of a row; NaN where there is nothing.
    fn look(&self, series: &str, row: &[f64]) -> Vec<f64> {
        let Some(lags) = &self.columns.lags else { return Vec::new() };
        match self.known_at(row) {
            Some((past, time)) => past.look(series, time).collect(),
            None => vec![f64::NAN; lags.features.len()],
        }
    }

    /// The past, and when the row is.
    fn known_at(&self, row: &[f64]) -> Option<(&Past, f64)> {
        let time = row.last().filter(|time| !time.is_nan())?;
        Some((self.past.as_deref()?, time / self.unit()))
    }

    /// The features of the past that nobody knows yet, or not any more.
    fn beyond(&self, series: &str, row: &[f64], looked: &[f64]) -> Option<String> {
        self.columns.lags.as_ref()?;
        let known: Vec<bool> = match self.known_at(row) {
            Some((past, time)) => past.knows(series, time).collect(),
            None => vec![false; looked.len()],
        };
        let names = self.columns.feature_names[self.columns.features.len()..].iter();
        let lacks = |(known, v): (bool, &f64)| !known || v.is_nan() && !self.lacking.takes;
        let unknown = names.zip(known.into_iter().zip(looked)).filter(|(_, seen)| lacks(*seen));
        let unknown: Vec<String> = unknown.map(|(name, _)| name.clone()).collect();
        (!unknown.is_empty()).then(|| lags::missing(&unknown))
    }

    /// What is wrong with a row, in a few words.
    fn trouble(&self, bad: &Bad) -> String {
        match bad.column {
            Some(column) => format!("`{}`: {}", shorten(&self.reader.header()[column]), bad.trouble),
            None => bad.trouble.to_string(),
        }
    }

    /// The columns that a row lacks and needs.
    fn lacked(&self, row: &[f64]) -> impl Iterator<Item = usize> {
        let from = if self.lacking.takes { self.columns.features.len() } else { 0 };
        self.read().into_iter().zip(row).skip(from).filter(|(_, v)| v.is_nan()).map(|(index, _)| index)
    }

    /// [`Self::lacked`] in words.
    fn lacking(&self, row: &[f64]) -> String {
        let names: Vec<String> =
            self.lacked(row).map(|index| shorten(&self.reader.header()[index])).collect();
        let more =
            if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
        format!("missing {}{more}", names[..names.len().min(NAMED)].join(", "))
    }

    /// A column that has as many levels as rows tells rows apart and nothing else.
    fn refuse_levels(&self) -> Result<()> {
        let Some(full) = self.reader.levels().iter().position(Levels::is_full) else { return Ok(()) };
        let mut categories = self
            .columns
            .kinds
            .iter()
            .zip(&self.columns.feature_names)
            .filter(|(k, _)| matches!(k, Kind::Category(_)));
        let column = categories.nth(full).map(|(_, name)| shorten(name)).unwrap_or_default();
        let trouble = Trouble::TooManyLevels { column: column.clone(), most: MOST_LEVELS };
        Err(SpecError::new(self.file(), trouble).hint(format!(
            "it names rows or holds free text: set data.exclude = [\"{column}\"], or data.key where it is the name of the row"
        )))
    }

    fn part(&self, word: &str, line: u64) -> Result<Part> {
        let part = Part::ALL.iter().find(|part| part.word() == word.trim());
        part.copied().ok_or_else(|| {
            let place = self.reader.place_of(line, self.columns.split);
            SpecError::new(place, Trouble::Part(shorten(word)))
                .hint("`data.split` names this column: every row of it is one of the three words")
        })
    }

    /// Names the first rows without a value and counts all of them, to the end of the table.
    fn refuse(&mut self, first: Chunk) -> Box<SpecError> {
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

    /// Says what a bad cell was wanted for.
    fn explain(&self, error: Box<SpecError>) -> Box<SpecError> {
        if self.reader.is_of_forecasts(&error.place) {
            return match error.problem {
                Trouble::Misfit(_) => error,
                _ => error.hint("the column is a forecast, and forecasts are finite numbers"),
            };
        }
        let Some(index) = error.place.column() else { return error };
        let mut placed = self.columns.targets.iter().chain(&self.columns.known);
        if let Some(i) = placed.position(|&t| t == index) {
            return error.hint(self.taken[i].cell_hint());
        }
        if self.columns.baseline.contains(&index) {
            return error
                .hint("`data.baseline` names the column: a decision that was taken, or an empty cell");
        }
        match error.problem {
            Trouble::NotANumber(_) => error.hint(
                "the column is a feature and seemed to hold numbers: say what it holds with data.kinds, as in \
                 kinds = { shop = \"category\" }, or add it to `data.exclude`",
            ),
            Trouble::NotADate(_) => error.hint(
                "the column is a feature and seemed to hold dates, such as 2018-06-01 or 2018-06-01T13:30: say what it \
                 holds with data.kinds, or add it to `data.exclude`",
            ),
            _ => error.hint("the column is a feature, and features are finite numbers"),
        }
    }
}
