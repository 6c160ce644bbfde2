//! What the command line accepts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use regretless_learn::{Shard, Warmup};

use crate::commands::benchmark::BenchmarkArgs;
use crate::commands::paper::PaperArgs;
use crate::commands::study::StudyArgs;
use crate::templates::Template;

pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  it worked: every instance has an optimum, every check passed
  1  no optimum, no decision, a failed check, or training that diverged
  2  bad input or usage: nothing was done, the message says what to change

Results go to stdout, messages to stderr. NO_COLOR is respected.";

/// Train predictors on the decisions they cause.
///
/// A decision problem is a TOML file with an objective, soft rows that may be broken at a price, and hard rows that must
/// hold. Parts that are not known when the decision is taken are marked { predict = "columns" } and come from a table.
#[derive(Debug, Parser)]
#[command(name = "regretless", version, after_help = EXIT_CODES, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Compare(CompareArgs),
    Train(TrainArgs),
    Decide(DecideArgs),
    Evaluate(EvaluateArgs),
    Report(ReportArgs),
    Paper(PaperArgs),
    Benchmark(BenchmarkArgs),
    Study(StudyArgs),
    New(NewArgs),
    Solve(SolveArgs),
    Check(CheckArgs),
    /// Print the JSON Schema of the problem file, for editors.
    #[command(after_help = "Example:\n  regretless schema > problem.schema.json")]
    Schema,
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  regretless completions bash > ~/.local/share/bash-completion/completions/regretless"
    )]
    Completions(CompletionsArgs),
}

/// Train with several methods and show which gives the best decisions.
///
/// Every method is trained with every seed on the same rows; the table shows the regret of its decisions on rows that were
/// not trained on. The constant predictor is always among them. Without PROBLEM, an embedded example runs: a production plan
/// whose margins are not known yet (`regretless new production DIR` writes it out).
#[derive(Args, Debug)]
#[command(after_help = format!("{COMPARE_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct CompareArgs {
    /// The problem file (TOML); the embedded example if there is none
    #[arg(value_name = "PROBLEM")]
    pub(crate) problem: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) methods: MethodArgs,
    /// Rolling origins in place of seeds: at so many moments train on what was before, judge on what came next
    #[arg(long, value_name = "N", requires = "problem", conflicts_with = "seeds", value_parser = clap::value_parser!(u16).range(3..=100))]
    pub(crate) folds: Option<u16>,
    /// Where the report goes: report.html, charts as SVG, comparison.json
    #[arg(long, value_name = "DIR", default_value = "comparison")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// What is compared on a problem.
#[derive(Args, Debug)]
pub(crate) struct MethodArgs {
    /// The table of history (CSV, CSV.gz, Parquet) in place of those the problem file names
    #[arg(long, value_name = "FILE", requires = "problem")]
    pub(crate) data: Option<PathBuf>,
    /// Methods, separated by commas; by default the usual ones that fit, and the problem file's own
    #[arg(long, value_name = "METHODS", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Number of seeds, counted from the problem file's seed
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
}

impl MethodArgs {
    /// The seeds, from the problem file's on.
    pub(crate) fn seeds(&self, first: u64) -> Vec<u64> {
        (0..self.seeds).map(|i| first.wrapping_add(i)).collect()
    }
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  regretless compare
  regretless compare problem.toml --seeds 10
  regretless compare problem.toml --folds 6
  regretless compare problem.toml --methods l2,spo+,surrogate-smooth+l2 --k 1,5,25
  regretless compare problem.toml --format json | jq '.rows[] | select(.best)'";

/// Train a predictor on the decisions it causes.
///
/// Writes a run directory: config.toml, metrics.jsonl (one line an epoch), model.safetensors, result.json, events for
/// TensorBoard. The default method `auto` compares predictors, scenarios and decision losses by what their decisions cost
/// out of fold, and trains what it chose on all rows. Ctrl-C stops with a usable run; --resume goes on.
#[derive(Args, Debug)]
#[command(after_help = format!("{TRAIN_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct TrainArgs {
    /// The problem file (TOML)
    #[arg(value_name = "PROBLEM", required_unless_present = "resume")]
    pub(crate) problem: Option<PathBuf>,
    /// Go on with a run that was stopped or killed; its own config.toml says how
    #[arg(long, value_name = "RUN", conflicts_with_all = ["problem", "out", "method", "data", "forecasts", "epochs", "batch", "learning_rate", "k", "mix", "warmup", "seed"])]
    pub(crate) resume: Option<PathBuf>,
    /// The table of history (CSV, CSV.gz, Parquet) in place of those the problem file names
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// Forecasts made elsewhere in place of a predictor: a line for each row of the table, columns named as what is predicted
    /// (name, name@0.9 for a quantile, name#1 for a sample). For training rows they must be out of fold
    #[arg(long, value_name = "FILE")]
    pub(crate) forecasts: Option<PathBuf>,
    /// Method: auto, constant, l1, l2, weighted-l1, spo+, spo+-smooth, df, surrogate, surrogate-vertex, surrogate-smooth,
    /// fenchel-young; with +l2 mixed with L2, l1, l2 and weighted-l1 with +stopped stopped on decisions, all with +scenarios, +scaled, +neighbours or +forest for decisions over scenarios
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// The run directory: new or empty
    #[arg(long, value_name = "DIR", default_value = "run")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

const TRAIN_EXAMPLES: &str = "\
Examples:
  regretless train problem.toml
  regretless train problem.toml --method spo+ --epochs 50 --out runs/spo
  regretless train problem.toml --forecasts out_of_fold.csv --method l2+scenarios
  regretless train --resume runs/spo
  tensorboard --logdir runs";

/// Settings that take the place of those of the problem file.
#[derive(Args, Debug)]
#[command(next_help_heading = "Settings in place of the problem file's")]
pub(crate) struct SettingArgs {
    /// Epochs at most
    #[arg(long, value_name = "N")]
    pub(crate) epochs: Option<usize>,
    /// Instances a step
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<usize>,
    /// Learning rate
    #[arg(long, value_name = "X")]
    pub(crate) learning_rate: Option<f64>,
    /// Sharpness of the surrogate; several, separated by commas, are tried and the best on validation kept
    #[arg(long, value_name = "K", value_delimiter = ',')]
    pub(crate) k: Option<Vec<f64>>,
    /// Weight of L2 in methods with +l2
    #[arg(long, value_name = "X")]
    pub(crate) mix: Option<f64>,
    /// Epochs of L2 before the method, or auto: all of an l2
    #[arg(long, value_name = "N")]
    pub(crate) warmup: Option<Warmup>,
    /// Seed of everything random
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// What every learning command takes.
#[derive(Args, Debug)]
pub(crate) struct CommonArgs {
    /// Threads; the numbers do not depend on them. Default: all cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Stop after so many minutes, as Ctrl-C does: with what there is
    #[arg(long, value_name = "MINUTES", value_parser = crate::interrupt::minutes)]
    pub(crate) max_minutes: Option<f64>,
    /// No progress bar
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Tables for people or JSON for machines
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Decide for new rows of features with a trained run.
///
/// Reads and writes a few thousand rows at a time, so that tables of any length fit. Decisions are exact. Each row has a
/// status; rows without a decision are reported at the end (exit code 1).
///
/// Where --out names a folder, it gets a file for each row group of a Parquet table, or for each 65,536 rows of another. Files
/// that are there are not made again, so that the same command goes on where it was stopped; with --shard many machines share
/// the work.
#[derive(Args, Debug)]
#[command(after_help = format!("{DECIDE_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct DecideArgs {
    /// The run directory
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// The table of features: CSV, CSV.gz or Parquet
    #[arg(long, value_name = "FILE", required_unless_present = "forecasts")]
    pub(crate) features: Option<PathBuf>,
    /// For a run that was trained with --forecasts: those of the new rows. Without --features nothing else is read
    #[arg(long, value_name = "FILE")]
    pub(crate) forecasts: Option<PathBuf>,
    /// For a model that looks back: a table with what came true since it was trained, or all that did
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
    /// Where the decisions go, by its ending: .csv, .jsonl or .parquet, or a folder. Default: CSV to stdout
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) out: Option<PathBuf>,
    /// A share of the work: 3/8 is the third of eight. Groups of rows are dealt out in turn. Needs a folder
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// The files in a folder
    #[arg(long, value_enum, default_value_t = Files::Parquet)]
    pub(crate) files: Files,
    /// Write the predicted parameters too
    #[arg(long)]
    pub(crate) predictions: bool,
    /// What to do with a row that has no decision: fail the command and write nothing, or mark the row and go on
    #[arg(long, value_enum, default_value_t = Undecided::Mark)]
    pub(crate) infeasible: Undecided,
    /// Into a folder: stop after so many minutes, when the file at hand is whole. The same command goes on
    #[arg(long, value_name = "MINUTES", value_parser = crate::interrupt::minutes)]
    pub(crate) max_minutes: Option<f64>,
    /// Threads. Default: all cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Without --out: CSV (table) or one JSON object a line (json)
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

impl DecideArgs {
    /// The tables that are read.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.features.iter().chain(&self.forecasts)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Files {
    /// Parquet
    Parquet,
    /// CSV
    Csv,
    /// JSON lines
    Jsonl,
}

impl Files {
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undecided {
    /// Mark the row in the output and go on
    Mark,
    /// Fail and write nothing
    Fail,
}

const DECIDE_EXAMPLES: &str = "\
Examples:
  regretless decide run --features tomorrow.csv
  regretless decide run --features tomorrow.parquet --out plan.parquet --predictions
  regretless decide run --forecasts tomorrow.csv
  regretless decide run --features year.parquet --out plans --shard $SLURM_ARRAY_TASK_ID/50";

/// Measure a trained run on new data: regret and its distribution.
#[derive(Args, Debug)]
#[command(after_help = format!("{EVALUATE_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct EvaluateArgs {
    /// The run directory
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// The table with features and true parameters: CSV, CSV.gz or Parquet. With --backtest by default that of the run
    #[arg(long, value_name = "FILE", required_unless_present = "backtest")]
    pub(crate) data: Option<PathBuf>,
    /// For a run that was trained with --forecasts: those of the rows of the table
    #[arg(long, value_name = "FILE", conflicts_with = "backtest")]
    pub(crate) forecasts: Option<PathBuf>,
    /// The columns with decisions that others took, one a variable, by name or pattern; `data.baseline` unless it is given
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) baseline: Vec<String>,
    /// The columns by which the account is told apart, besides periods and series; `data.groups` unless it is given
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) groups: Vec<String>,
    /// Train again at so many moments, each time on what was before and judged on what came next, with the settings of the run
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u16).range(2..=100))]
    pub(crate) backtest: Option<u16>,
    /// For a model that looks back: a table with what came true between its training and the rows of --data
    #[arg(long, value_name = "FILE", conflicts_with = "backtest")]
    pub(crate) history: Option<PathBuf>,
    /// With --backtest: stop after so many minutes, as Ctrl-C does: with the moments that are done
    #[arg(long, value_name = "MINUTES", requires = "backtest", value_parser = crate::interrupt::minutes)]
    pub(crate) max_minutes: Option<f64>,
    /// Say what each feature is worth: how much dearer decisions get with its column shuffled
    #[arg(long, conflicts_with = "backtest")]
    pub(crate) importance: bool,
    /// Threads. Default: all cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Tables for people or JSON for machines
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

const EVALUATE_EXAMPLES: &str = "\
Examples:
  regretless evaluate run --data last_month.csv
  regretless evaluate run --data last_month.csv --baseline 'ordered_*'
  regretless evaluate run --data last_month.csv --importance
  regretless evaluate run --backtest 5
  regretless evaluate run --data last_month.parquet --format json | jq .regret";

/// Write an HTML report of finished runs.
///
/// One self-contained file: table, regret by epoch, distribution of regret, predictions, constraint activity, settings.
#[derive(Args, Debug)]
#[command(after_help = format!("{REPORT_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct ReportArgs {
    /// Run directories
    #[arg(value_name = "RUNS", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Say what each feature is worth to decisions, which reads the run's tables and decides again with columns shuffled
    #[arg(long)]
    pub(crate) importance: bool,
    /// Where the report goes
    #[arg(long, value_name = "DIR", default_value = "report")]
    pub(crate) out: PathBuf,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  regretless report run
  regretless report run --importance
  regretless report runs/l2 runs/spo --out report";

/// Write a starter project that runs as it is.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  regretless new newsvendor shop && regretless compare shop/problem.toml")]
pub(crate) struct NewArgs {
    /// What to start from
    #[arg(value_name = "TEMPLATE", value_enum)]
    pub(crate) template: Template,
    /// The directory: new or empty
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// Find the best decision for known parameters, exactly.
///
/// Prints status, objective, decision, and activity and multiplier of every row. A table with several rows is solved row
/// by row, one line each.
#[derive(Args, Debug)]
#[command(after_help = format!("{SOLVE_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct SolveArgs {
    /// The problem file (TOML), or a model (MPS, QPS, LP, also packed with gzip)
    #[arg(value_name = "PROBLEM")]
    pub(crate) problem: PathBuf,
    /// Values of the predicted parts: CSV (also gzip) or Parquet, one row an instance
    #[arg(long, value_name = "FILE", alias = "data")]
    pub(crate) params: Option<PathBuf>,
    /// Solve this row of the table only, counted from 0
    #[arg(long, value_name = "N", requires = "params")]
    pub(crate) row: Option<usize>,
    /// What an answer has to keep to be called optimal: violation of rows, stationarity and duality gap, relative
    #[arg(long, value_name = "TOLERANCE", default_value = "1e-7", value_parser = tolerance)]
    pub(crate) tolerance: f64,
    /// Show the best point found where none keeps the tolerance
    #[arg(long)]
    pub(crate) best_effort: bool,
    /// Tables for people or JSON for machines
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "a number such as 1e-7 is expected".to_owned())?;
    if (0.0..1.0).contains(&value) { Ok(value) } else { Err("a number from 0 to 1 is expected".to_owned()) }
}

const SOLVE_EXAMPLES: &str = "\
Examples:
  regretless solve examples/farm/problem.toml --params examples/farm/prices.csv
  regretless solve examples/farm/problem.toml --params examples/farm/prices.csv --row 0
  regretless solve problem.toml --format json | jq '.instances[0].x'";

/// Validate a problem and explain it.
///
/// Sizes, convexity, feasibility, the multipliers that stand in for hard rows and why, their certificate, the surrogate,
/// and a check of its gradients against finite differences. Without --data, what depends on predicted values is left out.
#[derive(Args, Debug)]
#[command(after_help = format!("{CHECK_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct CheckArgs {
    /// The problem file (TOML)
    #[arg(value_name = "PROBLEM")]
    pub(crate) problem: PathBuf,
    /// Values of the predicted parts: CSV (also gzip) or Parquet, one row an instance
    #[arg(long, value_name = "FILE", alias = "params")]
    pub(crate) data: Option<PathBuf>,
    /// Show what a problem in algebra comes to instead: rows, counts, and one row of each written out with numbers
    #[arg(long)]
    pub(crate) expand: bool,
    /// Tables for people or JSON for machines
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  regretless check examples/portfolio/problem.toml
  regretless check examples/farm/problem.toml --data examples/farm/prices.csv
  regretless check battery/problem.toml --expand
  regretless check problem.toml --format json | jq '.checks[] | select(.verdict == \"failed\")'";

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for people
    Table,
    /// JSON for machines
    Json,
}
