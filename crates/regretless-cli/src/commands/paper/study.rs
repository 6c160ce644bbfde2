//! An application of the paper as a study over many processes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use regretless_learn::{StudyFolder, Threads};
use regretless_paper::{Application, Cell, Contender, Origin, PaperError, Plan, Record, Trial, run_trials};
use serde::{Deserialize, Serialize};

use super::{PaperArgs, Source, asked, command, plan, show};
use crate::args::Format;
use crate::commands::study::{DoArgs, Log, chosen, planned};
use crate::error::CliError;
use crate::learning::threads;
use crate::output::Outcome;

/// The kind of a study's folder.
const KIND: &str = "paper";

/// What the study is of.
#[derive(Serialize, Deserialize)]
struct About {
    source: Source,
    origin: Origin,
    command: String,
    cells: Vec<Cell>,
    seeds: Vec<u64>,
    methods: Vec<String>,
    grid: Vec<f64>,
}

#[derive(Serialize)]
struct Work {
    #[serde(flatten)]
    cell: Cell,
    method: String,
    k: Option<f64>,
    seed: u64,
}

/// Writes down the trials of an application.
pub(crate) fn plan_study(args: &PaperArgs) -> Result<Outcome, CliError> {
    let (mut source, args, samples) = asked(&args.study)?;
    // The folder is opened from anywhere.
    source.data = source.data.map(|dir| std::path::absolute(&dir).unwrap_or(dir));
    let application = source.open()?;
    let plan = plan::plan(&*application, args, &samples)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("study"));
    let about = About {
        source,
        origin: Origin::of(&*application),
        command: command().replacen("study plan paper", "paper", 1),
        cells: plan.cells.clone(),
        seeds: plan.seeds.clone(),
        methods: plan.contenders.iter().map(|c| c.id()).collect(),
        grid: plan.grid.clone(),
    };
    let trials = plan.trials();
    let line = |trial: &Trial| {
        let work = Work { cell: trial.cell.clone(), method: trial.method(), k: trial.k(), seed: trial.seed };
        (trial.hash(&*application), work)
    };
    let lines: Vec<(String, Work)> = trials.iter().map(line).collect();
    StudyFolder::may_plan(&out)?;
    Ok(planned(&StudyFolder::plan(&out, KIND, &about, &lines)?))
}

/// An application that was planned, with its trials in the order of the folder.
struct Opened {
    application: Box<dyn Application>,
    plan: Plan,
    trials: Vec<Trial>,
    command: String,
}

fn open(folder: &StudyFolder) -> Result<Opened, CliError> {
    let about: About = folder.about()?;
    let application = about.source.open()?;
    let refused = |what: String| PaperError::File {
        path: folder.dir().to_owned(),
        what,
        hint: "bring back what was there, or plan the study again".into(),
    };
    let origin = Origin::of(&*application);
    if origin != about.origin {
        return Err(refused(about.origin.difference(&origin)).into());
    }
    let read = |name: &String| Contender::read(name, application.profile(), application.baselines());
    let contenders = about.methods.iter().map(read).collect::<Result<_, _>>()?;
    let plan = Plan { cells: about.cells, seeds: about.seeds, contenders, grid: about.grid };
    let trials = plan.trials();
    let same = |(i, trial): (usize, &Trial)| trial.hash(&*application) == folder.hash(i);
    if trials.len() != folder.len() || !trials.iter().enumerate().all(same) {
        return Err(refused("the plan's trials are not those of what it is about".into()).into());
    }
    Ok(Opened { application, plan, trials, command: about.command })
}

/// Does trials.
pub(crate) fn work(folder: &StudyFolder, args: &DoArgs) -> Result<Outcome, CliError> {
    let wanted = chosen(folder, args)?;
    let log = Mutex::new(Log::new(folder, &wanted));
    let stop = crate::interrupt::on_ctrl_c(args.max_minutes);
    stop.begin();
    let interrupt = stop.flag();
    let mut open_ones: Vec<usize> = wanted.iter().copied().filter(|&i| !folder.is_done(i)).collect();
    open_ones.sort_unstable();
    open_ones.dedup();
    if !open_ones.is_empty() {
        let threads = threads(args.threads);
        let Opened { application, plan, trials, .. } = open(folder)?;
        let trials: Vec<Trial> = open_ones.iter().map(|&i| trials[i].clone()).collect();
        let bar =
            crate::progress::bar(trials.len() as u64, args.quiet, "{bar:24} {pos}/{len} trials  {elapsed}");
        let done = run_trials(&*application, &plan, &trials, &Threads(threads), interrupt, &|at, done| {
            let i = open_ones[at];
            let written =
                done.and_then(|record| folder.write(i, &record).map_err(PaperError::from).map(|()| record));
            bar.inc(1);
            let Ok(mut log) = log.lock() else { return false };
            match written {
                Ok(r) => {
                    log.done(i, &format!("({}) {}", r.cell.size, r.method), r.seed, r.regret, r.seconds);
                    true
                }
                Err(error) => {
                    // Where one cannot be written down, the next cannot either.
                    let lost = matches!(&error, PaperError::Learn(regretless_learn::LearnError::Io { .. }));
                    let trial = &trials[at];
                    let what = format!("({}) {}, seed {}", trial.cell.size, trial.method(), trial.seed);
                    log.failed(i, &what, &error.into());
                    !lost
                }
            }
        });
        bar.finish_and_clear();
        done?;
    }
    let log = log.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(log.outcome(interrupt.requested()))
}

/// The tables and the page of what is done.
pub(crate) fn table_study(folder: &StudyFolder, out: &Path, format: Format) -> Result<Outcome, CliError> {
    let opened = open(folder)?;
    let mut records: Vec<Record> = Vec::new();
    for i in 0..folder.len() {
        records.extend(folder.result(i)?);
    }
    std::fs::create_dir_all(out)
        .map_err(|source| CliError::Write { path: out.display().to_string(), source })?;
    let shown = show(&*opened.application, &opened.plan, &records, out, &opened.command, format)?;
    shown.ok_or_else(|| CliError::NothingDone { path: folder.dir().display().to_string() })
}
