//! The paper's applications, done properly, as cells of the scoreboard: the predictor is the application's own.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use regretless_paper::portfolio::Portfolio;
use regretless_paper::provisioning::Provisioning;
use regretless_paper::synthetic::Synthetic;
use regretless_paper::{Application, PaperError, Predictor, Profile};

use crate::BenchmarkError;
use crate::contender::{Contender, How};
use crate::late::Late;
use crate::suite::{Cell, Question, Suite};

/// An application with what is asked of it.
pub struct Applied {
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    /// Size, and rows to train on where that is part of a setting.
    settings: &'static [(&'static str, Option<usize>)],
    contenders: &'static [&'static str],
    application: Late<Box<dyn Application + Send>>,
}

impl fmt::Debug for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Applied").field("id", &self.id).finish_non_exhaustive()
    }
}

fn late<A: Application + Send + 'static>(
    read: impl Fn() -> Result<A, PaperError> + Send + Sync + 'static,
) -> Late<Box<dyn Application + Send>> {
    Late::new(move || Ok(Box::new(read()?) as Box<dyn Application + Send>))
}

impl Applied {
    /// The synthetic LP, which needs no files.
    pub fn lp() -> Self {
        Self {
            id: "lp",
            title: "Synthetic LP",
            unit: "regret",
            settings: &[("40,40,20", Some(100)), ("40,40,20", Some(1000)), ("80,80,40", Some(100))],
            contenders: &["constant", "l2", "l1", "spo+", "surrogate-smooth", "surrogate-smooth+l2", "auto"],
            application: late(|| Synthetic::drawn(Profile::Sound, None)),
        }
    }

    /// Resource provisioning, from a folder with the load of eight regions.
    pub fn ercot(dir: &Path) -> Self {
        let dir = dir.to_owned();
        Self {
            id: "ercot",
            title: "Resource provisioning, ERCOT",
            unit: "regret",
            settings: &[("100", None), ("1", None), ("0.01", None)],
            contenders: &[
                "constant",
                "l2",
                "weighted-l1",
                "l2+scenarios",
                "l2+scaled",
                "surrogate-smooth",
                "surrogate-smooth+l2",
                "auto",
            ],
            application: late(move || Provisioning::read(Profile::Sound, &dir)),
        }
    }

    /// Portfolios, from a folder with prices.
    pub fn portfolio(dir: &Path) -> Self {
        let dir = dir.to_owned();
        Self {
            id: "portfolio",
            title: "Portfolios",
            unit: "regret, in %",
            settings: &[("50", None), ("100", None)],
            contenders: &["constant", "l2", "l1", "df", "surrogate-smooth", "auto"],
            application: late(move || Portfolio::read(Profile::Sound, &dir)),
        }
    }

    /// The application's own cell of a setting.
    fn cell(&self, setting: &str) -> Option<regretless_paper::Cell> {
        let found = self.settings.iter().find(|(size, samples)| name(size, *samples) == setting);
        found.map(|(size, samples)| regretless_paper::Cell {
            size: (*size).into(),
            samples: *samples,
            predictor: Predictor::Mlp,
        })
    }
}

fn name(size: &str, samples: Option<usize>) -> String {
    samples.map_or_else(|| format!("size={size}"), |n| format!("n={n} size={size}"))
}

impl Suite for Applied {
    fn id(&self) -> &'static str {
        self.id
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn unit(&self) -> &'static str {
        self.unit
    }

    fn settings(&self) -> Vec<String> {
        self.settings.iter().map(|(size, samples)| name(size, *samples)).collect()
    }

    fn quick(&self) -> Vec<String> {
        // The others take minutes a training.
        if self.id == "lp" { self.settings().into_iter().take(1).collect() } else { Vec::new() }
    }

    fn draws(&self, quick: bool) -> usize {
        if quick { 3 } else { 5 }
    }

    fn contenders(&self) -> Vec<Contender> {
        let two_stage = ["constant", "l1", "l2", "weighted-l1", "l2+scenarios", "l2+scaled"];
        let contender = |&name: &&'static str| Contender {
            name: name.into(),
            two_stage: two_stage.contains(&name),
            how: How::Own,
        };
        self.contenders.iter().map(contender).collect()
    }

    fn question(&self, cell: &Cell) -> Result<Question, BenchmarkError> {
        let Some(own) = self.cell(&cell.setting) else {
            return Err(BenchmarkError::Settings {
                what: format!("{} has no setting `{}`", self.id, cell.setting),
                hint: format!("it has {}", self.settings().join(", ")),
            });
        };
        let application = self.application.get()?;
        let seeds = application.seeds(cell.draw as usize + 1);
        let Some(&seed) = seeds.get(cell.draw as usize) else {
            return Err(BenchmarkError::Settings {
                what: format!("{} has {} draws", self.id, seeds.len()),
                hint: "ask for fewer with --draws".into(),
            });
        };
        let task = application.task(&own, &application.grid(), seed)?;
        Ok(Question {
            problem: task.problem().clone(),
            placement: task.placement().clone(),
            data: Arc::new(task.data().clone()),
            settings: task.settings().clone(),
            sides: Vec::new(),
            room: Vec::new(),
            worth: vec![application.unit(); task.test().len()],
            blocks: Vec::new(),
            own: Some(Arc::new(task)),
        })
    }

    fn fingerprint(&self) -> Result<String, BenchmarkError> {
        let settings = self.application.get()?.settings();
        let lines: Vec<String> = settings.into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
        Ok(lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_the_applications_own() {
        let lp = Applied::lp();
        let setting = lp.settings()[0].clone();
        let question = lp.question(&Cell { suite: "lp".into(), setting, draw: 1 }).unwrap();
        let task = question.own.clone().unwrap();
        assert_eq!((task.problem().n(), task.train().len(), question.worth.len()), (40, 100, 1000));
        assert!(lp.question(&Cell { suite: "lp".into(), setting: "size=7".into(), draw: 0 }).is_err());
    }
}
