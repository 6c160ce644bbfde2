//! `train` from beginning to end: read, train, judge, write down.

use std::path::Path;

use regretless_learn::{Observer, Outcome, Task, train_task};

use crate::error::ProjectError;
use crate::{Overrides, Run, Spec};

/// Starts a run in `dir` and trains it to the end.
pub fn train_new(
    spec: &Spec,
    dir: &Path,
    observer: &mut dyn Observer,
) -> Result<(Run, Outcome), ProjectError> {
    let (data, columns) = spec.read_columns()?;
    // New tables may have more columns: the features of this one are what the model knows.
    let features = Some(columns.selectors).filter(|f| !f.is_empty());
    let spec = spec.clone().with_overrides(Overrides { features, ..Overrides::default() })?;
    let task = spec.task_of(data)?;
    task.check(spec.training().method)?;
    let run = Run::create(dir, &spec)?;
    let outcome = go(&task, &run, observer)?;
    Ok((run, outcome))
}

/// Takes up a run that was stopped or killed, and trains it to the end.
pub fn train_on(dir: &Path, observer: &mut dyn Observer) -> Result<(Run, Outcome), ProjectError> {
    let run = Run::resume(dir)?;
    let task = run.spec()?.task()?;
    let outcome = go(&task, &run, observer)?;
    Ok((run, outcome))
}

fn go(task: &Task, run: &Run, observer: &mut dyn Observer) -> Result<Outcome, ProjectError> {
    let trained = train_task(task, Some(&run.stages()?), observer)?;
    run.write_model(&trained.model, &trained.card)?;
    run.write_rivals(&trained.rivals)?;
    run.write_outcome(&trained.outcome)?;
    Ok(trained.outcome)
}
