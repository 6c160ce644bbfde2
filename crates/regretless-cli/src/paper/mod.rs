//! `regretless paper`

mod args;
mod plan;
mod progress;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use regretless_paper::synthetic::Synthetic;
use regretless_paper::{Application, Profile, Results, Row, rows};
use serde::Serialize;

pub(crate) use args::PaperArgs;
use args::{ProfileName, Study, StudyArgs, SyntheticArgs};

use crate::args::Format;
use crate::error::CliError;
use crate::learning::threads;
use crate::output::{Exit, Outcome, json};

pub(crate) fn run(args: &PaperArgs) -> Result<Outcome, CliError> {
    match &args.study {
        Study::Synthetic(args) => synthetic(args),
        Study::Portfolio(_) | Study::Provisioning(_) | Study::Multipliers(_) => todo!(),
    }
}

fn profile(args: &StudyArgs) -> Profile {
    match args.profile {
        ProfileName::Published => Profile::Published,
        ProfileName::Sound => Profile::Sound,
    }
}

fn synthetic(args: &SyntheticArgs) -> Result<Outcome, CliError> {
    let profile = profile(&args.study);
    let application = match &args.study.data {
        Some(dir) => Synthetic::read(profile, dir)?,
        None => Synthetic::drawn(profile, args.phase)?,
    };
    let samples: Vec<usize> = args.samples.iter().map(|&n| n as usize).collect();
    study(&application, &args.study, &samples)
}

/// Runs an application as far as it is not done, and shows what there is.
fn study(application: &dyn Application, args: &StudyArgs, samples: &[usize]) -> Result<Outcome, CliError> {
    let plan = plan::plan(application, args, samples)?;
    let name = application.id().word();
    let default = || PathBuf::from(format!("paper-{name}-{}", application.profile()));
    let out = args.out.clone().unwrap_or_else(default);
    let results = Results::open(&out, application)?;
    let interrupt = crate::interrupt::on_ctrl_c();
    let progress = progress::Trainings::new(args.common.quiet);
    let threads = threads(args.common.threads);
    let records = regretless_paper::run(application, &plan, &results, threads, &progress, &interrupt);
    progress.finish();
    let rows = rows(application, &plan, &records?);
    if rows.is_empty() {
        return Err(CliError::Interrupted);
    }
    let machine = json(&Machine {
        application: name,
        profile: application.profile().word(),
        settings: application.settings(),
        rows: &rows,
    });
    write(&out.join("rows.json"), &machine)?;
    let text = match args.common.format {
        Format::Json => machine,
        Format::Table => table::terminal(application, &rows, &out),
    };
    Ok(Outcome::new(text, Exit::Success))
}

#[derive(Serialize)]
struct Machine<'a> {
    application: &'a str,
    profile: &'a str,
    settings: Vec<(String, String)>,
    rows: &'a [Row],
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    fs::write(path, text).map_err(|source| CliError::Write { path: path.display().to_string(), source })
}
