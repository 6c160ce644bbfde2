//! The synthetic LP: predict the objective θ.

mod history;
mod lp;
mod npz;
mod size;

use std::path::Path;

use regretless_core::{Method, Placement, RowValues};
use regretless_learn::{
    Base, Clip, Dataset, Initial, Keep, LearnError, MethodName, Names, OptimizerKind, Recipe, Regression,
    Settings, Sharpness, Stop, SurrogateSettings, Task,
};

pub use history::{History, LEARNABLE};
pub use lp::Lp;
pub use npz::Folder;
pub use size::Size;

use crate::PaperError;
use crate::application::{Application, Cell, Contender, Predictor, methods, predictor, with_penalties};
use crate::profile::Profile;
use crate::published;

/// The seed of the one problem that all seeds of the published profile share.
const PUBLISHED_PROBLEM: u64 = 2021 * 31;

/// The synthetic LP under a profile.
#[derive(Clone, Debug)]
pub struct Synthetic {
    profile: Profile,
    data: Option<Folder>,
    /// Deviation of the phase in periods; `None` for the original scale.
    phase: Option<f64>,
    /// Of the surrogate's gradients; 0 for derivatives as they are.
    smoothing: f64,
}

impl Synthetic {
    /// The application on data that is drawn. `phase` is the deviation of the phase in periods; by default what the profile
    /// says: a quarter in `sound`, the original scale in `published`.
    pub fn drawn(profile: Profile, phase: Option<f64>) -> Result<Self, PaperError> {
        if let Some(bad) = phase.filter(|p| !(1e-6..=1e6).contains(p)) {
            let what = format!("a phase of {bad:?} periods is none");
            return Err(PaperError::settings(what, "give a number from 1e-6 to 1e6, such as --phase 0.25"));
        }
        let phase = phase.or((profile == Profile::Sound).then_some(LEARNABLE));
        Ok(Self { profile, data: None, phase, smoothing: 0.0 })
    }

    /// The application on a folder of published data.
    pub fn read(profile: Profile, dir: &Path) -> Result<Self, PaperError> {
        Ok(Self { profile, data: Some(Folder::open(dir)?), phase: None, smoothing: 0.0 })
    }

    /// The same with smoothed gradients of the surrogate's own optimum; see [`regretless_core::Surrogate::smoothing`].
    pub fn smoothed(self, smoothing: f64) -> Result<Self, PaperError> {
        if !(0.0..=1.0).contains(&smoothing) {
            let what = format!("a smoothing of {smoothing} is none");
            return Err(PaperError::settings(what, "give a share from 0 to 1, such as --smoothing 0.3"));
        }
        Ok(Self { smoothing, ..self })
    }

    /// A cell of this application.
    pub fn cell(size: Size, samples: usize, predictor: Predictor) -> Cell {
        Cell { size: size.to_string(), samples: Some(samples), predictor }
    }

    fn training_settings(&self, samples: usize, kind: Predictor, grid: &[f64], seed: u64) -> Settings {
        let mut surrogate = SurrogateSettings::from(Sharpness::Grid(grid.to_vec()));
        surrogate.options.smoothing = self.smoothing;
        let mut settings =
            Settings { surrogate, predictor: predictor(kind, &[128, 128]), ..Settings::default() };
        let training = &mut settings.training;
        training.seed = seed;
        // Batches of 10, 50 and 125 for 100, 1000 and 5000 samples.
        training.batch = match samples {
            ..500 => 10,
            500..3000 => 50,
            _ => 125,
        };
        match self.profile {
            Profile::Published => {
                (settings.predictor.standardise, settings.predictor.initial) = (false, Initial::Random);
                (training.optimizer, training.learning_rate) = (OptimizerKind::AdaGrad, 0.01);
                (training.epochs, training.clip) = (40, Clip::Norm(1e-4));
                (training.stop, training.keep) = (Stop::Paper, Keep::Last);
                (training.bound, training.regression) = (f64::INFINITY, Regression::Descent);
            }
            Profile::Sound => {
                (training.learning_rate, training.epochs) = (0.003, 60);
                training.stop = Stop::Patience(10);
            }
        }
        settings
    }
}

impl Application for Synthetic {
    fn id(&self) -> published::Application {
        published::Application::Synthetic
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    fn settings(&self) -> Vec<(String, String)> {
        let data = match (&self.data, self.phase) {
            (Some(_), _) => "published data".to_owned(),
            (None, None) => "drawn, the phase of the published generator".to_owned(),
            (None, Some(phase)) => format!("drawn, a phase of {phase} periods"),
        };
        let fingerprint =
            self.data.as_ref().map(|folder| ("fingerprint".to_owned(), folder.fingerprint.clone()));
        let smoothing = (self.smoothing > 0.0).then(|| ("smoothing".to_owned(), self.smoothing.to_string()));
        std::iter::once(("data".into(), data)).chain(fingerprint).chain(smoothing).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        if let Some(folder) = &self.data {
            return folder.sizes.iter().map(|&s| Self::cell(s, folder.samples, Predictor::Mlp)).collect();
        }
        let sizes = |samples: usize| Size::PAPER.map(|size| Self::cell(size, samples, Predictor::Mlp));
        [100, 1000, 5000].into_iter().flat_map(sizes).collect()
    }

    fn sizes(&self, text: &str) -> Result<Vec<String>, PaperError> {
        text.parse::<Size>().map(|size| vec![size.to_string()])
    }

    fn check(&self, cell: &Cell) -> Result<(), PaperError> {
        let size: Size = cell.size.parse()?;
        let Some(folder) = &self.data else { return Ok(()) };
        let join = |all: Vec<String>| all.join("; ");
        if !folder.sizes.contains(&size) {
            let have = join(folder.sizes.iter().map(ToString::to_string).collect());
            return Err(PaperError::settings(
                format!("the data has no problem of size {size}"),
                format!("it has {have}"),
            ));
        }
        if cell.samples != Some(folder.samples) {
            let what = format!("the data has {} rows to train on", folder.samples);
            return Err(PaperError::settings(
                what,
                format!("use --samples {}, or leave it out", folder.samples),
            ));
        }
        Ok(())
    }

    fn quick(&self) -> Vec<Cell> {
        let mut cells = self.cells();
        cells.retain(|cell| {
            self.data.is_some() || (cell.samples == Some(100) && cell.size.starts_with("40,"))
        });
        cells
    }

    fn seeds(&self, count: usize) -> Vec<u64> {
        match &self.data {
            Some(folder) => folder.seeds.iter().copied().take(count).collect(),
            None => (2006..).take(count).collect(),
        }
    }

    fn grid(&self) -> Vec<f64> {
        match self.profile {
            Profile::Published => vec![0.2, 1.0, 5.0, 25.0, 125.0],
            Profile::Sound => vec![1.0, 5.0, 25.0],
        }
    }

    fn contenders(&self) -> Vec<Contender> {
        let mut all = vec![Contender::Method(Base::Constant.into())];
        all.extend(methods(&[
            Method::L1,
            Method::L2,
            Method::SpoPlus,
            Method::Df,
            Method::SurrogateVertex,
            Method::SurrogateSmooth,
            Method::FenchelYoung,
            Method::SpoPlusSmooth,
        ]));
        if self.profile == Profile::Sound {
            let mixed = MethodName { mixed: true, ..Method::SurrogateSmooth.into() };
            let stopped = |base: Method| MethodName { stopped: true, ..base.into() };
            let ours = [mixed, stopped(Method::L1), stopped(Method::L2), Base::Auto.into()];
            all.extend(ours.map(Contender::Method));
        }
        all
    }

    fn task(&self, cell: &Cell, grid: &[f64], seed: u64) -> Result<Task, PaperError> {
        let size: Size = cell.size.parse()?;
        let samples = cell.samples.unwrap_or(100);
        let (lp, history) = if let Some(folder) = &self.data {
            (folder.lp(size)?, folder.history(size.n, seed)?)
        } else {
            let problem = if self.profile == Profile::Sound { seed } else { PUBLISHED_PROBLEM };
            (Lp::draw(size, problem), History::draw(size.n, samples, self.profile, self.phase, seed))
        };
        let settings = self.training_settings(samples, cell.predictor, grid, seed);
        let placement = Placement::theta(size.n);
        let names =
            Names { features: (0..2 * size.n).map(|j| format!("xi_{j}")).collect(), ..Names::default() };
        let rows = history.parts.len();
        let data = Dataset::new(history.features, history.targets, rows, names).with_parts(&history.parts);
        let problem = lp.problem().map_err(LearnError::from)?;
        let task = Task::new(problem, placement, data, settings).map_err(|error| {
            let what = format!("({size}) cannot be learned from: {error}");
            let hint = match &self.data {
                Some(folder) => format!("look at A, b and theta in {}", folder.problem_file(size).display()),
                // A draw with few hard rows may leave a variable without any.
                None => "choose a size with more hard rows, such as --sizes 40,40,20".into(),
            };
            PaperError::settings(what, hint)
        })?;
        match self.profile {
            Profile::Published => with_published_multipliers(task, size, seed),
            Profile::Sound => Ok(task),
        }
    }

    fn follows_test(&self) -> bool {
        self.profile == Profile::Published
    }

    fn work(&self, cell: &Cell) -> u64 {
        let n = cell.size.parse::<Size>().map_or(1, |size| size.n);
        (cell.samples.unwrap_or(100) * n * n) as u64
    }
}

/// The released experiment's penalties: 5√n·max(θ, θ̂) on the hard rows, with the truth and the untrained prediction of one
/// sample, and 20 on x ≥ 0.
fn with_published_multipliers(task: Task, size: Size, seed: u64) -> Result<Task, PaperError> {
    let l2 = MethodName::from(Method::L2);
    let recipe = Recipe::of(task.settings(), l2, seed).remove(0);
    let first = &task.train()[..1];
    let prediction = task.untrained(&recipe)?.predict(&task.features(first), 1);
    let largest = task.targets(first).into_iter().chain(prediction).fold(0.0, f64::max);
    let shape = task.problem().shape();
    let mut values = RowValues::constant(shape, 20.0);
    values.at_most = vec![5.0 * (size.n as f64).sqrt() * largest; shape.at_most];
    with_penalties(task, values)
}
