//! What `regretless study` accepts.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use regretless_learn::Shard;

use crate::args::{EXIT_CODES, Format, MethodArgs, SettingArgs};
use crate::commands::benchmark::BenchmarkArgs;
use crate::commands::paper::PaperArgs;

/// A comparison, a study of the paper, or the scoreboard, over many processes or machines.
///
/// `plan` writes down the trials, `do` does some of them, `table` makes tables and pages of what is done. Whoever sees the
/// folder and the data can do trials, in any order and at the same time; the numbers are those of `compare`, `paper` and `benchmark`.
#[derive(Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  regretless study plan compare problem.toml --seeds 20 --out study
  regretless study do study                                 all that is missing, on this machine
  seq 220 | parallel regretless study do study {}           one trial a process, with GNU parallel
  regretless study do study --shard $SLURM_ARRAY_TASK_ID/50   a share, in a Slurm array of 1-50
  regretless study table study";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Plan(PlanArgs),
    Do(DoArgs),
    Table(TableArgs),
}

/// Write down the trials of a study, each with a hash of all that decides what comes of it.
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(subcommand)]
    pub(crate) study: Planned,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Planned {
    Compare(PlanCompareArgs),
    Paper(PaperArgs),
    Benchmark(BenchmarkArgs),
}

/// Every method with every seed, as `regretless compare` trains them.
#[derive(Args, Debug)]
pub(crate) struct PlanCompareArgs {
    /// The problem file (TOML)
    #[arg(value_name = "PROBLEM")]
    pub(crate) problem: PathBuf,
    #[command(flatten)]
    pub(crate) methods: MethodArgs,
    /// The folder of the study: trials, results and report. Results that are there and still hold are kept
    #[arg(long, value_name = "DIR", default_value = "study")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

/// Do trials of a study: those that are named, or all. What is done is not done again.
///
/// Each result is a file of its own that is whole or not there. A trial that fails is reported, and the others go on (exit
/// code 1).
#[derive(Args, Debug)]
pub(crate) struct DoArgs {
    /// The folder of the study
    #[arg(value_name = "STUDY")]
    pub(crate) study: PathBuf,
    /// Trials: numbers counted from 1, or beginnings of their hashes in plan.jsonl
    #[arg(value_name = "TRIAL")]
    pub(crate) trials: Vec<String>,
    /// A share of the trials: 3/8 is the third of eight, dealt out in the order of hashes
    #[arg(long, value_name = "I/N", conflicts_with = "trials")]
    pub(crate) shard: Option<Shard>,
    /// Trials at a time, one thread each; the numbers do not depend on them. Default: all cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Stop after so many minutes, as Ctrl-C does: the same command goes on
    #[arg(long, value_name = "MINUTES", value_parser = crate::interrupt::minutes)]
    pub(crate) max_minutes: Option<f64>,
    /// No progress bar
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Make tables and pages of the trials that are done, and say how many are missing (exit code 1).
///
/// Seeds that lack a trial are left out, and so are methods that have none.
#[derive(Args, Debug)]
pub(crate) struct TableArgs {
    /// The folder of the study
    #[arg(value_name = "STUDY")]
    pub(crate) study: PathBuf,
    /// Where report and tables go. Default: the folder of the study
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Tables for people or JSON for machines
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}
