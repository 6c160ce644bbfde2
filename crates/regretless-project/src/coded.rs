//! Frames as a model knows their columns.

use regretless_learn::{Kind, ModelCard, Past};

use crate::data::{Allowed, Levels, Reads, Selection, Wanted};
use crate::error::{Result, SpecError, count, shorten};
use crate::selection::no_column;
use crate::{Frame, Trouble, lags};

/// The features of a model, found by name in a frame, as the model takes them, row after row; and what is new to it, in words.
///
/// Numbers that are no cell's value are NaN, which a model takes for missing.
/// Features of the past are made of `past`, or else missing.
pub fn features_of(frame: &Frame, card: &ModelCard, past: Option<&Past>) -> Result<(Vec<f64>, Vec<String>)> {
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
    let (mut features, mut beyond) = (Vec::new(), 0);
    while let Some(mut chunk) = table.next()? {
        let Some(lags) = &card.lags else {
            features.append(&mut chunk.values);
            continue;
        };
        for (i, row) in chunk.values.chunks_exact(width).enumerate() {
            let time = row[own] / if lags.dates { 86_400.0 } else { 1.0 };
            features.extend(&row[..own]);
            let series = lags::series(&chunk.texts, i);
            let looked = past.filter(|_| !time.is_nan()).map(|past| past.look(&series, time));
            let seen = looked.into_iter().flatten().chain(std::iter::repeat(None)).take(looked_back);
            let before = features.len();
            features.extend(seen.flat_map(|seen| std::iter::once(seen.unwrap_or(f64::INFINITY))));
            let unknown = features[before..].iter().filter(|v| v.is_infinite()).count();
            features[before..].iter_mut().filter(|v| v.is_infinite()).for_each(|v| *v = f64::NAN);
            beyond += usize::from(unknown > 0);
        }
    }
    let mut told = strangers(categories.into_iter(), table.levels());
    if beyond > 0 {
        let what = "look back beyond the history that is known, and what they lack is taken as missing";
        told.push(format!("{} {what}", count(beyond, "row")));
    }
    Ok((features, told))
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
