//! Index sets and what is stated over them.

use std::collections::HashMap;

use super::ast::{Binder, Binders};

/// A member's name, as a number: names are compared often.
pub(super) type Label = usize;

/// All names of members.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    names: Vec<String>,
    found: HashMap<String, Label>,
}

impl Labels {
    pub(super) fn intern(&mut self, name: &str) -> Label {
        if let Some(&label) = self.found.get(name) {
            return label;
        }
        self.names.push(name.to_owned());
        self.found.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    pub(super) fn find(&self, name: &str) -> Option<Label> {
        self.found.get(name).copied()
    }

    pub(super) fn name(&self, label: Label) -> &str {
        &self.names[label]
    }
}

/// A set of members, each one name or, for a set of pairs, several.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) name: String,
    /// Names that make a member.
    pub(super) width: usize,
    /// The columns that hold these names in a CSV file.
    pub(super) keys: Vec<String>,
    /// The members in order, `width` names each.
    members: Vec<Label>,
    found: HashMap<Vec<Label>, usize>,
}

impl Set {
    pub(super) fn new(name: &str, keys: Vec<String>) -> Self {
        Self { name: name.to_owned(), width: keys.len(), keys, members: Vec::new(), found: HashMap::new() }
    }

    /// Adds a member; false if it is there already.
    pub(super) fn push(&mut self, member: Vec<Label>) -> bool {
        debug_assert_eq!(member.len(), self.width);
        if self.found.contains_key(&member) {
            return false;
        }
        let place = self.len();
        self.members.extend_from_slice(&member);
        self.found.insert(member, place);
        true
    }

    pub(super) fn len(&self) -> usize {
        self.members.len() / self.width
    }

    pub(super) fn member(&self, i: usize) -> &[Label] {
        &self.members[i * self.width..(i + 1) * self.width]
    }

    pub(super) fn position(&self, member: &[Label]) -> Option<usize> {
        self.found.get(member).copied()
    }
}

/// The sets that something is stated over, with the names of their indices.
#[derive(Clone, Debug, Default)]
pub(super) struct Domain {
    /// Which sets.
    pub(super) sets: Vec<usize>,
    /// The indices of each set; empty where they have no names.
    pub(super) names: Vec<Vec<String>>,
}

impl Domain {
    /// Indices that stand in brackets.
    pub(super) fn width(&self, sets: &[Set]) -> usize {
        self.sets.iter().map(|&s| sets[s].width).sum()
    }

    /// How many members; saturates.
    pub(super) fn len(&self, sets: &[Set]) -> usize {
        self.sets.iter().fold(1, |len: usize, &s| len.saturating_mul(sets[s].len()))
    }

    /// The place of a member among all: the last set runs fastest.
    pub(super) fn flat(&self, sets: &[Set], positions: &[usize]) -> usize {
        self.sets.iter().zip(positions).fold(0, |flat, (&s, &p)| flat * sets[s].len() + p)
    }

    /// The names that make a member.
    pub(super) fn labels(&self, sets: &[Set], flat: usize) -> Vec<Label> {
        let mut rest = flat;
        let mut parts: Vec<&[Label]> = Vec::new();
        for &s in self.sets.iter().rev() {
            parts.push(sets[s].member(rest % sets[s].len()));
            rest /= sets[s].len();
        }
        parts.into_iter().rev().flatten().copied().collect()
    }

    /// Indices that run over the domain.
    pub(super) fn binders(&self, sets: &[Set]) -> Binders {
        let binder = |(i, &s): (usize, &usize)| Binder {
            names: self.names.get(i).cloned().unwrap_or_default(),
            set: sets[s].name.clone(),
            span: 0..0,
        };
        Binders { binders: self.sets.iter().enumerate().map(binder).collect(), filters: Vec::new() }
    }

    /// The sets in words: `hour, arc`.
    pub(super) fn words(&self, sets: &[Set]) -> String {
        self.sets.iter().map(|&s| sets[s].name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_name_and_by_place() {
        let mut labels = Labels::default();
        let mut arc = Set::new("arc", vec!["from".into(), "to".into()]);
        let mut hour = Set::new("hour", vec!["hour".into()]);
        for (from, to) in [("a", "b"), ("b", "c"), ("a", "b")] {
            let member = vec![labels.intern(from), labels.intern(to)];
            arc.push(member);
        }
        for h in ["0", "1", "2"] {
            hour.push(vec![labels.intern(h)]);
        }
        assert_eq!((arc.len(), hour.len()), (2, 3));
        let sets = [arc, hour];
        let domain = Domain { sets: vec![0, 1], names: Vec::new() };
        assert_eq!((domain.width(&sets), domain.len(&sets)), (3, 6));
        for flat in 0..6 {
            let member = domain.labels(&sets, flat);
            let places = [sets[0].position(&member[..2]).unwrap(), sets[1].position(&member[2..]).unwrap()];
            assert_eq!(domain.flat(&sets, &places), flat);
        }
        let names: Vec<_> = domain.labels(&sets, 4).into_iter().map(|l| labels.name(l)).collect();
        assert_eq!(names, ["b", "c", "1"]);
    }
}
