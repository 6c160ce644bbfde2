//! What the command line accepts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "\
Exit codes:
  0  it worked: every instance has an optimum, every check passed
  1  the problem has no optimum (infeasible, unbounded, numerical trouble), or a check failed
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

/// Find the best decision for known parameters, exactly.
///
/// Prints status, objective, decision, and activity and multiplier of every row. A table with several rows is solved row
/// by row, one line each.
#[derive(Args, Debug)]
#[command(after_help = format!("{SOLVE_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct SolveArgs {
    /// The problem file (TOML)
    #[arg(value_name = "PROBLEM")]
    pub(crate) problem: PathBuf,
    /// Values of the predicted parts: a CSV file with a header, one row an instance
    #[arg(long, value_name = "FILE", alias = "data")]
    pub(crate) params: Option<PathBuf>,
    /// Solve this row of the table only, counted from 0
    #[arg(long, value_name = "N", requires = "params")]
    pub(crate) row: Option<usize>,
    /// Tables for people or JSON for machines
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
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
    /// Values of the predicted parts: a CSV file with a header, one row an instance
    #[arg(long, value_name = "FILE", alias = "params")]
    pub(crate) data: Option<PathBuf>,
    /// Tables for people or JSON for machines
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  regretless check examples/portfolio/problem.toml
  regretless check examples/farm/problem.toml --data examples/farm/prices.csv
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
