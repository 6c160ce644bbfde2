//! `regretless paper`

mod args;
mod grids;
mod hours;
mod multipliers;
mod page;
mod plan;
mod progress;
mod study;
mod table;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use regretless_paper::portfolio::Portfolio;
use regretless_paper::provisioning::Provisioning;
use regretless_paper::synthetic::Synthetic;
use regretless_paper::{Application, PaperError, Plan, Profile, Record, Results, Row, rows};
use regretless_report::StudyReport;
use serde::{Deserialize, Serialize};

pub(crate) use args::PaperArgs;
use args::{ProfileName, Study, StudyArgs};
pub(crate) use study::{plan_study, table_study, work};

use crate::args::Format;
use crate::error::CliError;
use crate::learning::threads;
use crate::output::{Exit, Outcome, json};

pub(crate) fn run(args: &PaperArgs) -> Result<Outcome, CliError> {
    match &args.study {
        Study::Multipliers(args) => multipliers::run(args),
        trained => {
            let (source, args, samples) = asked(trained)?;
            study(&*source.open()?, args, &samples)
        }
    }
}

/// Where an application comes from.
#[derive(Serialize, Deserialize)]
struct Source {
    name: Name,
    profile: Profile,
    data: Option<PathBuf>,
    phase: Option<f64>,
    smoothing: f64,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Name {
    Synthetic,
    Portfolio,
    Provisioning,
}

impl Source {
    fn open(&self) -> Result<Box<dyn Application>, PaperError> {
        let Self { name, profile, data, phase, smoothing } = self;
        Ok(match (name, data) {
            (Name::Synthetic, data) => {
                let application = match data {
                    Some(dir) => Synthetic::read(*profile, dir)?,
                    None => Synthetic::drawn(*profile, *phase)?,
                };
                Box::new(application.smoothed(*smoothing)?)
            }
            (Name::Portfolio, Some(dir)) => Box::new(Portfolio::read(*profile, dir)?),
            (Name::Portfolio, None) => Box::new(Portfolio::simulated(*profile)?),
            (Name::Provisioning, Some(dir)) => Box::new(Provisioning::read(*profile, dir)?),
            (Name::Provisioning, None) => Box::new(Provisioning::simulated(*profile, DAYS)),
        })
    }
}

/// What the options of an application with trainings ask for.
fn asked(study: &Study) -> Result<(Source, &StudyArgs, Vec<usize>), CliError> {
    let source = |name, args: &StudyArgs, data| Source {
        name,
        profile: profile(args.profile),
        data,
        phase: None,
        smoothing: 0.0,
    };
    Ok(match study {
        Study::Synthetic(args) => {
            let samples = args.samples.iter().map(|&n| n as usize).collect();
            let plain = source(Name::Synthetic, &args.study, args.study.data.clone());
            (Source { phase: args.phase, smoothing: args.smoothing, ..plain }, &args.study, samples)
        }
        Study::Portfolio(args) => {
            (source(Name::Portfolio, args, data(args.data.as_deref(), "sp500")?), args, Vec::new())
        }
        Study::Provisioning(args) => {
            (source(Name::Provisioning, args, data(args.data.as_deref(), "ercot")?), args, Vec::new())
        }
        Study::Multipliers(_) => return Err(CliError::NoTrials),
    })
}

/// Days of simulated load: as many as the real files have.
const DAYS: usize = 1321;

/// The folder with an application's data: what --data says, or the application's folder within REGRETLESS_DATA.
fn data(given: Option<&Path>, name: &str) -> Result<Option<PathBuf>, PaperError> {
    if let Some(dir) = given {
        if !dir.exists() {
            let hint = "--data names the folder with the application's files (for `multipliers` one that holds `sp500` and `ercot`); without it, data is drawn";
            let what = "there is no such folder".into();
            return Err(PaperError::File { path: dir.to_owned(), what, hint: hint.into() });
        }
        return Ok(Some(dir.to_owned()));
    }
    let Some(root) = std::env::var_os("REGRETLESS_DATA").filter(|root| !root.is_empty()) else {
        return Ok(None);
    };
    let dir = PathBuf::from(root).join(name);
    if dir.is_dir() {
        return Ok(Some(dir));
    }
    let hint = format!("REGRETLESS_DATA names a folder that holds `{name}`; unset it for simulated data");
    Err(PaperError::File { path: dir, what: "there is no such folder".into(), hint })
}

fn profile(name: ProfileName) -> Profile {
    match name {
        ProfileName::Published => Profile::Published,
        ProfileName::Sound => Profile::Sound,
    }
}

/// Runs an application as far as it is not done, and shows what there is.
fn study(application: &dyn Application, args: &StudyArgs, samples: &[usize]) -> Result<Outcome, CliError> {
    let plan = plan::plan(application, args, samples)?;
    let name = application.id().word();
    let default = || PathBuf::from(format!("paper-{name}-{}", application.profile()));
    let out = args.out.clone().unwrap_or_else(default);
    foreign(&out, "study.json")?;
    let results = Results::open(&out, application)?;
    let stop = crate::interrupt::on_ctrl_c(args.common.max_minutes);
    stop.begin();
    let interrupt = stop.flag();
    let progress = progress::Trainings::new(args.common.quiet);
    let threads = threads(args.common.threads);
    let records = regretless_paper::run(
        application,
        &plan,
        &results,
        &regretless_learn::Threads(threads),
        &progress,
        interrupt,
    );
    progress.finish();
    let records = match records {
        Ok(records) => records,
        Err(error) => {
            results.discard_if_empty();
            return Err(error.into());
        }
    };
    let outcome = show(application, &plan, &records, &out, &command(), args.common.format)?;
    let Some(mut outcome) = outcome else {
        let kept = crate::output::count(records.len(), "training");
        let remarks = format!(
            "stopped before all trainings of a seed were done, so there is no table yet: {kept} kept in {}; the same command goes on\n",
            out.display()
        );
        return Ok(Outcome { text: String::new(), remarks, exit: Exit::Failure });
    };
    if interrupt.requested() {
        outcome.remarks = format!(
            "stopped after {} trainings: the tables are of the seeds that were finished; the same command goes on\n",
            records.len()
        );
        outcome.exit = Exit::Failure;
    }
    Ok(outcome)
}

/// Writes tables and page of trainings; nothing if no seed has them all.
fn show(
    application: &dyn Application,
    plan: &Plan,
    records: &[Record],
    out: &Path,
    command: &str,
    format: Format,
) -> Result<Option<Outcome>, CliError> {
    let rows = rows(application, plan, records);
    if rows.is_empty() {
        return Ok(None);
    }
    let machine = json(&Machine {
        application: application.id().word(),
        profile: application.profile().word(),
        settings: application.settings().into_iter().collect(),
        rows: &rows,
    });
    write(&out.join(ROWS_JSON), &machine)?;
    write(&out.join(ROWS_CSV), &grids::all(&rows).csv())?;
    let page = page::page(application, &rows, plan.seeds.len(), command);
    write(&out.join(TABLES), &markdown(&page))?;
    let paths = page.write(out)?;
    let text = match format {
        Format::Json => machine,
        Format::Table => table::terminal(application, &rows, &paths.html),
    };
    Ok(Some(Outcome::new(text, Exit::Success)))
}

const ROWS_JSON: &str = "rows.json";
const ROWS_CSV: &str = "rows.csv";
const TABLES: &str = "tables.md";

/// Refuses a folder with files of these names and not the one that a study has besides: they are somebody's.
fn foreign(out: &Path, besides: &str) -> Result<(), PaperError> {
    let found =
        [ROWS_JSON, ROWS_CSV, TABLES].map(|name| out.join(name)).into_iter().find(|path| path.exists());
    match found {
        Some(path) if !out.join(besides).exists() => Err(PaperError::File {
            path,
            what: "it is there, and no study that it could be of".into(),
            hint: "choose another folder with --out".into(),
        }),
        _ => Ok(()),
    }
}

/// The command as it can be given again.
pub(crate) fn command() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=,.:/+@%".contains(c);
    let word = |arg: std::ffi::OsString| {
        let arg = arg.to_string_lossy().into_owned();
        if !arg.is_empty() && arg.chars().all(plain) {
            arg
        } else {
            format!("'{}'", arg.replace('\'', r"'\''"))
        }
    };
    let words: Vec<String> = std::env::args_os().skip(1).map(word).collect();
    format!("regretless {}", words.join(" "))
}

/// The tables of a page in Markdown.
pub(crate) fn markdown(page: &StudyReport) -> String {
    let mut text = format!("# {}\n\n{}\n", page.title, page.summary);
    for (name, value) in &page.facts {
        let _ = write!(text, "\n- {name}: {value}");
    }
    text.push('\n');
    for section in &page.sections {
        if let Some(grid) = &section.grid {
            let _ = write!(text, "\n## {}\n\n{}\n\n{}", section.title, section.text, grid.markdown());
        }
    }
    text
}

#[derive(Serialize)]
struct Machine<'a> {
    application: &'a str,
    profile: &'a str,
    settings: BTreeMap<String, String>,
    rows: &'a [Row],
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    Ok(regretless_learn::write_whole(path, text.as_bytes())?)
}
