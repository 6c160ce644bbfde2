//! From comparisons and runs to what the report shows.

use std::collections::BTreeMap;

use regretless_core::Sense;
use regretless_learn::{
    Clip, Comparison, Entry, Epoch, Exhibit, Measures, Outcome, Settings, Sharpness as K, Stop, Task,
};
use regretless_project::{Environment, Spec};
use regretless_report::{
    Activity, Charts, Comparison as Table, Curve, Distribution, Report, Row, RowActivity, Scatter, Sharpness,
};

use crate::learning::four;

/// The page of a comparison.
pub(crate) fn comparison(spec: &Spec, task: &Task, comparison: &Comparison, example: Option<&str>) -> Report {
    let rows = comparison.rows.iter().map(|r| Row {
        method: r.method.clone(),
        regret: r.regret,
        std: r.std,
        interval: r.interval,
        relative: Some(r.relative).filter(|r| r.is_finite()),
        ratio: r.ratio,
        p_two_stage: r.p_two_stage,
        p_value: r.p_value,
        wilcoxon: r.wilcoxon,
        cvar90: Some(r.cvar90),
        violation: Some(r.violation),
        mse: Some(r.mse),
        mae: Some(r.mae),
        zero_gradients: r.zero_gradients,
        seconds: r.seconds,
        seeds: r.seeds,
        best: r.best,
        note: r.note.clone(),
    });
    let exhibits: Vec<(&Entry, Exhibit)> =
        first_of_each(&comparison.entries).map(|e| (e, Exhibit::of(task, &e.judgement))).collect();
    let mut charts = Charts {
        curves: comparison.entries.iter().filter_map(|e| curve(&e.method, e.seed, &e.history)).collect(),
        sharpness: sharpness(&comparison.entries),
        ..Charts::default()
    };
    let best = comparison.rows.iter().find(|r| r.best).map(|r| r.method.as_str());
    let trained = comparison
        .rows
        .iter()
        .filter(|r| regretless_learn::is_two_stage(&r.method) && r.method != "constant");
    let two_stage = trained.min_by(|a, b| a.regret.total_cmp(&b.regret)).map(|r| r.method.as_str());
    for (entry, exhibit) in &exhibits {
        // The first seed stands for all: its rows are the same for every method.
        let all = comparison.entries.iter().filter(|e| e.method == entry.method);
        let regrets = all.flat_map(|e| e.judgement.regrets()).filter(|r| r.is_finite()).collect();
        charts.distributions.push(Distribution { method: entry.method.clone(), regrets });
        if Some(entry.method.as_str()) == best || Some(entry.method.as_str()) == two_stage {
            charts.scatters.push(scatter(&entry.method, exhibit));
            charts.activity.push(activity(&entry.method, exhibit));
        }
    }
    let [train, valid, test] = [task.train(), task.valid(), task.test()].map(<[usize]>::len);
    let mut notes: Vec<String> = comparison.warnings.iter().map(|w| format!("Warning: {w}.")).collect();
    notes.extend(comparison.notes.iter().cloned());
    notes.extend(example.map(|e| format!("This is {e}.")));
    notes.push(format!(
        "Regret is measured on the {} part; tests pair {}.",
        comparison.judged, comparison.paired
    ));
    notes.extend(
        comparison
            .entries
            .iter()
            .filter(|e| e.method == "auto")
            .map(|e| format!("auto, seed {}: {}.", e.seed, e.sentence)),
    );
    let mut problem = facts(spec);
    problem.push(("Rows".into(), format!("{train} for training, {valid} for validation, {test} for test")));
    let seeds = comparison.rows.first().map_or(0, |r| r.seeds);
    problem.push(("Seeds".into(), seeds.to_string()));
    Report {
        title: spec.name().unwrap_or("Comparison").to_owned(),
        summary: summary(comparison),
        problem,
        table: Table { rows: rows.collect(), unit: unit(spec) },
        charts,
        settings: settings(task.settings()),
        notes,
    }
}

/// A run that was trained to its end.
pub(crate) struct Finished {
    pub(crate) dir: String,
    pub(crate) spec: Spec,
    pub(crate) trained: Outcome,
    pub(crate) epochs: Vec<Epoch>,
    pub(crate) environment: Environment,
}

impl Finished {
    /// What the run is called on the page.
    fn name(&self, all: &[Self]) -> String {
        let twins = all.iter().filter(|f| f.trained.kept == self.trained.kept).count();
        if twins > 1 { format!("{} ({})", self.trained.kept, self.dir) } else { self.trained.kept.clone() }
    }
}

/// The page of finished runs.
pub(crate) fn runs(all: &[Finished]) -> Report {
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
        let kept = finished.trained.kept.trim_end_matches("+scenarios");
        let stage: Vec<Epoch> = finished.epochs.iter().filter(|e| e.stage == kept).cloned().collect();
        charts.curves.extend(curve(&name, finished.trained.seed, &stage));
        charts.distributions.push(Distribution { method: name.clone(), regrets: exhibit.regrets.clone() });
        charts.scatters.push(scatter(&name, exhibit));
        charts.activity.push(activity(&name, exhibit));
    }
    let warned = all.iter().flat_map(|f| f.trained.warnings.iter().map(|w| format!("Warning: {w}.")));
    let mut notes: Vec<String> = warned.collect();
    notes.extend(all.iter().flat_map(|f| f.trained.notes.clone()));
    notes.dedup();
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

fn summary(comparison: &Comparison) -> String {
    let rows = &comparison.rows;
    let Some(best) = rows.iter().find(|r| r.best) else { return String::new() };
    let two_stage = rows.iter().filter(|r| regretless_learn::is_two_stage(&r.method));
    let Some(rival) = two_stage.min_by(|a, b| a.regret.total_cmp(&b.regret)) else { return String::new() };
    if best.method == rival.method {
        return format!(
            "{} has the lowest regret, {}: no decision-focused method did better here.",
            best.method,
            four(best.regret)
        );
    }
    if let Some(p) = best.p_two_stage.filter(|p| *p > 0.05) {
        return format!(
            "{} has the lowest regret, {}, but no clear lead over {} with {} (p = {p:.2}), the best predictor that does not \
             look at decisions.",
            best.method,
            four(best.regret),
            rival.method,
            four(rival.regret)
        );
    }
    let less = if rival.regret > 0.0 { 100.0 * (1.0 - best.regret / rival.regret) } else { 0.0 };
    format!(
        "{} has the lowest regret, {}: {less:.1} % less than {}, the best predictor that does not look at decisions.",
        best.method,
        four(best.regret),
        rival.method
    )
}

fn first_of_each(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
    let mut seen: Vec<&str> = Vec::new();
    entries.iter().filter(move |e| {
        let new = !seen.contains(&e.method.as_str());
        seen.push(&e.method);
        new
    })
}

fn curve(method: &str, seed: u64, history: &[Epoch]) -> Option<Curve> {
    (history.len() > 1).then(|| Curve {
        method: method.to_owned(),
        seed,
        epochs: history.iter().map(|e| e.epoch as f64).collect(),
        train: Vec::new(),
        valid: history.iter().map(|e| e.valid.regret).collect(),
    })
}

fn scatter(method: &str, exhibit: &Exhibit) -> Scatter {
    Scatter {
        method: method.to_owned(),
        predicted: exhibit.predicted.clone(),
        realised: exhibit.realised.clone(),
        cost: exhibit.cost.clone(),
        label: "parameter".into(),
    }
}

fn activity(method: &str, exhibit: &Exhibit) -> Activity {
    let row = |a: &regretless_learn::Activity| RowActivity {
        name: a.name.clone(),
        slack: a.slack,
        limit: a.limit,
        violated: a.violated,
    };
    Activity { method: method.to_owned(), rows: exhibit.activity.iter().map(row).collect() }
}

/// K against regret: for each method and K the mean and deviation over seeds.
fn sharpness(entries: &[Entry]) -> Vec<Sharpness> {
    let mut methods: BTreeMap<&str, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    for entry in entries {
        for (k, regret) in &entry.sharpness {
            // Positive numbers sort as their bits do.
            methods.entry(&entry.method).or_default().entry(k.to_bits()).or_default().push(*regret);
        }
    }
    let one = |(method, ks): (&str, BTreeMap<u64, Vec<f64>>)| {
        let summaries: Vec<_> = ks
            .iter()
            .filter_map(|(k, regrets)| {
                Some((f64::from_bits(*k), regretless_learn::stats::Summary::of(regrets).ok()?))
            })
            .collect();
        Sharpness {
            method: method.to_owned(),
            k: summaries.iter().map(|(k, _)| *k).collect(),
            regret: summaries.iter().map(|(_, s)| s.mean).collect(),
            std: summaries.iter().map(|(_, s)| s.std.unwrap_or(0.0)).collect(),
        }
    };
    methods.into_iter().map(one).collect()
}

fn facts(spec: &Spec) -> Vec<(String, String)> {
    let shape = spec.problem().shape();
    let kind = if spec.problem().is_linear() { "linear" } else { "quadratic" };
    let sense = if spec.problem().sense() == Sense::Max { "maximise" } else { "minimise" };
    let predicted: Vec<String> =
        spec.predicted().iter().map(|p| format!("{} ({})", p.key, p.range.len())).collect();
    vec![
        ("Objective".into(), format!("{sense}, {kind}")),
        ("Variables".into(), shape.n.to_string()),
        ("Soft rows".into(), shape.soft.to_string()),
        ("Hard rows".into(), (shape.at_most + shape.equal).to_string()),
        ("Predicted".into(), predicted.join(", ")),
    ]
}

fn settings(settings: &Settings) -> Vec<(String, Vec<(String, String)>)> {
    let (p, t) = (&settings.predictor, &settings.training);
    let layers = p.layers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let predictor = vec![
        (
            "Kind".into(),
            if p.shared { format!("{}, shared by the variables", p.kind) } else { p.kind.to_string() },
        ),
        ("Hidden layers".into(), if layers.is_empty() { "none".into() } else { layers }),
    ];
    let training = vec![
        ("Optimiser".into(), format!("{}, learning rate {}", t.optimizer, t.learning_rate)),
        ("Epochs".into(), format!("{} at most{}", t.epochs, stop(t.stop))),
        ("Batch".into(), t.batch.to_string()),
        ("Gradients clipped".into(), clip(t.clip)),
        ("Sharpness K".into(), sharpness_of(&settings.surrogate.sharpness)),
        ("Seed".into(), t.seed.to_string()),
    ];
    vec![("Predictor".into(), predictor), ("Training".into(), training)]
}

fn stop(stop: Stop) -> String {
    match stop {
        Stop::Never => String::new(),
        Stop::Patience(epochs) => format!(", or {epochs} without a better validation regret"),
        Stop::Paper => ", or when the last four are no better than the four before".into(),
    }
}

fn clip(clip: Clip) -> String {
    match clip {
        Clip::None => "no".into(),
        Clip::Norm(most) => format!("to a norm of {most}"),
        Clip::Value(most) => format!("to ±{most}"),
    }
}

fn sharpness_of(k: &K) -> String {
    match k {
        K::Auto => "to fit the data".into(),
        K::Fixed(k) => k.to_string(),
        K::Grid(ks) => {
            let all: Vec<String> = ks.iter().map(ToString::to_string).collect();
            format!("best of {} on validation", all.join(", "))
        }
        K::Annealed(ramp) => format!("from {} to {} over {} epochs", ramp.from, ramp.to, ramp.epochs),
    }
}

fn unit(spec: &Spec) -> String {
    let what = if spec.problem().sense() == Sense::Max { "gain" } else { "cost" };
    format!("units of the {what}")
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}
