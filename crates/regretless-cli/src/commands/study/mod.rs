//! `regretless study`: a comparison, a study of the paper or the scoreboard over many processes.

mod args;
mod compare;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::{IsTerminal, Write as _};

use regretless_learn::{Record, StudyFolder};
use regretless_project::Study;

pub(crate) use args::{DoArgs, StudyArgs};
use args::{Planned, Verb};

use super::{benchmark, paper};
use crate::error::CliError;
use crate::output::{Exit, Listed, Outcome, count, number};

pub(crate) fn run(args: &StudyArgs) -> Result<Outcome, CliError> {
    match &args.verb {
        Verb::Plan(args) => match &args.study {
            Planned::Compare(args) => compare::plan(args),
            Planned::Paper(args) => paper::plan_study(args),
            Planned::Benchmark(args) => benchmark::plan_study(args),
        },
        Verb::Do(args) => {
            let folder = StudyFolder::open(&args.study)?;
            if folder.kind() == Study::KIND {
                compare::work(&folder, args)
            } else if folder.kind() == benchmark::KIND {
                benchmark::work(&folder, args)
            } else {
                paper::work(&folder, args)
            }
        }
        Verb::Table(args) => {
            let folder = StudyFolder::open(&args.study)?;
            let out = args.out.as_deref().unwrap_or(&args.study);
            let made = if folder.kind() == Study::KIND {
                compare::table(&args.study, out, args.format)?
            } else if folder.kind() == benchmark::KIND {
                benchmark::table_study(&folder, out, args.format)?
            } else {
                paper::table_study(&folder, out, args.format)?
            };
            Ok(with_missing(made, &folder))
        }
    }
}

/// The trials that are asked for.
pub(crate) fn chosen(folder: &StudyFolder, args: &DoArgs) -> Result<Vec<usize>, CliError> {
    if args.trials.is_empty() {
        let shard = args.shard.unwrap_or(regretless_learn::Shard::WHOLE);
        // By their hashes, so that a share has some of every method, dear ones and cheap ones.
        let mut order: Vec<usize> = (0..folder.len()).collect();
        order.sort_by_key(|&i| folder.hash(i));
        return Ok(order.into_iter().enumerate().filter(|(at, _)| shard.has(*at)).map(|(_, i)| i).collect());
    }
    Ok(args.trials.iter().map(|text| folder.find(text)).collect::<Result<_, _>>()?)
}

/// Says what was planned and how it goes on.
pub(crate) fn planned(folder: &StudyFolder) -> Outcome {
    let dir = folder.dir().display();
    let done = folder.len() - folder.missing().len();
    let there = if done > 0 { format!(", {done} of them done already") } else { String::new() };
    let text = format!(
        "{} in {dir}{there}\n\nnext: regretless study do {dir}\n      regretless study table {dir}\n",
        count(folder.len(), "trial")
    );
    Outcome::new(text, Exit::Success)
}

/// What came of trials, for people and logs: a line when a trial is done, failures at the end.
pub(crate) struct Log<'a> {
    folder: &'a StudyFolder,
    trials: &'a [usize],
    told: BTreeSet<usize>,
    /// Lines for a terminal, where the bar is until the end.
    text: String,
    failed: Listed,
}

impl<'a> Log<'a> {
    pub(crate) fn new(folder: &'a StudyFolder, trials: &'a [usize]) -> Self {
        let mut log =
            Self { folder, trials, told: BTreeSet::new(), text: String::new(), failed: Listed::default() };
        log.tell_done("was done before");
        log
    }

    /// A line: to a file or pipe at once, because a log is read while it grows. Nobody has to listen.
    fn tell(&mut self, trial: usize, text: &str) {
        if !self.told.insert(trial) {
            return;
        }
        let line = format!("{} {} {text}\n", trial + 1, short(self.folder.hash(trial)));
        let mut out = std::io::stdout();
        if out.is_terminal() {
            self.text.push_str(&line);
        } else {
            let _ = out.write_all(line.as_bytes());
        }
    }

    fn tell_done(&mut self, text: &str) {
        for &trial in self.trials.iter().filter(|&&trial| self.folder.is_done(trial)) {
            self.tell(trial, text);
        }
    }

    pub(crate) fn done(&mut self, trial: usize, method: &str, seed: u64, regret: f64, seconds: f64) {
        self.tell(trial, &format!("{method}, seed {seed}: regret {}, {seconds:.1} s", number(regret)));
    }

    pub(crate) fn failed(&mut self, trial: usize, what: &str, error: &CliError) {
        let short = short(self.folder.hash(trial));
        self.failed.add(|| format!("{} {short} ({what}): {error}", trial + 1));
    }

    /// What others did meanwhile, and failures.
    pub(crate) fn outcome(mut self, interrupted: bool) -> Outcome {
        self.tell_done("was done meanwhile");
        let mut remarks = self.failed.render("trials failed");
        if interrupted {
            let (done, wanted) = (self.told.len(), self.trials.len());
            let _ = writeln!(remarks, "stopped: {done} of {wanted} are done; the same command goes on");
        }
        let exit = if remarks.is_empty() { Exit::Success } else { Exit::Failure };
        Outcome { text: self.text, remarks, exit }
    }

    pub(crate) fn record(&mut self, trial: usize, record: &Record) {
        self.done(trial, &record.method, record.seed, record.measures.regret, record.seconds);
    }
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn with_missing(mut made: Outcome, folder: &StudyFolder) -> Outcome {
    let missing = folder.missing().len();
    if missing > 0 {
        let dir = folder.dir().display();
        let trials = count(folder.len(), "trial");
        let _ = writeln!(
            made.remarks,
            "{missing} of {trials} are missing: seeds that lack one are left out; `regretless study do {dir}` does them"
        );
        made.exit = Exit::Failure;
    }
    made
}
