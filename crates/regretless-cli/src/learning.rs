//! What the learning commands share: settings from options, threads, and measures as a table.

use std::fmt::Write;
use std::path::Path;

use regretless_core::Sense;
use regretless_learn::{Decider, Measures, Past};
pub(crate) use regretless_learn::{four, some_of as names};
use regretless_project::{Overrides, Spec, read_past};

use crate::args::SettingArgs;
use crate::error::CliError;

/// Reads a problem file and puts the options in place of its settings.
pub(crate) fn read(
    problem: &Path,
    data: Option<&Path>,
    method: Option<&str>,
    settings: &SettingArgs,
) -> Result<Spec, CliError> {
    let spec = Spec::read(problem)?;
    if spec.predicted().is_empty() {
        return Err(CliError::NothingToLearn { file: spec.file().display().to_string() });
    }
    let overrides = Overrides {
        method: method.map(ToOwned::to_owned),
        epochs: settings.epochs,
        batch: settings.batch,
        learning_rate: settings.learning_rate,
        warmup: settings.warmup,
        mix: settings.mix,
        seed: settings.seed,
        k: settings.k.clone(),
        data: data.map(ToOwned::to_owned),
        ..Overrides::default()
    };
    let spec = spec.with_overrides(overrides)?;
    if spec.data().is_none() {
        return Err(CliError::NoData { file: spec.file().display().to_string() });
    }
    Ok(spec)
}

/// What a model that looks back knows of the past, with what came true since; `None` of another model.
pub(crate) fn known(
    decider: &Decider,
    history: Option<&Path>,
    spec: &Spec,
) -> Result<Option<Past>, CliError> {
    match (decider.past(), history) {
        (None, Some(_)) => Err(CliError::NoLags),
        (None, None) => Ok(None),
        (Some(known), None) => Ok(Some(known.clone())),
        (Some(known), Some(file)) => {
            Ok(Some(known.clone().followed_by(read_past(file, known.lags(), spec.limits())?)))
        }
    }
}

/// Refuses forecasts for a run that takes none.
pub(crate) fn expect_forecasts(spec: &Spec, forecasts: Option<&Path>) -> Result<(), CliError> {
    let takes = spec.data().is_some_and(|data| data.forecasts.is_some());
    if forecasts.is_some() && !takes { Err(CliError::NoForecasts) } else { Ok(()) }
}

/// Sets the number of threads for the whole process and returns it.
pub(crate) fn threads(wanted: Option<u16>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = wanted.map_or(cores, usize::from);
    // Fails only if it was set before, which it was not.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    threads
}

/// A p-value.
pub(crate) fn p_value(p: Option<f64>) -> String {
    match p {
        None => "–".into(),
        Some(p) if p < 0.001 => "<0.001".into(),
        Some(p) => format!("{p:.3}"),
    }
}

/// Measures, one a line.
pub(crate) fn measures(m: &Measures, spec: &Spec) -> Vec<(String, String)> {
    if m.instances == 0 {
        let undecided = format!("{}: what decisions would have cost is unknown", m.undecided);
        return vec![("without a decision".into(), undecided)];
    }
    let percent = |share: f64| {
        if share.is_finite() { format!("{:.2} %", 100.0 * share) } else { "–, it is 0".into() }
    };
    let what = if spec.problem().sense() == Sense::Max { "optimal gain" } else { "optimal cost" };
    let [q10, q50, q90, q99] = m.quantiles.map(four);
    let mean = match m.instances {
        // One instance has no spread.
        0 | 1 => four(m.regret),
        _ => format!("{} ± {} (standard error)", four(m.regret), four(m.standard_error)),
    };
    let mut lines = vec![
        ("instances".into(), m.instances.to_string()),
        ("mean regret".into(), mean),
        (format!("relative to the {what}"), percent(m.relative)),
        ("regret at 10 / 50 / 90 / 99 %".into(), format!("{q10} / {q50} / {q90} / {q99}")),
        ("mean of the worst tenth".into(), four(m.cvar90)),
    ];
    if m.violation > 0.0 {
        let violated = percent(m.violated);
        lines.push((
            "hard rows violated".into(),
            format!("{violated} of decisions, worst {}", four(m.violation)),
        ));
    }
    if let Some(risk) = &m.risk {
        lines.push((
            "objective at risk, promised and scored".into(),
            format!("{}, {}", four(risk.promised), four(risk.score)),
        ));
        lines.push(("beyond the threshold".into(), percent(risk.beyond)));
    }
    lines.push(("prediction error".into(), format!("MSE {}, MAE {}", four(m.mse), four(m.mae))));
    if m.undecided > 0 {
        lines.push(("without a decision".into(), m.undecided.to_string()));
    }
    lines
}

/// Lines of two columns.
pub(crate) fn aligned(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, value) in lines {
        let _ = writeln!(out, "  {name:width$}  {value}");
    }
    out
}
