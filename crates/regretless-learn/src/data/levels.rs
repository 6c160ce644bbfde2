//! What a user should know of categories: levels that only later rows have, and rare ones that are not told apart.

use super::dataset::Dataset;
use super::encoder::Encoding;
use super::kind::Kind;
use crate::numbers::{count, some_of};

/// Names in a note; more are counted.
const NAMED: usize = 5;

/// Levels that validation or test rows have and no training row, a note a column.
pub(crate) fn strangers(data: &Dataset, parts: &[Vec<usize>; 3]) -> Vec<String> {
    let width = data.width();
    let one = |(j, kind): (usize, &Kind)| {
        let Kind::Category(names) = kind else { return None };
        let level = |row: &usize| data.features[row * width + j];
        let mut known = vec![false; names.len()];
        let place = |cell: f64| (cell >= 0.0).then_some(cell as usize).filter(|l| *l < names.len());
        parts[0].iter().filter_map(|row| place(level(row))).for_each(|l| known[l] = true);
        let others = parts[1..].iter().flatten().filter_map(|row| place(level(row)));
        let new: Vec<usize> = others.filter(|l| !known[*l]).collect();
        let mut once = new.clone();
        once.sort_unstable();
        once.dedup();
        let shown: Vec<String> = once.iter().take(NAMED).map(|l| format!("`{}`", names[*l])).collect();
        let more =
            if once.len() > NAMED { format!(" and {} more", once.len() - NAMED) } else { String::new() };
        let (rows, name) = (count(new.len(), "row"), &data.names.features[j]);
        (!new.is_empty()).then(|| {
            let shown = shown.join(", ");
            format!(
                "`{name}`: {rows} of validation and test with levels that no training row has: {shown}{more}"
            )
        })
    };
    data.kinds.iter().enumerate().filter_map(one).collect()
}

/// Levels of training rows that are not told apart, in words; `None` if there are none.
pub(crate) fn merged(name: &str, column: &Encoding) -> Option<String> {
    let Encoding::Category { levels, kept } = column else { return None };
    let there = |l: &usize| !levels[*l].is_empty() && !kept.contains(&(*l as u32));
    let rare: Vec<String> = (0..levels.len()).filter(there).map(|l| format!("`{}`", levels[l])).collect();
    let what = "of too few training rows, taken together";
    (!rare.is_empty()).then(|| format!("`{name}`: {} {what}: {}", count(rare.len(), "level"), some_of(&rare)))
}
