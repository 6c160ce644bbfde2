//! Models in files: safetensors, which PyTorch opens as they are.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use regretless_core::{Placement, Problem, RowValues};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::data::dataset::Names;
use crate::data::encoder::{Encoder, Encoding};
use crate::data::kind::Kind;
use crate::data::past::{Lags, Past};
use crate::data::scaler::Scaler;
use crate::data::transform::{Scale, Transform};
use crate::error::LearnError;
use crate::files;
use crate::forecast::{self, Source};
use crate::model::Model;
use crate::model::combination::{Averaged, Combination, Partner};
use crate::predictor::build::{self, Inputs};
use crate::predictor::mlp::LINE;
use crate::predictor::{Predictor, Trees, Weights};
use crate::settings::{PredictorBase, PredictorKind, PredictorSettings, RiskSettings, ScenarioSource};

/// The layout of model files; the second has targets on other scales, the third trees, the fourth trees on a base or of one output
/// each, the fifth features that are no numbers or scenarios that are more than residuals, the sixth features of the past, the seventh a kind of predictor of its
/// own, the eighth scenarios by series, the ninth decisions at risk, the tenth models that decide together, the eleventh networks with a
/// line beside them, the twelfth means of predictions with scenarios, and they are written only where there are such.
const VERSION: u32 = 1;
const WITH_SCALES: u32 = 2;
const WITH_TREES: u32 = 3;
const WITH_BASES: u32 = 4;
const WITH_KINDS: u32 = 5;
const WITH_PAST: u32 = 6;
const WITH_A_KIND: u32 = 7;
const WITH_SERIES: u32 = 8;
const WITH_RISK: u32 = 9;
const WITH_PARTNERS: u32 = 10;
const WITH_A_LINE: u32 = 11;
const WITH_A_MEAN: u32 = 12;

/// What a model file says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelCard {
    /// Format of the file.
    pub format: u32,
    /// The version of regretless that wrote it.
    pub version: String,
    /// The method that trained it.
    pub method: String,
    /// Number of predictors in an ensemble, 1 otherwise.
    pub members: usize,
    /// True for the constant predictor.
    pub constant: bool,
    /// Feature columns, in the model's order.
    pub features: Vec<String>,
    /// Target columns, in the model's order.
    pub targets: Vec<String>,
    /// Known columns, in the model's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// For a shared predictor the features of each variable, as positions in `features`.
    pub per_variable: Option<Vec<Vec<usize>>>,
    /// The scale that each target is predicted on; empty if all are on their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scales: Vec<Scale>,
    /// What becomes of each feature; empty if all are numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Encoding>,
    /// Where scenarios come from, if they are more than residuals that count the same each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenarios: Option<ScenarioSource>,
    /// How much the worst scenarios count, if they count for more than their mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskSettings>,
    /// Past outcomes of the training data that the model holds, targets as they were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outcomes: usize,
    /// The features that are made of the past of a series, which are the last ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lags: Option<Lags>,
    /// The series whose past the model holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<String>,
    /// The share of each feature in what the splits of trees gained; empty if there are no trees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub importance: Vec<f64>,
    /// The kind of predictor, where the settings leave it open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictor: Option<PredictorKind>,
    /// What the mean is taken of, where several models decide together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub averaged: Option<Averaged>,
    /// What each of them counts, this one first; the others are files within the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
}

impl ModelCard {
    /// The card of a model trained on these columns.
    pub fn new(method: &str, model: &Model, constant: bool, names: &Names) -> Self {
        let risk = model.risk.filter(|_| model.law().is_some());
        Self {
            format: match &model.transforms[..] {
                _ if spreads_a_mean(model) => WITH_A_MEAN,
                _ if model.members.iter().any(|m| has_line(&**m)) => WITH_A_LINE,
                _ if model.combination.is_some() => WITH_PARTNERS,
                _ if risk.is_some() => WITH_RISK,
                _ if model.source.as_ref().is_some_and(|s| s.is_by_series()) => WITH_SERIES,
                _ if model.past.is_some() => WITH_PAST,
                _ if !model.features.is_plain() || special(model).is_some() => WITH_KINDS,
                _ if model.members.iter().any(|m| m.boosting().is_some_and(Trees::is_wide)) => WITH_BASES,
                _ if model.members.iter().any(|m| m.boosting().is_some()) => WITH_TREES,
                [] => VERSION,
                _ => WITH_SCALES,
            },
            version: env!("CARGO_PKG_VERSION").into(),
            method: method.into(),
            members: model.members.len(),
            constant,
            features: names.features.clone(),
            targets: names.targets.clone(),
            known: Vec::new(),
            per_variable: names.per_variable.clone(),
            scales: model.transforms.iter().map(|t| t.scale).collect(),
            columns: if model.features.is_plain() { Vec::new() } else { model.features.columns().to_vec() },
            scenarios: special(model).map(Source::source),
            risk,
            outcomes: model.source.as_ref().map_or(0, |source| source.outcomes()),
            lags: model.past.as_ref().map(|past| past.lags().clone()),
            series: model.past.as_ref().map_or_else(Vec::new, |past| past.numbers().0),
            importance: importance(model),
            predictor: None,
            averaged: model.combination.as_ref().map(|own| own.averaged),
            weights: model.combination.as_ref().map_or_else(Vec::new, Combination::weights),
        }
    }

    /// The card of a model of this kind, which its settings leave open.
    pub(crate) fn of_kind(self, kind: PredictorKind) -> Self {
        Self { format: self.format.max(WITH_A_KIND), predictor: Some(kind), ..self }
    }

    /// What becomes of each feature.
    fn encodings(&self) -> Vec<Encoding> {
        match &self.columns[..] {
            [] => vec![Encoding::Number; self.features.len()],
            columns => columns.to_vec(),
        }
    }

    /// What the features hold, with the levels that the training rows had.
    pub fn kinds(&self) -> Vec<Kind> {
        self.encodings().iter().map(Encoding::kind).collect()
    }
}

/// Scenarios that are more than residuals.
fn special(model: &Model) -> Option<&dyn Source> {
    let source = model.source.as_deref()?;
    (source.numbers().iter().map(|(name, _)| *name).ne([RESIDUALS])).then_some(source)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// True if scenarios stand around the mean of several predictions, alone or beside other models.
fn spreads_a_mean(model: &Model) -> bool {
    let partners = model.combination.iter().flat_map(|own| &own.partners);
    model.averages_predictions() && model.source.is_some()
        || partners.into_iter().any(|partner| spreads_a_mean(&partner.model))
}

/// True for a network with a line beside it.
fn has_line(member: &dyn Predictor) -> bool {
    member.descent().is_some_and(|d| d.weights().iter().any(|part| part.get(LINE).is_some()))
}

/// The mean over the members that are trees.
fn importance(model: &Model) -> Vec<f64> {
    let each: Vec<Vec<f64>> =
        model.members.iter().filter_map(|m| m.boosting()).map(Trees::importance).collect();
    let mut shares = vec![0.0; if each.is_empty() { 0 } else { model.features.columns().len() }];
    // A date has several inputs.
    for (input, feature) in model.features.features().into_iter().enumerate().filter(|_| !each.is_empty()) {
        shares[feature] += each.iter().map(|own| own[input]).sum::<f64>() / each.len() as f64;
    }
    shares
}

impl ModelCard {
    /// What a model file says about itself, the model left alone.
    pub fn read(path: &Path) -> Result<Self, LearnError> {
        Self::of(path, &metadata(path)?)
    }

    /// [`ModelCard::read`] of the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LearnError> {
        let path = Path::new("the model");
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| broken(path, &e))?;
        Self::of(path, &metadata.metadata().clone().unwrap_or_default())
    }

    fn of(path: &Path, metadata: &HashMap<String, String>) -> Result<Self, LearnError> {
        let card = metadata.get("regretless").map_or("", String::as_str);
        serde_json::from_str(card)
            .map_err(|_| LearnError::run(path, "the file is not a model of regretless", ""))
    }
}

impl Model {
    /// Writes the model to a file that is whole or not there.
    pub fn write(&self, path: &Path, card: &ModelCard) -> Result<(), LearnError> {
        write(path, self, card, &[])
    }

    /// Reads a model that was trained for this problem and predictor.
    pub fn read(
        path: &Path,
        problem: &Problem,
        placement: &Placement,
        predictor: &PredictorSettings,
    ) -> Result<(Self, ModelCard), LearnError> {
        let (model, card, _) = read(path, For { problem, placement, predictor })?;
        Ok((model, card))
    }
}

type Tensors = BTreeMap<String, (Vec<usize>, Dtype, Vec<u8>)>;

/// Writes a model; `extra` goes into the file's metadata.
pub(crate) fn write(
    path: &Path,
    model: &Model,
    card: &ModelCard,
    extra: &[(&str, String)],
) -> Result<(), LearnError> {
    files::write(path, &to_bytes(path, model, card, extra)?)
}

/// A model as the bytes of its file; `path` is for messages.
pub(crate) fn to_bytes(
    path: &Path,
    model: &Model,
    card: &ModelCard,
    extra: &[(&str, String)],
) -> Result<Vec<u8>, LearnError> {
    let mut tensors = Tensors::new();
    for (m, member) in model.members.iter().enumerate() {
        let parts = member.descent().map(|d| d.weights().into_iter().chain(d.buffers()));
        let trees = member.boosting().map(Trees::weights);
        for part in parts.into_iter().flatten().chain(&trees) {
            for (name, shape, values) in part.iter() {
                let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                tensors.insert(key(m, name), (shape.to_vec(), Dtype::F32, data));
            }
        }
    }
    let corrections: Vec<f64> = model.transforms.iter().map(|t| t.correction).collect();
    let corrections = (!corrections.is_empty()).then_some((CORRECTION, corrections.as_slice()));
    let known = (!model.anchors_known.is_empty()).then_some((ANCHORS_KNOWN, model.anchors_known.as_slice()));
    let mut numbers = |name: String, values: &[f64]| {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        tensors.insert(name, (vec![values.len()], Dtype::F64, data));
    };
    for (name, values) in statistics(model).into_iter().chain(prices(model)).chain(corrections).chain(known) {
        numbers(name.into(), values);
    }
    for (name, values) in model.past.iter().flat_map(|past| past.numbers().1) {
        numbers(name.into(), &values);
    }
    // Files of every version have residuals, if only none.
    numbers(scenario(RESIDUALS), &[]);
    for (name, values) in model.source.iter().flat_map(|source| source.numbers()) {
        numbers(scenario(name), &values);
    }
    for (i, partner) in model.combination.iter().flat_map(|own| &own.partners).enumerate() {
        let bytes = to_bytes(path, &partner.model, &partner.card, &[])?;
        tensors.insert(inner(i), (vec![bytes.len()], Dtype::U8, bytes));
    }
    let views = tensors.iter().map(|(name, (shape, dtype, data))| {
        TensorView::new(*dtype, shape.clone(), data).map(|view| (name.clone(), view))
    });
    let views: Vec<_> = views.collect::<Result<_, _>>().map_err(|e| broken(path, &e))?;
    let mut metadata: HashMap<String, String> =
        extra.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
    let card = serde_json::to_string(card).map_err(|e| broken(path, &e))?;
    metadata.insert("regretless".into(), card);
    safetensors::serialize(views, Some(metadata)).map_err(|e| broken(path, &e))
}

/// The texts in a model file.
pub(crate) fn metadata(path: &Path) -> Result<HashMap<String, String>, LearnError> {
    let bytes = files::read(path)?;
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|e| broken(path, &e))?;
    Ok(metadata.metadata().clone().unwrap_or_default())
}

/// What a model was trained for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct For<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) placement: &'a Placement,
    pub(crate) predictor: &'a PredictorSettings,
}

pub(crate) fn read(
    path: &Path,
    made_for: For<'_>,
) -> Result<(Model, ModelCard, HashMap<String, String>), LearnError> {
    from_bytes(path, &files::read(path)?, made_for)
}

/// Reads the bytes of a model file; `path` is for messages.
pub(crate) fn from_bytes(
    path: &Path,
    bytes: &[u8],
    made_for: For<'_>,
) -> Result<(Model, ModelCard, HashMap<String, String>), LearnError> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| broken(path, &e))?;
    let metadata = metadata.metadata().clone().unwrap_or_default();
    let card = ModelCard::of(path, &metadata)?;
    if !(VERSION..=WITH_A_MEAN).contains(&card.format) {
        let what = format!("the model has format {}, this program reads 1 to {WITH_A_MEAN}", card.format);
        let hint = format!("it was written by regretless {}: use that version, or train again", card.version);
        return Err(LearnError::run(path, what, hint));
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| broken(path, &e))?;
    let wide = |name: &str| -> Result<Vec<f64>, LearnError> {
        let tensor = tensors.tensor(name).map_err(|e| broken(path, &e))?;
        let whole =
            tensor.data().chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default()));
        Ok(whole.collect())
    };
    let For { placement, predictor, .. } = made_for;
    let mut own = PredictorSettings { kind: card.predictor.unwrap_or(predictor.kind), ..predictor.clone() };
    if card.predictor == Some(PredictorKind::Mlp) {
        // `auto` may have found one better than what the settings say.
        let line = tensors.tensor(LINE).is_ok();
        own.base = if line { PredictorBase::Linear } else { PredictorBase::Constant };
    }
    let predictor = &own;
    let scaler = |name: &str, width: usize| -> Result<Scaler, LearnError> {
        let mean = wide(&format!("{name}.mean"))?;
        let deviation = wide(&format!("{name}.deviation"))?;
        if mean.len() != width || deviation.len() != width {
            return Err(broken(path, &"its statistics do not fit the problem"));
        }
        Ok(Scaler { mean, deviation })
    };
    let (columns, native) = (card.encodings(), predictor.kind == PredictorKind::Trees);
    let inputs = columns.iter().map(|column| column.inputs(native)).sum();
    let features = Encoder::new(columns, scaler("features", inputs)?, native)
        .filter(|encoder| encoder.columns().len() == card.features.len())
        .ok_or_else(|| broken(path, &"its columns do not fit its features"))?;
    let targets = scaler("targets", placement.width())?;
    let transforms = if card.scales.is_empty() {
        Vec::new()
    } else {
        let corrections = wide(CORRECTION)?;
        if card.scales.len() != placement.width() || corrections.len() != placement.width() {
            return Err(broken(path, &"its scales do not fit the problem"));
        }
        let both = card.scales.iter().zip(corrections);
        both.map(|(&scale, correction)| Transform { scale, correction }).collect()
    };
    let source = scenarios(&card, inputs, placement.width(), &|name| wide(&scenario(name)).ok());
    let source = source.ok_or_else(|| broken(path, &"its scenarios do not fit the problem"))?;
    let anchors = wide("decisions.anchors")?;
    let anchors_known =
        if placement.known() > 0 && !anchors.is_empty() { wide(ANCHORS_KNOWN)? } else { Vec::new() };
    let point = placement.width().max(1);
    let width = source.as_ref().map_or(point * card.members.max(1), |source| source.law().entries(point));
    if !(1..=10_000).contains(&card.members)
        || !anchors.len().is_multiple_of(width)
        || anchors.len() / width * placement.known() != anchors_known.len()
    {
        return Err(broken(path, &"its scenarios do not fit the problem"));
    }
    let prices = if tensors.tensor(KINDS[0]).is_ok() {
        let [soft, at_most, equal, lower, upper] = KINDS.map(wide);
        Some(RowValues { soft: soft?, at_most: at_most?, equal: equal?, lower: lower?, upper: upper? })
    } else {
        None
    };
    let past = match &card.lags {
        Some(lags) => {
            // Older files have no pauses of series.
            let pauses = if tensors.tensor(PAST[4]).is_ok() { wide(PAST[4])? } else { Vec::new() };
            let numbers = [wide(PAST[0])?, wide(PAST[1])?, wide(PAST[2])?, wide(PAST[3])?, pauses];
            let read = Past::read(lags.clone(), &card.series, numbers);
            Some(read.ok_or_else(|| broken(path, &"its series do not fit what it knows of them"))?)
        }
        None => None,
    };
    let names = Names {
        features: card.features.clone(),
        targets: card.targets.clone(),
        per_variable: card.per_variable.clone(),
    };
    let from = Inputs { names: &names, encoder: &features };
    let members = members(path, &tensors, For { predictor, ..made_for }, &card, &from)?;
    let combination = combination(path, &tensors, made_for, &card)?;
    Ok((
        Model {
            risk: card.risk,
            members,
            features,
            targets,
            transforms,
            source,
            anchors,
            anchors_known,
            prices,
            past,
            combination,
        },
        card,
        metadata,
    ))
}

/// The models that decide together with the one of the file.
fn combination(
    path: &Path,
    tensors: &SafeTensors<'_>,
    made_for: For<'_>,
    card: &ModelCard,
) -> Result<Option<Combination>, LearnError> {
    let count = tensors.names().iter().filter(|name| name.starts_with(INNER)).count();
    let Some(averaged) = card.averaged.filter(|_| card.format >= WITH_PARTNERS) else {
        let alone = card.averaged.is_none() && card.weights.is_empty() && count == 0;
        return if alone {
            Ok(None)
        } else {
            Err(broken(path, &"nobody says what its models decide together"))
        };
    };
    let sum: f64 = card.weights.iter().sum();
    let sound = card.weights.iter().all(|weight| *weight >= 0.0) && sum.is_finite() && sum > 0.0;
    let (Some((&weight, others)), true) =
        (card.weights.split_first().filter(|(_, o)| o.len() == count), sound)
    else {
        return Err(broken(path, &"its weights are not those of its models"));
    };
    let partner = |(i, &weight): (usize, &f64)| {
        let file = tensors.tensor(&inner(i)).map_err(|e| broken(path, &e))?;
        let own = ModelCard::from_bytes(file.data())?;
        // A mean of predictions may decide beside others; nobody writes deeper ones, and who reads one may never come back.
        let one = own.averaged.is_none()
            || (averaged, own.averaged) == (Averaged::Decisions, Some(Averaged::Predictions));
        if !one || own.risk != card.risk {
            return Err(broken(path, &"a model in it is not one model"));
        }
        let columns = |card: &ModelCard| [card.features.clone(), card.targets.clone(), card.known.clone()];
        if columns(&own) != columns(card) {
            return Err(broken(path, &"the models in it are of other columns"));
        }
        let (model, card, _) = from_bytes(path, file.data(), made_for)?;
        Ok(Partner { weight, model, card })
    };
    let partners = others.iter().enumerate().map(partner).collect::<Result<_, _>>()?;
    Ok(Some(Combination { averaged, weight, partners }))
}

/// The predictors, one a member, with the weights of the file.
fn members(
    path: &Path,
    tensors: &SafeTensors<'_>,
    made_for: For<'_>,
    card: &ModelCard,
    from: &Inputs<'_>,
) -> Result<Vec<Box<dyn Predictor>>, LearnError> {
    let For { problem, placement, predictor } = made_for;
    // The initial embedding does not matter: the weights come from the file.
    let mean = vec![0.0; placement.width()];
    let member = |m: usize| -> Result<Box<dyn Predictor>, LearnError> {
        let mut member = build::predictor(predictor, problem, placement, from, &mean, card.constant, 0)?;
        // Members of forecasts that are given are their scenarios.
        if card.members > 1
            && let Some(given) = member.given()
        {
            let one = given.each().nth(m);
            member = Box::new(one.ok_or_else(|| broken(path, &"its features are not its scenarios"))?);
        }
        fill(path, tensors, m, &mut *member)?;
        Ok(member)
    };
    (0..card.members).map(member).collect()
}

/// Puts the weights of a file into an untrained member.
fn fill(
    path: &Path,
    tensors: &SafeTensors<'_>,
    m: usize,
    member: &mut dyn Predictor,
) -> Result<(), LearnError> {
    let fill = |part: &mut Weights| -> Result<(), LearnError> {
        let names: Vec<(String, [usize; 2])> =
            part.iter().map(|(name, shape, _)| (name.to_owned(), shape)).collect();
        let mut flat = Vec::with_capacity(part.len());
        for (name, shape) in names {
            let tensor = tensors.tensor(&key(m, &name)).map_err(|e| broken(path, &e))?;
            if tensor.shape() != shape || tensor.dtype() != Dtype::F32 {
                return Err(broken(
                    path,
                    &format!("`{name}` has another shape than the predictor of these settings"),
                ));
            }
            flat.extend(crate::train::checkpoint::numbers(tensor.data()));
        }
        part.values_mut().copy_from_slice(&flat);
        Ok(())
    };
    if let Some(descent) = member.descent_mut() {
        descent.weights_mut().into_iter().try_for_each(fill)?;
        descent.buffers_mut().into_iter().try_for_each(fill)?;
    }
    if let Some(trees) = member.boosting_mut() {
        let matrix = |name: &str| {
            let tensor = tensors.tensor(&key(m, name)).ok()?;
            Some(crate::train::checkpoint::numbers(tensor.data()))
        };
        let read = trees.restore(matrix);
        read.ok_or_else(|| broken(path, &"its trees do not fit the problem"))?;
    }
    Ok(())
}

/// Where the scenarios of a file come from, if it has any; `None` if they do not fit.
#[expect(clippy::option_option, reason = "scenarios that do not fit, and none")]
fn scenarios(
    card: &ModelCard,
    inputs: usize,
    width: usize,
    numbers: &dyn Fn(&str) -> Option<Vec<f64>>,
) -> Option<Option<Box<dyn Source>>> {
    if card.scenarios.is_none() && numbers(RESIDUALS)?.is_empty() {
        return Some(None);
    }
    forecast::read(card.scenarios.unwrap_or_default(), inputs, width, numbers).map(Some)
}

const INNER: &str = "partner";

/// The file of another model within the file.
fn inner(partner: usize) -> String {
    format!("{INNER}{}", partner + 1)
}

fn key(member: usize, name: &str) -> String {
    if member == 0 { name.to_owned() } else { format!("member{member}.{name}") }
}

fn statistics(model: &Model) -> [(&'static str, &[f64]); 5] {
    [
        ("features.mean", &model.features.scaler().mean),
        ("features.deviation", &model.features.scaler().deviation),
        ("targets.mean", &model.targets.mean),
        ("targets.deviation", &model.targets.deviation),
        ("decisions.anchors", &model.anchors),
    ]
}

/// Prices of hard rows by kind, if the model has them.
fn prices(model: &Model) -> Vec<(&'static str, &[f64])> {
    let Some(p) = &model.prices else { return Vec::new() };
    KINDS.into_iter().zip([&p.soft, &p.at_most, &p.equal, &p.lower, &p.upper].map(Vec::as_slice)).collect()
}

const PAST: [&str; 5] = ["past.since", "past.counts", "past.times", "past.values", "past.pauses"];

const ANCHORS_KNOWN: &str = "decisions.anchors.known";

/// The one kind of scenarios that files of all versions have.
const RESIDUALS: &str = "residuals";

fn scenario(name: &str) -> String {
    format!("scenarios.{name}")
}

const CORRECTION: &str = "targets.correction";

const KINDS: [&str; 5] = ["prices.soft", "prices.at_most", "prices.equal", "prices.lower", "prices.upper"];

fn broken(path: &Path, what: &dyn std::fmt::Display) -> LearnError {
    LearnError::run(path, format!("the model cannot be used: {what}"), "the file may be cut off: train again")
}
