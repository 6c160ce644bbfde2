//! From the file as written to the checked [`Spec`].

mod algebra;
mod blocks;
mod dataset;
mod memory;
mod model;
mod overrides;
mod part;
mod places;
mod predictor;
mod quantities;
mod ranges;
mod replace;
mod settings;
mod statement;
mod syntax;
mod training;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use regretless_core::{Problem, ProblemError};
use regretless_learn::{Settings, Split};
use serde::Deserialize;
use toml::de::{DeTable, Deserializer};

use crate::algebra::Order;
use crate::data::Allowed;
use crate::data_settings::{DataSettings, Missing};
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::file::{AlgebraFile, ProblemFile};
use crate::key::Key;
use crate::mps::Model;
use crate::placed::Placed;
use crate::room;
use crate::spec::{HardKind, Sections};
use crate::{Limits, Spec};

pub use overrides::Overrides;

/// What every step needs: where the text is from, and how much is allowed.
pub(crate) struct Context<'a> {
    text: Arc<str>,
    /// `None` for settings that come from no file.
    path: Option<&'a Path>,
    pub(crate) limits: &'a Limits,
    /// Keys whose values come from options, with the options.
    options: Vec<(Key, &'static str)>,
}

impl Context<'_> {
    pub(crate) fn fail(&self, key: &Key, trouble: Trouble) -> Box<SpecError> {
        if let Some((_, option)) = self.options.iter().find(|(own, _)| key.starts_with(own)) {
            return SpecError::new(Place::Option(option), trouble);
        }
        let Some(file) = self.path else { return SpecError::new(Place::Setting(key.to_string()), trouble) };
        let span = key.span(&self.text);
        let key = (!key.is_empty()).then(|| key.to_string());
        SpecError::new(Place::Key { file: file.to_owned(), key, span, text: self.text.clone() }, trouble)
    }

    /// A file named in the problem file: relative to the problem file's folder.
    pub(crate) fn neighbour(&self, file: &Path) -> PathBuf {
        self.path.and_then(Path::parent).unwrap_or(Path::new("")).join(file)
    }

    /// `rows · cols`, if a matrix of that size is allowed.
    fn entries(&self, key: &Key, rows: usize, cols: usize) -> Result<usize> {
        self.stored(key, rows.saturating_mul(cols))
    }

    /// Refuses more coefficients than a matrix may have.
    fn stored(&self, key: &Key, found: usize) -> Result<usize> {
        let limit = self.limits.entries;
        if found > limit {
            return Err(self.fail(key, Trouble::TooManyEntries { found, limit }).hint(DENSE));
        }
        Ok(found)
    }
}

const DENSE: &str = "a matrix that is written out has all of its entries: state sparse rows in algebra, or in a model = \"file.mps\"";

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
    let explain = |e: toml::de::Error| syntax::explain(&ctx, &e);
    let table = DeTable::parse(&ctx.text).map_err(explain)?;
    let order = Order::of(table.get_ref());
    let written = Deserializer::from(table);
    match order {
        Some(order) => algebra::check(&ctx, AlgebraFile::deserialize(written).map_err(explain)?, &order),
        None => check(&ctx, ProblemFile::deserialize(written).map_err(explain)?),
    }
}

/// A model by itself: as a problem file that names it and says nothing more.
pub(crate) fn model(model: Model, path: &Path, limits: &Limits) -> Result<Spec> {
    let ctx = Context { text: "".into(), path: Some(path), limits, options: Vec::new() };
    let file = ProblemFile::default();
    let stated = model::modelled(&ctx, &file, model, path)?;
    with_settings(&ctx, file, stated)
}

/// Only blanks and comments.
fn text_is_empty(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    text.lines().all(|line| line.trim_start().is_empty() || line.trim_start().starts_with('#'))
}

fn check(ctx: &Context<'_>, file: ProblemFile) -> Result<Spec> {
    if let Some(name) = &file.problem.name {
        ctx.check_name(&Key::new("problem").key("name"), name)?;
    }
    let stated = match &file.problem.model {
        Some(model) => model::named(ctx, &file, model)?,
        None => statement::written(ctx, &file)?,
    };
    with_settings(ctx, file, stated)
}

fn with_settings(ctx: &Context<'_>, file: ProblemFile, stated: Stated) -> Result<Spec> {
    let Stated { name, problem, placed, hard, constant } = stated;
    room::fits(&problem).map_err(|error| ctx.fail(&Key::default(), error.into()))?;
    let sections = Sections {
        text: ctx.text.clone(),
        surrogate: file.surrogate,
        data: file.data,
        predictor: file.predictor,
        training: file.training,
    };
    let (settings, data) = check_settings(ctx, &sections, &problem, &placed)?;
    Ok(Spec {
        file: ctx.path.unwrap_or(Path::new("")).to_owned(),
        name,
        problem,
        constant,
        placed,
        hard,
        data,
        settings,
        sections,
        algebra: None,
        limits: *ctx.limits,
    })
}

/// What a file states, written out or by a model.
struct Stated {
    name: Option<String>,
    problem: Problem,
    /// What of it comes from a table.
    placed: Placed,
    /// The kinds of the hard blocks, in order.
    hard: Vec<HardKind>,
    /// What the objective has beside its terms.
    constant: f64,
}

fn check_settings(
    ctx: &Context<'_>,
    sections: &Sections,
    problem: &Problem,
    placed: &Placed,
) -> Result<(Settings, Option<DataSettings>)> {
    let predictor = predictor::predictor(ctx, &sections.predictor, problem.n(), placed)?;
    let (data, split) = match &sections.data {
        Some(written) => {
            let (data, split) = dataset::data(ctx, written, &predictor)?;
            (Some(data), split)
        }
        None => (None, Split::default()),
    };
    if !predictor.standardise && data.as_ref().is_some_and(|data| data.missing == Missing::Mean) {
        let trouble = Trouble::OneOf("means are filled in with `predictor.standardise = true` only");
        return Err(ctx.fail(&Key::new("data").key("missing"), trouble));
    }
    let surrogate = settings::surrogate(ctx, &sections.surrogate)?;
    let training = training::training(ctx, &sections.training, sections.predictor.kind())?;
    Ok((Settings { surrogate, split, predictor, training }, data))
}

impl Context<'_> {
    fn constant(&self, file: &ProblemFile) -> Result<Option<f64>> {
        let Some(constant) = file.objective.constant else { return Ok(None) };
        let key = Key::new("objective").key("constant");
        Allowed::Finite.check(constant).map_err(|trouble| self.fail(&key, trouble))?;
        Ok(Some(constant))
    }

    /// Names end up in tables and messages: they must be visible and on one line.
    pub(crate) fn check_name(&self, key: &Key, name: &str) -> Result<()> {
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
