//! `regretless report`

use regretless_learn::Outcome as Trained;
use regretless_project::Run;

use crate::args::ReportArgs;
use crate::error::CliError;
use crate::output::{Exit, Outcome};
use crate::page;

pub(crate) fn run(args: &ReportArgs) -> Result<Outcome, CliError> {
    let mut shown = Vec::new();
    for dir in &args.runs {
        let run = Run::open(dir)?;
        let spec = run.spec()?;
        let trained: Trained = run.json("result.json")?;
        let epochs = run.epochs()?;
        let environment = run.environment()?;
        shown.push(page::Finished { dir: dir.display().to_string(), spec, trained, epochs, environment });
    }
    let paths = page::runs(&shown).write(&args.out)?;
    Ok(Outcome::new(format!("report: {}\n", paths.html.display()), Exit::Success))
}
