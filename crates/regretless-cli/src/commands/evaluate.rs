//! `regretless evaluate`

use std::path::Path;
use std::sync::Arc;

use regretless_learn::{Account, Audited, Auditor, Measures, Tally, some_of};
use regretless_project::page::sheets;
use regretless_project::{DataReader, Overrides, Run, Want, read_past};
use serde::Serialize;

use crate::args::{EvaluateArgs, Format};
use crate::commands::backtest;
use crate::error::CliError;
use crate::learning::{aligned, expect_forecasts, known, measures, threads};
use crate::output::{Exit, Listed, Outcome, about, cut, json, left_out, table, wrapped};

/// For machines: measures as they always were, and the account.
#[derive(Serialize)]
struct Machine<'a> {
    #[serde(flatten)]
    measures: &'a Measures,
    account: &'a Account,
}

pub(crate) fn run(args: &EvaluateArgs) -> Result<Outcome, CliError> {
    threads(args.threads);
    let run = Run::open(&args.run)?;
    match (&args.data, args.backtest) {
        (_, Some(folds)) => backtest::run(args, &run, usize::from(folds)),
        (Some(data), None) => judge(args, &run, data),
        // Clap asks for one of the two.
        (None, None) => Err(CliError::NoData { file: args.run.display().to_string() }),
    }
}

fn judge(args: &EvaluateArgs, run: &Run, data: &Path) -> Result<Outcome, CliError> {
    let (spec, decider) = run.decider()?;
    let rivals = run.rivals(&spec)?;
    let given = Some(args.baseline.clone()).filter(|columns| !columns.is_empty());
    let (spec, lacking) = if given.is_some() {
        (spec.with_overrides(Overrides { baseline: given, ..Overrides::default() })?, None)
    } else {
        // A table that lacks the columns the problem names has no baseline; one asked for here has to be there.
        spec.baseline_if_there(data)?
    };
    let groups = Some(args.groups.clone()).filter(|columns| !columns.is_empty());
    let spec = spec.with_overrides(Overrides { groups, ..Overrides::default() })?;
    let want = Want { features: true, targets: true };
    expect_forecasts(&spec, args.forecasts.as_deref())?;
    let mut reader = match &args.forecasts {
        Some(forecasts) => DataReader::with_forecasts(&spec, data, forecasts, want, decider.card())?,
        None => DataReader::stream(&spec, data, want, decider.card())?,
    };
    // The table goes along in time: what came true before a row is known to it.
    let mut lags = Vec::new();
    if let Some(known) = known(&decider, args.history.as_deref(), &spec)? {
        lags = known.lags().names();
        let table = read_past(data, known.lags(), spec.limits())?;
        reader = reader.knowing(Some(Arc::new(known.followed_by(table))));
    }
    let columns = reader.columns();
    let baseline = columns.baseline_name.clone();
    let named = baseline.clone();
    let dates = columns.time.is_some_and(|(_, dates)| dates);
    let absent: Vec<String> = spec.data().map_or_else(Vec::new, |data| {
        data.groups.iter().filter(|name| !columns.group_names.contains(name)).cloned().collect()
    });
    let auditor = Auditor::new(&decider, &rivals, baseline, dates).by(&columns.group_names);
    let mut auditor = if args.importance { auditor.with_importance() } else { auditor };
    let progress = crate::progress::rows(args.format == Format::Json);
    let mut tally = Tally::default();
    let mut troubles = Listed::default();
    let mut dropped = 0;
    while let Some(chunk) = reader.next()? {
        tally.predictions(&decider.predict(&chunk.features, chunk.rows), &chunk.targets);
        let decisions = decider.evaluate(&chunk.features, &chunk.targets, &chunk.known, chunk.rows)?;
        auditor.enter(
            &decisions,
            &Audited {
                features: &chunk.features,
                truths: &chunk.targets,
                known: &chunk.known,
                baseline: &chunk.baseline,
                times: &chunk.times,
                series: chunk.series.as_deref().unwrap_or_default(),
                groups: &chunk.groups,
            },
        )?;
        for (line, why) in &chunk.undecided {
            troubles.add(|| format!("{}: {why}", reader.place_of(*line)));
            tally.undecided();
        }
        for (line, decision) in chunk.lines.iter().zip(&decisions) {
            if let Some(trouble) = &decision.trouble {
                troubles.add(|| format!("{}: {trouble}", reader.place_of(*line)));
            }
            tally.decision(decision);
        }
        dropped += chunk.dropped;
        progress.inc(chunk.rows as u64);
    }
    let (found, account) = (tally.measures(), auditor.account()?);
    progress.finish_and_clear();
    let beside = lacking.or_else(|| {
        let none = account.against.first().is_some_and(|other| other.decisions == 0);
        named
            .filter(|_| none)
            .map(|names| format!("no row has a decision of others: in each a cell of {names} is empty"))
    });
    let exit = if troubles.is_empty() { Exit::Success } else { Exit::Failure };
    let text = match args.format {
        Format::Json => json(&Machine { measures: &found, account: &account }),
        Format::Table => {
            let measures = aligned(&measures(&found, &spec));
            format!("{}\n\n{measures}{}", decider.card().method, shown(&account))
        }
    };
    let mut outcome = Outcome::new(text, exit);
    let absent = match &absent[..] {
        [] => String::new(),
        names => format!("no account by {}: the table has no such column\n", some_of(names)),
    };
    outcome.remarks = beside.map_or_else(String::new, |note| format!("{}\n", wrapped(&note, 0)))
        + &left_out(dropped)
        + &absent
        + &about(&reader)
        + &cut(found.cut)
        + &troubles.with_history("rows without a decision or without an optimum", &lags);
    Ok(outcome)
}

/// The tables of an account, one below the other.
pub(crate) fn shown(account: &Account) -> String {
    let one = |sheet: regretless_report::Sheet| {
        let rows = sheet.grid.rows.into_iter();
        let rows = rows.map(|row| row.into_iter().map(|cell| cell.text).collect());
        let lead = if sheet.lead.is_empty() { String::new() } else { wrapped(&sheet.lead, 0) + "\n" };
        format!("\n{}\n{lead}\n{}", sheet.title, table(&sheet.grid.header, sheet.grid.labels, rows))
    };
    sheets(account).into_iter().map(one).collect()
}
