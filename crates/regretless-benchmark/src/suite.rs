//! What is asked: a family of decision problems with data, cell by cell.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use regretless_core::{Matrix, Parameter, Placement, Problem, Soft};
use regretless_learn::{Dataset, ErrorWeights, Known, LearnError, Settings, Task};
use serde::{Deserialize, Serialize};

use crate::BenchmarkError;
use crate::applied::Applied;
use crate::contender::Contender;
use crate::newsvendor::{Orders, Ovens};
use crate::paths::Paths;

/// A task in one of its settings, with one draw of its data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cell {
    /// The id of the suite.
    pub suite: String,
    /// The setting, as the suite writes it.
    pub setting: String,
    /// The draw: a seed.
    pub draw: u64,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, draw {}", self.suite, self.setting, self.draw)
    }
}

/// A cell made ready: the rows of the test part are those that contenders are judged on.
#[derive(Clone, Debug)]
pub struct Question {
    /// The problem.
    pub problem: Problem,
    /// What is predicted.
    pub placement: Placement,
    /// History, each row in its part.
    pub data: Arc<Dataset>,
    /// What contenders do not say: the two sides of a quantile loss, for one.
    pub settings: Settings,
    /// What an error costs on its two sides, quantity by quantity, where quantities are demands; empty otherwise.
    pub sides: Vec<ErrorWeights>,
    /// The room that orders of each test row share; empty where they share none.
    pub room: Vec<f64>,
    /// By what the regret of each test row is multiplied before means are taken.
    pub worth: Vec<f64>,
    /// The block that each test row is in, such as its day, ascending; empty where draws are what is paired.
    pub blocks: Vec<u32>,
    /// A task whose settings and predictor are its own, for contenders that name a method alone.
    pub own: Option<Arc<Task>>,
}

impl Question {
    pub(crate) fn task(&self, settings: Settings) -> Result<Task, LearnError> {
        Task::new(self.problem.clone(), self.placement.clone(), Arc::clone(&self.data), settings)
    }

    /// One of its demands by itself: an order against it, whatever the others need.
    pub(crate) fn alone(&self, k: usize) -> Result<Self, LearnError> {
        let (width, weights) = (self.placement.width(), self.sides[k]);
        let mut data = Dataset::clone(&self.data).with_known(Known::default());
        data.targets = data.targets.chunks_exact(width).map(|row| row[k]).collect();
        data.names.targets = data.names.targets.get(k).cloned().into_iter().collect();
        let problem = order(weights)?;
        let mut settings = self.settings.clone();
        settings.training.weights = weights;
        Ok(Self {
            placement: Placement::whole(&problem, &[Parameter::Limit]),
            problem,
            data: Arc::new(data),
            settings,
            sides: vec![weights],
            room: Vec::new(),
            own: None,
            ..self.clone()
        })
    }

    /// What contenders are compared by: the mean over the rows of a block of regret times worth, block by block; all rows are one
    /// block where there are none.
    pub fn values(&self, regrets: &[f64]) -> Vec<f64> {
        let worth: Vec<f64> = regrets.iter().zip(&self.worth).map(|(r, w)| r * w).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        if self.blocks.is_empty() {
            return vec![mean(&worth)];
        }
        let mut values = Vec::new();
        let mut start = 0;
        for block in self.blocks.chunk_by(|a, b| a == b) {
            values.push(mean(&worth[start..start + block.len()]));
            start += block.len();
        }
        values
    }
}

/// An order against a demand that is predicted: min over·max(x − d, 0) + under·max(d − x, 0).
pub(crate) fn order(sides: ErrorWeights) -> Result<Problem, LearnError> {
    let row = Soft::both(Matrix::from_rows(&[[1.0]]), [0.0], [sides.over], [sides.under]);
    Ok(Problem::minimize(1).linear([0.0]).soft("demand", row).build()?)
}

/// A figure that somebody else published for a setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// The column's name.
    pub name: String,
    /// The mean.
    pub mean: f64,
    /// Its standard error over replications, where they are published.
    pub error: Option<f64>,
    /// How many replications.
    pub draws: usize,
}

/// A family of cells.
pub trait Suite: Sync {
    /// Its id.
    fn id(&self) -> &'static str;

    /// What it is, as a title.
    fn title(&self) -> &'static str;

    /// What its numbers are, in a sentence.
    fn unit(&self) -> &'static str;

    /// All settings, in the order of tables.
    fn settings(&self) -> Vec<String>;

    /// The settings of a quick look.
    fn quick(&self) -> Vec<String>;

    /// How many draws a full run has, and a quick one; the first is `first_draw`.
    fn draws(&self, quick: bool) -> usize;

    /// The first draw.
    fn first_draw(&self) -> u64 {
        0
    }

    /// What is compared, in the order of columns.
    fn contenders(&self) -> Vec<Contender>;

    /// Makes a cell ready.
    fn question(&self, cell: &Cell) -> Result<Question, BenchmarkError>;

    /// Changes with data that are read from files.
    fn fingerprint(&self) -> Result<String, BenchmarkError> {
        Ok(String::new())
    }

    /// Figures of others for a setting.
    fn published(&self, setting: &str) -> Vec<Published> {
        let _ = setting;
        Vec::new()
    }
}

/// All suites: those that are drawn, and those whose data are in the folder. Files are read when they are first asked for.
pub fn suites(data: Option<&Path>) -> Result<Vec<Box<dyn Suite>>, BenchmarkError> {
    let folder = |name: &str| data.map(|dir| dir.join(name)).filter(|dir| dir.is_dir());
    let mut suites: Vec<Box<dyn Suite>> = vec![Box::new(Paths::new(folder("spo_tables").as_deref())?)];
    if let Some(dir) = folder("newsvendor") {
        suites.push(Box::new(Orders::yaz(&dir)));
        suites.push(Box::new(Orders::bakery(&dir)));
        suites.push(Box::new(Ovens::new(&dir)));
    }
    suites.extend(folder("ercot").map(|dir| Box::new(Applied::ercot(&dir)) as Box<dyn Suite>));
    suites.extend(folder("sp500").map(|dir| Box::new(Applied::portfolio(&dir)) as Box<dyn Suite>));
    suites.push(Box::new(Applied::lp()));
    Ok(suites)
}
