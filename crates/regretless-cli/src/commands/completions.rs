//! `regretless completions`

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::output::{Exit, Outcome};

pub(crate) fn run(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "regretless", &mut script);
    Outcome::new(String::from_utf8_lossy(&script).into_owned(), Exit::Success)
}
