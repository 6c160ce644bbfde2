//! Frames as a model knows their columns.

use regretless_learn::{Kind, ModelCard, Past};

use crate::data::{Allowed, Guess, Levels, Reads, Selection, Wanted};
use crate::error::{Result, SpecError, count, shorten};
use crate::selection::no_column;
use crate::{Frame, Trouble, lags};

/// The features of a model in a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// As the model takes them, row after row. Cells without a value, and features of a past that is not known, are NaN, which a model
    /// takes for missing.
    pub features: Vec<f64>,
    /// What is new to the model, in words.
    pub told: Vec<String>,
    /// Rows that look back beyond what is known, and what they lack: nobody can decide for them.
    pub beyond: Vec<(usize, String)>,
}

/// The features of a model, found by name in a frame. Features of the past are made of `past`.
pub fn features_of(frame: &Frame, card: &ModelCard, past: Option<&Past>) -> Result<Seen> {
    let mut table = frame.reader();
    let (header, place) = (frame.header(), table.place());
    let mut levels = Vec::new();
    let mut columns = Vec::with_capacity(card.features.len());
    let mut categories = Vec::new();
    let find = |name: &String, why: &str| {
        let mut there = (0..header.len()).filter(|&i| header[i] == *name);
        let index = there.next().ok_or_else(|| no_column(name, header, &place, why))?;
        if there.next().is_some() {
            return Err(SpecError::new(place.clone(), Trouble::AmbiguousColumn(shorten(name))));
        }
        Ok(index)
    };
    let looked_back = card.lags.as_ref().map_or(0, |lags| lags.features.len());
    let own = card.features.len().saturating_sub(looked_back);
    for (name, kind) in card.features[..own].iter().zip(card.kinds()) {
        let index = find(name, "it is a feature of the model")?;
        columns.push(match kind {
            Kind::Number => Wanted::number(index, Some(Allowed::Finite), true),
            Kind::Date(_) => Wanted { index, reads: Reads::Moment },
            Kind::Category(names) => {
                levels.push(Levels::of(&names, true));
                categories.push(name);
                Wanted { index, reads: Reads::Level(levels.len() - 1) }
            }
        });
    }
    let mut texts = Vec::new();
    if let Some(lags) = &card.lags {
        let time = find(&lags.time, "it says when a row is")?;
        let number = Wanted::number(time, Some(Allowed::Finite), true);
        columns.push(if lags.dates { Wanted { index: time, reads: Reads::Moment } } else { number });
        for name in &lags.series {
            texts.push(find(name, "it names the series")?);
        }
    }
    let width = columns.len();
    table.select_checked(Selection { columns, texts, levels, ..Selection::default() });
    let mut seen = Seen::default();
    let mut number = 0;
    while let Some(mut chunk) = table.next()? {
        let Some(lags) = &card.lags else {
            seen.features.append(&mut chunk.values);
            continue;
        };
        for (i, row) in chunk.values.chunks_exact(width).enumerate() {
            let time = row[own] / if lags.dates { 86_400.0 } else { 1.0 };
            seen.features.extend(&row[..own]);
            let series = lags::series(&chunk.texts, i);
            let past = past.filter(|_| !time.is_nan());
            let looked =
                past.map_or_else(|| vec![f64::NAN; looked_back], |past| past.look(&series, time).collect());
            let known =
                past.map_or_else(|| vec![false; looked_back], |past| past.knows(&series, time).collect());
            let lacked = card.features[own..].iter().zip(known).filter(|(_, known)| !known);
            let lacked: Vec<String> = lacked.map(|(name, _)| name.clone()).collect();
            if !lacked.is_empty() {
                seen.beyond.push((number, lags::missing(&lacked)));
            }
            seen.features.extend(looked);
            number += 1;
        }
    }
    seen.told = strangers(categories.into_iter(), table.levels());
    Ok(seen)
}

/// When the rows of a frame are, whether in days since the beginning of 1970, and their series, as far as it has the columns.
pub fn moments_of(frame: &Frame, time: Option<&str>, series: &[String]) -> Result<Moments> {
    let mut table = frame.reader();
    let header = frame.header();
    let place = |name: &str| header.iter().position(|there| there == name);
    let at = time.and_then(place);
    let dates = at.is_some_and(|i| table.guesses().get(i) != Some(&Guess::Number));
    let texts: Option<Vec<usize>> = series.iter().map(|name| place(name)).collect();
    let texts = texts.unwrap_or_default();
    let named = !texts.is_empty();
    let column = at.map(|index| {
        if dates {
            Wanted { index, reads: Reads::Moment }
        } else {
            Wanted::number(index, Some(Allowed::Finite), true)
        }
    });
    table.select_checked(Selection { columns: column.into_iter().collect(), texts, ..Selection::default() });
    let mut found = Moments { dates, ..Moments::default() };
    while let Some(chunk) = table.next()? {
        let unit = if dates { 86_400.0 } else { 1.0 };
        found.times.extend(chunk.values.iter().map(|at| at / unit));
        if named {
            found.series.extend((0..chunk.rows).map(|row| lags::series(&chunk.texts, row)));
        }
    }
    Ok(found)
}

/// When rows are, and of what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    /// Times; empty if no column says.
    pub times: Vec<f64>,
    /// Whether they are days since the beginning of 1970.
    pub dates: bool,
    /// Series; empty if no column says.
    pub series: Vec<String>,
}

/// Levels that a model does not know, in words, a line a column.
pub(crate) fn strangers<'a>(names: impl Iterator<Item = &'a String>, levels: &[Levels]) -> Vec<String> {
    let line = |(name, levels): (&String, &Levels)| {
        let (cells, first) = levels.strangers();
        let first: Vec<String> = first.into_iter().map(|text| format!("`{}`", shorten(text))).collect();
        (cells > 0).then(|| {
            let what = "that no training row has, which count as the mean of all, in trees as rare ones";
            format!("`{}`: {} with levels {what}: {}", shorten(name), count(cells, "row"), first.join(", "))
        })
    };
    names.zip(levels).filter_map(line).collect()
}
