//! The whole statement: bounds, objective and rows, with coefficients affine in the columns of a table.

use std::collections::BTreeSet;

use regretless_core::Sense;

use super::ast::Sign;
use super::declare::{self, Order, text};
use super::expand::Expander;
use super::form::Form;
use super::model::Model;
use super::number::Number;
use super::rows::{Kept, Section, Writer};
use crate::error::{Result, Trouble, shorten};
use crate::file::AlgebraFile;
use crate::key::Key;
use crate::resolve::Context;

/// A problem in algebra, expanded.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) model: Model,
    pub(crate) sense: Sense,
    /// Names and bounds of the variables.
    pub(crate) variables: Vec<String>,
    pub(crate) lower: Vec<Number>,
    pub(crate) upper: Vec<Number>,
    /// The objective: coefficients by variable, and by pair i ≤ j.
    pub(crate) linear: Vec<(usize, Number)>,
    pub(crate) quadratic: Vec<((usize, usize), Number)>,
    pub(crate) constant: f64,
    pub(crate) blocks: Vec<Block>,
}

/// The rows of one section.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) soft: bool,
    /// As it is written.
    pub(crate) text: String,
    pub(crate) for_: Option<String>,
    pub(crate) rows: Vec<Row>,
}

/// `Σ entries · x  sign  limit`, with prices where it is soft.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) entries: Vec<(usize, Number)>,
    pub(crate) sign: Sign,
    pub(crate) limit: Number,
    pub(crate) over: Number,
    pub(crate) under: Number,
}

/// Expands a file.
pub(crate) fn state(ctx: &Context<'_>, file: &AlgebraFile, order: &Order) -> Result<Statement> {
    let model = declare::model(ctx, file, order)?;
    let (sense, goal) = match (&file.objective.maximize, &file.objective.minimize) {
        (Some(text), None) => (Sense::Max, Some(("maximize", text))),
        (None, Some(text)) => (Sense::Min, Some(("minimize", text))),
        (None, None) if !file.soft.is_empty() => (Sense::Min, None),
        (None, None) => {
            let trouble = Trouble::MissingKey("objective".into());
            return Err(ctx
                .fail(&Key::default(), trouble)
                .hint("write [objective] and maximize = \"…\" or minimize = \"…\""));
        }
        (Some(_), Some(_)) => {
            let trouble = Trouble::OneOf("an objective is either maximised or minimised");
            return Err(ctx.fail(&Key::new("objective").key("minimize"), trouble));
        }
    };
    let writer = Writer { ctx, expander: Expander::new(&model, ctx.limits.terms), model: &model };
    let lower = writer.bounds("lower", 0.0, |v| v.lower.as_ref())?;
    let upper = writer.bounds("upper", f64::INFINITY, |v| v.upper.as_ref())?;
    let objective = match goal {
        Some((word, text)) => writer.objective(&Key::new("objective").key(word), text)?,
        None => Form::default(),
    };
    let mut blocks: Vec<Block> = Vec::new();
    let mut names = BTreeSet::new();
    let mut kept = Kept { variables: lower.len(), terms: objective.terms(), rows: 0 };
    let soft = file.soft.iter().enumerate().map(|(i, soft)| {
        let prices = [("over", soft.over.as_ref()), ("under", soft.under.as_ref())];
        ("soft", i, soft.name.as_deref(), soft.for_.as_deref(), &soft.row, Some(prices))
    });
    let hard = file.hard.iter().enumerate();
    let hard = hard.map(|(i, hard)| ("hard", i, hard.name.as_deref(), hard.for_.as_deref(), &hard.row, None));
    for (kind, i, name, for_, row, prices) in soft.chain(hard) {
        let key = Key::new(kind).index(i);
        let name = match name {
            Some(name) => name.to_owned(),
            None => format!("{kind}{i}"),
        };
        ctx.check_name(&key.key("name"), &name)?;
        if !names.insert(name.clone()) {
            let error = ctx.fail(&key.key("name"), Trouble::DuplicateName(shorten(&name)));
            return Err(error
                .hint("soft and hard rows share one set of names; without a name they are soft0, hard0, …"));
        }
        let [over, under] = match prices {
            Some([over, under]) => {
                [text(ctx, &key.key(over.0), over.1)?, text(ctx, &key.key(under.0), under.1)?]
            }
            None => [None, None],
        };
        let section = Section { key, name, for_, row, soft: prices.is_some(), over, under };
        blocks.push(writer.rows(section, &mut kept)?);
    }
    every_prediction_is_used(ctx, &model, &writer.expander.met.borrow())?;
    drop(writer);
    Ok(Statement {
        sense,
        variables: model.variable_names(),
        lower,
        upper,
        linear: objective.linear.into_iter().collect(),
        quadratic: objective.quadratic.into_iter().collect(),
        constant: objective.constant.fixed,
        blocks,
        model,
    })
}

/// A prediction that nothing mentions is a mistake: of a name, or of a filter.
fn every_prediction_is_used(ctx: &Context<'_>, model: &Model, met: &BTreeSet<usize>) -> Result<()> {
    let unused = model.columns.iter().enumerate().find(|(i, column)| column.predicted && !met.contains(i));
    let Some((_, column)) = unused else { return Ok(()) };
    let what =
        format!("`{}` is predicted, and neither the objective nor a row has it", shorten(&column.stands_for));
    let key = Key::new("quantities").key(&column.quantity);
    Err(ctx.fail(&key, Trouble::Misfit(what)).hint("leave it out of the quantity's sets, or use it"))
}
