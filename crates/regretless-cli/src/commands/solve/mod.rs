//! `regretless solve`

mod answer;
mod table;

use regretless_core::{Oracle, Tolerances};
use regretless_project::{Instances, Parameters, Spec};

use self::answer::{Answer, Report};
use crate::args::{Format, SolveArgs};
use crate::error::CliError;
use crate::output::{Exit, Outcome, cut, json};
use crate::progress::solving;

/// Instances that are held at a time: their matrices can be large.
const CHUNK: usize = 1024;

pub(crate) fn run(args: &SolveArgs) -> Result<Outcome, CliError> {
    let spec = Spec::read(&args.problem)?;
    let instances = Instances::new(&spec, args.params.as_deref()).map_err(CliError::of_table("--params"))?;
    let problem = spec.problem();
    let oracle = Oracle::new(problem).with_tolerances(Tolerances::all(args.tolerance));
    let wanted = match args.row {
        Some(row) => row..row.saturating_add(1),
        None => 0..instances.len(),
    };
    let mut answers = Vec::new();
    let (bar, listening) = solving();
    for start in wanted.clone().step_by(CHUNK) {
        let chunk = start..wanted.end.min(start + CHUNK);
        let parameters: Vec<Parameters> =
            chunk.clone().map(|i| instances.get(i)).collect::<Result<_, _>>()?;
        let batch: Vec<_> = parameters.iter().map(Parameters::instance).collect();
        let solved = listening.run(|| oracle.solve_batch(&batch));
        for ((i, parameters), optimum) in chunk.zip(&parameters).zip(solved) {
            let mut optimum = optimum.map_err(|e| instances.refused(i, e))?;
            optimum.objective += spec.constant();
            let view = problem.view(&parameters.instance()).map_err(|e| instances.refused(i, e))?;
            answers.push(Answer::new(problem, &view, optimum, instances.row(i)));
        }
    }
    bar.finish_and_clear();
    let report = Report { name: spec.name(), problem, answers, best_effort: args.best_effort };
    let exit = if report.answers.iter().all(Answer::is_optimal) { Exit::Success } else { Exit::Failure };
    let text = match args.format {
        Format::Json => json(&report),
        Format::Table => table::render(&report),
    };
    let mut outcome = Outcome::new(text, exit);
    if args.format == Format::Table {
        outcome.remarks = table::remarks(&report) + &cut(instances.cut());
    }
    Ok(outcome)
}
