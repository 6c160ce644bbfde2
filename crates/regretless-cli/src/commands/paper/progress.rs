//! Progress of a study, with the time left.

use indicatif::ProgressBar;
use regretless_paper::{Progress, Record};

use crate::output::number;

pub(super) struct Trainings(ProgressBar);

impl Trainings {
    pub(super) fn new(quiet: bool) -> Self {
        Self(crate::progress::bar(0, quiet, "{bar:24} {percent:>3} %  {elapsed} gone, {eta} left  {msg}"))
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Trainings {
    fn start(&self, work: u64, done: u64) {
        self.0.set_length(work);
        self.0.set_position(done);
        // Time left is reckoned from what this process does.
        self.0.reset_eta();
    }

    fn done(&self, record: &Record, work: u64) {
        self.0.inc(work);
        let Record { cell, method, seed, regret, .. } = record;
        self.0.set_message(format!("({}) {method}, seed {seed}: regret {}", cell.size, number(*regret)));
    }
}
