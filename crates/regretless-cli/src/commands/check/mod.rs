//! `regretless check`

mod text;

use regretless_project::check::check;
use regretless_project::{Instances, Spec};

use crate::args::{CheckArgs, Format};
use crate::error::CliError;
use crate::output::{Exit, Outcome, json};

pub(crate) fn run(args: &CheckArgs) -> Result<Outcome, CliError> {
    let spec = Spec::read(&args.problem)?;
    let instances = if args.data.is_none() && !spec.predicted().is_empty() {
        Instances::history(&spec)?
    } else {
        Some(Instances::new(&spec, args.data.as_deref()).map_err(CliError::of_table("--data"))?)
    };
    let report = check(&spec, instances.as_ref(), args.data.as_deref())?;
    let text = match args.format {
        Format::Json => json(&report),
        Format::Table => text::render(&report),
    };
    Ok(Outcome::new(text, if report.passed { Exit::Success } else { Exit::Failure }))
}
