//! `regretless evaluate`

use regretless_core::Decision;
use regretless_learn::{Decider, Measures, Run};
use regretless_spec::{DataReader, Want};

use crate::args::{EvaluateArgs, Format};
use crate::error::CliError;
use crate::learning::{aligned, measures, threads};
use crate::output::{Exit, Outcome, json};

pub(crate) fn run(args: &EvaluateArgs) -> Result<Outcome, CliError> {
    threads(args.threads);
    let run = Run::open(&args.run)?;
    let decider = Decider::open(&run)?;
    let mut reader = DataReader::open(decider.spec(), &args.data, Want { features: true, targets: true })?;
    let progress = crate::progress::rows(args.format == Format::Json);
    // Of a decision only its numbers are kept: a million of them fit.
    let (mut decisions, mut squares, mut absolutes, mut entries) = (Vec::new(), 0.0, 0.0, 0_u64);
    let mut troubles: Vec<String> = Vec::new();
    while let Some(chunk) = reader.next()? {
        let predictions = decider.predict(&chunk.features, chunk.rows);
        for (p, t) in predictions.iter().zip(&chunk.targets) {
            squares += (p - t).powi(2);
            absolutes += (p - t).abs();
            entries += 1;
        }
        let judged = decider.evaluate(&chunk.features, &chunk.targets, chunk.rows)?;
        for (line, decision) in chunk.lines.iter().zip(judged) {
            if let Some(trouble) = &decision.trouble {
                troubles.push(format!("{}: {trouble}", reader.place_of(*line)));
            }
            decisions.push(Decision { x: Vec::new(), ..decision });
        }
        progress.inc(chunk.rows as u64);
    }
    progress.finish_and_clear();
    let mut found = Measures::of(&decisions, &[], &[]);
    found.mse = squares / entries.max(1) as f64;
    found.mae = absolutes / entries.max(1) as f64;
    let exit = if troubles.is_empty() { Exit::Success } else { Exit::Failure };
    let text = match args.format {
        Format::Json => json(&found),
        Format::Table => {
            format!("{}\n\n{}", decider.card().method, aligned(&measures(&found, decider.spec())))
        }
    };
    let mut outcome = Outcome::new(text, exit);
    outcome.remarks = crate::output::listed("rows without a decision or without an optimum", &troubles);
    Ok(outcome)
}
