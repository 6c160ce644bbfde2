//! What expressions speak of: sets, variables and quantities by name.

use std::collections::BTreeMap;

use super::ast::Expr;
use super::sets::{Domain, Label, Labels, Set};
use crate::key::Key;

/// Everything that has a name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(super) labels: Labels,
    pub(super) sets: Vec<Set>,
    pub(super) variables: Vec<Variable>,
    pub(super) quantities: Vec<Quantity>,
    /// The columns that predicted and known quantities are read from.
    pub(crate) columns: Vec<Column>,
    pub(super) symbols: BTreeMap<String, Symbol>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Set(usize),
    Variable(usize),
    Quantity(usize),
}

/// Variables of one name, over sets.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) domain: Domain,
    /// The first of them among all variables.
    pub(super) first: usize,
    pub(super) lower: Option<Text>,
    pub(super) upper: Option<Text>,
    /// Its value before the first member, where an index is shifted that far.
    pub(super) before: Option<Text>,
    /// And after the last.
    pub(super) after: Option<Text>,
    /// The last member comes before the first.
    pub(super) cyclic: bool,
}

/// A parsed text and the key it stands at.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) key: Key,
    pub(super) expr: Expr,
}

/// Numbers of one name, over sets.
#[derive(Clone, Debug)]
pub(super) struct Quantity {
    pub(super) name: String,
    pub(super) domain: Domain,
    pub(super) values: Values,
}

#[derive(Clone, Debug)]
pub(super) enum Values {
    /// The same in every instance.
    Fixed(Vec<f64>),
    /// From these columns, one a member; the first of them among all columns.
    Columns(usize),
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: String,
    /// What it is in expressions: `price[0]`.
    pub(crate) stands_for: String,
    /// The quantity that it belongs to.
    pub(crate) quantity: String,
    /// Whether it is predicted; otherwise it is known when the decision is taken.
    pub(crate) predicted: bool,
}

impl Model {
    /// `flow[a,b]`: a name with the members that it is for.
    pub(super) fn indexed(&self, name: &str, labels: &[Label]) -> String {
        if labels.is_empty() {
            return name.to_owned();
        }
        let names: Vec<_> = labels.iter().map(|&l| self.labels.name(l)).collect();
        format!("{name}[{}]", names.join(","))
    }

    /// The variables' names, in order.
    pub(super) fn variable_names(&self) -> Vec<String> {
        let of = |v: &Variable| -> Vec<String> {
            let members = 0..v.domain.len(&self.sets);
            members.map(|i| self.indexed(&v.name, &v.domain.labels(&self.sets, i))).collect()
        };
        self.variables.iter().flat_map(of).collect()
    }

    /// What a name could have been meant to be.
    pub(super) fn near(&self, name: &str) -> Option<&str> {
        // Short names are all alike.
        let known: Vec<String> = self.symbols.keys().filter(|known| known.len() > 2).cloned().collect();
        let near = crate::suggest::nearest(name, &known)?.to_owned();
        self.symbols.get_key_value(&near).map(|(name, _)| name.as_str())
    }
}
