//! A training from beginning to end: train, choose, judge.

use serde::{Deserialize, Serialize};

use crate::data::past::Past;
use crate::error::LearnError;
use crate::evaluate::calibration::Calibration;
use crate::evaluate::exhibit::Exhibit;
use crate::evaluate::judge::judge;
use crate::evaluate::measures::Measures;
use crate::model::Model;
use crate::model::file::ModelCard;
use crate::select::choose::{Chosen, Tried, full_name, train};
use crate::select::recipe::Recipe;
use crate::select::trainer::Trainer;
use crate::settings::Base;
use crate::task::Task;
use crate::train::epoch::Ended;
use crate::train::observer::Observer;
use crate::train::stages::Stages;

/// Predictions of training rows that are kept as starting points for decisions: entries, at most.
const ANCHOR_ENTRIES: usize = 1 << 17;

/// What came out of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The method asked for.
    pub method: String,
    /// The predictor that was kept.
    pub kept: String,
    /// What was chosen, over what, by how much.
    pub sentence: String,
    /// How the training of the predictor that was kept ended.
    pub ended: Ended,
    /// True if the training was stopped early; it can go on.
    pub interrupted: bool,
    /// The random seed.
    pub seed: u64,
    /// Rows for training, validation and test.
    pub rows: [usize; 3],
    /// Measures on validation.
    pub valid: Measures,
    /// Measures on test, if there is a test part.
    pub test: Option<Measures>,
    /// The constant predictor on the same rows as `test` (or `valid`), to compare with.
    pub constant: Measures,
    /// Everything that was tried.
    pub tried: Vec<Tried>,
    /// Seconds of training.
    pub seconds: f64,
    /// What a user should know.
    pub notes: Vec<String>,
    /// What a user should not trust unseen.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// How the scenarios of the model that was kept compare with what came true, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// For the report.
    pub exhibit: Exhibit,
}

/// Trains on a task as its settings say, judges what was kept, and returns it with all that deciding needs.
pub fn train_task(
    task: &Task,
    stages: Option<&Stages>,
    observer: &mut dyn Observer,
) -> Result<(Outcome, Model, ModelCard), LearnError> {
    let (name, seed) = (task.settings().training.method, task.settings().training.seed);
    let mut trainer = Trainer::new(task, stages, observer)?;
    let chosen = train(&mut trainer, name, seed)?;
    let interrupted = trainer.interrupted();
    let (model, card) = finished(task, &chosen);
    let rows = if task.test().is_empty() { task.valid() } else { task.test() };
    let judgement = chosen.judged(task, rows)?;
    let constant = Recipe::of(task.settings(), Base::Constant.into(), seed);
    let constant = judge(task, &task.untrained(&constant[0])?, rows)?.measures;
    let outcome = Outcome {
        method: full_name(task.settings(), name),
        kept: chosen.candidate.name.clone(),
        sentence: chosen.sentence,
        ended: chosen.candidate.fitted.ended.clone(),
        interrupted,
        seed,
        rows: [task.train().len(), task.valid().len(), task.test().len()],
        valid: chosen.candidate.valid.measures.clone(),
        test: (!task.test().is_empty()).then(|| judgement.measures.clone()),
        constant,
        seconds: chosen.tried.iter().map(|t| t.seconds).sum(),
        tried: chosen.tried,
        notes: task.notes().to_vec(),
        warnings: task.warnings().to_vec(),
        calibration: Calibration::of(task, &model, &judgement),
        exhibit: Exhibit::of(task, &judgement),
    };
    Ok((outcome, model, card))
}

/// The model that was kept, with all that deciding needs.
pub(crate) fn finished(task: &Task, chosen: &Chosen) -> (Model, ModelCard) {
    let candidate = &chosen.candidate;
    let mut model = candidate.fitted.model.clone();
    (model.anchors, model.anchors_known) = anchors(task, &model);
    model.past = task.data().past.as_ref().map(Past::recent);
    let card = ModelCard::new(&candidate.name, &model, candidate.constant, &task.data().names);
    let card = match candidate.predictor {
        Some(kind) => card.of_kind(kind),
        None => card,
    };
    let card = ModelCard { known: task.data().known.names.clone(), ..card };
    (model, card)
}

/// Predictions of training rows, evenly spaced, and what is known of the rows: where decisions for new rows start from.
fn anchors(task: &Task, model: &Model) -> (Vec<f64>, Vec<f64>) {
    let entries = model.law().map_or(model.width(), |law| law.entries(model.width()));
    let width = entries.max(1) + task.placement().known();
    let most = (ANCHOR_ENTRIES / width).clamp(1, 1024);
    let train = task.train();
    let count = most.min(train.len());
    let rows: Vec<usize> = (0..count).map(|i| train[i * train.len() / count]).collect();
    (model.seen(&task.features(&rows), rows.len()), task.known(&rows))
}
