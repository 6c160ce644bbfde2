//! The `regretless` command: thin, one module a command.

mod args;
mod commands;
mod error;
mod interrupt;
mod learning;
mod output;
mod progress;
mod templates;
mod write;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use error::CliError;
use output::{Exit, Outcome};

fn main() -> ExitCode {
    let result = match &Cli::parse().command {
        Command::Compare(args) => commands::compare::run(args),
        Command::Train(args) => commands::train::run(args),
        Command::Decide(args) => commands::decide::run(args),
        Command::Evaluate(args) => commands::evaluate::run(args),
        Command::Report(args) => commands::report::run(args),
        Command::Paper(args) => commands::paper::run(args),
        Command::Benchmark(args) => commands::benchmark::run(args),
        Command::Study(args) => commands::study::run(args),
        Command::New(args) => commands::new::run(args),
        Command::Solve(args) => commands::solve::run(args),
        Command::Check(args) => commands::check::run(args),
        Command::Schema => Ok(commands::schema::run()),
        Command::Completions(args) => Ok(commands::completions::run(args)),
    };
    match result.and_then(|outcome| print(&outcome)) {
        Ok(exit) => exit.into(),
        // A reader that has seen enough (`| head`) is no failure.
        Err(CliError::Output(e)) if e.kind() == ErrorKind::BrokenPipe => Exit::Success.into(),
        Err(error) => {
            // Nothing is left to tell anybody if stderr is gone too.
            let _ = std::io::stderr().write_all(error.render().as_bytes());
            error.exit().into()
        }
    }
}

/// Data to stdout, remarks to stderr. A reader that has seen enough (`| head`) is no failure.
fn print(outcome: &Outcome) -> Result<Exit, CliError> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(outcome.text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(Exit::Success),
        written => written.map_err(CliError::Output)?,
    }
    let _ = std::io::stderr().write_all(outcome.remarks.as_bytes());
    Ok(outcome.exit)
}
