//! `regretless evaluate`

use std::sync::Arc;

use regretless_learn::Tally;
use regretless_project::{DataReader, Run, Want, read_past};

use crate::args::{EvaluateArgs, Format};
use crate::error::CliError;
use crate::learning::{aligned, measures, threads};
use crate::output::{Exit, Listed, Outcome, about, cut, json, left_out};

pub(crate) fn run(args: &EvaluateArgs) -> Result<Outcome, CliError> {
    threads(args.threads);
    let run = Run::open(&args.run)?;
    let (spec, decider) = run.decider()?;
    let mut reader =
        DataReader::stream(&spec, &args.data, Want { features: true, targets: true }, decider.card())?;
    // The table goes along in time: what came true before a row is known to it.
    if let Some(known) = decider.past() {
        let table = read_past(&args.data, known.lags(), spec.limits())?;
        reader = reader.knowing(Some(Arc::new(known.clone().followed_by(table))));
    }
    let progress = crate::progress::rows(args.format == Format::Json);
    let mut tally = Tally::default();
    let mut troubles = Listed::default();
    let mut dropped = 0;
    while let Some(chunk) = reader.next()? {
        tally.predictions(&decider.predict(&chunk.features, chunk.rows), &chunk.targets);
        let decisions = decider.evaluate(&chunk.features, &chunk.targets, &chunk.known, chunk.rows)?;
        for (line, decision) in chunk.lines.iter().zip(&decisions) {
            if let Some(trouble) = &decision.trouble {
                troubles.add(|| format!("{}: {trouble}", reader.place_of(*line)));
            }
            tally.decision(decision);
        }
        dropped += chunk.dropped;
        progress.inc(chunk.rows as u64);
    }
    progress.finish_and_clear();
    let found = tally.measures();
    let exit = if troubles.is_empty() { Exit::Success } else { Exit::Failure };
    let text = match args.format {
        Format::Json => json(&found),
        Format::Table => {
            format!("{}\n\n{}", decider.card().method, aligned(&measures(&found, &spec)))
        }
    };
    let mut outcome = Outcome::new(text, exit);
    outcome.remarks = left_out(dropped)
        + &about(&reader)
        + &cut(found.cut)
        + &troubles.render("rows without a decision or without an optimum");
    Ok(outcome)
}
