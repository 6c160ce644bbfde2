//! What `regretless paper` accepts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::{CommonArgs, EXIT_CODES};

/// Run the paper's experiments, its figures beside ours.
///
/// Every cell of a table is a problem size; every method is trained with every seed. Trainings are written down one by one,
/// so that a command that was stopped goes on where it was when it is given again. A constant predictor, which looks at no
/// feature, is always among the methods.
#[derive(Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct PaperArgs {
    #[command(subcommand)]
    pub(crate) study: Study,
}

const EXAMPLES: &str = "\
Examples:
  regretless paper synthetic --quick
  regretless paper synthetic --profile published --data DIR --seeds 15
  regretless paper synthetic --sizes 80,80,40 --samples 100 --methods l1,l2,surrogate --k 0.2
  regretless paper portfolio --data DIR --sizes 50 --seeds 5
  regretless paper provisioning --full --data DIR
  regretless paper multipliers --quick";

#[derive(Debug, Subcommand)]
pub(crate) enum Study {
    /// The synthetic LP: predict the objective
    Synthetic(SyntheticArgs),
    /// Portfolio selection: predict returns and risk of equities
    Portfolio(StudyArgs),
    /// Resource provisioning: predict the load of eight regions over a day
    Provisioning(StudyArgs),
    /// How large the penalties of hard rows must be: the eigenvalue study of Theorem 6, and three rules side by side
    Multipliers(MultiplierArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// The settings of the released experiments, to be put beside the paper's tables
    Published,
    /// The same applications done properly
    Sound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PredictorName {
    /// The application's network
    Mlp,
    /// Linear in the features
    Linear,
}

#[derive(Args, Debug)]
pub(crate) struct StudyArgs {
    /// As published, or done properly
    #[arg(long, value_enum, default_value_t = ProfileName::Sound)]
    pub(crate) profile: ProfileName,
    /// A few cells and 5 seeds: minutes. The default
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// All cells and 15 seeds: hours
    #[arg(long)]
    pub(crate) full: bool,
    /// Sizes: `80,80,40` (variables, hard rows, soft rows), a number of equities, or a ratio of prices; repeat for several
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) sizes: Vec<String>,
    /// Number of seeds: the first of the profile's
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) seeds: Option<u16>,
    /// Methods, separated by commas; by default the paper's, ours and the baselines
    #[arg(long, value_name = "METHODS", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Sharpness of the surrogate; several, separated by commas
    #[arg(long, value_name = "K", value_delimiter = ',', allow_negative_numbers = true)]
    pub(crate) k: Vec<f64>,
    /// Predictors, separated by commas
    #[arg(long, value_name = "PREDICTORS", value_enum, value_delimiter = ',', default_value = "mlp")]
    pub(crate) predictor: Vec<PredictorName>,
    /// The folder with the application's data; without it, data is drawn. REGRETLESS_DATA may name a folder that holds
    /// `sp500` and `ercot`
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Where results, tables and the report go; trainings found there are not done again. Default: paper-APPLICATION-PROFILE
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SyntheticArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// Rows to train on, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    pub(crate) samples: Vec<u32>,
    /// Deviation of the phase in periods; default 0.25 in `sound`, in `published` what the paper's generator gives
    #[arg(long, value_name = "X", conflicts_with = "data", allow_negative_numbers = true)]
    pub(crate) phase: Option<f64>,
    /// Smoothed gradients for `surrogate-smooth`: of an interior-point method at this share of the objective, such as 0.3
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.0,
        hide_default_value = true,
        allow_negative_numbers = true
    )]
    pub(crate) smoothing: f64,
}

#[derive(Args, Debug)]
pub(crate) struct MultiplierArgs {
    /// Whose problems the rules are tried on: as published, or done properly
    #[arg(long, value_enum, default_value_t = ProfileName::Sound)]
    pub(crate) profile: ProfileName,
    /// Few sizes and 100 trials: a minute. The default
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// The paper's sizes, 5 to 300, and 1000 trials of each: hours
    #[arg(long)]
    pub(crate) full: bool,
    /// Sizes of the eigenvalue study, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) sizes: Vec<u16>,
    /// A folder that holds `sp500` and `ercot`; without it, data is drawn
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Where tables and the report go; sizes found there are not done again
    #[arg(long, value_name = "DIR", default_value = "paper-multipliers")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
