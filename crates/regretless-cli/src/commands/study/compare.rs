//! A comparison as a study.

use std::path::Path;
use std::sync::Mutex;

use regretless_learn::{Progress, StudyFolder, Threads};
use regretless_project::{Study, methods_of};

use super::args::{DoArgs, PlanCompareArgs};
use super::{Log, chosen, planned};
use crate::args::Format;
use crate::commands::compare::show;
use crate::error::CliError;
use crate::learning::{read, threads};
use crate::output::Outcome;
use crate::progress::Comparing;

pub(super) fn plan(args: &PlanCompareArgs) -> Result<Outcome, CliError> {
    let spec = read(&args.problem, args.methods.data.as_deref(), None, &args.settings)?;
    let task = spec.task()?;
    let methods = methods_of(&task, &args.methods.methods)?;
    let seeds = args.methods.seeds(spec.training().seed);
    let study = Study::plan(&args.out, &spec, &task, false, &methods, &seeds)?;
    Ok(planned(study.folder()))
}

pub(super) fn work(folder: &StudyFolder, args: &DoArgs) -> Result<Outcome, CliError> {
    let trials = chosen(folder, args)?;
    let open = trials.iter().filter(|&&i| !folder.is_done(i)).count();
    let log = Mutex::new(Log::new(folder, &trials));
    let stop = crate::interrupt::on_ctrl_c(args.max_minutes);
    stop.begin();
    let interrupt = stop.flag();
    // Data need not be read where nothing is left to do.
    if open > 0 {
        let threads = threads(args.threads);
        let study = Study::open(&args.study)?;
        let progress = Comparing::new(args.quiet);
        progress.start(open);
        let done = study.run(&trials, &Threads(threads), interrupt, &|i, done| {
            let Ok(mut log) = log.lock() else { return };
            match done {
                Ok(record) => {
                    progress.done(record);
                    log.record(i, record);
                }
                Err(error) => {
                    let trial = study.trial(i);
                    log.failed(i, &format!("{}, seed {}", trial.method, trial.seed), &error.into());
                }
            }
        });
        progress.finish();
        done?;
    }
    let log = log.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(log.outcome(interrupt.requested()))
}

pub(super) fn table(dir: &Path, out: &Path, format: Format) -> Result<Outcome, CliError> {
    let study = Study::open(dir)?;
    let comparison = study.table()?;
    if comparison.rows.is_empty() {
        return Err(CliError::NothingDone { path: dir.display().to_string() });
    }
    show(study.spec(), study.file(), study.task(), &comparison, None, out, format)
}
