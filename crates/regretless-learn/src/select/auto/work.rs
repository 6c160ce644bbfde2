//! Counted work: how much a candidate costs, the same on every machine.
//!
//! ```text
//! a solve       15·n·(n + m) + 4,000         n variables, m rows; with scenarios so often as their number has digits
//! a network     1 a weight and row           an epoch, forward and backward
//! trees         30 a feature and row, 40 an output and row
//! ```
//!
//! A unit is about a nanosecond of one core.

use crate::model::Model;
use crate::select::recipe::Recipe;
use crate::settings::{PredictorKind, Stop};
use crate::task::Task;

/// What a search may spend unless it is told otherwise.
const BUDGET: f64 = 1.2e11;
/// Validation rows that are decided after an epoch of a forecast's loss.
const DECIDED: usize = 1000;

/// What was spent, and what there is.
pub(super) struct Work {
    pub(super) spent: f64,
    pub(super) budget: f64,
    solve: f64,
}

impl Work {
    pub(super) fn of(task: &Task) -> Self {
        let problem = task.problem();
        let n = problem.n() as f64;
        let rows = problem.soft().d.len() + problem.at_most().rhs.len() + problem.equal().rhs.len();
        Self { spent: 0.0, budget: BUDGET, solve: 15.0 * n * (n + rows as f64) + 4000.0 }
    }

    /// So many epochs of a recipe.
    pub(super) fn training(&self, task: &Task, recipe: &Recipe, epochs: usize) -> f64 {
        let (train, valid) = (task.train().len() as f64, task.valid().len());
        let (features, width) = (task.encoder().width() as f64, task.placement().width() as f64);
        let settings = &task.settings().predictor;
        let row = match settings.kind {
            PredictorKind::Constant | PredictorKind::Given => 0.0,
            PredictorKind::Linear => features * width,
            PredictorKind::Trees => 30.0 * features + 40.0 * width,
            PredictorKind::Auto | PredictorKind::Mlp => {
                let sizes = settings.layers.iter().map(|size| *size as f64).chain([width]);
                sizes.fold((0.0, features), |(sum, from), to| (sum + from * to, to)).0
            }
        };
        let scenarios = if recipe.trains_through_errors() { digits(train) } else { 1.0 };
        let solves = if recipe.of_forecast() || recipe.method.is_none() {
            valid.min(DECIDED) as f64
        } else {
            // Each prediction, and what it is compared with.
            2.0 * train + valid as f64
        };
        epochs.max(1) as f64 * (train * row + scenarios * solves * self.solve)
    }

    /// Decisions of a model.
    pub(super) fn deciding(&self, model: &Model, rows: usize) -> f64 {
        let scenarios = |(_, model): &(f64, &Model)| {
            model.law().map_or(1.0, |law| digits(law.entries(1).max(1000) as f64))
        };
        2.0 * model.deciding().iter().map(scenarios).sum::<f64>() * rows as f64 * self.solve
    }

    /// What a recipe will take, as far as one can know.
    pub(super) fn expected(&self, task: &Task, recipe: &Recipe, rows: usize) -> f64 {
        let epochs = match recipe.training.stop {
            Stop::Patience(patience) => recipe.training.epochs.min(patience + 30),
            Stop::Never | Stop::Paper => recipe.training.epochs,
        };
        let share = rows as f64 / task.train().len().max(1) as f64;
        share * self.training(task, recipe, epochs)
    }

    /// True if there is so much left, of this share of all.
    pub(super) fn suffices(&self, more: f64, share: f64) -> bool {
        self.spent + more <= share * self.budget
    }
}

/// Weighted means of hinges take a search among their breakpoints.
fn digits(scenarios: f64) -> f64 {
    1.0 + scenarios.max(1.0).log2()
}
