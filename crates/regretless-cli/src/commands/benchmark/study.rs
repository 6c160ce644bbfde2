//! The scoreboard as a study over many processes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use regretless_benchmark::{Cell, Plan, Record, Suite, Trial, Wanted, board, plan, run_trials, suites};
use regretless_learn::{LearnError, StudyFolder, Threads};
use serde::{Deserialize, Serialize};

use super::args::{BenchmarkArgs, What};
use super::{asked, data, show};
use crate::args::Format;
use crate::commands::paper::command;
use crate::commands::study::{DoArgs, Log, chosen, planned};
use crate::error::CliError;
use crate::learning::threads;
use crate::output::Outcome;

/// The kind of a study's folder.
pub(crate) const KIND: &str = "quality";

/// What the study is of.
#[derive(Serialize, Deserialize)]
struct About {
    data: Option<PathBuf>,
    wanted: Wanted,
    command: String,
}

#[derive(Serialize)]
struct Work {
    #[serde(flatten)]
    cell: Cell,
    contender: String,
}

/// Writes down the trials of the scoreboard.
pub(crate) fn plan_study(args: &BenchmarkArgs) -> Result<Outcome, CliError> {
    let What::Quality(args) = &args.what;
    // The folder is opened from anywhere.
    let whole = |dir: PathBuf| std::path::absolute(&dir).unwrap_or(dir);
    let data = data(args)?.map(whole);
    let mut wanted = asked(args)?;
    wanted.forecasts = wanted.forecasts.map(whole);
    let plan = plan(&suites(data.as_deref())?, &wanted)?;
    let about = About { data, wanted, command: command().replacen("study plan benchmark", "benchmark", 1) };
    let line = |trial: &Trial| {
        let work = Work { cell: trial.cell.clone(), contender: trial.contender.name.to_string() };
        (trial.hash.clone(), work)
    };
    let work: Vec<_> = plan.trials.iter().map(line).collect();
    StudyFolder::may_plan(&args.out)?;
    Ok(planned(&StudyFolder::plan(&args.out, KIND, &about, &work)?))
}

struct Opened {
    suites: Vec<Box<dyn Suite>>,
    plan: Plan,
    command: String,
}

fn open(folder: &StudyFolder) -> Result<Opened, CliError> {
    let about: About = folder.about()?;
    let suites = suites(about.data.as_deref())?;
    let plan = plan(&suites, &about.wanted)?;
    let same = |(i, trial): (usize, &Trial)| trial.hash == folder.hash(i);
    if plan.trials.len() != folder.len() || !plan.trials.iter().enumerate().all(same) {
        return Err(LearnError::Run {
            path: folder.dir().to_owned(),
            what: "the plan's trials are not those that data and program make now".into(),
            hint: "bring back what was there, or plan the study again".into(),
        }
        .into());
    }
    Ok(Opened { suites, plan, command: about.command })
}

/// Does trials.
pub(crate) fn work(folder: &StudyFolder, args: &DoArgs) -> Result<Outcome, CliError> {
    let wanted = chosen(folder, args)?;
    let log = Mutex::new(Log::new(folder, &wanted));
    let stop = crate::interrupt::on_ctrl_c(args.max_minutes);
    stop.begin();
    let interrupt = stop.flag();
    let mut places: Vec<usize> = wanted.iter().copied().filter(|&i| !folder.is_done(i)).collect();
    places.sort_unstable();
    places.dedup();
    if !places.is_empty() {
        let threads = Threads(threads(args.threads));
        let Opened { suites, plan, .. } = open(folder)?;
        let trials: Vec<&Trial> = places.iter().map(|&i| &plan.trials[i]).collect();
        run_trials(&suites, &trials, folder.dir(), &threads, interrupt, &|at, done| {
            let i = places[at];
            let written = done.map_err(CliError::from).and_then(|record| {
                folder.write(i, &record)?;
                Ok(record)
            });
            let Ok(mut log) = log.lock() else { return false };
            let Trial { cell, contender, .. } = trials[at];
            let what = format!("{} {}, {contender}", cell.suite, cell.setting);
            match written {
                Ok(record) => {
                    log.done(i, &what, cell.draw, record.mean(), record.seconds);
                    true
                }
                Err(error) => {
                    // Where one cannot be written down, the next cannot either.
                    let lost = matches!(&error, CliError::Learn(LearnError::Io { .. }));
                    log.failed(i, &what, &error);
                    !lost
                }
            }
        })?;
    }
    let log = log.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(log.outcome(interrupt.requested()))
}

/// The board of what is done.
pub(crate) fn table_study(folder: &StudyFolder, out: &Path, format: Format) -> Result<Outcome, CliError> {
    let opened = open(folder)?;
    let mut records: Vec<Record> = Vec::new();
    for i in 0..folder.len() {
        records.extend(folder.result(i)?);
    }
    std::fs::create_dir_all(out)
        .map_err(|source| CliError::Write { path: out.display().to_string(), source })?;
    let board = board(&opened.suites, &opened.plan, &records);
    if board.rows.is_empty() {
        return Err(CliError::NothingDone { path: folder.dir().display().to_string() });
    }
    let text = show(out, format, &opened.suites, &board, &opened.command)?;
    Ok(Outcome::new(text, crate::output::Exit::Success))
}
