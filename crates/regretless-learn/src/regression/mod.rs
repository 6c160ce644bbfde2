//! Two-stage predictors that are linear, fitted to the optimum: no step size, no epochs, nothing to stop early.
//!
//! `l2` is ridge regression with the ridge chosen by leaving rows out, `l1` and `weighted-l1` are quantile regressions, all on
//! the scale of the targets that decides best. What decision-focused training is compared with is then what a practitioner
//! would have done without it.

pub(crate) mod design;
mod quantile;
pub(crate) mod ridge;
mod scale;

use rayon::prelude::*;
use regretless_core::Method;

use self::design::Design;
use self::quantile::{pinball, quantile};
use self::ridge::{Ridge, Ridges};
use self::scale::Aim;
pub(crate) use self::scale::{FEWEST, given};
use crate::data::scaler::Scaler;
use crate::data::transform::{Scale, Transform};
use crate::error::{Hint, LearnError};
use crate::evaluate::stats::Summary;
use crate::model::Model;
use crate::predictor::Linear;
use crate::select::recipe::Recipe;
use crate::settings::{PredictorKind, Regression, TargetTransform};
use crate::task::Task;

/// A gap of this share of the constant fit's loss is no optimum.
const OPEN: f64 = 1e-6;

/// True if the recipe is a regression of a linear predictor, and to be solved as one.
pub(crate) fn applies(task: &Task, recipe: &Recipe) -> bool {
    task.settings().predictor.kind == PredictorKind::Linear && plain_forecast(task, recipe)
}

/// True if the recipe is a forecast of all targets from all features, and nobody asked for the steps as they are.
fn plain_forecast(task: &Task, recipe: &Recipe) -> bool {
    let settings = &task.settings().predictor;
    let shared = settings.shared && task.data().names.per_variable.is_some();
    recipe.training.regression == Regression::Exact
        && settings.quadratic.is_none()
        && !shared
        && !task.has_own_predictor()
        && recipe.of_forecast()
}

/// The scale on which each target is worth a try where the settings leave it open: the one on which a linear forecast decides better
/// than on its own. Empty if there is none.
pub(crate) fn scales(task: &Task, recipe: &Recipe) -> Result<Vec<Scale>, LearnError> {
    let settings = &task.settings().predictor;
    let open = match settings.target_transform {
        TargetTransform::Forecasts => {
            matches!(settings.kind, PredictorKind::Auto | PredictorKind::Mlp | PredictorKind::Trees)
                && plain_forecast(task, recipe)
        }
        TargetTransform::Auto => settings.quadratic.is_none(),
        TargetTransform::None | TargetTransform::Log | TargetTransform::Root => false,
    };
    if !open {
        return Ok(Vec::new());
    }
    let inputs = task.untrained(recipe)?.standardised(&task.features(task.train()));
    let Some(design) = Design::scaled(&inputs, &task.weights(task.train()), &task.encoder().indicators())
    else {
        return Ok(Vec::new());
    };
    let scales = scale::choose(task, &Ridges::new(&design), &columns(task), aim(recipe))?;
    Ok(if scales.iter().all(|s| *s == Scale::None) { Vec::new() } else { scales })
}

/// The training rows' targets, target by target.
fn columns(task: &Task) -> Vec<Vec<f64>> {
    let (targets, width) = (task.targets(task.train()), task.placement().width());
    (0..width).map(|k| targets.iter().skip(k).step_by(width).copied().collect()).collect()
}

fn aim(recipe: &Recipe) -> Aim {
    level(recipe).map_or(Aim::Mean, Aim::Quantile)
}

/// The level of the quantile that a recipe's loss asks for; `None` if it is another loss.
pub(crate) fn level(recipe: &Recipe) -> Option<f64> {
    let weights = recipe.training.weights;
    match recipe.method {
        Some(Method::L1) => Some(0.5),
        Some(Method::WeightedL1) => Some(weights.under / (weights.over + weights.under)),
        _ => None,
    }
}

/// A fit of one target, and how it is read.
struct Fit {
    level: f64,
    along: Vec<f64>,
    transform: Transform,
}

/// The features of the training rows.
fn design(task: &Task, model: &Model) -> Result<Design, LearnError> {
    let train = task.train();
    let inputs = model.standardised(&task.features(train));
    let design = Design::scaled(&inputs, &task.weights(train), &task.encoder().indicators());
    design.ok_or_else(|| LearnError::Data {
        what: "the features cannot be fitted: their squares are not finite".into(),
        hint: Hint::set("give them in larger units, or set {}", "training", "regression", "\"descent\""),
    })
}

/// The untrained `model` with the weights that a recipe is best served with.
pub(crate) fn solve(task: &Task, recipe: &Recipe, model: &Model) -> Result<Model, LearnError> {
    let train = task.train();
    let design = design(task, model)?;
    let ridges = Ridges::new(&design);
    let (y, aim) = (columns(task), aim(recipe));
    let scales = match scale::given(task)? {
        Some(scales) => scales,
        None => scale::choose(task, &ridges, &y, aim)?,
    };
    let there: Vec<Vec<f64>> =
        y.iter().zip(&scales).map(|(y, s)| y.iter().map(|v| s.forward(*v)).collect()).collect();
    let fits = match aim {
        Aim::Mean => {
            there.par_iter().zip(&scales).map(|(y, scale)| mean(&design, &ridges, y, *scale)).collect()
        }
        Aim::Quantile(tau) => {
            let ridge: Vec<Ridge> = there.par_iter().map(|y| ridges.fit(y)).collect();
            let shrunk = quantiles(&design, &there, &scales, tau, Some(&ridge))?;
            // As many directions as rows: the plain fit would go through every row.
            if design.rank() + 1 >= train.len() {
                shrunk
            } else {
                let plain = quantiles(&design, &there, &scales, tau, None)?;
                let loss = |fits: &[Fit]| losses(task, model, &design, fits, tau);
                if better(&loss(&shrunk), &loss(&plain)) { shrunk } else { plain }
            }
        }
    };
    Ok(with(model, &design, &there, &scales, &fits))
}

/// Ridge regressions of all targets, on the scales and in the units of an untrained model: what trees stand on.
pub(crate) fn base(task: &Task, model: &Model) -> Result<Linear, LearnError> {
    let design = design(task, model)?;
    let ridges = Ridges::new(&design);
    let scale = |k: usize| model.transforms.get(k).map_or(Scale::None, |t| t.scale);
    let fit = |(k, y): (usize, &Vec<f64>)| {
        let there: Vec<f64> = y.iter().map(|v| scale(k).forward(*v)).collect();
        mean(&design, &ridges, &there, scale(k))
    };
    let fits: Vec<Fit> = columns(task).par_iter().enumerate().map(fit).collect();
    let (weights, biases) = standardised(&design, &fits, &model.targets);
    Ok(Linear { weights, biases })
}

/// Least squares with its ridge; the errors of rows left out make means of what is on another scale.
fn mean(design: &Design, ridges: &Ridges<'_>, y: &[f64], scale: Scale) -> Fit {
    let Ridge { level, along, left_out, .. } = ridges.fit(y);
    let errors: Vec<f64> = y.iter().zip(left_out).map(|(y, f)| y - f).collect();
    Fit { level, along, transform: Transform::smeared(scale, &errors, &design.weight) }
}

/// Quantile regressions of all targets, with the ridge that least squares would like if there is one.
///
/// Around its minimum the mean pinball loss has the curvature f(q), the density of the errors at the quantile, where half the squared
/// error has 1: κ = λ·f(q), with normal errors of the deviation that rows left out have.
fn quantiles(
    design: &Design,
    y: &[Vec<f64>],
    scales: &[Scale],
    tau: f64,
    ridge: Option<&[Ridge]>,
) -> Result<Vec<Fit>, LearnError> {
    let kappa = |k: usize| {
        let Some(ridge) = ridge.map(|r| &r[k]) else { return 0.0 };
        let errors = y[k].iter().zip(&ridge.left_out).zip(&design.weight);
        let square: f64 = errors.map(|((y, f), w)| w * (y - f).powi(2)).sum();
        let deviation = (square / y[k].len() as f64).sqrt();
        if deviation > 0.0 { ridge.lambda * density(tau) / deviation } else { 0.0 }
    };
    let fits: Vec<quantile::Quantile> =
        (0..y.len()).into_par_iter().map(|k| quantile(design, &y[k], tau, kappa(k))).collect();
    if let Some(k) = fits.iter().position(|f| f.gap.is_nan() || f.gap > OPEN) {
        return Err(LearnError::Data {
            what: format!(
                "the quantile regression of target {k} found no optimum: a gap of {:.1e}",
                fits[k].gap
            ),
            hint: Hint::set(
                "look for values of very different sizes, or set {}",
                "training",
                "regression",
                "\"descent\"",
            ),
        });
    }
    let fit = |(f, scale): (quantile::Quantile, &Scale)| Fit {
        level: f.level,
        along: f.along,
        transform: Transform::plain(*scale),
    };
    Ok(fits.into_iter().zip(scales).map(fit).collect())
}

/// The standard normal density at its quantile τ.
fn density(tau: f64) -> f64 {
    use statrs::distribution::{Continuous, ContinuousCDF, Normal};
    let normal = Normal::standard();
    normal.pdf(normal.inverse_cdf(tau.clamp(1e-3, 1.0 - 1e-3)))
}

/// The pinball loss of each validation row, entries in units of their deviations.
fn losses(task: &Task, model: &Model, design: &Design, fits: &[Fit], tau: f64) -> Vec<f64> {
    let rows = task.valid();
    let (features, width) = (task.encoder().width(), fits.len());
    let inputs = model.standardised(&task.features(rows));
    let weights: Vec<(Vec<f64>, f64)> = fits.iter().map(|f| design.weights(&f.along, f.level)).collect();
    let (truths, units) = (task.targets(rows), task.units());
    let one = |r: usize| {
        let own = &inputs[r * features..(r + 1) * features];
        let entry = |k: usize| {
            let (weights, intercept) = &weights[k];
            let value = intercept + weights.iter().zip(own).map(|(w, x)| w * x).sum::<f64>();
            pinball(truths[r * width + k] - fits[k].transform.back(value), tau) / units[k]
        };
        (0..width).map(entry).sum::<f64>()
    };
    (0..rows.len()).map(one).collect()
}

/// True if the first losses are smaller by more than the standard error of the difference.
fn better(a: &[f64], b: &[f64]) -> bool {
    let gains: Vec<f64> = b.iter().zip(a).map(|(b, a)| b - a).collect();
    let error = |s: &Summary| s.std.unwrap_or(f64::INFINITY) / (s.count as f64).sqrt();
    Summary::of(&gains).is_ok_and(|s| s.mean > error(&s))
}

/// The model with these fits as its weights.
fn with(model: &Model, design: &Design, there: &[Vec<f64>], scales: &[Scale], fits: &[Fit]) -> Model {
    let mut solved = model.clone();
    for (k, scale) in scales.iter().enumerate().filter(|(_, s)| **s != Scale::None) {
        let own = Scaler::fit(&there[k], 1, 0..there[k].len());
        (solved.targets.mean[k], solved.targets.deviation[k]) = (own.mean[0], own.deviation[0]);
        debug_assert_eq!(fits[k].transform.scale, *scale);
    }
    solved.transforms = if scales.iter().all(|s| *s == Scale::None) {
        Vec::new()
    } else {
        fits.iter().map(|f| f.transform).collect()
    };
    let (weights, biases) = standardised(design, fits, &solved.targets);
    let linear = solved.members[0].descent_mut();
    for part in linear.into_iter().flat_map(|linear| linear.weights_mut()) {
        part.set("output.weight", &weights);
        part.set("output.bias", &biases);
    }
    solved
}

/// Weights, inputs × outputs, and biases of fits, for outputs that are deviations of targets from their means.
fn standardised(design: &Design, fits: &[Fit], targets: &Scaler) -> (Vec<f32>, Vec<f32>) {
    let width = fits.len();
    let Scaler { mean, deviation } = targets;
    // Outputs are deviations from the mean; a target that never changes has none.
    let unit = |k: usize| if deviation[k] > 0.0 { 1.0 / deviation[k] } else { 0.0 };
    let own: Vec<(Vec<f64>, f64)> = fits.iter().map(|f| design.weights(&f.along, f.level)).collect();
    let features = own.first().map_or(0, |(w, _)| w.len());
    let weights = (0..features).flat_map(|j| (0..width).map(move |k| (j, k)));
    let weights: Vec<f32> = weights.map(|(j, k)| (own[k].0[j] * unit(k)) as f32).collect();
    let biases: Vec<f32> = (0..width).map(|k| ((own[k].1 - mean[k]) * unit(k)) as f32).collect();
    (weights, biases)
}
