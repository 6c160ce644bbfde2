//! A training run written down between two epochs, so that it can be taken up again with the same numbers.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::error::LearnError;
use crate::files;
use crate::forecast::spread::Spread;
use crate::predictor::{Trees, Weights};
use crate::train::epoch::Epoch;
use crate::train::fit::Fit;

/// Raised when the layout of checkpoints changes.
const VERSION: u32 = 3;

/// What a checkpoint holds besides its tensors.
#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    /// The stage of the run that it belongs to.
    stage: usize,
    recipe: String,
    history: Vec<Epoch>,
    best_epoch: usize,
    /// `None` before anything was decided: JSON has no infinity.
    best_value: Option<f64>,
    rate: f64,
    flat: usize,
    seconds: f64,
    steps: u64,
}

/// Writes down where `fit` stands. Warm starts go without their factors, and the running process forgets its own too.
pub(crate) fn write(path: &Path, fit: &mut Fit<'_>, stage: usize) -> Result<(), LearnError> {
    let header = Header {
        version: VERSION,
        stage,
        recipe: fit.identity().to_owned(),
        history: fit.history.clone(),
        best_epoch: fit.best.epoch,
        best_value: Some(fit.best.value).filter(|r| r.is_finite()),
        rate: fit.rate,
        flat: fit.flat,
        seconds: fit.seconds,
        steps: fit.optimizer.time,
    };
    let mut tensors: BTreeMap<String, (Vec<usize>, Dtype, Vec<u8>)> = BTreeMap::new();
    let mut floats = |name: String, values: &[f32]| {
        tensors.insert(name, (vec![values.len()], Dtype::F32, bytes(values)));
    };
    for (label, predictor) in [("now", &fit.model.members[0]), ("best", &fit.best.predictor)] {
        let (weights, buffers) =
            predictor.descent().map(|d| (flat(&d.weights()), flat(&d.buffers()))).unwrap_or_default();
        floats(format!("{label}.weights"), &weights);
        floats(format!("{label}.buffers"), &buffers);
        let trees = predictor.boosting().map(Trees::weights);
        for (name, _, values) in trees.iter().flat_map(Weights::iter) {
            floats(format!("{label}.{name}"), values);
        }
    }
    for (label, source) in [("now", &fit.model.source), ("best", &fit.best.source)] {
        if let Some(own) = source.as_ref().and_then(|s| s.spread()).and_then(Spread::weights) {
            floats(format!("{label}.spread"), own.values());
        }
    }
    floats("optimizer.first".into(), &fit.optimizer.first);
    floats("optimizer.second".into(), &fit.optimizer.second);
    for (label, transforms) in [("now", &fit.model.transforms), ("best", &fit.best.transforms)] {
        let corrections: Vec<u8> = transforms.iter().flat_map(|t| t.correction.to_le_bytes()).collect();
        tensors.insert(format!("{label}.corrections"), (vec![transforms.len()], Dtype::F64, corrections));
    }
    let losses = fit.objective.as_mut().map(|o| o.main.checkpoint()).unwrap_or_default();
    for (name, state) in [("loss", losses), ("regret", fit.regret.checkpoint())] {
        tensors.insert(name.into(), (vec![state.len()], Dtype::U8, state));
    }
    let header = serde_json::to_string(&header)
        .map_err(|e| LearnError::run(path, format!("the checkpoint cannot be written: {e}"), ""))?;
    let views = tensors.iter().map(|(name, (shape, dtype, data))| {
        TensorView::new(*dtype, shape.clone(), data).map(|view| (name.clone(), view))
    });
    let views: Vec<_> = views.collect::<Result<_, _>>().map_err(|e| broken(path, &e.to_string()))?;
    let metadata = HashMap::from([("checkpoint".to_owned(), header)]);
    let whole = safetensors::serialize(views, Some(metadata)).map_err(|e| broken(path, &e.to_string()))?;
    files::write(path, &whole)
}

/// Takes `fit`, which was just prepared, to where the checkpoint left off.
pub(crate) fn read(path: &Path, fit: &mut Fit<'_>) -> Result<(), LearnError> {
    let whole = files::read(path)?;
    let bad = |e: &dyn std::fmt::Display| broken(path, &e.to_string());
    let header = header(path, &whole)?;
    if header.recipe != fit.identity() {
        let hint = "give the same problem and settings as before, or start anew";
        return Err(LearnError::run(
            path,
            "the checkpoint belongs to a run with other settings or other data",
            hint,
        ));
    }
    let tensors = SafeTensors::deserialize(&whole).map_err(|e| bad(&e))?;
    let data = |name: &str| tensors.tensor(name).map(|t| t.data().to_vec()).map_err(|e| bad(&e));
    let mut now = fit.model.members[0].clone();
    let mut best = now.clone();
    for (label, predictor) in [("now", &mut now), ("best", &mut best)] {
        let weights = numbers(&data(&format!("{label}.weights"))?);
        let buffers = numbers(&data(&format!("{label}.buffers"))?);
        let fits = match predictor.descent_mut() {
            Some(descent) => fill(descent.weights_mut(), &weights) && fill(descent.buffers_mut(), &buffers),
            None => weights.is_empty() && buffers.is_empty(),
        };
        let fits = fits
            && match predictor.boosting_mut() {
                Some(trees) => {
                    let matrix =
                        |name: &str| data(&format!("{label}.{name}")).map(|bytes| numbers(&bytes)).ok();
                    trees.restore(matrix).is_some()
                }
                None => true,
            };
        if !fits {
            return Err(broken(path, "its weights do not fit the predictor"));
        }
    }
    if let Some(objective) = &mut fit.objective {
        objective.main.restore(&data("loss")?)?;
    }
    fit.regret.restore(&data("regret")?)?;
    fit.optimizer.first = numbers(&data("optimizer.first")?);
    fit.optimizer.second = numbers(&data("optimizer.second")?);
    fit.optimizer.time = header.steps;
    // A regression's solution has more to it than weights, and is the same again.
    if let Some(solved) = fit.solved.as_ref().filter(|_| header.history.iter().any(|e| e.epoch > 0)) {
        fit.model = solved.clone();
    }
    fit.model.members[0] = now;
    fit.best.predictor = best;
    fit.best.transforms.clone_from(&fit.model.transforms);
    for (label, transforms) in [("now", &mut fit.model.transforms), ("best", &mut fit.best.transforms)] {
        let corrections = data(&format!("{label}.corrections"))?;
        for (transform, bytes) in transforms.iter_mut().zip(corrections.as_chunks::<8>().0) {
            transform.correction = f64::from_le_bytes(*bytes);
        }
    }
    for (label, source) in [("now", &mut fit.model.source), ("best", &mut fit.best.source)] {
        if let Some(own) = source.as_mut().and_then(|s| s.spread_mut()).and_then(Spread::weights_mut) {
            let values = numbers(&data(&format!("{label}.spread"))?);
            if !fill(vec![own], &values) {
                return Err(broken(path, "its spread does not fit the predictor"));
            }
        }
    }
    fit.best.epoch = header.best_epoch;
    fit.best.value = header.best_value.unwrap_or(f64::INFINITY);
    fit.history = header.history;
    fit.rate = header.rate;
    fit.flat = header.flat;
    fit.seconds = header.seconds;
    Ok(())
}

/// The stage that a checkpoint belongs to, and the epochs it vouches for.
pub(crate) fn history(path: &Path) -> Result<(usize, Vec<Epoch>), LearnError> {
    let whole = files::read(path)?;
    let header = header(path, &whole)?;
    Ok((header.stage, header.history))
}

fn header(path: &Path, whole: &[u8]) -> Result<Header, LearnError> {
    let (_, metadata) = SafeTensors::read_metadata(whole).map_err(|e| broken(path, &e.to_string()))?;
    let header = metadata.metadata().as_ref().and_then(|m| m.get("checkpoint"));
    let header: Header =
        serde_json::from_str(header.map_or("", String::as_str)).map_err(|e| broken(path, &e.to_string()))?;
    if header.version != VERSION {
        let what = format!("the checkpoint has format {}, this program writes {VERSION}", header.version);
        return Err(LearnError::run(
            path,
            what,
            "resume with the version that started the run, or start anew",
        ));
    }
    Ok(header)
}

fn broken(path: &Path, what: &str) -> LearnError {
    LearnError::run(path, format!("the checkpoint cannot be used: {what}"), "start a new run directory")
}

/// All weights of a predictor as one vector.
pub(crate) fn flat(parts: &[&Weights]) -> Vec<f32> {
    parts.iter().flat_map(|w| w.values().iter().copied()).collect()
}

/// Puts a flat vector into a predictor's parts; false if it does not fit.
pub(crate) fn fill(parts: Vec<&mut Weights>, flat: &[f32]) -> bool {
    if parts.iter().map(|w| w.len()).sum::<usize>() != flat.len() {
        return false;
    }
    let mut rest = flat;
    for part in parts {
        let (own, after) = rest.split_at(part.len());
        part.values_mut().copy_from_slice(own);
        rest = after;
    }
    true
}

pub(crate) fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub(crate) fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}
