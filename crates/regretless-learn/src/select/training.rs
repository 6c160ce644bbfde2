//! A training from beginning to end: train, choose, judge.

use regretless_core::Method;
use serde::{Deserialize, Serialize};

use crate::data::past::Past;
use crate::data::series::Series;
use crate::error::LearnError;
use crate::evaluate::account::{Account, Audited, Auditor};
use crate::evaluate::calibration::Calibration;
use crate::evaluate::exhibit::{Exhibit, thin};
use crate::evaluate::judge::{Judgement, judge};
use crate::evaluate::measures::Measures;
use crate::model::Model;
use crate::model::decider::Decider;
use crate::model::file::ModelCard;
use crate::numbers::count;
use crate::regression;
use crate::select::choose::{Chosen, Tried, full_name, train_sound};
use crate::select::recipe::Recipe;
use crate::select::trainer::{Candidate, Trainer};
use crate::settings::{Base, PredictorKind};
use crate::task::Task;
use crate::task::other::Form;
use crate::train::epoch::Ended;
use crate::train::fit::Fit;
use crate::train::observer::{Observer, Silent};
use crate::train::stages::Stages;

/// Rows that are entered into an account at a time.
const AT_ONCE: usize = 4096;

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
    /// Where the time of `auto` was up: the rungs of its search that were done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<usize>,
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
    /// What the decisions on `test` (or `valid`) achieved, and beside whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
    /// The features.
    #[serde(default)]
    pub features: Vec<String>,
    /// Columns of the table that nothing took.
    #[serde(default)]
    pub unused: Vec<String>,
    /// For the report.
    pub exhibit: Exhibit,
}

/// A training that came to its end.
#[derive(Clone, Debug)]
pub struct Trained {
    /// What came out of it.
    pub outcome: Outcome,
    /// The model that was kept.
    pub model: Model,
    /// What it says about itself.
    pub card: ModelCard,
    /// Whom it is compared with, by name: the constant predictor and, where one was trained on the way and another was kept, the best
    /// predictor that does not look at decisions.
    pub rivals: Vec<(String, Model, ModelCard)>,
}

/// Trains on a task as its settings say, judges what was kept, and returns it with all that deciding needs.
pub fn train_task(
    task: &Task,
    stages: Option<&Stages>,
    observer: &mut dyn Observer,
) -> Result<Trained, LearnError> {
    let (name, seed) = (task.settings().training.method, task.settings().training.seed);
    if task.settings().training.risk.is_some() && !name.scenarios && name.base != Base::Auto {
        return Err(LearnError::Settings {
            what: format!("`{name}` decides for a point, which has no risk"),
            hint: format!("choose `{name}+scenarios`, or leave out `risk`").into(),
        });
    }
    let mut trainer = Trainer::new(task, stages, observer)?;
    let (chosen, candidates) = train_sound(&mut trainer, name, seed)?;
    let interrupted = trainer.interrupted();
    let (model, card) = finished(task, &chosen);
    let rows = if task.test().is_empty() { task.valid() } else { task.test() };
    // Who stops a training does not wait for a million rows to be judged.
    let some: Vec<usize> = thin(rows.len(), AT_ONCE).map(|i| rows[i]).collect();
    let rows = if interrupted { &some[..] } else { rows };
    let judgement = chosen.judged(task, rows)?;
    let constant = Recipe::of(task.settings(), Base::Constant.into(), seed);
    let constant = task.untrained(&constant[0])?;
    let mut rivals = rivals(task, &chosen, &candidates, &constant);
    let mut notes = task.notes().to_vec();
    if !interrupted && !chosen.candidate.constant && !is_two_stage(&chosen.candidate) && rivals.len() < 2 {
        match plain_forecast(task, seed)? {
            Some(forecast) => rivals.insert(0, forecast),
            None => notes.push(
                "decisions are compared with those of the constant predictor only: there is no forecast here that is solved at \
                 once; `compare` has others beside it"
                    .into(),
            ),
        }
    }
    // What was judged out of fold, by other predictors, says nothing of what this one costs beside others.
    let told = !interrupted && !chosen.is_judged_out_of_fold(rows);
    let account = if told { Some(account(task, (&model, &card), &rivals, &judgement)?) } else { None };
    let constant = judge(task, &constant, rows)?.measures;
    let all = if task.test().is_empty() { task.valid() } else { task.test() };
    if rows.len() < all.len() {
        notes.push(format!("stopped early, and judged on {} of {}", rows.len(), count(all.len(), "row")));
    }
    let outcome = Outcome {
        method: full_name(task.settings(), name),
        kept: chosen.candidate.name.clone(),
        sentence: chosen.sentence,
        ended: chosen.candidate.fitted.ended.clone(),
        interrupted,
        cut: chosen.cut,
        seed,
        rows: [task.train().len(), task.valid().len(), task.test().len()],
        valid: chosen.candidate.valid.measures.clone(),
        test: (!task.test().is_empty()).then(|| judgement.measures.clone()),
        constant,
        seconds: chosen.tried.iter().map(|t| t.seconds).sum(),
        tried: chosen.tried,
        notes,
        warnings: task.warnings().to_vec(),
        calibration: Calibration::of(task, &model, &judgement),
        account,
        features: task.data().names.features.clone(),
        unused: task.data().unused.clone(),
        exhibit: Exhibit::of(task, &judgement),
    };
    Ok(Trained { outcome, model, card, rivals })
}

/// True for predictors that do not look at decisions.
fn is_two_stage(candidate: &Candidate) -> bool {
    let plain = |recipe: &Recipe| recipe.training.method.is_two_stage() && recipe.source().is_none();
    candidate.fitted.model.source.is_none() && candidate.lineage.iter().all(plain)
}

/// Whom a model is compared with.
fn rivals(
    task: &Task,
    chosen: &Chosen,
    candidates: &[Candidate],
    constant: &Model,
) -> Vec<(String, Model, ModelCard)> {
    let kept = &chosen.candidate;
    let forecast = |c: &&Candidate| !c.constant && is_two_stage(c);
    let best = candidates.iter().filter(forecast).min_by(|a, b| a.valid.measures.rank(&b.valid.measures));
    let best = best.filter(|best| best.name != kept.name && !is_two_stage(kept) || kept.constant);
    let constant = (!kept.constant).then_some(("constant".to_owned(), constant.clone(), true, None));
    let best = best.map(|best| (best.name.clone(), best.fitted.model.clone(), false, best.predictor));
    let named = |(name, model, constant, kind): (String, Model, bool, Option<PredictorKind>)| {
        let card = card(task, &name, &model, constant, kind);
        (name, model, card)
    };
    best.into_iter().chain(constant).map(named).collect()
}

/// A forecast that does not look at decisions, to compare with where none was trained on the way: a regression, which is solved at once, or
/// forecasts of others as they are.
fn plain_forecast(task: &Task, seed: u64) -> Result<Option<(String, Model, ModelCard)>, LearnError> {
    let kind = task.settings().predictor.kind;
    let other = (!task.is_given() && kind != PredictorKind::Linear).then_some(PredictorKind::Linear);
    let form = |kind| Form { kind, ..Form::of(&task.settings().predictor) };
    let own = other.map(|kind| task.on(form(kind), task.train().to_vec(), task.valid().to_vec()));
    let own = own.as_ref().unwrap_or(task);
    let mut recipe = Recipe::of(own.settings(), Method::L2.into(), seed).remove(0);
    if !own.is_given() && !regression::applies(own, &recipe) {
        return Ok(None);
    }
    recipe.name = if other.is_some() { "l2, linear" } else { "l2" }.into();
    let fitted = Fit::new(own, &recipe, None)?.run(&mut Silent)?;
    let card = card(task, &recipe.name, &fitted.model, false, other);
    Ok(Some((recipe.name, fitted.model, card)))
}

/// The account of decisions that were judged.
pub(crate) fn account(
    task: &Task,
    (model, card): (&Model, &ModelCard),
    rivals: &[(String, Model, ModelCard)],
    judgement: &Judgement,
) -> Result<Account, LearnError> {
    let ready = |model: &Model, card: &ModelCard| {
        let (problem, placement) = (task.problem().clone(), task.placement().clone());
        Decider::new(problem, placement, model.clone(), card.clone())
    };
    let decider = ready(model, card)?;
    let rivals = rivals.iter().map(|(name, model, card)| Ok((name.clone(), ready(model, card)?)));
    let rivals = rivals.collect::<Result<Vec<_>, LearnError>>()?;
    let data = task.data();
    let baseline = data.baseline_name.clone();
    let names: Vec<String> = data.groups.iter().map(|(name, _)| name.clone()).collect();
    let mut auditor = Auditor::new(&decider, &rivals, baseline, data.dates).by(&names);
    for (rows, decisions) in judgement.rows.chunks(AT_ONCE).zip(judgement.decisions.chunks(AT_ONCE)) {
        let n = data.baseline.names.len();
        let taken: Vec<f64> =
            rows.iter().flat_map(|row| &data.baseline.values[row * n..(row + 1) * n]).copied().collect();
        let times: Vec<f64> = if data.times.is_empty() {
            Vec::new()
        } else {
            rows.iter().map(|&row| data.times[row]).collect()
        };
        let named = |of: &Series| -> Vec<String> {
            let name = |&row: &usize| of.names()[of.of(row)].clone();
            if of.is_empty() { Vec::new() } else { rows.iter().map(name).collect() }
        };
        let groups: Vec<Vec<String>> = data.groups.iter().map(|(_, of)| named(of)).collect();
        auditor.enter(
            decisions,
            &Audited {
                features: &task.features(rows),
                truths: &task.targets(rows),
                known: &task.known(rows),
                baseline: &taken,
                times: &times,
                series: &named(&data.series),
                groups: &groups,
            },
        )?;
    }
    auditor.account()
}

/// The model that was kept, with all that deciding needs.
pub(crate) fn finished(task: &Task, chosen: &Chosen) -> (Model, ModelCard) {
    let candidate = &chosen.candidate;
    let mut model = candidate.fitted.model.clone();
    (model.anchors, model.anchors_known) = anchors(task, &model);
    for partner in model.combination.iter_mut().flat_map(|own| &mut own.partners) {
        (partner.model.anchors, partner.model.anchors_known) = anchors(task, &partner.model);
    }
    model.past = task.data().past.as_ref().map(Past::recent);
    let card = card(task, &candidate.name, &model, candidate.constant, candidate.predictor);
    (model, card)
}

/// What a model says about itself; `kind` is of one that was chosen among kinds.
pub(crate) fn card(
    task: &Task,
    name: &str,
    model: &Model,
    constant: bool,
    kind: Option<PredictorKind>,
) -> ModelCard {
    let card = ModelCard::new(name, model, constant, &task.data().names);
    let card = kind.map_or_else(|| card.clone(), |kind| card.clone().of_kind(kind));
    ModelCard { known: task.data().known.names.clone(), ..card }
}

/// Predictions of training rows, evenly spaced, and what is known of the rows: where decisions for new rows start from.
fn anchors(task: &Task, model: &Model) -> (Vec<f64>, Vec<f64>) {
    let entries = model.entries();
    let width = entries.max(1) + task.placement().known();
    let most = (ANCHOR_ENTRIES / width).clamp(1, 1024);
    let train = task.train();
    let count = most.min(train.len());
    let rows: Vec<usize> = (0..count).map(|i| train[i * train.len() / count]).collect();
    let features = task.features(&rows);
    let seen = if model.averages_decisions() {
        model.own_seen(&features, count)
    } else {
        model.seen(&features, count)
    };
    (seen, task.known(&rows))
}
