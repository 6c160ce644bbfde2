//! `regretless train`

use std::fmt::Write;
use std::path::Path;

use regretless_learn::{Ended, Outcome as Trained, Tried};
use regretless_project::{Overrides, Run, train_new, train_on};
use serde::Serialize;

use crate::args::{Format, TrainArgs};
use crate::error::CliError;
use crate::learning::{aligned, four, measures, names, read, threads};
use crate::output::{Exit, Outcome, json, table, wrapped};
use crate::progress::Training;

pub(crate) fn run(args: &TrainArgs) -> Result<Outcome, CliError> {
    threads(args.common.threads);
    let stop = crate::interrupt::on_ctrl_c_or_late(args.common.max_minutes);
    let mut progress = Training::new(args.common.quiet, stop);
    let trained = if let Some(dir) = &args.resume {
        train_on(dir, &mut progress)
    } else {
        // Clap asks for a problem where there is no run.
        let problem = args.problem.as_deref().unwrap_or(Path::new("problem.toml"));
        let spec = read(problem, args.data.as_deref(), args.method.as_deref(), &args.settings)?;
        let forecasts = args.forecasts.clone();
        let spec = spec.with_overrides(Overrides { forecasts, ..Overrides::default() })?;
        train_new(&spec, &args.out, &mut progress)
    };
    progress.finish();
    let (run, trained) = trained?;
    let exit = if trained.ended == Ended::Diverged { Exit::Failure } else { Exit::Success };
    let text = match args.common.format {
        Format::Json => json(&Machine { run: run.dir().display().to_string(), outcome: &trained }),
        Format::Table => render(&run, &trained)?,
    };
    Ok(Outcome::new(text, exit))
}

#[derive(Serialize)]
struct Machine<'a> {
    run: String,
    #[serde(flatten)]
    outcome: &'a Trained,
}

/// Everything that was trained on the way, beside what was kept.
fn tried(trained: &Trained) -> String {
    let name = |t: &Tried| {
        let mark = if t.name == trained.kept { "* " } else { "  " };
        format!("{mark}{}{}", t.name, if t.ended == Ended::Diverged { " (diverged)" } else { "" })
    };
    let seconds = |t: &Tried| format!("{:.1}", t.seconds);
    if trained.tried.iter().all(|t| t.folds == 0) {
        let header = ["tried", "validation regret", "± s.e.", "epochs", "kept epoch", "seconds"];
        let row = |t: &Tried| {
            // One row has no spread.
            let error = if t.valid.instances > 1 { four(t.valid.standard_error) } else { "–".into() };
            vec![name(t), four(t.valid.regret), error, t.epochs.to_string(), t.best.to_string(), seconds(t)]
        };
        return table(&header, 1, trained.tried.iter().map(row));
    }
    // Candidates of a search are judged out of fold, and not all on the same folds: what compares is the gap on those of both.
    let header =
        ["tried", "regret out of fold", "folds", "more than *", "95 % interval", "epochs", "seconds", "work"];
    let row = |t: &Tried| {
        let none = || ["–".to_owned(), "–".to_owned()];
        let [more, interval] = t.gap.map_or_else(none, |gap| {
            [signed(gap.mean), format!("{} to {}", signed(gap.interval.0), signed(gap.interval.1))]
        });
        let [folds, epochs] = [t.folds, t.epochs].map(|count| count.to_string());
        vec![
            name(t),
            four(t.valid.regret),
            folds,
            more,
            interval,
            epochs,
            seconds(t),
            format!("{:.1e}", t.work),
        ]
    };
    let legend = "regret: mean over the folds that a candidate came to; more than *: what it costs more than what was kept, \
                  on the folds of both.";
    format!("{}\n{}\n", table(&header, 1, trained.tried.iter().map(row)), wrapped(legend, 0))
}

fn signed(v: f64) -> String {
    if v > 0.0 { format!("+{}", four(v)) } else { four(v).replace('-', "−") }
}

fn render(run: &Run, trained: &Trained) -> Result<String, CliError> {
    let spec = run.spec()?;
    let mut out = String::new();
    let sentence = &trained.sentence;
    let first = sentence.chars().next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let rest: String = sentence.chars().skip(1).collect();
    let _ = writeln!(out, "{}.\n", wrapped(&format!("{first}{rest}"), 0));
    if trained.tried.len() > 1 {
        out += &tried(trained);
        out.push('\n');
    }
    let [train, valid, test] = trained.rows;
    let folds = !trained.interrupted && trained.tried.iter().any(|t| t.folds > 0);
    if folds {
        let _ = writeln!(out, "Chosen and trained on {} rows, judged on {test}.", train + valid);
    } else {
        let _ = writeln!(out, "Trained on {train} rows, chosen on {valid}, judged on {test}.");
    }
    let features = run.model()?.1.features;
    let _ = writeln!(out, "{}\n", wrapped(&format!("Features: {}.", names(&features)), 0));
    let part =
        if folds { "rows out of fold (there is no test part)" } else { "validation (there is no test part)" };
    let (part, judged) = match &trained.test {
        Some(test) => ("test", test),
        None => (part, &trained.valid),
    };
    let _ = writeln!(out, "On {part}:");
    let mut lines = measures(judged, &spec);
    lines.push(("constant predictor's regret".into(), four(trained.constant.regret)));
    if let Some(found) = &trained.calibration {
        let share = |share: f64| format!("{:.0} %", 100.0 * share);
        lines.push(("truths within half of the scenarios".into(), share(found.half)));
        lines.push(("within nine tenths of them".into(), share(found.nine_tenths)));
        lines.push((
            "mean objective expected, and realised".into(),
            format!("{}, {}", four(found.expected), four(found.realised)),
        ));
    }
    out += &aligned(&lines);
    for warning in &trained.warnings {
        let _ = writeln!(out, "\nwarning: {}", wrapped(warning, 9));
    }
    for note in &trained.notes {
        let _ = writeln!(out, "\nnote: {}", wrapped(note, 6));
    }
    let dir = run.dir().display();
    if trained.interrupted {
        let _ = writeln!(out, "\nStopped early. Go on with: regretless train --resume {dir}");
    } else {
        let _ = writeln!(
            out,
            "\nDecide for new rows: regretless decide {dir} {} FILE",
            if spec.data().is_some_and(|data| data.forecasts.is_some()) {
                "--forecasts"
            } else {
                "--features"
            }
        );
    }
    Ok(out)
}
