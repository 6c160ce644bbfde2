//! Numbers of a model that are columns of a table: limits, costs, bounds and coefficients, by the names of rows and variables.

use std::collections::{BTreeMap, BTreeSet};

use regretless_core::Problem;

use super::Context;
use super::memory::{Part, parts};
use super::model::picked;
use super::quantities::said;
use crate::Parameter;
use crate::error::{Result, Trouble, count, shorten};
use crate::file::{Cell, Factor, Numbers, ProblemFile, ReplaceSection, Selected};
use crate::key::Key;
use crate::mps::Model;
use crate::placed::{Pick, Placed, PlacedTerm};
use crate::selection::Selection;

/// Where a row of the model stands in the problem: twice if it has two limits.
#[derive(Clone, Copy)]
pub(super) struct Stood {
    /// Its limit and its coefficients.
    pub(super) limit: Parameter,
    pub(super) rows: Parameter,
    pub(super) at: usize,
    /// Whether it stands negated.
    pub(super) sign: f64,
}

/// What is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Limit,
    Coefficient,
    Of(Parameter),
}

/// One key of a `[[replace]]`.
pub(super) struct Change {
    key: Key,
    what: What,
    /// A row and a column of the model each; of the two only what is needed counts.
    places: Vec<(usize, usize)>,
    from: Selected,
    /// The table's column of each place.
    names: Vec<String>,
}

const WHICH: &str = "rows have a `limit`, variables a `cost`, a `lower` and an `upper`, rows and variables together a `coefficient`";

/// The sections of a file, with the names in the model that they mean.
pub(super) fn changes(ctx: &Context<'_>, file: &ProblemFile, model: &Model) -> Result<Vec<Change>> {
    let rows: Vec<String> = model.rows.iter().map(|row| row.name.clone()).collect();
    let mut all = Vec::new();
    for (i, section) in file.replace.iter().enumerate() {
        let key = Key::new("replace").index(i);
        let ReplaceSection { rows: of_rows, variables, limit, coefficient, cost, lower, upper } = section;
        let of_rows = of_rows.as_ref().map(|s| picked(ctx, &key.key("rows"), s, &rows, "row")).transpose()?;
        let of_variables = variables.as_ref();
        let of_variables = of_variables
            .map(|s| picked(ctx, &key.key("variables"), s, &model.columns, "variable"))
            .transpose()?;
        let keys = [
            ("limit", limit, What::Limit),
            ("coefficient", coefficient, What::Coefficient),
            ("cost", cost, What::Of(Parameter::Linear)),
            ("lower", lower, What::Of(Parameter::Lower)),
            ("upper", upper, What::Of(Parameter::Upper)),
        ];
        let before = all.len();
        for (name, from, what) in keys {
            let (key, Some(from)) = (key.key(name), from) else { continue };
            let places: Vec<(usize, usize)> = match (what, &of_rows, &of_variables) {
                (What::Limit, Some(rows), None) => rows.iter().map(|&i| (i, 0)).collect(),
                (What::Of(_), None, Some(variables)) => variables.iter().map(|&j| (0, j)).collect(),
                (What::Coefficient, Some(rows), Some(variables)) => stored(model, rows, variables),
                _ => return Err(ctx.fail(&key, Trouble::OneOf(WHICH))),
            };
            if places.is_empty() {
                let trouble =
                    Trouble::Misfit("the model has no coefficient of these variables in these rows".into());
                return Err(ctx.fail(&key, trouble).hint("only coefficients that it states can be replaced"));
            }
            if what == What::Of(Parameter::Linear) && file.objective.linear.is_some() {
                let trouble = Trouble::OneOf("`objective.linear` replaces all costs already");
                return Err(ctx.fail(&key, trouble));
            }
            if places.len() > ctx.limits.predicted {
                let (found, limit) = (places.len(), ctx.limits.predicted);
                return Err(ctx.fail(&key, Trouble::TooManyEntries { found, limit }));
            }
            let called = |&(i, j): &(usize, usize)| match what {
                What::Limit => vec![rows[i].as_str()],
                What::Of(_) => vec![model.columns[j].as_str()],
                What::Coefficient => vec![rows[i].as_str(), model.columns[j].as_str()],
            };
            let names = columns(ctx, &key, from, &places.iter().map(called).collect::<Vec<_>>())?;
            all.push(Change { key, what, places, from: from.clone(), names });
        }
        if all.len() == before {
            return Err(ctx.fail(&key, Trouble::OneOf("nothing is replaced here")).hint(WHICH));
        }
    }
    Ok(all)
}

/// The coefficients of some variables in some rows that the model states.
fn stored(model: &Model, rows: &[usize], variables: &[usize]) -> Vec<(usize, usize)> {
    let wanted: BTreeSet<usize> = variables.iter().copied().collect();
    let of_row = |&i: &usize| {
        let mut own: Vec<usize> = model.rows[i].entries.iter().map(|&(j, _)| j).collect();
        own.retain(|j| wanted.contains(j));
        own.sort_unstable();
        own.into_iter().map(move |j| (i, j))
    };
    rows.iter().flat_map(of_row).collect()
}

/// The column of each place: one for all, one each, or a text in which each `*` stands for a name of the place.
fn columns(ctx: &Context<'_>, key: &Key, from: &Selected, places: &[Vec<&str>]) -> Result<Vec<String>> {
    let word = key.key(from.kind.word());
    match &from.columns[..] {
        [one] if one.contains('*') => {
            let pieces: Vec<&str> = one.split('*').collect();
            let stars = pieces.len() - 1;
            // Of one row variables are told by their names alone, and the other way round.
            let alike = |k: usize| places.iter().all(|names| names[k] == places[0][k]);
            let told = match places[0].len() {
                2 if stars == 1 => [1, 0].into_iter().find(|&k| alike(1 - k)).map(|k| k..k + 1),
                _ => None,
            };
            let named = told.unwrap_or(0..places[0].len());
            if named.len() != stars {
                let expected = match places[0].len() {
                    2 => "two are expected, for the row and for the variable",
                    _ => "one is expected, for the name of each",
                };
                let what = format!("`{}` has {stars} `*`: {expected}", shorten(one));
                return Err(ctx.fail(&word, Trouble::Misfit(what)));
            }
            let filled = |names: &Vec<&str>| {
                let rest = pieces[1..]
                    .iter()
                    .zip(&names[named.clone()])
                    .map(|(piece, name)| format!("{name}{piece}"));
                format!("{}{}", pieces[0], rest.collect::<String>())
            };
            Ok(places.iter().map(filled).collect())
        }
        [one] => Ok(vec![one.clone(); places.len()]),
        several if several.len() == places.len() => Ok(several.to_vec()),
        several => {
            let expected = format!("{}, or one with a `*`", count(places.len(), "column"));
            Err(ctx.fail(&word, Trouble::Shape { expected, found: several.len().to_string() }))
        }
    }
}

/// Puts columns where they belong, and notes how the problem that is written back says it: part by part. A selection is what one
/// key replaces without another in between, so that columns are numbered as they are when that file is read.
pub(super) fn place(
    ctx: &Context<'_>,
    changes: &[Change],
    stands: &[Vec<Stood>],
    problem: &Problem,
    placed: &mut Placed,
) -> Result<()> {
    let cells = cells(ctx, changes, stands)?;
    let parts = parts(problem);
    let rows_of = |(k, part): (usize, &Part)| {
        let parameter = part.parameter;
        part.rows.clone().map(move |row| ((parameter, row), k))
    };
    let part_of: BTreeMap<_, _> = parts.iter().enumerate().flat_map(rows_of).collect();
    let changed: BTreeSet<usize> =
        cells.keys().filter_map(|at| part_of.get(&(at.0, at.1))).copied().collect();
    let others = placed.terms.iter().filter_map(|term| part_of.get(&(term.parameter, term.row)));
    let others: BTreeSet<usize> = others.copied().collect();
    let (mut stretch, mut before) = (Stretch::default(), 0);
    for k in changed {
        let part = &parts[k];
        let pattern = part.parameter.pattern(problem);
        let stated = part.parameter.of(problem);
        if others.range(before..=k).next().is_some() {
            stretch = Stretch::default();
        }
        before = k;
        let own = part.range.clone().map(|entry| {
            let (row, col) = pattern.map_or((entry, 0), |pattern| pattern.place(entry));
            let Some(cell) = cells.get(&(part.parameter, row, col)) else {
                return Cell::Number(stated.get(entry).copied().unwrap_or(0.0));
            };
            let change = &changes[cell.change];
            let kind = change.from.kind;
            let of = stretch.pick(cell, change, placed);
            let term = PlacedTerm {
                parameter: part.parameter,
                row,
                col,
                factor: cell.factor,
                by: None,
                of: Some(of),
            };
            placed.terms.push(term);
            if cell.shift != 0.0 {
                placed.terms.push(PlacedTerm { factor: cell.shift, of: None, ..term });
            }
            Cell::From(Selected {
                factor: (cell.factor != 1.0).then_some(Factor::Fixed(Numbers::One(cell.factor))),
                shift: (cell.shift != 0.0).then_some(Numbers::One(cell.shift)),
                ..Selected::plain(kind, vec![cell.name.clone()])
            })
        });
        let own: Vec<Cell> = own.collect();
        placed.written.insert(part.key.clone(), said(problem, part, own));
    }
    placed.sort(|term| part_of.get(&(term.parameter, term.row)).copied().unwrap_or(usize::MAX));
    Ok(())
}

/// A coefficient that is `factor · column + shift`.
struct Replaced<'a> {
    change: usize,
    name: &'a String,
    factor: f64,
    shift: f64,
}

/// What is replaced, by kind, row and column.
type Cells<'a> = BTreeMap<(Parameter, usize, usize), Replaced<'a>>;

fn cells<'a>(ctx: &Context<'_>, changes: &'a [Change], stands: &[Vec<Stood>]) -> Result<Cells<'a>> {
    let mut cells = Cells::new();
    for (change, Change { key, what, places, from, names }) in changes.iter().enumerate() {
        let one_each = |written: Option<&Numbers>, name: &str, default: f64| match written {
            None => Ok(vec![default; places.len()]),
            Some(numbers) => ctx.spread(&key.key(name), numbers.clone(), places.len()),
        };
        let factors = match &from.factor {
            None => one_each(None, "factor", 1.0)?,
            Some(Factor::Fixed(fixed)) => one_each(Some(fixed), "factor", 1.0)?,
            Some(Factor::Known(_)) => {
                let trouble = Trouble::OneOf("in a model a factor is a number");
                return Err(ctx.fail(&key.key("factor"), trouble));
            }
        };
        let shifts = one_each(from.shift.as_ref(), "shift", 0.0)?;
        for (k, &(i, j)) in places.iter().enumerate() {
            let targets: Vec<(Parameter, usize, usize, f64)> = match what {
                What::Of(parameter) => vec![(*parameter, j, 0, 1.0)],
                What::Coefficient => stands[i].iter().map(|s| (s.rows, s.at, j, s.sign)).collect(),
                What::Limit if stands[i].iter().any(|s| s.limit == Parameter::Limit) => {
                    let trouble = Trouble::OneOf("one of these rows is soft");
                    return Err(ctx.fail(key, trouble).hint("its limit goes into its [[soften]]"));
                }
                What::Limit => match stands[i][..] {
                    [stood] => vec![(stood.limit, stood.at, 0, stood.sign)],
                    [] => {
                        let trouble = Trouble::OneOf("one of these rows has no limit");
                        return Err(ctx.fail(key, trouble).hint("state one in the model"));
                    }
                    _ => {
                        let trouble = Trouble::OneOf("one of these rows has two limits");
                        return Err(ctx.fail(key, trouble).hint("state it as two rows in the model"));
                    }
                },
            };
            for (parameter, row, col, sign) in targets {
                let (factor, shift) = (sign * factors[k], sign * shifts[k]);
                let cell = Replaced { change, name: &names[k], factor, shift };
                if cells.insert((parameter, row, col), cell).is_some() {
                    let trouble = Trouble::OneOf("one of these numbers is replaced twice");
                    return Err(ctx.fail(key, trouble));
                }
            }
        }
    }
    Ok(cells)
}

/// Neighbours in the order of the file that one key replaces: the columns of a selection, each once.
#[derive(Default)]
struct Stretch<'a> {
    /// Which change, and its selection.
    at: Option<(usize, usize)>,
    seen: BTreeMap<&'a String, usize>,
}

impl<'a> Stretch<'a> {
    fn pick(&mut self, cell: &Replaced<'a>, change: &Change, placed: &mut Placed) -> Pick {
        let selection = match self.at {
            Some((own, selection)) if own == cell.change => selection,
            _ => {
                self.seen.clear();
                let (key, kind) = (change.key.to_string(), change.from.kind);
                let columns = Vec::new();
                let new = Selection { key, kind, columns, count: 0, matrix: None, home: None };
                let selection = placed.select(new);
                self.at = Some((cell.change, selection));
                selection
            }
        };
        let next = self.seen.len();
        let at = *self.seen.entry(cell.name).or_insert_with(|| {
            let own = &mut placed.selections[selection];
            own.columns.push(cell.name.clone());
            own.count += 1;
            next
        });
        Pick { selection, at }
    }
}
