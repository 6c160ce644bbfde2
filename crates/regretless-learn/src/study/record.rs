//! One method trained with one seed, and what it came to.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::LearnError;
use crate::evaluate::account::Account;
use crate::evaluate::calibration::Calibration;
use crate::evaluate::exhibit::Exhibit;
use crate::evaluate::judge::judge;
use crate::evaluate::measures::Measures;
use crate::select::choose::{self, Tried};
use crate::select::trainer::Trainer;
use crate::select::training::{account, finished};
use crate::settings::{Base, MethodName};
use crate::task::Task;
use crate::train::epoch::{Ended, Epoch};
use crate::train::observer::{Interrupt, Observer};

/// Raised when what is written of a training changes.
pub(crate) const FORMAT: u32 = 1;

/// What one training came to: all that tables and pages are made of, wherever it was done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The method's full id.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// Everything that was trained on the way.
    pub tried: Vec<Tried>,
    /// What was chosen, in words.
    pub sentence: String,
    /// Epochs of the predictor that was kept.
    pub history: Vec<Epoch>,
    /// How its training ended.
    pub ended: Ended,
    /// Measures on the test part (on validation, if there is no test part).
    pub measures: Measures,
    /// The regret of each row of that part; NaN where there is no decision to compare.
    #[serde(with = "crate::unknown::many")]
    pub regrets: Vec<f64>,
    /// What a page shows of the decisions.
    pub exhibit: Exhibit,
    /// For every K of a grid its regret on the same rows.
    #[serde(with = "crate::unknown::pairs")]
    pub sharpness: Vec<(f64, f64)>,
    /// Seconds, everything included.
    pub seconds: f64,
    /// What the decisions on the same rows came to, beside a baseline if there is one; none in older records.
    #[serde(default)]
    pub account: Option<Account>,
    /// How its scenarios compare with what came true on the same rows, if it has any; none in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
}

impl Record {
    /// The record as it reads back from a file, wherever it was made: what JSON has no number for is unknown.
    fn settled(&self) -> Result<Self, LearnError> {
        let lost = |error: serde_json::Error| LearnError::Data {
            what: format!(
                "what came of {} with seed {} cannot be written down: {error}",
                self.method, self.seed
            ),
            hint: "".into(),
        };
        serde_json::from_str(&serde_json::to_string(self).map_err(lost)?).map_err(lost)
    }
}

/// The rows that methods are judged on: test, or validation where there is none.
pub(super) fn judged_rows(task: &Task) -> &[usize] {
    if task.test().is_empty() { task.valid() } else { task.test() }
}

/// Trains a method with a seed, and judges what was kept.
pub fn trial(task: &Task, name: MethodName, seed: u64, interrupt: &Interrupt) -> Result<Record, LearnError> {
    let started = Instant::now();
    let mut observer = Quiet(interrupt);
    let mut trainer = Trainer::new(task, None, &mut observer)?;
    let (chosen, all) = choose::train_all(&mut trainer, name, seed)?;
    let seconds = started.elapsed().as_secs_f64();
    let rows = judged_rows(task);
    // What an interrupt cut is in no table: nobody waits for a million rows to be judged.
    let rows = if trainer.interrupted() { &rows[..rows.len().min(1)] } else { rows };
    let judgement = chosen.judged(task, rows)?;
    let mut sharpness = Vec::new();
    if all.len() > 1 && name.base != Base::Auto {
        for candidate in &all {
            if let Some(k) = candidate.k {
                sharpness.push((k, judge(task, &candidate.fitted.model, rows)?.measures.regret));
            }
        }
    }
    // Decisions out of fold are those of other predictors.
    let own = chosen.candidate.fitted.ended != Ended::Interrupted && !chosen.is_judged_out_of_fold(rows);
    let (account, calibration) = if own {
        let (model, card) = finished(task, &chosen);
        let account = account(task, (&model, &card), &[], &judgement)?;
        (Some(account), Calibration::of(task, &model, &judgement))
    } else {
        (None, None)
    };
    let record = Record {
        method: choose::full_name(task.settings(), name),
        seed,
        tried: chosen.tried,
        sentence: chosen.sentence,
        history: chosen.candidate.fitted.history,
        ended: chosen.candidate.fitted.ended,
        exhibit: Exhibit::of(task, &judgement),
        regrets: judgement.regrets(),
        measures: judgement.measures,
        sharpness,
        seconds,
        account,
        calibration,
    };
    record.settled()
}

struct Quiet<'a>(&'a Interrupt);

impl Observer for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.requested()
    }
}
