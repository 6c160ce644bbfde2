//! Which scale a regression predicts targets on: their own, logarithms or roots.
//!
//! The squared error in the targets' own units does not know: it is that of the few largest values. What a scale is chosen for
//! is decisions, so the scale is chosen by them: every training row is decided with the prediction of a fit without it, and
//! the scale with the lowest regret is taken, if its gain over no transform exceeds the gain's standard error, as in `auto`. All
//! entries of a parameter are on one scale: they are compared with one another.

use regretless_core::{Batch, Decision, Forecast, Parameter};

use crate::data::transform::{Scale, Transform};
use crate::error::{Hint, LearnError};
use crate::regression::ridge::Ridges;
use crate::settings::TargetTransform;
use crate::task::Task;

/// Rows that are decided; more say little more.
const ROWS: usize = 1000;

/// Fewer rows say too little.
pub(crate) const FEWEST: usize = 20;

/// What a fit is for: means, or the quantile τ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Aim {
    Mean,
    Quantile(f64),
}

/// The scale of each target. `y` are the training rows' targets, target by target.
pub(super) fn choose(
    task: &Task,
    ridges: &Ridges<'_>,
    y: &[Vec<f64>],
    aim: Aim,
) -> Result<Vec<Scale>, LearnError> {
    let train = task.train();
    let own = vec![Scale::None; y.len()];
    if train.len() < FEWEST {
        return Ok(own);
    }
    let seen: Vec<usize> = (0..train.len()).step_by(train.len().div_ceil(ROWS)).collect();
    let others: Vec<Vec<Scale>> = [Scale::Root, Scale::Log]
        .into_iter()
        .map(|scale| by_parameter(task, y, scale))
        .filter(|scales| scales.iter().any(|s| *s != Scale::None))
        .collect();
    if others.is_empty() {
        return Ok(own);
    }
    let plain = regrets(task, ridges, y, &own, aim, &seen)?;
    let mut best = (own, plain.regret);
    for scales in others {
        let found = regrets(task, ridges, y, &scales, aim, &seen)?;
        let gains = plain.each.iter().zip(&found.each).map(|((a, w), (b, _))| (a - b, *w));
        let Some((gain, error)) = mean(gains) else { continue };
        // Rounding that points one way in every row is no gain.
        let error = error.max(1e-6 * plain.regret.abs());
        let decided = found.undecided <= plain.undecided;
        if decided && gain > error && found.regret < best.1 {
            best = (scales, found.regret);
        }
    }
    Ok(best.0)
}

/// The scale for every parameter all of whose entries it takes, in the rows to learn from and in those to choose by.
fn by_parameter(task: &Task, y: &[Vec<f64>], scale: Scale) -> Vec<Scale> {
    let (valid, width) = (task.targets(task.valid()), y.len());
    let mut scales = Vec::with_capacity(width);
    for part in task.placement().runs(task.problem()) {
        let own = scales.len()..scales.len() + part.range.len();
        let takes = own.clone().all(|k| {
            scale.takes(y[k].iter().copied()) && scale.takes(valid.iter().skip(k).step_by(width).copied())
        });
        scales.extend(own.map(|_| if takes { scale } else { Scale::None }));
    }
    scales
}

/// The scale of each target where the settings say it; `None` where they leave it open.
pub(crate) fn given(task: &Task) -> Result<Option<Vec<Scale>>, LearnError> {
    let (scale, what) = match task.settings().predictor.target_transform {
        TargetTransform::Forecasts | TargetTransform::Auto => return Ok(None),
        TargetTransform::None => return Ok(Some(vec![Scale::None; task.placement().width()])),
        TargetTransform::Log => (Scale::Log, "a logarithm needs values above 0"),
        TargetTransform::Root => (Scale::Root, "a square root needs values from 0 on"),
    };
    // Q is made of embeddings, whatever its entries are.
    let kept = |parameter: Parameter| parameter == Parameter::Quadratic;
    let scales: Vec<Scale> = task
        .placement()
        .homes()
        .iter()
        .map(|home| if home.iter().any(|(parameter, _)| kept(*parameter)) { Scale::None } else { scale })
        .collect();
    for &row in task.train().iter().chain(task.valid()) {
        for (k, (value, scale)) in task.targets(&[row]).into_iter().zip(&scales).enumerate() {
            if !scale.takes(std::iter::once(value)) {
                let name = task.data().names.targets.get(k).cloned().unwrap_or_else(|| k.to_string());
                return Err(LearnError::Data {
                    what: format!("target `{name}` is {value} in {}: {what}", task.data().place(row)),
                    hint: Hint::set(
                        "{} leaves such targets on their own scale",
                        "predictor",
                        "target_transform",
                        "\"auto\"",
                    ),
                });
            }
        }
    }
    Ok(Some(scales))
}

struct Regrets {
    /// Of each row, with how much the row counts; NaN where it is undecided.
    each: Vec<(f64, f64)>,
    /// Their mean.
    regret: f64,
    undecided: usize,
}

/// The mean of weighted values and its standard error, those that are not finite left out: σ̂·√Σw²/Σw, with n/(n − 1) in σ̂².
fn mean(values: impl Iterator<Item = (f64, f64)>) -> Option<(f64, f64)> {
    let values: Vec<(f64, f64)> = values.filter(|(v, w)| v.is_finite() && *w > 0.0).collect();
    let (count, all) = (values.len() as f64, values.iter().map(|(_, w)| w).sum::<f64>());
    let mean = values.iter().map(|(v, w)| w * v).sum::<f64>() / all;
    let square =
        values.iter().map(|(v, w)| w * (v - mean).powi(2)).sum::<f64>() / all * count / (count - 1.0);
    let spread = values.iter().map(|(_, w)| w * w).sum::<f64>().sqrt() / all;
    (values.len() > 1).then(|| (mean, square.sqrt() * spread))
}

/// Decisions for the rows at `seen` of the training part, each with what a fit without it predicts.
fn regrets(
    task: &Task,
    ridges: &Ridges<'_>,
    y: &[Vec<f64>],
    scales: &[Scale],
    aim: Aim,
    seen: &[usize],
) -> Result<Regrets, LearnError> {
    let weights = task.weights(task.train());
    let columns: Vec<Vec<f64>> =
        y.iter().zip(scales).map(|(y, scale)| left_out(ridges, y, &weights, *scale, aim)).collect();
    let predictions: Vec<f64> = seen.iter().flat_map(|&i| columns.iter().map(move |c| c[i])).collect();
    let rows: Vec<usize> = seen.iter().map(|&i| task.train()[i]).collect();
    let truths = task.targets(&rows);
    let ids: Vec<u64> = rows.iter().map(|&r| r as u64).collect();
    let known = task.known(&rows);
    let batch = Batch { predictions: &predictions, truths: &truths, known: &known, ids: &ids };
    let decisions = task.regret(None)?.evaluate(&batch)?;
    let regret = |d: &Decision| if d.trouble.is_none() { d.regret } else { f64::NAN };
    let each: Vec<(f64, f64)> = decisions.iter().zip(seen).map(|(d, &i)| (regret(d), weights[i])).collect();
    let undecided = each.iter().filter(|(regret, _)| regret.is_nan()).count();
    let regret = mean(each.iter().copied()).map_or(f64::NAN, |(mean, _)| mean);
    Ok(Regrets { each, regret, undecided })
}

/// What fits without each row predict for it. Of a quantile the ridge's errors are moved to it: near enough to choose by.
fn left_out(ridges: &Ridges<'_>, y: &[f64], weights: &[f64], scale: Scale, aim: Aim) -> Vec<f64> {
    let there: Vec<f64> = y.iter().map(|y| scale.forward(*y)).collect();
    let left_out = ridges.fit(&there).left_out;
    let errors: Vec<f64> = there.iter().zip(&left_out).map(|(t, f)| t - f).collect();
    let (transform, shift) = match aim {
        Aim::Mean => (Transform::smeared(scale, &errors, weights), 0.0),
        Aim::Quantile(tau) => {
            let errors = Forecast::new(1, errors, weights.to_vec());
            (Transform::plain(scale), errors.map_or(0.0, |errors| errors.quantile(0, tau)))
        }
    };
    left_out.iter().map(|f| transform.back(f + shift)).collect()
}
