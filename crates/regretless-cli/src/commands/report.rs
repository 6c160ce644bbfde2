//! `regretless report`

use regretless_project::page::{Finished, runs};
use regretless_project::{ProjectError, Run};

use crate::args::ReportArgs;
use crate::error::CliError;
use crate::output::{Exit, Outcome};

pub(crate) fn run(args: &ReportArgs) -> Result<Outcome, CliError> {
    let read = |dir: &std::path::PathBuf| {
        let run = Run::open(dir)?;
        let mut finished = Finished::read(&run)?;
        if args.importance {
            finished.weigh_features(&run)?;
        }
        Ok::<_, ProjectError>(finished)
    };
    let shown: Vec<Finished> = args.runs.iter().map(read).collect::<Result<_, _>>()?;
    let paths = runs(&shown).write(&args.out)?;
    Ok(Outcome::new(format!("report: {}\n", paths.html.display()), Exit::Success))
}
