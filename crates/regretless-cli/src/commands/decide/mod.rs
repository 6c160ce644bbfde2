//! `regretless decide`

mod folder;

use std::path::Path;
use std::sync::Arc;

use regretless_project::{DataReader, Deciding, Run, Want, read_past};

use crate::args::{DecideArgs, Undecided};
use crate::error::CliError;
use crate::learning::threads;
use crate::output::{Exit, Listed, Outcome, about, cut};
use crate::write::Sink;

pub(crate) fn run(args: &DecideArgs) -> Result<Outcome, CliError> {
    threads(args.threads);
    let run = Run::open(&args.run)?;
    let (spec, decider) = run.decider()?;
    let whole = |path: &Path| path.canonicalize().ok();
    if let Some(out) = args.out.as_deref()
        && whole(out).is_some_and(|out| whole(&args.features) == Some(out))
    {
        return Err(CliError::OverInput { path: out.display().to_string() });
    }
    let reader =
        DataReader::stream(&spec, &args.features, Want { features: true, targets: false }, decider.card())?;
    let past = match (decider.past(), &args.history) {
        (None, Some(_)) => return Err(CliError::NoLags),
        (None, None) => None,
        (Some(known), None) => Some(Arc::new(known.clone())),
        (Some(known), Some(file)) => {
            Some(Arc::new(known.clone().followed_by(read_past(file, known.lags(), spec.limits())?)))
        }
    };
    let reader = reader.knowing(past);
    let key = spec.data().and_then(|d| d.key.clone());
    let deciding = Deciding::new(&decider, key.as_deref(), args.predictions);
    let mut work = Work {
        args,
        reader,
        deciding,
        key: key.as_deref(),
        progress: crate::progress::rows(args.out.is_none()),
        troubles: Listed::default(),
        cut: 0,
    };
    let mut remarks = String::new();
    if let Some(dir) = folder::wanted(args)? {
        remarks = folder::decide(&mut work, dir, &run)?;
    } else {
        let whole = args.infeasible == Undecided::Fail;
        let mut sink = Sink::open(args.out.as_deref(), whole, args.format, work.key, work.deciding.names())?;
        work.decide(&mut sink)?;
        sink.close()?;
    }
    work.progress.finish_and_clear();
    let exit = if work.troubles.is_empty() { Exit::Success } else { Exit::Failure };
    let mut outcome = Outcome::new(String::new(), exit);
    outcome.remarks =
        remarks + &about(&work.reader) + &cut(work.cut) + &work.troubles.render("rows without a decision");
    Ok(outcome)
}

/// A table on its way through a model.
struct Work<'a> {
    args: &'a DecideArgs,
    reader: DataReader<'static>,
    deciding: Deciding<'a>,
    key: Option<&'a str>,
    progress: indicatif::ProgressBar,
    troubles: Listed,
    /// Prices that came out negative.
    cut: usize,
}

impl Work<'_> {
    /// Decides for the rows of the table, or of the group at hand, a few thousand at a time.
    fn decide(&mut self, sink: &mut Sink) -> Result<(), CliError> {
        while let Some(chunk) = self.reader.next()? {
            let (decided, cut) = self.deciding.chunk(&chunk)?;
            self.cut += cut;
            for (row, line) in decided.iter().zip(&chunk.lines).filter(|(row, _)| !row.is_optimal()) {
                let place = self.reader.place_of(*line);
                if self.args.infeasible == Undecided::Fail {
                    let why = row.status.clone();
                    return Err(CliError::Undecided { place: place.to_string(), why });
                }
                self.troubles.add(|| format!("{place}: {}", row.status));
            }
            sink.write(&chunk.numbers, chunk.keys.as_deref(), &decided)?;
            self.progress.inc(chunk.rows as u64);
        }
        Ok(())
    }
}
