//! From the expanded statement to a [`Problem`], and which of its coefficients come from a table.

use std::collections::BTreeSet;

use regretless_core::{Coefficients, Parameter, Problem, ProblemError, Sense, Soft};

use super::ast::Sign;
use super::number::{Factors, Number};
use super::statement::{Row, Statement};
use crate::placed::{Pick, Placed, PlacedTerm};
use crate::selection::{Kind, Selection};

/// More variables than this have sparse rows: below, dense kernels are faster than patterns.
const DENSE: usize = 64;

/// A coefficient by its row and column among all stacked rows of its kind; a vector has the column 0.
type Place = (Parameter, usize, usize);

/// A row as the engine has it: `entries · x ≤ limit` or `= limit`, or soft.
type Line = (Vec<(usize, Number)>, Number);

impl Statement {
    /// The problem, in which coefficients that come from a table hold placeholders, and the terms that they are. Rows of one
    /// name are a block: the two of a range, or one.
    pub(crate) fn lower(&self) -> Result<(Problem, Placed), ProblemError> {
        let n = self.variables.len();
        let mut builder = match self.sense {
            Sense::Max => Problem::maximize(n),
            Sense::Min => Problem::minimize(n),
        };
        let mut stacks = Stacks::default();
        let mut linear = vec![0.0; n];
        self.linear.iter().for_each(|(j, number)| linear[*j] = number.fixed);
        builder = builder.linear(linear);
        let quadratic = self.hessian();
        if !quadratic.is_empty() {
            builder =
                builder.quadratic(coefficients(n, n, quadratic.iter().map(|(i, j, q)| (*i, *j, q.fixed)))?);
        }
        for block in &self.blocks {
            for rows in block.rows.chunk_by(|a, b| a.name == b.name) {
                let name = rows[0].name.clone();
                let equal = rows.iter().all(|row| row.sign == Sign::Equal);
                let lines: Vec<Line> = rows.iter().map(|row| line(row, !block.soft)).collect();
                let matrix = rows_of(n, &lines)?;
                let limits: Vec<f64> = lines.iter().map(|(_, limit)| limit.fixed).collect();
                if block.soft {
                    let price = |of: fn(&Row) -> &Number| {
                        rows.iter().map(|row| base(of(row), 0.0)).collect::<Vec<_>>()
                    };
                    builder = builder
                        .soft(name, Soft::both(matrix, limits, price(|r| &r.over), price(|r| &r.under)));
                    stacks.soft.extend(lines);
                    stacks.prices.extend(rows.iter().map(|row| (row.over.clone(), row.under.clone())));
                } else if equal {
                    builder = builder.equal(name, matrix, limits);
                    stacks.equal.extend(lines);
                } else {
                    builder = builder.at_most(name, matrix, limits);
                    stacks.at_most.extend(lines);
                }
            }
        }
        let lower = self.lower.iter().map(|number| base(number, f64::NEG_INFINITY)).collect::<Vec<_>>();
        let upper = self.upper.iter().map(|number| base(number, f64::INFINITY)).collect::<Vec<_>>();
        let problem = builder.variables(self.variables.clone()).lower(lower).upper(upper).build()?;

        let linear = self.linear.iter().map(|(j, number)| ((Parameter::Linear, *j, 0), number));
        let quadratic = quadratic.iter().map(|(i, j, number)| ((Parameter::Quadratic, *i, *j), number));
        let rows = stacks.places();
        let bounds = [(Parameter::Lower, &self.lower), (Parameter::Upper, &self.upper)];
        let bounds = bounds
            .iter()
            .flat_map(|(side, all)| all.iter().enumerate().map(|(j, number)| ((*side, j, 0), number)));
        let all = linear.chain(quadratic).chain(rows).chain(bounds);
        Ok((problem, self.placed(all.filter(|(_, number)| !number.is_fixed()))))
    }

    /// Columns quantity by quantity, and the terms that take numbers from them.
    fn placed<'a>(&self, numbers: impl Iterator<Item = (Place, &'a Number)>) -> Placed {
        let mut placed = Placed::default();
        let mut picks = Vec::with_capacity(self.model.columns.len());
        for columns in self.model.columns.chunk_by(|a, b| a.quantity == b.quantity) {
            let key = format!("quantities.{}", columns[0].quantity);
            let kind = if columns[0].predicted { Kind::Predicted } else { Kind::Known };
            let names = columns.iter().map(|column| column.name.clone()).collect();
            let count = columns.len();
            let selection = Selection { key, kind, columns: names, count, matrix: None, home: None };
            let selection = placed.select(selection);
            picks.extend((0..count).map(|at| Pick { selection, at }));
        }
        for ((parameter, row, col), number) in numbers {
            let mut term =
                |factor, by, of| placed.terms.push(PlacedTerm { parameter, row, col, factor, by, of });
            if number.fixed != 0.0 {
                term(number.fixed, None, None);
            }
            for (&factors, &factor) in &number.terms {
                let (Factors::Predicted(of, by) | Factors::Known(of, by)) = factors;
                term(factor, by.map(|by| picks[by]), Some(picks[of]));
            }
        }
        self.hold(&mut placed, &picks);
        placed
    }

    /// A prediction whose every coefficient is 0 has a place all the same: it is predicted, and does nothing there.
    fn hold(&self, placed: &mut Placed, picks: &[Pick]) {
        let there: BTreeSet<Pick> = placed.terms.iter().filter_map(|term| term.of).collect();
        let idle = picks
            .iter()
            .zip(&self.model.columns)
            .filter(|(pick, column)| column.predicted && !there.contains(pick));
        let idle: Vec<Pick> = idle.map(|(pick, _)| *pick).collect();
        let term =
            |factor, of| PlacedTerm { parameter: Parameter::Linear, row: 0, col: 0, factor, by: None, of };
        let stated = self.linear.first().filter(|(j, number)| *j == 0 && number.is_fixed());
        if let (Some((_, number)), false) = (stated, idle.is_empty()) {
            placed.terms.push(term(number.fixed, None));
        }
        placed.terms.extend(idle.into_iter().map(|pick| term(0.0, Some(pick))));
    }

    /// Q of xᵀQx, which is added to a cost and taken from a gain: c·xᵢxⱼ gives c/2 to either side of the diagonal.
    fn hessian(&self) -> Vec<(usize, usize, Number)> {
        let sign = if self.sense == Sense::Min { 1.0 } else { -1.0 };
        let mut out = Vec::new();
        for ((i, j), number) in &self.quadratic {
            if i == j {
                out.push((*i, *i, number.scaled(sign)));
            } else {
                out.push((*i, *j, number.scaled(sign / 2.0)));
                out.push((*j, *i, number.scaled(sign / 2.0)));
            }
        }
        out
    }
}

/// All rows of a kind, as the problem stacks them.
#[derive(Default)]
struct Stacks {
    soft: Vec<Line>,
    prices: Vec<(Number, Number)>,
    at_most: Vec<Line>,
    equal: Vec<Line>,
}

impl Stacks {
    /// Every number with its place.
    fn places(&self) -> impl Iterator<Item = (Place, &Number)> {
        let kinds = [
            (&self.soft, Parameter::SoftRows, Parameter::Limit),
            (&self.at_most, Parameter::AtMostRows, Parameter::AtMost),
            (&self.equal, Parameter::EqualRows, Parameter::Equals),
        ];
        let lines = kinds.into_iter().flat_map(|(lines, rows, limits)| {
            lines.iter().enumerate().flat_map(move |(i, (entries, limit))| {
                let entries = entries.iter().map(move |(j, number)| ((rows, i, *j), number));
                entries.chain([((limits, i, 0), limit)])
            })
        });
        let prices = self.prices.iter().enumerate();
        let prices = prices.flat_map(|(i, (over, under))| {
            [((Parameter::Over, i, 0), over), ((Parameter::Under, i, 0), under)]
        });
        lines.chain(prices)
    }
}

/// A hard row ≥ is kept as `−row ≤ −limit`.
fn line(row: &Row, hard: bool) -> Line {
    let sign = if hard && row.sign == Sign::AtLeast { -1.0 } else { 1.0 };
    (row.entries.iter().map(|(j, number)| (*j, number.scaled(sign))).collect(), row.limit.scaled(sign))
}

/// The number, or what holds its place.
fn base(number: &Number, placeholder: f64) -> f64 {
    if number.is_fixed() { number.fixed } else { placeholder }
}

fn rows_of(n: usize, lines: &[Line]) -> Result<Coefficients, ProblemError> {
    let entries = lines
        .iter()
        .enumerate()
        .flat_map(|(i, (entries, _))| entries.iter().map(move |(j, number)| (i, *j, number.fixed)));
    coefficients(lines.len(), n, entries)
}

/// Coefficients that are stated one by one: few variables make a dense matrix.
pub(crate) fn coefficients(
    rows: usize,
    n: usize,
    entries: impl Iterator<Item = (usize, usize, f64)>,
) -> Result<Coefficients, ProblemError> {
    if n > DENSE {
        return Coefficients::sparse(rows, n, entries);
    }
    let mut matrix = regretless_core::Matrix::zeros(rows, n);
    entries.for_each(|(i, j, value)| matrix[(i, j)] = value);
    Ok(matrix.into())
}
