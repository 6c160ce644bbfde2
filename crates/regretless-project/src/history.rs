//! From the tables that a problem file names to what is learned from.

use std::path::Path;
use std::sync::Arc;

use regretless_learn::{Dataset, Names, Part, Past, Series, Settings, Split, Task, Timed, some_of};

use crate::columns::{Columns, Want, Wonted};
use crate::error::{Place, ProjectError, Result, SpecError, Trouble};
use crate::selection::pick;
use crate::{DataFiles, DataReader, Frame, Limits, Overrides, Spec, TableReader, lags};

const BOTH: Want = Want { features: true, targets: true };

impl Spec {
    /// Reads the tables of the section `[data]`.
    pub fn read_data(&self) -> Result<Dataset> {
        Ok(self.read_columns()?.0)
    }

    /// [`Spec::read_data`] ready to be learned from.
    pub fn task(&self) -> std::result::Result<Task, ProjectError> {
        self.task_of(self.read_data()?)
    }

    /// Data that were read already, ready to be learned from.
    pub fn task_of(&self, data: Dataset) -> std::result::Result<Task, ProjectError> {
        let placement = self.placement(&data.names.targets, &data.known.names)?;
        Ok(Task::new(self.problem.clone(), placement, data, self.settings.clone())?)
    }

    /// The same data split in another way by when rows are.
    pub fn task_split(&self, data: &Dataset, split: Timed) -> std::result::Result<Task, ProjectError> {
        let placement = self.placement(&data.names.targets, &data.known.names)?;
        let settings = Settings { split: Split::Timed(split), ..self.settings.clone() };
        // Whatever parts files or columns gave them.
        let parts = vec![None; data.rows()];
        let data = Dataset { parts, sources: Vec::new(), ..data.clone() };
        Ok(Task::new(self.problem.clone(), placement, data, settings)?)
    }

    /// Rolling origins: the same data split at so many moments, each with a seed of its own, from that of the settings on.
    pub fn origins(&self, data: &Dataset, count: usize) -> std::result::Result<Vec<Task>, ProjectError> {
        let splits = data.origins(&self.settings().split, count)?;
        let one = |(k, split): (u64, Timed)| {
            let mut settings = self.settings.clone();
            settings.training.seed = settings.training.seed.wrapping_add(k);
            Self { settings, ..self.clone() }.task_split(data, split)
        };
        (0..).zip(splits).map(one).collect()
    }

    /// The problem without a baseline where a table lacks all of its columns, and what is to be said then.
    pub fn baseline_if_there(self, path: &Path) -> Result<(Self, Option<String>)> {
        let named = self.data().map_or(&[][..], |data| &data.baseline);
        if named.is_empty() {
            return Ok((self, None));
        }
        let table = TableReader::open(path, &Limits { table_bytes: u64::MAX, ..*self.limits() })?;
        if named.iter().any(|selector| !pick(selector, table.header()).is_empty()) {
            return Ok((self, None));
        }
        let note = format!(
            "{} has no column of `data.baseline` ({}): nothing is compared with it",
            path.display(),
            some_of(named)
        );
        let spec = self.with_overrides(Overrides { baseline: Some(Vec::new()), ..Overrides::default() })?;
        Ok((spec, Some(note)))
    }

    /// The data and the columns they came from.
    pub fn read_columns(&self) -> Result<(Dataset, Columns)> {
        let Some(data) = self.data() else {
            let place = Place::File(self.file().to_owned());
            return Err(SpecError::new(place, Trouble::Empty("the file names no data to learn from")).hint(
                "add a section\n  [data]\n  file = \"history.csv\"\nwith a table that holds the features and the true values \
                 of what is predicted",
            ));
        };
        let files = match &data.files {
            DataFiles::Memory => {
                let place = Place::File(self.file().to_owned());
                let trouble = Trouble::Empty("the rows were in memory, and the file names no table");
                return Err(SpecError::new(place, trouble).hint("give a table to learn from"));
            }
            DataFiles::One(file) => vec![(file, None)],
            DataFiles::Parts { train, valid, test } => {
                let parts =
                    [(Some(train), Part::Train), (valid.as_ref(), Part::Valid), (test.as_ref(), Part::Test)];
                parts.into_iter().filter_map(|(file, part)| Some((file?, Some(part)))).collect()
            }
        };
        let tables: Vec<_> =
            files.iter().map(|(file, _)| move || TableReader::open(file, self.limits())).collect();
        let past = self.past(&tables, files[0].0)?;
        let mut history = History::new(self, past);
        for (file, part) in files {
            history.add(file, part)?;
        }
        Ok(history.done())
    }

    /// What features of the past are made of: all rows, those without a truth among them.
    fn past<'a>(
        &self,
        tables: &[impl Fn() -> Result<TableReader<'a>>],
        file: &Path,
    ) -> Result<Option<Arc<Past>>> {
        // Nobody asks for any: no table is looked at twice.
        let asked =
            self.data().iter().flat_map(|data| &data.features).flatten().any(|s| lags::asked(s).is_some());
        let Some(first) = tables.first().filter(|_| asked) else { return Ok(None) };
        let table = first()?;
        let Some(lags) = lags::of(self, table.header(), &table.guesses(), &table.place())? else {
            return Ok(None);
        };
        let mut past = Past::new(lags);
        lags::add(&mut past, table, self.limits())?;
        for table in &tables[1..] {
            lags::add(&mut past, table()?, self.limits())?;
        }
        lags::settle(past, file).map(|past| Some(Arc::new(past)))
    }

    /// The data in a frame, and the columns they came from: a table as any other, whatever `[data]` names.
    pub fn read_frame(&self, frame: &Frame) -> Result<(Dataset, Columns)> {
        let past = self.past(&[|| Ok(frame.reader())], Path::new(frame.name()))?;
        let mut history = History::new(self, past);
        let reader = DataReader::new(self, frame.reader(), BOTH)?;
        history.take(reader, "", None)?;
        // Rows of a frame have numbers and no lines.
        history.data.lines.clear();
        history.data.sources.clear();
        Ok(history.done())
    }
}

/// Tables one after the other.
struct History<'a> {
    spec: &'a Spec,
    past: Option<Arc<Past>>,
    data: Dataset,
    columns: Columns,
}

impl<'a> History<'a> {
    fn new(spec: &'a Spec, past: Option<Arc<Past>>) -> Self {
        Self { spec, past, data: Dataset::default(), columns: Columns::default() }
    }

    fn done(mut self) -> (Dataset, Columns) {
        self.data.past = self.past.map(|past| past.recent());
        (self.data.in_time(), self.columns)
    }

    fn add(&mut self, file: &Path, part: Option<Part>) -> Result<()> {
        let mut table = TableReader::open(file, self.spec.limits())?;
        if let Some((forecasts, data)) =
            self.spec.data().and_then(|data| Some((data.forecasts.as_ref()?, data)))
        {
            let forecasts = TableReader::open(forecasts, self.spec.limits())?;
            table = table.with_forecasts(forecasts, data.key.as_deref());
        }
        // What the first table has for features the others have, too, whatever their first rows look like.
        let Dataset { names, kinds, .. } = &self.data;
        let wonted = Wonted { names: &names.features, kinds, lags: self.columns.lags.as_ref(), fixed: false };
        let later = (self.data.rows() > 0).then_some(wonted);
        let reader = DataReader::wonted(self.spec, table, BOTH, later)?;
        self.take(reader, &shown(file), part)
    }

    fn take(&mut self, reader: DataReader<'_>, name: &str, part: Option<Part>) -> Result<()> {
        let mut reader = reader.knowing(self.past.clone());
        let (data, found) = (&mut self.data, reader.columns());
        let first = data.rows();
        if first == 0 {
            self.columns = found.clone();
            data.names = Names {
                features: found.feature_names.clone(),
                targets: found.target_names.clone(),
                per_variable: found.per_variable.clone(),
            };
            data.known.names = found.known_names.clone();
            data.baseline.names = found.baseline_names.clone();
            data.baseline_name = found.baseline_name.clone();
            data.groups = found.group_names.iter().map(|name| (name.clone(), Series::default())).collect();
            data.unused = found.unused.clone();
            if !found.skipped.is_empty() {
                data.notes.push(format!("columns of text are no features: {}", found.skipped.join(", ")));
            }
        } else if data.known.names != found.known_names || data.names.targets != found.target_names {
            let what = format!("its columns are in another order than those of {}", data.sources[0].0);
            return Err(SpecError::new(Place::File(name.into()), Trouble::Misfit(what))
                .hint("name them one by one, with `predict` and `known`"));
        }
        if let (Split::Timed(timed), Some((_, dates))) = (&self.spec.settings().split, found.time) {
            let stated = timed.test_from.is_some() || timed.valid_from.is_some();
            if stated && timed.dates != dates {
                let words = |dates| if dates { "dates" } else { "numbers" };
                let what = format!(
                    "`data.time` holds {}, and the split states {}",
                    words(dates),
                    words(timed.dates)
                );
                return Err(SpecError::new(reader.place_of(1), Trouble::Misfit(what)));
            }
        }
        data.sources.push((name.to_owned(), first));
        data.dates = found.time.is_some_and(|(_, dates)| dates);
        let mut dropped = 0;
        while let Some(chunk) = reader.next()? {
            data.features.extend(&chunk.features);
            data.targets.extend(&chunk.targets);
            data.known.values.extend(&chunk.known);
            data.baseline.values.extend(&chunk.baseline);
            data.lines.extend(&chunk.lines);
            data.times.extend(&chunk.times);
            for name in chunk.series.into_iter().flatten() {
                data.series.push(&name);
            }
            for ((_, of), own) in data.groups.iter_mut().zip(&chunk.groups) {
                own.iter().for_each(|name| of.push(name));
            }
            match chunk.parts {
                Some(parts) if part.is_none() => data.parts.extend(parts.into_iter().map(Some)),
                _ => data.parts.extend(std::iter::repeat_n(part, chunk.rows)),
            }
            dropped += chunk.dropped;
        }
        data.kinds = reader.kinds();
        data.dropped += dropped;
        let place = if name.is_empty() { String::new() } else { format!("{name}: ") };
        data.notes.extend(reader.remark().map(|remark| format!("{place}{remark}")));
        data.notes.extend(reader.oddities().iter().map(|odd| format!("{place}{odd}")));
        data.notes.extend(reader.gaps().map(|gaps| format!("{place}{gaps}")));
        data.notes.extend(reader.dropped().map(|dropped| format!("{place}{dropped}")));
        Ok(())
    }
}

/// A file as notes name it, the same however its path was given and on every machine: from here on if it lies below, or else by its name.
fn shown(file: &Path) -> String {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let here = std::env::current_dir().unwrap_or_default();
    let below = whole.strip_prefix(here).ok().map(Path::to_owned);
    let shown = below.or_else(|| file.file_name().map(Into::into)).unwrap_or(whole);
    shown.display().to_string()
}
