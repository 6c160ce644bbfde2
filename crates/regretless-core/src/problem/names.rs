//! What the entries of a parameter are called, and the columns of a table that are named for them.
//!
//! Entries of θ and of bounds are called like their variables; limits and prices like their rows; coefficients like row and
//! variable. A row is called like its block, with its position where the block has several; one of a single variable also like
//! that variable (`demand_bread` for the row of `bread`). Positions count from 0 or from 1.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::{Block, Coefficients, Parameter, Problem};

/// Pairs of a column and a name that are looked at to say what is missing.
const PAIRS: usize = 4_000_000;

/// What the names of columns say about the entries of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// For each entry the column that is named for it.
    All(Vec<usize>),
    /// More than half of the entries have a column: the names that are missing, and the columns that are none of them.
    Most {
        /// What columns of the other entries would be called.
        missing: Vec<String>,
        /// Columns that are named for no entry.
        unknown: Vec<String>,
    },
    /// Nothing: the order of the columns is all there is.
    None,
}

/// One way to call the entries.
struct Naming {
    names: Vec<String>,
    /// True if there are names in it, and not positions alone.
    telling: bool,
}

impl Problem {
    /// Finds the columns that are named for entries of a parameter, whatever their order. They may have a beginning and an end
    /// in common.
    ///
    /// ```
    /// use regretless_core::problem::Named;
    /// use regretless_core::{Matrix, Parameter, Problem, Soft};
    /// let each = Matrix::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    /// let orders = Soft::both(each, [5.0, 2.0], [1.0, 1.0], [3.0, 3.0]);
    /// let shop = Problem::minimize(2).variables(["bread", "cake"]).soft("demand", orders).build()?;
    /// let columns = ["demand_cake", "demand_bread"].map(String::from);
    /// assert_eq!(shop.named(Parameter::Limit, 0..2, &columns), Named::All(vec![1, 0]));
    /// # Ok::<(), regretless_core::ProblemError>(())
    /// ```
    pub fn named(&self, parameter: Parameter, entries: Range<usize>, columns: &[String]) -> Named {
        let namings = self.namings(parameter, entries);
        let place: HashMap<&str, usize> = columns.iter().enumerate().map(|(i, c)| (c.as_str(), i)).collect();
        if let Some(order) = namings.iter().find_map(|naming| order(&naming.names, columns, &place)) {
            return Named::All(order);
        }
        let mut telling = namings.iter().filter(|naming| naming.telling);
        telling.find_map(|naming| most(&naming.names, columns)).unwrap_or(Named::None)
    }

    /// The ways to call some entries, the likeliest first.
    fn namings(&self, parameter: Parameter, entries: Range<usize>) -> Vec<Naming> {
        let variables = self.variables();
        let Some(pattern) = parameter.pattern(self) else {
            return match self.rows_of(parameter) {
                Some((matrix, blocks)) => self.rows(matrix, blocks, entries),
                None => vec![Naming { names: variables[entries].to_vec(), telling: true }],
            };
        };
        let places: Vec<(usize, usize)> = entries.map(|k| pattern.place(k)).collect();
        let (Some(&(first, _)), Some(&(last, _))) = (places.first(), places.last()) else {
            return Vec::new();
        };
        let both = |row: &dyn Fn(usize) -> String, column: &dyn Fn(usize) -> String, telling| Naming {
            names: places.iter().map(|&(i, j)| format!("{}_{}", row(i), column(j))).collect(),
            telling,
        };
        let variable = |j: usize| variables[j].clone();
        let mut out = Vec::new();
        match self.rows_of(parameter) {
            Some((matrix, blocks)) => {
                for rows in self.rows(matrix, blocks, first..last + 1) {
                    out.push(both(&|i| rows.names[i - first].clone(), &variable, true));
                }
            }
            None => out.push(both(&variable, &variable, true)),
        }
        for base in [0, 1] {
            out.push(both(&|i| (i - first + base).to_string(), &|j| (j + base).to_string(), false));
        }
        out
    }

    /// The coefficients and blocks of the rows that a parameter is of.
    fn rows_of(&self, parameter: Parameter) -> Option<(&Coefficients, &[Block])> {
        match parameter {
            Parameter::SoftRows | Parameter::Limit | Parameter::Over | Parameter::Under => {
                Some((&self.soft().C, &self.soft().blocks))
            }
            Parameter::AtMostRows | Parameter::AtMost => Some((&self.at_most().rows, &self.at_most().blocks)),
            Parameter::EqualRows | Parameter::Equals => Some((&self.equal().rows, &self.equal().blocks)),
            Parameter::Linear | Parameter::Quadratic | Parameter::Lower | Parameter::Upper => None,
        }
    }

    fn rows(&self, matrix: &Coefficients, blocks: &[Block], rows: Range<usize>) -> Vec<Naming> {
        let alone = |i: usize| {
            let mut own = matrix.row(i).iter().filter(|(_, a)| *a != 0.0);
            let (j, _) = own.next()?;
            own.next().is_none().then(|| self.variables()[j].clone())
        };
        let of_block = |i: usize, within: &dyn Fn(usize) -> Option<String>| {
            let block = blocks.iter().find(|block| block.rows.contains(&i))?;
            if block.rows.len() == 1 {
                return Some(block.name.clone());
            }
            Some(format!("{}_{}", block.name, within(i - block.rows.start)?))
        };
        let mut out = Vec::new();
        let mut add = |names: Option<Vec<String>>, telling| {
            out.extend(names.map(|names| Naming { names, telling }));
        };
        add(rows.clone().map(alone).collect(), true);
        add(rows.clone().map(|i| of_block(i, &|_| alone(i))).collect(), true);
        for base in [0, 1] {
            add(rows.clone().map(|i| of_block(i, &|k| Some((k + base).to_string()))).collect(), true);
        }
        for base in [0, 1] {
            add(Some((base..base + rows.len()).map(|i| i.to_string()).collect()), false);
        }
        out
    }
}

/// For each name its column, if all columns are these names between a common beginning and end.
fn order(names: &[String], columns: &[String], place: &HashMap<&str, usize>) -> Option<Vec<usize>> {
    let distinct = names.iter().collect::<BTreeSet<_>>().len();
    if columns.len() != names.len() || place.len() != names.len() || distinct != names.len() {
        return None;
    }
    let mut around = affixes(columns.first()?, names);
    around.find_map(|(before, after)| {
        names.iter().map(|name| place.get(format!("{before}{name}{after}").as_str()).copied()).collect()
    })
}

/// What may stand before and after a name in a column.
fn affixes<'a>(column: &'a str, names: &'a [String]) -> impl Iterator<Item = (&'a str, &'a str)> {
    let around =
        |name: &'a String| column.match_indices(name.as_str()).map(move |(at, found)| (at, found.len()));
    names.iter().flat_map(around).map(|(at, length)| (&column[..at], &column[at + length..]))
}

/// What is missing, if more than half of the names have a column.
fn most(names: &[String], columns: &[String]) -> Option<Named> {
    if names.len() * columns.len() > PAIRS {
        return None;
    }
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for around in columns.iter().flat_map(|column| affixes(column, names)) {
        *counts.entry(around).or_default() += 1;
    }
    let best = counts
        .into_iter()
        .max_by_key(|((before, after), count)| (*count, std::cmp::Reverse(before.len() + after.len())));
    let ((before, after), found) = best?;
    if found < 2 || 2 * found <= names.len() {
        return None;
    }
    let wanted: Vec<String> = names.iter().map(|name| format!("{before}{name}{after}")).collect();
    let without = |all: &[String], of: &[String]| -> Vec<String> {
        let there: BTreeSet<&String> = of.iter().collect();
        all.iter().filter(|name| !there.contains(name)).cloned().collect()
    };
    Some(Named::Most { missing: without(&wanted, columns), unknown: without(columns, &wanted) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Matrix, Soft};

    fn all(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    /// Rows of single variables in another order than theirs, a row of two, hard rows in a block of two.
    fn shop() -> Problem {
        let matrix = |rows: &[[f64; 3]]| Matrix::from_vec(rows.len(), 3, rows.concat()).unwrap();
        let demand = matrix(&[[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]);
        Problem::minimize(3)
            .variables(["bread", "cake", "roll"])
            .soft("demand", Soft::over(demand, [1.0, 1.0], [1.0, 1.0]))
            .soft("water", Soft::over(matrix(&[[1.0, 1.0, 0.0]]), [1.0], [1.0]))
            .at_most("ovens", matrix(&[[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]), [4.0, 4.0])
            .build()
            .unwrap()
    }

    #[test]
    fn columns_in_any_order() {
        let shop = shop();
        let named = |parameter: Parameter, columns: &[&str]| {
            shop.named(parameter, 0..parameter.entries(&shop), &all(columns))
        };
        let order = |parameter, columns: &[&str], order: &[usize]| {
            assert_eq!(named(parameter, columns), Named::All(order.to_vec()), "{columns:?}");
        };
        order(Parameter::Linear, &["roll €", "bread €", "cake €"], &[1, 2, 0]);
        order(Parameter::Limit, &["water", "demand_bread", "demand_roll"], &[2, 1, 0]);
        order(Parameter::Limit, &["y_water", "y_demand_1", "y_demand_0"], &[2, 1, 0]);
        order(Parameter::Limit, &["d_2", "d_0", "d_1"], &[1, 2, 0]);
        order(Parameter::Limit, &["d_2", "d_3", "d_1"], &[2, 0, 1]);
        assert_eq!(shop.named(Parameter::Over, 0..2, &all(&["bread", "roll"])), Named::All(vec![1, 0]));
        order(Parameter::AtMost, &["b2", "b1"], &[1, 0]);
        let rows = ["1_bread", "1_cake", "1_roll", "0_roll", "0_cake", "0_bread"];
        order(Parameter::AtMostRows, &rows, &[5, 4, 3, 0, 1, 2]);
        let mut places: Vec<String> =
            (0..3).flat_map(|i| (0..3).map(move |j| format!("Q_{i}_{j}"))).collect();
        places.reverse();
        let turned: Vec<usize> = (0..9).rev().collect();
        assert_eq!(shop.named(Parameter::Quadratic, 0..9, &places), Named::All(turned));
    }

    #[test]
    fn what_names_do_not_say() {
        let shop = shop();
        let named = |columns: &[&str]| shop.named(Parameter::Linear, 0..3, &all(columns));
        assert_eq!(named(&["north", "south", "west"]), Named::None);
        assert_eq!(named(&["p_bread", "p_roll", "p_roll"]), named(&["p_bread", "p_roll"]));
        let most =
            |missing: &[&str], unknown: &[&str]| Named::Most { missing: all(missing), unknown: all(unknown) };
        assert_eq!(named(&["p_bread", "p_roll"]), most(&["p_cake"], &[]));
        assert_eq!(named(&["p_bread", "p_kake", "p_roll"]), most(&["p_cake"], &["p_kake"]));
        assert_eq!(named(&["p_bread", "p_cake", "p_roll", "rain"]), most(&[], &["rain"]));
        assert_eq!(named(&[]), Named::None);
    }
}
