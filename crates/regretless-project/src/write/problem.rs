//! The problem itself: variables, objective, rows and bounds.

use std::ops::Range;

use regretless_core::problem::Block;
use regretless_core::{Coefficients, Sense};

use super::text::{Text, list, number, string};
use super::{Folder, columns, npy};
use crate::error::{Place, Result, SpecError, Trouble};
use crate::spec::HardKind;
use crate::{Parameter, PlacedTerm, Selection, Spec};

/// Larger parts are files of their own.
const MOST: usize = 64;

pub(super) fn write(spec: &Spec, folder: &Folder<'_>, text: &mut Text) -> Result<()> {
    let problem = spec.problem();
    let n = problem.n();
    let stored = |term: &&PlacedTerm| term.parameter.pattern(problem).is_some_and(|p| !p.is_dense());
    // What a [[replace]] takes from a table is written where it stands.
    let unwritten = |key: &&Selection| {
        !key.key.starts_with("replace[")
            && !spec
                .placed()
                .written
                .keys()
                .any(|own| key.key.replacen("soften", "soft", 1).starts_with(own.as_str()))
    };
    if spec.placed().terms.iter().any(|term| stored(&term))
        && let Some(part) =
            spec.placed().selections.iter().find(|part| part.matrix.is_none() && is_rows(part))
    {
        let trouble = Trouble::Misfit("a problem file cannot say that a sparse matrix is predicted".into());
        return Err(SpecError::new(Place::Setting(part.key.clone()), trouble).hint("state it dense"));
    }
    if let Some(part) = spec.placed().selections.iter().find(unwritten) {
        let what = "a coefficient that several columns add up to has no words in a problem file";
        let trouble = Trouble::Misfit(what.into());
        return Err(SpecError::new(Place::Setting(part.key.clone()), trouble)
            .hint("predict their sum, or keep the model in memory"));
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
    if problem.Q().is_some() || spec.placed().has(Parameter::Quadratic) {
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
        let (hard, next, sides) = match kind {
            HardKind::AtMost => (problem.at_most(), at_most.next(), &[("at_most", 1.0)][..]),
            HardKind::AtLeast => (problem.at_most(), at_most.next(), &[("at_least", -1.0)][..]),
            HardKind::Range => {
                (problem.at_most(), at_most.next(), &[("at_most", 1.0), ("at_least", -1.0)][..])
            }
            HardKind::Equals => (problem.equal(), equal.next(), &[("equals", 1.0)][..]),
        };
        let Some(Block { name, rows }) = next else { continue };
        let block = format!("hard[{i}]");
        text.table("[[hard]]");
        text.key("name", string(name));
        // The rows of one side stand for both; those of `at_least` stand negated.
        let height = rows.len() / sides.len();
        for (k, (side, sign)) in sides.iter().enumerate() {
            let own = rows.start + k * height..rows.start + (k + 1) * height;
            let signed = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| sign * v + 0.0).collect() };
            if k == 0 {
                parts.matrix(text, &block, "rows", &signed(&dense(&hard.rows, &own)), n)?;
            }
            parts.vector(text, &block, side, &signed(&hard.rhs[own]))?;
        }
    }
    text.table("[bounds]");
    parts.vector(text, "bounds", "lower", problem.lower())?;
    parts.vector(text, "bounds", "upper", problem.upper())
}

fn is_rows(part: &Selection) -> bool {
    part.key.ends_with("rows") || part.key.ends_with("quadratic")
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
        if let Some(written) = self.spec.placed().written.get(&path) {
            text.key(key, columns::written(written));
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
