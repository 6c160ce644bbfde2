//! Expressions as they are written, every part with its bytes in the text.

use std::ops::Range;

/// A number, a sum, a product, …
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expr {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// `0.9`
    Number(f64),
    /// `stored[h-1]`, or `budget` without indices.
    Name { name: String, at: Vec<Index> },
    /// `sum(h in hour: …)`
    Sum { over: Binders, body: Box<Expr> },
    /// `a + b - c`, each with whether it is taken away.
    Added(Vec<(bool, Expr)>),
    /// `a * b / c`, each with whether it divides.
    Product(Vec<(bool, Expr)>),
    /// `(…)^2`
    Square(Box<Expr>),
}

/// What stands in brackets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Index {
    pub(super) kind: IndexKind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum IndexKind {
    /// `h`, `h-1`: an index that is bound, and by how much it is shifted.
    Name(String, isize),
    /// `'north'`, `0`: a member by name.
    Member(String),
}

/// `h in hour, (i, j) in arc if i != 'depot'`
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Binders {
    pub(super) binders: Vec<Binder>,
    pub(super) filters: Vec<Filter>,
}

/// `h in hour`; without names, `hour`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Binder {
    pub(super) names: Vec<String>,
    pub(super) set: String,
    pub(super) span: Range<usize>,
}

/// `h != 0`
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filter {
    pub(super) left: Index,
    pub(super) test: Test,
    pub(super) right: Index,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Equal,
    Unequal,
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// How two sides of a row compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    AtMost,
    AtLeast,
    Equal,
}

impl Sign {
    /// The sign of the row with its sides exchanged.
    pub(super) fn flipped(self) -> Self {
        match self {
            Self::AtMost => Self::AtLeast,
            Self::AtLeast => Self::AtMost,
            Self::Equal => Self::Equal,
        }
    }
}

/// `left <= right`, or `low <= middle <= high`: the first side, then the others with their signs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Relation {
    pub(super) first: Expr,
    pub(super) rest: Vec<(Sign, Expr)>,
}
