//! The problem itself: variables, objective, rows and bounds.

use std::ops::Range;

use regretless_core::problem::Block;
use regretless_core::{Coefficients, Sense};

use super::text::{Text, list, number, string};
use super::{Folder, npy};
use crate::error::{Place, Result, SpecError, Trouble};
use crate::spec::HardKind;
use crate::{Predicted, Spec};

/// Larger parts are files of their own.
const MOST: usize = 64;

pub(super) fn write(spec: &Spec, folder: &Folder<'_>, text: &mut Text) -> Result<()> {
    let problem = spec.problem();
    let n = problem.n();
    let sparse = |part: &&Predicted| part.parameter.pattern(problem).is_some_and(|p| !p.is_dense());
    if let Some(part) = spec.predicted().iter().find(sparse) {
        let trouble = Trouble::Misfit("a problem file cannot say that a sparse matrix is predicted".into());
        return Err(SpecError::new(Place::Setting(part.key.clone()), trouble).hint("state it dense"));
    }
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
        let q = problem.Q().map_or_else(Vec::new, |q| dense(q, &(0..n)));
        parts.matrix(text, "objective", "quadratic", &q, n)?;
    }
    if spec.constant != 0.0 {
        text.key("constant", number(spec.constant));
    }
    for (i, Block { name, rows }) in problem.soft().blocks.iter().enumerate() {
        let (soft, block) = (problem.soft(), format!("soft[{i}]"));
        text.table("[[soft]]");
        text.key("name", string(name));
        parts.matrix(text, &block, "rows", &dense(&soft.C, rows), n)?;
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
        parts.matrix(text, &block, "rows", &dense(&hard.rows, rows), n)?;
        parts.vector(text, &block, side, &hard.rhs[rows.clone()])?;
    }
    text.table("[bounds]");
    parts.vector(text, "bounds", "lower", problem.lower())?;
    parts.vector(text, "bounds", "upper", problem.upper())
}

/// Rows with their zeros, one after the other.
fn dense(of: &Coefficients, rows: &Range<usize>) -> Vec<f64> {
    rows.clone().flat_map(|i| of.row(i).to_vec(of.cols())).collect()
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
