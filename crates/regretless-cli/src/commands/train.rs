//! `regretless train`

use std::fmt::Write;
use std::path::Path;

use regretless_learn::{Ended, Outcome as Trained};
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

fn render(run: &Run, trained: &Trained) -> Result<String, CliError> {
    let spec = run.spec()?;
    let mut out = String::new();
    let sentence = &trained.sentence;
    let first = sentence.chars().next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let rest: String = sentence.chars().skip(1).collect();
    let _ = writeln!(out, "{}.\n", wrapped(&format!("{first}{rest}"), 0));
    if trained.tried.len() > 1 {
        // Candidates of a search are judged out of fold.
        let folds = trained.tried.iter().any(|t| t.folds > 0);
        let regret = if folds { "regret out of fold" } else { "validation regret" };
        let mut header = vec!["tried", regret, "± s.e.", "epochs", "kept epoch", "seconds"];
        if folds {
            header.extend(["folds", "work"]);
        }
        let rows = trained.tried.iter().map(|t| {
            let mark = if t.name == trained.kept { "* " } else { "  " };
            let ended = if t.ended == Ended::Diverged { " (diverged)" } else { "" };
            let mut cells = vec![
                format!("{mark}{}{ended}", t.name),
                four(t.valid.regret),
                // One row has no spread.
                if t.valid.instances > 1 { four(t.valid.standard_error) } else { "–".into() },
                t.epochs.to_string(),
                t.best.to_string(),
                format!("{:.1}", t.seconds),
            ];
            if folds {
                cells.extend([t.folds.to_string(), format!("{:.1e}", t.work)]);
            }
            cells
        });
        out += &table(&header, 1, rows);
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
