//! Soft and hard blocks.

use std::collections::BTreeSet;
use std::ops::Range;

use regretless_core::{ProblemBuilder, Soft};

use super::Context;
use super::part::{MatrixPart, VectorPart};
use crate::data::Allowed;
use crate::error::{Result, Trouble, shorten};
use crate::file::{HardSection, SoftSection, Vector};
use crate::key::Key;
use crate::{Parameter, Predicted};

/// Takes the blocks in order and remembers where each lies among the stacked rows of its kind.
pub(super) struct Blocks<'a> {
    ctx: &'a Context<'a>,
    n: usize,
    names: BTreeSet<String>,
    soft: usize,
    at_most: usize,
    equal: usize,
    pub(super) predicted: Vec<Predicted>,
}

/// A vector of a block with the key it stands at.
struct Side {
    key: Key,
    part: VectorPart,
}

/// What predicted parts of one block have in common.
struct Home<'a> {
    name: &'a str,
    rows: Range<usize>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(ctx: &'a Context<'a>, n: usize) -> Self {
        Self { ctx, n, names: BTreeSet::new(), soft: 0, at_most: 0, equal: 0, predicted: Vec::new() }
    }

    pub(super) fn soft(
        &mut self,
        builder: ProblemBuilder,
        i: usize,
        block: &SoftSection,
    ) -> Result<ProblemBuilder> {
        let key = Key::new("soft").index(i);
        let name = self.name(&key, block.name.as_deref(), format!("soft{i}"))?;
        let rows_key = key.key("rows");
        let rows = self.ctx.matrix(&rows_key, &block.rows, self.n)?;
        let limit = self.side(&key, "limit", &block.limit, Parameter::Limit)?;
        let over = self.side(&key, "over", &block.over, Parameter::Over)?;
        let under = block.under.as_ref().unwrap_or(&Vector::Scalar(0.0));
        let under = self.side(&key, "under", under, Parameter::Under)?;

        let m = self.count(&key, &rows, &[&limit, &over, &under])?;
        let home = Home { name: &name, rows: self.soft..self.soft + m };
        self.soft += m;
        let matrix = self.rows(&rows_key, rows, &home, Parameter::SoftRows)?;
        let limit = self.values(limit, &home, Parameter::Limit)?;
        let over = self.values(over, &home, Parameter::Over)?;
        let under = self.values(under, &home, Parameter::Under)?;
        Ok(builder.soft(name, Soft::both(matrix, limit, over, under)))
    }

    pub(super) fn hard(
        &mut self,
        builder: ProblemBuilder,
        i: usize,
        block: &HardSection,
    ) -> Result<ProblemBuilder> {
        let key = Key::new("hard").index(i);
        let name = self.name(&key, block.name.as_deref(), format!("hard{i}"))?;
        let rows_key = key.key("rows");
        let rows = self.ctx.matrix(&rows_key, &block.rows, self.n)?;
        match (&block.at_most, &block.equals) {
            (Some(b), None) => {
                let b = self.side(&key, "at_most", b, Parameter::AtMost)?;
                let m = self.count(&key, &rows, &[&b])?;
                let home = Home { name: &name, rows: self.at_most..self.at_most + m };
                self.at_most += m;
                let matrix = self.rows(&rows_key, rows, &home, Parameter::AtMostRows)?;
                let b = self.values(b, &home, Parameter::AtMost)?;
                Ok(builder.at_most(name, matrix, b))
            }
            (None, Some(c)) => {
                let c = self.side(&key, "equals", c, Parameter::Equals)?;
                let m = self.count(&key, &rows, &[&c])?;
                let home = Home { name: &name, rows: self.equal..self.equal + m };
                self.equal += m;
                let matrix = self.rows(&rows_key, rows, &home, Parameter::EqualRows)?;
                let c = self.values(c, &home, Parameter::Equals)?;
                Ok(builder.equal(name, matrix, c))
            }
            (Some(_), Some(_)) => {
                let trouble = Trouble::OneOf("a hard block has either `at_most` or `equals`, not both");
                Err(self.ctx.fail(&key, trouble).hint("write two blocks"))
            }
            (None, None) => Err(self
                .ctx
                .fail(&key, Trouble::OneOf("a hard block needs `at_most` or `equals`"))
                .hint("for `rows · x ≥ b` negate both: at_most = [-b] with negated rows")),
        }
    }

    fn name(&mut self, key: &Key, given: Option<&str>, default: String) -> Result<String> {
        let name = match given {
            Some(name) => {
                self.ctx.check_name(&key.key("name"), name)?;
                name.to_owned()
            }
            None => default,
        };
        if !self.names.insert(name.clone()) {
            let error = self.ctx.fail(&key.key("name"), Trouble::DuplicateName(shorten(&name)));
            return Err(error.hint(
                "soft and hard blocks share one set of names; without a name they are soft0, hard0, …",
            ));
        }
        Ok(name)
    }

    fn side(&self, block: &Key, name: &str, written: &Vector, parameter: Parameter) -> Result<Side> {
        let key = block.key(name);
        let part = self.ctx.vector(&key, written, Allowed::of(parameter))?;
        Ok(Side { key, part })
    }

    /// The number of rows, from the first part that tells it.
    fn count(&self, block: &Key, rows: &MatrixPart, sides: &[&Side]) -> Result<usize> {
        let mut told = rows.rows().into_iter().chain(sides.iter().filter_map(|side| side.part.len()));
        match told.next() {
            Some(0) => Err(self.ctx.fail(block, Trouble::Empty("the block has no rows"))),
            Some(m) => Ok(m),
            None => {
                let names: Vec<_> = sides.iter().map(|side| format!("`{}`", side.key.last_name())).collect();
                let hint = format!(
                    "`rows` is predicted: give {} as a list with one number a row",
                    names.join(" or ")
                );
                Err(self.ctx.fail(block, Trouble::RowsUnknown).hint(hint))
            }
        }
    }

    fn rows(
        &mut self,
        key: &Key,
        part: MatrixPart,
        home: &Home<'_>,
        parameter: Parameter,
    ) -> Result<regretless_core::Matrix> {
        let (m, n) = (home.rows.len(), self.n);
        let (matrix, columns) = part.sized(self.ctx, key, m, n)?;
        if let Some(columns) = columns {
            let range = home.rows.start * n..home.rows.end * n;
            self.note(key, parameter, home, range, Some((m, n)), columns);
        }
        Ok(matrix)
    }

    fn values(&mut self, side: Side, home: &Home<'_>, parameter: Parameter) -> Result<Vec<f64>> {
        let (values, columns) =
            side.part.sized(self.ctx, &side.key, home.rows.len(), "one for each row of the block", 0.0)?;
        if let Some(columns) = columns {
            self.note(&side.key, parameter, home, home.rows.clone(), None, columns);
        }
        Ok(values)
    }

    fn note(
        &mut self,
        key: &Key,
        parameter: Parameter,
        home: &Home<'_>,
        range: Range<usize>,
        matrix: Option<(usize, usize)>,
        columns: Vec<String>,
    ) {
        let block = Some(home.name.to_owned());
        self.predicted.push(Predicted { key: key.to_string(), parameter, block, range, matrix, columns });
    }
}
