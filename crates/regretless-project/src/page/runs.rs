//! The page of finished runs.

use std::path::Path;

use regretless_learn::{
    Audited, Auditor, Ended, Epoch, Gap, Measures, Outcome, ScenarioSource, Tried, four, some_of,
};
use regretless_report::{
    Candidate, Cell, Charts, Comparison as Table, Distribution, Grid, Report, Row, Sheet,
};

use super::{account, activity, calibrated, capital, curve, facts, scatter, settings, unit};
use crate::error::ProjectError;
use crate::{Environment, Run, Spec};

/// A run that was trained to its end.
#[derive(Debug)]
pub struct Finished {
    /// What its directory is called.
    pub dir: String,
    /// Its problem file.
    pub spec: Spec,
    /// What came of it.
    pub trained: Outcome,
    /// Every epoch.
    pub epochs: Vec<Epoch>,
    /// Where and when it was made.
    pub environment: Environment,
    /// Of trees the share of each feature in what their splits gained.
    pub importance: Vec<(String, f64)>,
}

/// Rows that are audited for what features are worth: of more, some that are evenly spaced are kept in the end.
const WEIGHED: usize = 4096;

impl Finished {
    /// Reads a run.
    pub fn read(run: &Run) -> Result<Self, ProjectError> {
        Ok(Self {
            // Where on a machine it lies is nobody else's business.
            dir: leaf(run.dir()),
            spec: run.spec()?,
            trained: run.json("result.json")?,
            epochs: run.epochs()?,
            environment: run.environment()?,
            importance: run.importance(),
        })
    }

    /// Puts what the features are worth to decisions into the account, on the rows that the run was judged by. A run that learned from
    /// them in the end has no account, and a note instead.
    pub fn weigh_features(&mut self, run: &Run) -> Result<(), ProjectError> {
        let Some(account) = &mut self.trained.account else {
            let what = "What features are worth is not said: the model has learned from all rows. `regretless evaluate RUN --data FILE \
                        --importance` says it on rows that are new to it.";
            self.trained.notes.push(what.into());
            return Ok(());
        };
        let (spec, decider) = run.decider()?;
        let task = spec.task()?;
        let rows = if task.test().is_empty() { task.valid() } else { task.test() };
        let count = rows.len().min(WEIGHED);
        let rows: Vec<usize> = (0..count).map(|i| rows[i * rows.len() / count]).collect();
        let (features, truths, known) = (task.features(&rows), task.targets(&rows), task.known(&rows));
        let decisions = decider.evaluate(&features, &truths, &known, count)?;
        let mut auditor = Auditor::new(&decider, &[], None, false).with_importance();
        let audited = Audited { features: &features, truths: &truths, known: &known, ..Audited::default() };
        auditor.enter(&decisions, &audited)?;
        account.importance = auditor.account()?.importance;
        Ok(())
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
        at_risk: m.risk.map(|risk| (risk.score, risk.beyond)),
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
        // What is solved at once has no way to draw.
        let drawn =
            curve(&name, finished.trained.seed, &stage).filter(|_| finished.trained.ended != Ended::Solved);
        charts.curves.extend(drawn);
        charts.distributions.push(Distribution { method: name.clone(), regrets: exhibit.regrets.clone() });
        charts.scatters.push(scatter(&name, exhibit));
        charts.activity.push(activity(&name, exhibit));
        charts.calibration.extend(calibrated(&name, finished.trained.calibration.as_ref()));
        if all.len() == 1 {
            charts.search = searched(&finished.trained);
        }
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
                ("Command".into(), command(&e.command)),
            ],
        ));
        sections
    };
    let spec = all.first().map(|f| &f.spec);
    let (first, sheets) = sheets_of(all);
    let mut problem = spec.map(facts).unwrap_or_default();
    if let [one] = all {
        problem.extend(features(one));
    }
    Report {
        title: spec.and_then(|s| s.name()).unwrap_or("Runs").to_owned(),
        summary,
        problem,
        table: Table { rows, unit: spec.map(unit).unwrap_or_default() },
        headline: if let [one] = all { headline(one) } else { Vec::new() },
        first,
        sheets,
        charts,
        settings: all.iter().flat_map(settings_of).collect(),
        notes,
    }
}

/// The tables of all runs: those of money, which come first, and the others.
fn sheets_of(all: &[Finished]) -> (Vec<Sheet>, Vec<Sheet>) {
    let mut sheets: Vec<Sheet> = differences(all).into_iter().collect();
    for finished in all {
        let of = |title: &str| {
            if all.len() > 1 { format!("{title}: {}", finished.name(all)) } else { title.to_owned() }
        };
        let own = finished.trained.account.iter().flat_map(account::sheets).chain(tried(&finished.trained));
        sheets.extend(own.map(|sheet| Sheet {
            name: if all.len() > 1 { format!("{}-{}", sheet.name, finished.dir) } else { sheet.name },
            title: of(&sheet.title),
            ..sheet
        }));
    }
    sheets.into_iter().partition(|sheet| sheet.name.starts_with("money"))
}

/// What a run comes to, in a few large figures: what a decision costs, and what it is worth in place of others.
fn headline(finished: &Finished) -> Vec<(String, String, String)> {
    let Some(account) = finished.trained.account.as_ref().filter(|a| a.achieved.decisions > 0) else {
        return Vec::new();
    };
    let (money, what) = (&account.achieved, account.objective.as_str());
    let mut tiles = vec![
        (capital(&format!("{what} a decision")), four(money.mean), String::new()),
        (
            "At best, knowing all".to_owned(),
            four(money.optimal / money.decisions as f64),
            "a decision".to_owned(),
        ),
    ];
    let rivals = account.against.iter().filter(|rival| rival.decisions > 0).take(2);
    tiles.extend(rivals.map(|rival| {
        let word = if rival.advantage >= 0.0 { "Better" } else { "Worse" };
        let of = format!("{} in total", four(rival.total.abs()));
        (format!("{word} than {} by", rival.name), four(rival.advantage.abs()), of)
    }));
    tiles
}

/// True for the suffixes of methods with scenarios.
fn is_source(word: &str) -> bool {
    word == "scenarios" || ScenarioSource::ALL.iter().any(|source| source.word() == word)
}

/// The last part of a path.
fn leaf(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A command line without the folders of the machine it ran on.
fn command(words: &[String]) -> String {
    let short = |word: &String| {
        let (option, value) = word.split_once('=').filter(|_| word.starts_with('-')).unwrap_or(("", word));
        let value = if Path::new(value).is_absolute() { leaf(Path::new(value)) } else { value.to_owned() };
        if option.is_empty() { value } else { format!("{option}={value}") }
    };
    words.iter().map(short).collect::<Vec<_>>().join(" ")
}

/// What a model looks at, and what of the table it does not.
fn features(finished: &Finished) -> Vec<(String, String)> {
    let trained = &finished.trained;
    let mut facts = Vec::new();
    let mut fact = |name: &str, names: &[String]| {
        if !names.is_empty() {
            facts.push((name.to_owned(), some_of(names)));
        }
    };
    let idle: Vec<String> =
        finished.importance.iter().filter(|(_, share)| *share <= 0.0).map(|(name, _)| name.clone()).collect();
    let used: Vec<String> = trained.features.iter().filter(|name| !idle.contains(name)).cloned().collect();
    fact("Features", &used);
    fact("Features that no tree splits by", &idle);
    fact("Columns not used", &trained.unused);
    facts
}

/// The candidates of a search, those of fewer folds where they stand beside what was kept: some folds are dearer than others.
fn searched(trained: &Outcome) -> Vec<Candidate> {
    let kept = trained.tried.iter().find(|t| t.name == trained.kept).map(|t| t.valid.regret);
    let of_folds = trained.tried.iter().filter(|t| t.folds > 0);
    let one = |t: &Tried| Candidate {
        name: t.name.clone(),
        work: t.work,
        regret: t.gap.zip(kept).map_or(t.valid.regret, |(gap, kept)| kept + gap.mean),
        error: t.valid.standard_error,
        kept: t.name == trained.kept,
    };
    of_folds.map(one).collect()
}

/// Everything that was trained on the way.
fn tried(trained: &Outcome) -> Option<Sheet> {
    let of_folds = trained.tried.iter().any(|t| t.folds > 0);
    let signed = |v: f64| four(v).replace('-', "−");
    let row = |(place, t): (usize, &Tried)| -> Vec<Cell> {
        let kept = t.name == trained.kept;
        let ended = match t.ended {
            Ended::LastEpoch => "at the last epoch",
            Ended::NoProgress => "without progress",
            Ended::Solved => "solved at once",
            Ended::Interrupted => "interrupted",
            Ended::Diverged => "diverged",
            Ended::Nothing => "nothing to train",
        };
        let error = if t.valid.instances > 1 { four(t.valid.standard_error) } else { "–".into() };
        let number = if of_folds { format!("{}. ", place + 1) } else { String::new() };
        let name = format!("{number}{}", t.name);
        let name = if kept { Cell::best(format!("{name} (kept)")) } else { name.into() };
        let k = t.k.map_or_else(|| "–".to_owned(), four);
        let mut rest = vec![k, four(t.valid.regret), error];
        if of_folds {
            let (gap, interval) = match &t.gap {
                Some(Gap { mean, interval: (low, high) }) => {
                    (signed(*mean), format!("{} to {}", signed(*low), signed(*high)))
                }
                None => ("–".into(), "–".into()),
            };
            rest.extend([gap, interval, t.folds.to_string(), format!("{:.1e}", t.work)]);
        }
        rest.extend([t.epochs.to_string(), t.best.to_string(), format!("{:.1}", t.seconds)]);
        std::iter::once(name).chain(rest.into_iter().map(Cell::from)).chain([ended.into()]).collect()
    };
    (trained.tried.len() > 1).then(|| {
        let regret = if of_folds { "regret out of fold" } else { "validation regret" };
        let mut header = vec!["predictor", "K", regret, "± standard error"];
        if of_folds {
            header.extend(["more than what was kept", "95 % interval", "folds", "work"]);
        }
        header.extend(["epochs", "epoch kept", "seconds", "ended"]);
        let lead = if of_folds {
            "In the order of the search. Each is judged on rows that it did not learn from; those with fewer folds than the others were \
             behind, and did not go on. What a candidate costs more than what was kept is of the folds of both. The interval does not \
             count that the search looked for the lowest. Work is counted, not measured: a unit is about a nanosecond of one core, \
             on every machine the same."
        } else {
            "In the order of training. What is kept is chosen on validation; the figures above are of rows that no choice saw, \
             where there is a test part."
        };
        Sheet {
            name: "tried".into(),
            title: if of_folds { "The candidates" } else { "Everything that was tried" }.into(),
            lead: lead.into(),
            grid: Grid {
                header: header.into_iter().map(str::to_owned).collect(),
                labels: 1,
                rows: trained.tried.iter().enumerate().map(row).collect(),
            },
        }
    })
}

/// The settings in which runs differ, a column a run.
fn differences(all: &[Finished]) -> Option<Sheet> {
    let told = |f: &Finished| -> Vec<(String, String)> {
        let [train, valid, test] = f.trained.rows;
        let mut own = vec![
            ("Method".to_owned(), f.trained.method.clone()),
            ("Rows (training, validation, test)".to_owned(), format!("{train}, {valid}, {test}")),
            ("Features".to_owned(), some_of(&f.trained.features)),
            ("Version".to_owned(), f.environment.version.clone()),
        ];
        own.extend(facts(&f.spec));
        own.extend(settings(f.spec.settings()).into_iter().flat_map(|(_, own)| own));
        own
    };
    let each: Vec<Vec<(String, String)>> = all.iter().map(told).collect();
    let mut keys: Vec<&String> = Vec::new();
    for (key, _) in each.iter().flatten() {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let value = |own: &[(String, String)], key: &String| {
        own.iter().find(|(name, _)| name == key).map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
    };
    let rows: Vec<Vec<Cell>> = keys
        .into_iter()
        .map(|key| (key, each.iter().map(|own| value(own, key)).collect::<Vec<String>>()))
        .filter(|(_, values)| values.windows(2).any(|pair| pair[0] != pair[1]))
        .map(|(key, values)| {
            std::iter::once(key.clone().into()).chain(values.into_iter().map(Cell::from)).collect()
        })
        .collect();
    let header = std::iter::once("setting".to_owned()).chain(all.iter().map(|f| f.name(all))).collect();
    (all.len() > 1 && !rows.is_empty()).then(|| Sheet {
        name: "differences".into(),
        title: "How the runs differ".into(),
        lead: "Settings that are the same in all of them are left out.".into(),
        grid: Grid { header, labels: 1, rows },
    })
}
