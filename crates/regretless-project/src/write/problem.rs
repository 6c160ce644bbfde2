//! The problem itself: variables, objective, rows and bounds.

use std::ops::Range;

use regretless_core::{Block, Sense};

use super::text::{Text, list, number, string};
use super::{Folder, npy};
use crate::Spec;
use crate::error::Result;
use crate::spec::HardKind;

/// Larger parts are files of their own.
const MOST: usize = 64;

pub(super) fn write(spec: &Spec, folder: &Folder<'_>, text: &mut Text) -> Result<()> {
    let problem = spec.problem();
    let n = problem.n();
    let parts = Parts { spec, folder };
    text.table("[problem]");
    if let Some(name) = spec.name() {
        text.key("name", string(name));
    }
    text.key("sense", string(if problem.sense() == Sense::Max { "max" } else { "min" }));
    text.key("variables", list(problem.variables().iter().map(|name| string(name))));

    text.table("[objective]");
    parts.vector(text, "objective", "linear", problem.theta())?;
    let predicted = spec.predicted().iter().any(|part| part.key == "objective.quadratic");
    if problem.Q().is_some() || predicted {
        parts.matrix(text, "objective", "quadratic", problem.Q().map_or(&[], |q| q.as_slice()), n)?;
    }
    if spec.constant != 0.0 {
        text.key("constant", number(spec.constant));
    }
    for (i, Block { name, rows }) in problem.soft().blocks.iter().enumerate() {
        let (soft, block) = (problem.soft(), format!("soft[{i}]"));
        text.table("[[soft]]");
        text.key("name", string(name));
        parts.matrix(text, &block, "rows", &soft.C.as_slice()[entries(rows, n)], n)?;
        parts.vector(text, &block, "limit", &soft.d[rows.clone()])?;
        parts.vector(text, &block, "over", &soft.alpha[rows.clone()])?;
        parts.vector(text, &block, "under", &soft.under[rows.clone()])?;
    }
    let (mut at_most, mut equal) = (problem.at_most().blocks.iter(), problem.equal().blocks.iter());
    for (i, kind) in spec.hard.iter().enumerate() {
        let (hard, next, side) = match kind {
            HardKind::AtMost => (problem.at_most(), at_most.next(), "at_most"),
            HardKind::Equals => (problem.equal(), equal.next(), "equals"),
        };
        let Some(Block { name, rows }) = next else { continue };
        let block = format!("hard[{i}]");
        text.table("[[hard]]");
        text.key("name", string(name));
        parts.matrix(text, &block, "rows", &hard.rows.as_slice()[entries(rows, n)], n)?;
        parts.vector(text, &block, side, &hard.rhs[rows.clone()])?;
    }
    text.table("[bounds]");
    parts.vector(text, "bounds", "lower", problem.lower())?;
    parts.vector(text, "bounds", "upper", problem.upper())
}

/// The entries of rows.
fn entries(rows: &Range<usize>, n: usize) -> Range<usize> {
    rows.start * n..rows.end * n
}

struct Parts<'a> {
    spec: &'a Spec,
    folder: &'a Folder<'a>,
}

impl Parts<'_> {
    fn vector(&self, text: &mut Text, block: &str, key: &str, values: &[f64]) -> Result<()> {
        let shape = format!("{},", values.len());
        let literal = || list(values.iter().map(|&v| number(v)));
        self.part(text, block, key, values, &shape, literal)
    }

    fn matrix(&self, text: &mut Text, block: &str, key: &str, values: &[f64], cols: usize) -> Result<()> {
        let rows = values.chunks(cols);
        let shape = format!("{}, {cols}", rows.len());
        let literal = || list(rows.map(|row| list(row.iter().map(|&v| number(v)))));
        self.part(text, block, key, values, &shape, literal)
    }

    /// A part as columns, as a literal, or as a file.
    fn part(
        &self,
        text: &mut Text,
        block: &str,
        key: &str,
        values: &[f64],
        shape: &str,
        literal: impl FnOnce() -> String,
    ) -> Result<()> {
        let path = format!("{block}.{key}");
        if let Some(part) = self.spec.predicted().iter().find(|part| part.key == path) {
            let columns = list(part.columns.iter().map(|column| string(column)));
            text.key(key, format!("{{ predict = {columns} }}"));
        } else if values.len() <= MOST {
            text.key(key, literal());
        } else {
            let file = format!("{}.npy", path.replace(['[', '.'], "-").replace(']', ""));
            self.folder.put(&file, &npy::bytes(values, shape))?;
            text.key(key, format!("{{ file = {} }}", string(&file)));
        }
        Ok(())
    }
}
