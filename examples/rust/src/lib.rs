//! What the three examples share: random draws, the way from a problem and a history in memory to regrets, and the table
//! of them.

use std::error::Error;
use std::fmt;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regretless_core::{Parameter, Placement, Problem};
use regretless_learn::stats::{Summary, paired_t};
use regretless_learn::{
    Dataset, MethodName, Names, Part, PredictorKind, Settings, Silent, Task, Trainer, judge, train,
};

/// What an example ends with.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Random numbers; the same seed gives the same.
#[derive(Debug)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The dice of a seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// A standard normal number (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * (1.0 - self.uniform()).ln()).sqrt(), self.uniform());
        radius * (std::f64::consts::TAU * angle).cos()
    }

    /// Several standard normal numbers.
    pub fn normals<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.normal())
    }
}

/// Rows of features and of the parameters that came true.
#[derive(Clone, Debug, Default)]
pub struct History {
    features: Vec<f64>,
    truths: Vec<f64>,
    rows: usize,
}

impl History {
    /// Adds a row. Truths are in the order of what is predicted, matrices row by row.
    pub fn push(&mut self, features: &[f64], truths: &[f64]) {
        self.features.extend(features);
        self.truths.extend(truths);
        self.rows += 1;
    }

    /// In the order of the rows: 40 % to train on, 10 % to choose by, the rest to judge by.
    fn dataset(self) -> Dataset {
        let (train, known) = (self.rows * 2 / 5, self.rows / 2);
        let part = |row: usize| match row {
            _ if row < train => Part::Train,
            _ if row < known => Part::Valid,
            _ => Part::Test,
        };
        let parts: Vec<Part> = (0..self.rows).map(part).collect();
        let width = self.features.len() / self.rows.max(1);
        Dataset::new(self.features, self.truths, self.rows, Names::numbered(width)).with_parts(&parts)
    }
}

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Histories that are drawn.
    pub seeds: u64,
    /// Rows of a history; half of them are for judging.
    pub rows: usize,
    /// The most epochs of a training.
    pub epochs: usize,
}

impl Effort {
    /// This much, or with the argument `--quick` just enough to see that it runs.
    pub fn or_quick(self) -> Outcome<Self> {
        match std::env::args().nth(1).as_deref() {
            None => Ok(self),
            Some("--quick") => Ok(Self { seeds: 2, rows: 200, epochs: 4 }),
            Some(other) => Err(format!("there is no argument `{other}`: --quick or nothing").into()),
        }
    }
}

/// A linear predictor, trained for so many epochs at most.
pub fn linear(epochs: usize) -> Settings {
    let mut settings = Settings::default();
    settings.predictor.kind = PredictorKind::Linear;
    settings.predictor.layers = Vec::new();
    settings.training.epochs = epochs;
    settings
}

/// Trains every method on the history of every seed, and judges all on the same rows.
///
/// Within a seed all methods see the same rows; other seeds draw other ones.
pub fn side_by_side(
    problem: &Problem,
    predicted: &[Parameter],
    settings: &Settings,
    methods: &[&str],
    effort: Effort,
    history: impl Fn(&mut Dice, usize) -> History,
) -> Outcome<Table> {
    let placement = Placement::whole(problem, predicted);
    let mut regrets = vec![Vec::new(); methods.len()];
    for seed in 0..effort.seeds {
        let data = history(&mut Dice::new(seed), effort.rows).dataset();
        let task = Task::new(problem.clone(), placement.clone(), data, settings.clone())?;
        for (method, regrets) in methods.iter().zip(&mut regrets) {
            let name: MethodName = method.parse()?;
            let mut silent = Silent;
            let mut trainer = Trainer::new(&task, None, &mut silent)?;
            let chosen = train(&mut trainer, name, seed)?;
            let judgement = judge(&task, &chosen.candidate.fitted.model, task.test())?;
            regrets.push(judgement.measures.regret);
        }
    }
    let rows = methods.iter().map(|m| (*m).to_owned()).zip(regrets).collect();
    Ok(Table { rows })
}

/// What the others are compared with: the best prediction first, then the decision.
const TWO_STAGE: &str = "l2";

/// The regret of every method, one number a seed; shown as a table, beside the two-stage method and paired over seeds.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<(String, Vec<f64>)>,
}

impl Table {
    /// The regrets of a method; none if it is not in the table.
    pub fn regrets(&self, method: &str) -> &[f64] {
        self.rows.iter().find(|(name, _)| name == method).map_or(&[], |(_, regrets)| regrets)
    }

    /// What a method does to the regret of the two-stage one; a difference is claimed where p < 0.05.
    pub fn verdict(&self, method: &str) -> String {
        let (own, other) = (self.regrets(method), self.regrets(TWO_STAGE));
        let change = 100.0 * (mean(own) / mean(other) - 1.0);
        match paired_t(own, other) {
            Some(test) if test.n > 2 && test.p_value < 0.05 => {
                let word = if change < 0.0 { "less" } else { "more" };
                format!("{method} has {:.0} % {word} regret than {TWO_STAGE}.", change.abs())
            }
            Some(test) if test.n > 2 => {
                format!("{method} and {TWO_STAGE}: no difference beyond noise ({change:+.0} %).")
            }
            _ => format!("{method} and {TWO_STAGE}: too few seeds to tell."),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<20}{:>9}{:>9}{:>8}{:>11}{:>9}",
            "method", "regret", "± std", "ratio", "better in", "p"
        )?;
        let other = self.regrets(TWO_STAGE);
        for (method, regrets) in &self.rows {
            let std = Summary::of(regrets).ok().and_then(|s| s.std).unwrap_or(f64::NAN);
            let ratio = mean(regrets) / mean(other);
            write!(f, "{method:<20}{:>9}{:>9}{ratio:>8.2}", short(mean(regrets)), short(std))?;
            if method != TWO_STAGE {
                let better = regrets.iter().zip(other).filter(|(own, other)| own < other).count();
                let p = match paired_t(regrets, other) {
                    Some(test) if test.p_value < 0.001 => "<0.001".to_owned(),
                    Some(test) => format!("{:.3}", test.p_value),
                    None => "–".to_owned(),
                };
                write!(f, "{:>11}{p:>9}", format!("{better}/{}", regrets.len()))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Three digits or all before the point.
fn short(value: f64) -> String {
    let digits = if value.abs() >= 100.0 { 0 } else { 2 };
    format!("{value:.digits$}")
}
