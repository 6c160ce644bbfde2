//! The page of finished runs.

use regretless_learn::{Epoch, Measures, Outcome, ScenarioSource};
use regretless_report::{Charts, Comparison as Table, Distribution, Report, Row};

use super::{activity, capital, curve, facts, scatter, settings, unit};
use crate::error::ProjectError;
use crate::{Environment, Run, Spec};

/// A run that was trained to its end.
#[derive(Debug)]
pub struct Finished {
    /// Where it is.
    pub dir: String,
    /// Its problem file.
    pub spec: Spec,
    /// What came of it.
    pub trained: Outcome,
    /// Every epoch.
    pub epochs: Vec<Epoch>,
    /// Where and when it was made.
    pub environment: Environment,
}

impl Finished {
    /// Reads a run.
    pub fn read(run: &Run) -> Result<Self, ProjectError> {
        Ok(Self {
            dir: run.dir().display().to_string(),
            spec: run.spec()?,
            trained: run.json("result.json")?,
            epochs: run.epochs()?,
            environment: run.environment()?,
        })
    }

    /// What the run is called on the page.
    fn name(&self, all: &[Self]) -> String {
        let twins = all.iter().filter(|f| f.trained.kept == self.trained.kept).count();
        if twins > 1 { format!("{} ({})", self.trained.kept, self.dir) } else { self.trained.kept.clone() }
    }
}

/// The page of finished runs.
pub fn runs(all: &[Finished]) -> Report {
    let judged = |f: &Finished| f.trained.test.clone().unwrap_or_else(|| f.trained.valid.clone());
    let lowest = all.iter().map(judged).min_by(Measures::rank);
    let row = |method: String, m: Measures, seconds: f64, best: bool| Row {
        method,
        regret: m.regret,
        relative: Some(m.relative).filter(|r| r.is_finite()),
        cvar90: Some(m.cvar90),
        violation: Some(m.violation),
        mse: Some(m.mse),
        mae: Some(m.mae),
        seconds,
        seeds: 1,
        best,
        ..Row::default()
    };
    let mut rows = Vec::new();
    let mut charts = Charts::default();
    if let Some(first) = all.first() {
        rows.push(row("constant".into(), first.trained.constant.clone(), 0.0, false));
    }
    for finished in all {
        let name = finished.name(all);
        let m = judged(finished);
        rows.push(row(
            name.clone(),
            m.clone(),
            finished.trained.seconds,
            lowest.as_ref().is_some_and(|best| m.rank(best).is_le()),
        ));
        let exhibit = &finished.trained.exhibit;
        let kept = finished.trained.kept.as_str();
        // What was kept may be an earlier predictor with scenarios.
        let base = kept.rsplit_once('+').filter(|(_, last)| is_source(last)).map(|(base, _)| base);
        let own = |e: &&Epoch| e.stage == kept || base.is_some_and(|base| e.stage == base);
        let stage: Vec<Epoch> = finished.epochs.iter().filter(own).cloned().collect();
        charts.curves.extend(curve(&name, finished.trained.seed, &stage));
        charts.distributions.push(Distribution { method: name.clone(), regrets: exhibit.regrets.clone() });
        charts.scatters.push(scatter(&name, exhibit));
        charts.activity.push(activity(&name, exhibit));
    }
    let warned = all.iter().flat_map(|f| f.trained.warnings.iter().map(|w| format!("Warning: {w}.")));
    let mut notes: Vec<String> = warned.collect();
    notes.extend(all.iter().flat_map(|f| f.trained.notes.clone()));
    notes.dedup();
    if all.iter().any(|f| f.trained.test.is_none()) {
        let what =
            "Without a test part the figures are of validation, which chose the predictor: they flatter it.";
        notes.push(what.into());
    }
    notes.push(
        "One training a row: for differences beyond chance use `regretless compare` with several seeds."
            .into(),
    );
    let summary = match all {
        [one] => format!("{}.", capital(&one.trained.sentence)),
        _ => String::new(),
    };
    let settings_of = |f: &Finished| {
        let mut sections = settings(f.spec.settings());
        let e = &f.environment;
        sections.push((
            format!("Run {}", f.dir),
            vec![
                ("Version".into(), e.version.clone()),
                ("Machine".into(), format!("{}, {} threads", e.system, e.threads)),
                ("Command".into(), e.command.join(" ")),
            ],
        ));
        sections
    };
    let spec = all.first().map(|f| &f.spec);
    Report {
        title: spec.and_then(|s| s.name()).unwrap_or("Runs").to_owned(),
        summary,
        problem: spec.map(facts).unwrap_or_default(),
        table: Table { rows, unit: spec.map(unit).unwrap_or_default() },
        charts,
        settings: all.iter().flat_map(settings_of).collect(),
        notes,
    }
}

/// True for the suffixes of methods with scenarios.
fn is_source(word: &str) -> bool {
    word == "scenarios" || ScenarioSource::ALL.iter().any(|source| source.word() == word)
}
