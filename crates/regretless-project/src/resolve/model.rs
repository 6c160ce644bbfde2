//! A problem that a model file states, and which of its rows are soft.

use std::path::Path;

use regretless_core::{Coefficients, Problem, ProblemBuilder, ProblemError, Sense, Soft};

use super::part::VectorPart;
use super::places::Stand;
use super::replace::{self, Stood};
use super::{Context, Stated};
use crate::algebra::coefficients;
use crate::data::Allowed;
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::file::{ProblemFile, Selectors, SoftenSection, Vector, Written};
use crate::key::Key;
use crate::mps::{self, Model, Row};
use crate::placed::Placed;
use crate::spec::HardKind;
use crate::{Parameter, suggest};

/// The model that a problem file names.
pub(super) fn named(ctx: &Context<'_>, file: &ProblemFile, model: &Path) -> Result<Stated> {
    let path = ctx.neighbour(model);
    let read = mps::read(&path, ctx.limits).map_err(|error| match error.problem {
        Trouble::NotFound => ctx
            .fail(&Key::new("problem").key("model"), Trouble::NotFound)
            .hint(format!("looked for {}: names are relative to the problem file", path.display())),
        _ => error,
    })?;
    modelled(ctx, file, read, &path)
}

/// The problem of a model, with what the file says of soft rows and predictions.
pub(super) fn modelled(ctx: &Context<'_>, file: &ProblemFile, model: Model, path: &Path) -> Result<Stated> {
    let key = Key::new("problem").key("model");
    only_the_model(ctx, file)?;
    let n = model.columns.len();
    ctx.stored(&key, model.rows.iter().map(|row| row.entries.len()).sum::<usize>() + model.quadratic.len())?;
    let in_file = |error: ProblemError| SpecError::new(Place::File(path.to_owned()), error.into());

    let mut builder = match model.sense() {
        Sense::Max => Problem::maximize(n),
        Sense::Min => Problem::minimize(n),
    };
    let mut placed = Placed::default();
    let linear = linear(ctx, file, &model, &mut placed)?;
    builder = builder.linear(linear);
    if !model.quadratic.is_empty() {
        // A cost is added and a gain is subtracted from: the file means +½xᵀQx in both.
        let sign = if model.maximise { -1.0 } else { 1.0 };
        let entries = model.quadratic.iter().map(|&(i, j, value)| (i, j, sign * value));
        builder = builder.quadratic(coefficients(n, n, entries).map_err(in_file)?);
    }
    let changes = replace::changes(ctx, file, &model)?;
    let mut soft = vec![false; model.rows.len()];
    let mut stands: Vec<Vec<Stood>> = vec![Vec::new(); model.rows.len()];
    let mut rows = 0;
    for (i, section) in file.soften.iter().enumerate() {
        let block = Softened::new(ctx, i, section, &model, &mut soft)?;
        for (at, side) in block.sides().iter().enumerate() {
            let at = rows + at;
            let stood = Stood { limit: Parameter::Limit, rows: Parameter::SoftRows, at, sign: 1.0 };
            stands[block.found[side.of]].push(stood);
        }
        builder = block.add(ctx, section, n, &mut rows, &mut placed, builder)?;
    }
    let (mut at_most, mut equals, mut blocks) = (0, 0, 0);
    for (i, row) in model.rows.iter().enumerate().filter(|(i, _)| !soft[*i]) {
        let limits: Vec<f64> = [row.upper, -row.lower].into_iter().filter(|l| l.is_finite()).collect();
        if row.lower == row.upper {
            builder = builder.equal(&row.name, sided(n, &[(row, 1.0)]).map_err(in_file)?, [row.lower]);
            let (limit, rows) = (Parameter::Equals, Parameter::EqualRows);
            stands[i].push(Stood { limit, rows, at: equals, sign: 1.0 });
            equals += 1;
        } else {
            let upper = row.upper.is_finite().then_some((row, 1.0));
            let lower = row.lower.is_finite().then_some((row, -1.0));
            let sides: Vec<_> = upper.into_iter().chain(lower).collect();
            for &(_, sign) in &sides {
                let (limit, rows) = (Parameter::AtMost, Parameter::AtMostRows);
                stands[i].push(Stood { limit, rows, at: at_most, sign });
                at_most += 1;
            }
            blocks += 1;
            builder = builder.at_most(&row.name, sided(n, &sides).map_err(in_file)?, limits);
        }
    }
    // Blocks of one kind are written back together.
    let mut hard = vec![HardKind::AtMost; blocks];
    hard.resize(blocks + equals, HardKind::Equals);
    let name = file.problem.name.clone().or_else(|| Some(model.name.clone()).filter(|name| !name.is_empty()));
    let builder = builder.variables(model.columns).lower(model.lower).upper(model.upper);
    let problem = builder.build().map_err(in_file)?;
    replace::place(ctx, &changes, &stands, &problem, &mut placed)?;
    let constant = ctx.constant(file)?.unwrap_or(model.constant);
    Ok(Stated { name, problem, placed, hard, constant })
}

/// A model states the whole problem; what the file may add is softness and predictions.
fn only_the_model(ctx: &Context<'_>, file: &ProblemFile) -> Result<()> {
    let problem = Key::new("problem");
    let twice = [
        (problem.key("variables"), file.problem.variables.is_some()),
        (problem.key("sense"), file.problem.sense.is_some()),
        (Key::new("objective").key("quadratic"), file.objective.quadratic.is_some()),
        (Key::new("soft").index(0), !file.soft.is_empty()),
        (Key::new("hard").index(0), !file.hard.is_empty()),
        (Key::new("bounds"), file.bounds.lower.is_some() || file.bounds.upper.is_some()),
    ];
    match twice.into_iter().find(|(_, there)| *there) {
        None => Ok(()),
        Some((key, _)) => Err(ctx.fail(&key, Trouble::OneOf("`problem.model` states this already")).hint(
            "leave it out; [[soften]] makes rows of the model soft, [[replace]] takes numbers from a table",
        )),
    }
}

/// The model's costs, or what the file has in their place.
fn linear(ctx: &Context<'_>, file: &ProblemFile, model: &Model, placed: &mut Placed) -> Result<Vec<f64>> {
    let Some(written) = &file.objective.linear else { return Ok(model.cost.clone()) };
    let n = model.columns.len();
    let key = Key::new("objective").key("linear");
    let part = ctx.vector(&key, written, Allowed::Finite)?;
    let (values, wanted) = part.sized(ctx, &key, n, "one for each variable", 0.0)?;
    if !wanted.is_empty() {
        placed.written.insert(key.to_string(), Written::Vector(written.clone()));
    }
    ctx.place(placed, wanted, &[Stand::at(Parameter::Linear, 0)])?;
    Ok(values)
}

/// The rows or variables of a model that names and patterns mean.
pub(super) fn picked(
    ctx: &Context<'_>,
    key: &Key,
    selectors: &Selectors,
    names: &[String],
    word: &str,
) -> Result<Vec<usize>> {
    let (mut all, mut seen) = (Vec::new(), vec![false; names.len()]);
    for (k, selector) in selectors.0.iter().enumerate() {
        let at = if selectors.0.len() == 1 { key.clone() } else { key.index(k) };
        let found = crate::selection::pick(selector, names);
        if found.is_empty() {
            let near = suggest::nearest(selector, names);
            let trouble = Trouble::Misfit(format!("no {word} of the model fits `{}`", shorten(selector)));
            let hint = near.map(|near| format!("did you mean `{}`?", shorten(near)));
            let section = if word == "row" { "ROWS" } else { "COLUMNS" };
            return Err(ctx
                .fail(&at, trouble)
                .hint(hint.unwrap_or_else(|| format!("{word}s are named in {section}"))));
        }
        if let Some(&twice) = found.iter().find(|&&index| std::mem::replace(&mut seen[index], true)) {
            let trouble = Trouble::Misfit(format!("the {word} `{}` is named twice", shorten(&names[twice])));
            return Err(ctx.fail(&at, trouble));
        }
        all.extend(found);
    }
    Ok(all)
}

/// Rows with a sign each.
fn sided(n: usize, rows: &[(&Row, f64)]) -> std::result::Result<Coefficients, ProblemError> {
    let entries = rows
        .iter()
        .enumerate()
        .flat_map(|(i, (row, sign))| row.entries.iter().map(move |&(j, value)| (i, j, sign * value)));
    coefficients(rows.len(), n, entries)
}

/// Rows of one `[[soften]]`: a block of soft rows.
struct Softened<'a> {
    key: Key,
    name: String,
    rows: Vec<&'a Row>,
    /// Their places in the model.
    found: Vec<usize>,
}

/// What a soft row is made of: its coefficients, its limit, and which prices it has.
struct SoftRow<'a> {
    /// Which of the section's rows.
    of: usize,
    row: &'a Row,
    limit: f64,
    over: bool,
    under: bool,
}

impl<'a> Softened<'a> {
    fn new(
        ctx: &Context<'_>,
        i: usize,
        section: &SoftenSection,
        model: &'a Model,
        soft: &mut [bool],
    ) -> Result<Self> {
        let key = Key::new("soften").index(i);
        let names: Vec<String> = model.rows.iter().map(|row| row.name.clone()).collect();
        let at = key.key("rows");
        let found = picked(ctx, &at, &section.rows, &names, "row")?;
        for &row in &found {
            if std::mem::replace(&mut soft[row], true) {
                let trouble =
                    Trouble::Misfit(format!("the row `{}` is softened twice", shorten(&names[row])));
                return Err(ctx.fail(&at, trouble));
            }
        }
        let rows = found.iter().map(|&row| &model.rows[row]).collect();
        let name = section.name.clone().unwrap_or_else(|| format!("soft{i}"));
        ctx.check_name(&key.key("name"), &name)?;
        Ok(Self { key, name, rows, found })
    }

    /// The soft rows: one a limit, so two of a range.
    fn sides(&self) -> Vec<SoftRow<'a>> {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(|(of, &row)| {
            let one = |limit, over, under| SoftRow { of, row, limit, over, under };
            if row.lower == row.upper {
                vec![one(row.upper, true, true)]
            } else {
                let upper = row.upper.is_finite().then(|| one(row.upper, true, false));
                let lower = row.lower.is_finite().then(|| one(row.lower, false, true));
                upper.into_iter().chain(lower).collect()
            }
        })
        .collect()
    }

    fn add(
        self,
        ctx: &Context<'_>,
        section: &SoftenSection,
        n: usize,
        before: &mut usize,
        placed: &mut Placed,
        builder: ProblemBuilder,
    ) -> Result<ProblemBuilder> {
        let sides = self.sides();
        let range = *before..*before + sides.len();
        *before = range.end;
        let mut part = |name: &str,
                        written: Option<&Vector>,
                        parameter: Parameter,
                        has: fn(&SoftRow<'_>) -> bool| {
            let key = self.key.key(name);
            let needed = sides.iter().any(has);
            let Some(written) = written else { return Ok(None) };
            if !needed {
                let trouble =
                    Trouble::Misfit(format!("none of these rows has a limit on the side of `{name}`"));
                return Err(ctx.fail(&key, trouble));
            }
            let read = ctx.vector(&key, written, Allowed::of(parameter))?;
            let a_row_each = sides.len() == self.rows.len() && sides.iter().all(has);
            if matches!(read, VectorPart::Columns(_) | VectorPart::Cells(_)) && !a_row_each {
                let trouble =
                    Trouble::Misfit(format!("a `{name}` from a table needs rows with that one limit each"));
                return Err(ctx.fail(&key, trouble).hint("write one [[soften]] for rows ≤, one for rows ≥"));
            }
            let (values, wanted) = read.sized(ctx, &key, self.rows.len(), "one for each row", 0.0)?;
            if !wanted.is_empty() {
                // The file that is written back states the rows: they are soft there.
                let key = key.to_string().replacen("soften", "soft", 1);
                placed.written.insert(key, Written::Vector(written.clone()));
            }
            ctx.place(placed, wanted, &[Stand::at(parameter, range.start)])?;
            Ok(Some(sides.iter().map(|s| if has(s) { values[s.of] } else { 0.0 }).collect::<Vec<f64>>()))
        };
        let over = part("over", section.over.as_ref(), Parameter::Over, |s| s.over)?;
        let under = part("under", section.under.as_ref(), Parameter::Under, |s| s.under)?;
        let one_limit = sides.len() == self.rows.len();
        let limit = match &section.limit {
            Some(_) if !one_limit => {
                let trouble = Trouble::OneOf("some of these rows have two limits");
                return Err(ctx
                    .fail(&self.key.key("limit"), trouble)
                    .hint("leave `limit` out: the model's are kept"));
            }
            written => part("limit", written.as_ref(), Parameter::Limit, |_| true)?,
        };
        let unpriced = |s: &&SoftRow<'_>| match (s.over, s.under) {
            (true, true) => over.is_none() && under.is_none(),
            (above, _) => (if above { &over } else { &under }).is_none(),
        };
        if let Some(side) = sides.iter().find(unpriced) {
            let (price, sign) = if side.over { ("over", "≤") } else { ("under", "≥") };
            let ranged = side.row.lower.is_finite() && side.row.upper.is_finite();
            let what = if ranged {
                "has a range, so it needs both prices".into()
            } else {
                format!("is a row {sign}")
            };
            let what = format!("`{price}` is missing: the row `{}` {what}", shorten(&side.row.name));
            return Err(ctx
                .fail(&self.key, Trouble::Misfit(what))
                .hint("a soft row needs the price of a unit"));
        }
        let zeros = || vec![0.0; sides.len()];
        let limits = limit.unwrap_or_else(|| sides.iter().map(|s| s.limit).collect());
        let rows: Vec<_> = sides.iter().map(|s| (s.row, 1.0)).collect();
        let rows = sided(n, &rows).map_err(|error| ctx.fail(&self.key, error.into()))?;
        let soft = Soft::both(rows, limits, over.unwrap_or_else(zeros), under.unwrap_or_else(zeros));
        Ok(builder.soft(self.name, soft))
    }
}
