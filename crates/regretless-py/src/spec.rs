//! A problem and settings as the text of a problem file, which the learner takes.

use std::fmt::Write;

use pyo3::prelude::*;
use regretless_core::{Parameter, Problem, Sense};
use regretless_project::{Limits, Spec};

use crate::error;

/// The problem with parts to predict, and settings in the words of problem files.
pub(crate) fn spec(problem: &Problem, predicted: &[Parameter], settings: &str) -> PyResult<Spec> {
    let text = format!("{}\n{settings}", text(problem, predicted));
    // The problem is in memory already: no limit protects from anything.
    let limits = Limits { problem_bytes: u64::MAX, ..Limits::default() };
    Spec::parse(text, "regretless.toml", &limits).map_err(|e| error::raise("TrainingError", e))
}

/// All blocks of a kind are one block here; the engine stacks them anyway.
fn text(problem: &Problem, predicted: &[Parameter]) -> String {
    let n = problem.n();
    let part = |parameter: Parameter, width: Option<usize>| {
        if predicted.contains(&parameter) {
            return format!("{{ predict = \"{}_*\" }}", parameter.symbol());
        }
        let values = parameter.of(problem);
        match width {
            None => list(values),
            Some(width) => {
                let rows: Vec<String> = values.chunks_exact(width.max(1)).map(list).collect();
                format!("[{}]", rows.join(", "))
            }
        }
    };
    let sense = if problem.sense() == Sense::Max { "max" } else { "min" };
    // The debug form of a list of names is that of TOML.
    let names = problem.variables();
    let mut text = format!("[problem]\nsense = \"{sense}\"\nvariables = {names:?}\n\n[objective]\n");
    let _ = writeln!(text, "linear = {}", part(Parameter::Linear, None));
    if problem.Q().is_some() || predicted.contains(&Parameter::Quadratic) {
        let _ = writeln!(text, "quadratic = {}", part(Parameter::Quadratic, Some(n)));
    }
    let rows = |matrix: Parameter| part(matrix, Some(n));
    if problem.shape().soft > 0 {
        let _ = writeln!(
            text,
            "\n[[soft]]\nname = \"soft\"\nrows = {}\nlimit = {}\nover = {}\nunder = {}",
            rows(Parameter::SoftRows),
            part(Parameter::Limit, None),
            part(Parameter::Over, None),
            part(Parameter::Under, None)
        );
    }
    let hard = [
        ("at_most", problem.shape().at_most, Parameter::AtMostRows, Parameter::AtMost),
        ("equals", problem.shape().equal, Parameter::EqualRows, Parameter::Equals),
    ];
    for (kind, count, matrix, side) in hard {
        if count > 0 {
            let (rows, side) = (rows(matrix), part(side, None));
            let _ = writeln!(text, "\n[[hard]]\nname = \"{kind}\"\nrows = {rows}\n{kind} = {side}");
        }
    }
    let (lower, upper) = (part(Parameter::Lower, None), part(Parameter::Upper, None));
    let _ = writeln!(text, "\n[bounds]\nlower = {lower}\nupper = {upper}");
    text
}

/// Numbers as TOML has them: the debug form has a point or an exponent, and infinity is `inf` in both.
fn list(values: &[f64]) -> String {
    let numbers: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
    format!("[{}]", numbers.join(", "))
}
