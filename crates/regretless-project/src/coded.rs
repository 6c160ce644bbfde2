//! Frames as a model knows their columns.

use regretless_learn::{Kind, ModelCard};

use crate::data::{Allowed, Levels, Reads, Selection, Wanted};
use crate::error::{Result, SpecError, count, shorten};
use crate::selection::no_column;
use crate::{Frame, Trouble};

/// The features of a model, found by name in a frame, as the model takes them, row after row; and what is new to it, in words.
///
/// Numbers that are no cell's value are NaN, which a model takes for missing.
pub fn features_of(frame: &Frame, card: &ModelCard) -> Result<(Vec<f64>, Vec<String>)> {
    let mut table = frame.reader();
    let (header, place) = (frame.header(), table.place());
    let mut levels = Vec::new();
    let mut columns = Vec::with_capacity(card.features.len());
    let mut categories = Vec::new();
    for (name, kind) in card.features.iter().zip(card.kinds()) {
        let mut there = (0..header.len()).filter(|&i| header[i] == *name);
        let index =
            there.next().ok_or_else(|| no_column(name, header, &place, "it is a feature of the model"))?;
        if there.next().is_some() {
            return Err(SpecError::new(place, Trouble::AmbiguousColumn(shorten(name))));
        }
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
    table.select_checked(Selection { columns, levels, ..Selection::default() });
    let mut features = Vec::new();
    while let Some(mut chunk) = table.next()? {
        features.append(&mut chunk.values);
    }
    Ok((features, strangers(categories.into_iter(), table.levels())))
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
