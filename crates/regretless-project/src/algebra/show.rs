//! An expanded problem for people: what there is, how much of it, and the first and the last row of each kind written out.

use std::fmt::Write;

use regretless_core::problem::RowId;
use regretless_core::{Parameters, Problem, Sense};
use serde::Serialize;

use super::ast::Sign;
use super::model::{Quantity, Values, Variable};
use super::number::Number;
use super::statement::{Block, Statement};
use super::text::{factor, shown, sum};

/// A problem in algebra, expanded.
#[derive(Clone, Debug, Serialize)]
pub struct Expansion {
    /// The row of the table that the numbers are of, in words.
    pub instance: Option<String>,
    /// The variables by name.
    pub variables: Vec<Family>,
    /// The quantities by name.
    pub quantities: Vec<Family>,
    /// The objective.
    pub objective: Goal,
    /// The rows, section by section.
    pub rows: Vec<RowFamily>,
}

/// Variables or numbers of one name.
#[derive(Clone, Debug, Serialize)]
pub struct Family {
    /// The name.
    pub name: String,
    /// `variable`, `fixed`, `known` or `predicted`.
    pub kind: &'static str,
    /// The sets.
    #[serde(rename = "for")]
    pub over: String,
    /// How many.
    pub count: usize,
    /// The first and the last: variables as they are called, numbers as their columns are.
    pub first: String,
    /// The last.
    pub last: String,
}

/// The objective.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// `max` or `min`.
    pub sense: &'static str,
    /// Linear terms.
    pub linear: usize,
    /// Quadratic terms: squares, and products of two variables.
    pub quadratic: usize,
    /// Written out.
    pub symbols: String,
    /// With the numbers of the instance.
    pub numbers: Option<String>,
}

/// The rows of a section.
#[derive(Clone, Debug, Serialize)]
pub struct RowFamily {
    /// The section's name.
    pub name: String,
    /// `soft` or `hard`.
    pub kind: &'static str,
    /// As it is written.
    pub row: String,
    /// What it is for, as it is written.
    #[serde(rename = "for")]
    pub over: Option<String>,
    /// How many rows it is.
    pub count: usize,
    /// The first row.
    pub first: WrittenRow,
    /// The last row, if there are several: what runs over a set shows there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<WrittenRow>,
}

/// A row written out.
#[derive(Clone, Debug, Serialize)]
pub struct WrittenRow {
    /// Its name.
    pub name: String,
    /// The row, with the names of what a table brings.
    pub symbols: String,
    /// The row with the numbers of the instance.
    pub numbers: Option<String>,
}

impl Statement {
    /// What it comes to. `instance` has the numbers of a row, and which one it is in words.
    pub(crate) fn show(&self, problem: &Problem, instance: Option<&(Parameters, String)>) -> Expansion {
        let parameters = instance.map(|(parameters, _)| parameters);
        let view = parameters.and_then(|parameters| problem.view(&parameters.instance()).ok());
        let mut stacked = [0; 3];
        let mut rows = Vec::new();
        for block in &self.blocks {
            let kind = match (block.soft, block.rows[0].sign) {
                (true, _) => 0,
                (false, Sign::Equal) => 2,
                (false, _) => 1,
            };
            let before = stacked[kind];
            stacked[kind] += block.rows.len();
            let written = |k: usize| {
                let row = &block.rows[k];
                let id = [RowId::Soft, RowId::AtMost, RowId::Equal][kind](before + k);
                let numbers = view.as_ref().map(|view| {
                    let sign = if kind == 1 && row.sign == Sign::AtLeast { -1.0 } else { 1.0 };
                    let terms = view.row(id).iter().filter(|(_, a)| *a != 0.0);
                    let terms = terms.map(|(j, a)| (Number::from(sign * a), self.variables[j].clone()));
                    let [limit, over, under] = match id {
                        RowId::Soft(i) => [view.d[i], view.alpha[i], view.under[i]],
                        RowId::AtMost(i) => [sign * view.b[i], 0.0, 0.0],
                        RowId::Equal(i) => [view.c[i], 0.0, 0.0],
                        RowId::Lower(_) | RowId::Upper(_) => [0.0; 3],
                    };
                    self.row(block, row.sign, terms, [limit, over, under].map(Number::from).each_ref())
                });
                let terms =
                    row.entries.iter().map(|(j, number)| (number.clone(), self.variables[*j].clone()));
                let symbols = self.row(block, row.sign, terms, [&row.limit, &row.over, &row.under]);
                WrittenRow { name: row.name.clone(), symbols, numbers }
            };
            rows.push(RowFamily {
                name: block.name.clone(),
                kind: if block.soft { "soft" } else { "hard" },
                row: block.text.clone(),
                over: block.for_.clone(),
                count: block.rows.len(),
                first: written(0),
                last: (block.rows.len() > 1).then(|| written(block.rows.len() - 1)),
            });
        }
        Expansion {
            instance: instance.map(|(_, words)| words.clone()),
            variables: self.families(),
            quantities: self.quantities(),
            objective: self.goal(view.as_ref().map(|view| view.theta)),
            rows,
        }
    }

    fn goal(&self, theta: Option<&[f64]>) -> Goal {
        let quadratic = || {
            let square = |(i, j): (usize, usize)| {
                let (left, right) = (&self.variables[i], &self.variables[j]);
                if i == j { format!("{left}^2") } else { format!("{left}*{right}") }
            };
            self.quadratic.iter().map(move |(pair, number)| (number.clone(), square(*pair)))
        };
        let name = |j: usize| self.variables[j].clone();
        let linear = self.linear.iter().map(|(j, number)| (number.clone(), name(*j)));
        let fixed = self.quadratic.iter().all(|(_, number)| number.is_fixed());
        let numbers = theta.filter(|_| fixed).map(|theta| {
            let linear = self.linear.iter().map(|(j, _)| (Number::from(theta[*j]), name(*j)));
            sum(&self.model, linear.chain(quadratic()))
        });
        Goal {
            sense: if self.sense == Sense::Max { "max" } else { "min" },
            linear: self.linear.len(),
            quadratic: self.quadratic.len(),
            symbols: sum(&self.model, linear.chain(quadratic())),
            numbers,
        }
    }

    fn row(
        &self,
        block: &Block,
        sign: Sign,
        terms: impl Iterator<Item = (Number, String)>,
        [limit, over, under]: [&Number; 3],
    ) -> String {
        let sign = match sign {
            Sign::AtMost => "<=",
            Sign::AtLeast => ">=",
            Sign::Equal => "=",
        };
        let mut out = format!("{} {sign} {}", sum(&self.model, terms), factor(&self.model, limit));
        if block.soft {
            for (word, price) in
                [("over", over), ("under", under)].into_iter().filter(|(_, price)| !price.is_zero())
            {
                let _ = write!(out, ", {word} {}", factor(&self.model, price));
            }
        }
        out
    }

    fn families(&self) -> Vec<Family> {
        let of = |v: &Variable| {
            let count = v.domain.len(&self.model.sets);
            Family {
                name: v.name.clone(),
                kind: "variable",
                over: v.domain.words(&self.model.sets),
                count,
                first: self.variables[v.first].clone(),
                last: self.variables[v.first + count - 1].clone(),
            }
        };
        self.model.variables.iter().map(of).collect()
    }

    fn quantities(&self) -> Vec<Family> {
        let of = |q: &Quantity| {
            let count = q.domain.len(&self.model.sets);
            let (kind, first, last) = match &q.values {
                Values::Fixed(values) => ("fixed", shown(values[0]), shown(values[count - 1])),
                Values::Columns(at) => {
                    let column = |i: usize| &self.model.columns[at + i];
                    let kind = if column(0).predicted { "predicted" } else { "known" };
                    (kind, column(0).name.clone(), column(count - 1).name.clone())
                }
            };
            let over = q.domain.words(&self.model.sets);
            Family { name: q.name.clone(), kind, over, count, first, last }
        };
        self.model.quantities.iter().map(of).collect()
    }
}
