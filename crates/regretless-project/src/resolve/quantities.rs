//! Quantities of a problem in memory, said as a problem file says them: entry by entry, in the order of the file.

use std::collections::BTreeMap;

use regretless_core::{Problem, Source as Of, Term};
use serde_json::Value;

use super::memory::{Part, parts};
use crate::error::Result;
use crate::file::{Cell, Factor, Numbers, RowCells, Rows, Selected, Vector, Written};
use crate::placed::{Pick, Placed, PlacedTerm};
use crate::selection::{Kind, Selection};
use crate::{Parameter, Spec};

impl Spec {
    /// A problem in memory that places quantities and known numbers, by the names of their columns. `settings` as for
    /// [`Spec::in_memory`]. A problem file can say it where no coefficient has several quantities.
    ///
    /// ```
    /// use regretless_core::{Matrix, Parameter, Problem, Term};
    /// use regretless_project::Spec;
    /// let problem = Problem::maximize(2)
    ///     .linear([1.0, 0.0])
    ///     .at_most("stock", Matrix::from_rows(&[[0.0, 1.0]]), [0.0])
    ///     .build()?;
    /// // The load is predicted, and what it brings; the stock is known.
    /// let terms = [
    ///     Term::predicted(Parameter::Linear, 1, 0).times(0.2),
    ///     Term::known(Parameter::AtMost, 0, 0),
    /// ];
    /// let (load, stock) = (["load".to_owned()], ["stock".to_owned()]);
    /// let spec = Spec::in_memory_quantities(&problem, &load, &stock, &terms, &serde_json::json!({}))?;
    /// assert_eq!(spec.predicted()[0].columns, ["load"]);
    /// assert_eq!(spec.known()[0].key, "hard[0].at_most[0]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_memory_quantities(
        problem: &Problem,
        predicted: &[String],
        known: &[String],
        terms: &[Term],
        settings: &Value,
    ) -> Result<Self> {
        let mut entries: BTreeMap<(Parameter, usize), Vec<&Term>> = BTreeMap::new();
        for term in terms {
            entries.entry((term.parameter, term.entry)).or_default().push(term);
        }
        let mut placed = Placed::default();
        let names = Names { predicted, known };
        for part in parts(problem) {
            let own: Vec<_> =
                part.range.clone().map(|entry| entries.remove(&(part.parameter, entry))).collect();
            if own.iter().any(Option::is_some) {
                names.place(problem, &part, &own, &mut placed);
            }
        }
        Self::in_memory_placed(problem, placed, settings)
    }
}

/// How a problem file says the entries of a part; sparse rows by the names of variables.
pub(super) fn said(problem: &Problem, part: &Part, cells: Vec<Cell>) -> Written {
    match part.parameter.pattern(problem) {
        None => Written::Vector(Vector::List(cells)),
        Some(pattern) if pattern.is_dense() => {
            let rows = cells.chunks(problem.n()).map(|row| RowCells::Dense(row.to_vec()));
            Written::Rows(Rows::List(rows.collect()))
        }
        Some(pattern) => {
            // A row without a coefficient is a row, too.
            let mut rows = vec![Vec::new(); part.rows.len()];
            for (entry, cell) in part.range.clone().zip(cells) {
                let (row, col) = pattern.place(entry);
                rows[row - part.rows.start].push((problem.variables()[col].clone(), cell));
            }
            Written::Rows(Rows::List(rows.into_iter().map(RowCells::Named).collect()))
        }
    }
}

/// The columns of quantities and of known numbers.
struct Names<'a> {
    predicted: &'a [String],
    known: &'a [String],
}

impl Names<'_> {
    /// Places the terms of a part, and notes how a problem file says it.
    fn place(&self, problem: &Problem, part: &Part, own: &[Option<Vec<&Term>>], placed: &mut Placed) {
        let stated = part.parameter.of(problem);
        let pattern = part.parameter.pattern(problem);
        let mut cells = Some(Vec::with_capacity(own.len()));
        for (at, terms) in own.iter().enumerate() {
            let entry = part.range.start + at;
            let cell = match terms {
                None => Some(Cell::Number(stated.get(entry).copied().unwrap_or(0.0))),
                Some(terms) => {
                    let (row, col) = pattern.map_or((entry, 0), |pattern| pattern.place(entry));
                    self.terms(part, (row, col), &format!("{}[{at}]", part.key), terms, placed)
                }
            };
            cells = cells.zip(cell).map(|(mut cells, cell)| {
                cells.push(cell);
                cells
            });
        }
        // A coefficient of several quantities has no words in a problem file, and the part is then not written.
        let Some(cells) = cells else { return };
        placed.written.insert(part.key.clone(), said(problem, part, cells));
    }

    /// Places the terms of a coefficient: what a problem file says of it, if it can.
    fn terms(
        &self,
        part: &Part,
        (row, col): (usize, usize),
        key: &str,
        terms: &[&Term],
        placed: &mut Placed,
    ) -> Option<Cell> {
        let mut select = |key: String, kind, name: &String| {
            let columns = vec![name.clone()];
            let selection =
                placed.select(Selection { key, kind, columns, count: 1, matrix: None, home: None });
            Pick { selection, at: 0 }
        };
        let (mut shift, mut cells, mut sums) = (None, Vec::new(), Vec::new());
        for term in terms {
            let of = match term.source {
                Of::One => None,
                Of::Predicted(j) => Some((Kind::Predicted, &self.predicted[j])),
                Of::Known(l) => Some((Kind::Known, &self.known[l])),
            };
            let by = term.by.map(|l| (Kind::Known, &self.known[l]));
            // A known factor of nothing else is what the term is a multiple of.
            let (of, by) = if of.is_none() { (by, None) } else { (of, by) };
            let Some((kind, name)) = of else {
                *shift.get_or_insert(0.0) += term.factor;
                continue;
            };
            let picked = select(key.to_owned(), kind, name);
            let by_picked = by.map(|(kind, name)| select(format!("{key}.factor"), kind, name));
            sums.push((term.factor, by_picked, Some(picked)));
            let factor = match by {
                None if term.factor == 1.0 => Some(None),
                None => Some(Some(Factor::Fixed(Numbers::One(term.factor)))),
                Some((_, name)) if term.factor == 1.0 => Some(Some(Factor::Known(vec![name.clone()]))),
                Some(_) => None,
            };
            cells.push(factor.map(|factor| Selected { factor, ..Selected::plain(kind, vec![name.clone()]) }));
        }
        sums.extend(shift.map(|shift| (shift, None, None)));
        let parameter = part.parameter;
        placed.terms.extend(sums.into_iter().map(|(factor, by, of)| PlacedTerm {
            parameter,
            row,
            col,
            factor,
            by,
            of,
        }));
        match (&mut cells[..], shift) {
            ([], shift) => shift.map(Cell::Number),
            ([Some(one)], shift) => {
                let shift = shift.map(Numbers::One);
                Some(Cell::From(Selected { shift, ..one.clone() }))
            }
            _ => None,
        }
    }
}
