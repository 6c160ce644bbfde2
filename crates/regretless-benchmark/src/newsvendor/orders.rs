//! One order a day and series: a unit short costs the service level, one too many the rest.

use std::path::Path;
use std::sync::Arc;

use regretless_core::{Parameter, Placement};
use regretless_learn::{ErrorWeights, Part, PredictorKind, Settings};

use super::panel::Panel;
use super::{bakery, yaz};
use crate::BenchmarkError;
use crate::contender::{Contender, How};
use crate::late::Late;
use crate::saa;
use crate::suite::{Cell, Question, Suite, order};

const LEVELS: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// A table of demand.
#[derive(Debug)]
pub struct Orders {
    id: &'static str,
    title: &'static str,
    panel: Late<Panel>,
}

impl Orders {
    /// The bakery's, from a folder with `Bakery_dataset.csv.zip`.
    pub fn bakery(dir: &Path) -> Self {
        let path = dir.join("Bakery_dataset.csv.zip");
        let panel = Late::new(move || bakery::read(&path));
        Self { id: "bakery", title: "Newsvendor, bakery: 105 series", panel }
    }

    /// The restaurant's, from a folder with `ddop_yaz_data.csv.gz` and `ddop_yaz_target.csv.gz`.
    pub fn yaz(dir: &Path) -> Self {
        let dir = dir.to_owned();
        Self { id: "yaz", title: "Newsvendor, Yaz: 7 series", panel: Late::new(move || yaz::read(&dir)) }
    }
}

fn name(all_features: bool, level: f64) -> String {
    format!("features={} level={level}", if all_features { "all" } else { "calendar" })
}

fn settings() -> impl Iterator<Item = (bool, f64)> {
    [true, false].into_iter().flat_map(|all| LEVELS.map(move |level| (all, level)))
}

impl Suite for Orders {
    fn id(&self) -> &'static str {
        self.id
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn unit(&self) -> &'static str {
        "cost over that of the quantile of the series' past (SAA), mean over series, paired over days"
    }

    fn settings(&self) -> Vec<String> {
        settings().map(|(all, level)| name(all, level)).collect()
    }

    fn quick(&self) -> Vec<String> {
        if self.id == "yaz" { vec![name(true, 0.9)] } else { Vec::new() }
    }

    fn draws(&self, _: bool) -> usize {
        1
    }

    fn contenders(&self) -> Vec<Contender> {
        use PredictorKind::{Linear, Trees};
        vec![
            Contender { name: "SAA".into(), two_stage: true, how: How::Saa },
            Contender::plain("ridge l2", "l2", Linear).two_stage(),
            Contender::plain("ridge + residuals", "l2+scenarios", Linear).two_stage(),
            Contender::plain("trees quantile", "weighted-l1", Trees).two_stage(),
            Contender::plain("trees + residuals", "l2+scenarios", Trees).two_stage(),
            Contender::plain("trees + spread", "l2+scaled", Trees).two_stage(),
            Contender::auto(),
        ]
    }

    fn question(&self, cell: &Cell) -> Result<Question, BenchmarkError> {
        let Some((all, level)) = settings().find(|(all, level)| name(*all, *level) == cell.setting) else {
            return Err(BenchmarkError::Settings {
                what: format!("{} has no setting `{}`", self.id, cell.setting),
                hint: "a setting reads features=all level=0.9".into(),
            });
        };
        question(self.panel.get()?, all, level)
    }

    fn fingerprint(&self) -> Result<String, BenchmarkError> {
        Ok(self.panel.get()?.fingerprint())
    }
}

fn question(panel: &Panel, all: bool, level: f64) -> Result<Question, BenchmarkError> {
    let weights = ErrorWeights { over: 1.0 - level, under: level };
    let mut settings = Settings::default();
    settings.training.weights = weights;
    let (parts, width) = (panel.parts(), panel.series.len());
    let demand = |day: usize, series: usize| panel.demand[day * width + series];
    // What the quantile of its past costs each series; one whose past is enough for all of the test has no ratio.
    let reference = |series: usize| {
        let past = (0..parts.len()).filter(|&d| parts[d] != Part::Test).map(|d| demand(d, series));
        let order = saa::quantile(past.collect(), level);
        let test: Vec<usize> = (0..parts.len()).filter(|&d| parts[d] == Part::Test).collect();
        let costs = test.iter().map(|&d| cost(order, demand(d, series), weights));
        costs.sum::<f64>() / test.len() as f64
    };
    let references: Vec<f64> = (0..width).map(reference).collect();
    let kept = |series: &usize| references[*series] > 0.0;
    let rows: Vec<(usize, usize)> =
        (0..parts.len()).flat_map(|day| (0..width).filter(kept).map(move |s| (day, s))).collect();
    let test = || rows.iter().filter(|(day, _)| parts[*day] == Part::Test);
    let problem = order(weights)?;
    Ok(Question {
        placement: Placement::whole(&problem, &[Parameter::Limit]),
        problem,
        worth: test().map(|(_, series)| 1.0 / references[*series]).collect(),
        blocks: test().map(|(day, _)| *day as u32).collect(),
        data: Arc::new(panel.dataset(all, &rows)),
        settings,
        sides: vec![weights],
        room: Vec::new(),
        own: None,
    })
}

/// What an order costs.
pub(super) fn cost(order: f64, demand: f64, weights: ErrorWeights) -> f64 {
    f64::max(weights.under * (demand - order), weights.over * (order - demand))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::newsvendor::panel::tests::toy;

    #[test]
    fn the_quantile_of_the_past_costs_one() {
        let question = question(&toy(200), true, 0.75).unwrap();
        let predictions = saa::predictions(&question).unwrap();
        let task = question.task(Settings::default()).unwrap();
        assert_eq!((task.train().len(), task.valid().len(), task.test().len()), (240, 60, 100));
        let truths = task.targets(task.test());
        let ids: Vec<u64> = (0..100).collect();
        let batch =
            regretless_core::Batch { predictions: &predictions, truths: &truths, known: &[], ids: &ids };
        let decisions = task.regret(None).unwrap().evaluate(&batch).unwrap();
        let regrets: Vec<f64> = decisions.iter().map(|d| d.regret).collect();
        // Row by row by hand: demand is known exactly at best, so regret is the cost.
        let weights = ErrorWeights { over: 0.25, under: 0.75 };
        for ((regret, order), demand) in regrets.iter().zip(&predictions).zip(&truths) {
            assert!((regret - cost(*order, *demand, weights)).abs() < 1e-9);
        }
        let values = question.values(&regrets);
        assert_eq!(values.len(), 50);
        assert!((values.iter().sum::<f64>() / 50.0 - 1.0).abs() < 1e-9);
    }
}
