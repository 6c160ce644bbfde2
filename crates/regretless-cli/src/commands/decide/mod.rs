//! `regretless decide`

mod folder;

use std::path::Path;
use std::sync::Arc;

use regretless_project::{DataReader, Deciding, Run, Want};

use crate::args::{DecideArgs, Undecided};
use crate::error::CliError;
use crate::learning::{expect_forecasts, known, threads};
use crate::output::{Exit, Listed, Outcome, about, cut};
use crate::write::Sink;

pub(crate) fn run(args: &DecideArgs) -> Result<Outcome, CliError> {
    threads(args.threads);
    let run = Run::open(&args.run)?;
    let (spec, decider) = run.decider()?;
    let whole = |path: &Path| path.canonicalize().ok();
    if let Some(out) = args.out.as_deref()
        && let Some(out_whole) = whole(out)
        && args.inputs().any(|input| whole(input).as_ref() == Some(&out_whole))
    {
        return Err(CliError::OverInput { path: out.display().to_string() });
    }
    expect_forecasts(&spec, args.forecasts.as_deref())?;
    let (want, card) = (Want { features: true, targets: false }, decider.card());
    let reader = match (&args.features, &args.forecasts) {
        (Some(features), None) => DataReader::stream(&spec, features, want, card)?,
        (features, Some(forecasts)) => {
            let table = features.as_ref().unwrap_or(forecasts);
            DataReader::with_forecasts(&spec, table, forecasts, want, card)?
        }
        // Clap asks for one of the two.
        (None, None) => return Err(CliError::NoData { file: args.run.display().to_string() }),
    };
    let past = known(&decider, args.history.as_deref(), &spec)?;
    let lags = past.as_ref().map_or_else(Vec::new, |past| past.lags().names());
    let reader = reader.knowing(past.map(Arc::new));
    let key = spec.data().and_then(|d| d.key.clone()).unwrap_or_else(|| "row".to_owned());
    let head: Vec<String> = std::iter::once(key).chain(reader.labels()).collect();
    let deciding = Deciding::new(&decider, &head, args.predictions);
    let mut work = Work {
        args,
        reader,
        deciding,
        head: &head,
        progress: crate::progress::rows(args.out.is_none()),
        troubles: Listed::default(),
        cut: 0,
    };
    let (mut remarks, mut stopped) = (String::new(), false);
    if let Some(dir) = folder::wanted(args)? {
        (remarks, stopped) = folder::decide(&mut work, dir, &run)?;
    } else {
        let whole = args.infeasible == Undecided::Fail;
        let mut sink = Sink::open(args.out.as_deref(), whole, args.format, work.head, work.deciding.names())?;
        work.decide(&mut sink)?;
        sink.close()?;
    }
    work.progress.finish_and_clear();
    let exit = if work.troubles.is_empty() && !stopped { Exit::Success } else { Exit::Failure };
    let mut outcome = Outcome::new(String::new(), exit);
    outcome.remarks = remarks
        + &about(&work.reader)
        + &cut(work.cut)
        + &work.troubles.with_history("rows without a decision", &lags);
    Ok(outcome)
}

/// A table on its way through a model.
struct Work<'a> {
    args: &'a DecideArgs,
    reader: DataReader<'static>,
    deciding: Deciding<'a>,
    /// The columns that say what a decision is for: the row's name or number, its time and series.
    head: &'a [String],
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
            for (row, line) in decided.iter().zip(&chunk.lines).filter(|(row, _)| !row.is_there()) {
                let place = self.reader.place_of(*line);
                if self.args.infeasible == Undecided::Fail {
                    let why = row.status.clone();
                    return Err(CliError::Undecided { place: place.to_string(), why });
                }
                self.troubles.add(|| format!("{place}: {}", row.status));
            }
            sink.write(&chunk, &decided)?;
            self.progress.inc(chunk.rows as u64);
        }
        Ok(())
    }
}
