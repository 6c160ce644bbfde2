//! From records to what a page shows: a comparison here, finished runs in [`runs`].

mod account;
mod compared;
mod money;
mod runs;

use std::collections::BTreeMap;

use regretless_core::Sense;
use regretless_learn::{
    Calibration, Clip, Comparison, Ended, Epoch, Exhibit, PredictorKind, Record, Settings, Sharpness as K,
    Stop, Task, four, some_of,
};
use regretless_report::{
    Activity, Calibrated, Charts, Comparison as Table, Curve, Distribution, Report, Row, RowActivity,
    Scatter, Sharpness,
};

pub use self::account::sheets;
pub use self::compared::Compared;
pub use self::runs::{Finished, runs};
use crate::{Selection, Spec};

/// The page of a comparison.
pub fn comparison(spec: &Spec, task: &Task, comparison: &Comparison, example: Option<&str>) -> Report {
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
        at_risk: r.risk.map(|risk| (risk.score, risk.beyond)),
        violation: Some(r.violation),
        mse: Some(r.mse),
        mae: Some(r.mae),
        zero_gradients: r.zero_gradients,
        seconds: r.seconds,
        seeds: r.seeds,
        best: r.best,
        note: r.note.clone(),
    });
    let mut charts = Charts {
        // What is solved at once has no way to draw.
        curves: (comparison.records.iter().filter(|e| e.ended != Ended::Solved))
            .filter_map(|e| curve(&e.method, e.seed, &e.history))
            .collect(),
        sharpness: sharpness(&comparison.records),
        ..Charts::default()
    };
    let best = comparison.rows.iter().find(|r| r.best).map(|r| r.method.as_str());
    let trained = comparison
        .rows
        .iter()
        .filter(|r| regretless_learn::is_two_stage(&r.method) && r.method != "constant");
    let two_stage = trained.min_by(|a, b| a.rank(b)).map(|r| r.method.as_str());
    for record in first_of_each(&comparison.records) {
        // The first seed stands for all: its rows are the same for every method.
        let all = comparison.records.iter().filter(|e| e.method == record.method);
        let regrets = all.flat_map(|e| e.regrets.iter().copied()).filter(|r| r.is_finite()).collect();
        charts.distributions.push(Distribution { method: record.method.clone(), regrets });
        charts.calibration.extend(calibrated(&record.method, record.calibration.as_ref()));
        if Some(record.method.as_str()) == best || Some(record.method.as_str()) == two_stage {
            charts.scatters.push(scatter(&record.method, &record.exhibit));
            charts.activity.push(activity(&record.method, &record.exhibit));
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
            .records
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
        headline: Vec::new(),
        first: money::beside(spec, comparison).into_iter().collect(),
        sheets: money::of_best(comparison),
        charts,
        settings: settings(task.settings()),
        notes,
    }
}

fn summary(comparison: &Comparison) -> String {
    let rows = &comparison.rows;
    let Some(best) = rows.iter().find(|r| r.best) else { return String::new() };
    let two_stage = rows.iter().filter(|r| regretless_learn::is_two_stage(&r.method));
    let Some(rival) = two_stage.min_by(|a, b| a.rank(b)) else { return String::new() };
    if best.method == rival.method {
        return format!(
            "{} has the lowest regret, {}: no decision-focused method did better here.",
            best.method,
            four(best.regret)
        );
    }
    if best.undecided < rival.undecided {
        // Means over different rows are no comparison.
        return format!(
            "{} leaves the fewest rows without a decision, {}; {}, the best predictor that does not look at decisions, leaves {}.",
            best.method, best.undecided, rival.method, rival.undecided
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

/// The quantiles of scenarios beside the shares of truths below them.
fn calibrated(method: &str, found: Option<&Calibration>) -> Option<Calibrated> {
    let found = found.filter(|found| !found.shares.is_empty())?;
    let (level, share) = found.shares.iter().copied().unzip();
    Some(Calibrated { method: method.to_owned(), level, share })
}

fn first_of_each(records: &[Record]) -> impl Iterator<Item = &Record> {
    let mut seen: Vec<&str> = Vec::new();
    records.iter().filter(move |e| {
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
        short: a.short,
    };
    Activity { method: method.to_owned(), rows: exhibit.activity.iter().map(row).collect() }
}

/// K against regret: for each method and K the mean and deviation over seeds.
fn sharpness(records: &[Record]) -> Vec<Sharpness> {
    let mut methods: BTreeMap<&str, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    for record in records {
        for (k, regret) in &record.sharpness {
            // Positive numbers sort as their bits do.
            methods.entry(&record.method).or_default().entry(k.to_bits()).or_default().push(*regret);
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
    // As the user calls them: a column by its name, a pattern with how many it stands for.
    let called = |p: &&Selection| match &p.columns[..] {
        [pattern] if p.count > 1 => vec![format!("{pattern} ({})", p.count)],
        names => names.to_vec(),
    };
    let predicted: Vec<String> = spec.predicted().iter().flat_map(called).collect();
    vec![
        ("Objective".into(), format!("{sense}, {kind}")),
        ("Variables".into(), shape.n.to_string()),
        ("Soft rows".into(), shape.soft.to_string()),
        ("Hard rows".into(), (shape.at_most + shape.equal).to_string()),
        ("Predicted".into(), some_of(&predicted)),
    ]
}

fn settings(settings: &Settings) -> Vec<(String, Vec<(String, String)>)> {
    let (p, t) = (&settings.predictor, &settings.training);
    let layers = p.layers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut predictor = vec![
        (
            "Kind".into(),
            if p.shared { format!("{}, shared by the variables", p.kind) } else { p.kind.to_string() },
        ),
        if p.kind == PredictorKind::Trees {
            ("Each tree".into(), format!("{} leaves at most, depth {}", p.trees.leaves, p.trees.depth))
        } else if p.kind == PredictorKind::Linear {
            ("Form".into(), "a weighted sum of the features".into())
        } else {
            ("Hidden layers".into(), if layers.is_empty() { "none".into() } else { layers })
        },
    ];
    if p.stands_on_a_line() {
        predictor.push(("On".into(), "a line through the features, by ridge regression".into()));
    }
    let mut training: Vec<(String, String)> = if p.kind == PredictorKind::Trees {
        vec![("Learning rate".into(), t.learning_rate.to_string())]
    } else {
        vec![
            ("Optimiser".into(), format!("{}, learning rate {}", t.optimizer, t.learning_rate)),
            ("Batch".into(), t.batch.to_string()),
            ("Gradients clipped".into(), clip(t.clip)),
        ]
    };
    if let Some(risk) = t.risk {
        let all = if risk.weight < 1.0 {
            format!(", weight {}; the mean has the rest", risk.weight)
        } else {
            String::new()
        };
        training.push(("Risk".into(), format!("CVaR at {}{all}", risk.cvar)));
    }
    training.extend([
        ("Epochs".into(), format!("{} at most{}", t.epochs, stop(t.stop))),
        ("Sharpness K".into(), sharpness_of(&settings.surrogate.sharpness)),
        ("Seed".into(), t.seed.to_string()),
    ]);
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
