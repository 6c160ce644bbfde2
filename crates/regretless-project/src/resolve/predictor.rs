//! The `[predictor]` section, checked.

use super::Context;
use crate::error::{Result, Trouble};
use crate::file::{PredictorSection, QuadraticSection};
use crate::key::Key;
use crate::{Parameter, Predicted};
use regretless_learn::{PredictorKind, PredictorSettings, QuadraticForm, QuadraticSettings};

pub(super) fn predictor(
    ctx: &Context<'_>,
    written: &PredictorSection,
    n: usize,
    predicted: &[Predicted],
) -> Result<PredictorSettings> {
    let section = Key::new("predictor");
    let default = PredictorSettings::default();
    let dropout = written.dropout.unwrap_or(default.dropout);
    let fine = (0.0..1.0).contains(&dropout);
    ctx.within(&section.key("dropout"), dropout, fine, "dropout is 0 or more and below 1")?;
    if written.shared {
        shared(ctx, &section.key("shared"), written.kind, predicted)?;
    }
    Ok(PredictorSettings {
        kind: written.kind,
        layers: layers(ctx, &section, written)?,
        activation: written.activation.unwrap_or_default(),
        batch_norm: written.batch_norm.unwrap_or(default.batch_norm),
        dropout,
        shared: written.shared,
        standardise: written.standardise.unwrap_or(default.standardise),
        initial: written.initial,
        quadratic: quadratic(ctx, &section.key("quadratic"), written.quadratic, n, predicted)?,
    })
}

fn layers(ctx: &Context<'_>, section: &Key, written: &PredictorSection) -> Result<Vec<usize>> {
    if written.kind != PredictorKind::Mlp {
        let given = [
            ("layers", written.layers.as_ref().is_some_and(|layers| !layers.is_empty())),
            ("activation", written.activation.is_some()),
            ("batch_norm", written.batch_norm == Some(true)),
            ("dropout", written.dropout.is_some_and(|share| share > 0.0)),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            let trouble = Trouble::Misfit(format!("a `{}` predictor has no hidden layers", written.kind));
            return Err(ctx.fail(&section.key(name), trouble).hint("leave it out, or choose kind = \"mlp\""));
        }
        return Ok(Vec::new());
    }
    let layers = written.layers.clone().unwrap_or_else(|| PredictorSettings::default().layers);
    let key = section.key("layers");
    if layers.is_empty() {
        let trouble = Trouble::Empty("an `mlp` has at least one hidden layer");
        return Err(ctx.fail(&key, trouble).hint("without hidden layers it is kind = \"linear\""));
    }
    ctx.count(&key, layers.len(), 1..=64, "there are 1 to 64 hidden layers")?;
    for (i, &width) in layers.iter().enumerate() {
        ctx.count(&key.index(i), width, 1..=65_536, "a layer has 1 to 65,536 units")?;
    }
    Ok(layers)
}

/// A shared network gives each variable its share of every predicted part: the part must have one.
fn shared(ctx: &Context<'_>, key: &Key, kind: PredictorKind, predicted: &[Predicted]) -> Result<()> {
    if kind == PredictorKind::Constant {
        let trouble = Trouble::OneOf("a `constant` predictor has no features to share a network over");
        return Err(ctx.fail(key, trouble));
    }
    let by_variable = |part: &&Predicted| {
        matches!(
            part.parameter,
            // Q has embeddings of its own.
            Parameter::Linear
                | Parameter::Quadratic
                | Parameter::Lower
                | Parameter::Upper
                | Parameter::SoftRows
                | Parameter::AtMostRows
                | Parameter::EqualRows
        )
    };
    match predicted.iter().find(|part| !by_variable(part)) {
        Some(part) => {
            let trouble = Trouble::Misfit(format!(
                "`{}` has neither an entry nor a column for each variable, so one network for all variables cannot predict it",
                part.key
            ));
            Err(ctx
                .fail(key, trouble)
                .hint("a shared predictor is for `linear`, `lower`, `upper` and `rows`; leave `shared` out"))
        }
        None => Ok(()),
    }
}

fn quadratic(
    ctx: &Context<'_>,
    key: &Key,
    written: Option<QuadraticSection>,
    n: usize,
    predicted: &[Predicted],
) -> Result<Option<QuadraticSettings>> {
    if !predicted.iter().any(|part| part.parameter == Parameter::Quadratic) {
        if written.is_none() {
            return Ok(None);
        }
        let trouble = Trouble::OneOf("`objective.quadratic` is not predicted, so this has no effect");
        return Err(ctx.fail(key, trouble).hint("leave it out, or predict `objective.quadratic`"));
    }
    let written = written.unwrap_or_default();
    let embedding = written.embedding.unwrap_or(n);
    ctx.count(&key.key("embedding"), embedding, 1..=16_384, "an embedding has 1 to 16,384 entries")?;
    let ridge = written.ridge.unwrap_or(match written.form {
        QuadraticForm::Gram => 1e-3,
        QuadraticForm::Cosine => 0.1,
    });
    ctx.not_negative(&key.key("ridge"), ridge, "a ridge is 0 or more")?;
    Ok(Some(QuadraticSettings { embedding, form: written.form, ridge }))
}
