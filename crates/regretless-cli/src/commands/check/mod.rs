//! `regretless check`

mod expand;
mod text;

use regretless_project::Spec;
use regretless_project::check::{Table, check};

use crate::args::{CheckArgs, Format};
use crate::error::CliError;
use crate::output::{Exit, Outcome, json};

pub(crate) fn run(args: &CheckArgs) -> Result<Outcome, CliError> {
    let spec = Spec::read(&args.problem)?;
    if args.expand {
        return expand::run(args, &spec);
    }
    let table = args.data.as_deref().map_or(Table::Named, Table::File);
    let report = check(&spec, table).map_err(CliError::of_table("--data"))?;
    let text = match args.format {
        Format::Json => json(&report),
        Format::Table => text::render(&report),
    };
    Ok(Outcome::new(text, if report.passed { Exit::Success } else { Exit::Failure }))
}
