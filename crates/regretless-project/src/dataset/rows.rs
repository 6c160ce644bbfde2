//! From the cells of a chunk to rows of a dataset.

use regretless_learn::{Part, Past};

use super::{DataChunk, DataReader};
use crate::data::Chunk;
use crate::data_settings::Missing;
use crate::error::{Result, SpecError, Trouble, shorten};
use crate::lags;

impl DataReader<'_> {
    pub(super) fn take(&mut self, mut chunk: Chunk) -> Result<DataChunk> {
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

    fn part(&self, word: &str, line: u64) -> Result<Part> {
        let part = Part::ALL.iter().find(|part| part.word() == word.trim());
        part.copied().ok_or_else(|| {
            let place = self.reader.place_of(line, self.columns.split);
            SpecError::new(place, Trouble::Part(shorten(word)))
                .hint("`data.split` names this column: every row of it is one of the three words")
        })
    }
}
