//! From the file as written to the checked [`Spec`].

mod blocks;
mod dataset;
mod memory;
mod overrides;
mod part;
mod predictor;
mod ranges;
mod settings;
mod syntax;
mod training;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regretless_core::{Problem, ProblemError, Sense};
use regretless_learn::{Settings, Split};

use crate::data::Allowed;
use crate::data_settings::{DataSettings, Missing};
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::file::{ProblemFile, SenseName, Variables};
use crate::key::Key;
use crate::spec::{HardKind, Sections};
use crate::{Limits, Parameter, Predicted, Spec};

pub use overrides::Overrides;

/// What every step needs: where the text is from, and how much is allowed.
pub(crate) struct Context<'a> {
    text: Arc<str>,
    /// `None` for settings that come from no file.
    path: Option<&'a Path>,
    limits: &'a Limits,
    /// Keys whose values come from options, with the options.
    options: Vec<(Key, &'static str)>,
}

impl Context<'_> {
    fn fail(&self, key: &Key, trouble: Trouble) -> Box<SpecError> {
        if let Some((_, option)) = self.options.iter().find(|(own, _)| key.starts_with(own)) {
            return SpecError::new(Place::Option(option), trouble);
        }
        let Some(file) = self.path else { return SpecError::new(Place::Setting(key.to_string()), trouble) };
        let span = key.span(&self.text);
        let key = (!key.is_empty()).then(|| key.to_string());
        SpecError::new(Place::Key { file: file.to_owned(), key, span, text: self.text.clone() }, trouble)
    }

    /// A file named in the problem file: relative to the problem file's folder.
    fn neighbour(&self, file: &Path) -> PathBuf {
        self.path.and_then(Path::parent).unwrap_or(Path::new("")).join(file)
    }

    /// `rows · cols`, if a matrix of that size is allowed.
    fn entries(&self, key: &Key, rows: usize, cols: usize) -> Result<usize> {
        let found = rows.saturating_mul(cols);
        let limit = self.limits.entries;
        if found > limit {
            return Err(self.fail(key, Trouble::TooManyEntries { found, limit }).hint(DENSE));
        }
        Ok(found)
    }
}

const DENSE: &str = "the engine works with dense matrices: this would not fit into memory";

const EXAMPLE: &str = "the smallest problem file is\n  [problem]\n  variables = [\"a\", \"b\"]\n  [objective]\n  \
                       linear = [3.0, 2.0]\n  [bounds]\n  upper = 1.0";

pub(crate) fn resolve(text: Arc<str>, path: &Path, limits: &Limits) -> Result<Spec> {
    let ctx = Context { text, path: Some(path), limits, options: Vec::new() };
    if text_is_empty(&ctx.text) {
        let place = Place::File(path.to_owned());
        return Err(SpecError::new(place, Trouble::Empty("the file is empty")).hint(EXAMPLE));
    }
    if ctx.text.len() as u64 > limits.problem_bytes {
        let trouble = Trouble::TooLarge { found: ctx.text.len() as u64, limit: limits.problem_bytes };
        return Err(SpecError::new(Place::File(path.to_owned()), trouble));
    }
    let file: ProblemFile = toml::from_str(&ctx.text).map_err(|e| syntax::explain(&ctx, &e))?;
    check(&ctx, file)
}

/// Only blanks and comments.
fn text_is_empty(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    text.lines().all(|line| line.trim_start().is_empty() || line.trim_start().starts_with('#'))
}

fn check(ctx: &Context<'_>, file: ProblemFile) -> Result<Spec> {
    let name = file.problem.name;
    if let Some(name) = &name {
        ctx.check_name(&Key::new("problem").key("name"), name)?;
    }
    let (n, variables) = variables(ctx, file.problem.variables)?;
    let quiet = file.objective.linear.is_none() && file.objective.quadratic.is_none();
    if quiet && file.soft.is_empty() && file.hard.is_empty() {
        let trouble = Trouble::Empty("the problem has neither an objective nor any rows");
        return Err(ctx.fail(&Key::new("problem"), trouble).hint(EXAMPLE));
    }
    let sense = match file.problem.sense {
        SenseName::Max => Sense::Max,
        SenseName::Min => Sense::Min,
    };
    let mut builder = match sense {
        Sense::Max => Problem::maximize(n),
        Sense::Min => Problem::minimize(n),
    };
    let mut predicted = Vec::new();

    let objective = Key::new("objective");
    if let Some(linear) = &file.objective.linear {
        let key = objective.key("linear");
        let part = ctx.vector(&key, linear, Allowed::Finite)?;
        let (values, columns) = part.sized(ctx, &key, n, "one for each variable", 0.0)?;
        predicted.extend(columns.map(|columns| whole(&key, Parameter::Linear, n, None, columns)));
        builder = builder.linear(values);
    } else if file.objective.quadratic.is_some() || !file.soft.is_empty() {
        // The rest of the objective is all of it.
        builder = builder.linear(vec![0.0; n]);
    }
    if let Some(quadratic) = &file.objective.quadratic {
        let key = objective.key("quadratic");
        let part = ctx.matrix(&key, quadratic, n)?;
        let (matrix, columns) = part.sized(ctx, &key, n, n)?;
        predicted
            .extend(columns.map(|columns| whole(&key, Parameter::Quadratic, n * n, Some((n, n)), columns)));
        builder = builder.quadratic(matrix);
    }
    let mut blocks = blocks::Blocks::new(ctx, n);
    for (i, soft) in file.soft.iter().enumerate() {
        builder = blocks.soft(builder, i, soft)?;
    }
    for (i, hard) in file.hard.iter().enumerate() {
        builder = blocks.hard(builder, i, hard)?;
    }
    predicted.append(&mut blocks.predicted);

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
        let columns;
        (*values, columns) = part.sized(ctx, &key, n, "one for each variable", none)?;
        predicted.extend(columns.map(|columns| whole(&key, parameter, n, None, columns)));
    }
    let problem = builder
        .variables(variables)
        .lower(lower)
        .upper(upper)
        .build()
        .map_err(|e| ctx.problem(e, &file.bounds))?;
    let hard = file.hard.iter().map(|h| if h.equals.is_some() { HardKind::Equals } else { HardKind::AtMost });
    let sections = Sections {
        text: ctx.text.clone(),
        surrogate: file.surrogate,
        data: file.data,
        predictor: file.predictor,
        training: file.training,
    };
    let (settings, data) = check_settings(ctx, &sections, &problem, &predicted)?;
    Ok(Spec {
        file: ctx.path.unwrap_or(Path::new("")).to_owned(),
        name,
        problem,
        predicted,
        hard: hard.collect(),
        data,
        settings,
        sections,
        limits: *ctx.limits,
    })
}

fn check_settings(
    ctx: &Context<'_>,
    sections: &Sections,
    problem: &Problem,
    predicted: &[Predicted],
) -> Result<(Settings, Option<DataSettings>)> {
    let predictor = predictor::predictor(ctx, &sections.predictor, problem.n(), predicted)?;
    let (data, split) = match &sections.data {
        Some(written) => {
            let (data, split) = dataset::data(ctx, written, predictor.shared)?;
            (Some(data), split)
        }
        None => (None, Split::default()),
    };
    if !predictor.standardise && data.as_ref().is_some_and(|data| data.missing == Missing::Mean) {
        let trouble = Trouble::OneOf("means are filled in with `predictor.standardise = true` only");
        return Err(ctx.fail(&Key::new("data").key("missing"), trouble));
    }
    let surrogate = settings::surrogate(ctx, &sections.surrogate)?;
    let training = training::training(ctx, &sections.training)?;
    Ok((Settings { surrogate, split, predictor, training }, data))
}

fn whole(
    key: &Key,
    parameter: Parameter,
    len: usize,
    matrix: Option<(usize, usize)>,
    columns: Vec<String>,
) -> Predicted {
    Predicted { key: key.to_string(), parameter, block: None, range: 0..len, matrix, columns }
}

/// The number of variables and their names.
fn variables(ctx: &Context<'_>, written: Variables) -> Result<(usize, Vec<String>)> {
    let key = Key::new("problem").key("variables");
    let limit = ctx.limits.variables;
    let found = match &written {
        Variables::Count(count) => *count,
        Variables::Names(names) => names.len() as u64,
    };
    if found > limit as u64 {
        return Err(ctx.fail(&key, Trouble::TooManyVariables { found, limit }).hint(DENSE));
    }
    if found == 0 {
        let trouble = Trouble::Empty("the problem has no variables");
        return Err(ctx.fail(&key, trouble).hint("give their names or their number"));
    }
    let names = match written {
        Variables::Count(count) => (0..count).map(|j| format!("x{j}")).collect(),
        Variables::Names(names) => names,
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

impl Context<'_> {
    /// Names end up in tables and messages: they must be visible and on one line.
    fn check_name(&self, key: &Key, name: &str) -> Result<()> {
        if name.trim().is_empty() || name.chars().any(char::is_control) || name.chars().count() > 200 {
            let hint = "a name has 1 to 200 characters, not only blanks and no line breaks";
            return Err(self.fail(key, Trouble::BadName(shorten(name))).hint(hint));
        }
        Ok(())
    }

    /// What the engine says of the whole problem, with the key that is to blame.
    fn problem(&self, error: ProblemError, bounds: &crate::file::BoundsSection) -> Box<SpecError> {
        let quadratic = Key::new("objective").key("quadratic");
        match error {
            ProblemError::NotConvex { .. } => self
                .fail(&quadratic, error.into())
                .hint("xᵀQx must not be negative anywhere: a covariance matrix is fine"),
            ProblemError::NotSymmetric { .. } => self.fail(&quadratic, error.into()),
            ProblemError::BoundsCrossed { variable, lower, upper } => {
                let side = if bounds.upper.is_some() { "upper" } else { "lower" };
                let error = self
                    .fail(&Key::new("bounds").key(side), Trouble::BoundsCrossed { variable, lower, upper });
                if bounds.lower.is_none() {
                    error.hint("the lower bound is 0 unless `bounds.lower` says otherwise")
                } else {
                    error
                }
            }
            _ => self.fail(&Key::default(), error.into()),
        }
    }
}
