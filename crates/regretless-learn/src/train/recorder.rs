//! A training watched: what it does is passed on, and written down where there is a place for that.

use std::time::Instant;

use crate::error::LearnError;
use crate::tensorboard::EventWriter;
use crate::train::checkpoint;
use crate::train::epoch::Epoch;
use crate::train::fit::Fit;
use crate::train::observer::Observer;
use crate::train::stages::{self, Stages};

/// Passes on what a fit does; of the clock as much as is to be heard.
pub(crate) struct Watched<'a> {
    pub(crate) inner: &'a mut dyn Observer,
    /// True if the clock ends nothing any more.
    pub(crate) patient: bool,
}

impl Observer for Watched<'_> {
    fn stage(&mut self, name: &str, epochs: usize) {
        self.inner.stage(name, epochs);
    }

    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        self.inner.epoch(epoch)
    }

    fn checkpoint(&mut self, fit: &mut Fit<'_>) -> Result<(), LearnError> {
        self.inner.checkpoint(fit)
    }

    fn interrupted(&self) -> bool {
        self.inner.interrupted() || !self.patient && self.inner.late()
    }
}

/// A checkpoint waits for the disk: so many times as long as it took pass before the next.
const PAUSE: u32 = 10;

/// Writes down what a fit does, and passes it on.
pub(crate) struct Recorder<'a> {
    pub(crate) stages: &'a Stages,
    pub(crate) inner: Watched<'a>,
    pub(crate) events: &'a mut Option<EventWriter>,
    /// The stage, and the epochs of earlier ones.
    pub(crate) number: usize,
    pub(crate) before: u64,
    /// When the next checkpoint is written.
    pub(crate) due: Instant,
}

impl Observer for Recorder<'_> {
    fn stage(&mut self, name: &str, epochs: usize) {
        self.inner.stage(name, epochs);
    }

    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        self.stages.add_metrics(epoch)?;
        if let Some(events) = self.events {
            let step = self.before + epoch.epoch as u64;
            stages::record(events, step, epoch)?;
        }
        self.inner.epoch(epoch)
    }

    fn checkpoint(&mut self, fit: &mut Fit<'_>) -> Result<(), LearnError> {
        let started = Instant::now();
        if started >= self.due {
            checkpoint::write(&self.stages.checkpoint(), fit, self.number)?;
            self.due = Instant::now() + PAUSE * started.elapsed();
        } else {
            // The same numbers, whether a resumed process goes on from here or this one.
            fit.settle();
        }
        self.inner.checkpoint(fit)
    }

    fn interrupted(&self) -> bool {
        self.inner.interrupted()
    }
}
