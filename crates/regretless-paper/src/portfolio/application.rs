//! Portfolio selection as an application: a task of every size and seed.

use std::path::Path;

use regretless_core::{Method, Rule};
use regretless_learn::{
    Activation, Base, Clip, Content, Dataset, Embedding, Initial, Joint, Keep, LearnError, MethodName, Mlp,
    MlpShape, Names, Part, Predictor as Network, QuadraticForm, QuadraticSettings, Recipe, Schedule,
    Settings, Shared, Sharpness, Stop, Task,
};

use super::squashed::Squashed;
use super::{Constraints, FEATURES, NEXT, Panel, Prices, problem, similarity};
use crate::PaperError;
use crate::application::{Application, Cell, Contender, Predictor, methods, predictor};
use crate::profile::Profile;
use crate::published;

/// The paper's first seed; the others follow.
const FIRST_SEED: u64 = 471_298_479;

/// Dates of the paper's prices end before this one.
const BEFORE: &str = "2017-01-01";

/// Length of the embedding from which Q is made.
const EMBEDDING: usize = 32;

/// Portfolio selection under a profile.
#[derive(Clone, Debug)]
pub struct Portfolio {
    profile: Profile,
    panel: Panel,
    source: &'static str,
    /// How many equities of the table are not used.
    left_out: usize,
    /// Changes with the prices.
    fingerprint: String,
}

impl Portfolio {
    /// The application on a folder with a table of prices.
    pub fn read(profile: Profile, dir: &Path) -> Result<Self, PaperError> {
        Self::new(profile, &Prices::read(dir, BEFORE)?, "prices read")
    }

    /// The application on a simulated market of the shape of the paper's.
    pub fn simulated(profile: Profile) -> Result<Self, PaperError> {
        Self::small(profile, 300, 3273)
    }

    /// The application on a simulated market of another shape.
    pub fn small(profile: Profile, symbols: usize, days: usize) -> Result<Self, PaperError> {
        Self::new(profile, &Prices::simulated(symbols, days, 1), "a simulated market")
    }

    fn new(profile: Profile, prices: &Prices, source: &'static str) -> Result<Self, PaperError> {
        let panel = Panel::of(prices)?;
        let fingerprint = Content::default().numbers(&panel.features).numbers(&panel.next).hash();
        Ok(Self { profile, panel, source, left_out: prices.left_out.len(), fingerprint })
    }

    fn training_settings(&self, n: usize, kind: Predictor, grid: &[f64], seed: u64) -> Settings {
        let mut settings = Settings {
            surrogate: Sharpness::Grid(grid.to_vec()).into(),
            predictor: predictor(kind, &[64, 64]),
            ..Settings::default()
        };
        let quadratic = QuadraticSettings { embedding: EMBEDDING, form: QuadraticForm::Cosine, ridge: 0.1 };
        settings.predictor.quadratic = Some(quadratic);
        let training = &mut settings.training;
        training.seed = seed;
        match self.profile {
            Profile::Published => {
                settings.surrogate.rule = Rule::Constant(0.2 * (n as f64).sqrt());
                settings.predictor.standardise = false;
                (training.learning_rate, training.epochs, training.batch) = (0.01, 19, 1);
                (training.clip, training.bound) = (Clip::None, f64::INFINITY);
                (training.stop, training.keep) = (Stop::Never, Keep::Last);
                training.schedule = Schedule::Plateau { factor: 0.1, patience: 10, back: false };
            }
            Profile::Sound => {
                settings.predictor.shared = true;
                (training.learning_rate, training.epochs, training.batch) = (0.0003, 12, 32);
                training.stop = Stop::Patience(3);
            }
        }
        settings
    }
}

/// θ and Q of every date, one after the other.
fn targets(panel: &Panel) -> Vec<f64> {
    let n = panel.symbols.len();
    let mut targets = Vec::with_capacity(panel.dates.len() * (n + n * n));
    for next in panel.next.chunks_exact(n * NEXT) {
        targets.extend(next.iter().step_by(NEXT));
        targets.extend(similarity(next));
    }
    targets
}

/// Features less their mean over all dates and equities, over their deviation + 1e-5, test part included: as released.
fn standardised(panel: &Panel) -> Vec<f64> {
    let wide = FEATURES.len();
    let count = (panel.features.len() / wide).max(1) as f64;
    let mut out = panel.features.clone();
    for j in 0..wide {
        let column = || panel.features.iter().skip(j).step_by(wide);
        let mean = column().sum::<f64>() / count;
        let deviation = (column().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
        out.iter_mut().skip(j).step_by(wide).for_each(|v| *v = (*v - mean) / (deviation + 1e-5));
    }
    out
}

/// The paper's networks: 28 → 100 → 100 → 1 for each equity, batch-normalised, within ±0.05; a free embedding for Q.
fn published_networks(n: usize, seed: u64) -> Box<dyn Network> {
    let wide = FEATURES.len();
    let shape = MlpShape {
        inputs: wide,
        hidden: vec![100, 100],
        outputs: 1,
        activation: Activation::LeakyRelu,
        batch_norm: true,
        dropout: 0.0,
        initial: Initial::Random,
        line: false,
    };
    let squashed = Squashed::new(Box::new(Mlp::new(&shape, seed)), 0.1);
    let inputs = (0..n).map(|j| (j * wide..(j + 1) * wide).collect()).collect();
    let shared = Shared::new(Box::new(squashed), n * wide, inputs, (0..n).map(|j| vec![j]).collect());
    let embedding = Embedding::random(n, EMBEDDING, QuadraticForm::Cosine, 0.1, seed);
    Box::new(Joint::new(vec![
        (Box::new(embedding), (n..n + n * n).collect()),
        (Box::new(shared), (0..n).collect()),
    ]))
}

impl Application for Portfolio {
    fn id(&self) -> published::Application {
        published::Application::Portfolio
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    fn settings(&self) -> Vec<(String, String)> {
        let (dates, symbols) = (self.panel.dates.len(), self.panel.symbols.len());
        let left_out = match self.left_out {
            0 => String::new(),
            count => format!("; {count} left out, misadjusted or without prices on some days"),
        };
        vec![
            ("data".into(), format!("{}: {dates} dates of {symbols} equities{left_out}", self.source)),
            ("fingerprint".into(), self.fingerprint.clone()),
        ]
    }

    fn cells(&self) -> Vec<Cell> {
        let cell = |n: usize| Cell { size: n.to_string(), samples: None, predictor: Predictor::Mlp };
        [50, 100, 150, 200, 250].map(cell).to_vec()
    }

    fn sizes(&self, text: &str) -> Result<Vec<String>, PaperError> {
        Ok(text.split(',').map(|part| part.trim().to_owned()).collect())
    }

    fn check(&self, cell: &Cell) -> Result<(), PaperError> {
        let most = self.panel.symbols.len();
        match cell.size.parse::<usize>() {
            Ok(n) if (2..=most).contains(&n) => Ok(()),
            _ => Err(PaperError::settings(
                format!("`{}` is no number of equities", cell.size),
                format!("there are {most} with prices on all days: use --sizes {}, say", most.min(50)),
            )),
        }
    }

    fn quick(&self) -> Vec<Cell> {
        self.cells().into_iter().take(1).collect()
    }

    fn seeds(&self, count: usize) -> Vec<u64> {
        (FIRST_SEED..).take(count).collect()
    }

    fn grid(&self) -> Vec<f64> {
        vec![100.0]
    }

    fn contenders(&self) -> Vec<Contender> {
        use Method::{Df, FenchelYoung, L1, L2, SurrogateSmooth, SurrogateVertex};
        let mut all = vec![Contender::Method(Base::Constant.into())];
        all.extend(methods(&[L1, L2, Df, SurrogateVertex, SurrogateSmooth, FenchelYoung]));
        if self.profile == Profile::Sound {
            let mixed = MethodName { mixed: true, ..SurrogateSmooth.into() };
            all.extend([mixed, Base::Auto.into()].map(Contender::Method));
        }
        all
    }

    fn task(&self, cell: &Cell, grid: &[f64], seed: u64) -> Result<Task, PaperError> {
        self.check(cell)?;
        let n = cell.size.parse().unwrap_or(50);
        let panel = self.panel.draw(n, seed)?;
        let (problem, placement) =
            problem(&Constraints::draw(n, seed), &panel.symbols).map_err(LearnError::from)?;
        let settings = self.training_settings(n, cell.predictor, grid, seed);
        let features: Vec<String> = panel
            .symbols
            .iter()
            .flat_map(|symbol| FEATURES.iter().map(move |feature| format!("{feature}_{symbol}")))
            .collect();
        let wide = FEATURES.len();
        let names = Names {
            features,
            per_variable: Some((0..n).map(|j| (j * wide..(j + 1) * wide).collect()).collect()),
            ..Names::default()
        };
        let published = self.profile == Profile::Published;
        let features = if published { standardised(&panel) } else { panel.features.clone() };
        let rows = panel.dates.len();
        // 70 % to train on, 10 % to choose by, the rest to judge by, in the order of time.
        let (train, valid) = (7 * rows / 10, rows / 10);
        let part = |i: usize| match i {
            i if i < train => Part::Train,
            i if i < train + valid => Part::Valid,
            _ => Part::Test,
        };
        let parts: Vec<Part> = (0..rows).map(part).collect();
        let data = Dataset::new(features, targets(&panel), rows, names).with_parts(&parts);
        let task = Task::new(problem, placement, data, settings)?;
        Ok(if published { task.with_predictor(move |seed| published_networks(n, seed)) } else { task })
    }

    fn tune(&self, recipe: &mut Recipe) {
        // The released experiment cuts every entry of the gradient, at other sizes for each method.
        if self.profile == Profile::Published {
            recipe.training.clip = match recipe.method {
                Some(Method::L1 | Method::L2) | None => Clip::None,
                Some(Method::Df) => Clip::Value(0.1),
                Some(_) => Clip::Value(0.02),
            };
        }
    }

    fn work(&self, cell: &Cell) -> u64 {
        let n: u64 = cell.size.parse().unwrap_or(50);
        n * n
    }

    fn unit(&self) -> f64 {
        100.0
    }
}
