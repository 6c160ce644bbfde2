//! `regretless decide`

use regretless_core::{Optimum, ProblemError};
use regretless_learn::Decider;
use regretless_project::{DataReader, Run, Want};

use crate::args::{DecideArgs, Undecided};
use crate::error::CliError;
use crate::learning::threads;
use crate::output::{Exit, Listed, Outcome, left_out};
use crate::write::{Columns, Decided, Sink};

pub(crate) fn run(args: &DecideArgs) -> Result<Outcome, CliError> {
    threads(args.threads);
    let run = Run::open(&args.run)?;
    let (spec, decider) = run.decider()?;
    let mut reader = DataReader::open(&spec, &args.features, Want { features: true, targets: false })?;
    let key = spec.data().and_then(|d| d.key.clone());
    let targets = if args.predictions { decider.card().targets.as_slice() } else { &[] };
    let variables = decider.problem().variables();
    let whole = args.infeasible == Undecided::Fail;
    let expects = decider.has_scenarios();
    let columns = Columns { key: key.as_deref(), expects, variables, targets };
    let mut sink = Sink::open(args.out.as_deref(), whole, args.format, &columns)?;
    let progress = crate::progress::rows(args.out.is_none());
    let mut troubles = Listed::default();
    let mut dropped = 0;
    while let Some(chunk) = reader.next()? {
        let decisions = decider.decide(&chunk.features, chunk.rows)?;
        let predictions = decider.predict(&chunk.features, chunk.rows);
        let mut decided = Vec::with_capacity(chunk.rows);
        for (i, found) in decisions.into_iter().enumerate() {
            let prediction = &predictions[i * decider.width()..(i + 1) * decider.width()];
            let row = Decided::of(found, &decider, prediction);
            if row.status != "optimal" {
                let place = reader.place_of(chunk.lines[i]);
                if args.infeasible == Undecided::Fail {
                    return Err(CliError::Undecided {
                        place: place.to_string(),
                        why: row.status.into_owned(),
                    });
                }
                troubles.add(|| format!("{place}: {}", row.status));
            }
            decided.push(row);
        }
        let shown = if args.predictions { predictions.as_slice() } else { &[] };
        sink.write(&chunk.numbers, chunk.keys.as_deref(), &decided, shown)?;
        dropped += chunk.dropped;
        progress.inc(chunk.rows as u64);
    }
    progress.finish_and_clear();
    sink.close()?;
    let exit = if troubles.is_empty() { Exit::Success } else { Exit::Failure };
    let mut outcome = Outcome::new(String::new(), exit);
    outcome.remarks = left_out(dropped) + &troubles.render("rows without a decision");
    Ok(outcome)
}

impl Decided {
    fn of(found: Result<Optimum, ProblemError>, decider: &Decider, prediction: &[f64]) -> Self {
        let status = match found {
            Ok(optimum) if optimum.is_optimal() => {
                return Self {
                    status: "optimal".into(),
                    if_predicted: decider.objective_if_predicted(&optimum.x, prediction),
                    expected: optimum.objective,
                    x: optimum.x,
                };
            }
            Ok(optimum) => optimum.status.word().into(),
            Err(error) => error.to_string().into(),
        };
        let x = vec![f64::NAN; decider.problem().n()];
        Self { status, if_predicted: f64::NAN, expected: f64::NAN, x }
    }
}
