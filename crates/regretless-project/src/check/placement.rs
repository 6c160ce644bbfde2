//! Which column of the table feeds which number: by order, which names do not change.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Kind, Parameter, PlacedTerm, Spec};
use regretless_core::Problem;
use regretless_core::problem::Block;
use regretless_learn::Dataset;

use super::Finding;
use regretless_learn::some_of;

/// A line for every part that comes from a table. Where the names of columns suggest another order, the task warns.
pub(super) fn run(spec: &Spec, data: &Dataset) -> Vec<Finding> {
    let header: Vec<String> = data.names.targets.iter().chain(&data.known.names).cloned().collect();
    let place = crate::Place::File(spec.file().to_owned());
    let mut findings: BTreeMap<(Kind, usize), Finding> = BTreeMap::new();
    for (at, part) in spec.placed().selections.iter().enumerate() {
        let Ok(chosen) = part.select(&header, &place) else { continue };
        let chosen = part.ordered(chosen, &header, spec.problem());
        let pair = |term: &PlacedTerm| {
            let pick = term.of?;
            Some(format!("{} ← {}", entry(spec, term), scaled(&header[chosen[pick.at]], term.factor)))
        };
        // The two sides of a range in algebra have one name.
        let mut pairs: Vec<String> = spec.placed().terms_of(at).filter_map(pair).collect();
        let mut seen = BTreeSet::new();
        pairs.retain(|pair| seen.insert(pair.clone()));
        let word = if part.kind == Kind::Predicted { "predicted" } else { "known" };
        if !pairs.is_empty() {
            let finding = Finding::ok(word, format!("`{}`: {}", part.key, some_of(&pairs)));
            findings.insert((part.kind, at), finding);
        }
    }
    findings.into_values().collect()
}

/// A column with its factor.
fn scaled(column: &str, factor: f64) -> String {
    if factor == 1.0 { column.to_owned() } else { format!("{factor}·{column}") }
}

/// What a coefficient is called within its block: the variable's name where there is one for each, else its position. In algebra
/// and in models rows have names, and a column goes to rows of several.
fn entry(spec: &Spec, term: &PlacedTerm) -> String {
    let problem = spec.problem();
    let replaced =
        term.of.is_some_and(|pick| spec.placed().selections[pick.selection].key.starts_with("replace["));
    if spec.algebra.is_some() || replaced {
        return named(problem, term);
    }
    let row = |blocks: &[regretless_core::problem::Block]| {
        let block = blocks.iter().find(|block| block.rows.contains(&term.row));
        term.row - block.map_or(0, |block| block.rows.start)
    };
    let soft = || row(&problem.soft().blocks);
    match term.parameter {
        Parameter::Linear | Parameter::Lower | Parameter::Upper => problem.variables()[term.row].clone(),
        Parameter::Quadratic => format!("[{}][{}]", term.row, term.col),
        Parameter::SoftRows => format!("[{}][{}]", soft(), term.col),
        Parameter::AtMostRows => format!("[{}][{}]", row(&problem.at_most().blocks), term.col),
        Parameter::EqualRows => format!("[{}][{}]", row(&problem.equal().blocks), term.col),
        Parameter::AtMost => format!("[{}]", row(&problem.at_most().blocks)),
        Parameter::Equals => format!("[{}]", row(&problem.equal().blocks)),
        Parameter::Limit | Parameter::Over | Parameter::Under => format!("[{}]", soft()),
    }
}

/// A coefficient by the names of its row and its variable.
fn named(problem: &Problem, term: &PlacedTerm) -> String {
    let row = |blocks: &[Block]| {
        let block = blocks.iter().find(|block| block.rows.contains(&term.row));
        block.map_or_else(|| format!("[{}]", term.row), |block| block.name.clone())
    };
    let variable = |j: usize| problem.variables()[j].clone();
    let soft = || row(&problem.soft().blocks);
    match term.parameter {
        Parameter::Linear => variable(term.row),
        Parameter::Lower => format!("lower bound of {}", variable(term.row)),
        Parameter::Upper => format!("upper bound of {}", variable(term.row)),
        Parameter::Quadratic => format!("{}·{}", variable(term.row), variable(term.col)),
        Parameter::SoftRows => format!("{}·{}", soft(), variable(term.col)),
        Parameter::AtMostRows => format!("{}·{}", row(&problem.at_most().blocks), variable(term.col)),
        Parameter::EqualRows => format!("{}·{}", row(&problem.equal().blocks), variable(term.col)),
        Parameter::AtMost => row(&problem.at_most().blocks),
        Parameter::Equals => row(&problem.equal().blocks),
        Parameter::Limit => soft(),
        Parameter::Over => format!("over of {}", soft()),
        Parameter::Under => format!("under of {}", soft()),
    }
}
