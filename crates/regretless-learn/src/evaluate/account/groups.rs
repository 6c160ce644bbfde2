//! Sums by series, or by another column.

use std::collections::BTreeMap;

use super::Group;
use super::sums::{Line, Sums};
use crate::numbers::count;

/// Groups that are told apart.
const MOST: usize = 10_000;

/// Groups that are named in the end.
const NAMED: usize = 200;

#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    sums: BTreeMap<String, Sums>,
    others: Option<Sums>,
}

impl Groups {
    pub(super) fn add(&mut self, name: &str, line: &Line) {
        if let Some(sums) = self.sums.get_mut(name) {
            sums.add(line);
        } else if self.sums.len() < MOST {
            self.sums.entry(name.to_owned()).or_default().add(line);
        } else {
            self.others.get_or_insert_default().add(line);
        }
    }

    /// Those with the most regret first.
    pub(super) fn told(self, what: &str) -> Vec<Group> {
        let mut all: Vec<(String, Sums)> = self.sums.into_iter().collect();
        all.sort_by(|a, b| b.1.regret.total_cmp(&a.1.regret));
        let mut others = self.others.unwrap_or_default();
        let rest = all.split_off(all.len().min(NAMED));
        rest.iter().for_each(|(_, sums)| others.join(sums));
        let mut groups: Vec<Group> = all.into_iter().map(|(name, sums)| sums.group(name)).collect();
        let others = others.group(format!("{} more", count(rest.len(), what)));
        groups.extend((others.decisions > 0).then_some(others));
        groups
    }
}
