//! Soft and hard blocks.

use std::collections::BTreeSet;

use regretless_core::{Coefficients, Matrix, ProblemBuilder, Soft};

use super::Context;
use super::part::{MatrixPart, VectorPart};
use super::places::{Stand, Wanted};
use crate::Parameter;
use crate::data::Allowed;
use crate::error::{Result, Trouble, shorten};
use crate::file::{HardSection, Rows, SoftSection, Vector, Written};
use crate::key::Key;
use crate::placed::Placed;

/// Takes the blocks in order and remembers where each lies among the stacked rows of its kind.
pub(super) struct Blocks<'a> {
    ctx: &'a Context<'a>,
    variables: &'a [String],
    names: BTreeSet<String>,
    soft: usize,
    at_most: usize,
    equal: usize,
    pub(super) placed: Placed,
}

/// A vector of a block with the key it stands at.
struct Side {
    key: Key,
    written: Vector,
    part: VectorPart,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(ctx: &'a Context<'a>, variables: &'a [String], placed: Placed) -> Self {
        Self { ctx, variables, names: BTreeSet::new(), soft: 0, at_most: 0, equal: 0, placed }
    }

    pub(super) fn soft(
        &mut self,
        builder: ProblemBuilder,
        i: usize,
        block: &SoftSection,
    ) -> Result<ProblemBuilder> {
        let key = Key::new("soft").index(i);
        let name = self.name(&key, block.name.as_deref(), format!("soft{i}"))?;
        let rows = self.ctx.matrix(&key.key("rows"), &block.rows, self.variables)?;
        let limit = self.side(&key, "limit", &block.limit, Parameter::Limit)?;
        let over = self.side(&key, "over", &block.over, Parameter::Over)?;
        let under = block.under.as_ref().unwrap_or(&Vector::Scalar(0.0));
        let under = self.side(&key, "under", under, Parameter::Under)?;

        let m = self.count(&key, &rows, &[&limit, &over, &under])?;
        let first = self.soft;
        self.soft += m;
        let (matrix, wanted) = rows.sized(self.ctx, &key.key("rows"), m, self.variables.len())?;
        self.note_rows(&key, &block.rows, wanted, &[Stand::at(Parameter::SoftRows, first)])?;
        let limit = self.values(limit, m, &[Stand::at(Parameter::Limit, first)])?;
        let over = self.values(over, m, &[Stand::at(Parameter::Over, first)])?;
        let under = self.values(under, m, &[Stand::at(Parameter::Under, first)])?;
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
        let rows = self.ctx.matrix(&key.key("rows"), &block.rows, self.variables)?;
        match (&block.at_most, &block.at_least, &block.equals) {
            (None, None, Some(c)) => {
                let c = self.side(&key, "equals", c, Parameter::Equals)?;
                let m = self.count(&key, &rows, &[&c])?;
                let first = self.equal;
                self.equal += m;
                let (matrix, wanted) = rows.sized(self.ctx, &key.key("rows"), m, self.variables.len())?;
                self.note_rows(&key, &block.rows, wanted, &[Stand::at(Parameter::EqualRows, first)])?;
                let c = self.values(c, m, &[Stand::at(Parameter::Equals, first)])?;
                Ok(builder.equal(name, matrix, c))
            }
            (_, _, Some(_)) => {
                let trouble = Trouble::OneOf("a hard block has either limits or `equals`, not both");
                Err(self.ctx.fail(&key, trouble).hint("write two blocks"))
            }
            (None, None, None) => Err(self
                .ctx
                .fail(&key, Trouble::OneOf("a hard block needs `at_most`, `at_least` or `equals`"))
                .hint("`at_most` and `at_least` together are a range")),
            (most, least, None) => self.limits(builder, &key, name, rows, block, [most, least]),
        }
    }

    /// Rows ≤, rows ≥, which stand negated, or both.
    fn limits(
        &mut self,
        builder: ProblemBuilder,
        key: &Key,
        name: String,
        rows: MatrixPart,
        block: &HardSection,
        [most, least]: [&Option<Vector>; 2],
    ) -> Result<ProblemBuilder> {
        let mut sides = Vec::new();
        for (word, written, sign) in [("at_most", most, 1.0), ("at_least", least, -1.0)] {
            if let Some(written) = written {
                sides.push((self.side(key, word, written, Parameter::AtMost)?, sign));
            }
        }
        let m = self.count(key, &rows, &sides.iter().map(|(side, _)| side).collect::<Vec<_>>())?;
        let (matrix, wanted) = rows.sized(self.ctx, &key.key("rows"), m, self.variables.len())?;
        let stand = |k: usize, sign: f64, parameter| Stand { parameter, first: self.at_most + k * m, sign };
        let signs: Vec<f64> = sides.iter().map(|(_, sign)| *sign).collect();
        let stands = |parameter| -> Vec<Stand> {
            signs.iter().enumerate().map(|(k, sign)| stand(k, *sign, parameter)).collect()
        };
        let (row_stands, limit_stands) = (stands(Parameter::AtMostRows), stands(Parameter::AtMost));
        self.note_rows(key, &block.rows, wanted, &row_stands)?;
        let mut limits = Vec::with_capacity(sides.len() * m);
        for ((side, sign), stand) in sides.into_iter().zip(limit_stands) {
            limits.extend(self.values(side, m, &[stand])?.into_iter().map(|v| sign * v));
        }
        self.at_most += signs.len() * m;
        let placed = |i: usize| {
            self.placed
                .terms
                .iter()
                .any(|t| t.parameter == Parameter::AtMost && t.row == self.at_most - 2 * m + i)
        };
        if signs.len() == 2
            && let Some(i) = (0..m).find(|&i| limits[i] < -limits[m + i] && !placed(i) && !placed(m + i))
        {
            let what = format!("row {i} is at least {} and at most {}", -limits[m + i], limits[i]);
            return Err(self.ctx.fail(key, Trouble::Misfit(what)));
        }
        Ok(builder.at_most(name, stacked(&matrix, &signs), limits))
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
        Ok(Side { key, written: written.clone(), part })
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
                    "`rows` comes from a table: give {} as a list with one number a row",
                    names.join(" or ")
                );
                Err(self.ctx.fail(block, Trouble::RowsUnknown).hint(hint))
            }
        }
    }

    fn note_rows(
        &mut self,
        block: &Key,
        written: &Rows,
        wanted: Vec<Wanted>,
        stands: &[Stand],
    ) -> Result<()> {
        if !wanted.is_empty() {
            let written = Written::Rows(written.clone());
            self.placed.written.insert(block.key("rows").to_string(), written);
        }
        self.ctx.place(&mut self.placed, wanted, stands)
    }

    fn values(&mut self, side: Side, rows: usize, stands: &[Stand]) -> Result<Vec<f64>> {
        let Side { key, written, part } = side;
        let (values, wanted) = part.sized(self.ctx, &key, rows, "one for each row of the block", 0.0)?;
        if !wanted.is_empty() {
            self.placed.written.insert(key.to_string(), Written::Vector(written));
        }
        self.ctx.place(&mut self.placed, wanted, stands)?;
        Ok(values)
    }
}

/// A matrix once for each sign, one below the other.
fn stacked(matrix: &Coefficients, signs: &[f64]) -> Coefficients {
    if signs == [1.0] {
        return matrix.clone();
    }
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let pattern = matrix.pattern();
    let each = signs.iter().enumerate().flat_map(|(k, sign)| {
        let values = matrix.as_slice().iter().enumerate();
        values.map(move |(entry, v)| {
            let (i, j) = pattern.place(entry);
            (k * rows + i, j, sign * v)
        })
    });
    let tall = signs.len() * rows;
    if pattern.is_dense() {
        let mut out = Matrix::zeros(tall, cols);
        each.for_each(|(i, j, v)| out[(i, j)] = v);
        return out.into();
    }
    // Every coefficient is stated once.
    Coefficients::sparse(tall, cols, each).unwrap_or_else(|_| matrix.clone())
}
