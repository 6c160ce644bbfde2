//! A problem that is stated in algebra.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use regretless_core::ProblemError;

use super::{Context, Stated, with_settings};
use crate::algebra::{self, Fault, Order, state};
use crate::error::{Place, Result, SpecError, Trouble};
use crate::file::{AlgebraFile, ProblemFile};
use crate::key::Key;
use crate::{Parameter, Spec};

pub(super) fn check(ctx: &Context<'_>, file: AlgebraFile, order: &Order) -> Result<Spec> {
    if let Some(name) = &file.problem.name {
        ctx.check_name(&Key::new("problem").key("name"), name)?;
    }
    let statement = state(ctx, &file, order)?;
    let refuse = |error| refused(ctx, &file, error);
    let (problem, placed) = statement.lower().map_err(refuse)?;
    if placed.has(Parameter::Quadratic) {
        // What is wrong with Q need not wait for a table.
        let header: BTreeSet<String> = placed.selections.iter().flat_map(|s| s.columns.clone()).collect();
        let header: Vec<String> = header.into_iter().collect();
        let resolved = placed.resolve(&problem, &header, &Place::File(ctx.neighbour(Path::new(""))));
        resolved.map_err(|error| match error.problem {
            Trouble::Problem(problem) => refuse(problem),
            _ => error,
        })?;
    }
    // Blocks are written back in their own words, so nobody asks what kind they were.
    let (name, hard, constant) = (file.problem.name.clone(), Vec::new(), statement.constant);
    let stated = Stated { name, problem, placed, hard, constant };
    let AlgebraFile { surrogate, data, predictor, training, .. } = file.clone();
    let settings = ProblemFile { surrogate, data, predictor, training, ..ProblemFile::default() };
    let spec = with_settings(ctx, settings, stated)?;
    Ok(Spec { algebra: Some(Arc::new(algebra::Stated { file, statement })), ..spec })
}

/// What the engine says of the whole problem, with the key that is to blame.
fn refused(ctx: &Context<'_>, file: &AlgebraFile, error: ProblemError) -> Box<SpecError> {
    let word = if file.objective.maximize.is_some() { "maximize" } else { "minimize" };
    match error {
        ProblemError::NotConvex { .. } => {
            let (what, hint) = match word {
                "maximize" => ("gain is not concave", "squares are taken from a gain, as in - 2 * (x - y)^2"),
                _ => ("cost is not convex", "squares are added to a cost, as in 2 * (x - y)^2"),
            };
            let trouble = Trouble::Algebra(format!("this {what}: {error}"));
            ctx.fail(&Key::new("objective").key(word), trouble).hint(hint)
        }
        ProblemError::Curvature { .. } => ctx
            .fail(&Key::new("objective").key(word), error.into())
            .hint("a quantity multiplies squares: price[h] * charge[h]^2, of a gain with a minus"),
        ProblemError::BoundsCrossed { variable, lower, upper } => {
            let name = variable.split('[').next().unwrap_or_default().to_owned();
            ctx.fail(&Key::new("variables").key(&name), Trouble::BoundsCrossed { variable, lower, upper })
        }
        _ => ctx.fail(&Key::default(), error.into()),
    }
}

impl Context<'_> {
    /// A fault in the text at `key`, or in another that it names.
    pub(crate) fn fault(&self, key: &Key, fault: Fault) -> Box<SpecError> {
        let Fault { key: own, span, what, hint } = fault;
        let key = own.as_ref().unwrap_or(key);
        let mut error = self.fail(key, Trouble::Algebra(what));
        if let Place::Key { span: Some(place), text, .. } = &mut error.place
            && let Some(inside) = text.get(place.clone()).and_then(|quoted| within(quoted, &span))
        {
            *place = place.start + inside.start..place.start + inside.end;
        }
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// Where bytes of a text stand in its quoted form; `None` if it has escapes, which move them.
fn within(quoted: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| quoted.starts_with(quote))?;
    let inner = quoted.get(quote.len()..quoted.len().checked_sub(quote.len())?)?;
    // A line break right behind the quotes is not part of the text.
    let text = if quote.len() == 3 {
        inner.strip_prefix('\n').or_else(|| inner.strip_prefix("\r\n")).unwrap_or(inner)
    } else {
        inner
    };
    let escaped = quote.starts_with('"') && text.contains('\\') || text.contains('\r');
    let skipped = quote.len() + inner.len() - text.len();
    let inside = skipped + span.start..skipped + span.end;
    (!escaped && span.end <= text.len()).then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_texts_are_found_in_the_file() {
        for (quoted, marked) in [
            ("\"a + b\"", Some("b")),
            ("'a + b'", Some("b")),
            ("\"\"\"\na + b\"\"\"", Some("b")),
            ("'''a + b'''", Some("b")),
            ("\"a \\u002b b\"", None),
            ("7", None),
        ] {
            assert_eq!(within(quoted, &(4..5)).map(|span| &quoted[span]), marked, "{quoted}");
        }
    }
}
