//! `regretless new`

use std::fmt::Write;
use std::fs;

use crate::args::NewArgs;
use crate::error::CliError;
use crate::output::{Exit, Outcome};

pub(crate) fn run(args: &NewArgs) -> Result<Outcome, CliError> {
    let dir = &args.dir;
    let path = dir.display().to_string();
    if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(CliError::NotEmpty { path });
    }
    let failed = |source| CliError::Write { path: path.clone(), source };
    fs::create_dir_all(dir).map_err(failed)?;
    let mut text = String::new();
    for (name, content) in args.template.files() {
        fs::write(dir.join(name), content).map_err(failed)?;
        let _ = writeln!(text, "  {path}/{name}");
    }
    Ok(Outcome::new(
        format!("wrote\n{text}\nnext\n  regretless compare {path}/problem.toml --out {path}/comparison\n"),
        Exit::Success,
    ))
}
