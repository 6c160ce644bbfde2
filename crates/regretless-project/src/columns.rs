//! Which columns of a table are features, targets, the key and the split.

mod features;

use std::collections::BTreeSet;

use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::predict::{no_column, pick, repeated};
use crate::{Predicted, Spec};
use regretless_core::problem::Named;
use regretless_learn::Split;

/// What is read of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// The features.
    pub features: bool,
    /// The truths of the predicted parts, and the column of the split.
    pub targets: bool,
}

/// The columns of a table that are used, counted from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The feature columns, in the order of the features.
    pub features: Vec<usize>,
    /// Their names.
    pub feature_names: Vec<String>,
    /// The columns of the predicted parts, in the order of [`Spec::predicted`].
    pub targets: Vec<usize>,
    /// Their names.
    pub target_names: Vec<String>,
    /// The column that splits the rows.
    pub split: Option<usize>,
    /// The column that names the rows.
    pub key: Option<usize>,
    /// For a shared predictor: the features of each variable, as positions in `features`; all of one length.
    pub per_variable: Option<Vec<Vec<usize>>>,
    /// Columns of text that nothing selects, so that they are no features.
    pub skipped: Vec<String>,
    /// What to write as `data.features` so that any table gives the same features.
    pub selectors: Vec<String>,
}

impl Columns {
    /// Finds the columns in `header`. `textual` tells which hold text, see [`crate::TableReader::textual`]; `place` is what
    /// messages name.
    pub fn resolve(
        spec: &Spec,
        header: &[String],
        textual: &[bool],
        want: Want,
        place: &Place,
    ) -> Result<Self> {
        let data = spec.data();
        let one = |name: &str, key: &str| {
            let exact: Vec<_> = (0..header.len()).filter(|&i| header[i] == name).collect();
            match exact[..] {
                [index] => Ok(index),
                [] => Err(no_column(name, header, place, &format!("`{key}` names it"))),
                _ => Err(SpecError::new(place.clone(), Trouble::AmbiguousColumn(shorten(name)))),
            }
        };
        let mut columns = Self::default();
        if let Some(key) = data.and_then(|data| data.key.as_deref()) {
            columns.key = Some(one(key, "data.key")?);
        }
        if let (true, Split::Column(split)) = (want.targets, &spec.settings().split) {
            columns.split = Some(one(split, "data.split.column")?);
        }
        if want.targets {
            columns.targets = targets(spec, header, place)?.into_iter().map(|(index, _)| index).collect();
        }
        if want.features {
            features::resolve(&mut columns, spec, header, textual, want, place)?;
        }
        let name = |&i: &usize| header[i].clone();
        columns.feature_names = columns.features.iter().map(name).collect();
        columns.target_names = columns.targets.iter().map(name).collect();
        if let Some(twice) = repeated(columns.feature_names.iter()) {
            return Err(SpecError::new(place.clone(), Trouble::AmbiguousColumn(shorten(twice)))
                .hint("it would be a feature: rename one of the two, or add the name to `data.exclude`"));
        }
        if columns.selectors.is_empty() {
            columns.selectors.clone_from(&columns.feature_names);
        }
        Ok(columns)
    }
}

/// The columns of the predicted parts, in their order, each with its part.
pub(crate) fn targets<'a>(
    spec: &'a Spec,
    header: &[String],
    place: &Place,
) -> Result<Vec<(usize, &'a Predicted)>> {
    let mut all = Vec::new();
    for part in spec.predicted() {
        let mut chosen = part.select(header, place)?;
        // What a pattern found comes in the order of the table: names beat that, a list is meant as it is written.
        if let [_pattern] = part.columns.as_slice() {
            let names: Vec<String> = chosen.iter().map(|&i| header[i].clone()).collect();
            if let Named::All(order) = spec.problem().named(part.parameter, part.range.clone(), &names) {
                chosen = order.into_iter().map(|k| chosen[k]).collect();
            }
        }
        all.extend(chosen.into_iter().map(|index| (index, part)));
    }
    Ok(all)
}

/// Every column that a predicted part selects, whether or not the table has them all.
fn predicted(spec: &Spec, header: &[String]) -> BTreeSet<usize> {
    let selectors = spec.predicted().iter().flat_map(|part| &part.columns);
    selectors.flat_map(|selector| pick(selector, header)).collect()
}
