//! What a problem takes from the columns of a table, before any table is there.

use std::collections::{BTreeMap, BTreeSet};

use regretless_core::{Placement, Problem, Source, Term};

use crate::Parameter;
use crate::data::Allowed;
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::file::Written;
use crate::selection::{Kind, Selection};

/// One column of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pick {
    /// Which selection.
    pub selection: usize,
    /// Which of its columns.
    pub at: usize,
}

/// One summand of a coefficient: `factor · by · of`, what is `None` being 1. `of` may be predicted or known, `by` is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedTerm {
    /// The kind of the coefficient.
    pub parameter: Parameter,
    /// The row of a matrix, or the place in a vector, among all stacked blocks.
    pub row: usize,
    /// The column of a matrix; 0 for a vector.
    pub col: usize,
    /// A fixed factor.
    pub factor: f64,
    /// A factor that is known by row.
    pub by: Option<Pick>,
    /// What it is a multiple of; the term is a constant without it.
    pub of: Option<Pick>,
}

/// The terms of a problem by the names of the columns they are taken from.
///
/// This is where all ways to state a problem meet: keys of problem files, parameters in memory, and whatever expands to rows put
/// their selections and terms here. A coefficient is the sum of its terms, whatever the problem states in its place. Once a table's
/// header is there, [`Placed::resolve`] makes a [`Placement`] of it. Selections that come to the same column are one quantity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placed {
    /// Columns by name or pattern.
    pub selections: Vec<Selection>,
    /// Where they go.
    pub terms: Vec<PlacedTerm>,
    /// What is written back for the keys that hold columns.
    pub(crate) written: BTreeMap<String, Written>,
}

/// The columns of a table that a problem is made of, and their places in it.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Columns that are predicted: the quantities.
    pub targets: Vec<usize>,
    /// Columns that are known by row.
    pub known: Vec<usize>,
    /// What becomes of them.
    pub placement: Placement,
}

/// What a problem predicts and what it knows by row, by the names of columns.
#[derive(Clone, Debug)]
pub struct Quantities {
    /// Columns that are predicted, those of a key together.
    pub predicted: Vec<Vec<String>>,
    /// Columns that are known by row, likewise.
    pub known: Vec<Vec<String>>,
    /// What becomes of them, in this order.
    pub placement: Placement,
}

impl Placed {
    /// Adds a selection; its columns are picked by the number that is returned.
    pub fn select(&mut self, selection: Selection) -> usize {
        self.selections.push(selection);
        self.selections.len() - 1
    }

    /// Puts selections into the order of the parts that their terms are of. Those of one part stay as they are.
    pub(crate) fn sort(&mut self, part: impl Fn(&PlacedTerm) -> usize) {
        let mut first = vec![usize::MAX; self.selections.len()];
        for term in &self.terms {
            for pick in term.of.iter().chain(&term.by) {
                first[pick.selection] = first[pick.selection].min(part(term));
            }
        }
        let mut order: Vec<usize> = (0..first.len()).collect();
        order.sort_by_key(|&selection| first[selection]);
        let mut moved = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| moved[old] = new);
        self.selections = order.into_iter().map(|old| self.selections[old].clone()).collect();
        for pick in self.terms.iter_mut().flat_map(|term| term.of.iter_mut().chain(&mut term.by)) {
            pick.selection = moved[pick.selection];
        }
    }

    /// True if no number comes from a table.
    pub fn is_empty(&self) -> bool {
        self.selections.is_empty()
    }

    /// The selections of one kind.
    pub fn of_kind(&self, kind: Kind) -> Vec<&Selection> {
        self.selections.iter().filter(|selection| selection.kind == kind).collect()
    }

    /// The terms that take a number from a selection.
    pub(crate) fn terms_of(&self, selection: usize) -> impl Iterator<Item = &PlacedTerm> {
        let of = move |term: &&PlacedTerm| term.of.is_some_and(|pick| pick.selection == selection);
        self.terms.iter().filter(of)
    }

    /// The kinds of coefficients that a selection goes into.
    pub fn parameters(&self, selection: usize) -> BTreeSet<Parameter> {
        self.terms_of(selection).map(|term| term.parameter).collect()
    }

    /// True if an entry of this kind comes from a table.
    pub fn has(&self, parameter: Parameter) -> bool {
        self.terms.iter().any(|term| term.parameter == parameter)
    }

    /// Which numbers the columns of a selection may hold. A price that comes out negative counts as 0.
    pub(crate) fn allowed(&self, selection: usize) -> Allowed {
        let plain = self.terms_of(selection).all(|term| term.factor > 0.0 && term.by.is_none());
        match self.parameters(selection).into_iter().collect::<Vec<_>>()[..] {
            [Parameter::Lower] if plain => Allowed::Lower,
            [Parameter::Upper] if plain => Allowed::Upper,
            _ => Allowed::Finite,
        }
    }

    /// True if all that comes from a table are parameters as a whole that are predicted as they are.
    pub fn is_plain(&self) -> bool {
        self.selections.iter().all(|s| s.kind == Kind::Predicted && s.home.is_some())
            && self.terms.iter().all(|term| term.factor == 1.0 && term.by.is_none() && term.of.is_some())
    }

    /// Groups the columns of a header that are taken by the keys that take them first.
    pub(crate) fn quantities(
        &self,
        problem: &Problem,
        header: &[String],
        place: &Place,
    ) -> Result<Quantities> {
        let resolved = self.resolve(problem, header, place)?;
        let mut seen = BTreeSet::new();
        let mut groups = [Vec::new(), Vec::new()];
        for selection in &self.selections {
            let chosen = selection.ordered(selection.select(header, place)?, header, problem);
            let new = chosen.into_iter().filter(|index| seen.insert(*index));
            let names: Vec<String> = new.map(|index| header[index].clone()).collect();
            if !names.is_empty() {
                groups[usize::from(selection.kind == Kind::Known)].push(names);
            }
        }
        let [predicted, known] = groups;
        Ok(Quantities { predicted, known, placement: resolved.placement })
    }

    /// Finds the columns in a header; `place` is what messages name.
    pub fn resolve(&self, problem: &Problem, header: &[String], place: &Place) -> Result<Resolved> {
        let mut numbers: BTreeMap<usize, Source> = BTreeMap::new();
        let (mut targets, mut known) = (Vec::new(), Vec::new());
        let mut sources: Vec<Vec<Source>> = Vec::with_capacity(self.selections.len());
        for selection in &self.selections {
            let chosen = selection.select(header, place)?;
            let chosen = selection.ordered(chosen, header, problem);
            let mut own = Vec::with_capacity(chosen.len());
            for index in chosen {
                let source = *numbers.entry(index).or_insert_with(|| match selection.kind {
                    Kind::Predicted => {
                        targets.push(index);
                        Source::Predicted(targets.len() - 1)
                    }
                    Kind::Known => {
                        known.push(index);
                        Source::Known(known.len() - 1)
                    }
                });
                if matches!(source, Source::Known(_)) != (selection.kind == Kind::Known) {
                    let what = format!("the column `{}` is predicted and known", shorten(&header[index]));
                    return Err(SpecError::new(place.clone(), Trouble::Misfit(what))
                        .hint(format!("`{}` selects it, and another key as the other", selection.key)));
                }
                own.push(source);
            }
            sources.push(own);
        }
        let at = |pick: Pick| sources[pick.selection][pick.at];
        let mut terms = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let by = match term.by.map(at) {
                Some(Source::Known(l)) => Some(l),
                None => None,
                Some(_) => return Err(SpecError::new(place.clone(), Trouble::Misfit(PRODUCT.into()))),
            };
            let entry = entry(problem, term);
            let source = term.of.map_or(Source::One, at);
            terms.push(Term { parameter: term.parameter, entry, factor: term.factor, by, source });
        }
        let placement = Placement::new(problem, targets.len(), known.len(), terms)
            .map_err(|error| SpecError::new(place.clone(), error.into()))?;
        Ok(Resolved { targets, known, placement })
    }
}

const PRODUCT: &str = "a predicted number is a factor of another: factors are fixed or known";

/// The place of a term among the stored entries of its kind.
fn entry(problem: &Problem, term: &PlacedTerm) -> usize {
    let Some(pattern) = term.parameter.pattern(problem) else { return term.row };
    let row = pattern.range(term.row..term.row + 1);
    if pattern.is_dense() {
        return row.start + term.col;
    }
    // What is placed is stored.
    row.clone().find(|&entry| pattern.place(entry).1 == term.col).unwrap_or(row.start)
}
