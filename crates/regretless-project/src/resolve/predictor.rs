//! The `[predictor]` section, checked.

use super::Context;
use crate::Parameter;
use crate::error::{Result, Trouble};
use crate::file::PredictorSection;
use crate::key::Key;
use crate::placed::Placed;
use crate::selection::Kind;
use regretless_learn::{
    PredictorBase, PredictorKind, PredictorSettings, QuadraticForm, QuadraticSettings, TargetTransform,
    TreeSettings,
};

pub(super) fn predictor(
    ctx: &Context<'_>,
    written: &PredictorSection,
    n: usize,
    placed: &Placed,
) -> Result<PredictorSettings> {
    let section = Key::new("predictor");
    let default = PredictorSettings::default();
    let dropout = written.dropout.unwrap_or(default.dropout);
    let fine = (0.0..1.0).contains(&dropout);
    ctx.within(&section.key("dropout"), dropout, fine, "dropout is 0 or more and below 1")?;
    if written.kind() == PredictorKind::Given && written.target_transform != TargetTransform::default() {
        let trouble = Trouble::OneOf("`given` forecasts are on the targets' own scale");
        return Err(ctx.fail(&section.key("target_transform"), trouble).hint("leave it out"));
    }
    if written.shared {
        shared(ctx, &section.key("shared"), written.kind(), placed)?;
    }
    Ok(PredictorSettings {
        kind: written.kind(),
        layers: layers(ctx, &section, written)?,
        activation: written.activation.unwrap_or_default(),
        batch_norm: written.batch_norm.unwrap_or(default.batch_norm),
        dropout,
        shared: written.shared,
        standardise: written.standardise.unwrap_or(default.standardise),
        initial: written.initial,
        target_transform: written.target_transform,
        quadratic: quadratic(ctx, &section.key("quadratic"), written, n, placed)?,
        base: base(ctx, &section.key("base"), written)?,
        trees: trees(ctx, &section, written)?,
        monotone: written.monotone.clone().unwrap_or_default(),
    })
}

/// What trees and networks stand on.
fn base(ctx: &Context<'_>, key: &Key, written: &PredictorSection) -> Result<PredictorBase> {
    let Some(base) = written.base else { return Ok(PredictorBase::default()) };
    if !matches!(written.kind(), PredictorKind::Auto | PredictorKind::Mlp | PredictorKind::Trees) {
        let trouble = Trouble::Misfit(format!("a `{}` predictor stands on nothing", written.kind()));
        return Err(ctx
            .fail(key, trouble)
            .hint("leave it out, or choose kind = \"trees\" or kind = \"mlp\""));
    }
    if base == PredictorBase::Linear && written.shared {
        let trouble = Trouble::OneOf("a network that is shared by the variables has no line to stand on");
        return Err(ctx.fail(key, trouble).hint("leave `base` or `shared` out"));
    }
    Ok(base)
}

fn trees(ctx: &Context<'_>, section: &Key, written: &PredictorSection) -> Result<TreeSettings> {
    let default = TreeSettings::default();
    if written.kind() != PredictorKind::Trees {
        let given = [
            ("depth", written.depth.is_some()),
            ("leaves", written.leaves.is_some()),
            ("min_rows", written.min_rows.is_some()),
            ("rows", written.rows.is_some()),
            ("columns", written.columns.is_some()),
            ("l2", written.l2.is_some()),
            ("ensembles", written.ensembles.is_some()),
            ("monotone", written.monotone.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            let trouble = Trouble::Misfit(format!("a `{}` predictor has no trees", written.kind()));
            return Err(ctx
                .fail(&section.key(name), trouble)
                .hint("leave it out, or choose kind = \"trees\""));
        }
        return Ok(default);
    }
    let trees = TreeSettings {
        depth: written.depth.unwrap_or(default.depth),
        leaves: written.leaves.unwrap_or(default.leaves),
        min_rows: written.min_rows.unwrap_or(default.min_rows),
        rows: written.rows.unwrap_or(default.rows),
        columns: written.columns.unwrap_or(default.columns),
        l2: written.l2.unwrap_or(default.l2),
        ensembles: written.ensembles.unwrap_or(default.ensembles),
    };
    ctx.count(&section.key("depth"), trees.depth, 1..=64, "a tree has a depth of 1 to 64")?;
    ctx.count(&section.key("leaves"), trees.leaves, 2..=65_536, "a tree has 2 to 65,536 leaves")?;
    ctx.count(&section.key("min_rows"), trees.min_rows, 1..=1 << 30, "a leaf has at least 1 row")?;
    for (name, share) in [("rows", trees.rows), ("columns", trees.columns)] {
        let fine = share > 0.0 && share <= 1.0;
        ctx.within(&section.key(name), share, fine, "a share is above 0 and at most 1")?;
    }
    ctx.not_negative(&section.key("l2"), trees.l2, "a ridge is 0 or more")?;
    Ok(trees)
}

fn layers(ctx: &Context<'_>, section: &Key, written: &PredictorSection) -> Result<Vec<usize>> {
    if !matches!(written.kind(), PredictorKind::Mlp | PredictorKind::Auto) {
        let given = [
            ("layers", written.layers.as_ref().is_some_and(|layers| !layers.is_empty())),
            ("activation", written.activation.is_some()),
            ("batch_norm", written.batch_norm == Some(true)),
            ("dropout", written.dropout.is_some_and(|share| share > 0.0)),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            let trouble = Trouble::Misfit(format!("a `{}` predictor has no hidden layers", written.kind()));
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
fn shared(ctx: &Context<'_>, key: &Key, kind: PredictorKind, placed: &Placed) -> Result<()> {
    let why = match kind {
        PredictorKind::Constant => Some("a `constant` predictor has no features to share a network over"),
        PredictorKind::Given => Some("`given` forecasts are no network"),
        PredictorKind::Trees => Some("`trees` are not shared by the variables"),
        PredictorKind::Auto | PredictorKind::Linear | PredictorKind::Mlp => None,
    };
    if let Some(why) = why {
        return Err(ctx.fail(key, Trouble::OneOf(why)));
    }
    let by_variable = |at: &usize| {
        let kinds = placed.parameters(*at);
        kinds.into_iter().all(|kind| {
            matches!(
                kind,
                // Q has embeddings of its own.
                Parameter::Linear
                    | Parameter::Quadratic
                    | Parameter::Lower
                    | Parameter::Upper
                    | Parameter::SoftRows
                    | Parameter::AtMostRows
                    | Parameter::EqualRows
            )
        })
    };
    let predicted = |at: &usize| placed.selections[*at].kind == Kind::Predicted;
    match (0..placed.selections.len()).filter(predicted).find(|at| !by_variable(at)) {
        Some(at) => {
            let part = &placed.selections[at];
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
    section: &PredictorSection,
    n: usize,
    placed: &Placed,
) -> Result<Option<QuadraticSettings>> {
    let written = section.quadratic;
    // Weights of matrices in Q are quantities as any other; an embedding is of its entries.
    let whole = |at: usize| {
        let part = &placed.selections[at];
        part.kind == Kind::Predicted
            && part.matrix.is_some()
            && placed.parameters(at).contains(&Parameter::Quadratic)
    };
    if !(0..placed.selections.len()).any(whole) {
        if written.is_none() {
            return Ok(None);
        }
        let trouble = Trouble::OneOf("`objective.quadratic` is not predicted, so this has no effect");
        return Err(ctx.fail(key, trouble).hint("leave it out, or predict `objective.quadratic`"));
    }
    if section.kind() == PredictorKind::Given {
        // As they are.
        return Ok(None);
    }
    if section.kind() == PredictorKind::Trees {
        let trouble = Trouble::OneOf(
            "trees do not predict `objective.quadratic`: leaves know no positive semidefinite Q",
        );
        return Err(ctx.fail(&Key::new("predictor").key("kind"), trouble).hint("choose kind = \"mlp\""));
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
