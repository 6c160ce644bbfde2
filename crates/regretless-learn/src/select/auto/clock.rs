//! When the time is up: a search is cut after a rung that was finished, and the run keeps after which. Whoever resumes it, on whatever
//! machine, cuts there, and ends with the same numbers.
//!
//! The first wave is needed whole: before its end there is nothing to choose from, and a run that is stopped then goes on later.

use super::halving::Went;
use super::search::Search;
use crate::error::LearnError;
use crate::select::trainer::{Mark, Trainer};

/// Where a search stands, and where it ends.
pub(super) struct Clock {
    /// Rungs that are done.
    rungs: usize,
    /// The rungs after which it was cut.
    pub(super) cut: Option<usize>,
    /// True if the cut was made by an earlier process.
    recorded: bool,
    /// Rungs of the first wave.
    needed: Option<usize>,
    /// Where the rung at hand began.
    began: Began,
}

#[derive(Default)]
struct Began {
    mark: Mark,
    left_out: usize,
}

impl Clock {
    pub(super) fn new(trainer: &Trainer<'_>) -> Result<Self, LearnError> {
        let cut = trainer.recorded_cut()?;
        Ok(Self { rungs: 0, cut, recorded: cut.is_some(), needed: None, began: Began::default() })
    }
}

impl Search<'_, '_> {
    /// From now on there is something to choose from.
    pub(super) fn may_be_cut(&mut self) {
        self.clock.needed = Some(self.clock.rungs);
    }

    /// True if no other rung is to begin.
    pub(super) fn is_cut(&mut self) -> Result<bool, LearnError> {
        let ends = match self.clock.cut {
            Some(cut) => self.clock.rungs >= cut,
            None => self.clock.needed.is_some() && self.trainer.late() && !self.trainer.asked(),
        };
        self.clock.began = Began { mark: self.trainer.mark(), left_out: self.left_out.len() };
        if ends {
            self.cut()?;
        }
        Ok(ends)
    }

    pub(super) fn rung_is_done(&mut self) {
        self.clock.rungs += 1;
    }

    /// A training was ended from outside: by the clock, and then the rung at hand counts for nothing, or by somebody.
    pub(super) fn ends(&mut self, wave: &[usize], rung: &std::ops::Range<usize>) -> Result<Went, LearnError> {
        let by_clock = self.clock.cut.is_none() && self.clock.needed.is_some() && !self.trainer.asked();
        if !by_clock {
            return Ok(Went::Stopped);
        }
        for &idea in wave {
            for held in self.held[idea][rung.clone()].iter_mut().filter_map(Option::take) {
                self.work.spent -= held.work;
            }
        }
        self.left_out.truncate(self.clock.began.left_out);
        self.stopped = None;
        self.cut()?;
        Ok(Went::Cut)
    }

    /// Ends the search here. What was chosen is trained however long that takes.
    fn cut(&mut self) -> Result<(), LearnError> {
        self.trainer.be_patient();
        if !self.clock.recorded {
            self.clock.cut = Some(self.clock.rungs);
            self.trainer.cut_at(&self.clock.began.mark, self.clock.rungs)?;
        }
        Ok(())
    }
}
