//! Resource provisioning as an application: a task of every ratio of prices and seed.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use regretless_core::{Method, RowValues};
use regretless_learn::{
    Activation, Base, Clip, Content, Dataset, ErrorWeights, Initial, Keep, LearnError, MethodName, MlpShape,
    Model, Names, OptimizerKind, Part, Recipe, Settings, Sharpness, Stop, Task,
};

use super::network::{Sees, Usual, Windowed};
use super::{
    Hourly, HourlySettings, Load, Parts, RATIOS, REGIONS, WINDOW, hours_of, limits, loads, problem, windows,
};
use crate::PaperError;
use crate::application::{Application, Cell, Contender, Predictor, methods, with_penalties};
use crate::profile::Profile;
use crate::published;

/// The paper's first seed; the others follow.
const FIRST_SEED: u64 = 16_900_000;

/// The paper's data begin here.
const FROM_YEAR: i32 = 2013;

/// Windows start every so many hours in the sound profile; no divisor of 24, so that all hours of the day come up. Every
/// window overlaps its neighbours, so more of them would hardly say more.
const STRIDES: [(Part, usize); 3] = [(Part::Train, 13), (Part::Valid, 7), (Part::Test, 5)];

/// The baseline of this application.
const MEAN_PER_HOUR: &str = "mean-per-hour";

/// Resource provisioning under a profile.
#[derive(Clone, Debug)]
pub struct Provisioning {
    profile: Profile,
    load: Arc<Load>,
    source: &'static str,
    /// Changes with the loads and temperatures.
    fingerprint: String,
}

impl Provisioning {
    /// The application on a folder with the load and temperature of the eight regions.
    pub fn read(profile: Profile, dir: &Path) -> Result<Self, PaperError> {
        Ok(Self::new(profile, Load::read(dir, FROM_YEAR)?, "load read"))
    }

    /// The application on so many days of simulated load.
    pub fn simulated(profile: Profile, days: usize) -> Self {
        Self::new(profile, Load::simulated(days, 1), "simulated load")
    }

    fn new(profile: Profile, load: Load, source: &'static str) -> Self {
        let fingerprint = Content::default().numbers(&load.load).numbers(&load.temperature).hash();
        Self { profile, load: Arc::new(load), source, fingerprint }
    }

    fn prices(cell: &Cell) -> Option<(f64, f64)> {
        let ratio: f64 = cell.size.parse().ok()?;
        RATIOS.into_iter().find(|(over, under)| (over / under / ratio - 1.0).abs() < 1e-9)
    }

    /// The hours of the training part.
    fn training(&self) -> Range<usize> {
        let starts = windows(self.load.hours.len(), 1);
        hours_of(&starts, &self.parts(starts.len()).train)
    }

    fn parts(&self, windows: usize) -> Parts {
        match self.profile {
            Profile::Published => Parts::published(windows),
            Profile::Sound => Parts::sound(windows),
        }
    }

    /// Starting hours, each with its part.
    fn windows(&self) -> Result<Vec<(usize, Part)>, PaperError> {
        let starts = windows(self.load.hours.len(), 1);
        let sound = self.profile == Profile::Sound;
        let parts = self.parts(starts.len());
        let mut chosen = Vec::new();
        for (part, stride) in STRIDES {
            let range = match part {
                Part::Train => parts.train.clone(),
                Part::Valid => parts.valid.clone(),
                Part::Test => parts.test.clone(),
            };
            // As released, windows start every hour; validation and test are thinned, for they overlap all the same.
            let stride = if !sound && part == Part::Train { 1 } else { stride };
            // The first day's features were filled in from the day itself.
            let known = |start: &&usize| !sound || **start >= WINDOW;
            chosen.extend(starts[range].iter().filter(known).step_by(stride).map(|&start| (start, part)));
        }
        if chosen.iter().filter(|(_, part)| *part == Part::Test).count() < 2 {
            return Err(PaperError::settings(
                format!("{} hours of load are too few", self.load.hours.len()),
                "give at least a few months",
            ));
        }
        Ok(chosen)
    }

    fn training_settings(&self, (over, under): (f64, f64), grid: &[f64], seed: u64) -> Settings {
        let mut settings =
            Settings { surrogate: Sharpness::Grid(grid.to_vec()).into(), ..Settings::default() };
        settings.predictor.standardise = false;
        let training = &mut settings.training;
        training.seed = seed;
        // A load predicted too low costs as `over` does: the share is then too large. The paper exchanges the two as well.
        training.weights = ErrorWeights { over: under, under: over };
        match self.profile {
            Profile::Published => {
                (training.optimizer, training.learning_rate) = (OptimizerKind::AdaGrad, 0.01);
                (training.batch, training.epochs) = (256, 6);
                (training.clip, training.bound) = (Clip::Norm(0.01), f64::INFINITY);
                (training.stop, training.keep) = (Stop::Never, Keep::Last);
            }
            Profile::Sound => {
                (training.learning_rate, training.batch, training.epochs) = (0.002, 32, 40);
                training.stop = Stop::Patience(8);
            }
        }
        settings
    }

    /// Mean loads by hour of the day and the deviation from them, over the hours of the training part.
    fn usual(&self, hours: Range<usize>) -> Usual {
        let regions = REGIONS.len();
        let (mut mean, mut count) = (vec![0.0; 24 * regions], vec![0.0_f64; 24]);
        let scaled = |hour: usize, region: usize| self.load.load[hour * regions + region] / 1e4;
        for hour in hours.clone() {
            let clock = usize::from(self.load.hours[hour].hour);
            count[clock] += 1.0;
            for region in 0..regions {
                mean[clock * regions + region] += scaled(hour, region);
            }
        }
        for (i, value) in mean.iter_mut().enumerate() {
            *value /= count[i / regions].max(1.0);
        }
        let unit = |region: usize| {
            let square = |hour: usize| {
                let clock = usize::from(self.load.hours[hour].hour);
                (scaled(hour, region) - mean[clock * regions + region]).powi(2)
            };
            let deviation = (hours.clone().map(square).sum::<f64>() / hours.len().max(1) as f64).sqrt();
            if deviation > 0.0 { deviation as f32 } else { 1.0 }
        };
        let unit = (0..regions).map(unit).collect();
        Usual { mean: mean.into_iter().map(|v| v as f32).collect(), unit }
    }
}

impl Application for Provisioning {
    fn id(&self) -> published::Application {
        published::Application::Provisioning
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    fn settings(&self) -> Vec<(String, String)> {
        vec![
            ("data".into(), format!("{}: {} hours", self.source, self.load.hours.len())),
            ("fingerprint".into(), self.fingerprint.clone()),
        ]
    }

    fn cells(&self) -> Vec<Cell> {
        let cell = |(over, under): (f64, f64)| {
            let size = (over / under).to_string();
            Cell { size, samples: None, predictor: Predictor::Mlp }
        };
        RATIOS.map(cell).to_vec()
    }

    fn sizes(&self, text: &str) -> Result<Vec<String>, PaperError> {
        Ok(text.split(',').map(|part| part.trim().to_owned()).collect())
    }

    fn check(&self, cell: &Cell) -> Result<(), PaperError> {
        if Self::prices(cell).is_some() {
            return Ok(());
        }
        let what = format!("`{}` is none of the ratios of prices", cell.size);
        Err(PaperError::settings(what, "use --sizes 100, 10, 1, 0.1 or 0.01"))
    }

    fn quick(&self) -> Vec<Cell> {
        self.cells().into_iter().take(1).collect()
    }

    fn seeds(&self, count: usize) -> Vec<u64> {
        (FIRST_SEED..).take(count).collect()
    }

    fn grid(&self) -> Vec<f64> {
        match self.profile {
            Profile::Published => vec![0.05],
            // The limits are missed by hundredths: 1/4K must be as small for the smoothed price to be near the true one.
            Profile::Sound => vec![0.05, 5.0, 25.0],
        }
    }

    fn contenders(&self) -> Vec<Contender> {
        use Method::{Df, L1, L2, SurrogateSmooth, SurrogateVertex, WeightedL1};
        let mut all = vec![Contender::Method(Base::Constant.into())];
        all.push(Contender::Baseline(MEAN_PER_HOUR));
        all.extend(methods(&[L1, L2, WeightedL1, Df, SurrogateVertex, SurrogateSmooth]));
        if self.profile == Profile::Sound {
            let mixed = MethodName { mixed: true, ..SurrogateSmooth.into() };
            let scenarios = |base: Method| MethodName { scenarios: true, ..base.into() };
            all.extend([mixed, scenarios(L1), scenarios(L2), Base::Auto.into()].map(Contender::Method));
        }
        all
    }

    fn baselines(&self) -> &'static [&'static str] {
        &[MEAN_PER_HOUR]
    }

    fn task(&self, cell: &Cell, grid: &[f64], seed: u64) -> Result<Task, PaperError> {
        self.check(cell)?;
        let prices = Self::prices(cell).unwrap_or((1.0, 1.0));
        let (problem, placement) = problem(&limits(seed), prices.0, prices.1).map_err(LearnError::from)?;
        let settings = self.training_settings(prices, grid, seed);
        let chosen = self.windows()?;
        let sound = self.profile == Profile::Sound;
        let training = self.training();
        // As released, the statistics are those of all hours.
        let statistics = if sound { training.clone() } else { 0..self.load.hours.len() };
        let hourly = Arc::new(Hourly::of(&self.load, &HourlySettings { statistics, noise: Some(seed) })?);
        let clock = Arc::new(self.load.hours.iter().map(|hour| hour.hour).collect::<Vec<u8>>());
        let usual = sound.then(|| Arc::new(self.usual(training)));
        let hidden = match (cell.predictor, sound) {
            (Predictor::Linear, _) => Vec::new(),
            (Predictor::Mlp, true) => vec![48, 48],
            (Predictor::Mlp, false) => vec![924],
        };
        let shape = MlpShape {
            hidden,
            activation: Activation::Relu,
            initial: if sound { Initial::Mean } else { Initial::Random },
            ..MlpShape::default()
        };
        let sees = if sound { Sees::Hour } else { Sees::Day };
        let features = chosen.iter().map(|(start, _)| *start as f64).collect();
        let targets = chosen.iter().flat_map(|(start, _)| loads(&self.load, *start)).collect();
        let names = Names { features: vec!["start".into()], ..Names::default() };
        let each: Vec<Part> = chosen.iter().map(|(_, part)| *part).collect();
        let data = Dataset::new(features, targets, chosen.len(), names).with_parts(&each);
        let task = Task::new(problem, placement, data, settings)?.with_predictor(move |seed| {
            let (hourly, clock, usual) = (Arc::clone(&hourly), Arc::clone(&clock), usual.clone());
            Box::new(Windowed::new(hourly, clock, usual, sees, shape.clone(), seed))
        });
        if sound { Ok(task) } else { with_published_multipliers(task) }
    }

    fn baseline(&self, name: &str, _: &Cell, task: &Task) -> Result<Model, PaperError> {
        if name != MEAN_PER_HOUR {
            return Err(PaperError::settings(format!("there is no baseline `{name}` here"), ""));
        }
        let everything = HourlySettings { statistics: 0..self.load.hours.len(), noise: None };
        let hourly = Arc::new(Hourly::of(&self.load, &everything)?);
        let clock = Arc::new(self.load.hours.iter().map(|hour| hour.hour).collect::<Vec<u8>>());
        let usual = Some(Arc::new(self.usual(self.training())));
        // An untrained network adds nothing to the usual loads.
        let means = Windowed::new(hourly, clock, usual, Sees::Hour, MlpShape::default(), 0);
        let l2 = MethodName::from(Method::L2);
        let mut model = task.untrained(&Recipe::of(task.settings(), l2, 0).remove(0))?;
        model.members = vec![Box::new(means)];
        Ok(model)
    }

    fn work(&self, _: &Cell) -> u64 {
        100
    }
}

/// The released experiment's penalties: 100√8 on the sum of shares, 100 on x ≥ 0.
fn with_published_multipliers(task: Task) -> Result<Task, PaperError> {
    let mut values = RowValues::constant(task.problem().shape(), 100.0);
    values.equal.fill(100.0 * 8.0_f64.sqrt());
    with_penalties(task, values)
}
