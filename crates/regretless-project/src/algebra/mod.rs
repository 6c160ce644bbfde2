//! Problems in algebra: variables over index sets, rows and an objective as expressions.
//!
//! ```text
//! sections of the file → Model (sets, variables, quantities by name)          declare, values, tables
//! text → tokens → expressions with their bytes in the text                     token, parse, parse_index, ast
//! expressions × members → rows with coefficients affine in columns             expand, lookup, binders, rows, statement
//! rows → a Problem and the places of its columns                               lower
//! ```
//!
//! Linear rows and convex quadratic objectives; whatever else is written is refused at its bytes, with what to write
//! instead. `docs/algebra.md` has the grammar.

mod ast;
mod binders;
mod declare;
mod expand;
mod form;
mod lookup;
mod lower;
mod model;
mod number;
mod parse;
mod parse_index;
mod rows;
mod sets;
mod show;
mod statement;
mod tables;
mod text;
mod token;
mod values;
mod write;

use std::ops::Range;

use crate::key::Key;

pub(crate) use declare::Order;
pub(crate) use lower::coefficients;
pub use show::{Expansion, Family, Goal, RowFamily, WrittenRow};
pub(crate) use statement::{Statement, state};
pub(crate) use write::write;

/// A problem in algebra as it was written, and what it comes to.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    pub(crate) file: crate::file::AlgebraFile,
    pub(crate) statement: Statement,
}

/// What is wrong, and where in a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    /// The key of the text, where it is another than the one that is being expanded.
    pub(crate) key: Option<Key>,
    pub(crate) span: Range<usize>,
    pub(crate) what: String,
    pub(crate) hint: Option<String>,
}

impl Fault {
    fn new(span: Range<usize>, what: impl Into<String>) -> Self {
        Self { key: None, span, what: what.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// In the text of `key`, unless another is to blame.
    fn at(self, key: &Key) -> Self {
        Self { key: self.key.or_else(|| Some(key.clone())), ..self }
    }
}
