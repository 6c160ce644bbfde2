//! What `regretless benchmark` accepts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::{CommonArgs, EXIT_CODES};

/// Measure how good decisions are, beside baselines and published figures.
///
/// The protocol is frozen and written down in docs/quality.md. What is done is kept: a command that was stopped goes on where it
/// was when it is given again, and says what is left.
#[derive(Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct BenchmarkArgs {
    #[command(subcommand)]
    pub(crate) what: What,
}

const EXAMPLES: &str = "\
Examples:
  regretless benchmark quality --quick
  regretless benchmark quality --data DIR --max-minutes 600
  regretless benchmark quality --only 'paths n=1000 degree=8' --draws 10
  regretless benchmark quality --contenders 'linear l2,auto' --format json";

#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// The scoreboard: regret of every method on every task, paired over draws or days
    Quality(QualityArgs),
}

#[derive(Args, Debug)]
pub(crate) struct QualityArgs {
    /// The folder with the data (`spo_tables`, `newsvendor`, `ercot`, `sp500`): tasks without their data are left out. Default:
    /// REGRETLESS_DATA
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// A few settings and draws: minutes
    #[arg(long)]
    pub(crate) quick: bool,
    /// Settings with these words in their name, such as `paths` or `n=1000 degree=8`; repeat for several
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
    /// The first so many draws; by default all of the protocol
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) draws: Option<u16>,
    /// Contenders, separated by commas; by default all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) contenders: Vec<String>,
    /// A folder with forecasts of others for the same rows, each a contender more (docs/quality.md)
    #[arg(long, value_name = "DIR")]
    pub(crate) forecasts: Option<PathBuf>,
    /// Write the rows of every cell into a folder, for others to forecast, and do nothing else
    #[arg(long, value_name = "DIR", conflicts_with = "forecasts")]
    pub(crate) export: Option<PathBuf>,
    /// Where results, tables and the page go; what is done there is not done again
    #[arg(long, value_name = "DIR", default_value = "quality")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
