//! A problem that is written out: variables, objective, rows and bounds.

use std::collections::BTreeMap;

use regretless_core::{Problem, Sense};

use super::blocks::Blocks;
use super::places::Stand;
use super::{Context, EXAMPLE, Stated};
use crate::Parameter;
use crate::data::Allowed;
use crate::error::{Result, Trouble, shorten};
use crate::file::{ProblemFile, SenseName, Variables, Written};
use crate::key::Key;
use crate::placed::Placed;
use crate::spec::HardKind;

pub(super) fn written(ctx: &Context<'_>, file: &ProblemFile) -> Result<Stated> {
    if !file.soften.is_empty() {
        let trouble = Trouble::OneOf("`soften` is about the rows of `problem.model`, and there is none");
        return Err(ctx
            .fail(&Key::new("soften").index(0), trouble)
            .hint("rows that are written out are soft as [[soft]]"));
    }
    if !file.replace.is_empty() {
        let trouble = Trouble::OneOf("`replace` is about the numbers of `problem.model`, and there is none");
        return Err(ctx
            .fail(&Key::new("replace").index(0), trouble)
            .hint("a number that is written out may be { known = \"column\" } where it stands"));
    }
    let (n, variables) = variables(ctx, file.problem.variables.as_ref())?;
    let quiet = file.objective.linear.is_none() && file.objective.quadratic.is_none();
    if quiet && file.soft.is_empty() && file.hard.is_empty() {
        let trouble = Trouble::Empty("the problem has neither an objective nor any rows");
        return Err(ctx.fail(&Key::new("problem"), trouble).hint(EXAMPLE));
    }
    let sense = match file.problem.sense.unwrap_or_default() {
        SenseName::Max => Sense::Max,
        SenseName::Min => Sense::Min,
    };
    let mut builder = match sense {
        Sense::Max => Problem::maximize(n),
        Sense::Min => Problem::minimize(n),
    };
    let mut placed = Placed::default();

    let objective = Key::new("objective");
    if let Some(linear) = &file.objective.linear {
        let key = objective.key("linear");
        let part = ctx.vector(&key, linear, Allowed::Finite)?;
        let (values, wanted) = part.sized(ctx, &key, n, "one for each variable", 0.0)?;
        if !wanted.is_empty() {
            placed.written.insert(key.to_string(), Written::Vector(linear.clone()));
        }
        ctx.place(&mut placed, wanted, &[Stand::at(Parameter::Linear, 0)])?;
        builder = builder.linear(values);
    } else if file.objective.quadratic.is_some() || !file.soft.is_empty() {
        // The rest of the objective is all of it.
        builder = builder.linear(vec![0.0; n]);
    }
    if let Some(quadratic) = &file.objective.quadratic {
        let key = objective.key("quadratic");
        let part = ctx.matrix(&key, quadratic, &variables)?;
        let (matrix, wanted) = part.sized(ctx, &key, n, n)?;
        if !wanted.is_empty() {
            placed.written.insert(key.to_string(), Written::Rows(quadratic.clone()));
        }
        ctx.place(&mut placed, wanted, &[Stand::at(Parameter::Quadratic, 0)])?;
        builder = builder.quadratic(matrix);
    }
    let mut blocks = Blocks::new(ctx, &variables, placed);
    for (i, soft) in file.soft.iter().enumerate() {
        builder = blocks.soft(builder, i, soft)?;
    }
    for (i, hard) in file.hard.iter().enumerate() {
        builder = blocks.hard(builder, i, hard)?;
    }
    let mut placed = blocks.placed;

    let bounds = Key::new("bounds");
    let (mut lower, mut upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
    let sides = [
        ("lower", &file.bounds.lower, Parameter::Lower, f64::NEG_INFINITY, &mut lower),
        ("upper", &file.bounds.upper, Parameter::Upper, f64::INFINITY, &mut upper),
    ];
    for (side, written, parameter, none, values) in sides {
        let Some(written) = written else { continue };
        let key = bounds.key(side);
        let part = ctx.vector(&key, written, Allowed::of(parameter))?;
        let wanted;
        (*values, wanted) = part.sized(ctx, &key, n, "one for each variable", none)?;
        if !wanted.is_empty() {
            placed.written.insert(key.to_string(), Written::Vector(written.clone()));
        }
        ctx.place(&mut placed, wanted, &[Stand::at(parameter, 0)])?;
    }
    let problem = builder
        .variables(variables)
        .lower(lower)
        .upper(upper)
        .build()
        .map_err(|e| ctx.problem(e, &file.bounds))?;
    let hard = file.hard.iter().map(|h| match (&h.at_most, &h.at_least) {
        (Some(_), Some(_)) => HardKind::Range,
        (None, Some(_)) => HardKind::AtLeast,
        (Some(_), None) => HardKind::AtMost,
        (None, None) => HardKind::Equals,
    });
    let constant = ctx.constant(file)?.unwrap_or(0.0);
    Ok(Stated { name: file.problem.name.clone(), problem, placed, hard: hard.collect(), constant })
}

/// The number of variables and their names.
fn variables(ctx: &Context<'_>, written: Option<&Variables>) -> Result<(usize, Vec<String>)> {
    let key = Key::new("problem").key("variables");
    let limit = ctx.limits.variables;
    let Some(written) = written else {
        let hint = "give the variables' names, variables = [\"a\", \"b\"], or their number; or a model = \"file.mps\" that has them";
        return Err(ctx.fail(&Key::new("problem"), Trouble::MissingKey("variables".into())).hint(hint));
    };
    let found = match written {
        Variables::Count(count) => *count,
        Variables::Names(names) => names.len() as u64,
    };
    if found > limit as u64 {
        return Err(ctx.fail(&key, Trouble::TooManyVariables { found, limit }));
    }
    if found == 0 {
        let trouble = Trouble::Empty("the problem has no variables");
        return Err(ctx.fail(&key, trouble).hint("give their names or their number"));
    }
    let names = match written {
        Variables::Count(count) => (0..*count).map(|j| format!("x{j}")).collect(),
        Variables::Names(names) => names.clone(),
    };
    let mut seen = BTreeMap::new();
    for (j, name) in names.iter().enumerate() {
        ctx.check_name(&key.index(j), name)?;
        if seen.insert(name, j).is_some() {
            return Err(ctx.fail(&key.index(j), Trouble::DuplicateName(shorten(name))));
        }
    }
    Ok((found as usize, names))
}
