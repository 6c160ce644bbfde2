//! `regretless benchmark`

mod args;
mod grids;
mod page;
mod study;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use regretless_benchmark::{
    BenchmarkError, Board, Progress, Record, Results, Suite, Wanted, board, export, plan, run as run_plan,
    suites,
};
use regretless_learn::{Threads, write_whole};

pub(crate) use args::BenchmarkArgs;
use args::{QualityArgs, What};
pub(crate) use study::{KIND, plan_study, table_study, work};

use super::paper::{command, markdown};
use crate::args::Format;
use crate::error::CliError;
use crate::learning::threads;
use crate::output::{Exit, Outcome, count, json, number, wrapped};

pub(crate) fn run(args: &BenchmarkArgs) -> Result<Outcome, CliError> {
    match &args.what {
        What::Quality(args) => quality(args),
    }
}

/// The folder that --data or REGRETLESS_DATA names.
fn data(args: &QualityArgs) -> Result<Option<PathBuf>, BenchmarkError> {
    let named = std::env::var_os("REGRETLESS_DATA").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let Some(dir) = args.data.clone().or(named) else { return Ok(None) };
    if dir.is_dir() {
        return Ok(Some(dir));
    }
    let hint = "--data names the folder that holds `spo_tables`, `newsvendor`, `ercot` and `sp500`; without it only what is drawn is measured";
    Err(BenchmarkError::File { path: dir, what: "there is no such folder".into(), hint: hint.into() })
}

/// What the options ask for.
fn asked(args: &QualityArgs) -> Result<Wanted, BenchmarkError> {
    if let Some(dir) = args.forecasts.as_ref().filter(|dir| !dir.is_dir()) {
        let (what, hint) = ("there is no such folder".into(), "--export DIR writes the rows of one".into());
        return Err(BenchmarkError::File { path: dir.clone(), what, hint });
    }
    Ok(Wanted {
        quick: args.quick,
        only: args.only.clone(),
        forecasts: args.forecasts.clone(),
        draws: args.draws.map(usize::from),
        contenders: args.contenders.iter().map(|name| name.trim().to_owned()).collect(),
    })
}

fn quality(args: &QualityArgs) -> Result<Outcome, CliError> {
    let suites = suites(data(args)?.as_deref())?;
    let wanted = asked(args)?;
    let plan = plan(&suites, &wanted)?;
    if let Some(dir) = &args.export {
        let cells = count(export(&suites, &plan, dir)?, "cell");
        return Ok(Outcome::new(format!("rows of {cells} in {}\n", dir.display()), Exit::Success));
    }
    let results = Results::open(&args.out)?;
    let stop = crate::interrupt::on_ctrl_c(args.common.max_minutes);
    stop.begin();
    let threads = Threads(threads(args.common.threads));
    let bar = Bar(crate::progress::bar(0, args.common.quiet, "{bar:24} {pos}/{len}  {elapsed}  {msg}"));
    let records = run_plan(&suites, &plan, &results, &threads, &bar, stop.flag());
    bar.0.finish_and_clear();
    let records = records?;
    let board = board(&suites, &plan, &records);
    let left = (board.left > 0).then(|| {
        let (done, left) = (count(records.len(), "trial"), count(board.left, "trial"));
        let out = args.out.display();
        format!("stopped with {done} done and {left} left, kept in {out}: the same command goes on\n")
    });
    let exit = if left.is_some() { Exit::Failure } else { Exit::Success };
    let text = show(&args.out, args.common.format, &suites, &board, &command())?;
    Ok(Outcome { text, remarks: left.unwrap_or_default(), exit })
}

/// Writes tables and page, and returns what is printed; nothing is there to show before a draw is whole.
fn show(
    out: &Path,
    format: Format,
    suites: &[Box<dyn Suite>],
    board: &Board,
    command: &str,
) -> Result<String, CliError> {
    if board.rows.is_empty() {
        return Ok(String::new());
    }
    let page = page::page(suites, board, command);
    let file = |name: &str, text: &str| write_whole(&out.join(name), text.as_bytes());
    file("rows.csv", &grids::all(board).csv())?;
    file("board.json", &json(board))?;
    file("tables.md", &markdown(&page))?;
    let html = page.write(out)?.html;
    if format == Format::Json {
        return Ok(json(board));
    }
    let mut text = String::new();
    for suite in suites {
        let Some(table) = grids::terminal(suite.as_ref(), board) else { continue };
        let _ = writeln!(text, "{}: {}\n\n{table}", suite.title(), suite.unit());
    }
    let legend = "* the lowest; ± one standard error. Differences, p and Holm's p are in rows.csv, what each row cost in costs/.";
    text += &wrapped(legend, 0);
    if let Some(sentences) = board.sentences() {
        let _ = write!(text, "\n\n{}", wrapped(&sentences, 0));
    }
    let _ = write!(text, "\n\nreport: {}\n", html.display());
    Ok(text)
}

struct Bar(ProgressBar);

impl Progress for Bar {
    fn start(&self, trials: usize, done: usize) {
        self.0.set_length(trials as u64);
        self.0.set_position(done as u64);
        self.0.reset_eta();
    }

    fn done(&self, record: &Record) {
        self.0.inc(1);
        let (cell, contender) = (&record.cell, &record.contender);
        self.0.set_message(format!("{cell}, {contender}: {}", number(record.mean())));
    }
}
